/** The records of this room, each stated once: its type, its columns and its shape in the API come from here. */
import {
  Approvers,
  BigCount,
  Digest,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  Uuid,
  UuidOrNull,
} from '../kernel/schema.ts'

/** Kinds that are staged as they are. */
export const STAGEABLE_KINDS = [
  'mark_manifest',
  'review_package',
  'cut_preview',
  'sql_snapshot',
  'nosql_payload',
  'draft_iu_composition',
  'agent_intermediate',
  'event_working_state',
] as const
/** With the one that a request for approval makes. */
export const STAGING_KINDS = [...STAGEABLE_KINDS, 'approval'] as const
export const STAGEABLE_TYPES = [
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
export const PAYLOAD_TYPES = [...STAGEABLE_TYPES, 'approval_request'] as const
export const LIFECYCLE = ['pending', 'approved', 'consumed', 'rejected', 'expired', 'cleaned'] as const

export const LifecycleStatus = Type.Enum([...LIFECYCLE])
export const StagingKind = Type.Enum([...STAGING_KINDS])
export const PayloadType = Type.Enum([...PAYLOAD_TYPES])
export const PayloadKind = Type.Enum(['json', 'text', 'blob_ref'])

/** Without metadata and digests of the parts: a list stays light. */
export const StagingSummary = shape('StagingSummary', {
  staging_record_id: Uuid,
  workspace_id: UuidOrNull,
  staging_kind: StagingKind,
  payload_type: PayloadType,
  purpose: Text,
  lifecycle_status: LifecycleStatus,
  owner_actor: Text,
  owner_via: TextOrNull,
  source_kind: Text,
  source_ref: TextOrNull,
  content_hash: Digest,
  byte_len: BigCount,
  part_count: Type.Integer(),
  approval_required: Type.Boolean(),
  four_eyes: Type.Boolean(),
  checklist_required: Type.Boolean(),
  created_at: Timestamp,
  expires_at: Timestamp,
  approvers: Approvers,
  approved_at: TimestampOrNull,
  approved_by: TextOrNull,
  approved_via: TextOrNull,
  approval_doc_id: TextOrNull,
  rejected_at: TimestampOrNull,
  rejected_by: TextOrNull,
  rejected_reason: TextOrNull,
  /** lifecycle_status is then rejected, or approved until it expires. */
  withdrawn: nullable(
    Type.String({
      description: 'why nobody decides on it any more, although nobody rejected it',
      examples: ['a new plan replaced it'],
    }),
  ),
  consumed_at: TimestampOrNull,
  consumed_by_run_id: UuidOrNull,
  expired_at: TimestampOrNull,
  retain_until: TimestampOrNull,
  cleaned_at: TimestampOrNull,
  change: nullable(
    Type.Integer({
      description:
        'number of its change: #128; of the review of an upload that of the upload; null: nobody decides on it',
    }),
  ),
})

const part = {
  part_index: Type.Integer(),
  part_name: Text,
  payload_kind: PayloadKind,
  content_hash: Digest,
}
export const PartDigest = shape('PartDigest', { ...part, byte_len: Type.Integer() })
export type PartDigest = Row<typeof PartDigest>

export const StagingRecord = shape('StagingRecord', {
  ...StagingSummary.properties,
  part_digests: Type.Array(PartDigest),
  metadata: nullable(Type.Record(Text, Type.Unknown())),
  referenced_iu_ids: nullable(Type.Array(Uuid)),
})
export type StagingRecord = Row<typeof StagingRecord>

export const ChecklistItem = shape('ChecklistItem', {
  item_id: Text,
  label: Text,
  required: Type.Boolean(),
  ticked_by: TextOrNull,
  ticked_at: TimestampOrNull,
  note: TextOrNull,
})
export type ChecklistItem = Row<typeof ChecklistItem>

export const CreatedRecord = shape('CreatedRecord', {
  staging_record_id: Uuid,
  lifecycle_status: LifecycleStatus,
  content_hash: Digest,
  created: Type.Boolean({ description: 'false: the idempotency key found this record' }),
})
export type CreatedRecord = Row<typeof CreatedRecord>
