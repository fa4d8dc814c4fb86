/** Staging records: thin over the SQL functions, which hold every rule. */

import { type ErrorCode, StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import type { BlobFacts } from '../runtime/stores/blob-store.ts'
import {
  type ChecklistItem,
  type CreatedRecord,
  type LIFECYCLE,
  type PAYLOAD_TYPES,
  type PartDigest,
  type STAGING_KINDS,
  StagingRecord,
} from './shapes.ts'

export type { ChecklistItem, CreatedRecord, StagingRecord } from './shapes.ts'

export { LIFECYCLE, STAGEABLE_KINDS, STAGEABLE_TYPES, STAGING_KINDS } from './shapes.ts'

export type StagingKind = (typeof STAGING_KINDS)[number]
type PayloadType = (typeof PAYLOAD_TYPES)[number]
type LifecycleStatus = (typeof LIFECYCLE)[number]

/** The change of the record, or of the upload that it is the review of. */
const CHANGE = `(select c.number from iu_core.change c where c.subject_id = coalesce(
  (select s.upload_id from iu_core.ingest_submission s where s.staging_record_id = iu_staging_record.staging_record_id),
  iu_staging_record.staging_record_id))`
const APPROVERS = 'iu_core.fn_change_approvers(iu_staging_record.staging_record_id)'
/** An approval of a plan that was replaced stays approved until it expires, and cannot be used: it is not the review of the plan. */
const WITHDRAWN = `case
  when rejected_reason = 'withdrawn' and rejected_by = owner_actor then 'its owner withdrew it'
  when staging_kind = 'review_package' and consumed_at is null and expired_at is null
       and (rejected_at is null or rejected_reason = 'the plan was replaced')
  then (select case u.status when 'discarded' then 'its upload was discarded' else 'a new plan replaced it' end
          from iu_core.ingest_submission s join iu_core.ingest_upload u using (upload_id)
         where s.staging_record_id = iu_staging_record.staging_record_id
           and not exists (select from iu_core.ingest_plan p where p.review_record_id = s.staging_record_id)
           -- The plan of an upload that has ended is deleted after some time.
           and (u.status in ('reading', 'staged', 'planned', 'discarded')
                or exists (select from iu_core.ingest_plan p where p.upload_id = s.upload_id))) end`
const COLUMNS = columnsOf(StagingRecord, {
  as: { change: CHANGE, approvers: APPROVERS, withdrawn: WITHDRAWN },
})

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

interface CreateExtras {
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
  readonly status?: LifecycleStatus | undefined
  readonly kind?: StagingKind | undefined
  readonly owner?: string | undefined
  readonly workspace?: string | undefined
  /** Only what needs a person: pending, not expired, with approval required, and not the review of an upload. */
  readonly undecided?: boolean | undefined
  readonly limit: number
  /** The id of the last record of the page before. */
  readonly after?: string | undefined
}

/** By the plan, not by source_ref: anyone who stages a record can write source_ref, and must not hide a record from reviewers. */
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

export async function requireRecord(db: Queryable, id: string): Promise<StagingRecord> {
  const record = await findRecord(db, id)
  if (!record) throw new StagedoorError('staging_not_found', { record: id })
  return record
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

export async function readChecklist(db: Queryable, id: string): Promise<ChecklistItem[]> {
  const { rows } = await db.query<ChecklistItem>('select * from iu_core.fn_iu_staging_checklist($1)', [id])
  return rows
}

export async function tickItem(
  db: Queryable,
  id: string,
  item: string,
  { ticked, note }: { readonly ticked: boolean; readonly note?: string | undefined },
): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_tick($1, $2, $3, $4)', [id, item, ticked, note ?? null])
}

/** `digest` is the one that the reviewer saw. */
export async function approveRecord(
  db: Queryable,
  id: string,
  decision: { digest: string; approvalDocId?: string | undefined; approvedBy?: string },
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
  consumer: { runId?: string | undefined; command?: string; digest?: string | undefined },
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

// Retention: expiry, cleanup, health, and the policy of a kind.

/** Returns how many expired; call again until 0. */
export async function expireRecords(db: Queryable, limit = 1000): Promise<number> {
  const { rows } = await db.query<{ expired: number }>('select iu_core.fn_iu_staging_expire($1) as expired', [
    limit,
  ])
  return rows[0]!.expired
}

export interface CleanupScope {
  readonly limit?: number | undefined
  readonly dry_run?: boolean | undefined
  readonly kinds?: readonly StagingKind[] | undefined
  readonly workspace_id?: string | undefined
}

export interface CleanupResult {
  readonly cleaned: number
  readonly parts: number
  readonly bytes: number
  readonly dry_run: boolean
}

/** One batch; call again until nothing was cleaned. */
export async function cleanRecords(db: Queryable, scope: CleanupScope = {}): Promise<CleanupResult> {
  const { rows } = await db.query<{ result: CleanupResult }>(
    'select iu_core.fn_iu_staging_cleanup($1) as result',
    [JSON.stringify(scope)],
  )
  return rows[0]!.result
}

export interface StagingHealth {
  readonly ok: boolean
  readonly checks: readonly { name: string; ok: boolean; detail: string }[]
  readonly lifecycle: Readonly<Record<string, number>>
  readonly gates: Readonly<Record<string, boolean>>
}

export async function stagingHealth(db: Queryable, sample = 100): Promise<StagingHealth> {
  const { rows } = await db.query<{ health: StagingHealth }>(
    'select iu_core.fn_iu_staging_healthcheck($1) as health',
    [sample],
  )
  return rows[0]!.health
}

export interface KindPolicy {
  readonly staging_kind: StagingKind
  readonly payload_types: readonly string[]
  readonly approval_required: boolean
  readonly four_eyes: boolean
  readonly checklist_required: boolean
  readonly time_to_live: string
  readonly retention: string
  readonly reason: string
}

export async function listPolicies(db: Queryable): Promise<KindPolicy[]> {
  const { rows } = await db.query<KindPolicy>(
    `select staging_kind, approval_required, four_eyes, checklist_required, time_to_live::text, retention::text, reason,
            array(select payload_type from iu_core.iu_staging_kind_type t
                   where t.staging_kind = p.staging_kind order by 1) as payload_types
       from iu_core.iu_staging_kind_policy p order by staging_kind`,
  )
  return rows
}

interface PolicyChanges {
  readonly four_eyes?: boolean | undefined
  readonly checklist_required?: boolean | undefined
  /** As PostgreSQL writes an interval: `3 days`. */
  readonly time_to_live?: string | undefined
  readonly retention?: string | undefined
}

/** For records from now on. `db` must act as workflow_admin. */
export async function setPolicy(
  db: Queryable,
  kind: string,
  changes: PolicyChanges,
  reason: string,
): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_set_policy($1, $2, $3)', [
    kind,
    JSON.stringify(changes),
    reason,
  ])
}

/** Limits that the database enforces, for callers that check before. Larger content is sent as a blob. */
const MEBIBYTE = 1024 ** 2

export const MAX_PARTS = 100
/** Of a JSON or text part. */
export const MAX_PART_BYTES = 10 * MEBIBYTE
/** Of all of them together. */
export const MAX_TOTAL_BYTES = 64 * MEBIBYTE

// JSON that must arrive and leave exactly as it is: JavaScript rounds numbers beyond 2^53.

/** Refuses what is not UTF-8 instead of storing replacement characters. A byte order mark is kept where asked. */
export function decodeUtf8(bytes: Uint8Array, what: string, options: { keepMark?: boolean } = {}): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: options.keepMark === true }).decode(bytes)
  } catch (error) {
    throw new StagedoorError('text_invalid', { reason: `${what} is not valid UTF-8` }, { cause: error })
  }
}

/**
 * A copy to look at; what is stored is the text. Only what is one JSON value by itself may be put between the braces
 * of another.
 */
export function readJson(text: string, what: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = `${what} is not JSON: ${(error as Error).message}`
    throw new StagedoorError(code, { reason }, { cause: error })
  }
}
