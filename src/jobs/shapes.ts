/** The records of this room, each stated once: its type, its columns and its shape in the API come from here. */
import {
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
} from '../kernel/schema.ts'

export const JOB_STATUSES = ['waiting', 'running', 'completed', 'cancelled', 'dead'] as const

const origin = {
  job_kind: Text,
  executor: Text,
  idempotency_key: TextOrNull,
  source_ref: TextOrNull,
  target_ref: TextOrNull,
  payload_ref: TextOrNull,
  payload: JsonObject,
  priority: Type.Integer(),
  correlation_id: TextOrNull,
  causation_event_id: nullable(Type.String({ description: 'the event that it came from' })),
  causation_depth: Type.Integer(),
  actor: Text,
  workspace_id: TextOrNull,
  enqueued_at: Timestamp,
  attempts: Type.Integer({ description: 'this one included: the first run sees 1' }),
  crashes: Type.Integer({ description: 'how often its worker died under it' }),
  replays: Type.Integer(),
  last_error: TextOrNull,
}

/** A job as its worker has it. */
export const Job = shape('JobInHand', {
  job_id: Text,
  ...origin,
  process_after: Timestamp,
  lease_epoch: Type.Integer({
    description:
      'rises with every claim; name it in every call about this job, because a late one does not count',
  }),
})
export type Job = Row<typeof Job>

/** A job wherever it is now: in the queue, in the history, among the dead letters. */
export const JobRecord = shape('Job', {
  job_id: Text,
  status: Type.Enum([...JOB_STATUSES]),
  ...origin,
  actor_via: TextOrNull,
  process_after: nullable(Type.Unsafe<Date>({ ...Timestamp, description: 'null once it has ended' })),
  started_at: TimestampOrNull,
  finished_at: TimestampOrNull,
  worker_id: TextOrNull,
  result: Type.Unknown(),
})
export type JobRecord = Row<typeof JobRecord>

const Interval = Type.String({ maxLength: 100, examples: ['00:00:01', '5 minutes'] })
const Positive = Type.Integer({ minimum: 1 })
const Attempts = Type.Integer({ minimum: 1, maximum: 1000 })
const By = Type.Enum(['source_ref', 'target_ref', 'payload_ref'])

const settings = {
  description: nullable(Type.String({ maxLength: 1000 })),
  max_attempts: Attempts,
  max_crashes: Attempts,
  backoff: Interval,
  max_backoff: Interval,
  timeout: nullable(Interval),
  concurrency: nullable(Positive),
  rate: nullable(Positive),
  rate_period: Interval,
  serial_by: nullable(By),
  fair_by: nullable(By),
  key_mode: Type.Enum(['keep', 'replace', 'debounce']),
  debounce: Interval,
  max_debounce: Interval,
  key_retention: Interval,
}
export const JobKind = shape('JobKind', {
  job_kind: Text,
  ...settings,
  paused_at: TimestampOrNull,
  paused_by: TextOrNull,
})
export type JobKind = Row<typeof JobKind>

/** What of a kind can be set; a name that is left out stays as it is. Intervals as PostgreSQL writes them. */
export const KindSettings = Object.fromEntries(
  Object.entries(settings).map(([name, schema]) => [name, Type.Optional(schema)]),
) as { [K in keyof typeof settings]: ReturnType<typeof Type.Optional<(typeof settings)[K]>> }
export type KindSettings = Partial<Omit<JobKind, 'job_kind' | 'paused_at' | 'paused_by'>>

export const Schedule = shape('Schedule', {
  schedule: Text,
  cron: Text,
  time_zone: Text,
  job_kind: Text,
  payload: JsonObject,
  enabled: Type.Boolean(),
  next_at: Timestamp,
  last_due: TimestampOrNull,
  last_job_id: TextOrNull,
  registered_by: Text,
  registered_at: Timestamp,
})
export type Schedule = Row<typeof Schedule>

export const WebhookPurpose = Type.Enum(['review', 'alert', 'event'])
export type WebhookPurpose = Row<typeof WebhookPurpose>
export const WEBHOOK_FORMATS = ['json', 'slack', 'teams'] as const
export const WebhookFormat = Type.Enum([...WEBHOOK_FORMATS], {
  description: 'signed JSON with references, or a message in the shape of Slack or Teams',
})
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
export const WebhookTarget = shape('WebhookTarget', {
  target_code: Text,
  workspace_id: nullable(Type.String({ description: 'null: receives events of every workspace' })),
  purpose: WebhookPurpose,
  format: WebhookFormat,
  url: Text,
  description: TextOrNull,
  enabled: Type.Boolean(),
  disabled_reason: nullable(Type.String({ description: 'the receiver answered 410 Gone' })),
  registered_by: Text,
  registered_at: Timestamp,
  changed_at: Timestamp,
})
export type WebhookTarget = Row<typeof WebhookTarget>

export const FailureOutcome = shape('FailureOutcome', {
  job_id: Text,
  outcome: Type.Enum(['retry', 'dead', 'cancelled']),
  process_after: TimestampOrNull,
})
export type FailureOutcome = Row<typeof FailureOutcome>
