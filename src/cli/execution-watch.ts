/** Follows an execution until it has ended, or until nobody wants to see it any more. */
import { setTimeout as delay } from 'node:timers/promises'
import cliProgress from 'cli-progress'
import pc from 'picocolors'
import type { Playbook } from '../executions/playbook/definition.ts'
import { findPlaybook } from '../executions/playbooks.ts'
import {
  type ExecutionLoops,
  type ExecutionRecord,
  findMissingHandlers,
  hasDrivingEngine,
  type LoggedEvent,
  listEvents,
  listUnhandledCommands,
  requireExecution,
  type StepWait,
  toStepWait,
  type UnhandledCommands,
  type WaitMeta,
} from '../executions/queries.ts'
import type { ResultStore } from '../executions/results.ts'
import type { PlaybookHandlers } from '../executions/tools/tool.ts'
import type { Json } from '../kernel/json.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { didYouMean } from '../kernel/text.ts'
import {
  activeLine,
  endedLine,
  type LoopCounts,
  loopCounts,
  missingHandlersText,
} from './execution-format.ts'
import { formatDuration, formatRelativeTime } from './format.ts'
import { BAR_OPTIONS } from './progress.ts'
import type { NextStep, Output } from './terminal.ts'
import { printable, truncate } from './text.ts'

/** Shows an execution while it runs. */
interface RunProgress {
  /** The steps that are active, and those that have ended since the last call. */
  update(active: Iterable<ActiveStep>, ended: readonly EndedStep[], execution: ExecutionRecord): void
  /** Commands that wait for a handler that no running process has; called when that changes. */
  warn(unhandled: readonly UnhandledCommands[]): void
  /** The active steps stay on the screen as they are. */
  stop(): void
}

const PAGE = 500
const POLL_MS = 100
/** A process that is replaced takes a few seconds to come back. */
const MISSING_HANDLER_POLL_MS = 3000

