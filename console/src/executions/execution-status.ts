/** How the status of an execution, of a step and of an item is said: a word, a colour, and a shape that goes with it. */
import type { Execution, LoopItem } from '../api/types.ts'
import type { Tone } from '../parts/chip.tsx'
import { count } from '../parts/format.ts'
import type { StepNode } from './playbook-graph.ts'

export interface Said {
  readonly tone: Tone
  readonly text: string
}

const EXECUTION: Record<Execution['status'], Said> = {
  PENDING: { tone: 'held', text: 'waits for a worker' },
  RUNNING: { tone: 'work', text: 'running' },
  PAUSED: { tone: 'held', text: 'paused' },
  COMPLETED: { tone: 'ok', text: 'completed' },
  FAILED: { tone: 'bad', text: 'failed' },
  CANCELLED: { tone: 'stale', text: 'cancelled' },
}

export const STATUS_OPTIONS = (Object.keys(EXECUTION) as Execution['status'][]).map(
  (status) => [status, EXECUTION[status].text] as const,
)

export function executionStatus({ status }: Pick<Execution, 'status'>): Said {
  return EXECUTION[status]
}

export function hasEnded({ status }: Pick<Execution, 'status'>): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}

/** How far its loops are: "9,412 of 10,000 items, 2 failed". */
export function itemsText({ items, items_done, items_failed }: Execution): string {
  if (items === null) return ''
  const failed = items_failed ? `, ${count(items_failed)} failed` : ''
  return `${count(items_done ?? 0)} of ${count(items)} items done${failed}`
}

/** `later`: it was not entered. */
export interface StepSaid {
  readonly tone: Tone | 'later'
  readonly text: string
}

const STEP: Record<string, StepSaid> = {
  completed: { tone: 'ok', text: 'done' },
  complete: { tone: 'ok', text: 'done' },
  partial: { tone: 'held', text: 'partly done' },
  failed: { tone: 'bad', text: 'failed' },
  timed_out: { tone: 'bad', text: 'timed out' },
  rejected: { tone: 'bad', text: 'rejected' },
  cancelled: { tone: 'stale', text: 'cancelled' },
  retrying: { tone: 'held', text: 'waits for its next attempt' },
  waiting: { tone: 'held', text: 'waiting' },
}

/** `over`: its execution has ended, so that nothing runs any more. */
export function stepStatus(
  { run: node, isBefore }: Pick<StepNode, 'run' | 'isBefore'>,
  over: boolean,
): StepSaid {
  if (node === undefined) return { tone: 'later', text: isBefore ? 'not run again' : 'not reached' }
  const known = STEP[node.status]
  if (node.ended_at !== null) return known ?? { tone: 'ok', text: node.status }
  if (over) return { tone: 'stale', text: 'stopped' }
  return known ?? { tone: 'work', text: 'running' }
}

const ITEM: Record<LoopItem['status'], Said> = {
  open: { tone: 'work', text: 'open' },
  retrying: { tone: 'held', text: 'retrying' },
  done: { tone: 'ok', text: 'done' },
  failed: { tone: 'bad', text: 'failed' },
  cancelled: { tone: 'stale', text: 'cancelled' },
}

export function itemStatus({ status }: LoopItem): Said {
  return ITEM[status]
}
