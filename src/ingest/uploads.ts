/** The record of an upload: opened, listed, discarded; its limits, cursor, progress, failure and periodic tasks. SQL holds the rules. */

import { asStagedoorError, type ErrorCode, type ErrorDetails, StagedoorError } from '../kernel/errors.ts'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import { BigCount, columnsOf, nullable, type Row, shape, Type } from '../kernel/schema.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import type { GATE_MODES } from './plan-shapes.ts'
import { type Progress, type RUN_MODES, type UPLOAD_STATUSES, Upload } from './shapes.ts'
import { sweepSpool } from './spool.ts'

export type { ControlTotal, Snapshot, Totals } from './plan-shapes.ts'
export type { Progress, PromotionFailure, Upload } from './shapes.ts'

export { UPLOAD_STATUSES } from './shapes.ts'
export type UploadStatus = (typeof UPLOAD_STATUSES)[number]
export type RunMode = (typeof RUN_MODES)[number]
export type GateMode = (typeof GATE_MODES)[number]
/** Known of one upload. Of a page it is asked once for all, as are its approvers: asked for each, it takes as long as the page itself each time. */
const UPLOAD_COLUMNS = columnsOf(Upload, {
  as: {
    outdated: '(select o.outdated from iu_core.fn_ingest_outdated(array[v_ingest_upload.upload_id]) o)',
  },
})

/** Where an upload goes. */
export interface UploadTarget {
  readonly workspaceId: string
  readonly dataset: string
  readonly platform: string
  /** Whose data it is, where the dataset has clients. */
  readonly clientId?: string | undefined
}

interface NewUpload {
  readonly workspace_id: string
  readonly client_id?: string | undefined
  readonly dataset: string
  readonly platform: string
  readonly file_name: string
  readonly file_hash: string
  readonly byte_len: number
  readonly run_mode?: RunMode | undefined
  readonly options?: object | undefined
  readonly cursor?: { name: string; value: unknown } | undefined
  /** For the back end, which uploads for somebody. */
  readonly uploaded_by?: string | undefined
}

interface BegunUpload {
  readonly upload_id: string
  /** False: the same bytes are there already, and nothing was opened. */
  readonly created: boolean
  readonly status: UploadStatus
  readonly reader_token: string | null
}

export async function beginUpload(db: Queryable, upload: NewUpload): Promise<BegunUpload> {
  const { rows } = await db.query<BegunUpload>(
    `select * from iu_core.fn_ingest_begin($1, $2, $3, $4, $5, $6, $7, coalesce($8, 'SAFE_PROD'), $9, $10, $11, $12)`,
    [
      upload.workspace_id,
      upload.dataset,
      upload.platform,
      upload.file_name,
      upload.file_hash,
      upload.byte_len,
      upload.client_id ?? null,
      upload.run_mode ?? null,
      JSON.stringify(upload.options ?? {}),
      upload.cursor?.name ?? null,
      upload.cursor ? JSON.stringify(upload.cursor.value) : null,
      upload.uploaded_by ?? null,
    ],
  )
  return rows[0]!
}

export interface UploadFilter {
  readonly workspaceId?: string | undefined
  readonly status?: readonly UploadStatus[] | undefined
  /** Only those that wait for a decision. */
  readonly waiting?: boolean | undefined
  /** Only those whose plan was refused for its invalid lines, whose promotion failed since it was planned, or whose plan is (maybe) outdated. */
  readonly problem?: UploadProblem | undefined
  readonly limit: number
  readonly after?: string | undefined
}

export const UPLOAD_PROBLEMS = ['invalid', 'promotion', 'outdated'] as const
type UploadProblem = (typeof UPLOAD_PROBLEMS)[number]

/** Newest first. `reading` is left out: it is large, and a list does not show it. */
export async function listUploads(db: Queryable, filter: UploadFilter): Promise<Upload[]> {
  const { rows } = await db.query<Upload>(
    `with page as materialized (
       select ${columnsOf(Upload, { as: { reading: 'null', outdated: 'null::text', approvers: 'null::jsonb' } })} from iu_core.v_ingest_upload
      where ($1::uuid is null or workspace_id = $1) and ($2::text[] is null or status = any ($2))
        and ($3::uuid is null or upload_id < $3) and (not $4 or review_status = 'pending')
        and case $5::text
              when 'invalid' then status = 'planned' and plan_refusal is not null
              when 'promotion' then status = 'planned' and exists (
                select from iu_core.ingest_promotion_failure f
                 where f.upload_id = v_ingest_upload.upload_id and f.plan_digest = v_ingest_upload.plan_digest)
              when 'outdated' then upload_id in (
                select o.upload_id from iu_core.fn_ingest_outdated(array(
                  select u.upload_id from iu_core.ingest_upload u where u.status = 'planned')) o)
              else true end
      order by upload_id desc limit $6
     )
     select ${columnsOf(Upload, { from: 'page', as: { outdated: 'o.outdated', approvers: 'a.approvers' } })}
       from page left join iu_core.fn_ingest_outdated(array(select page.upload_id from page where page.status = 'planned')) o
         on o.upload_id = page.upload_id
       left join iu_core.fn_change_approvers_of(array(select page.upload_id from page)) a on a.subject_id = page.upload_id
      order by page.upload_id desc`,
    [
      filter.workspaceId ?? null,
      filter.status ?? null,
      filter.after ?? null,
      filter.waiting ?? false,
      filter.problem ?? null,
      filter.limit,
    ],
  )
  return rows
}

