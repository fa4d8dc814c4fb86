/**
 * The ingest pipeline: one upload from its source to as far as `until` says. CLI, HTTP, library, playbook tool and
 * benchmark all call it, and each says which actor acts.
 *
 *   admitUpload     may the actor stage here, and how large may the file be: before a byte is taken
 *   UploadFiles     the whole file into the store
 *   openUpload      the upload's record, or the one that the same bytes have already
 *   continueUpload  stage (always as the back end), plan, submit, promote
 *
 * Over HTTP the last step is a job: queueUpload enqueues it with the record, and readQueued runs it in any process that shares the
 * store. A process that waits for its upload (CLI, library) continues it itself; if it dies, a job does.
 *
 * What stops an upload without a failure (a refused plan, an approval that is missing, the same bytes) is a result, with
 * the reason in `stopped`. A failure is recorded with the upload on every surface, and thrown.
 */
import { basename } from 'node:path'
import { requireStaging } from '../gates/gates.ts'
import { CATALOGUE } from '../kernel/catalogue.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { isConnectionError } from '../kernel/postgres/errors.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import type { RepeatedKeys } from './datasets/dataset.ts'
import { requireMappedFields } from './datasets/mapping.ts'
import { requireDataset } from './datasets/registry.ts'
import {
  type OnInvalid,
  OWN_TOTALS_DISAGREE,
  OWN_TOTALS_HINT,
  planUpload,
  recordPlanFailure,
  submitPlan,
} from './plan.ts'
import {
  type Promotion,
  type PromotionAttempt,
  promoteUpload,
  promotionAttempt,
  recordPromotionFailure,
} from './promotion.ts'
import {
  endReading,
  isReplaced,
  queueReading,
  type ReadingPlan,
  requireReading,
  stageFile,
  type TakenReading,
} from './reading.ts'
import { type ReadableFile, type SpooledFile, spool, spoolFile } from './spool.ts'
import type { FileOptions } from './stage.ts'
import {
  emptyFileTrash,
  fileBytes,
  homeUploadFiles,
  type StoredFile,
  type UploadFiles,
} from './upload-files.ts'
import { beginInQueue } from './upload-queue.ts'
import {
  beginUpload,
  failUpload,
  isVisible,
  type Progress,
  type RunMode,
  requireUpload,
  type Upload,
  type UploadTarget,
  uploadLimits,
} from './uploads.ts'

/** How far an upload goes, if nothing stops it. */
export const UNTIL = ['staged', 'planned', 'submitted', 'promoted'] as const
export type Until = (typeof UNTIL)[number]

/** The back end's connections, the folder of the spool, and the stores of files (default: below `home`). */
export interface PipelineDeps {
  readonly pool: Pool
  readonly home: string
  readonly files?: UploadFiles | undefined
  /** The login that works out proposed statements; absent where PROPOSAL_DATABASE_URL is not set. */
  readonly proposalPool?: Pool | undefined
}

/** Whose rights count when an upload is opened, planned, submitted and promoted. Only the back end stages rows. */
export interface IngestActor {
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** Where the back end acts for somebody: recorded as uploaded_by, planned_by, submitted_by and promoted_by. */
  readonly onBehalfOf?: string | undefined
}

export function backEndActor(pool: Pool, onBehalfOf?: string): IngestActor {
  return { transaction: (work) => inTransaction(pool, work, SERVICE_ROLE), onBehalfOf }
}

