/** One trace: the change that began it, every event and every job that came of it, in the order in which they happened. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { Dispatch } from '../events/consumers.ts'
import type { OutboxEvent } from '../events/outbox.ts'
import { correlatedEvents, correlationOfEvent, undeliveredOf } from '../events/trace.ts'
import { findJob, type JobRecord, listJobs } from '../jobs/queue.ts'

export interface Trace {
  readonly correlation_id: string
  readonly events: readonly OutboxEvent[]
  readonly jobs: readonly JobRecord[]
  /** Where a consumer made no job of an event. */
  readonly undelivered: readonly Dispatch[]
  /** There is more than is shown. */
  readonly cut: boolean
}

const MOST = 1000

/** By the id of the whole, of any event in it or of any job in it. */
export async function readTrace(db: Queryable, id: string): Promise<Trace> {
  const job = await findJob(db, id)
  const correlation = job ? job.correlation_id : await correlationOfEvent(db, id)
  // A job that nobody's event caused is a trace of its own.
  if (job && correlation === null)
    return { correlation_id: id, events: [], jobs: [job], undelivered: [], cut: false }
  const found = await readCorrelated(db, correlation ?? id)
  if (found.events.length + found.jobs.length > 0) return found
  throw new StagedoorError(
    'not_found',
    { what: `event, job or trace ${id}` },
    { hint: '`stagedoor events list` and `stagedoor job list` show the ids. Both go after their retention.' },
  )
}

async function readCorrelated(db: Queryable, correlation: string): Promise<Trace> {
  const events = await correlatedEvents(db, correlation, MOST)
  const jobs = (await listJobs(db, { correlation_id: correlation, limit: MOST })).reverse()
  const undelivered = await undeliveredOf(
    db,
    events.map(({ id }) => id),
  )
  const cut = events.length === MOST || jobs.length === MOST
  return { correlation_id: correlation, events, jobs, undelivered, cut }
}
