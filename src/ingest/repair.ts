/** Corrects lines of an upload and checks them again, with the statement that checked the file. */

import { whoAmI } from '../access/members.ts'
import { requireStaging } from '../gates/gates.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool, Queryable } from '../kernel/postgres/connection.ts'
import type { Row } from '../kernel/schema.ts'
import { compileSelect } from './datasets/compile.ts'
import type { Dataset, Problem } from './datasets/dataset.ts'
import { type KnownDataset, requireDataset } from './datasets/registry.ts'
import { queryPrepared } from './duckdb.ts'
import { backEndActor, type IngestActor } from './pipeline.ts'
import { planRequestOf, planUpload, recordPlanFailure } from './plan.ts'
import { rawKeys, rowsSource, rowsText } from './readers/chunks.ts'
import type { RepairOutcome } from './shapes.ts'
import { applyCustomRule } from './stage.ts'
import type { StagedRow } from './staged-rows.ts'
import { requireUpload, type Upload } from './uploads.ts'

export interface Correction {
  /** The line of the file. */
  readonly line: number
  /** Header → corrected text; the other cells stay. None: it is checked again as it stands. */
  readonly values?: Readonly<Record<string, string | null>>
  /** Header → the text that the cell had when it was seen; where it has another one now, nothing is corrected. */
  readonly expect?: Readonly<Record<string, string | null>> | undefined
  /** It stays as it is, and nothing is made of it. Corrected or checked again it is taken in again. */
  readonly leaveOut?: boolean | undefined
}

interface CheckedRow {
  row_number: string
  raw_payload: string
  normalized_payload: string
  validation_status: 'valid' | 'invalid' | 'skipped'
  validation_errors: string
  validation_warnings: string
}

/** So many cells can be corrected in one call: one statement checks their lines, and one transaction stores them. */
export const MAX_CELLS = 10_000

export interface Repair {
  readonly upload: string
  /** Given, or worked out while the upload is locked: read from a file, or found in a column. */
  readonly corrections:
    | readonly Correction[]
    | ((client: Client, upload: Upload) => Promise<readonly Correction[]>)
  /** Where a plan was asked for before, it is made again; default true. */
  readonly replan?: boolean | undefined
  /** Only says what would be corrected. */
  readonly dryRun?: boolean | undefined
}

export type RepairResult = Row<typeof RepairOutcome>

/**
 * Corrects lines, checks them again, and plans again as before. The actor's right is checked first, because the back end writes
 * the rows, in the name of the actor. Which lines they are is found under the lock of the upload: what another repair wrote a moment
 * before is seen.
 */
export async function repairUpload(
  pool: Pool,
  actor: IngestActor,
  { upload: id, corrections: given, replan = true, dryRun = false }: Repair,
): Promise<RepairResult> {
  const { repairedBy, wouldCorrect } = await actor.transaction(async (client) => {
    const upload = await requireUpload(client, id)
    await requireStaging(client, upload.workspace_id)
    return {
      repairedBy: actor.onBehalfOf ?? (await whoAmI(client)).actor,
      wouldCorrect: dryRun ? await findCorrections(client, upload, given) : [],
    }
  })
  if (dryRun) return resultOf(wouldCorrect, { dryRun })
  const { upload, result } = await backEndActor(pool).transaction(async (client) => {
    await lockUpload(client, id)
    const upload = await requireUpload(client, id)
    const dataset = await requireDataset(client, upload.dataset, upload.platform)
    const corrections = await findCorrections(client, upload, given)
    const result = resultOf(corrections, { dryRun })
    if (result.lines === 0) return { upload, result }
    const planned = replan && upload.gate_mode !== null
    const repair = { upload, dataset, corrections, repairedBy, replan: planned }
    const repaired = await repairLines(client, repair)
    return { upload, result: planned ? { ...result, ...repaired } : result }
  })
  return result.replanned === 'whole' ? planAgain(pool, actor, upload, result) : result
}

/** The corrections are stored. If production has moved on, somebody says first whose values count: the upload says so, and has no plan. */
async function planAgain(
  pool: Pool,
  actor: IngestActor,
  upload: Upload,
  result: RepairResult,
): Promise<RepairResult> {
  const id = upload.upload_id
  try {
    await actor.transaction((client) => planUpload(client, id, planRequestOf(upload)))
    return result
  } catch (thrown) {
    const error = asStagedoorError(thrown)
    if (error?.code !== 'plan_conflicts') throw thrown
    await backEndActor(pool).transaction((client) => recordPlanFailure(client, id, thrown))
    return { ...result, replanned: null, reason: error.message }
  }
}

async function findCorrections(
  client: Client,
  upload: Upload,
  given: Repair['corrections'],
): Promise<readonly Correction[]> {
  const corrections = typeof given === 'function' ? await given(client, upload) : given
  requireFewCells(Math.max(cellsOf(corrections), linesOf(corrections)))
  return corrections
}

function resultOf(corrections: readonly Correction[], { dryRun }: { dryRun: boolean }): RepairResult {
  const [lines, cells] = [linesOf(corrections), cellsOf(corrections)]
  return {
    lines,
    cells,
    dry_run: dryRun,
    replanned: null,
    reason: null,
    changes: dryRun ? corrections.flatMap(changesOf) : [],
  }
}

function changesOf({ line, values = {}, expect = {} }: Correction): RepairResult['changes'] {
  return Object.entries(values).map(([column, to]) => ({
    line,
    column,
    from: expect[column] ?? '',
    to: to ?? '',
  }))
}

function linesOf(corrections: readonly Correction[]): number {
  return new Set(corrections.map(({ line }) => line)).size
}

