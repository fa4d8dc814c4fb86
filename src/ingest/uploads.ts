/** Uploads: thin over the SQL functions, which hold every rule. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { RepeatedKeys } from './datasets/dataset.ts'
import type { Progress } from './progress.ts'
import type { FileNote } from './readers/reading.ts'
import type { Reading } from './reading.ts'

export const UPLOAD_STATUSES = [
  'reading',
  'staged',
  'planned',
  'promoted',
  'undone',
  'failed',
  'discarded',
  'expired',
] as const
export const RUN_MODES = ['FULL_DRY_RUN', 'STAGING_ONLY', 'SAFE_PROD'] as const
export const GATE_MODES = ['STRICT', 'LENIENT'] as const
export type UploadStatus = (typeof UPLOAD_STATUSES)[number]
export type RunMode = (typeof RUN_MODES)[number]
export type GateMode = (typeof GATE_MODES)[number]
/** Row type → action or outcome → rows. */
export type Totals = Readonly<Record<string, Readonly<Record<string, number>>>>

/** How much of a measure was read, left out, refused and written: exact decimals as text, money by currency. */
export interface ControlTotal {
  readonly measure: string
  readonly title: string
  /** Of the table that takes it. */
  readonly column: string
  readonly currency: string | null
  /** valid + left_out + refused. */
  readonly read: string
  readonly valid: string
  readonly left_out: string
  readonly refused: string
  /** In lines that sum up others, which are counted nowhere else. Missing in plans of older versions, where they are in `read` and `left_out`. */
  readonly totals_lines?: string
  /** Reason → what the lines that it left out hold, those that sum up others included. */
  readonly reasons: Readonly<Record<string, string>>
  /** Cells that are no number, so that nobody knows how much they hold. */
  readonly unread: number
  /** Into new and changed rows; from here on only where there is a plan. */
  readonly written?: string
  readonly unchanged?: string
  /** The sum over the rows that valid lines are about, as they are now … */
  readonly before?: string
  /** … and as they will be. */
  readonly after?: string
  readonly difference?: string
  /** Of the dataset's amount: the share in lines that are wrong or left out. */
  readonly lost_share?: string
}

export interface Upload {
  readonly upload_id: string
  readonly workspace_id: string
  readonly client_id: string
  readonly dataset: string
  readonly platform: string
  readonly file_name: string
  readonly file_hash: string
  /** A bigint, as text. */
  readonly byte_len: string
  readonly run_mode: RunMode
  readonly status: UploadStatus
  readonly reading: Reading | null
  readonly notes: readonly FileNote[]
  readonly line_count: number | null
  readonly valid_count: number | null
  readonly invalid_count: number | null
  readonly skipped_count: number | null
  readonly warning_count: number | null
  /** Reason → lines that are left out. */
  readonly left_out: Readonly<Record<string, number>>
  /** Of the check, then of the plan, then of the promotion. */
  readonly control: readonly ControlTotal[]
  /** How lines with the same key are treated; null: as the dataset says, and nothing is planned yet. */
  readonly repeated_keys: RepeatedKeys | null
  /** What the plan noticed about the whole file. */
  readonly plan_notes: readonly FileNote[]
  readonly progress: Progress | null
  readonly error: { code: string; message: string; hint: string } | null
  readonly cursor_name: string | null
  readonly cursor_value: unknown
  readonly uploaded_by: string
  readonly uploaded_via: string | null
  readonly changed_by: readonly string[]
  readonly created_at: Date
  readonly staged_at: Date | null
  /** From the first byte to the last staged line. */
  readonly read_ms: number | null
  readonly ended_at: Date | null
  readonly plan_digest: string | null
  readonly gate_mode: GateMode | null
  readonly threshold: string | null
  readonly plan_totals: Totals | null
  readonly plan_refusal: string | null
  readonly planned_by: string | null
  readonly planned_at: Date | null
  readonly plan_took_ms: number | null
  readonly review_record_id: string | null
  readonly approval_required: boolean
  readonly review_status: 'not_submitted' | 'pending' | 'approved' | 'rejected' | 'expired' | null
  readonly review_reason: string | null
  readonly approved_by: string | null
  readonly approved_at: Date | null
  readonly promoted_by: string | null
  readonly promoted_at: Date | null
  readonly promotion_totals: Totals | null
  readonly undo_until: Date | null
  readonly undone_by: string | null
  readonly undone_at: Date | null
  readonly undo_totals: Totals | null
}

