/** One trace: the change that began it, every event, job and execution that came of it, in the order in which they happened. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { Dispatch } from '../events/consumers.ts'
import type { OutboxEvent } from '../events/outbox.ts'
import { correlatedEvents, correlationOfEvent, undeliveredOf } from '../events/trace.ts'
import { correlatedExecutions, correlationOfExecution, type TracedExecution } from '../executions/traced.ts'
import { findJob, type JobRecord, listJobs } from '../jobs/queue.ts'

export interface Trace {
  readonly correlation_id: string
  readonly events: readonly OutboxEvent[]
  readonly jobs: readonly JobRecord[]
  readonly executions: readonly TracedExecution[]
  /** Where a consumer made no job of an event. */
  readonly undelivered: readonly Dispatch[]
  /** There is more than is shown. */
  readonly cut: boolean
}

const MOST = 1000

/** By the id of the whole, or of any event, job or execution in it. */
export async function readTrace(db: Queryable, id: string): Promise<Trace> {
  const found = isExecution(id) ? await traceOfExecution(db, id) : await traceOfOthers(db, id)
  if (found && found.events.length + found.jobs.length + found.executions.length > 0) return found
  throw new StagedoorError(
    'not_found',
    { what: `event, job, execution or trace ${id}` },
    { hint: '`stagedoor events list` and `stagedoor job list` show the ids. Both go after their retention.' },
  )
}

function isExecution(id: string): boolean {
  return /^\d+$/.test(id)
}

async function traceOfExecution(db: Queryable, id: string): Promise<Trace | undefined> {
  const correlation = await correlationOfExecution(db, id)
  if (correlation === undefined) return undefined
  if (correlation !== null) return readCorrelated(db, correlation, [id])
  // It follows from nothing, and nothing has come of it yet.
  const executions = await correlatedExecutions(db, id, [id], MOST)
  return {
    correlation_id: id,
    events: [],
    jobs: [],
    executions,
    undelivered: [],
    cut: executions.length === MOST,
  }
}

async function traceOfOthers(db: Queryable, id: string): Promise<Trace> {
  const job = (await seesJobs(db)) ? await findJob(db, id) : undefined
  return readCorrelated(db, job?.correlation_id ?? (await correlationOfEvent(db, id)) ?? id)
}

async function readCorrelated(
  db: Queryable,
  correlation: string,
  asked: readonly string[] = [],
): Promise<Trace> {
  const events = await correlatedEvents(db, correlation, MOST)
  const jobs = (await seesJobs(db)) ? await correlatedJobs(db, correlation) : []
  const undelivered = await undeliveredOf(
    db,
    events.map(({ id }) => id),
  )
  const named = [...asked, ...events.flatMap(startedBy), ...jobs.flatMap(startedBy)]
  const executions = await correlatedExecutions(db, correlation, named, MOST)
  const cut = [events, jobs, executions].some(({ length }) => length === MOST)
  return { correlation_id: correlation, events, jobs, executions, undelivered, cut }
}

/** The job that started one answers its id, the event of its end names it. */
function startedBy(one: OutboxEvent | JobRecord): string[] {
  const said = 'job_id' in one ? one.result : one.safe_payload
  const id = (said as { execution_id?: unknown } | null)?.execution_id
  const known = 'job_id' in one ? one.job_kind === 'playbook_start' : one.event_type.startsWith('execution.')
  return known && typeof id === 'string' && isExecution(id) ? [id] : []
}

/** Oldest first. A job that no event caused is what its follow-ups carry, as events carry the first one's id. */
async function correlatedJobs(db: Queryable, correlation: string): Promise<JobRecord[]> {
  const root = await findJob(db, correlation)
  const others = await listJobs(db, { correlation_id: correlation, limit: MOST })
  const follow = others.filter(({ job_id }) => job_id !== root?.job_id).reverse()
  return root ? [root, ...follow].slice(0, MOST) : follow
}

/** Agents do not. */
async function seesJobs(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    `select has_table_privilege('iu_core.job_queue', 'select') as may`,
  )
  return rows[0]!.may
}
