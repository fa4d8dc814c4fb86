/** Consumers: which events become which jobs. Registering and switching need the administrator's role. */
import type { Queryable } from '../db/connection.ts'

/** What a registrant gives. The names are those of the columns. */
export interface NewConsumer {
  readonly consumer_id: string
  readonly event_domain: string
  readonly event_type: string
  /** Left out: every stream. */
  readonly event_stream?: string
  /** Left out: events of every workspace. */
  readonly workspace_id?: string
  readonly job_kind: string
  readonly executor?: string
  /** Text with fields of the event, as `{event_id}:mail`. The consumer's own id is put before it. */
  readonly idempotency_key_template: string
  readonly payload_ref_template?: string
  readonly fail_closed?: boolean
  readonly priority?: number
  readonly max_depth?: number
  readonly rate?: number
  readonly rate_period?: string
  readonly notes?: string
}

export type ConsumerState = 'disabled' | 'dry_run' | 'reviewed' | 'active'

export interface Consumer {
  readonly consumer_id: string
  readonly state: ConsumerState
  readonly event_domain: string
  readonly event_type: string
  readonly event_stream: string | null
  readonly workspace_id: string | null
  readonly job_kind: string
  readonly executor: string
  readonly idempotency_key_template: string
  readonly payload_ref_template: string | null
  readonly enabled: boolean
  readonly dry_run: boolean
  readonly fail_closed: boolean
  readonly priority: number
  readonly max_depth: number
  readonly rate: number | null
  readonly rate_period: string | null
  readonly notes: string | null
  readonly registered_by: string
  readonly registered_via: string | null
  readonly registered_at: Date
  readonly reviewed_by: string | null
  readonly reviewed_via: string | null
  readonly reviewed_at: Date | null
  readonly activated_at: Date | null
}

/** A job that a consumer in dry run would have made, or why it could not. */
export interface Evidence {
  readonly event_id: string
  readonly idempotency_key: string | null
  readonly payload_ref: string | null
  readonly problem: string | null
  readonly dispatched_at: Date
}

export type DispatchOutcome =
  | 'enqueued'
  | 'duplicate'
  | 'dry_run'
  | 'failed'
  | 'dead_letter'
  | 'too_deep'
  | 'deferred'

export interface Dispatch {
  readonly event_id: string
  readonly consumer_id: string
  readonly outcome: DispatchOutcome
  readonly job_id: string | null
  readonly detail: Record<string, unknown> | null
  readonly dispatched_at: Date
}

const COLUMNS = `c.consumer_id, iu_core.fn_consumer_state(c) as state, c.event_domain, c.event_type, c.event_stream,
  c.workspace_id, c.job_kind, c.executor, c.idempotency_key_template, c.payload_ref_template, c.enabled, c.dry_run,
  c.fail_closed, c.priority, c.max_depth, c.rate, c.rate_period::text, c.notes, c.registered_by, c.registered_via,
  c.registered_at, c.reviewed_by, c.reviewed_via, c.reviewed_at, c.activated_at`

/** Registers, disabled, or changes. A change of match, template, kind or executor disables and needs a new review. */
export async function registerConsumer(
  db: Queryable,
  consumer: NewConsumer,
  actor?: string,
): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_register($1, $2)', [JSON.stringify(consumer), actor ?? null])
}

/** From now on its events leave evidence of the jobs that they would have made. */
export async function dryRunConsumer(db: Queryable, consumer: string): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_dry_run($1)', [consumer])
}

/** `evidence`: how many lines of it the reviewer saw. Anybody but the registrant, with the right to review. */
export async function reviewConsumer(
  db: Queryable,
  consumer: string,
  { evidence, actor }: { evidence: number; actor?: string },
): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_review($1, $2, $3)', [consumer, evidence, actor ?? null])
}

export async function activateConsumer(db: Queryable, consumer: string): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_activate($1)', [consumer])
}

export async function disableConsumer(db: Queryable, consumer: string): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_disable($1)', [consumer])
}

export async function removeConsumer(db: Queryable, consumer: string): Promise<void> {
  await db.query('select iu_core.fn_consumer_remove($1)', [consumer])
}

export async function listConsumers(db: Queryable): Promise<Consumer[]> {
  const { rows } = await db.query<Consumer>(
    `select ${COLUMNS} from iu_core.consumer_registry c order by c.event_domain, c.event_type, c.consumer_id`,
  )
  return rows
}

export async function findConsumer(db: Queryable, consumer: string): Promise<Consumer | undefined> {
  const { rows } = await db.query<Consumer>(
    `select ${COLUMNS} from iu_core.consumer_registry c where c.consumer_id = $1`,
    [consumer],
  )
  return rows[0]
}

/** Newest first. */
export async function consumerEvidence(db: Queryable, consumer: string, limit = 100): Promise<Evidence[]> {
  const { rows } = await db.query<Evidence>('select * from iu_core.fn_consumer_evidence($1, $2)', [
    consumer,
    limit,
  ])
  return rows
}

/** What became of one event. */
export async function listDispatches(db: Queryable, event: string): Promise<Dispatch[]> {
  const { rows } = await db.query<Dispatch>(
    `select event_id, consumer_id, outcome, job_id, detail, dispatched_at
       from iu_core.event_dispatch_log where event_id = $1 order by consumer_id`,
    [event],
  )
  return rows
}

/** What did not go well, newest first: dead letters, failures, what is too deep, what waits. */
export async function listUndelivered(
  db: Queryable,
  { consumer, limit = 100 }: { consumer?: string; limit?: number } = {},
): Promise<Dispatch[]> {
  const { rows } = await db.query<Dispatch>(
    `select event_id, consumer_id, outcome, job_id, detail, dispatched_at from iu_core.event_dispatch_log
      where outcome not in ('enqueued', 'duplicate') and outcome <> 'dry_run' and ($1::text is null or consumer_id = $1)
      order by dispatched_at desc, event_id limit $2`,
    [consumer ?? null, limit],
  )
  return rows
}

export interface Backfill {
  readonly events: number
  readonly jobs: number
  readonly duplicates: number
  readonly failures: number
  readonly deferred: number
}

/** Passes events of the past on, a page a transaction, so that the dispatcher and others get their turn in between. */
export async function backfillConsumer(
  db: Queryable,
  consumer: string,
  { from, to, page = 10_000 }: { from: Date; to: Date; page?: number },
): Promise<Backfill> {
  const sum = { events: 0, jobs: 0, duplicates: 0, failures: 0, deferred: 0 }
  for (let after: string | null | undefined; after !== null; ) {
    const { rows } = await db.query<Backfill & { last_event_id: string | null }>(
      'select * from iu_core.fn_consumer_backfill($1, $2, $3, $4, $5)',
      [consumer, from, to, page, after ?? null],
    )
    const { last_event_id, ...counts } = rows[0]!
    for (const [name, count] of Object.entries(counts)) sum[name as keyof Backfill] += count
    after = last_event_id
  }
  return sum
}

async function one(db: Queryable, call: string, values: unknown[]): Promise<Consumer> {
  const { rows } = await db.query<Consumer>(`select ${COLUMNS} from ${call} c`, values)
  return rows[0]!
}
