/** One trace: a change, and every event, job and execution that follows from it, in order of time. */
import { listConsumers } from '../events/consumers.ts'
import {
  correlatedEvents,
  correlationOfEvent,
  listEventsAbout,
  listUndeliveredEvents,
} from '../events/outbox.ts'
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

/** What the rest of the system was told of a promotion and of its undo, and what became of that. */
export const Downstream = shape('Downstream', {
  jobs: Type.Array(shape('DownstreamJobs', { job_kind: Text, status: Text, count: Type.Integer() }), {
    description: 'jobs that follow from the events of this upload, in sum',
  }),
  executions: Type.Array(TracedExecution),
  cut: Type.Boolean({ description: 'there is more than the first thousand of one event' }),
  told_of_undo: Type.Array(shape('UndoFollower', { consumer_id: Text, job_kind: Text }), {
    description: 'active consumers of the event staging.ingestion_undone: each makes a job of an undo',
  }),
})
export type Downstream = Row<typeof Downstream>

const MAX_ROWS = 1000
/** A promotion and its undo are two; failed attempts and reviews have events, too. */
const MAX_UPLOAD_EVENTS = 100

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

/** Of an upload that the caller has been found to see. */
export async function readDownstream(db: Queryable, upload: string): Promise<Downstream> {
  const about = { domain: 'staging', subject: upload, limit: MAX_UPLOAD_EVENTS }
  const events = await listEventsAbout(db, about)
  const correlations = events
    .filter(({ event_type }) => ['ingestion_complete', 'ingestion_undone'].includes(event_type))
    .map(({ correlation_id }) => correlation_id)
  const traces: Trace[] = []
  for (const correlation of new Set(correlations)) traces.push(await readCorrelated(db, correlation))
  const consumers = (await seesJobs(db)) ? await listConsumers(db) : []
  return {
    jobs: countJobs(traces.flatMap(({ jobs }) => jobs)),
    executions: traces.flatMap(({ executions }) => executions),
    cut: traces.some(({ cut }) => cut),
    told_of_undo: consumers
      .filter(
        ({ state, event_domain, event_type }) =>
          state === 'active' && event_domain === 'staging' && event_type === 'ingestion_undone',
      )
      .map(({ consumer_id, job_kind }) => ({ consumer_id, job_kind })),
  }
}

function countJobs(jobs: readonly JobRecord[]): Downstream['jobs'] {
  const counts = new Map<string, { job_kind: string; status: string; count: number }>()
  for (const { job_kind, status } of jobs) {
    const entry = counts.get(`${job_kind} ${status}`) ?? { job_kind, status, count: 0 }
    counts.set(`${job_kind} ${status}`, { ...entry, count: entry.count + 1 })
  }
  return [...counts.values()]
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