/** The record of its end; as it stood, where `signal` came first. */
export async function watchExecution(
  db: Queryable,
  id: string,
  progress: RunProgress,
  signal: AbortSignal,
): Promise<ExecutionRecord> {
  const steps = new StepTracker()
  let nextCheck = performance.now() + MISSING_HANDLER_POLL_MS
  let warned = '[]'
  for (;;) {
    // In this order: every event up to the projection's place is there, so the log can be read on behind it.
    const execution = await requireExecution(db, id)
    const ended = steps.apply(await eventsAfter(db, id, steps.seq))
    steps.seq = Math.max(steps.seq, execution.last_seq)
    steps.countLoops(execution.state)
    progress.update(steps.active.values(), ended, execution)
    if (execution.end_time !== null || signal.aborted) return execution
    if (performance.now() >= nextCheck) {
      nextCheck = performance.now() + MISSING_HANDLER_POLL_MS
      const unhandled = await listUnhandledCommands(db, id)
      const names = JSON.stringify(unhandled.map(({ step, needs }) => [step, needs]))
      if (unhandled.length > 0 && names !== warned) progress.warn(unhandled)
      warned = names
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

async function eventsAfter(db: Queryable, id: string, after: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = []
  for (;;) {
    const from = events.at(-1)?.seq ?? after
    const page = await listEvents(db, id, { after: from, limit: PAGE, withoutItems: true })
    events.push(...page)
    if (page.length < PAGE) return events
  }
}

// The steps of an execution, from its log: which are active, and which have just ended.

export interface ActiveStep {
  readonly node_id: string
  readonly step: string
  readonly kind: 'tools' | 'loop' | 'wait' | 'child'
  readonly began: Date
  readonly attempt: number
  /** It failed and is retried then. */
  readonly retryAt?: Date | undefined
  readonly loop?: LoopCounts
  readonly wait?: StepWait
  readonly child?: string | undefined
}

export interface EndedStep extends ActiveStep {
  /** completed, failed, complete, partial, timed_out */
  readonly status: string
  readonly ended: Date
  readonly error?: string | undefined
}

interface StepMeta extends Partial<WaitMeta> {
  readonly attempt?: number
  readonly final?: boolean
  readonly retry_at?: string
  readonly child_execution_id?: string
  readonly loop_id?: string
  readonly collection_size?: number
}

class StepTracker {
  /** In the order in which they were entered. */
  readonly active = new Map<string, ActiveStep>()
  seq = 0
  private readonly loops = new Map<string, string>()

  /** Events in their order. Returns the steps that ended with them. */
  apply(events: readonly LoggedEvent[]): EndedStep[] {
    return events.flatMap((event) => {
      this.seq = Math.max(this.seq, event.seq)
      return this.applyOne(event) ?? []
    })
  }

  /** How far the loops are, from the projection; at its end a loop's own event says it. */
  countLoops(state: ExecutionLoops): void {
    for (const [node_id, step] of this.active) {
      const loop = state.loop?.[step.step]
      if (step.kind !== 'loop' || !loop || loop.loop_id !== this.loops.get(node_id)) continue
      const { total, done, failed } = loop
      this.active.set(node_id, { ...step, loop: { total, done, failed } })
    }
  }

  private applyOne(event: LoggedEvent): EndedStep | undefined {
    const { event_type, node_id, node_name, created_at: at, error } = event
    if (node_id == null || node_name == null) return undefined
    const meta = (event.meta ?? {}) as StepMeta
    const known = this.active.get(node_id)
    const began: ActiveStep = known ?? { node_id, step: node_name, kind: 'tools', began: at, attempt: 1 }
    const { attempt = 1, wait, child_execution_id: child } = meta
    switch (event_type) {
      case 'command.issued':
        return this.update({ ...began, attempt, retryAt: undefined })
      case 'command.completed':
        return this.end(began, 'completed', at)
      case 'command.failed':
        if (meta.final !== false) return this.end(began, 'failed', at, error)
        return this.update({ ...began, ...(meta.retry_at && { retryAt: new Date(meta.retry_at) }) })
      case 'step.enter':
        if (wait === undefined) return this.update({ ...began, kind: 'child', attempt, child })
        return this.update({ ...began, kind: 'wait', attempt, wait: toStepWait(meta as WaitMeta), child })
      case 'step.exit':
        // Of a loop whose results were collected: it has ended with loop.done.
        return known && this.end(began, event.status ?? 'completed', at, error)
      case 'loop.started':
        this.loops.set(node_id, meta.loop_id!)
        return this.update({
          ...began,
          kind: 'loop',
          loop: { total: meta.collection_size ?? 0, done: 0, failed: 0 },
        })
      case 'loop.done': {
        const loop = loopCounts(event.result)
        const status = loop.failed === 0 ? 'complete' : loop.done === 0 ? 'failed' : 'partial'
        return this.end({ ...began, kind: 'loop', loop }, status, at)
      }
      default:
        return undefined
    }
  }

  private update(step: ActiveStep): undefined {
    this.active.set(step.node_id, step)
  }

  private end(step: ActiveStep, status: string, ended: Date, error?: string | null): EndedStep {
    this.active.delete(step.node_id)
    return { ...step, status, ended, error: error ?? undefined }
  }
}

// Steps while they run: on a terminal those that ended stay and the active ones move below them; elsewhere a line for each.

/** More lines than these would scroll away what has ended. */
const MAX_LIVE_STEPS = 12
/** Off a terminal. */
const LOOP_REPORT_MS = 10_000

export function runProgress(output: Output, playbook?: Playbook, stream = process.stderr): RunProgress {
  if (output.json) return { update: () => {}, warn: () => {}, stop: () => {} }
  const width = Math.min(32, Math.max(8, ...(playbook?.steps ?? []).map(({ step }) => step.length)))
  return stream.isTTY ? liveProgress(width, stream) : plainProgress(output, width)
}

/** Reports a wait once, because it may take days, and a loop every ten seconds. */
function plainProgress(output: Output, width: number): RunProgress {
  const reported = new Set<string>()
  let paused = false
  let loopsAt = performance.now()
  return {
    update(active, ended, { status }) {
      for (const step of ended) output.note(`  ${endedLine(step, width)}`)
      const reportsLoops = status !== 'PAUSED' && performance.now() - loopsAt > LOOP_REPORT_MS
      if (reportsLoops) loopsAt = performance.now()
      for (const step of active) {
        const isNewWait = step.kind === 'wait' && step.wait !== undefined && !reported.has(step.node_id)
        if (isNewWait) reported.add(step.node_id)
        if (isNewWait || (step.kind === 'loop' && reportsLoops)) output.note(`  ${activeLine(step, width)}`)
      }
      if ((status === 'PAUSED') !== paused) {
        paused = status === 'PAUSED'
        output.note(`  ${paused ? 'paused' : 'goes on'}`)
      }
    },
    warn: (unhandled) => output.note(`  ${pc.yellow(`○ waiting: ${missingHandlersText(unhandled)}`)}`),
    stop: () => {},
  }
}

function liveProgress(width: number, stream: NodeJS.WriteStream): RunProgress {
  const bars = new cliProgress.MultiBar({
    stream,
    ...BAR_OPTIONS,
    clearOnComplete: false,
    fps: 10,
    format: (_options, _params, { step, paused }: { step: ActiveStep; paused: boolean }) =>
      `  ${paused ? pc.yellow('Ⅱ ') : ''}${activeLine(step, width)}`,
  })
  const shown = new Map<string, cliProgress.SingleBar>()
  return {
    update(active, ended, { status }) {
      for (const step of ended) {
        const bar = shown.get(step.node_id)
        if (bar) bars.remove(bar)
        shown.delete(step.node_id)
        bars.log(`  ${endedLine(step, width)}\n`)
      }
      for (const step of active) {
        const live = { step, paused: status === 'PAUSED' }
        const bar = shown.get(step.node_id)
        if (bar) bar.update(0, live)
        else if (shown.size < MAX_LIVE_STEPS) shown.set(step.node_id, bars.create(1, 0, live))
      }
      bars.update()
    },
    warn: (unhandled) => bars.log(`  ${pc.yellow(`○ waiting: ${missingHandlersText(unhandled)}`)}\n`),
    stop: () => bars.stop(),
  }
}

/** What makes a command detach before the end: Ctrl-C, or --timeout. */
interface Interrupts {
  readonly signal: AbortSignal
  isTimeout(): boolean
  close(): void
}

const SAME_SIGNAL_MS = 200

/** A second Ctrl-C ends the process at once. */
export function watchInterrupts(timeoutMs: number | undefined): Interrupts {
  const controller = new AbortController()
  let receivedAt: number | undefined
  const onSignal = (): void => {
    // npm passes on a Ctrl-C that this process has received already: the same one, not a second.
    if (receivedAt !== undefined && performance.now() - receivedAt > SAME_SIGNAL_MS) process.exit(130)
    receivedAt ??= performance.now()
    controller.abort('asked')
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => controller.abort('timeout'), timeoutMs)
  return {
    signal: controller.signal,
    isTimeout: () => controller.signal.reason === 'timeout',
    close() {
      clearTimeout(timer)
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    },
  }
}

// How a run ended, or its status when a person detaches.

/** On a terminal; --json has all of it. */
const MAX_RESULT_CHARACTERS = 4000
const EXIT_CODES: Partial<Record<ExecutionRecord['status'], number>> = { COMPLETED: 0, CANCELLED: 6 }

/** Prints it, and sets the exit code. */
export async function printEnd(
  output: Output,
  db: Queryable,
  results: ResultStore,
  execution: ExecutionRecord,
  { is_new = true }: { is_new?: boolean } = {},
): Promise<void> {
  const { execution_id: id, playbook, version, status, error, start_time, end_time } = execution
  const [ended] = await listEvents(db, id, { after: execution.last_seq - 1, limit: 1 })
  const result = status === 'COMPLETED' ? await loadResult(results, ended?.result) : null
  const ms = end_time!.getTime() - start_time!.getTime()
  const outcome = { execution_id: id, playbook, version, status, result, error, duration_ms: ms, is_new }
  process.exitCode = EXIT_CODES[status] ?? 1
  output.result(outcome, () => {
    const took = formatDuration(ms)
    if (status === 'COMPLETED') {
      output.done(
        is_new
          ? `${pc.bold('completed')} in ${took}`
          : `${pc.bold('was completed already')}, ${formatRelativeTime(end_time!)}, in ${took}`,
      )
      if (result !== null)
        output.line(truncate(printable(JSON.stringify(result, null, 2)), MAX_RESULT_CHARACTERS))
      return
    }
    const { by, reason } = (ended?.meta ?? {}) as { by?: string; reason?: string | null }
    const why = reason ? `: ${printable(reason)}` : ''
    output.line(
      status === 'CANCELLED'
        ? `${pc.yellow('–')} ${pc.bold('cancelled')} by ${printable(by ?? 'somebody')}${why}`
        : `${pc.red('✖')} ${pc.bold('failed')} after ${took}: ${printable(error ?? '')}`,
    )
    output.next(
      ['See every step', `stagedoor execution show ${id}`],
      ...(ended?.node_name == null ? [] : rerunNextSteps(id, ended.node_name)),
    )
  })
}

async function loadResult(results: ResultStore, result: unknown): Promise<Json> {
  const { value = null, ref, bytes = 0 } = (result ?? {}) as { value?: Json; ref?: string; bytes?: number }
  return results.load(ref === undefined ? { value } : { ref, bytes })
}

/** What was wrong may have been outside of the playbook, or in it: its version stays what it was unless one is named. */
export function rerunNextSteps(id: string, step: string): NextStep[] {
  const again = `stagedoor execution rerun ${id} --from ${step}`
  return [
    ['When the cause is fixed, go on from there', again],
    ['Or, if the playbook was wrong, with its newest version', `${again} --version latest`],
  ]
}

/** It has not ended: says who continues it now that this process does not. Sets the exit code. */
export async function printUnfinished(
  output: Output,
  db: Queryable,
  { execution_id: id, playbook, version, status }: ExecutionRecord,
  stops: Interrupts,
  handlersFile = 'FILE',
): Promise<void> {
  process.exitCode = stops.isTimeout() ? 1 : 130
  const driven = await hasDrivingEngine(db)
  const unhandled = await listUnhandledCommands(db, id)
  const found = playbook === null ? undefined : await findPlaybook(db, playbook, version ?? undefined)
  const missing = found === undefined ? [] : await missingHandlersFor(db, found.playbook)
  const left = { execution_id: id, playbook, version, status, result: null, error: null, driven }
  output.result(
    { ...left, lacks_handlers: missing },
    () => output.line(unfinishedText(status, driven, unhandled, missing)),
    status === 'PAUSED' && ['Go on', `stagedoor execution resume ${id}`],
    missing.length > 0 && [
      'Let a worker with the handlers go on with it',
      `stagedoor worker --handlers ${handlersFile}`,
    ],
    missing.length === 0 && !driven && ['Let a server go on with it', 'stagedoor start'],
    ['Watch it again', `stagedoor execution wait ${id}`],
    ['Or end it', `stagedoor execution cancel ${id}`],
  )
}

function unfinishedText(
  status: ExecutionRecord['status'],
  driven: boolean,
  unhandled: readonly UnhandledCommands[],
  missing: readonly string[],
): string {
  const [still, goesOn] = [pc.yellow('○'), `${pc.cyan('●')} It goes on`]
  if (status === 'PAUSED') return `${pc.yellow('Ⅱ')} It is paused: nothing new begins until it is resumed.`
  if (unhandled.length > 0) return `${still} It waits: ${missingHandlersText(unhandled)}.`
  if (driven && missing.length === 0) return `${goesOn}: another process drives it.`
  if (driven)
    return `${goesOn} until a step calls ${missing.join(' or ')}, which no running process has: that step fails then.`
  const who = missing.length > 0 ? `a worker with ${missing.join(', ')}` : '`stagedoor start` or a worker'
  return `${still} It waits, and continues as soon as ${who} runs.`
}

// Handlers that the steps call: who has them, and which nobody has.

/** None without a file. One that exports none is named: it was given to be used. */
export async function loadRunHandlers(output: Output, file: string | undefined): Promise<PlaybookHandlers> {
  if (file === undefined) return {}
  const { HANDLERS_EXPORT, loadPlaybookHandlers } = await import('../executions/tools/tool.ts')
  const handlers = await loadPlaybookHandlers(file)
  if (handlers === undefined)
    output.note(pc.yellow(`! ${file} has no export ${HANDLERS_EXPORT}: it brings no handlers`))
  return handlers ?? {}
}

/** Said before the first of ten thousand items fails for it. */
export async function warnOfMissingHandlers(
  output: Output,
  db: Queryable,
  playbook: Playbook,
  { own, how = 'Give its file with --handlers' }: { readonly own: readonly string[]; readonly how?: string },
): Promise<void> {
  for (const name of await missingHandlersFor(db, playbook, own)) {
    const step = playbook.steps.find(({ tools }) => tools.some(({ call }) => call === name))!.step
    const remedy = didYouMean(name, own) ?? how
    output.note(
      pc.yellow(`! The step ${step} calls the handler ${name}, which no running process has. ${remedy}`),
    )
  }
}

async function missingHandlersFor(
  db: Queryable,
  playbook: Playbook,
  own: readonly string[] = [],
): Promise<string[]> {
  // Loaded here: most commands of executions need no plan, and it loads CEL.
  const { planOf } = await import('../executions/machine/plan.ts')
  const steps = [...planOf(playbook).steps.values()].flatMap(({ needs }) => (needs.length > 0 ? [needs] : []))
  return steps.length === 0 ? [] : findMissingHandlers(db, steps, own)
}
