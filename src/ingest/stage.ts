/**
 * From a spooled file to staged rows: normalise, profile, map the header, then chunk by chunk one DuckDB statement whose
 * result goes straight into COPY. DuckDB works on the next chunk while PostgreSQL takes those before. All rows of an
 * upload arrive, or none.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import { readColumnLimits } from './datasets/column-limits.ts'
import {
  compileRowsText,
  compileSelect,
  layoutOf,
  type Reading,
  type RememberedReading,
  ROWS_IN,
  ROWS_OUT,
  rowsHead,
} from './datasets/compile.ts'
import type { CompileInput } from './datasets/compile-plan.ts'
import type { Dataset, Problem } from './datasets/dataset.ts'
import { headerKey } from './datasets/header-key.ts'
import {
  jsonColumns,
  knownHeaderTest,
  mapHeaders,
  type RememberedMapping,
  resolvePeriod,
} from './datasets/headers.ts'
import { mergeValues, requireMappedFields } from './datasets/mapping.ts'
import { distinctValues } from './datasets/mapping-preview.ts'
import { type Evidence, profileOf, profileSql, type Styles, stylesOf } from './datasets/profile.ts'
import type { KnownDataset } from './datasets/registry.ts'
import { duckText, queryDuck, queryPrepared, runDuck } from './duckdb.ts'
import {
  optionsToRemember,
  type ReadOptionsMemory,
  type RecalledOptions,
  recallOptions,
  settleStyles,
  shapeOf,
  usedOptions,
} from './read-options.ts'
import { chunkSource, chunkText, hasRawColumn, rowsSource } from './readers/chunks.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './readers/format.ts'
import { normaliseFile } from './readers/normalise.ts'
import { lockAsReader } from './reading.ts'
import type { ReadableFile } from './spool.ts'
import type { ReportProgress } from './uploads.ts'

interface UploadToStage {
  readonly upload_id: string
  readonly reader_token: string
  readonly workspace_id: string
  readonly client_id: string
  readonly platform: string
}

/** How a person says that a file is to be read, where it cannot be detected. */
export interface FileOptions
  extends Pick<ReadOptions, 'format' | 'encoding' | 'delimiter' | 'columns' | 'headerLine' | 'sheet'>,
    Partial<Pick<Styles, 'decimal'>> {
  readonly dates?: 'dmy' | 'mdy'
  /** Expected fields that the file has no column for, and that is so. */
  readonly without?: readonly string[]
  /** The options that are chosen here are remembered for the next files of the same shape by the same person. */
  readonly rememberOptions?: boolean
  /** What headers and values of this file mean; goes before what is remembered, and is not remembered itself. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly values?: Readonly<Record<string, Readonly<Record<string, string | null>>>>
}

interface StageRequest {
  readonly pool: Pool
  readonly upload: UploadToStage
  readonly dataset: KnownDataset
  readonly file: ReadableFile
  readonly options?: FileOptions
  readonly remembered?: RememberedMapping & {
    values?: CompileInput['values']
    /** Header and field → who said it. */
    by?: { headers: Readonly<Record<string, string>>; values: Readonly<Record<string, string>> }
  }
  /** How the same person had earlier files read. */
  readonly memories?: readonly ReadOptionsMemory[]
  readonly maxLines?: number
  /** The request that brought the file. */
  readonly request_id: string
  /** A plan follows at once and checks the rules over the whole file; staging leaves them out then. */
  readonly planFollows: boolean
  readonly signal?: AbortSignal
  readonly report: ReportProgress
}

