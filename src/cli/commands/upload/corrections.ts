/** Corrections of lines: from the command line, or from the exported file with its cells corrected. */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { rawKeys } from '../../../ingest/datasets/compile/payload.ts'
import { queryDuck } from '../../../ingest/duckdb.ts'
import { chunkSource } from '../../../ingest/readers/chunks.ts'
import { normaliseFile } from '../../../ingest/readers/normalise.ts'
import type { Correction } from '../../../ingest/repair.ts'
import type { Upload } from '../../../ingest/uploads.ts'

const LINE = 'Stagedoor: line'

/** "Header=value": a header may itself contain the sign, so the longest one that the file has is taken. */
export function correctionOf(upload: Upload, line: number, settings: readonly string[]): Correction {
  const headers = headersOf(upload).sort((a, b) => b.length - a.length)
  const values = settings.map((setting): [string, string] => {
    const header = headers.find((name) => setting.startsWith(`${name}=`))
    if (header !== undefined) return [header, setting.slice(header.length + 1)]
    const named = setting.includes('=') ? setting.slice(0, setting.indexOf('=')) : setting
    throw new StagedoorError(
      'argument_invalid',
      {
        reason: setting.includes('=')
          ? `The file has no column “${named}”`
          : `--set ${setting}: write it as "Header=value"`,
      },
      { hint: `The file has: ${headersOf(upload).join(', ')}` },
    )
  })
  return { line, values: Object.fromEntries(values) }
}

/** Any format that an upload may have, since a spreadsheet saves as it likes. Only cells that differ are corrections. */
export async function correctionsIn(client: Client, upload: Upload, path: string): Promise<Correction[]> {
  const given = await cellsOf(path, new Set([LINE, ...headersOf(upload)]))
  const held = await heldCells(
    client,
    upload,
    given.map(({ line }) => line),
  )
  return given.flatMap(({ line, cells }) => {
    const before = held.get(line)
    if (!before) throw new StagedoorError('argument_invalid', { reason: `The upload has no line ${line}` })
    const changed = Object.entries(cells).filter(([header, cell]) => differs(cell, before[header] ?? ''))
    return changed.length > 0 ? [{ line, values: Object.fromEntries(changed) }] : []
  })
}

/** The export puts a ' before what a spreadsheet would take for a formula. */
function differs(cell: string, held: string): boolean {
  return cell !== held && cell !== `'${held}`
}

interface GivenLine {
  readonly line: number
  readonly cells: Record<string, string>
}

async function cellsOf(path: string, known: ReadonlySet<string>): Promise<GivenLine[]> {
  const { isDirectory, size } = await stat(path).then(
    (found) => ({ isDirectory: found.isDirectory(), size: found.size }),
    () => ({ isDirectory: false, size: -1 }),
  )
  if (size < 0) throw new StagedoorError('argument_invalid', { reason: `There is no file ${path}` })
  if (isDirectory) throw new StagedoorError('argument_invalid', { reason: `${path} is a folder` })
  const folder = await mkdtemp(join(tmpdir(), 'stagedoor-corrections-'))
  try {
    const file = await normaliseFile(path, folder, { knowsHeader: (name) => known.has(name) })
    const headers = rawKeys(file.headers)
    const at = headers.indexOf(LINE)
    if (at < 0) throw noLineColumn(path)
    const rows = await queryDuck<Record<string, string | null>>(
      `select * from ${chunkSource(file.chunks, headers.length)}`,
    )
    return rows.map((row) => ({
      line: lineNumber(row[`c${at}`] ?? '', path),
      cells: Object.fromEntries(
        headers.flatMap((header, column) =>
          header.startsWith('Stagedoor: ') ? [] : [[header, row[`c${column}`] ?? '']],
        ),
      ),
    }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function lineNumber(text: string, path: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new StagedoorError('argument_invalid', {
    reason: `${path}: “${text}” in “${LINE}” is not the number of a line`,
  })
}

function noLineColumn(path: string): StagedoorError {
  return new StagedoorError(
    'argument_invalid',
    { reason: `${path} has no column “${LINE}”, so nobody can tell which lines it corrects` },
    { hint: 'Correct the file that `stagedoor upload export ID -o FILE` writes, and keep that column.' },
  )
}

async function heldCells(
  client: Client,
  upload: Upload,
  wanted: readonly number[],
): Promise<Map<number, Record<string, string | null>>> {
  const { rows } = await client.query<{ row_number: number; raw_payload: Record<string, string | null> }>(
    `select row_number, raw_payload from public.staging_rows
      where upload_id = $1 and row_type = $2 and row_number = any ($3::int[])`,
    [upload.upload_id, upload.reading!.layout.leaf, wanted],
  )
  return new Map(rows.map((row) => [row.row_number, row.raw_payload]))
}

function headersOf(upload: Upload): string[] {
  if (upload.reading) return rawKeys(upload.reading.headers)
  throw new StagedoorError('upload_state', {
    upload: upload.upload_id,
    status: upload.status,
    action: 'corrected',
  })
}
