/** How executions and their steps look on the terminal. */
import pc from 'picocolors'
import type { ExecutionRecord, ShownStatus } from '../../../executions/shown-executions.ts'
import type { ExecutionStep } from '../../../executions/shown-steps.ts'
import { age, bytes, table, visibleLine } from '../../output.ts'
import { duration, whenIs } from '../../times.ts'
import { waitText } from '../run/step-lines.ts'
import { count, screenWidth, shortened } from '../upload/layout.ts'

/** 2024-01-01, as in noetl.fn_snowflake_time. */
const ID_EPOCH_MS = 1_704_067_200_000

const MARKS: Record<ShownStatus, string> = {
  PENDING: '○',
  RUNNING: '●',
  PAUSED: 'Ⅱ',
  COMPLETED: '✔',
  FAILED: '✖',
  CANCELLED: '–',
}

export function statusOf(status: ShownStatus): string {
  return `${MARKS[status]} ${status.toLowerCase()}`
}

export function paintStatus(cell: string): string {
  const mark = cell.trim()[0]
  if (mark === '✔') return pc.green(cell)
  if (mark === '✖') return pc.red(cell)
  if (mark === '●') return pc.cyan(cell)
  return mark === '–' ? pc.dim(cell) : pc.yellow(cell)
}

export function executionTable(executions: readonly ExecutionRecord[]): string {
  const rows = executions.map((one) => [
    one.execution_id,
    statusOf(one.status),
    one.playbook ?? '?',
    age(startOf(one)),
    remarkOf(one),
  ])
  const room = roomAfter(rows, [0, 1, 2, 3])
  return table(
    [
      ['id', 'status', 'playbook', 'age', ''],
      ...rows.map((row) => row.map((cell, column) => (column === 4 ? shortened(cell, room) : cell))),
    ],
    (cell, column, row) =>
      row === 0 || column === 4 ? pc.dim(cell) : column === 1 ? paintStatus(cell) : cell,
  )
}

/** When it was asked for, which its id says; its first event comes when an engine has picked it up. */
export function startOf({ execution_id }: Pick<ExecutionRecord, 'execution_id'>): Date {
  return new Date(Number(BigInt(execution_id) >> 22n) + ID_EPOCH_MS)
}

/** What is left of the line behind these columns. */
export function roomAfter(rows: readonly (readonly string[])[], columns: readonly number[]): number {
  const taken = columns.map((column) => 2 + Math.max(0, ...rows.map((row) => row[column]!.length)))
  return Math.max(20, screenWidth() - taken.reduce((sum, width) => sum + width, 0))
}

/** What one would ask of it next: how far it is, how long it took, why it failed. */
export function remarkOf(one: ExecutionRecord): string {
  const items = itemsText(one)
  switch (one.status) {
    case 'PENDING':
      return 'no engine has picked it up yet'
    case 'RUNNING':
      return [one.last_node_name === null ? '' : `at ${one.last_node_name}`, items].filter(Boolean).join(', ')
    case 'PAUSED':
      return `paused${one.last_node_name === null ? '' : ` at ${one.last_node_name}`}`
    case 'COMPLETED':
      return [`took ${tookOf(one)}`, items].filter(Boolean).join(', ')
    default:
      return one.error ?? `after ${tookOf(one)}`
  }
}

export function tookOf({ start_time, end_time }: ExecutionRecord): string {
  return duration((end_time ?? new Date()).getTime() - (start_time ?? new Date()).getTime())
}

function itemsText({ items, items_done, items_failed }: ExecutionRecord): string {
  if (items === null) return ''
  const failed = items_failed ? `, ${count(items_failed)} failed` : ''
  return `${count(items_done)} of ${count(items)} items${failed}`
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

/** An execution that has ended has left what was under way. */
export function stepTable(steps: readonly ExecutionStep[], over: boolean): string {
  const rows = steps.map((step) => {
    const left = over && step.ended_at === null
    return [
      `  ${left ? '–' : (STEP_MARKS[step.status] ?? '●')} ${step.node_id.endsWith('#1') ? step.step : step.node_id}`,
      left ? 'not ended' : step.status,
      step.ended_at === null ? '' : duration(step.ended_at.getTime() - step.entered_at.getTime()),
      stepRemark(step, over),
    ]
  })
  const room = roomAfter(rows, [0, 1, 2])
  return table(
    rows.map((row) => row.map((cell, column) => (column === 3 ? shortened(cell, room) : cell))),
    (cell, column, row) => {
      if (column === 0) return paintStep(cell)
      return column === 3 && steps[row]!.error !== null ? pc.red(cell) : pc.dim(cell)
    },
  )
}

function paintStep(cell: string): string {
  const mark = cell.trim()[0]!
  const paint =
    '✔' === mark
      ? pc.green
      : '✖' === mark
        ? pc.red
        : '–' === mark
          ? pc.dim
          : '●' === mark
            ? pc.cyan
            : pc.yellow
  return cell.replace(mark, paint(mark))
}

function stepRemark(step: ExecutionStep, over: boolean): string {
  const again = step.attempt !== null && step.attempt > 1 ? `attempt ${step.attempt}` : ''
  const loop = step.loop
    ? `${count(step.loop.done)} done, ${count(step.loop.failed)} failed of ${count(step.loop.total)}`
    : ''
  const waits =
    !over && step.status === 'waiting'
      ? `${waitText(step.wait ?? undefined)}, since ${whenIs(step.entered_at)}`
      : ''
  const result = step.ended_at !== null && !step.loop ? resultText(step.result) : ''
  return visibleLine([again, loop, waits, step.error ?? result].filter(Boolean).join(', '))
}

/** Small ones as they are, large ones by their reference. */
export function resultText(result: ExecutionStep['result']): string {
  if (result === null) return ''
  if (typeof result.ref === 'string')
    return `→ result ${result.ref}${result.bytes ? `, ${bytes(Number(result.bytes))}` : ''}`
  return result.value === undefined || result.value === null ? '' : `→ ${JSON.stringify(result.value)}`
}