/** All rows of the file, or none and an error. */
export async function stageUpload(request: StageRequest): Promise<void> {
  const { pool, upload } = request
  request.signal?.throwIfAborted()
  const { reading, notes, chunks, writeRows } = await readSpooledFile(request)
  const memorable = request.options?.rememberOptions ? optionsToRemember(request.options) : undefined
  await inTransaction(
    pool,
    async (client) => {
      await lockAsReader(client, upload.upload_id)
      const columns = reading.layout.packing ? PACKED_COLUMNS : STAGING_COLUMNS
      await copyRows(client, request, columns, chunks.length, rowFiles(request, chunks, writeRows))
      await client.query('select iu_core.fn_ingest_complete_reading($1, $2, $3, $4, $5)', [
        upload.upload_id,
        upload.reader_token,
        JSON.stringify(reading),
        JSON.stringify(notes),
        !request.planFollows,
      ])
      if (memorable && reading.format !== 'rows') {
        const { shape, columns } = shapeOf({ format: reading.format, headers: [...reading.headers] })
        await client.query('select iu_core.fn_ingest_read_options_remember($1, $2, $3, $4)', [
          upload.upload_id,
          shape,
          columns,
          JSON.stringify(memorable),
        ])
      }
    },
    SERVICE_ROLE,
  )
}

interface ReadResult {
  readonly reading: Reading
  readonly notes: FileNote[]
  readonly chunks: readonly string[]
  /** The lines of a chunk, checked, as COPY takes them. */
  writeRows(chunk: string, path: string): Promise<void>
}

async function readSpooledFile(request: StageRequest): Promise<ReadResult> {
  const { dataset, upload, file, options = {}, maxLines, signal, report } = request
  const {
    decimal,
    dates,
    without,
    headers: chosen = {},
    values: chosenValues,
    rememberOptions: _,
    ...given
  } = options
  requireMappedFields(dataset, options)
  const remembered = {
    headers: { ...request.remembered?.headers, ...chosen },
    values: mergeValues(request.remembered?.values ?? {}, chosenValues),
  }
  const knowsHeader = knownHeaderTest(dataset, upload.platform, remembered)
  const recalled = await recallOptions(file, request.memories ?? [], options, knowsHeader)
  const normalised = await normaliseFile(file.path, file.folder, {
    ...recalled?.read,
    ...given,
    knowsHeader,
    ...jsonColumns(dataset, upload.platform, remembered),
    ...(maxLines !== undefined && { maxLines }),
    ...(signal && { signal }),
    onProgress: ({ bytes, total, lines }) => report({ stage: 'read', done: bytes, total, lines }),
  })
  report({ stage: 'check', done: 0, total: normalised.lines, lines: normalised.lines })
  const map = mapHeaders(dataset, upload.platform, normalised.headers, remembered)
  const preamblePeriod = resolvePeriod({
    dataset,
    platform: upload.platform,
    map,
    preamble: normalised.preamble,
    without: requireOptionalFields(dataset, without),
  })
  const declared = {
    dataset,
    platform: upload.platform,
    map,
    upload,
    preamblePeriod,
    limits: await readColumnLimits(request.pool, dataset, map.rowTypes),
    values: remembered.values,
  }
  const styles = { ...(decimal && { decimal }), ...(dates && { dates }) }
  const lines = await smallText(normalised, dataset)
  const profile = await profileFile(declared, normalised, lines, styles, recalled)
  const base = { ...declared, ...profile.found }
  const layout = layoutOf(base)
  const reading: Reading = {
    format: normalised.format,
    definition_digest: dataset.definition_digest,
    encoding: normalised.encoding,
    delimiter: normalised.delimiter,
    header_line: normalised.headerLine,
    headers: normalised.headers,
    lines: normalised.lines,
    preamble: normalised.preamble.slice(0, 30),
    styles: base.styles,
    map,
    period: preamblePeriod,
    values: remembered.values,
    layout,
    limits: declared.limits,
    ...(normalised.sheet !== undefined && { sheet: normalised.sheet }),
    remembered: rememberedOf(request, normalised.headers, chosen, map),
    ...(recalled && {
      recalled: {
        upload_id: recalled.from.upload_id,
        change: recalled.from.change,
        options: usedOptions(recalled, profile.settled),
      },
    }),
    matched: await matchedValues(normalised, map, remembered.values),
  }
  return {
    reading,
    notes: [
      ...normalised.notes,
      ...map.notes,
      ...(recalled?.notes ?? []),
      ...profile.notes,
      ...absentHeadersNote(normalised.headers, chosen),
      ...openCurrencyNote(base),
      ...customRuleNote(dataset),
    ],
    chunks: normalised.chunks,
    writeRows: rowWriter(
      {
        ...base,
        batch_id: randomUUID(),
        request_id: request.request_id,
        isPacked: layout.packing !== undefined,
      },
      lines,
    ),
  }
}