function cellsOf(corrections: readonly Correction[]): number {
  return corrections.reduce((sum, { values }) => sum + Object.keys(values ?? {}).length, 0)
}

function requireFewCells(cells: number): void {
  if (cells <= MAX_CELLS) return
  throw new StagedoorError(
    'argument_invalid',
    { reason: `One repair corrects at most ${MAX_CELLS.toLocaleString('en')} cells, and these are more` },
    { hint: 'Repair them in several calls (by ranges of lines), or upload the corrected file as a new one.' },
  )
}

/** Until the end of the transaction. Raises if the upload can no longer be corrected. */
async function lockUpload(db: Queryable, upload: string): Promise<void> {
  await db.query(`select from iu_core.fn_ingest_repair_lines($1, '{}')`, [upload])
}

/** `db` acts as the back end, which names who corrected, in a transaction: the upload is locked until its end. */
export async function repairLines(
  db: Client,
  repair: {
    readonly upload: Upload
    readonly dataset: KnownDataset
    readonly corrections: readonly Correction[]
    readonly repairedBy: string
    /** Keep the plan, if there is one, and bring it up to date where that is possible. */
    readonly replan?: boolean
  },
): Promise<Pick<RepairResult, 'replanned' | 'reason'>> {
  const { upload, dataset, corrections, repairedBy, replan = false } = repair
  const lockedLines = await lockLines(db, upload, corrections)
  if (dataset.definition_digest !== upload.reading?.definition_digest) throw datasetChanged(upload)
  const leftOut = new Set(corrections.filter(({ leaveOut }) => leaveOut).map(({ line }) => line))
  const kept = lockedLines.filter(({ row_number }) => !leftOut.has(row_number))
  const checked =
    kept.length > 0 ? await recheckLines(upload, dataset, applyCorrections(upload, kept, corrections)) : []
  const { rows } = await db.query<Pick<RepairResult, 'replanned' | 'reason'>>(
    'select replanned, reason from iu_core.fn_ingest_repair($1, $2, $3, $4)',
    [
      upload.upload_id,
      `[${[...checked.map(rowJson), ...[...leftOut].map(leftOutJson)].join(',')}]`,
      repairedBy,
      replan,
    ],
  )
  return rows[0]!
}

/** The dataset was read before the upload was locked, and registered again in between. */
function datasetChanged({ upload_id }: Upload): StagedoorError {
  return new StagedoorError('plan_stale', {
    upload: upload_id,
    reason: 'its dataset was registered again since the file was read',
  })
}

type LockedLine = Pick<StagedRow, 'row_number' | 'raw_payload'>

async function lockLines(
  db: Queryable,
  upload: Upload,
  corrections: readonly Correction[],
): Promise<LockedLine[]> {
  const lines = [...new Set(corrections.map(({ line }) => line))]
  const { rows } = await db.query<LockedLine>(
    'select row_number, raw_payload from iu_core.fn_ingest_repair_lines($1, $2)',
    [upload.upload_id, lines],
  )
  refuseLines(upload, corrections, rows)
  return rows
}

/** Why a line cannot be corrected; `now` is what its cell holds, where somebody changed it. */
interface RefusedLine {
  readonly line: number
  readonly column?: string
  readonly reason: string
  readonly now?: string
}

const MAX_REFUSED_SHOWN = 200

/** All or nothing: one line that cannot be corrected refuses all of them, and every such line is named. */
function refuseLines(upload: Upload, corrections: readonly Correction[], rows: readonly LockedLine[]): void {
  const found = new Map(rows.map((row) => [row.row_number, row.raw_payload]))
  const known = new Set(upload.reading ? rawKeys(upload.reading.headers) : [])
  const refused = corrections.flatMap(({ line, values = {}, expect = {} }): RefusedLine[] => {
    const cells = found.get(line)
    if (cells === undefined) return [{ line, reason: `The upload has no line ${line}` }]
    const unknown = Object.keys(values)
      .filter((column) => !known.has(column))
      .map((column) => ({ line, column, reason: `The file has no column “${column}”` }))
    const moved = Object.entries(expect)
      .filter(([column, text]) => known.has(column) && (cells[column] ?? '') !== (text ?? ''))
      .map(([column]) => ({
        line,
        column,
        reason: `Somebody changed ${column} of line ${line} meanwhile`,
        now: cells[column] ?? '',
      }))
    return [...unknown, ...moved]
  })
  if (refused.length === 0) return
  const more = refused.length > 1 ? `, and ${refused.length - 1} more` : ''
  throw new StagedoorError('repair_refused', {
    upload: upload.upload_id,
    reason: `${refused[0]!.reason}${more}`,
    refused: refused.length,
    lines: refused.slice(0, MAX_REFUSED_SHOWN),
  })
}

function applyCorrections(
  upload: Upload,
  lockedLines: LockedLine[],
  corrections: readonly Correction[],
): LockedLine[] {
  readingOf(upload)
  const byLine = new Map<number, Record<string, string | null>>()
  for (const { line, values } of corrections) byLine.set(line, { ...byLine.get(line), ...values })
  return lockedLines.map(({ row_number, raw_payload }) => {
    return { row_number, raw_payload: { ...raw_payload, ...byLine.get(row_number) } }
  })
}

/** What was wrong with the line's structure is repaired by the correction: its cells are now in their places. */
export async function recheckLines(
  upload: Upload,
  dataset: Dataset,
  lines: readonly LockedLine[],
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
      ...(reading.limits && { limits: reading.limits }),
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
  return check ? rows.map((row) => applyCustomRule(check, row)) : rows
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
