/** Staging records: thin over the SQL functions, which hold every rule. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { BlobFacts } from './blobs/store.ts'

export const STAGING_KINDS = [
  'mark_manifest',
  'review_package',
  'cut_preview',
  'sql_snapshot',
  'nosql_payload',
  'draft_iu_composition',
  'agent_intermediate',
  'event_working_state',
] as const
export const PAYLOAD_TYPES = [
  'manifest_json',
  'mark_report',
  'sql_result_snapshot',
  'nosql_payload',
  'source_excerpt',
  'import_preview',
  'event_working_state',
  'composition_draft',
  'review_bundle',
] as const
export const LIFECYCLE = ['pending', 'approved', 'consumed', 'rejected', 'expired', 'cleaned'] as const

export type StagingKind = (typeof STAGING_KINDS)[number]
export type PayloadType = (typeof PAYLOAD_TYPES)[number]
export type LifecycleStatus = (typeof LIFECYCLE)[number]

export interface PartDigest {
  readonly part_index: number
  readonly part_name: string
  readonly payload_kind: 'json' | 'text' | 'blob_ref'
  readonly byte_len: number
  readonly content_hash: string
}

export interface StagingRecord {
  readonly staging_record_id: string
  readonly workspace_id: string | null
  readonly staging_kind: StagingKind
  readonly payload_type: PayloadType
  readonly purpose: string
  readonly lifecycle_status: LifecycleStatus
  readonly owner_actor: string
  readonly owner_via: string | null
  readonly source_kind: string
  readonly source_ref: string | null
  readonly content_hash: string
  /** A bigint, as text. */
  readonly byte_len: string
  readonly part_count: number
  readonly part_digests: PartDigest[]
  readonly metadata: Record<string, unknown> | null
  readonly referenced_iu_ids: string[] | null
  readonly approval_required: boolean
  readonly four_eyes: boolean
  readonly checklist_required: boolean
  readonly created_at: Date
  readonly expires_at: Date
  readonly approved_at: Date | null
  readonly approved_by: string | null
  readonly approved_via: string | null
  readonly approval_doc_id: string | null
  readonly rejected_at: Date | null
  readonly rejected_by: string | null
  readonly rejected_reason: string | null
  readonly consumed_at: Date | null
  readonly consumed_by_run_id: string | null
  readonly expired_at: Date | null
  readonly retain_until: Date | null
  readonly cleaned_at: Date | null
}

const COLUMNS = `staging_record_id, workspace_id, staging_kind, payload_type, purpose, lifecycle_status, owner_actor,
  owner_via, source_kind, source_ref, content_hash, byte_len, part_count, part_digests, metadata, referenced_iu_ids,
  approval_required, four_eyes, checklist_required, created_at, expires_at, approved_at, approved_by, approved_via,
  approval_doc_id, rejected_at, rejected_by, rejected_reason, consumed_at, consumed_by_run_id, expired_at, retain_until,
  cleaned_at`

export interface NewPart {
  readonly part_name: string
  readonly payload_kind: 'json' | 'text' | 'blob_ref'
  readonly payload_json?: unknown
  readonly payload_text?: string
  readonly blob_ref?: string
  /** Of the blob's bytes; only for blob_ref. */
  readonly byte_len?: number
  readonly content_hash?: string
}

export interface NewRecord {
  readonly staging_kind: StagingKind
  readonly payload_type: PayloadType
  readonly purpose: string
  readonly workspace_id?: string
  readonly owner_actor?: string
  readonly source_kind?: 'agent' | 'user' | 'system' | 'import'
  readonly source_ref?: string
  /** Default: made of source_ref and kind, so that the same call again finds its record; without those, every call makes one. */
  readonly idempotency_key?: string
  /** Another record from the same source, without a key. */
  readonly new?: boolean
  readonly expires_at?: string
  readonly metadata?: Record<string, unknown>
  readonly referenced_iu_ids?: readonly string[]
  readonly parts: readonly NewPart[]
}

export interface CreatedRecord {
  readonly staging_record_id: string
  readonly lifecycle_status: LifecycleStatus
  readonly content_hash: string
  /** False when the idempotency key found a record that exists. */
  readonly created: boolean
}

export interface CreateExtras {
  /** By reference. Where given, length and digest of every blob part are these, whatever the request says. */
  readonly blobs?: Readonly<Record<string, BlobFacts>>
  /** Parts after those of the request: JSON text of an array. */
  readonly parts?: string
}

/**
 * Takes the request as JSON text and lets PostgreSQL read it: JSON.parse would round numbers beyond 2^53, and the
 * digest would be that of other bytes than the caller's.
 */
export async function createRecord(
  db: Queryable,
  request: string,
  idempotencyKey?: string,
  extras: CreateExtras = {},
): Promise<CreatedRecord> {
  const blobs = extras.blobs === undefined ? null : JSON.stringify(extras.blobs)
  const { rows } = await db.query<CreatedRecord>(CREATE, [
    request,
    idempotencyKey ?? null,
    blobs,
    extras.parts ?? '[]',
  ])
  return rows[0]!
}

