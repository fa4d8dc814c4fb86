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

/** What a failed attempt of a job said. */
export const AttemptError = shape('JobAttemptError', {
  attempt: Type.Integer({ description: 'which one, from 1; counted from 1 again after a replay' }),
  replay: Type.Integer({ description: 'after how many replays' }),
  crashed: Type.Boolean({ description: 'its worker died under it, or left because of an error' }),
  error: Text,
  worker_id: TextOrNull,
  started_at: TextOrNull,
  failed_at: Text,
})
export type AttemptError = Row<typeof AttemptError>

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

/** One job with what its failed attempts said. */
export const JobDetail = shape('JobDetail', {
  ...JobRecord.properties,
  attempt_errors: Type.Array(AttemptError, {
    description: 'of the last twenty that failed, the oldest first',
  }),
})
export type JobDetail = Row<typeof JobDetail>

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

const Count = Type.Integer({ minimum: 0 })
const NumberOrNull = nullable(Type.Number())
const ends = {
  completed: Count,
  cancelled: Count,
  retries: Type.Integer({ description: 'attempts beyond the first of the jobs that ended' }),
  wait_p50_ms: NumberOrNull,
  wait_p95_ms: nullable(
    Type.Number({ description: 'from enqueue to start, of jobs that ended in their first attempt' }),
  ),
  run_p50_ms: NumberOrNull,
  run_p95_ms: nullable(
    Type.Number({ description: 'from the start of the last attempt to its end, of completed jobs' }),
  ),
}
const LatencyBucket = shape('LatencyBucket', {
  at: Type.Unsafe<Date>({ ...Timestamp, description: 'its beginning' }),
  ...ends,
  dead: Type.Integer({ description: 'dead letters that failed then and were not replayed since' }),
})
export type LatencyBucket = Row<typeof LatencyBucket>
const KindCounts = shape('KindCounts', {
  job_kind: Text,
  waiting: Type.Integer({ description: 'due and not begun' }),
  later: Type.Integer({ description: 'due later: a retry, a snooze, a time to come' }),
  running: Count,
  dead: Type.Integer({ description: 'dead letters, whenever they failed' }),
  oldest_due_s: nullable(
    Type.Number({ description: 'for how many seconds the oldest waiting job has been due' }),
  ),
  ...ends,
  failed: Type.Integer({ description: 'dead letters of the window' }),
})
export type KindCounts = Row<typeof KindCounts>
export const JobStatistics = shape('JobStatistics', {
  window: Type.Enum(['1h', '24h', '7d']),
  from: Timestamp,
  to: Timestamp,
  bucket_s: Type.Integer(),
  kinds: Type.Array(KindCounts),
  series: Type.Array(LatencyBucket, {
    description: 'oldest first, without gaps; the last bucket still runs',
  }),
})
export type JobStatistics = Row<typeof JobStatistics>

export const DeadLetterGroup = shape('DeadLetterGroup', {
  group_id: Type.String({ description: 'of the kind and the error; the same as long as both are' }),
  job_kind: Text,
  error: Type.String({ description: 'its first line, without ids, times and numbers' }),
  count: Count,
  first_failed_at: Timestamp,
  last_failed_at: Timestamp,
  replayed: Type.Integer({ description: 'how many of them failed again after a replay' }),
  latest_error: Text,
})
export type DeadLetterGroup = Row<typeof DeadLetterGroup>

/** A worker as people see it: a worker serves all workspaces, and its jobs are those that the caller may see. */
export const JobWorker = shape('JobWorker', {
  worker_id: Text,
  name: nullable(Type.String({ description: 'as a rule its host and process' })),
  executor: Text,
  kinds: Type.Array(Text),
  registered_by: Text,
  started_at: Timestamp,
  heartbeat_at: Timestamp,
  leased_until: Timestamp,
  is_alive: Type.Boolean({ description: 'false: its lease has passed, and others take its jobs' }),
  running: Type.Array(
    shape('RunningJob', { job_id: Text, job_kind: Text, started_at: TimestampOrNull, attempts: Count }),
    { description: 'the oldest twenty that you may see' },
  ),
  running_count: Count,
})
export type JobWorker = Row<typeof JobWorker>

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