const COLUMNS = `upload_id, workspace_id, client_id, dataset, platform, file_name, file_hash, byte_len, run_mode, status,
  reading, notes, line_count, valid_count, invalid_count, skipped_count, warning_count, left_out, control,
  repeated_keys, plan_notes, progress, error, cursor_name,
  cursor_value, uploaded_by, uploaded_via, changed_by, created_at, staged_at, read_ms, ended_at, plan_digest, gate_mode,
  threshold, plan_totals, plan_refusal, planned_by, planned_at, plan_took_ms, review_record_id, approval_required, review_status,
  review_reason, approved_by, approved_at, promoted_by, promoted_at, promotion_totals, undo_until, undone_by, undone_at,
  undo_totals`

export interface NewUpload {
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

export interface BegunUpload {
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
  readonly workspace_id?: string
  readonly status?: readonly UploadStatus[]
  /** Only those that wait for a decision. */
  readonly waiting?: boolean
  readonly limit: number
  readonly after?: string
}

/** Newest first. `reading` is left out: it is large, and a list does not show it. */
export async function listUploads(db: Queryable, filter: UploadFilter): Promise<Upload[]> {
  const { rows } = await db.query<Upload>(
    `select ${COLUMNS.replace('reading,', 'null as reading,')} from iu_core.v_ingest_upload
      where ($1::uuid is null or workspace_id = $1) and ($2::text[] is null or status = any ($2))
        and ($3::uuid is null or upload_id < $3) and (not $4 or review_status = 'pending')
      order by upload_id desc limit $5`,
    [
      filter.workspace_id ?? null,
      filter.status ?? null,
      filter.after ?? null,
      filter.waiting ?? false,
      filter.limit,
    ],
  )
  return rows
}

export async function findUpload(db: Queryable, id: string): Promise<Upload | undefined> {
  const { rows } = await db.query<Upload>(
    `select ${COLUMNS} from iu_core.v_ingest_upload where upload_id = $1`,
    [id],
  )
  return rows[0]
}

export async function requireUpload(db: Queryable, id: string): Promise<Upload> {
  const upload = await findUpload(db, id)
  if (!upload) throw new StagedoorError('upload_not_found', { upload: id })
  return upload
}

export async function discardUpload(db: Queryable, id: string, discardedBy?: string): Promise<void> {
  await db.query('select iu_core.fn_ingest_discard($1, $2)', [id, discardedBy ?? null])
}

export interface UploadLimits {
  readonly workspace_id: string | null
  /** A bigint, as text. */
  readonly max_bytes: string
  readonly max_lines: number
  readonly max_at_once: number
}

/** Its own, or everybody's. */
export async function uploadLimits(db: Queryable, workspace: string | null): Promise<UploadLimits> {
  const { rows } = await db.query<UploadLimits>(
    `select workspace_id, max_bytes, max_lines, max_at_once from iu_core.ingest_limit
      where workspace_id = $1 or workspace_id is null order by workspace_id nulls last limit 1`,
    [workspace],
  )
  return rows[0]!
}

/** `db` must act as workflow_admin. What is not given stays. */
export async function setUploadLimits(
  db: Queryable,
  workspace: string | null,
  limits: { max_bytes?: number; max_lines?: number; max_at_once?: number },
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
  of: { workspace_id: string; client_id?: string; dataset: string; platform: string; name: string },
): Promise<unknown> {
  const { rows } = await db.query<{ cursor_value: unknown }>(
    `select cursor_value from iu_core.ingest_cursor
      where workspace_id = $1 and client_id = $2 and dataset = $3 and platform = $4 and cursor_name = $5`,
    [of.workspace_id, of.client_id ?? of.workspace_id, of.dataset, of.platform, of.name],
  )
  return rows[0]?.cursor_value
}
