/** What goes in and comes out of the staging routes. */
import { Type } from 'typebox'
import { MOST_PARTS } from '../../../staging/limits.ts'
import {
  type ChecklistItem,
  LIFECYCLE,
  PAYLOAD_TYPES,
  STAGING_KINDS,
  type StagingRecord,
} from '../../../staging/records.ts'
import { nullable, Timestamp } from '../../responses.ts'

const Uuid = Type.String({ format: 'uuid' })
/** Bigints are strings in JSON. */
const Count = Type.String({ pattern: '^[0-9]+$', examples: ['2048'] })
export const Digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'sha-256, in hex',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})
export const RecordId = Type.Object({ id: Type.String({ format: 'uuid', description: 'the record' }) })
export const Status = Type.Enum([...LIFECYCLE])
export const Kind = Type.Enum([...STAGING_KINDS])

const NewPart = Type.Object(
  {
    part_name: Type.String({ minLength: 1, maxLength: 200 }),
    payload_kind: Type.Enum(['json', 'text', 'blob_ref']),
    payload_json: Type.Optional(Type.Unknown({ description: 'any JSON, up to 10 MiB; kept exactly' })),
    payload_text: Type.Optional(Type.String({ description: 'up to 10 MiB' })),
    blob_ref: Type.Optional(Type.String({ description: 'what PUT /api/staging/blobs answered' })),
    byte_len: Type.Optional(
      Type.Union([Count, Type.Integer({ minimum: 0 })], {
        description: 'of a blob; if given, it must match',
      }),
    ),
    content_hash: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of a blob; if given, it must match' }),
    ),
  },
  { additionalProperties: false },
)

const envelope = {
  workspace_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'only back-end code may leave it out' }),
  ),
  staging_kind: Kind,
  payload_type: Type.Enum([...PAYLOAD_TYPES]),
  purpose: Type.String({ minLength: 1, maxLength: 2000, description: 'a few words for whoever decides' }),
  owner_actor: Type.Optional(Type.String({ description: 'only back-end code may name another than itself' })),
  source_kind: Type.Optional(
    Type.Enum(['agent', 'user', 'system', 'import'], {
      description: 'default: agent for an agent’s token, which cannot say user; else user',
    }),
  ),
  source_ref: Type.Optional(Type.String({ maxLength: 2000 })),
  expires_at: Type.Optional(Timestamp),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  new: Type.Optional(
    Type.Boolean({
      description:
        'another record from the same source_ref, which without an idempotency key is found again by it and the kind',
    }),
  ),
  referenced_iu_ids: Type.Optional(Type.Array(Uuid, { maxItems: 1000 })),
}

const EXAMPLE = {
  workspace_id: '0190b5a2-7c1e-7a33-8f0e-3a1d5b7c9e11',
  staging_kind: 'review_package',
  payload_type: 'review_bundle',
  purpose: 'Commentary on the report of week 27',
  source_kind: 'agent',
  parts: [
    { part_name: 'manifest', payload_kind: 'json', payload_json: { campaigns: ['120210000000000001'] } },
    { part_name: 'commentary', payload_kind: 'text', payload_text: 'Spend rose because …' },
    { part_name: 'checklist', payload_kind: 'json', payload_json: [{ id: 'sums', text: 'The sums agree' }] },
  ],
}

export const NewRecord = Type.Object(
  { ...envelope, parts: Type.Array(NewPart, { minItems: 1, maxItems: MOST_PARTS }) },
  { additionalProperties: false, examples: [EXAMPLE] },
)
/** The first field of a form; the files are the parts. */
export const NewRecordForm = Type.Object(
  { ...envelope, parts: Type.Optional(Type.Array(NewPart, { maxItems: MOST_PARTS })) },
  { additionalProperties: false },
)
export interface NewRecordShape {
  readonly workspace_id?: string
  readonly parts?: readonly {
    readonly part_name: string
    readonly payload_kind: 'json' | 'text' | 'blob_ref'
    readonly blob_ref?: string
    readonly byte_len?: string | number
    readonly content_hash?: string
  }[]
}

export const Created = Type.Object({
  staging_record_id: Uuid,
  lifecycle_status: Status,
  content_hash: Digest,
  created: Type.Boolean({ description: 'false: the idempotency key found this record' }),
})

export const Blob = Type.Object({ blob_ref: Type.String(), byte_len: Count, content_hash: Digest })

const summary = {
  staging_record_id: Uuid,
  workspace_id: nullable(Uuid),
  staging_kind: Kind,
  payload_type: Type.Enum([...PAYLOAD_TYPES]),
  purpose: Type.String(),
  lifecycle_status: Status,
  owner_actor: Type.String(),
  owner_via: nullable(Type.String()),
  source_kind: Type.String(),
  source_ref: nullable(Type.String()),
  content_hash: Digest,
  byte_len: Count,
  part_count: Type.Integer(),
  approval_required: Type.Boolean(),
  four_eyes: Type.Boolean(),
  checklist_required: Type.Boolean(),
  created_at: Timestamp,
  expires_at: Timestamp,
  approved_at: nullable(Timestamp),
  approved_by: nullable(Type.String()),
  approved_via: nullable(Type.String()),
  approval_doc_id: nullable(Type.String()),
  rejected_at: nullable(Timestamp),
  rejected_by: nullable(Type.String()),
  rejected_reason: nullable(Type.String()),
  consumed_at: nullable(Timestamp),
  consumed_by_run_id: nullable(Uuid),
  expired_at: nullable(Timestamp),
  retain_until: nullable(Timestamp),
  cleaned_at: nullable(Timestamp),
}
export const Summary = Type.Object(summary)

const PartDigest = Type.Object({
  part_index: Type.Integer(),
  part_name: Type.String(),
  payload_kind: Type.Enum(['json', 'text', 'blob_ref']),
  byte_len: Count,
  content_hash: Digest,
})
const Item = Type.Object({
  item_id: Type.String(),
  label: nullable(Type.String()),
  required: Type.Boolean(),
  ticked_by: nullable(Type.String()),
  ticked_at: nullable(Timestamp),
  note: nullable(Type.String()),
})
export const Checklist = Type.Array(Item)
const Permission = Type.Object({
  allowed: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'why not' }),
})
export const Detail = Type.Object({
  ...summary,
  part_digests: Type.Array(PartDigest),
  referenced_iu_ids: Type.Array(Uuid),
  checklist: Checklist,
  may: Type.Object(
    { tick: Permission, approve: Permission, reject: Permission, withdraw: Permission, consume: Permission },
    { description: 'what you may do with it now' },
  ),
  metadata: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
})

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

/** Without metadata and digests of the parts: a list stays light. */
export function presentSummary(record: StagingRecord) {
  const { part_digests, metadata, referenced_iu_ids, ...rest } = record
  return {
    ...rest,
    created_at: record.created_at.toISOString(),
    expires_at: record.expires_at.toISOString(),
    approved_at: iso(record.approved_at),
    rejected_at: iso(record.rejected_at),
    consumed_at: iso(record.consumed_at),
    expired_at: iso(record.expired_at),
    retain_until: iso(record.retain_until),
    cleaned_at: iso(record.cleaned_at),
  }
}

export function presentChecklist(items: readonly ChecklistItem[]) {
  return items.map((item) => ({ ...item, ticked_at: iso(item.ticked_at) }))
}
