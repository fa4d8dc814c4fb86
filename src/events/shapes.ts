/** The records of this room, each stated once: its type, its columns and its shape in the API come from here. */
import {
  IntegerOrNull,
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  Uuid,
} from '../kernel/schema.ts'

export const OutboxEvent = shape('Event', {
  id: Uuid,
  event_domain: Text,
  event_type: Text,
  event_stream: TextOrNull,
  event_subject_ref: TextOrNull,
  canonical_address: TextOrNull,
  workspace_id: TextOrNull,
  correlation_id: Text,
  causation_event_id: TextOrNull,
  causation_depth: Type.Integer(),
  actor: Text,
  actor_via: TextOrNull,
  payload: JsonObject,
  created_at: Timestamp,
})
export type OutboxEvent = Row<typeof OutboxEvent>

const State = Type.Enum(['disabled', 'dry_run', 'reviewed', 'active'])

export const PayloadContract = shape('PayloadContract', {
  keep_refs: Type.Optional(
    Type.Array(Text, { description: 'the columns (or arguments) that an event may carry, and nothing else' }),
  ),
  forbid_keys: Type.Optional(
    Type.Array(Text, {
      description: 'keys that may not occur at any depth, besides the ten that never may',
    }),
  ),
  subject: Type.Optional(
    Type.Array(Text, {
      description: 'what names the row, among keep_refs; default: the primary key, if that is kept',
    }),
  ),
  only_changed: Type.Optional(
    Type.Boolean({ description: 'of an update only the rows in which something that is kept has changed' }),
  ),
})
export type PayloadContract = Row<typeof PayloadContract>

export const Route = shape('EventRoute', {
  route_code: Text,
  state: State,
  source_object_kind: Type.Enum(['table', 'procedure', 'database']),
  source_schema: TextOrNull,
  source_table: TextOrNull,
  sql_event: Type.Enum(['insert', 'update', 'delete', 'truncate', 'call', 'ddl']),
  target_event_domain: Text,
  target_event_type: Text,
  target_event_stream: TextOrNull,
  fail_closed: Type.Boolean(),
  idempotency_policy: shape('IdempotencyPolicy', { key: Type.Optional(Text) }),
  payload_contract: PayloadContract,
  workspace_id: TextOrNull,
  workspace_column: TextOrNull,
  revision: Type.Integer({
    description: 'counts the definitions; a review names the one that was looked at',
  }),
  registered_by: Text,
  registered_at: Timestamp,
  reviewed_by: TextOrNull,
  reviewed_at: TimestampOrNull,
  evidence_seen: IntegerOrNull,
  activated_by: TextOrNull,
  activated_at: TimestampOrNull,
  disabled_reason: TextOrNull,
  attached: Type.Integer({ description: 'on how many tables its triggers are' }),
  evidence: Type.Integer({ description: 'statements of the dry run that are kept' }),
  failures: Type.String({ description: 'a count that may outgrow a number' }),
  last_failure: TextOrNull,
  last_failed_at: TimestampOrNull,
})
export type Route = Row<typeof Route>

export const RouteEvidence = shape('EventRouteEvidence', {
  evidence_id: Text,
  route_code: Text,
  revision: Type.Integer(),
  relation: Text,
  events: Text,
  refused: Type.String({
    description: 'of these an event could not have been sent: forbidden keys, or too long',
  }),
  sample: Type.Array(
    shape('SampleEvent', {
      event_subject_ref: TextOrNull,
      canonical_address: Text,
      workspace_id: TextOrNull,
      payload: JsonObject,
    }),
  ),
  actor: Text,
  recorded_at: Timestamp,
})
export type RouteEvidence = Row<typeof RouteEvidence>

export const Consumer = shape('Consumer', {
  consumer_id: Text,
  state: State,
  event_domain: Text,
  event_type: Text,
  event_stream: TextOrNull,
  workspace_id: TextOrNull,
  job_kind: Text,
  executor: Text,
  idempotency_key_template: Text,
  payload_ref_template: TextOrNull,
  enabled: Type.Boolean(),
  dry_run: Type.Boolean(),
  fail_closed: Type.Boolean(),
  priority: Type.Integer(),
  max_depth: Type.Integer({ description: 'events deeper than this are not passed on' }),
  rate: IntegerOrNull,
  rate_period: TextOrNull,
  notes: TextOrNull,
  registered_by: Text,
  registered_via: TextOrNull,
  registered_at: Timestamp,
  reviewed_by: TextOrNull,
  reviewed_via: TextOrNull,
  reviewed_at: TimestampOrNull,
  activated_at: TimestampOrNull,
})
export type Consumer = Row<typeof Consumer>

export const Evidence = shape('ConsumerEvidence', {
  event_id: Text,
  idempotency_key: TextOrNull,
  payload_ref: TextOrNull,
  problem: TextOrNull,
  dispatched_at: Timestamp,
})
export type Evidence = Row<typeof Evidence>

export const Dispatch = shape('Dispatch', {
  event_id: Text,
  consumer_id: Text,
  outcome: Type.Enum(['enqueued', 'duplicate', 'dry_run', 'failed', 'dead_letter', 'too_deep', 'deferred']),
  job_id: TextOrNull,
  detail: nullable(JsonObject),
  dispatched_at: Timestamp,
})
export type Dispatch = Row<typeof Dispatch>

export const Issue = shape('Issue', {
  issue_id: Text,
  code: Text,
  severity: Type.Enum(['info', 'warning', 'error', 'critical']),
  subject_ref: TextOrNull,
  title: Text,
  detail: JsonObject,
  workspace_id: TextOrNull,
  occurrences: Type.String({ description: 'a count that may outgrow a number' }),
  opened_at: Timestamp,
  last_seen_at: Timestamp,
  resolved_at: TimestampOrNull,
  resolved_by: TextOrNull,
  resolved_via: TextOrNull,
  resolution: TextOrNull,
})
export type Issue = Row<typeof Issue>
