/** Loops: begun, refilled as their items end, and ended exactly once. */

import { type ResultValue, resultUri } from '../event.ts'
import type { Json, Loop } from '../playbook/definition.ts'
import { InputFailure } from './failures.ts'
import { attempted, inputOf, toolScopeOf } from './inputs.ts'
import { isRow, issueItem, issueItemAgain, writeItemEnd } from './items.ts'
import { endLoop } from './loop-end.ts'
import type { PlannedStep } from './plan.ts'
import { type Attempt, isDue, retryAt } from './retry.ts'
import type { LoopActivation } from './state.ts'
import type { Turn } from './turn.ts'

const MOST_ITEMS = 1_000_000
const MOST_AT_ONCE = 1_000

/** Throws InputFailure before anything has happened. */
export function startLoop(turn: Turn, planned: PlannedStep, loop: Loop, node_id: string, from: string): void {
  const items = collectionOf(turn, planned, loop)
  const collection = attempted(planned, 'loop.in', () => kept(turn, planned, loop.in, items, node_id))
  const scope = attempted(planned, 'args', () =>
    turn.kept(toolScopeOf(turn, planned), `${node_id}/scope`, planned.name),
  )
  const loop_id = turn.ports.nextId()
  const base = {
    node_id,
    node_name: planned.name,
    node_type: 'loop',
    status: 'started',
    current_index: 0,
  } as const
  const started = turn.emit(
    {
      ...base,
      event_type: 'loop.started',
      meta: { loop_id, collection_size: items.length, mode: loop.mode },
      context: { ...named('collection', collection), ...named('scope', scope), entered_from: from },
    },
    from,
  )
  if (loop.mode === 'fanout') {
    const meta = { loop_id, total_shards: items.length }
    const shards = 'ref' in collection && { context: { shards_ref: resultUri(collection.ref) } }
    turn.emit({ ...base, event_type: 'loop.fanout.started', meta, ...shards }, started)
  }
  goOnWith(turn, turn.state.active[node_id] as LoopActivation, started)
}

export function itemEnded(turn: Turn, loop: LoopActivation, index: number, ended: Attempt): void {
  const planned = turn.plan.steps.get(loop.step)!
  const { attempt } = loop.open[index]!
  const retry_at =
    ended.status === 'failed' ? retryAt(turn, planned.step.retry, attempt, ended.retryable) : undefined
  const event_id = writeItemEnd(turn, loop, index, ended, retry_at)
  if (retry_at !== undefined) {
    if (!turn.paused) retryItem(turn, planned, loop, index)
    return
  }
  if (ended.status === 'failed' && planned.step.loop!.fail_fast) endLoop(turn, planned, loop, event_id)
  else if (isOver(loop)) endLoop(turn, planned, loop, event_id)
  else if (!turn.paused && hasRoom(planned, loop)) goOnWith(turn, loop, event_id)
}

/** What is left to hand out, as far as the window and the turn allow. */
export function goOnWith(turn: Turn, loop: LoopActivation, from: string): void {
  const planned = turn.plan.steps.get(loop.step)!
  while (loop.issued < loop.total && openOf(loop) < planned.window && isLive(turn, loop)) {
    if (turn.items >= (turn.ports.most_items ?? MOST_AT_ONCE)) {
      turn.goOn = true
      break
    }
    issueItem(turn, planned, loop, from)
    failRefused(turn, planned)
  }
  if (isLive(turn, loop) && isOver(loop)) endLoop(turn, planned, loop, from)
}

/** Rows of items that failed while the execution was paused. */
export function retryRows(turn: Turn, loop: LoopActivation): void {
  const planned = turn.plan.steps.get(loop.step)!
  if (!isRow(planned, loop)) return
  for (const index of Object.keys(loop.open)) {
    if (loop.open[index]?.retry_at === undefined || !isLive(turn, loop)) continue
    if (turn.items >= (turn.ports.most_items ?? MOST_AT_ONCE)) {
      turn.goOn = true
      break
    }
    retryItem(turn, planned, loop, Number(index))
  }
}

/** Rows wait in the database for their time; what begins here needs a timer. */
export function retryItem(turn: Turn, planned: PlannedStep, loop: LoopActivation, index: number): void {
  const retry_at = loop.open[index]?.retry_at
  if (retry_at === undefined || !isLive(turn, loop)) return
  if (isDue(turn, retry_at)) issueItemAgain(turn, planned, loop, index)
  else if (isRow(planned, loop)) issueItemAgain(turn, planned, loop, index, retry_at)
  else turn.timers.push({ node_id: loop.node_id, index, at: retry_at })
  if (turn.refused.length === 0) return
  failRefused(turn, planned)
  if (isLive(turn, loop)) goOnWith(turn, loop, loop.event_id)
}

/** Items that could not begin fail here, after their issue: never inside of it, where the loop would end under its own feet. */
function failRefused(turn: Turn, planned: PlannedStep): void {
  for (let refused = turn.refused.pop(); refused !== undefined; refused = turn.refused.pop()) {
    const { loop, index, error } = refused
    if (!isLive(turn, loop)) continue
    const event_id = writeItemEnd(turn, loop, index, { status: 'failed', error, retryable: false })
    if (planned.step.loop!.fail_fast || isOver(loop)) endLoop(turn, planned, loop, event_id)
  }
}

export function openOf({ issued, done, failed }: LoopActivation): number {
  return issued - done - failed
}

function isLive(turn: Turn, loop: LoopActivation): boolean {
  return turn.state.active[loop.node_id] === loop
}

function isOver({ total, done, failed }: LoopActivation): boolean {
  return done + failed >= total
}

/** A wide window is refilled when a quarter of it is free, not one by one. */
function hasRoom({ window }: PlannedStep, loop: LoopActivation): boolean {
  return loop.issued < loop.total && openOf(loop) <= Math.floor((window * 3) / 4)
}

function collectionOf(turn: Turn, planned: PlannedStep, loop: Loop): readonly Json[] {
  const items = inputOf(turn, planned, 'loop.in', loop.in)
  if (!Array.isArray(items)) {
    const what = items === null ? 'null' : `a ${typeof items === 'object' ? 'map' : typeof items}`
    throw new InputFailure(
      `loop.in of step ${planned.name}: a list is needed, ${JSON.stringify(loop.in)} gave ${what}`,
    )
  }
  if (items.length > MOST_ITEMS) {
    throw new InputFailure(
      `loop.in of step ${planned.name}: ${items.length} items, ${MOST_ITEMS} is the most`,
    )
  }
  return items
}

const ONE_RESULT = /^\$\{\s*steps\.(\w+)\.(results?)\s*\}$/

/** A collection that is the result of a step as it stands is not kept a second time. */
function kept(
  turn: Turn,
  planned: PlannedStep,
  template: Json,
  items: readonly Json[],
  node_id: string,
): ResultValue {
  const [, step, field] = (typeof template === 'string' && ONE_RESULT.exec(template)) || []
  const outcome = step === undefined ? undefined : turn.state.steps[step]
  const known = field === 'results' ? outcome?.results : outcome?.result
  return known !== undefined && 'ref' in known
    ? known
    : turn.kept(items, `${node_id}/collection`, planned.name)
}

function named(name: string, result: ResultValue): { [field: string]: Json } {
  return 'ref' in result
    ? { [`${name}_ref`]: resultUri(result.ref), [`${name}_bytes`]: result.bytes }
    : { [name]: result.value }
}
