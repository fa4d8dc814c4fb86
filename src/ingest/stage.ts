/**
 * From a spooled file to staged rows: normalise, profile, map the header, then chunk by chunk one DuckDB statement whose
 * result goes straight into COPY. DuckDB works on the next chunk while PostgreSQL takes those before. All rows of an
 * upload arrive, or none.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Pool } from '../db/connection.ts'
import { inTransaction } from '../db/transaction.ts'
import { StagedoorError } from '../errors.ts'
import { copyRows } from './copy-rows.ts'
import { checkRecords } from './custom-rules.ts'
import { type CompileInput, compileSelect, ROWS_OUT } from './datasets/compile-select.ts'
import type { Dataset } from './datasets/dataset.ts'
import { headerKnower, mapHeaders, type Remembered } from './datasets/map-headers.ts'
import { settlePeriod } from './datasets/preamble.ts'
import { type Evidence, profileOf, profileSql, type Styles } from './datasets/profile.ts'
import type { KnownDataset } from './datasets/registry.ts'
import { duckText, queryDuck, runDuck } from './duckdb.ts'
import { failureOf } from './failure.ts'
import type { ReportProgress } from './progress.ts'
import { chunkSource } from './readers/chunks.ts'
import { normaliseFile } from './readers/normalise.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './readers/reading.ts'
import { layoutOf, type Reading } from './reading.ts'
import type { SpooledFile } from './spool.ts'

const SERVICE = { role: 'service_role' }

export interface UploadToStage {
  readonly upload_id: string
  readonly reader_token: string
  readonly workspace_id: string
  readonly client_id: string
  readonly platform: string
}

/** How a person says that a file is to be read, where it cannot be told. */
export interface HowToRead
  extends Pick<ReadOptions, 'format' | 'encoding' | 'delimiter' | 'columns' | 'sheet'>,
    Partial<Pick<Styles, 'decimal'>> {
  readonly dates?: 'dmy' | 'mdy'
  /** Expected fields that the file has no column for, and that is so. */
  readonly without?: readonly string[]
}

export interface StageRequest {
  readonly pool: Pool
  readonly upload: UploadToStage
  readonly dataset: KnownDataset
  readonly file: SpooledFile
  readonly how?: HowToRead
  readonly remembered?: Remembered & { values?: CompileInput['values'] }
  readonly maxLines?: number
  /** The request that brought the file. */
  readonly request_id: string
  /** A plan follows at once, and with it the rules over the whole upload. */
  readonly planned?: boolean
  readonly signal?: AbortSignal
  readonly report: ReportProgress
}

/** Stages, or marks the upload as failed with the reason and throws it. Nothing is left behind then. */
export async function stageUpload(request: StageRequest): Promise<void> {
  const { pool, upload, file } = request
  try {
    const { reading, notes, chunks, compile } = await readFile(request)
    await inTransaction(
      pool,
      async (client) => {
        await copyRows(client, request, chunks.length, rowFiles(request, chunks, reading, compile))
        await client.query('select iu_core.fn_ingest_staged($1, $2, $3, $4, $5)', [
          upload.upload_id,
          upload.reader_token,
          JSON.stringify(reading),
          JSON.stringify(notes),
          !request.planned,
        ])
      },
      SERVICE,
    )
  } catch (error) {
    await failUpload(pool, upload, error)
    throw error
  } finally {
    await file.remove()
  }
}

async function failUpload(pool: Pool, upload: UploadToStage, thrown: unknown): Promise<void> {
  // Given up already, or the database is gone: the sweep says so in a minute.
  await inTransaction(
    pool,
    (client) =>
      client.query('select iu_core.fn_ingest_fail($1, $2, $3)', [
        upload.upload_id,
        upload.reader_token,
        JSON.stringify(failureOf(thrown, 'read')),
      ]),
    SERVICE,
  ).catch(() => undefined)
}

interface ReadResult {
  readonly reading: Reading
  readonly notes: FileNote[]
  readonly chunks: readonly string[]
  compile(source: string): string
}

async function readFile(request: StageRequest): Promise<ReadResult> {
  const { dataset, upload, file, how = {}, remembered = {}, maxLines, signal, report } = request
  const { decimal, dates, without, ...given } = how
  const normalised = await normaliseFile(file.path, file.folder, {
    ...given,
    knowsHeader: headerKnower(dataset, upload.platform, remembered),
    ...(maxLines !== undefined && { maxLines }),
    ...(signal && { signal }),
    onProgress: ({ bytes, total, lines }) => report({ stage: 'read', done: bytes, total, lines }),
  })
  report({ stage: 'check', done: 0, total: normalised.lines, lines: normalised.lines })
  const map = mapHeaders(dataset, upload.platform, normalised.headers, remembered)
  const preamblePeriod = settlePeriod(
    dataset,
    upload.platform,
    map,
    normalised.preamble,
    expectedOf(dataset, without),
  )
  const declared = {
    dataset,
    platform: upload.platform,
    map,
    upload,
    preamblePeriod,
    ...(remembered.values && { values: remembered.values }),
  }
  const told = { ...(decimal && { decimal }), ...(dates && { dates }) }
  const base = { ...declared, ...(await profiled(declared, normalised, told)) }
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
    values: remembered.values ?? {},
    layout: layoutOf(base),
  }
  return {
    reading,
    notes: [...normalised.notes, ...map.notes, ...openCurrencyNote(base), ...customRuleNote(dataset)],
    chunks: normalised.chunks,
    compile: (source) =>
      compileSelect({ ...base, source, batch_id: randomUUID(), request_id: request.request_id }),
  }
}

/** What is required of every line cannot be done without. */
function expectedOf(dataset: Dataset, without: readonly string[] = []): readonly string[] {
  const other = without.find((name) => !dataset.fields[name]?.expected || dataset.fields[name]?.required)
  if (other === undefined) return without
  throw new StagedoorError('argument_invalid', {
    reason: `${other} is no field that ${dataset.title} expects and can do without`,
  })
}

async function profiled(
  declared: Omit<CompileInput, 'source' | 'styles'>,
  file: NormalisedFile,
  told: Partial<Styles>,
): Promise<Pick<CompileInput, 'styles' | 'plain' | 'signs'>> {
  const source = chunkSource(file.chunks, file.headers.length)
  const [evidence] = await queryDuck<Evidence>(profileSql(declared, source))
  return profileOf(evidence!, file.delimiter, told)
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
  { dataset, signal }: StageRequest,
  chunks: readonly string[],
  reading: Reading,
  compile: ReadResult['compile'],
): AsyncGenerator<string> {
  const made = (chunk: string): Promise<string> => {
    signal?.throwIfAborted()
    const rows = checkedRows(dataset, chunk, compile(chunkSource([chunk], reading.headers.length)))
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
async function checkedRows(dataset: Dataset, chunk: string, select: string): Promise<string> {
  const path = join(chunk.slice(0, -basename(chunk).length), `rows-${basename(chunk)}`)
  if (dataset.check) await checkRecords(dataset.check, select, path)
  else await runDuck(`COPY (${select}) TO ${duckText(path)} (${ROWS_OUT})`)
  await rm(chunk)
  return path
}