export interface IngestOptions extends UploadTarget {
  readonly actor: IngestActor
  readonly until: Until
  readonly fileName?: string | undefined
  /** How the file is to be read, where it cannot be detected. */
  readonly file?: FileOptions | undefined
  /** Where the next pull begins; committed together with the promotion. */
  readonly cursor?: { readonly name: string; readonly value: unknown } | undefined
  /** refuse (default): all lines or none; skip: the valid ones, if they are enough. */
  readonly onInvalid?: OnInvalid | undefined
  /** Share of valid lines that skip asks for; default 0.9. */
  readonly threshold?: number | undefined
  /** Lines with the same key; default: as the dataset says. */
  readonly repeatedKeys?: RepeatedKeys | undefined
  /** Of a snapshot: the share of the rows in its scope that it may delete; default: as the dataset says. */
  readonly maxDeleted?: number | undefined
  /** Of a snapshot: it is complete, although it is far shorter than the last ones. */
  readonly allowShortFile?: boolean | undefined
  /** Read, check and plan, never promote: goes no further than `planned`. */
  readonly dryRun?: boolean | undefined
  /** An upload of the same bytes exists: report it (default), or continue it from its status. */
  readonly sameBytes?: 'report' | 'continue' | undefined
  /** How long to wait while the workspace reads as many uploads as it may; default 10 minutes; 0: fail at once. */
  readonly maxQueueWaitMs?: number | undefined
  /** In the transaction that opens the upload, before it: what it throws refuses the file. */
  readonly beforeOpening?:
    | ((client: Client, file: { readonly file_hash: string }) => Promise<void>)
    | undefined
  /** Of the HTTP request that brought the file; default: a new one. */
  readonly requestId?: string | undefined
  /** An error that it throws becomes a warning of the process and does not fail the upload. */
  readonly onEvent?: ((event: IngestEvent) => void) | undefined
  /** Before the rows are staged, abort fails the upload; afterwards it stops before the next step. */
  readonly signal?: AbortSignal | undefined
}

/** In this order. What happens in the database is an event of its own there (`ingestion_staged`, …). */
export type IngestEvent =
  /** 1: it is next. */
  | { readonly type: 'queued'; readonly position: number }
  | { readonly type: 'opened'; readonly upload_id: string; readonly created: boolean }
  | ({ readonly type: 'progress'; readonly upload_id: string } & Progress)
  | { readonly type: 'staged' | 'planned' | 'submitted' | 'promoted'; readonly upload_id: string }

export type IngestSource =
  /** A path. */
  | string
  /** The bytes of a file. */
  | AsyncIterable<Uint8Array>
  /** Records of an API pull; each becomes a JSON line. */
  | { readonly records: AsyncIterable<object> | Iterable<object> }

export interface IngestResult {
  readonly upload: Upload
  /** False: an upload of the same bytes existed. */
  readonly created: boolean
  /** Why the upload is not at `until` although nothing failed: plan_refused, approval_missing or upload_already_exists. */
  readonly stopped?: StagedoorError
}

/** From a source to `until`. */
export async function ingest(
  deps: PipelineDeps,
  source: IngestSource,
  options: IngestOptions,
): Promise<IngestResult> {
  const opened = await interruptible(options.signal, async (signal) => {
    const { maxBytes } = await admitUpload(options.actor, options)
    const file = await receiveSource(deps, source, maxBytes, signal)
    return openUpload(deps, file, { ...options, fileName: options.fileName ?? nameOf(source), signal })
  })
  return continueUpload(deps, opened, options)
}

/** Checks the right to stage before the file fills the disk. Opening checks again. */
export function admitUpload(
  actor: IngestActor,
  { workspaceId, dataset, platform, file = {} }: UploadTarget & Pick<IngestOptions, 'file'>,
): Promise<{ maxBytes: number }> {
  return admitFile(actor, workspaceId, async (client) =>
    requireMappedFields(await requireDataset(client, dataset, platform, workspaceId), file),
  )
}

/** The same for a file whose dataset is not chosen yet. */
export async function admitFile(
  actor: IngestActor,
  workspaceId: string,
  check?: (client: Client) => Promise<void>,
): Promise<{ maxBytes: number }> {
  const limits = await actor.transaction(async (client) => {
    await requireStaging(client, workspaceId)
    await check?.(client)
    return uploadLimits(client, workspaceId)
  })
  return { maxBytes: Number(limits.max_bytes) }
}

function nameOf(source: IngestSource): string {
  if (typeof source === 'string') return basename(source)
  return 'records' in source ? 'records.jsonl' : 'upload'
}

/** A file that was received and has no upload yet, or is to be read here. */
interface UploadFile {
  readonly file_hash: string
  readonly byte_len: number
  /** Where another process can read it as well. */
  readonly stored?: StoredFile
  open(signal?: AbortSignal): Promise<ReadableFile>
  /** Nobody needs it any more. */
  drop(): Promise<void>
}

/**
 * For a process that reads the file itself. It goes into the store where it can be read there, so that another process can continue;
 * from a bucket it would have to be fetched again, so it is spooled instead, and must be uploaded again if this process dies.
 */
