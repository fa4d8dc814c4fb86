/** Follows an execution until it has ended, or until nobody wants to see it any more. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from '../../../db/connection.ts'
import {
  type ExecutionRecord,
  executionEvents,
  type LoggedEvent,
  requireExecution,
} from '../../../executions/shown-executions.ts'
import { Course, type EndedStep } from './course.ts'

export interface Watcher {
  /** What is under way now, and what has ended since the last time. */
  look(course: Course, ended: readonly EndedStep[], execution: ExecutionRecord): void
}

const PAGE = 500
const POLL_MS = 100

/** The record of its end; as it stood, where `signal` came first. */
export async function watchExecution(
  db: Queryable,
  id: string,
  watcher: Watcher,
  signal: AbortSignal,
): Promise<ExecutionRecord> {
  const course = new Course()
  for (;;) {
    // In this order: every event up to the projection's place is there, so the log can be read on behind it.
    const execution = await requireExecution(db, id)
    const events = await eventsAfter(db, id, course.seq)
    const ended = course.hear(events)
    course.seq = Math.max(course.seq, execution.last_seq)
    course.count(execution.state)
    watcher.look(course, ended, execution)
    if (execution.end_time !== null || signal.aborted) return execution
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

async function eventsAfter(db: Queryable, id: string, after: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = []
  for (;;) {
    const page = await executionEvents(db, id, {
      after: events.at(-1)?.seq ?? after,
      limit: PAGE,
      without_items: true,
    })
    events.push(...page)
    if (page.length < PAGE) return events
  }
}