/** A DuckDB vector of lines. Of more than that, planning is the smaller part. */
const MAX_SMALL_LINES = 2048
const MAX_SMALL_BYTES = 1024 * 1024

/**
 * The lines of a small file as the parameter of a prepared statement; undefined: DuckDB reads the chunks. Planning the two statements takes as
 * long as 3,000 lines, and is spared from the second file with the same columns on: 27 instead of 43 ms of CPU for 1,000 lines, in all.
 */
async function smallText(
  { chunks, lines, headers }: NormalisedFile,
  dataset: Dataset,
): Promise<string | undefined> {
  const [chunk, ...others] = chunks
  if (chunk === undefined || others.length > 0 || lines > MAX_SMALL_LINES) return undefined
  if (dataset.check || hasRawColumn(headers.length) || (await stat(chunk)).size > MAX_SMALL_BYTES)
    return undefined
  return chunkText(chunk, headers.length)
}

function rowWriter(input: Omit<CompileInput, 'source'>, lines: string | undefined): ReadResult['writeRows'] {
  const { dataset, map } = input
  if (lines !== undefined)
    return async (_chunk, path) => {
      const [{ rows } = { rows: '' }] = await queryPrepared<{ rows: string }>(
        compileRowsText(omitIds(input)),
        lines,
        rowsHead(input),
      )
      await writeFile(path, rows)
    }
  return async (chunk, path) => {
    const select = compileSelect({ ...input, source: chunkSource([chunk], map.headers.length) })
    if (dataset.check) await writeCheckedRows(dataset.check, select, path)
    else await runDuck(`COPY (${select}) TO ${duckText(path)} (${ROWS_OUT})`)
  }
}

function omitIds({ upload: _, batch_id: __, request_id: ___, ...input }: Omit<CompileInput, 'source'>) {
  return input
}

/** Whose earlier choices this file was read by: those of its own headers that nobody chose otherwise for it. */
function rememberedOf(
  { remembered }: StageRequest,
  headers: readonly string[],
  chosen: NonNullable<FileOptions['headers']>,
  map: CompileInput['map'],
): RememberedReading {
  const by = new Map(
    Object.entries(remembered?.headers ?? {}).map(([header]) => [
      headerKey(header),
      remembered?.by?.headers[header] ?? '',
    ]),
  )
  const isChosen = new Set(Object.keys(chosen).map(headerKey))
  const entries = headers.flatMap((header): [string, string][] => {
    const author = by.get(headerKey(header))
    return author === undefined || isChosen.has(headerKey(header)) ? [] : [[header, author]]
  })
  const values = Object.entries(remembered?.by?.values ?? {}).filter(([field]) => map.fields[field])
  return { headers: Object.fromEntries(entries), values: Object.fromEntries(values) }
}

/** How many lines have values that somebody matched. */
async function matchedValues(
  file: NormalisedFile,
  map: CompileInput['map'],
  values: NonNullable<CompileInput['values']>,
): Promise<Record<string, Record<string, number>>> {
  const matched: Record<string, Record<string, number>> = {}
  for (const [field, meant] of Object.entries(values)) {
    const column = map.fields[field]?.column
    if (column === undefined) continue
    const found = (await distinctValues(file, column, false)).filter(({ value }) =>
      Object.hasOwn(meant, value),
    )
    if (found.length > 0) matched[field] = Object.fromEntries(found.map(({ value, lines }) => [value, lines]))
  }
  return matched
}

