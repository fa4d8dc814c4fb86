/** Follows an execution until it has ended, or until nobody wants to see it any more. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from '../../../db/connection.ts'
import { type Lacking, lackedHandlers } from '../../../executions/shown-engines.ts'
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
  /** Something of it waits for a handler that no running process has; told when that changes. */
  lacks?(lacking: readonly Lacking[]): void
}

const PAGE = 500
const POLL_MS = 100
/** A process that is replaced takes a few seconds to come back. */
const LACK_MS = 3000

/** The record of its end; as it stood, where `signal` came first. */
export async function watchExecution(
  db: Queryable,
  id: string,
  watcher: Watcher,
  signal: AbortSignal,
): Promise<ExecutionRecord> {
  const course = new Course()
  const lack = new LackWatch(db, id, watcher)
  for (;;) {
    // In this order: every event up to the projection's place is there, so the log can be read on behind it.
    const execution = await requireExecution(db, id)
    const events = await eventsAfter(db, id, course.seq)
    const ended = course.hear(events)
    course.seq = Math.max(course.seq, execution.last_seq)
    course.count(execution.state)
    watcher.look(course, ended, execution)
    if (execution.end_time !== null || signal.aborted) return execution
    await lack.look()
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

class LackWatch {
  private readonly db: Queryable
  private readonly id: string
  private readonly watcher: Watcher
  private askAt = performance.now() + LACK_MS
  private said = ''

  constructor(db: Queryable, id: string, watcher: Watcher) {
    this.db = db
    this.id = id
    this.watcher = watcher
  }

  async look(): Promise<void> {
    if (performance.now() < this.askAt) return
    this.askAt = performance.now() + LACK_MS
    const lacking = await lackedHandlers(this.db, this.id)
    const names = JSON.stringify(lacking.map(({ step, needs }) => [step, needs]))
    if (lacking.length > 0 && names !== this.said) this.watcher.lacks?.(lacking)
    this.said = names
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