export async function findUpload(db: Queryable, id: string): Promise<Upload | undefined> {
  const { rows } = await db.query<Upload>(
    `select ${UPLOAD_COLUMNS} from iu_core.v_ingest_upload where upload_id = $1`,
    [id],
  )
  return rows[0]
}

/** True, or undefined where the caller may not see the upload. The view without its columns is the table. */
export async function isVisible(db: Queryable, id: string): Promise<true | undefined> {
  const { rowCount } = await db.query('select from iu_core.v_ingest_upload where upload_id = $1', [id])
  return rowCount === 1 ? true : undefined
}

/** What a caller who waits asks again and again: a third of the columns, and none that needs a subquery over other uploads. */
const STATUS_COLUMNS = [
  'upload_id',
  'dataset',
  'platform',
  'file_name',
  'title',
  'change',
  'status',
  'review_status',
  'review_reason',
  'plan_digest',
  'plan_totals',
  'plan_refusal',
  'line_count',
  'invalid_count',
  'progress',
  'error',
  'approvers',
  'promoted_at',
  'undone_at',
  'undo_reason',
] as const
export type UploadStatusRow = Pick<Upload, (typeof STATUS_COLUMNS)[number]>

export async function findUploadStatus(db: Queryable, id: string): Promise<UploadStatusRow | undefined> {
  const { rows } = await db.query<UploadStatusRow>(
    `select ${STATUS_COLUMNS.join(', ')} from iu_core.v_ingest_upload where upload_id = $1`,
    [id],
  )
  return rows[0]
}

export async function requireUpload(db: Queryable, id: string): Promise<Upload> {
  const upload = await findUpload(db, id)
  if (!upload) throw new StagedoorError('upload_not_found', { upload: id })
  return upload
}

/** The headers as the cells of a line are named: one that occurs twice has a number. */
export async function uploadHeaders(db: Queryable, id: string): Promise<string[]> {
  const { rows } = await db.query<{ headers: string[] | null }>(
    `select reading -> 'headers' as headers from iu_core.v_ingest_upload where upload_id = $1`,
    [id],
  )
  // Loaded here, like everything that loads DuckDB: commands that read no file start without it.
  const { rawKeys } = await import('./readers/chunks.ts')
  return rawKeys(rows[0]?.headers ?? [])
}

interface UploadState extends Pick<Upload, 'status' | 'progress' | 'error'> {
  /** A job has not done yet all that it was asked to. */
  readonly is_in_progress: boolean
}

/** How far it is, for whoever follows it, in whichever process. */
export async function findUploadState(db: Queryable, id: string): Promise<UploadState | undefined> {
  const { rows } = await db.query<UploadState>(
    `select u.status, u.progress, u.error,
            exists (select from iu_core.ingest_reading r where r.upload_id = u.upload_id and r.job_id is not null) as is_in_progress
       from iu_core.ingest_upload u where u.upload_id = $1`,
    [id],
  )
  return rows[0]
}

export async function discardUpload(db: Queryable, id: string, discardedBy?: string): Promise<void> {
  await db.query('select iu_core.fn_ingest_discard($1, $2)', [id, discardedBy ?? null])
}

export const UploadLimits = shape('UploadLimits', {
  workspace_id: nullable(Type.String({ description: 'null: the limits of all that have none of their own' })),
  max_bytes: BigCount,
  max_lines: Type.Integer(),
  max_at_once: Type.Integer({ description: 'uploads that are read at the same time' }),
})
type UploadLimits = Row<typeof UploadLimits>

/** Its own, or everybody's. */
export async function uploadLimits(db: Queryable, workspace: string | null): Promise<UploadLimits> {
  const { rows } = await db.query<UploadLimits>(
    'select workspace_id, max_bytes, max_lines, max_at_once from iu_core.fn_ingest_limits($1)',
    [workspace],
  )
  return rows[0]!
}

/** `db` must act as workflow_admin. What is not given stays. */
export async function setUploadLimits(
  db: Queryable,
  workspace: string | null,
  limits: {
    max_bytes?: number | undefined
    max_lines?: number | undefined
    max_at_once?: number | undefined
  },
): Promise<void> {
  await db.query('select iu_core.fn_ingest_limit_set($1, $2, $3, $4)', [
    workspace,
    limits.max_bytes ?? null,
    limits.max_lines ?? null,
    limits.max_at_once ?? null,
  ])
}

