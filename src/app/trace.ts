/** One trace: a change, and every event, job and execution that follows from it, in order of time. */
import { correlatedEvents, correlationOfEvent, listUndeliveredEvents } from '../events/outbox.ts'
import { Dispatch, OutboxEvent } from '../events/shapes.ts'
import { getExecutionCorrelation, listCorrelatedExecutions } from '../executions/queries.ts'
import { TracedExecution } from '../executions/shapes.ts'
import { findJob, listJobs } from '../jobs/queue.ts'
import { JobRecord } from '../jobs/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Row, shape, Text, Type } from '../kernel/schema.ts'

export const Trace = shape('Trace', {
  correlation_id: Text,
  events: Type.Array(OutboxEvent),
  jobs: Type.Array(JobRecord),
  executions: Type.Array(TracedExecution),
  undelivered: Type.Array(Dispatch, { description: 'where a consumer made no job of an event' }),
  cut: Type.Boolean({ description: 'there is more than the first thousand' }),
})
export type Trace = Row<typeof Trace>

const MAX_ROWS = 1000

/** By the id of the trace, or of any event, job or execution in it. */
export async function readTrace(db: Queryable, id: string): Promise<Trace> {
  const found = isExecution(id) ? await traceOfExecution(db, id) : await traceOfOthers(db, id)
  if (found && found.events.length + found.jobs.length + found.executions.length > 0) return found
  throw new StagedoorError(
    'not_found',
    { what: `event, job, execution or trace ${id}` },
    { hint: '`stagedoor event list` and `stagedoor job list` show the ids. Both go after their retention.' },
  )
}

function isExecution(id: string): boolean {
  return /^\d+$/.test(id)
}

async function traceOfExecution(db: Queryable, id: string): Promise<Trace | undefined> {
  const correlation = await getExecutionCorrelation(db, id)
  if (correlation === undefined) return undefined
  if (correlation !== null) return readCorrelated(db, correlation, [id])
  // Nothing caused it, and nothing follows from it yet.
  const executions = await listCorrelatedExecutions(db, id, [id], MAX_ROWS)
  return {
    correlation_id: id,
    events: [],
    jobs: [],
    executions,
    undelivered: [],
    cut: executions.length === MAX_ROWS,
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
  const events = await correlatedEvents(db, correlation, MAX_ROWS)
  const jobs = (await seesJobs(db)) ? await correlatedJobs(db, correlation) : []
  const undelivered = await listUndeliveredEvents(
    db,
    events.map(({ id }) => id),
  )
  const named = [...asked, ...events.flatMap(startedBy), ...jobs.flatMap(startedBy)]
  const executions = await listCorrelatedExecutions(db, correlation, named, MAX_ROWS)
  const cut = [events, jobs, executions].some(({ length }) => length === MAX_ROWS)
  return { correlation_id: correlation, events, jobs, executions, undelivered, cut }
}

/** The result of the job that started an execution has its id, and so has the event of its end. */
function startedBy(one: OutboxEvent | JobRecord): string[] {
  const fields = 'job_id' in one ? one.result : one.payload
  const id = (fields as { execution_id?: unknown } | null)?.execution_id
  const known = 'job_id' in one ? one.job_kind === 'playbook_start' : one.event_type.startsWith('execution.')
  return known && typeof id === 'string' && isExecution(id) ? [id] : []
}

/** Oldest first. Where no event began the trace, its id is the id of the first job. */
async function correlatedJobs(db: Queryable, correlation: string): Promise<JobRecord[]> {
  const root = await findJob(db, correlation)
  const others = await listJobs(db, { correlationId: correlation, limit: MAX_ROWS })
  const follow = others.filter(({ job_id }) => job_id !== root?.job_id).reverse()
  return root ? [root, ...follow].slice(0, MAX_ROWS) : follow
}

/** Agents may not. */
async function seesJobs(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    `select has_table_privilege('iu_core.job_queue', 'select') as may`,
  )
  return rows[0]!.may
}