/** What is required of every line cannot be done without. */
function requireOptionalFields(dataset: Dataset, without: readonly string[] = []): readonly string[] {
  const other = without.find((name) => !dataset.fields[name]?.expected || dataset.fields[name]?.required)
  if (other === undefined) return without
  throw new StagedoorError('argument_invalid', {
    reason: `${other} cannot be left out of ${dataset.title}`,
  })
}

/** What was said about headers of this very file, and it has none of that name. */
function absentHeadersNote(
  headers: readonly string[],
  chosen: NonNullable<FileOptions['headers']>,
): FileNote[] {
  const keys = new Set(headers.map(headerKey))
  const absent = Object.keys(chosen).filter((header) => !keys.has(headerKey(header)))
  if (absent.length === 0) return []
  const names = absent.map((header) => `“${header}”`).join(', ')
  return [
    {
      rule: 'header.absent',
      message: `The file has no column ${names}, for which a mapping was given.`,
    },
  ]
}

async function profileFile(
  declared: Omit<CompileInput, 'source' | 'styles'>,
  file: NormalisedFile,
  lines: string | undefined,
  given: Partial<Styles>,
  recalled: RecalledOptions | undefined,
): Promise<{
  found: Pick<CompileInput, 'styles' | 'plain' | 'signs'>
  settled: RecalledOptions['styles']
  notes: FileNote[]
}> {
  const columns = file.headers.length
  const [evidence] =
    lines === undefined
      ? await queryDuck<Evidence>(profileSql(declared, chunkSource(file.chunks, columns)))
      : await queryPrepared<Evidence>(profileSql(declared, rowsSource(columns)), lines)
  const { styles: settled, notes } = settleStyles(stylesOf(evidence!, file.delimiter), recalled)
  return { found: profileOf(evidence!, file.delimiter, { ...settled, ...given }), settled, notes }
}

/** `$` in amounts or in a header, and nothing that says which of its currencies is meant. */
function openCurrencyNote({
  dataset,
  map,
  signs,
}: Pick<CompileInput, 'dataset' | 'map' | 'signs'>): FileNote[] {
  const typeOf = (field: string) => dataset.fields[field]!.type
  const fields = Object.entries(map.fields)
  const amounts = fields.flatMap(([name, mapped]) => (typeOf(name) === 'money' ? [mapped] : []))
  const isKnown =
    fields.some(([name]) => typeOf(name) === 'currency') || amounts.some(({ currency }) => currency)
  const isMarked = signs === 'open' || (signs !== 'named' && amounts.some(({ sign }) => sign))
  if (isKnown || !isMarked || !Object.values(dataset.fields).some(({ type }) => type === 'currency'))
    return []
  return [
    {
      rule: 'currency.open',
      message:
        'Amounts have a sign that several currencies use, and nothing says which one is meant, so no currency is stored. Export the currency in a column of its own, or in the header.',
    },
  ]
}

function customRuleNote(dataset: Dataset): FileNote[] {
  if (!dataset.check) return []
  return [
    {
      rule: 'dataset.custom_rule',
      message: `${dataset.title} has a rule in TypeScript, so every line passes through JavaScript. That is slower.`,
    },
  ]
}

