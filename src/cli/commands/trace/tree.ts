/** A trace as a tree in text. */
import pc from 'picocolors'
import type { Dispatch } from '../../../events/consumers.ts'
import type { OutboxEvent } from '../../../events/outbox.ts'
import type { TracedExecution } from '../../../executions/traced.ts'
import type { JobRecord } from '../../../jobs/queue.ts'
import type { Trace } from '../../../stagedoor/trace.ts'
import { cut, visibleLine } from '../../output.ts'
import { duration } from '../../times.ts'
import { paintStatus, statusOf } from '../executions/screen.ts'
import { paintState, remarkOf, stateOf } from '../job/screen.ts'
import { count, screenWidth } from '../upload/layout.ts'

interface Node {
  readonly at: Date
  /** What it is, what it is about. */
  readonly title: string
  readonly about: string
  readonly id: string
  readonly more: readonly Remark[]
  readonly children: Node[]
}

interface Remark {
  readonly text: string
  readonly paint: (text: string) => string
}

/** `marked` is what was asked for. */
export function traceLines(trace: Trace, marked: string, withIds: boolean): string[] {
  const roots = treeOf(trace)
  const began = roots[0]!.at
  return [
    pc.dim(`${began.toISOString()}  ${trace.correlation_id}`),
    ...roots.flatMap((root) => nodeLines(root, { began, marked, withIds, first: '', rest: '' })),
  ]
}

function treeOf({ events, jobs, executions, undelivered }: Trace): Node[] {
  const nodes = new Map<string, Node>(events.map((event) => [event.id, eventNode(event)]))
  const roots: Node[] = []
  const place = (node: Node, parent: string | null): void => {
    // The cause may be gone with its partition, or be one that the caller may not see.
    const under = parent === null ? undefined : nodes.get(parent)
    if (under) under.children.push(node)
    else roots.push(node)
  }
  for (const one of executions) nodes.set(one.execution_id, executionNode(one))
  const starters = new Map(jobs.flatMap((job) => startedBy(job).map((id) => [id, job.job_id] as const)))
  for (const job of jobs) {
    nodes.set(job.job_id, jobNode(job))
    place(nodes.get(job.job_id)!, job.causation_event_id)
  }
  for (const one of executions) {
    place(
      nodes.get(one.execution_id)!,
      one.parent_execution_id ?? starters.get(one.execution_id) ?? one.cause,
    )
  }
  for (const event of events)
    place(nodes.get(event.id)!, executionOf(event, nodes) ?? event.causation_event_id)
  for (const dispatch of undelivered) place(dispatchNode(dispatch), dispatch.event_id)
  const byTime = (a: Node, b: Node) => a.at.getTime() - b.at.getTime()
  for (const node of nodes.values()) node.children.sort(byTime)
  return roots.sort(byTime)
}

/** That an execution has ended is said under it. */
function executionOf(
  { event_domain, event_subject_ref }: OutboxEvent,
  nodes: ReadonlyMap<string, Node>,
): string | undefined {
  const [, id] = /^execution:(\d+)$/.exec((event_domain === 'dot' && event_subject_ref) || '') ?? []
  return id !== undefined && nodes.has(id) ? id : undefined
}

function startedBy({ job_kind, result }: JobRecord): string[] {
  const id = (result as { execution_id?: unknown } | null)?.execution_id
  return job_kind === 'playbook_start' && typeof id === 'string' ? [id] : []
}

function executionNode(one: TracedExecution): Node {
  const failed = one.items_failed ? `, ${count(one.items_failed)} failed` : ''
  const items = one.items === null ? '' : `${count(one.items_done)} of ${count(one.items)} items${failed}`
  const took =
    one.end_time === null ? '' : `took ${duration(one.end_time.getTime() - one.created_at.getTime())}`
  return {
    at: one.created_at,
    title: `${paintStatus(statusOf(one.status))} ${pc.bold(`playbook ${one.playbook ?? '?'}`)}`,
    about: [took, items].filter(Boolean).join(', '),
    id: one.execution_id,
    more: one.error === null ? [] : [alarm(one.error)],
    children: [],
  }
}

function eventNode(event: OutboxEvent): Node {
  return {
    at: event.created_at,
    title: pc.bold(`${event.event_domain}.${event.event_type}`),
    about: [event.event_subject_ref, `by ${event.actor}`].filter(Boolean).join(' '),
    id: event.id,
    more: Object.keys(event.safe_payload).length > 0 ? [aside(JSON.stringify(event.safe_payload))] : [],
    children: [],
  }
}

function jobNode(job: JobRecord): Node {
  return {
    at: job.enqueued_at,
    title: `${paintState(stateOf(job))} ${pc.bold(job.job_kind)}`,
    about: remarkOf({ ...job, last_error: null }),
    id: job.job_id,
    more: [
      ...(job.last_error === null
        ? []
        : [
            job.state === 'completed'
              ? aside(`an earlier attempt: ${job.last_error}`)
              : alarm(job.last_error),
          ]),
      ...(job.result === null ? [] : [aside(`→ ${JSON.stringify(job.result)}`)]),
    ],
    children: [],
  }
}

const SAID: Record<string, string> = {
  too_deep: 'too deep: not passed on',
  dead_letter: 'could not be passed on',
  failed: 'could not be passed on',
  deferred: 'waits for its turn',
  dry_run: 'dry run: no job was made',
}

function dispatchNode({ consumer_id, outcome, detail, dispatched_at, event_id }: Dispatch): Node {
  const harmless = outcome === 'dry_run' || outcome === 'deferred'
  const problem = detail?.problem === outcome ? undefined : detail?.problem
  return {
    at: dispatched_at,
    title: (harmless ? pc.dim : pc.red)(`${harmless ? '·' : '✖'} consumer ${consumer_id}`),
    about: SAID[outcome] ?? outcome,
    id: `${event_id}:${consumer_id}`,
    more: typeof problem === 'string' ? [alarm(problem)] : [],
    children: [],
  }
}

function aside(text: string): Remark {
  return { text, paint: pc.dim }
}

function alarm(text: string): Remark {
  return { text, paint: pc.red }
}

interface Place {
  readonly began: Date
  readonly marked: string
  readonly withIds: boolean
  /** What stands before the first line of the node, and before all that follow. */
  readonly first: string
  readonly rest: string
}

function nodeLines(node: Node, { first, rest, ...shown }: Place): string[] {
  const { began, marked, withIds } = shown
  const after = node.at.getTime() - began.getTime()
  const when = after <= 0 ? '' : pc.dim(`  +${duration(after)}`)
  const here = node.id === marked ? pc.cyan('  ← this one') : ''
  const about = visibleLine(node.about)
  const below = node.children.length > 0 ? '│  ' : '   '
  const more = withIds ? [aside(node.id), ...node.more] : node.more
  const room = Math.max(20, screenWidth() - rest.length - below.length)
  return [
    `${pc.dim(first)}${node.title}  ${pc.dim(about)}${when}${here}`,
    ...more.map(({ text, paint }) => `${pc.dim(rest + below)}${paint(cut(visibleLine(text), room))}`),
    ...node.children.flatMap((child, index) => {
      const last = index === node.children.length - 1
      return nodeLines(child, {
        ...shown,
        first: `${rest}${last ? '└─ ' : '├─ '}`,
        rest: `${rest}${last ? '   ' : '│  '}`,
      })
    }),
  ]
}
