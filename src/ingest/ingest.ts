/** One call from a file, or a stream of records, to as far as it is asked to go. */
import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { Client, Pool } from '../db/connection.ts'
import { inTransaction } from '../db/transaction.ts'
import { UUID } from '../db/uuid.ts'
import { StagedoorError } from '../errors.ts'
import type { RepeatedKeys } from './datasets/dataset.ts'
import { requireDataset } from './datasets/registry.ts'
import { readMapping } from './mappings.ts'
import { planUpload, submitPlan } from './plan.ts'
import { type ReportProgress, reportProgress } from './progress.ts'
import { promoteUpload } from './promotion.ts'
import { type SpooledFile, spool, spoolFile } from './spool.ts'
import { type HowToRead, stageUpload } from './stage.ts'
import { beginInTurn } from './turn.ts'
import { beginUpload, type RunMode, requireUpload, type Upload, uploadLimits } from './uploads.ts'

export interface IngestOptions {
  readonly dataset: string
  readonly platform: string
  readonly workspace_id: string
  readonly client_id?: string | undefined
  readonly file_name?: string | undefined
  /** refuse (STRICT): all lines or none; skip (LENIENT): the valid ones, if they are enough. */
  readonly on_invalid?: 'refuse' | 'skip' | undefined
  /** Share of valid lines that skip asks for; default 0.9. */
  readonly threshold?: number | undefined
  /** Lines with the same key; default: as the dataset says. */
  readonly repeated_keys?: RepeatedKeys | undefined
  readonly until?: 'staged' | 'planned' | 'promoted' | undefined
  /** Read, check and plan, but never to be promoted. */
  readonly dry_run?: boolean | undefined
  readonly how?: HowToRead | undefined
  /** Where the next pull begins; committed together with the promotion. */
  readonly cursor?: { name: string; value: unknown } | undefined
  /** Who uploads, where the back end does it for somebody. */
  readonly uploaded_by?: string | undefined
  readonly onProgress?: ReportProgress | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Ingested {
  readonly upload: Upload
  /** False: the same bytes were there already, and nothing was done. */
  readonly created: boolean
}

/** Where the back end's connections and the spool are. */
export interface IngestContext {
  readonly pool: Pool
  readonly home: string
}

export type IngestSource =
  /** A path. */
  | string
  /** The bytes of a file. */
  | AsyncIterable<Uint8Array>
  /** Records of an API pull; each becomes a JSON line. */
  | { readonly records: AsyncIterable<object> | Iterable<object> }

export async function ingest(
  context: IngestContext,
  source: IngestSource,
  options: IngestOptions,
): Promise<Ingested> {
  const file = await spoolSource(context, source, options)
  const name = options.file_name ?? (typeof source === 'string' ? basename(source) : 'records.jsonl')
  const begun = await begin(context, file, { ...options, file_name: name }).catch(async (error) => {
    await file.remove()
    throw error
  })
  if (!begun.reader_token) {
    await file.remove()
    return {
      upload: await service(context, (client) => requireUpload(client, begun.upload_id)),
      created: false,
    }
  }
  await stageBegun(context, { upload_id: begun.upload_id, reader_token: begun.reader_token }, file, {
    ...options,
    until: options.until ?? 'promoted',
  })
  const upload = await goOn(context, begun.upload_id, options)
  return { upload, created: true }
}

export async function spoolSource(
  context: IngestContext,
  source: IngestSource,
  options: Pick<IngestOptions, 'workspace_id' | 'signal'>,
): Promise<SpooledFile> {
  const limits = await service(context, (client) => uploadLimits(client, options.workspace_id))
  const most = Number(limits.max_bytes)
  if (typeof source === 'string') return spoolFile(context.home, source, most, options.signal)
  return spool(context.home, 'records' in source ? jsonLines(source.records) : source, most, options.signal)
}

async function* jsonLines(records: AsyncIterable<object> | Iterable<object>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(record, exactIntegers)}\n`
}

/** Ids beyond 2^53 come as bigint; as text they stay what they are. */
function exactIntegers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

async function begin(
  context: IngestContext,
  file: SpooledFile,
  options: IngestOptions & { file_name: string },
) {
  const open = () => service(context, (client) => beginUpload(client, newUpload(file, options)))
  return beginInTurn(context.pool, options.workspace_id, open, options)
}

export function newUpload(file: SpooledFile, options: IngestOptions & { file_name: string }) {
  return {
    workspace_id: options.workspace_id,
    client_id: options.client_id,
    dataset: options.dataset,
    platform: options.platform,
    file_name: options.file_name,
    file_hash: file.file_hash,
    byte_len: file.byte_len,
    run_mode: runModeOf(options),
    options: { ...options.how, ...(options.repeated_keys && { repeated_keys: options.repeated_keys }) },
    cursor: options.cursor,
    uploaded_by: options.uploaded_by,
  }
}

function runModeOf({ dry_run, until }: IngestOptions): RunMode {
  if (dry_run) return 'FULL_DRY_RUN'
  return until === 'staged' ? 'STAGING_ONLY' : 'SAFE_PROD'
}

/** Reads the file of an upload that was opened; whoever opened it holds the token. The file goes either way. */
export async function stageBegun(
  context: IngestContext,
  begun: { upload_id: string; reader_token: string },
  file: SpooledFile,
  options: Pick<IngestOptions, 'how' | 'until' | 'onProgress' | 'signal'> & {
    /** Of the HTTP request that brought the file. Where there is none, or its caller named it otherwise, one is made. */
    readonly request_id?: string
  },
): Promise<void> {
  const { request_id = '' } = options
  const progress = reportProgress(context.pool, begun, options.onProgress)
  try {
    const { upload, dataset, mapping, limits } = await service(context, async (client) => {
      const upload = await requireUpload(client, begun.upload_id)
      return {
        upload,
        dataset: await requireDataset(client, upload.dataset, upload.platform),
        mapping: await readMapping(client, upload.workspace_id, upload.dataset, upload.platform),
        limits: await uploadLimits(client, upload.workspace_id),
      }
    })
    await stageUpload({
      pool: context.pool,
      upload: { ...upload, ...begun },
      dataset,
      file,
      remembered: { headers: mapping.headers, values: mapping.field_values },
      maxLines: limits.max_lines,
      request_id: UUID.test(request_id) ? request_id : randomUUID(),
      planned: options.until === 'planned' || options.until === 'promoted',
      report: progress.report,
      ...(options.how && { how: options.how }),
      ...(options.signal && { signal: options.signal }),
    })
  } finally {
    await progress.stop()
  }
}

async function goOn(context: IngestContext, id: string, options: IngestOptions): Promise<Upload> {
  const { until = 'promoted', on_invalid = 'refuse', threshold, uploaded_by, onProgress } = options
  const find = () => service(context, (client) => requireUpload(client, id))
  if (until === 'staged') return find()
  onProgress?.({ stage: 'plan', done: 0, total: 1 })
  const plan = await service(context, (client) =>
    planUpload(client, id, {
      gate_mode: on_invalid === 'skip' ? 'LENIENT' : 'STRICT',
      ...(threshold !== undefined && { threshold }),
      ...(uploaded_by !== undefined && { planned_by: uploaded_by }),
    }),
  )
  onProgress?.({ stage: 'plan', done: 1, total: 1 })
  if (until === 'planned' || options.dry_run) return find()
  if (plan.refusal !== null) throw new StagedoorError('plan_refused', { upload: id, reason: plan.refusal })
  if (plan.approval_required) {
    await service(context, (client) => submitPlan(client, id, plan.digest, uploaded_by))
    throw new StagedoorError('approval_missing', { upload: id, reason: 'nobody has decided yet' })
  }
  onProgress?.({ stage: 'promote', done: 0, total: 1 })
  await service(context, (client) => promoteUpload(client, id, plan.digest, uploaded_by))
  onProgress?.({ stage: 'promote', done: 1, total: 1 })
  return find()
}

function service<T>(context: IngestContext, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransaction(context.pool, work, { role: 'service_role' })
}
