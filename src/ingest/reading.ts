/**
 * Reading the file of an upload: by the process that received it, or as the job `upload_read:<store>` by any process that shares the
 * store. The token of a reading changes with every attempt, and every transaction of a reader asks for it, so that a process that was
 * cut off writes nothing after another one has begun. SQL holds the rules (sql/ingest/reading.sql).
 */
import { randomUUID } from 'node:crypto'
import { CATALOGUE } from '../kernel/catalogue.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Client, Pool, Queryable } from '../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import { readMapping } from './datasets/mapping.ts'
import { requireDataset } from './datasets/registry.ts'
import type { PlanRequest } from './plan.ts'
import { listReadOptions } from './read-options.ts'
import type { ReadableFile } from './spool.ts'
import type { FileOptions } from './stage.ts'
import type { StoredFile } from './upload-files.ts'
import { describeFailure, type ReportProgress, reportProgress, type Upload, uploadLimits } from './uploads.ts'

export interface Reader {
  readonly upload_id: string
  readonly reader_token: string
}

/** What a job does after the file is read. */
export interface ReadingPlan {
  readonly until: 'staged' | 'planned' | 'submitted'
  readonly plan: Omit<PlanRequest, 'plannedBy'> & { readonly dryRun?: boolean | undefined }
  readonly requestId?: string | undefined
}

/** What a process gets that takes the job. */
export interface TakenReading extends Pick<ReadingPlan, 'until' | 'plan'> {
  readonly status: 'reading' | 'staged' | 'planned'
  readonly file_ref: string
  readonly store: string
  readonly byte_len: number
  readonly request_id: string
  readonly uploaded_by: string
  readonly reader_token: string
  /** No further attempt follows if this one fails. */
  readonly last: boolean
}

/** The kind of the job, without the store. */
export const READING_KIND = 'upload_read'

export function readingKind(store: string): string {
  return `${READING_KIND}:${store}`
}

/** In the transaction that opens the upload. Without `enqueue` the caller reads the file itself. */
export async function queueReading(
  db: Queryable,
  { upload_id, reader_token }: Reader,
  { file_ref, store }: StoredFile,
  { until, plan, requestId = '' }: ReadingPlan,
  enqueue: boolean,
): Promise<void> {
  await db.query('select iu_core.fn_ingest_queue_reading($1, $2, $3, $4, $5, $6, $7, $8)', [
    upload_id,
    reader_token,
    file_ref,
    store,
    until,
    JSON.stringify(plan),
    UUID.test(requestId) ? requestId : randomUUID(),
    enqueue,
  ])
}

/** Undefined: nothing remains to be done. Refused with reader_replaced if the job is another worker's by now. */
export async function takeReading(
  pool: Pool,
  upload: string,
  job: { readonly job_id: string; readonly lease_epoch: number },
): Promise<TakenReading | undefined> {
  await closeFormerReaders(pool, upload)
  return inTransaction(pool, async (client) => {
    // A former reader that could not be closed holds the row: the attempt fails, and will be retried.
    await client.query(`set local lock_timeout = '20s'`)
    const { rows } = await client.query<{ taken: TakenReading | null }>(
      'select iu_core.fn_ingest_reading_take($1, $2, $3) as taken',
      [upload, job.job_id, job.lease_epoch],
    )
    return rows[0]!.taken ?? undefined
  })
}

export async function requireReading(db: Queryable, upload: string, token: string): Promise<void> {
  await lockAsReader(db, upload)
  await db.query('select iu_core.fn_ingest_reading_require($1, $2)', [upload, token])
}

export async function endReading(db: Queryable, upload: string, token: string): Promise<void> {
  await db.query('select iu_core.fn_ingest_reading_end($1, $2)', [upload, token])
}

/** Reads the kept file of a failed upload again, as a new job. */
export async function retryUpload(db: Queryable, upload: string, retriedBy?: string): Promise<void> {
  await db.query('select iu_core.fn_ingest_retry($1, $2)', [upload, retriedBy ?? null])
}

/** Throws where the database cannot be reached, or another process has taken the reading. */
export async function failReading(
  pool: Pool,
  { upload_id, reader_token }: Reader,
  thrown: unknown,
  outcome: 'retry' | 'keep' | 'fail',
): Promise<void> {
  const { hint, ...failure } = describeFailure(thrown, 'read')
  const again = `\`stagedoor upload retry ${upload_id}\` reads the file again.`
  const error = { ...failure, hint: outcome === 'keep' ? `${hint} ${again}` : hint }
  await inTransaction(
    pool,
    (client) =>
      client.query('select iu_core.fn_ingest_reading_failed($1, $2, $3, $4)', [
        upload_id,
        reader_token,
        JSON.stringify(error),
        outcome,
      ]),
    SERVICE_ROLE,
  )
}

