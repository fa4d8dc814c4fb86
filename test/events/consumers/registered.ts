/** Consumers as the tests need them: registered by the owner, reviewed by somebody else, and events for them. */
import {
  activateConsumer,
  type Consumer,
  dryRunConsumer,
  type NewConsumer,
  registerConsumer,
  reviewConsumer,
} from '../../../src/events/consumers.ts'
import { dispatchEvents, type Pass } from '../../../src/events/dispatcher.ts'
import type { TestDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'

export const REVIEWER = { role: 'service_role', claims: { sub: 'rita' } }

export const consumer = (id: string, overrides: Partial<NewConsumer> = {}): NewConsumer => ({
  consumer_id: id,
  event_domain: 'dot',
  event_type: 'run.applied',
  job_kind: `${id}_work`,
  idempotency_key_template: '{event_id}',
  ...overrides,
})

export async function openSwitch(db: TestDatabase, open = true): Promise<void> {
  await db.owner(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', $1)`, [open])
}

export async function register(
  db: TestDatabase,
  id: string,
  overrides?: Partial<NewConsumer>,
): Promise<Consumer> {
  return registerConsumer(db.pool(MIGRATOR), consumer(id, overrides))
}

/** Through every step, up to a dry run that somebody else has looked at. */
export async function reviewed(
  db: TestDatabase,
  id: string,
  overrides?: Partial<NewConsumer>,
): Promise<Consumer> {
  await register(db, id, overrides)
  await dryRunConsumer(db.pool(MIGRATOR), id)
  return reviewUnseen(db, id)
}

/** A review where it does not matter what the dry run saw: as if it had been one event, of which nothing is left. */
export async function reviewUnseen(db: TestDatabase, id: string): Promise<Consumer> {
  const [seen] = await db.owner<{ event_id: string }>(NOTE, [id])
  const consumer = await db.as(REVIEWER, (client) => reviewConsumer(client, id, { evidence: 1 }))
  await db.owner('delete from iu_core.event_dispatch_log where event_id = $1', [seen!.event_id])
  return consumer
}

/** One line of evidence. */
export const NOTE = `insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, detail)
  values (iu_core.fn_time_uuid(), $1, 'dry_run', '{}') returning event_id`

export async function active(
  db: TestDatabase,
  id: string,
  overrides?: Partial<NewConsumer>,
): Promise<Consumer> {
  await reviewed(db, id, overrides)
  return activateConsumer(db.pool(MIGRATOR), id)
}

/** An event of the type that consumers of these tests listen to. Returns its id. */
export async function emit(
  db: TestDatabase,
  { subject = null, stream = null, workspace = null, type = 'run.applied', cause = null }: EmitOptions = {},
): Promise<string> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(EMIT, [type, stream, subject, workspace, cause])
  return rows[0]!.id
}

export const EMIT = `select iu_core.fn_event_emit('dot', $1, $2, $3,
  p_workspace_id => $4, p_causation_event_id => $5) as id`

interface EmitOptions {
  subject?: string | null
  stream?: string | null
  workspace?: string | null
  type?: string
  cause?: string | null
}

export const dispatch = (db: TestDatabase, limit = 1000): Promise<Pass> =>
  dispatchEvents(db.pool('stagedoor_worker'), limit)

/** Until nothing is left: an empty page ends a window, and what came meanwhile is in the next. */
export async function drain(db: TestDatabase, limit = 1000): Promise<void> {
  for (let empty = 0; empty < 2; ) empty = (await dispatch(db, limit)).events === 0 ? empty + 1 : 0
}

export interface Line {
  consumer_id: string
  outcome: string
  job_id: string | null
  detail: Record<string, unknown> | null
}

/** The log of one event. */
export const linesOf = (db: TestDatabase, event: string): Promise<Line[]> =>
  db.owner<Line & Record<string, unknown>>(
    `select consumer_id, outcome, job_id, detail from iu_core.event_dispatch_log
      where event_id = $1 order by consumer_id`,
    [event],
  )

/** The events that a consumer has a job of, in the order of the jobs' making. */
export async function jobsOf(db: TestDatabase, id: string): Promise<string[]> {
  const rows = await db.owner<{ event: string }>(
    `select causation_event_id as event from iu_core.job_queue
      where safe_payload ->> 'consumer_id' = $1 order by job_id`,
    [id],
  )
  return rows.map(({ event }) => event)
}
