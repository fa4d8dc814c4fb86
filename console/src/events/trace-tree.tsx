import type { ReactNode } from 'react'
import type { Trace } from '../api/types.ts'
import { kindName } from '../jobs/kind-name.ts'
import { Ago } from '../parts/ago.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { eventText } from './event-text.tsx'
import './trace.css'

interface Node {
  readonly id: string
  readonly at: string
  readonly content: ReactNode
  readonly children: Node[]
}

const JOBS: Record<string, Tone> = { completed: 'ok', dead: 'bad', running: 'work', waiting: 'held' }
const EXECUTIONS: Record<string, Tone> = {
  COMPLETED: 'ok',
  FAILED: 'bad',
  RUNNING: 'work',
  PENDING: 'held',
  PAUSED: 'held',
}
const OUTCOMES: Record<string, string> = {
  too_deep: 'too deep: not dispatched',
  dead_letter: 'could not be dispatched',
  failed: 'could not be dispatched',
  deferred: 'will be retried',
  dry_run: 'dry run: no job was made',
}

/** A change and what came of it: events, jobs and executions below what caused them. */
export function TraceTree({ trace, marked }: { trace: Trace; marked?: string }) {
  const { events, jobs, executions, undelivered } = trace
  const isAlone = events.length + jobs.length + executions.length + undelivered.length === 1
  const roots = treeOf(trace)
  return (
    <>
      <Branch nodes={roots} marked={marked} />
      {isAlone && events.length === 1 && (
        <p className="empty">Nothing came of it yet: no consumer made a job of it.</p>
      )}
      {trace.cut && <p className="tiny part-note">There is more than the first thousand.</p>}
    </>
  )
}

function Branch({ nodes, marked }: { nodes: readonly Node[]; marked: string | undefined }) {
  return (
    <ul className="trace">
      {nodes.map((node) => (
        <li key={node.id}>
          <div className={node.id === marked ? 'trace-line is-marked' : 'trace-line'}>
            {node.content}
            <span className="tiny">
              <Ago at={node.at} />
            </span>
          </div>
          {node.children.length > 0 && <Branch nodes={node.children} marked={marked} />}
        </li>
      ))}
    </ul>
  )
}

/** As `stagedoor trace` shows it. A cause that is gone or hidden leaves its follower at the top. */
function treeOf({ events, jobs, executions, undelivered }: Trace): Node[] {
  const nodes = new Map<string, Node>()
  const roots: Node[] = []
  const add = (id: string, at: string, content: ReactNode) => nodes.set(id, { id, at, content, children: [] })
  const place = (id: string, cause: string | null | undefined) => {
    const under = cause ? nodes.get(cause) : undefined
    ;(under?.children ?? roots).push(nodes.get(id)!)
  }
  for (const event of events) {
    add(
      event.id,
      event.created_at,
      <>
        <span className="trace-kind">event</span>
        <a href={`/events/${event.id}`}>
          <b>{eventText(event)}</b>
        </a>
      </>,
    )
  }
  for (const one of executions) {
    add(
      one.execution_id,
      one.created_at,
      <>
        <span className="trace-kind">execution</span>
        <a href={`/executions/${one.execution_id}`}>
          <b>{one.playbook ?? one.execution_id}</b>
        </a>
        <Chip tone={EXECUTIONS[one.status] ?? 'stale'}>{one.status.toLowerCase()}</Chip>
        {one.error !== null && <span className="is-wrong">{one.error}</span>}
      </>,
    )
  }
  for (const job of jobs) {
    add(
      job.job_id,
      job.enqueued_at,
      <>
        <span className="trace-kind">job</span>
        <a href={`/jobs/${job.job_id}`}>
          <b>{kindName(job.job_kind)}</b>
        </a>
        <Chip tone={JOBS[job.status] ?? 'stale'}>{job.status}</Chip>
        {job.last_error !== null && job.status !== 'completed' && (
          <span className="is-wrong">{job.last_error}</span>
        )}
      </>,
    )
  }
  const starters = new Map(jobs.map((job) => [executionOf(job.result), job.job_id]))
  for (const job of jobs) place(job.job_id, job.causation_event_id)
  for (const { execution_id: id, parent_execution_id, cause } of executions)
    place(id, parent_execution_id ?? starters.get(id) ?? cause)
  for (const event of events) {
    const [, execution] = /^execution:(\d+)$/.exec(event.event_subject_ref ?? '') ?? []
    place(event.id, nodes.has(execution ?? '') ? execution : event.causation_event_id)
  }
  for (const { event_id, consumer_id, outcome, dispatched_at } of undelivered) {
    const id = `${event_id} ${consumer_id}`
    add(
      id,
      dispatched_at,
      <>
        <span className="trace-kind">consumer</span>
        <a href={`/consumers/${encodeURIComponent(consumer_id)}`}>
          <b>{consumer_id}</b>
        </a>
        <span className="muted">{OUTCOMES[outcome] ?? outcome}</span>
      </>,
    )
    place(id, event_id)
  }
  for (const node of nodes.values()) node.children.sort(byTime)
  return roots.sort(byTime)
}

function executionOf(result: unknown): string | undefined {
  const id = (result as { execution_id?: unknown } | null)?.execution_id
  return typeof id === 'string' ? id : undefined
}

function byTime(a: Node, b: Node): number {
  return Date.parse(a.at) - Date.parse(b.at)
}
