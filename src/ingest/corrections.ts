/**
 * Corrections from a file: the exported file of wrong lines, after somebody corrected its cells in a spreadsheet, or the whole
 * file, corrected.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { queryDuck } from './duckdb.ts'
import { chunkSource, rawKeys } from './readers/chunks.ts'
import { normaliseFile } from './readers/normalise.ts'
import type { Correction } from './repair.ts'
import type { Upload } from './uploads.ts'

const LINE = 'Stagedoor: line'

/** The headers of the file, as corrections name them. */
export function headersOf({ reading, upload_id: upload, status }: Upload): string[] {
  if (reading) return rawKeys(reading.headers)
  throw new StagedoorError('upload_state', { upload, status, action: 'corrected' })
}

/** Any format that an upload may have, since a spreadsheet saves as it likes. Only cells that differ are corrections. */
export async function readCorrections(
  db: Queryable,
  upload: Upload,
  path: string,
  name = path,
): Promise<Correction[]> {
  const headers = headersOf(upload)
  const { lines: given, numbered } = await readLines(path, name, new Set([LINE, ...headers]))
  if (!numbered) requireWholeFile(name, upload, headers, given)
  const staged = await stagedCells(
    db,
    upload,
    given.map(({ line }) => line),
  )
  return given.flatMap(({ line, cells }) => {
    const before = staged.get(line)
    if (!before) throw invalid(`The upload has no line ${line}`)
    const changed = Object.entries(cells).filter(([header, cell]) => differs(cell, before[header] ?? ''))
    const expect = Object.fromEntries(changed.map(([header]) => [header, before[header] ?? '']))
    return changed.length > 0 ? [{ line, values: Object.fromEntries(changed), expect }] : []
  })
}

/** The export puts a ' before what a spreadsheet would take for a formula. */
function differs(cell: string, staged: string): boolean {
  return cell !== staged && cell !== `'${staged}`
}

interface GivenLine {
  readonly line: number
  readonly cells: Record<string, string>
}

/** A file without the numbers of its lines is matched line by line, so it must be the same file but for its cells. */
function requireWholeFile(
  path: string,
  { line_count }: Upload,
  headers: readonly string[],
  given: readonly GivenLine[],
): void {
  const hint =
    'Or correct the file that `stagedoor upload export ID -o FILE` writes, and keep its column of line numbers.'
  const has = Object.keys(given[0]?.cells ?? {})
  const missing = headers.find((header) => !has.includes(header))
  if (missing !== undefined)
    throw invalid(
      `${path} has neither a column “${LINE}” nor the column “${missing}” of the upload, so nobody can tell which lines it corrects`,
      hint,
    )
  if (given.length !== line_count)
    throw invalid(
      `${path} has ${given.length} lines and the upload ${line_count}: they cannot be matched`,
      hint,
    )
}

interface GivenFile {
  readonly lines: readonly GivenLine[]
  /** Its lines have the numbers of the upload's; else they are its own. */
  readonly numbered: boolean
}

async function readLines(path: string, name: string, known: ReadonlySet<string>): Promise<GivenFile> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw invalid(`There is no file ${path}`)
  if (found.isDirectory()) throw invalid(`${path} is a folder`)
  const folder = await mkdtemp(join(tmpdir(), 'stagedoor-corrections-'))
  try {
    const file = await normaliseFile(path, folder, { knowsHeader: (name) => known.has(name) })
    const headers = rawKeys(file.headers)
    const at = headers.indexOf(LINE)
    const rows = await queryDuck<Record<string, string | null>>(
      `select * from ${chunkSource(file.chunks, headers.length)}`,
    )
    const lines = rows.map((row) => ({
      line: at < 0 ? Number(row.line) : lineNumber(row[`c${at}`] ?? '', name),
      cells: Object.fromEntries(
        headers.flatMap((header, column) =>
          header.startsWith('Stagedoor: ') ? [] : [[header, row[`c${column}`] ?? '']],
        ),
      ),
    }))
    return { lines, numbered: at >= 0 }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function lineNumber(text: string, path: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw invalid(`${path}: “${text}” in “${LINE}” is not the number of a line`)
}

async function stagedCells(
  db: Queryable,
  { upload_id, reading }: Upload,
  lines: readonly number[],
): Promise<Map<number, Record<string, string | null>>> {
  const { rows } = await db.query<{ row_number: number; raw_payload: Record<string, string | null> }>(
    `select row_number, raw_payload from public.staging_rows
      where upload_id = $1 and row_type = $2 and row_number = any ($3::int[])`,
    [upload_id, reading!.layout.leaf, lines],
  )
  return new Map(rows.map((row) => [row.row_number, row.raw_payload]))
}

function invalid(reason: string, hint?: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason }, hint === undefined ? {} : { hint })
}
