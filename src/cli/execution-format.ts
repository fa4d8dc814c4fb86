/** How executions and their steps look on the terminal. */
import pc from 'picocolors'
import type {
  ExecutionRecord,
  ExecutionRecordStatus,
  ExecutionStep,
  LoggedEvent,
  StepWait,
  UnhandledCommands,
} from '../executions/queries.ts'
import type { ActiveStep, EndedStep } from './execution-watch.ts'
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatRelativeTime,
  joinWords,
  plural,
} from './format.ts'
import { formatRecords } from './terminal.ts'
import { barText, printableLine } from './text.ts'

/** 2024-01-01, as in noetl.fn_snowflake_time. */
const ID_EPOCH_MS = 1_704_067_200_000

const MARKS: Record<ExecutionRecordStatus, string> = {
  PENDING: '○',
  RUNNING: '●',
  PAUSED: 'Ⅱ',
  COMPLETED: '✔',
  FAILED: '✖',
  CANCELLED: '–',
}

const STEP_MARKS: Record<string, string> = {
  completed: '✔',
  complete: '✔',
  partial: '◐',
  failed: '✖',
  timed_out: '◷',
  waiting: '○',
  retrying: '↻',
}

const PAINT: Record<string, (text: string) => string> = {
  '✔': pc.green,
  '✖': pc.red,
  '●': pc.cyan,
  '–': pc.dim,
}
const painterOf = (mark: string) => PAINT[mark] ?? pc.yellow

export function statusOf(status: ExecutionRecordStatus): string {
  return `${MARKS[status]} ${status.toLowerCase()}`
}

/** The mark of a step in this status. */
export function stepMark(status: string): string {
  return STEP_MARKS[status] ?? '●'
}

/** By the mark that it begins with. */
export function paintStatus(cell: string): string {
  return painterOf(cell.trim()[0]!)(cell)
}

export function executionTable(executions: readonly ExecutionRecord[]): string {
  return formatRecords(executions, [
    { title: 'id', value: (one) => one.execution_id },
    { title: 'status', value: (one) => statusOf(one.status), paint: paintStatus },
    { title: 'playbook', value: (one) => one.playbook ?? '?' },
    { title: 'age', value: (one) => formatAge(startOf(one)) },
    { value: remarkOf, dim: true, shrinkTo: 20 },
  ])
}

/** When it was asked for, which its id says; its first event comes when an engine has picked it up. */
export function startOf({ execution_id }: Pick<ExecutionRecord, 'execution_id'>): Date {
  return new Date(Number(BigInt(execution_id) >> 22n) + ID_EPOCH_MS)
}

/** What one would ask of it next: how far it is, how long it took, why it failed. */
function remarkOf(one: ExecutionRecord): string {
  const at = one.last_node_name === null ? '' : `at ${one.last_node_name}`
  switch (one.status) {
    case 'PENDING':
      return 'no engine has picked it up yet'
    case 'RUNNING':
      return joinWords([at, itemsText(one)])
    case 'PAUSED':
      return `paused ${at}`.trim()
    case 'COMPLETED':
      return joinWords([`took ${tookOf(one)}`, itemsText(one)])
    default:
      return one.error ?? `after ${tookOf(one)}`
  }
}

export function tookOf({ start_time, end_time }: ExecutionRecord): string {
  return formatDuration((end_time ?? new Date()).getTime() - (start_time ?? new Date()).getTime())
}

export function itemsText(one: Pick<ExecutionRecord, 'items' | 'items_done' | 'items_failed'>): string {
  if (one.items === null) return ''
  const failed = one.items_failed ? `, ${formatCount(one.items_failed)} failed` : ''
  return `${formatCount(one.items_done)} of ${formatCount(one.items)} items${failed}`
}

/** An execution that has ended has left what was under way. */
export function stepTable(steps: readonly ExecutionStep[], over: boolean): string {
  const isLeft = (step: ExecutionStep) => over && step.ended_at === null
  const markOf = (step: ExecutionStep) => (isLeft(step) ? '–' : stepMark(step.status))
  return formatRecords(steps, [
    {
      value: (one) => `  ${markOf(one)} ${one.node_id.endsWith('#1') ? one.step : one.node_id}`,
      paint: (cell, one) => cell.replace(markOf(one), painterOf(markOf(one))),
    },
    { value: (one) => (isLeft(one) ? 'not ended' : one.status), dim: true },
    {
      value: ({ ended_at, entered_at }) =>
        ended_at && formatDuration(ended_at.getTime() - entered_at.getTime()),
      dim: true,
    },
    {
      value: (one) => stepRemark(one, over),
      paint: (cell, { error }) => (error === null ? pc.dim(cell) : pc.red(cell)),
      shrinkTo: 20,
    },
  ])
}

function stepRemark(step: ExecutionStep, over: boolean): string {
  const { attempt, loop, wait, status, entered_at, ended_at, error } = step
  return joinWords([
    attempt !== null && attempt > 1 && `attempt ${attempt}`,
    loop &&
      `${formatCount(loop.done)} done, ${formatCount(loop.failed)} failed of ${formatCount(loop.total)}`,
    !over &&
      status === 'waiting' &&
      `${waitText(wait ?? undefined)}, since ${formatRelativeTime(entered_at)}`,
    error ?? (ended_at !== null && !loop && resultText(step.result)),
  ])
}