async function receiveSource(
  { home, files = homeUploadFiles(home) }: PipelineDeps,
  source: IngestSource,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<UploadFile> {
  if (!files.isLocal) {
    const spooled = await spoolSource(home, source, limit, signal)
    return { ...spooled, open: async () => spooled, drop: () => spooled.remove() }
  }
  const bytes = typeof source === 'string' ? fileBytes(source) : bytesOf(source)
  return storedUpload(files, await files.put(bytes, { limit, signal }))
}

function storedUpload(files: UploadFiles, stored: StoredFile): UploadFile {
  const { file_hash, byte_len, file_ref } = stored
  return {
    file_hash,
    byte_len,
    stored,
    open: (signal) => files.open(stored, signal),
    drop: () => files.delete(file_ref),
  }
}

export function spoolSource(
  home: string,
  source: IngestSource,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<SpooledFile> {
  if (typeof source === 'string') return spoolFile(home, source, maxBytes, signal)
  return spool(home, bytesOf(source), maxBytes, signal)
}

function bytesOf(source: Exclude<IngestSource, string>): AsyncIterable<Uint8Array | string> {
  return 'records' in source ? jsonLines(source.records) : source
}

async function* jsonLines(records: AsyncIterable<object> | Iterable<object>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(record, bigintsAsText)}\n`
}

/** Ids beyond 2^53 come as bigint; as text they keep every digit. */
function bigintsAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

interface OpenedUpload<T = unknown> {
  readonly upload_id: string
  /** False: the same bytes have an upload already, and nothing was opened. */
  readonly created: boolean
  /** The reader needs it to stage the file; null: there is nothing to read. */
  readonly reader_token: string | null
  /** What `load` gave. */
  readonly upload: T
  readonly file: UploadFile
}

/** Opens the upload as the actor. The pipeline owns the file from here on, and drops it on every path. */
async function openUpload(
  deps: PipelineDeps,
  file: UploadFile,
  options: IngestOptions,
): Promise<OpenedUpload> {
  const emit = emitter(options)
  const begin = () =>
    options.actor.transaction(async (client) => ({
      ...(await beginWithReading(client, file, options, { enqueue: false, load: isVisible })),
      file,
    }))
  const opened = await (options.maxQueueWaitMs === 0
    ? begin()
    : beginInQueue(deps.pool, options.workspaceId, begin, {
        onQueued: (position) => emit({ type: 'queued', position }),
        signal: options.signal,
        maxWaitMs: options.maxQueueWaitMs,
      })
  ).catch(async (error) => {
    await dropRefused(file, error)
    throw error
  })
  if (opened.reader_token === null) await file.drop()
  emit({ type: 'opened', upload_id: opened.upload_id, created: opened.created })
  return opened
}

/**
 * Opens the upload as the actor and enqueues the job that reads it, in one transaction, in which `load` reads the upload, too. Whoever
 * shares the store continues it. A caller does not wait in a queue: `uploads_at_once` says when to try again.
 */
export async function queueUpload<T>(
  { home, files = homeUploadFiles(home) }: PipelineDeps,
  stored: StoredFile,
  options: Omit<IngestOptions, 'signal' | 'onEvent' | 'sameBytes' | 'maxQueueWaitMs'>,
  load: (client: Client, id: string) => Promise<T | undefined>,
): Promise<{ upload_id: string; created: boolean; upload: T }> {
  const file = storedUpload(files, stored)
  const { upload_id, created, upload } = await options.actor
    .transaction((client) => beginWithReading(client, file, options, { enqueue: true, load }))
    .catch(async (error) => {
      await dropRefused(file, error)
      throw error
    })
  if (!created) await file.drop()
  return { upload_id, created, upload }
}

/** The record of the upload, and that of its reading where the file is in a store. `enqueue`: a job reads it. */
async function beginWithReading<T>(
  client: Client,
  file: UploadFile,
  options: Omit<IngestOptions, 'signal'>,
  { enqueue, load }: { enqueue: boolean; load(client: Client, id: string): Promise<T | undefined> },
): Promise<Omit<OpenedUpload<T>, 'file'>> {
  await options.beforeOpening?.(client, file)
  const begun = await beginUpload(client, newUpload(file, options))
  const { upload_id, reader_token } = begun
  if (file.stored && reader_token !== null)
    await queueReading(client, { upload_id, reader_token }, file.stored, readingPlan(options), enqueue)
  const upload = await load(client, upload_id)
  if (upload === undefined) throw hiddenUpload()
  return { ...begun, upload }
}

/** Not where the answer of a commit was lost: it may have happened. If it did not, the search for files without an upload finds it. */
async function dropRefused(file: UploadFile, error: unknown): Promise<void> {
  const isCertain =
    error instanceof StagedoorError ? CATALOGUE[error.code].status < 500 : !isConnectionError(error)
  if (file.stored && !isCertain) return
  // The caller's error matters more.
  await file.drop().catch(() => undefined)
}

/** How far a job continues the upload. It does not promote: for that the right to operate would have to be asked for. */
function readingPlan(options: Omit<IngestOptions, 'signal'>): ReadingPlan {
  const { until, onInvalid, threshold, repeatedKeys, maxDeleted, allowShortFile, requestId } = options
  return {
    until: until === 'promoted' ? 'submitted' : until,
    plan: { onInvalid, threshold, repeatedKeys, maxDeleted, allowShortFile, dryRun: options.dryRun },
    requestId,
  }
}

/**
 * The job of an upload: what is left of it, in its uploader's name. Each of its transactions is refused once another process has taken
 * the upload, or somebody has discarded it.
 */
export async function readQueued(
  deps: PipelineDeps,
  upload_id: string,
  taken: TakenReading,
  signal: AbortSignal,
): Promise<Upload> {
  const { home, pool, files = homeUploadFiles(home) } = deps
  const { reader_token, until } = taken
  const actor: IngestActor = {
    transaction: (work) =>
      inTransaction(
        pool,
        async (client) => {
          await requireReading(client, upload_id, reader_token)
          return work(client)
        },
        SERVICE_ROLE,
      ),
    onBehalfOf: taken.uploaded_by,
  }
  const options = { ...taken.plan, actor, until, signal, workspaceId: '', dataset: '', platform: '' }
  if (taken.status === 'reading') {
    const file = (from?: AbortSignal) => files.open(taken, from)
    await interruptible(signal, (inner) =>
      stageFile(
        deps,
        { upload_id, reader_token },
        {
          open: file,
          requestId: taken.request_id,
          planFollows: until !== 'staged',
          signal: inner,
        },
      ),
    )
  }
  const goal = taken.plan.dryRun && until !== 'staged' ? 'planned' : until
  const upload = await planAndPromote(deps, upload_id, { ...options, until: goal }, () => {})
  await actor.transaction((client) => endReading(client, upload_id, reader_token))
  await emptyFileTrash(pool, files)
  return upload
}

function newUpload(file: Pick<StoredFile, 'file_hash' | 'byte_len'>, options: Omit<IngestOptions, 'signal'>) {
  return {
    workspace_id: options.workspaceId,
    client_id: options.clientId,
    dataset: options.dataset,
    platform: options.platform,
    file_name: options.fileName ?? 'upload',
    file_hash: file.file_hash,
    byte_len: file.byte_len,
    run_mode: runModeOf(options),
    options: { ...options.file, ...(options.repeatedKeys && { repeated_keys: options.repeatedKeys }) },
    cursor: options.cursor,
    uploaded_by: options.actor.onBehalfOf,
  }
}

function runModeOf({ dryRun, until }: Pick<IngestOptions, 'dryRun' | 'until'>): RunMode {
  if (dryRun) return 'FULL_DRY_RUN'
  return until === 'staged' ? 'STAGING_ONLY' : 'SAFE_PROD'
}

/** An agent sees its own uploads only. */
function hiddenUpload(): StagedoorError {
  return new StagedoorError(
    'upload_state',
    {},
    {
      message: 'Somebody else has uploaded the same file for this client, and you cannot see their upload',
      hint: 'Ask a person of the workspace to continue it, or to discard it.',
    },
  )
}

/** From an opened upload to `until`. The actor may be another one than the one who opened it. */
async function continueUpload(
  deps: PipelineDeps,
  opened: OpenedUpload,
  options: IngestOptions,
): Promise<IngestResult> {
  const { upload_id, reader_token, created } = opened
  const emit = emitter(options)
  // A dry run reaches no more than its plan, and that is no reason to stop.
  const until = options.dryRun && options.until !== 'staged' ? 'planned' : options.until
  if (reader_token !== null) {
    await readHere(deps, { upload_id, reader_token }, opened.file, options, emit)
    emit({ type: 'staged', upload_id })
  }
  const continues = created || options.sameBytes === 'continue'
  const upload = await (continues
    ? planAndPromote(deps, upload_id, { ...options, until }, emit)
    : options.actor.transaction((client) => requireUpload(client, upload_id)))
  const stopped = stopReason(upload, until, continues)
  return { upload, created, ...(stopped && { stopped }) }
}

/** reading → staged, or → failed with the reason. Nothing of the file is left behind then. */
async function readHere(
  deps: PipelineDeps,
  reader: { upload_id: string; reader_token: string },
  file: UploadFile,
  { signal, requestId, until }: IngestOptions,
  emit: Emit,
): Promise<void> {
  const { upload_id } = reader
  const { home, pool, files = homeUploadFiles(home) } = deps
  // The database knows of a stored file whether anybody needs it still.
  const cleanUp = () => (file.stored ? emptyFileTrash(pool, files) : file.drop())
  try {
    await interruptible(signal, (inner) =>
      stageFile(deps, reader, {
        open: file.open,
        requestId,
        planFollows: until !== 'staged',
        signal: inner,
        onProgress: (now) => emit({ type: 'progress', upload_id, ...now }),
      }),
    )
  } catch (error) {
    await failUpload(pool, reader, error)
    await cleanUp()
    throw error
  }
  await cleanUp()
}

/** As far as `until`, from wherever the upload stands, for an upload whose rows came without a file. */
export async function advanceUpload(
  deps: PipelineDeps,
  id: string,
  { actor, until }: Pick<IngestOptions, 'actor' | 'until'>,
): Promise<Omit<IngestResult, 'created'>> {
  const upload = await planAndPromote(deps, id, { actor, until }, () => {})
  const stopped = stopReason(upload, until, true)
  return { upload, ...(stopped && { stopped }) }
}

/** staged → planned → submitted or promoted, from wherever the upload stands. */
async function planAndPromote(
  deps: PipelineDeps,
  id: string,
  options: Omit<IngestOptions, keyof UploadTarget>,
  emit: Emit,
): Promise<Upload> {
  const { actor, until, signal } = options
  const find = () => actor.transaction((client) => requireUpload(client, id))
  let upload = await find()
  if (upload.status === 'staged' && until !== 'staged') {
    await plan(deps, id, options, emit)
    upload = await find()
  }
  const mayGoOn = upload.status === 'planned' && upload.plan_refusal === null
  if (!mayGoOn || until === 'staged' || until === 'planned') return upload
  const digest = upload.plan_digest!
  if (upload.approval_required && upload.review_status === 'not_submitted') {
    refuseInterrupted(signal, id, 'submitted')
    await actor.transaction((client) => submitPlan(client, id, digest, actor.onBehalfOf))
    emit({ type: 'submitted', upload_id: id })
    upload = await find()
  }
  if (until === 'submitted' || (upload.approval_required && upload.review_status !== 'approved'))
    return upload
  refuseInterrupted(signal, id, 'promoted')
  emit({ type: 'progress', upload_id: id, stage: 'promote', done: 0, total: 1 })
  await promotePlan(deps, actor, id, digest)
  emit({ type: 'progress', upload_id: id, stage: 'promote', done: 1, total: 1 })
  emit({ type: 'promoted', upload_id: id })
  return find()
}

/**
 * Promotes the plan with this digest. If that fails, the transaction is rolled back and another one records the failure with
 * the upload, which stays as it was and can be promoted again. A process that dies in between records nothing.
 */
export async function promotePlan(
  { pool }: Pick<PipelineDeps, 'pool'>,
  actor: IngestActor,
  id: string,
  digest: string,
): Promise<Promotion> {
  let attempt: PromotionAttempt | undefined
  try {
    return await actor.transaction(async (client) => {
      attempt = await promotionAttempt(client, actor.onBehalfOf)
      return promoteUpload(client, id, digest, actor.onBehalfOf)
    })
  } catch (error) {
    const failed = attempt
    // If even this fails (the database is unavailable), the caller still gets the first error.
    if (failed !== undefined)
      await backEndActor(pool)
        .transaction((client) => recordPromotionFailure(client, id, digest, failed, error))
        .catch(() => undefined)
    throw error
  }
}

/** A plan that fails leaves the upload staged, with the reason. */
async function plan(
  deps: PipelineDeps,
  id: string,
  options: Omit<IngestOptions, keyof UploadTarget>,
  emit: Emit,
): Promise<void> {
  const { actor, onInvalid, threshold, repeatedKeys, maxDeleted, allowShortFile } = options
  try {
    refuseInterrupted(options.signal, id, 'planned')
    emit({ type: 'progress', upload_id: id, stage: 'plan', done: 0, total: 1 })
    await actor.transaction((client) =>
      planUpload(client, id, {
        onInvalid,
        threshold,
        repeatedKeys,
        maxDeleted,
        allowShortFile,
        plannedBy: actor.onBehalfOf,
      }),
    )
  } catch (error) {
    // Whoever has taken the upload plans it.
    if (isReplaced(error)) throw error
    // If even this fails (the database is unavailable), the caller still gets the first error.
    await backEndActor(deps.pool)
      .transaction((client) => recordPlanFailure(client, id, error))
      .catch(() => undefined)
    throw error
  }
  emit({ type: 'progress', upload_id: id, stage: 'plan', done: 1, total: 1 })
  emit({ type: 'planned', upload_id: id })
}

/** Undefined: the upload is where it was to go. */
function stopReason(upload: Upload, until: Until, continues: boolean): StagedoorError | undefined {
  if (hasReached(upload, until)) return undefined
  const { upload_id, status, plan_refusal, approval_required, review_status } = upload
  if (status === 'planned' && plan_refusal !== null) {
    const hint = plan_refusal.startsWith(OWN_TOTALS_DISAGREE) ? { hint: OWN_TOTALS_HINT } : {}
    return new StagedoorError('plan_refused', { upload: upload_id, reason: plan_refusal }, hint)
  }
  const isPending = review_status === 'pending'
  if (status === 'planned' && approval_required && (continues || isPending)) {
    const reason = isPending ? 'nobody has decided yet' : `it is ${review_status}`
    return new StagedoorError('approval_missing', { upload: upload_id, reason })
  }
  const isDecided =
    review_status === 'approved' || review_status === 'rejected' || review_status === 'expired'
  const state = status === 'planned' && isDecided ? review_status : status
  return new StagedoorError('upload_already_exists', { upload: upload_id, state })
}

function hasReached({ status, ...upload }: Upload, until: Until): boolean {
  if (status === 'promoted') return true
  if (status === 'staged') return until === 'staged'
  if (status !== 'planned' || until === 'promoted') return false
  if (until !== 'submitted') return true
  const isSubmitted = upload.review_status === 'pending' || upload.review_status === 'approved'
  return upload.plan_refusal === null && (!upload.approval_required || isSubmitted)
}

type Emit = (event: IngestEvent) => void

function emitter({ onEvent }: Pick<IngestOptions, 'onEvent'>): Emit {
  return (event) => {
    try {
      onEvent?.(event)
    } catch (error) {
      process.emitWarning(`The listener of an upload threw at its event ${event.type}: ${error}`)
    }
  }
}

/**
 * Runs `work` with a signal whose reason is one of our errors, and throws that reason once it is aborted: streams and
 * statements throw errors of their own then.
 */
async function interruptible<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return work(undefined)
  const abort = new AbortController()
  const onAbort = (): void =>
    abort.abort(
      signal.reason instanceof StagedoorError
        ? signal.reason
        : new StagedoorError('upload_interrupted', { reason: 'nothing of the file was kept' }),
    )
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(abort.signal)
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Between two steps, when the rows are staged: what was done so far stays. */
function refuseInterrupted(
  signal: AbortSignal | undefined,
  id: string,
  next: 'planned' | 'submitted' | 'promoted',
): void {
  if (!signal?.aborted) return
  throw new StagedoorError(
    'upload_interrupted',
    {
      upload: id,
      reason: `upload ${id} stays ${next === 'planned' ? 'staged' : 'planned'} and was not ${next}`,
    },
    { cause: signal.reason, hint: `\`stagedoor upload show ${id}\` says what to do next.` },
  )
}
