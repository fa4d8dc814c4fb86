/** Corrects lines of an upload and checks them again: the very statement that checked the file, over the corrected text. */
import type { Client, Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { withRule } from './custom-rules.ts'
import { rawKeys } from './datasets/compile/payload.ts'
import { compileSelect } from './datasets/compile-select.ts'
import type { Dataset, Problem } from './datasets/dataset.ts'
import type { KnownDataset } from './datasets/registry.ts'
import { queryPrepared } from './duckdb.ts'
import { rowsSource, rowsText } from './readers/chunks.ts'
import type { StagedRow } from './rows.ts'
import type { Upload } from './uploads.ts'

export interface Correction {
  /** The line of the file. */
  readonly line: number
  /** Header → corrected text; the other cells stay. None: it is checked again as it stands. */
  readonly values?: Readonly<Record<string, string | null>>
  /** It stays as it is, and nothing is made of it. Corrected or checked again it is taken in again. */
  readonly leave_out?: boolean
}

interface CheckedRow {
  row_number: string
  raw_payload: string
  normalized_payload: string
  validation_status: 'valid' | 'invalid' | 'skipped'
  validation_errors: string
  validation_warnings: string
}

/** `db` acts as the back end, which names who corrected, in a transaction: the upload is locked until its end. */
export async function repairLines(
  db: Client,
  upload: Upload,
  dataset: KnownDataset,
  corrections: readonly Correction[],
  repairedBy: string,
): Promise<void> {
  const held = await heldLines(db, upload, corrections)
  if (dataset.definition_digest !== upload.reading?.definition_digest) throw readAnew(upload)
  const leftOut = new Set(corrections.filter(({ leave_out }) => leave_out).map(({ line }) => line))
  const kept = held.filter(({ row_number }) => !leftOut.has(row_number))
  const checked = kept.length > 0 ? await checkAgain(upload, dataset, applied(upload, kept, corrections)) : []
  await db.query('select iu_core.fn_ingest_repair($1, $2, $3)', [
    upload.upload_id,
    `[${[...checked.map(rowJson), ...[...leftOut].map(leftOutJson)].join(',')}]`,
    repairedBy,
  ])
}

/** The dataset was read before the upload was locked, and registered anew in between. */
function readAnew({ upload_id }: Upload): StagedoorError {
  return new StagedoorError('plan_stale', {
    upload: upload_id,
    reason: 'its dataset was registered anew since the file was read',
  })
}

type HeldLine = Pick<StagedRow, 'row_number' | 'raw_payload'>

async function heldLines(
  db: Queryable,
  upload: Upload,
  corrections: readonly Correction[],
): Promise<HeldLine[]> {
  const lines = [...new Set(corrections.map(({ line }) => line))]
  const { rows } = await db.query<HeldLine>(
    'select row_number, raw_payload from iu_core.fn_ingest_repair_lines($1, $2)',
    [upload.upload_id, lines],
  )
  const missing = lines.find((line) => !rows.some((row) => row.row_number === line))
  if (missing !== undefined) {
    throw new StagedoorError('argument_invalid', { reason: `The upload has no line ${missing}` })
  }
  return rows
}

function applied(upload: Upload, held: HeldLine[], corrections: readonly Correction[]): HeldLine[] {
  const known = new Set(rawKeys(readingOf(upload).headers))
  return held.map(({ row_number, raw_payload }) => {
    const changed = Object.assign(
      {},
      ...corrections.filter(({ line }) => line === row_number).map((c) => c.values),
    )
    const unknown = Object.keys(changed).find((header) => !known.has(header))
    if (unknown !== undefined) {
      throw new StagedoorError('argument_invalid', { reason: `The file has no column “${unknown}”` })
    }
    return { row_number, raw_payload: { ...raw_payload, ...changed } }
  })
}

/** What was wrong with the line's structure is mended by the correction: its cells are now in their places. */
export async function checkAgain(
  upload: Upload,
  dataset: Dataset,
  lines: readonly HeldLine[],
): Promise<CheckedRow[]> {
  const reading = readingOf(upload)
  const keys = rawKeys(reading.headers)
  const rows = await queryPrepared<CheckedRow>(
    compileSelect({
      dataset,
      platform: upload.platform,
      map: reading.map,
      styles: reading.styles,
      source: rowsSource(reading.headers.length),
      upload,
      preamblePeriod: reading.period,
      values: reading.values,
    }),
    rowsText(
      reading.headers,
      lines.map(({ row_number, raw_payload }) => ({
        line: row_number,
        values: keys.map((key) => raw_payload[key] ?? null),
      })),
    ),
  )
  const { check } = dataset
  return check ? rows.map((row) => withRule(check, row)) : rows
}

function readingOf(upload: Upload): NonNullable<Upload['reading']> {
  if (upload.reading?.format === 'rows') {
    throw new StagedoorError('argument_invalid', {
      reason: 'These rows were staged by SQL, not read from a file: there is nothing to check them by again',
    })
  }
  if (upload.reading) return upload.reading
  throw new StagedoorError('upload_state', {
    upload: upload.upload_id,
    status: upload.status,
    action: 'repaired',
  })
}

function leftOutJson(line: number): string {
  const warning: Problem = {
    line,
    column: null,
    field: null,
    value: null,
    rule: 'line.left_out',
    message: 'Left out by hand.',
    suggestion: 'Correct a cell of it to take it in again.',
  }
  return JSON.stringify({
    row_number: line,
    validation_status: 'skipped',
    validation_errors: [],
    validation_warnings: [warning],
  })
}

/** The payloads are JSON already; parsed and written again they would lose digits. */
function rowJson(row: CheckedRow): string {
  return `{"row_number":${row.row_number},"raw_payload":${row.raw_payload},"normalized_payload":${row.normalized_payload},"validation_status":"${row.validation_status}","validation_errors":${row.validation_errors},"validation_warnings":${row.validation_warnings}}`
}
