/** A dataset of the user's own, from the file that declares it. */
import { readFile, stat } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StagedoorError } from '../../kernel/errors.ts'
import { completeDataset, type Dataset, type DatasetDeclaration } from './dataset.ts'

const ENDINGS = ['.json', '.mjs', '.js', '.ts', '.mts']

/** `ads` is a name, `./orders.json` is a file. */
export function isDeclarationFile(given: string): boolean {
  return ENDINGS.includes(extname(given)) || given.includes('/') || given.includes('\\')
}

/** Checked as far as that is possible without a database and without DuckDB. */
export async function loadDataset(path: string): Promise<Dataset> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw invalid(found ? `${path} is not a file` : `There is no file ${path}`)
  // Loaded here: the validator is needed for nothing else.
  const { checkDataset, parseDataset } = await import('./declare.ts')
  if (extname(path) === '.json') return parseDataset(await readJson(path))
  const dataset = await importDataset(path)
  const wrong = checkDataset(dataset)
  if (wrong.length > 0) throw invalid(`The dataset cannot be used. ${wrong.join('; ')}`)
  return completeDataset(dataset)
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`${path} is not JSON: ${(error as Error).message}`)
  }
}

async function importDataset(path: string): Promise<DatasetDeclaration> {
  if (/\.m?ts$/.test(path) && !stripsTypes())
    throw invalid(
      `Node ${process.versions.node} does not read TypeScript, so ${path} cannot be loaded`,
      'Use Node 22.18 or newer, or write the declaration as .mjs (the same without types) or .json.',
    )
  const module = await import(pathToFileURL(resolve(path)).href).catch((error) => {
    if (error instanceof StagedoorError) throw error
    throw invalid(`${path} cannot be loaded: ${(error as Error).message}`)
  })
  const declared = Object.values(module).filter(isDataset)
  if (declared.length === 1) return declared[0]!
  const count = declared.length === 0 ? 'no dataset' : `${declared.length} datasets`
  throw invalid(`${path} exports ${count}; export one, as the default`)
}

function isDataset(value: unknown): value is DatasetDeclaration {
  return typeof value === 'object' && value !== null && 'fields' in value && 'rows' in value
}

function stripsTypes(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript)
}

function invalid(reason: string, hint?: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason }, hint === undefined ? {} : { hint })
}