/** A file of rows for each chunk, the next one in the making while PostgreSQL takes those before. */
async function* rowFiles(
  { signal }: Pick<StageRequest, 'signal'>,
  chunks: readonly string[],
  writeRows: ReadResult['writeRows'],
): AsyncGenerator<string> {
  const made = (chunk: string): Promise<string> => {
    signal?.throwIfAborted()
    const rows = checkedRows(chunk, writeRows)
    // An error is met when it is awaited; until then it must not count as unhandled.
    rows.catch(() => undefined)
    return rows
  }
  let next: Promise<string> | undefined
  try {
    for (const [index, chunk] of chunks.entries()) {
      const rows = await (next ?? made(chunk))
      const following = chunks[index + 1]
      next = following === undefined ? undefined : made(following)
      yield rows
    }
  } finally {
    // Given up half-way: the folder is removed, and nobody may write into it any more.
    await next?.catch(() => undefined)
  }
}

/** A file of rows as COPY takes them. */
async function checkedRows(chunk: string, writeRows: ReadResult['writeRows']): Promise<string> {
  const path = join(chunk.slice(0, -basename(chunk).length), `rows-${basename(chunk)}`)
  await writeRows(chunk, path)
  await rm(chunk)
  return path
}

// Copying: files of rows into iu_core.ingest_staged_row, the table of public.staging_rows. One session of PostgreSQL takes them on one core, and DuckDB needs a part of another,
// so a second session takes every other file where the pool has one to spare.
// The first session's transaction ends the reading; what the second has committed before counts from then on. Until then
// the upload is `reading`; if it fails, its rows are deleted: by the reader, or by the next one if it died.

interface CopyRequest {
  readonly pool: Pool
  readonly upload: { readonly upload_id: string; readonly reader_token: string }
  readonly report: ReportProgress
}

/** Each of `files` is copied once, by whichever session is free, and then deleted. */
interface CopyWork {
  readonly files: AsyncGenerator<string>
  readonly columns: string
  /** COPY straight into iu_core.ingest_staged_row; else through a temporary table. */
  readonly copiesDirectly: boolean
  readonly total: number
  taken: number
  done: number
  readonly report: ReportProgress
}

const columnsWith = (payloads: string) =>
  `id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, ${payloads},
  validation_status, validation_errors, validation_warnings`
const STAGING_COLUMNS = columnsWith('raw_payload, normalized_payload')
/** Rows without keys, which their upload has. */
const PACKED_COLUMNS = columnsWith('raw_values, normalized_values')

