/** Consumers: which events become which jobs. Registering and switching need the administrator's role. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { Consumer, type Dispatch, type Evidence } from './shapes.ts'

export type { Consumer, Dispatch, Evidence } from './shapes.ts'

/** What a registrant gives. The names are those of the columns. */
export interface NewConsumer {
  readonly consumer_id: string
  readonly event_domain: string
  readonly event_type: string
  /** Left out: every stream. */
  readonly event_stream?: string | undefined
  /** Left out: events of every workspace. */
  readonly workspace_id?: string | undefined
  readonly job_kind: string
  readonly executor?: string | undefined
  /** Text with fields of the event, as `{event_id}:mail`. The consumer's own id is put before it. */
  readonly idempotency_key_template: string
  readonly payload_ref_template?: string | undefined
  readonly fail_closed?: boolean | undefined
  readonly priority?: number | undefined
  readonly max_depth?: number | undefined
  readonly rate?: number | undefined
  readonly rate_period?: string | undefined
  readonly notes?: string | undefined
}

const COLUMNS = columnsOf(Consumer, {
  as: { state: 'iu_core.fn_consumer_state(c)', rate_period: 'c.rate_period::text' },
})

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
  { evidence, actor }: { evidence: number; actor?: string | undefined },
): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_review($1, $2, $3)', [consumer, evidence, actor ?? null])
}

export async function activateConsumer(db: Queryable, consumer: string): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_activate($1)', [consumer])
}

export async function disableConsumer(db: Queryable, consumer: string): Promise<Consumer> {
  return one(db, 'iu_core.fn_consumer_disable($1)', [consumer])
}

export async function deleteConsumer(db: Queryable, consumer: string): Promise<void> {
  await db.query('select iu_core.fn_consumer_delete($1)', [consumer])
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

export async function requireConsumer(db: Queryable, consumer: string): Promise<Consumer> {
  const found = await findConsumer(db, consumer)
  if (!found) throw new StagedoorError('consumer_not_found', { consumer })
  return found
}

/** Newest first. */
export async function consumerEvidence(db: Queryable, consumer: string, limit = 100): Promise<Evidence[]> {
  const { rows } = await db.query<Evidence>('select * from iu_core.fn_consumer_evidence($1, $2)', [
    consumer,
    limit,
  ])
  return rows
}

/** Failed and deferred dispatches, newest first: dead letters, errors, depth limit, rate limit. */
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

/** Dispatches past events to a consumer (backfill), one page per transaction, so that the dispatcher can run in between. */
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
