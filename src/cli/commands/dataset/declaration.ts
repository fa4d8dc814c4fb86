/** A user's own dataset, from the file that declares it. */
import { readFile, stat } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StagedoorError } from '../../../errors.ts'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'

const ENDINGS = ['.json', '.mjs', '.js', '.ts', '.mts']

/** `ads` is a name, `./orders.json` is a file. */
export function isDeclarationFile(given: string): boolean {
  return ENDINGS.includes(extname(given)) || given.includes('/') || given.includes('\\')
}

export async function loadDataset(path: string): Promise<Dataset> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) {
    throw invalid(found ? `${path} is not a file` : `There is no file ${path}`)
  }
  if (extname(path) !== '.json') return fromModule(path)
  const { parseDataset } = await declaring()
  return parseDataset(await readJson(path))
}

/** Patterns are RE2, which only DuckDB can tell. */
export async function patternProblems(dataset: Dataset): Promise<string[]> {
  const { queryDuck } = await import('../../../ingest/duckdb.ts')
  const { checkPatterns } = await declaring()
  return checkPatterns(dataset, queryDuck)
}

/** Loaded when it is needed: it brings a validator that no other command uses. */
function declaring() {
  return import('../../../ingest/datasets/declare.ts')
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`${path} is not JSON: ${(error as Error).message}`)
  }
}

async function fromModule(path: string): Promise<Dataset> {
  if (/\.m?ts$/.test(path) && !stripsTypes()) {
    throw new StagedoorError(
      'argument_invalid',
      { reason: `Node ${process.versions.node} does not read TypeScript, so ${path} cannot be loaded` },
      {
        hint: 'Use Node 22.18 or newer, or write the declaration as .mjs (the same without types) or .json.',
      },
    )
  }
  const module = await import(pathToFileURL(resolve(path)).href).catch((error) => {
    if (error instanceof StagedoorError) throw error
    throw invalid(`${path} cannot be loaded: ${(error as Error).message}`)
  })
  const declared = Object.values(module).filter(isDataset)
  if (declared.length !== 1) {
    throw invalid(
      `${path} exports ${declared.length === 0 ? 'no dataset' : `${declared.length} datasets`}; export one, as the default`,
    )
  }
  const { checkDataset } = await declaring()
  const wrong = checkDataset(declared[0]!)
  if (wrong.length > 0) throw invalid(`The dataset cannot be used. ${wrong.join('; ')}`)
  return declared[0]!
}

function isDataset(value: unknown): value is Dataset {
  return typeof value === 'object' && value !== null && 'fields' in value && 'rows' in value
}

function stripsTypes(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript)
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}