/** `client` is in the transaction that ends the reading. */
async function copyRows(
  client: Client,
  { pool, upload, report }: CopyRequest,
  columns: string,
  total: number,
  files: AsyncGenerator<string>,
): Promise<void> {
  const { copiesDirectly, isReadCommitted } = await sessionCapabilities(client)
  const work: CopyWork = { files, columns, copiesDirectly, total, taken: 0, done: 0, report }
  const secondSession =
    total > 1 && isReadCommitted && hasSessionToSpare(pool)
      ? copyInSecondSession(pool, upload, work)
      : Promise.resolve()
  // Wait for both before failing: an error of one ends the files, and so the other.
  const outcomes = await Promise.allSettled([copyFiles(client, work), secondSession])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/**
 * COPY: PostgreSQL refuses it into a table with row security, unless the role bypasses it, as ours does where it may.
 * And a transaction that reads from a snapshot would not see what another has committed.
 */
async function sessionCapabilities(
  client: Client,
): Promise<{ copiesDirectly: boolean; isReadCommitted: boolean }> {
  const { rows } = await client.query<{ copiesDirectly: boolean; isReadCommitted: boolean }>(
    `select not row_security_active('iu_core.ingest_staged_row') as "copiesDirectly",
            current_setting('transaction_isolation') = 'read committed' as "isReadCommitted"`,
  )
  return rows[0]!
}

/** One more has to be left for others: nobody may wait for a session that waits for another one. */
function hasSessionToSpare({ options, totalCount, idleCount, waitingCount }: Pool): boolean {
  return waitingCount === 0 && (options.max ?? 0) - (totalCount - idleCount) >= 2
}

/** No session of ours waits for this one while it waits for a lock longer than that: the server would not see the deadlock. */
const LOCK_STAGING_ROWS_SQL = `set local lock_timeout = '5s'; lock table iu_core.ingest_staged_row in row exclusive mode`

async function copyInSecondSession(
  pool: Pool,
  { upload_id, reader_token }: CopyRequest['upload'],
  work: CopyWork,
) {
  let hasBegun = false
  try {
    await inTransaction(
      pool,
      async (client) => {
        await client.query(LOCK_STAGING_ROWS_SQL)
        await lockAsReader(client, upload_id)
        hasBegun = true
        await copyFiles(client, work)
        if (work.taken < work.total) throw new Error('the other session failed')
        // A reader whose upload another process has taken meanwhile is refused here, and commits nothing.
        await client.query('select iu_core.fn_ingest_progress($1, $2, $3)', [
          upload_id,
          reader_token,
          JSON.stringify({ stage: 'stage', done: work.done, total: work.total }),
        ])
      },
      SERVICE_ROLE,
    )
  } catch (error) {
    // No session to be had, or the table is locked: the first one does it alone.
    if (hasBegun) throw error
  }
}

/** An error ends `files` for the other session, too. */
async function copyFiles(client: Client, work: CopyWork): Promise<void> {
  if (!work.copiesDirectly) await client.query(createCopyTableSql(work.columns))
  for await (const file of work.files) {
    work.taken += 1
    await copyFile(client, file, work)
    work.done += 1
    work.report({ stage: 'stage', done: work.done, total: work.total })
  }
}

/** Where COPY is refused, a chunk goes through a temporary table (measured: 2.2 s more for 100,000 lines). */
const createCopyTableSql = (columns: string) => `create temporary table ingest_copied_rows on commit drop as
  select ${columns} from iu_core.ingest_staged_row with no data`

async function copyFile(
  client: Client,
  path: string,
  { columns, copiesDirectly }: Pick<CopyWork, 'columns' | 'copiesDirectly'>,
): Promise<void> {
  const table = copiesDirectly ? 'iu_core.ingest_staged_row' : 'ingest_copied_rows'
  const sink = client.query(copyFrom(`copy ${table} (${columns}) from stdin (${ROWS_IN})`))
  await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), sink)
  if (!copiesDirectly) {
    await client.query(
      `insert into iu_core.ingest_staged_row (${columns}) select ${columns} from ingest_copied_rows; truncate ingest_copied_rows`,
    )
  }
  await rm(path)
}

// Custom rules: of a dataset with a rule in TypeScript the rows of the statement pass through JavaScript, and the
// rule's problems are added to those of the declared rules.

/** In the order of compileSelect's columns. */
type CheckedRow = Record<string, string | null> & {
  row_number: string
  normalized_payload: string
  validation_status: string
  validation_errors: string
}

async function writeCheckedRows(
  check: NonNullable<Dataset['check']>,
  select: string,
  path: string,
): Promise<void> {
  const rows = await queryDuck<CheckedRow>(select)
  await pipeline(
    Readable.from(rows.map((row) => rowLine(applyCustomRule(check, row)))),
    createWriteStream(path),
  )
}

/** A row that was left out, or that is wrong already, is not shown to the rule. */
export function applyCustomRule<
  Row extends Pick<CheckedRow, 'row_number' | 'normalized_payload' | 'validation_status'>,
>(check: NonNullable<Dataset['check']>, row: Row): Row {
  if (row.validation_status !== 'valid') return row
  const found: Problem[] = check(JSON.parse(row.normalized_payload)).map((problem) => ({
    ...problem,
    line: Number(row.row_number),
  }))
  if (found.length === 0) return row
  return { ...row, validation_status: 'invalid', validation_errors: JSON.stringify(found) }
}

/** As ROWS_OUT writes it: no value has a tab or a line's end in it. */
function rowLine(row: CheckedRow): string {
  return `${Object.values(row)
    .map((value) => value ?? '')
    .join('\t')}\n`
}