const CREATE = `select c.* from (select $1::jsonb as r, $3::jsonb as blobs) as given,
       lateral iu_core.fn_iu_staging_create(
         p_staging_kind => r ->> 'staging_kind',
         p_payload_type => r ->> 'payload_type',
         p_purpose => r ->> 'purpose',
         p_parts => array(
           select case when blobs is not null and jsonb_typeof(part) = 'object' and part ->> 'payload_kind' = 'blob_ref'
                       then part - 'byte_len' - 'content_hash' || coalesce(blobs -> (part ->> 'blob_ref'), '{}')
                       else part end
             from jsonb_array_elements(
                    case jsonb_typeof(r -> 'parts') when 'array' then r -> 'parts' else '[]' end || $4::jsonb) as part),
         p_workspace_id => (r ->> 'workspace_id')::uuid,
         p_owner_actor => r ->> 'owner_actor',
         p_source_kind => r ->> 'source_kind',
         p_source_ref => r ->> 'source_ref',
         p_idempotency_key => coalesce($2, r ->> 'idempotency_key'),
         p_new => coalesce((r ->> 'new')::boolean, false),
         p_expires_at => (r ->> 'expires_at')::timestamptz,
         p_metadata => nullif(r -> 'metadata', 'null'),
         p_referenced_iu_ids => case jsonb_typeof(r -> 'referenced_iu_ids') when 'array'
           then array(select jsonb_array_elements_text(r -> 'referenced_iu_ids'))::uuid[] end) as c`

export interface RecordFilter {
  readonly status?: LifecycleStatus
  readonly kind?: StagingKind
  readonly owner?: string
  readonly workspace?: string
  /** Only what needs a person: pending, not expired, with approval required, and not the review of an upload. */
  readonly undecided?: boolean
  readonly limit: number
  /** The id of the last record of the page before. */
  readonly after?: string
}

/** By the plan and not by source_ref, which whoever stages a record can write: nobody hides one from the reviewers. */
const UNDECIDED = `and lifecycle_status = 'pending' and approval_required and expires_at > clock_timestamp()
        and not exists (select from iu_core.ingest_plan p where p.review_record_id = staging_record_id)`

/** Newest first, as far as the caller may see. */
export async function listRecords(db: Queryable, filter: RecordFilter): Promise<StagingRecord[]> {
  const { rows } = await db.query<StagingRecord>(
    `select ${COLUMNS} from iu_core.iu_staging_record
      where ($2::uuid is null or staging_record_id < $2)
        and ($3::text is null or lifecycle_status = $3)
        and ($4::text is null or staging_kind = $4)
        and ($5::text is null or owner_actor = $5)
        and ($6::uuid is null or workspace_id = $6)
        ${filter.undecided ? UNDECIDED : ''}
      order by staging_record_id desc limit $1`,
    [
      filter.limit,
      filter.after ?? null,
      filter.status ?? null,
      filter.kind ?? null,
      filter.owner ?? null,
      filter.workspace ?? null,
    ],
  )
  return rows
}

export async function findRecord(db: Queryable, id: string): Promise<StagingRecord | undefined> {
  const { rows } = await db.query<StagingRecord>(
    `select ${COLUMNS} from iu_core.iu_staging_record where staging_record_id = $1`,
    [id],
  )
  return rows[0]
}

export interface Part extends PartDigest {
  /** JSON in its canonical text, or the text itself; null for a blob. */
  readonly content: string | null
  readonly blob_ref: string | null
}

/** JSON comes as text, because parsing it here would round its numbers. */
export async function readPart(
  db: Queryable,
  id: string,
  index: number,
  { pretty = false }: { pretty?: boolean } = {},
): Promise<Part | undefined> {
  const { rows } = await db.query<Part>(
    `select part_index, part_name, payload_kind, byte_len::float8 as byte_len, content_hash, blob_ref,
            coalesce(${pretty ? 'jsonb_pretty(payload_json)' : 'payload_json::text'}, payload_text) as content
       from iu_core.iu_staging_payload where staging_record_id = $1 and part_index = $2`,
    [id, index],
  )
  return rows[0]
}

export interface ChecklistItem {
  readonly item_id: string
  readonly label: string
  readonly required: boolean
  readonly ticked_by: string | null
  readonly ticked_at: Date | null
  readonly note: string | null
}

export async function readChecklist(db: Queryable, id: string): Promise<ChecklistItem[]> {
  const { rows } = await db.query<ChecklistItem>('select * from iu_core.fn_iu_staging_checklist($1)', [id])
  return rows
}

export async function tickItem(
  db: Queryable,
  id: string,
  item: string,
  ticked: boolean,
  note?: string,
): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_tick($1, $2, $3, $4)', [id, item, ticked, note ?? null])
}

/** `digest` is the one that the reviewer saw. */
export async function approveRecord(
  db: Queryable,
  id: string,
  decision: { digest: string; approvalDocId?: string; approvedBy?: string },
): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_approve($1, $2, $3, $4)', [
    id,
    decision.digest,
    decision.approvedBy ?? null,
    decision.approvalDocId ?? null,
  ])
}

export async function rejectRecord(db: Queryable, id: string, reason: string): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_reject($1, $2)', [id, reason])
}

export async function withdrawRecord(db: Queryable, id: string): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_withdraw($1)', [id])
}

/** Consumes for a run that is open, or for one that is opened and ended here. Returns the run's id. */
export async function consumeRecord(
  db: Queryable,
  id: string,
  consumer: { runId?: string; command?: string; digest?: string },
): Promise<string> {
  const run = consumer.runId ?? (await startRun(db, id, consumer.command ?? 'staging consume'))
  await db.query('select iu_core.fn_iu_staging_consume($1, $2, $3)', [id, run, consumer.digest ?? null])
  if (consumer.runId === undefined) await db.query('select iu_core.fn_command_run_finish($1)', [run])
  return run
}

async function startRun(db: Queryable, id: string, command: string): Promise<string> {
  const { rows } = await db.query<{ run: string }>(
    `select iu_core.fn_command_run_start($2, r.content_hash, r.workspace_id) as run
       from iu_core.iu_staging_record r where staging_record_id = $1`,
    [id, command],
  )
  if (!rows[0]) throw new StagedoorError('staging_not_found', { record: id })
  return rows[0].run
}

export async function unregisterRecord(db: Queryable, id: string): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_unregister($1)', [id])
}