/** Where the last promoted pull ended. */
export async function readCursor(
  db: Queryable,
  of: UploadTarget & { readonly name: string },
): Promise<unknown> {
  const { rows } = await db.query<{ cursor_value: unknown }>(
    `select cursor_value from iu_core.ingest_cursor
      where workspace_id = $1 and client_id = $2 and dataset = $3 and platform = $4 and cursor_name = $5`,
    [of.workspaceId, of.clientId ?? of.workspaceId, of.dataset, of.platform, of.name],
  )
  return rows[0]?.cursor_value
}

// Progress of an upload: for the caller, and in the database, where every process can see it.

export type ReportProgress = (progress: Progress) => void

/** One write a second at most: many uploads are read at once, and each write is a row version of its upload. */
const PROGRESS_INTERVAL_MS = 1000

interface ProgressReport {
  readonly report: ReportProgress
  stop(): Promise<void>
}

/**
 * Writes the newest progress now and then; it is the reader's sign of life, too, so it goes on while nothing moves.
 * A write that fails is not the upload's failure, unless it says that another process reads it now, or nobody any more.
 */
export function reportProgress(
  pool: Pool,
  upload: { upload_id: string; reader_token: string },
  listener: ReportProgress,
  onReplaced: (error: StagedoorError) => void = () => {},
): ProgressReport {
  let latest: Progress = { stage: 'read', done: 0, total: 0 }
  let writing: Promise<unknown> | undefined
  let ticks = 0
  let written: Progress | undefined
  const write = (): void => {
    // Without news every three seconds: so soon a reader learns that its upload was discarded.
    if (writing || (latest === written && ++ticks % 3 !== 0)) return
    written = latest
    writing = inTransaction(
      pool,
      (client) =>
        client.query('select iu_core.fn_ingest_progress($1, $2, $3)', [
          upload.upload_id,
          upload.reader_token,
          JSON.stringify(latest),
        ]),
      SERVICE_ROLE,
    )
      .catch((error: unknown) => {
        if (error instanceof StagedoorError && error.code === 'reader_replaced') onReplaced(error)
      })
      .finally(() => {
        writing = undefined
      })
  }
  const timer = setInterval(write, PROGRESS_INTERVAL_MS)
  return {
    report(progress) {
      latest = progress
      listener(progress)
    },
    async stop() {
      clearInterval(timer)
      await writing
    },
  }
}

// Failure: what is kept with an upload that could not be read, planned or promoted.

interface UploadFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  readonly details?: ErrorDetails
}

/** What is not one of our errors may quote a path or a cell, in its message and in its details; the log has it. */
export function describeFailure(thrown: unknown, what: 'read' | 'planned' | 'promoted'): UploadFailure {
  const { code, message, hint, details } = asStagedoorError(thrown)
  if (code !== 'internal') return { code, message, hint, details }
  return { code, message: `Unexpected error while this file was ${what}.`, hint }
}

/** reading → failed. The error of the caller matters more than one of this call: after a minute another process deals with the upload. */
export async function failUpload(
  pool: Pool,
  { upload_id, reader_token }: { upload_id: string; reader_token: string },
  thrown: unknown,
): Promise<void> {
  const failure = JSON.stringify(describeFailure(thrown, 'read'))
  await inTransaction(
    pool,
    (client) => client.query('select iu_core.fn_ingest_fail($1, $2, $3)', [upload_id, reader_token, failure]),
    SERVICE_ROLE,
  ).catch(() => undefined)
}

// Periodic tasks: readers that died, images past their undo. Retention of staged rows and of id
// resolutions are jobs of the schedules with their names.

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export function ingestTasks(home: string): MaintenanceTask[] {
  return [
    {
      name: 'uploads without a reader',
      everyMs: MINUTE,
      async run(client) {
        const { rows } = await client.query<{ failed: number }>(
          'select iu_core.fn_ingest_fail_stalled() as failed',
        )
        const folders = await sweepSpool(home)
        const { failed } = rows[0]!
        return failed + folders > 0 ? `${failed} uploads failed, ${folders} spool folders removed` : undefined
      },
    },
    {
      name: 'images of promotions',
      everyMs: HOUR,
      async run(client) {
        // One promotion a call, and there may be many: all that are due, for up to a minute.
        const until = Date.now() + MINUTE
        let dropped = 0n
        let promotions = 0
        while (Date.now() < until) {
          const { rows } = await client.query<{ rows: string | null }>(
            'select iu_core.fn_ingest_images_drop() as rows',
          )
          if (rows[0]!.rows === null) break
          dropped += BigInt(rows[0]!.rows)
          promotions += 1
        }
        return promotions > 0 ? `images of ${dropped} rows of ${promotions} promotions dropped` : undefined
      },
    },
  ]
}