/** Small ones as they are, large ones by their reference. */
export function resultText(result: ExecutionStep['result']): string {
  if (result === null) return ''
  if (typeof result.ref === 'string')
    return `→ result ${result.ref}${result.bytes ? `, ${formatBytes(Number(result.bytes))}` : ''}`
  return result.value === undefined || result.value === null ? '' : `→ ${JSON.stringify(result.value)}`
}

// A step on one line: what it does now, or how it ended.

const BAR_WIDTH = 24

export function endedLine(step: EndedStep, width: number): string {
  const { status, loop, error } = step
  const took = formatDuration(step.ended.getTime() - step.began.getTime())
  const again = step.attempt > 1 ? `, attempt ${step.attempt}` : ''
  const counts = loop ? loopCountsText(loop) : ''
  const line = (mark: string, text: string, dim: string) =>
    `${painterOf(mark)(mark)} ${step.step.padEnd(width)}  ${text === '' ? '' : `${text}  `}${pc.dim(dim)}`
  switch (status) {
    case 'partial':
      return line('◐', `${pc.yellow('partial')}  ${counts}`, took)
    case 'failed':
      return line('✖', pc.red(printableLine(error ?? counts)), took + again)
    case 'timed_out':
      return line('◷', pc.yellow(lateText(step)), took)
    default:
      return line('✔', counts, took + again)
  }
}

function lateText({ wait }: ActiveStep): string {
  if (wait?.kind === 'event') return printableLine(`${wait.event} did not come in time`)
  return wait?.kind === 'approval' ? 'nobody decided in time' : 'nobody answered in time'
}

export interface LoopCounts {
  readonly total: number
  readonly done: number
  readonly failed: number
}

/** As the end of a loop has them in the log. */
export function loopCounts(result: LoggedEvent['result']): LoopCounts {
  const counts = (result?.context ?? {}) as { total?: number; completed?: number; failed?: number }
  return { total: counts.total ?? 0, done: counts.completed ?? 0, failed: counts.failed ?? 0 }
}

/** 3 items; or 2 done, 1 failed of 3 */
export function loopCountsText({ total, done, failed }: LoopCounts): string {
  if (failed === 0 && done === total) return plural(total, 'item')
  const rest = total - done - failed
  const parts = [
    `${formatCount(done)} done`,
    failed > 0 && `${formatCount(failed)} failed`,
    rest > 0 && `${formatCount(rest)} not begun`,
  ]
  return `${joinWords(parts)} of ${formatCount(total)}`
}

export function activeLine(step: ActiveStep, width: number, now = new Date()): string {
  const { kind, attempt, retryAt } = step
  const since = pc.dim(formatDuration(now.getTime() - step.began.getTime()))
  const line = (mark: string, ...texts: string[]) =>
    joinWords([`${painterOf(mark)(mark)} ${step.step.padEnd(width)}`, ...texts], '  ')
  if (kind === 'loop') return line('●', loopText(step, now))
  if (kind === 'wait') return line('○', waitText(step.wait), since)
  if (retryAt !== undefined) {
    const when = retryAt > now ? formatRelativeTime(retryAt, now) : 'now'
    return line('↻', pc.yellow(`attempt ${attempt} failed, again ${when}`))
  }
  if (kind === 'child') return line('●', `execution ${step.child ?? ''}`, since)
  return line('●', attempt > 1 ? `attempt ${attempt}` : '', since)
}

function loopText({ loop, began }: ActiveStep, now: Date): string {
  const { total, done, failed } = loop!
  const share = total === 0 ? 1 : (done + failed) / total
  const seconds = Math.max(0.1, (now.getTime() - began.getTime()) / 1000)
  const rate = (done + failed) / seconds
  const rest = total - done - failed
  const parts = [
    barText(share, BAR_WIDTH),
    `${Math.floor(share * 100)} %`.padStart(5),
    `${formatCount(done)} of ${formatCount(total)}`,
    failed > 0 && pc.red(`${formatCount(failed)} failed`),
    pc.dim(`${formatCount(Math.round(rate))}/s`),
    // The first two seconds say nothing about the rate.
    rest > 0 && rate > 0 && seconds > 2 && pc.dim(`${formatDuration((rest / rate) * 1000)} left`),
  ]
  return joinWords(parts, '  ')
}

/** What waits, and for which handlers: 1,550 items of geocode wait for the handler geocode, which no running process has */
export function missingHandlersText(unhandled: readonly UnhandledCommands[]): string {
  const [first, ...others] = unhandled
  const { step, needs, items } = first!
  const waits = items === null || items === 1 ? 'waits' : 'wait'
  const what = items === null ? `the step ${step}` : `${plural(items, 'item')} of ${step}`
  const handlers = `${needs.length === 1 ? 'handler' : 'handlers'} ${needs.join(', ')}`
  const more = others.length === 0 ? '' : ` (and ${others.map((one) => one.step).join(', ')} likewise)`
  return printableLine(`${what} ${waits} for the ${handlers}, which no running process has${more}`)
}

function waitText(wait: StepWait | undefined): string {
  if (wait === undefined) return 'waits'
  const until = wait.wake_at === null ? '' : `, at most until ${wait.wake_at.toISOString().slice(0, 16)}Z`
  switch (wait.kind) {
    case 'timer':
      return `waits until ${wait.wake_at!.toISOString().slice(0, 19)}Z (${formatRelativeTime(wait.wake_at!)})`
    case 'event':
      return printableLine(`waits for ${wait.event}${wait.subject ? ` of ${wait.subject}` : ''}${until}`)
    case 'approval':
      return `waits for a decision on staging record ${wait.staging_record_id}${until}`
  }
}