/**
 * What a failed attempt leads to. A store or a database that does not answer may do so later; an error that is not ours is shown to a
 * person at once, who may try again; a file that is wrong stays wrong.
 */
export function outcomeOf(thrown: unknown, isLast: boolean): 'retry' | 'keep' | 'fail' {
  const { code } = asStagedoorError(thrown)
  if (code === 'internal') return 'keep'
  if (CATALOGUE[code].status < 500) return 'fail'
  return isLast ? 'keep' : 'retry'
}

export function isReplaced(error: unknown): boolean {
  return error instanceof StagedoorError && error.code === 'reader_replaced'
}

interface StagingOptions {
  open(signal?: AbortSignal): Promise<ReadableFile>
  readonly requestId?: string | undefined
  readonly planFollows: boolean
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ReportProgress | undefined
}

/** reading → staged, or an error and nothing. Throws reader_replaced soon after another process has taken the upload. */
export async function stageFile(
  { pool }: { readonly pool: Pool },
  reader: Reader,
  { open, requestId = '', planFollows, signal: given, onProgress = () => {} }: StagingOptions,
): Promise<void> {
  const replaced = new AbortController()
  const signal = given ? AbortSignal.any([given, replaced.signal]) : replaced.signal
  const progress = reportProgress(pool, reader, onProgress, (error) => replaced.abort(error))
  let file: ReadableFile | undefined
  try {
    const request = await inTransaction(
      pool,
      async (client) => {
        const { options, ...upload } = await uploadToRead(client, reader.upload_id)
        return {
          upload: { ...upload, ...reader },
          options,
          dataset: await requireDataset(client, upload.dataset, upload.platform),
          mapping: await readMapping(client, { ...upload, workspaceId: upload.workspace_id }),
          memories: await listReadOptions(client, {
            workspaceId: upload.workspace_id,
            dataset: upload.dataset,
            platform: upload.platform,
            author: upload.uploaded_by,
          }),
          limits: await uploadLimits(client, upload.workspace_id),
        }
      },
      SERVICE_ROLE,
    )
    signal.throwIfAborted()
    file = await open(signal)
    // DuckDB takes a third of a second to load; most commands and programs never need it.
    const { stageUpload } = await import('./stage.ts')
    await stageUpload({
      ...request,
      pool,
      file,
      remembered: {
        headers: request.mapping.headers,
        values: request.mapping.field_values,
        by: { headers: request.mapping.header_by, values: request.mapping.value_by },
      },
      maxLines: request.limits.max_lines,
      request_id: UUID.test(requestId) ? requestId : randomUUID(),
      planFollows,
      report: progress.report,
      signal,
    })
  } catch (error) {
    throw replaced.signal.aborted ? replaced.signal.reason : error
  } finally {
    await progress.stop()
    await file?.remove()
  }
}

/** Whose file it is and how it was asked to be read. From the table: the view takes longer to plan than all that a small file needs here. */
async function uploadToRead(
  client: Client,
  upload_id: string,
): Promise<
  Pick<Upload, 'workspace_id' | 'client_id' | 'dataset' | 'platform' | 'uploaded_by'> & {
    options: FileOptions
  }
> {
  const { rows } = await client.query(
    `select workspace_id, client_id, dataset, platform, uploaded_by, options - 'repeated_keys' as options
       from iu_core.ingest_upload where upload_id = $1`,
    [upload_id],
  )
  if (rows.length === 0) throw new StagedoorError('upload_not_found', { upload: upload_id })
  return rows[0]
}

// Sessions of former readers. One whose process is frozen, or whose machine is gone, may still hold rows that it has not committed, and
// the next reader would wait for them. Each transaction of a reader holds a shared lock by which its sessions are found.

const READER_LOCK_SQL = `hashtextextended('stagedoor.ingest.reader ' || $1, 0)`

export async function lockAsReader(client: Queryable, upload: string): Promise<void> {
  await client.query(`select pg_advisory_xact_lock_shared(${READER_LOCK_SQL})`, [upload])
}

/** As the login itself, which may end its own sessions. Where they belong to another login, their own time limits end them. */
async function closeFormerReaders(pool: Pool, upload: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('set local role none')
    await client.query(
      `select pg_terminate_backend(l.pid, 2000) from pg_locks l
        where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.pid <> pg_backend_pid()
          and l.database = (select oid from pg_database where datname = current_database())
          and (l.classid::bigint << 32 | l.objid::bigint) = ${READER_LOCK_SQL}`,
      [upload],
    )
  }).catch((error: { code?: string }) => {
    if (error.code !== INSUFFICIENT_PRIVILEGE && !isPermissionDenied(error)) throw error
  })
}

const INSUFFICIENT_PRIVILEGE = '42501'

function isPermissionDenied(error: unknown): boolean {
  return error instanceof StagedoorError && error.code === 'permission_denied'
}
