/** Jobs as the API shows them. */
import { Type } from 'typebox'
import type { Job } from '../../../jobs/job.ts'
import type { JobKind, JobRecord, JobState } from '../../../jobs/queue.ts'
import { nullable, Timestamp } from '../../responses.ts'

export const JOB_STATES = [
  'waiting',
  'running',
  'completed',
  'cancelled',
  'dead',
] as const satisfies JobState[]

export const Uuid = Type.String({ format: 'uuid' })
export const Kind = Type.String({ pattern: '^[a-z][a-z0-9_.:-]{0,62}$', examples: ['send_report'] })
const Payload = Type.Record(Type.String(), Type.Unknown())

const Origin = {
  idempotency_key: nullable(Type.String()),
  source_ref: nullable(Type.String()),
  target_ref: nullable(Type.String()),
  payload_ref: nullable(Type.String()),
  safe_payload: Payload,
  priority: Type.Integer(),
  correlation_id: nullable(Type.String()),
  causation_event_id: nullable(Type.String({ description: 'the event that it came from' })),
  causation_depth: Type.Integer(),
  actor: Type.String(),
  workspace_id: nullable(Type.String()),
  enqueued_at: Timestamp,
  attempts: Type.Integer(),
  crashes: Type.Integer({ description: 'how often its worker died under it' }),
  replays: Type.Integer(),
  last_error: nullable(Type.String()),
}

export const JobShape = Type.Object({
  job_id: Type.String(),
  state: Type.Enum([...JOB_STATES]),
  job_kind: Type.String(),
  executor: Type.String(),
  ...Origin,
  actor_via: nullable(Type.String()),
  process_after: nullable(Timestamp),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  worker_id: nullable(Type.String()),
  result: Type.Unknown(),
})

export function presentJob(job: JobRecord) {
  return {
    ...job,
    process_after: iso(job.process_after),
    enqueued_at: job.enqueued_at.toISOString(),
    started_at: iso(job.started_at),
    finished_at: iso(job.finished_at),
  }
}

/** What an executor is handed. */
export const LeasedJob = Type.Object({
  job_id: Type.String(),
  lease_epoch: Type.Integer({ description: 'to be said with everything about this job' }),
  job_kind: Type.String(),
  executor: Type.String(),
  ...Origin,
  process_after: Timestamp,
  begun: Type.Boolean({ description: 'it may begin at once; the others after `begin`' }),
})

export function presentLeased(job: Job & { readonly begun: boolean }) {
  return {
    ...job,
    process_after: job.process_after.toISOString(),
    enqueued_at: job.enqueued_at.toISOString(),
  }
}

const Interval = Type.String({ maxLength: 100, examples: ['00:00:01', '5 minutes'] })
const By = Type.Enum(['source_ref', 'target_ref', 'payload_ref'])

export const KindSettings = Type.Partial(
  Type.Object({
    description: nullable(Type.String({ maxLength: 1000 })),
    max_attempts: Type.Integer({ minimum: 1, maximum: 1000 }),
    max_crashes: Type.Integer({ minimum: 1, maximum: 1000 }),
    backoff: Interval,
    backoff_most: Interval,
    timeout: nullable(Interval),
    concurrency: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
    rate: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
    rate_period: Interval,
    serial_by: Type.Union([By, Type.Null()]),
    fair_by: Type.Union([By, Type.Null()]),
    key_mode: Type.Enum(['keep', 'replace', 'debounce']),
    debounce: Interval,
    debounce_most: Interval,
    key_retention: Interval,
  }),
  { additionalProperties: false },
)

export const KindShape = Type.Object({
  job_kind: Type.String(),
  description: nullable(Type.String()),
  max_attempts: Type.Integer(),
  max_crashes: Type.Integer(),
  backoff: Type.String(),
  backoff_most: Type.String(),
  timeout: nullable(Type.String()),
  concurrency: Type.Union([Type.Integer(), Type.Null()]),
  rate: Type.Union([Type.Integer(), Type.Null()]),
  rate_period: Type.String(),
  serial_by: nullable(Type.String()),
  fair_by: nullable(Type.String()),
  key_mode: Type.String(),
  debounce: Type.String(),
  debounce_most: Type.String(),
  key_retention: Type.String(),
  paused_at: nullable(Timestamp),
  paused_by: nullable(Type.String()),
})

export function presentKind(kind: JobKind) {
  return { ...kind, paused_at: iso(kind.paused_at) }
}

function iso(date: Date | null): string | null {
  return date?.toISOString() ?? null
}
