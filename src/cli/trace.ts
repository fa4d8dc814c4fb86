/** `stagedoor trace`: a change and what came of it, as a tree. */
import pc from 'picocolors'
import { readTrace, type Trace } from '../app/trace.ts'
import type { Dispatch } from '../events/consumers.ts'
import type { OutboxEvent } from '../events/outbox.ts'
import type { TracedExecution } from '../executions/queries.ts'
import type { JobRecord } from '../jobs/queue.ts'
import { command } from './command.ts'
import { itemsText, paintStatus, statusOf } from './execution-format.ts'
import { formatDuration, joinWords } from './format.ts'
import { idOf } from './ids.ts'
import { statusOf as jobStatusOf, PLAYBOOK_START, paintStatus as paintJobStatus, remarkOf } from './job.ts'
import { printableLine, screenWidth, truncate } from './text.ts'

export const traceCommand = () =>
  command('trace', 'from a change to what came of it: events, jobs and executions as one tree, with times')
    .argument(
      '<id>',
      'of an event, a job, an execution or the whole trace',
      idOf('event', 'job', 'execution'),
    )
    .option('--ids', 'with the id of everything')
    .actor()
    .run(async ({ options, output, transaction }, id) => {
      const trace = await transaction((client) => readTrace(client, id))
      output.result(trace, () => {
        const roots = treeOf(trace)
        const began = roots[0]!.at
        output.dim(`${began.toISOString()}  ${trace.correlation_id}`)
        const shown = { began, marked: id, withIds: options.ids === true, first: '', rest: '' }
        for (const root of roots) for (const line of nodeLines(root, shown)) output.line(line)
        if (trace.cut) output.dim('There is more than the first thousand events, jobs or executions.')
      })
    })

interface TraceNode {
  readonly at: Date
  /** What it is, what it is about. */
  readonly title: string
  readonly about: string
  readonly id: string
  readonly more: readonly Remark[]
  readonly children: TraceNode[]
}

type Remark = ReturnType<typeof aside>
const aside = (text: string) => ({ text, paint: pc.dim })
const alarm = (text: string): Remark => ({ text, paint: pc.red })

function treeOf({ events, jobs, executions, undelivered }: Trace): TraceNode[] {
  const nodes = new Map<string, TraceNode>(events.map((event) => [event.id, eventNode(event)]))
  const roots: TraceNode[] = []
  const place = (node: TraceNode, parent: string | null): void => {
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
  for (const { execution_id: id, parent_execution_id, cause } of executions)
    place(nodes.get(id)!, parent_execution_id ?? starters.get(id) ?? cause)
  for (const event of events)
    place(nodes.get(event.id)!, executionOf(event, nodes) ?? event.causation_event_id)
  for (const dispatch of undelivered) place(dispatchNode(dispatch), dispatch.event_id)
  const byTime = (a: TraceNode, b: TraceNode) => a.at.getTime() - b.at.getTime()
  for (const node of nodes.values()) node.children.sort(byTime)
  return roots.sort(byTime)
}

/** That an execution has ended is said under it. */
function executionOf(
  { event_domain, event_subject_ref }: OutboxEvent,
  nodes: ReadonlyMap<string, TraceNode>,
): string | undefined {
  const [, id] = /^execution:(\d+)$/.exec((event_domain === 'dot' && event_subject_ref) || '') ?? []
  return id !== undefined && nodes.has(id) ? id : undefined
}

function startedBy({ job_kind, result }: JobRecord): string[] {
  const id = (result as { execution_id?: unknown } | null)?.execution_id
  return job_kind === PLAYBOOK_START && typeof id === 'string' ? [id] : []
}

function executionNode(one: TracedExecution): TraceNode {
  const took =
    one.end_time === null ? '' : `took ${formatDuration(one.end_time.getTime() - one.created_at.getTime())}`
  return {
    at: one.created_at,
    title: `${paintStatus(statusOf(one.status))} ${pc.bold(`playbook ${one.playbook ?? '?'}`)}`,
    about: joinWords([took, itemsText(one)]),
    id: one.execution_id,
    more: one.error === null ? [] : [alarm(one.error)],
    children: [],
  }
}

function eventNode(event: OutboxEvent): TraceNode {
  return {
    at: event.created_at,
    title: pc.bold(`${event.event_domain}.${event.event_type}`),
    about: joinWords([event.event_subject_ref, `by ${event.actor}`], ' '),
    id: event.id,
    more: Object.keys(event.payload).length > 0 ? [aside(JSON.stringify(event.payload))] : [],
    children: [],
  }
}

function jobNode(job: JobRecord): TraceNode {
  return {
    at: job.enqueued_at,
    title: `${paintJobStatus(jobStatusOf(job))} ${pc.bold(job.job_kind)}`,
    about: remarkOf({ ...job, last_error: null }),
    id: job.job_id,
    more: [...errorOf(job), ...(job.result === null ? [] : [aside(`→ ${JSON.stringify(job.result)}`)])],
    children: [],
  }
}

function errorOf({ last_error, status }: JobRecord): Remark[] {
  if (last_error === null) return []
  return [status === 'completed' ? aside(`an earlier attempt: ${last_error}`) : alarm(last_error)]
}

const OUTCOME_TEXT: Record<string, string> = {
  too_deep: 'too deep: not dispatched',
  dead_letter: 'could not be dispatched',
  failed: 'could not be dispatched',
  deferred: 'will be retried',
  dry_run: 'dry run: no job was made',
}

function dispatchNode({ consumer_id, outcome, detail, dispatched_at, event_id }: Dispatch): TraceNode {
  const harmless = outcome === 'dry_run' || outcome === 'deferred'
  const problem = detail?.problem === outcome ? undefined : detail?.problem
  return {
    at: dispatched_at,
    title: (harmless ? pc.dim : pc.red)(`${harmless ? '·' : '✖'} consumer ${consumer_id}`),
    about: OUTCOME_TEXT[outcome] ?? outcome,
    id: `${event_id}:${consumer_id}`,
    more: typeof problem === 'string' ? [alarm(problem)] : [],
    children: [],
  }
}

interface Place {
  readonly began: Date
  /** The id of what was asked for. */
  readonly marked: string
  readonly withIds: boolean
  /** What stands before the first line of the node, and before all that follow. */
  readonly first: string
  readonly rest: string
}

function nodeLines(node: TraceNode, { first, rest, ...shown }: Place): string[] {
  const { began, marked, withIds } = shown
  const after = node.at.getTime() - began.getTime()
  const when = after <= 0 ? '' : pc.dim(`  +${formatDuration(after)}`)
  const here = node.id === marked ? pc.cyan('  ← this one') : ''
  const about = printableLine(node.about)
  const below = node.children.length > 0 ? '│  ' : '   '
  const more = withIds ? [aside(node.id), ...node.more] : node.more
  const room = Math.max(20, screenWidth() - rest.length - below.length)
  return [
    `${pc.dim(first)}${node.title}  ${pc.dim(about)}${when}${here}`,
    ...more.map(({ text, paint }) => `${pc.dim(rest + below)}${paint(truncate(printableLine(text), room))}`),
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
