/** Items of a loop: handed out, handed out again, and what is written when one ends. */
import { hash } from 'node:crypto'
import type { NewEvent } from '../event.ts'
import type { Json, JsonObject, Loop } from '../playbook/definition.ts'
import { render } from '../playbook/expressions.ts'
import type { NewCommand } from './decision.ts'
import { InputFailure, PlaybookFailure, reasonOf, shortened } from './failures.ts'
import { childArgs } from './inputs.ts'
import type { PlannedStep } from './plan.ts'
import type { Attempt } from './retry.ts'
import { readValue } from './scope.ts'
import type { LoopActivation } from './state.ts'
import { isLarge, okResult, type Turn } from './turn.ts'

/** Of an item in its event: the log is not the place for the collection a second time. */
const SHOWN_BYTES = 1_024

type Draft<T> = { -readonly [Field in keyof T]: T[Field] }

/** Of an attempt at an item. */
interface Issue {
  readonly loop: LoopActivation
  readonly index: number
  readonly item: Json
  readonly attempt: number
  readonly command_id: string
  /** Of a command row that must not begin before. */
  readonly after?: string
}

/** The next item. One whose playbook cannot be given its arguments is `refused`: it fails once it is handed out. */
export function issueItem(turn: Turn, planned: PlannedStep, loop: LoopActivation, from: string): void {
  const index = loop.issued
  const { item, command_id } = itemAt(turn, loop, index, 1)
  const child = childOf(turn, planned, loop, item, index)
  const meta: Record<string, Json> = { loop_id: loop.loop_id, iter_index: index, command_id }
  if (child.args !== undefined) meta.child_execution_id = child.execution_id
  const event: Draft<NewEvent> = {
    event_type: loop.mode === 'fanout' ? 'loop.shard.enqueued' : 'loop.item',
    node_id: loop.node_id,
    node_name: planned.name,
    node_type: 'loop',
    current_index: index,
    meta,
  }
  if (loop.mode === 'fanout') {
    meta.shard_id = shardIdOf(loop, index)
    if (planned.step.loop!.key !== undefined) meta.iter_key = keyOf(turn, planned, loop, item, index)
  } else {
    event.status = 'dispatched'
    if (!isLarge(item, SHOWN_BYTES)) event.current_item = item
  }
  const event_id = turn.emit(event, from)
  begin(turn, planned, { loop, index, item, attempt: 1, command_id }, child, event_id)
}

export function issueItemAgain(
  turn: Turn,
  planned: PlannedStep,
  loop: LoopActivation,
  index: number,
  after?: string,
): void {
  const { event_id: from, attempt: before } = loop.open[index]!
  const attempt = before + 1
  const { item, command_id } = itemAt(turn, loop, index, attempt)
  const child = childOf(turn, planned, loop, item, index)
  const event_id = turn.emit(
    {
      event_type: 'command.issued',
      node_id: loop.node_id,
      node_name: planned.name,
      node_type: 'command',
      status: 'issued',
      meta: {
        command_id,
        attempt,
        loop_id: loop.loop_id,
        iter_index: index,
        ...(child.args && { child_execution_id: child.execution_id }),
      },
    },
    from,
  )
  begin(
    turn,
    planned,
    { loop, index, item, attempt, command_id, ...(after !== undefined && { after }) },
    child,
    event_id,
  )
}

/** Its last attempt, or one that is followed by another. */
export function writeItemEnd(
  turn: Turn,
  loop: LoopActivation,
  index: number,
  ended: Attempt,
  retry_at?: string,
): string {
  const open = loop.open[index]!
  const { event_id } = open
  // An item that waits for its next attempt ends as that one: the attempt before has its own end in the log already.
  const attempt = open.retry_at === undefined ? open.attempt : open.attempt + 1
  const shard = loop.mode === 'fanout' && retry_at === undefined
  const completed = ended.status === 'completed'
  const meta: Record<string, Json> = {
    loop_id: loop.loop_id,
    iter_index: index,
    command_id: itemCommandId(turn, loop, index, attempt),
  }
  const event: Draft<NewEvent> = {
    event_type: ITEM_ENDS[shard ? 'shard' : 'command'][ended.status],
    node_id: loop.node_id,
    node_name: loop.step,
    node_type: shard ? 'loop' : 'command',
    status: ended.status,
    current_index: index,
    result: completed ? okResult(ended.result) : { status: 'error' },
    meta,
  }
  if (shard) meta.shard_id = shardIdOf(loop, index)
  else meta.attempt = attempt
  if (!completed) event.error = shortened(ended.error)
  if (!completed && ended.cancelled) meta.cancelled = true
  if (!completed && !shard) meta.final = retry_at === undefined
  if (retry_at !== undefined) meta.retry_at = retry_at
  return turn.emit(event, event_id)
}

const ITEM_ENDS = {
  shard: { completed: 'loop.shard.done', failed: 'loop.shard.failed' },
  command: { completed: 'command.completed', failed: 'command.failed' },
} as const

/** Rows are taken by any worker, the rest begins here. */
export function isRow({ child }: PlannedStep, { mode }: LoopActivation): boolean {
  return mode !== 'sequential' && child === undefined
}

function begin(turn: Turn, planned: PlannedStep, issue: Issue, child: Child, event_id: string): void {
  const { loop, index, item, attempt, command_id, after } = issue
  const { node_id, loop_id } = loop
  turn.items++
  if (child.args !== undefined) {
    const playbook = planned.child!.call!
    const { execution_id, args } = child
    const depth = turn.state.depth + 1
    turn.startChild({
      execution_id,
      playbook,
      args,
      node_id,
      index,
      attempt,
      depth,
      cause_event_id: event_id,
    })
  } else if (child.failure !== undefined) {
    turn.refused.push({ loop, index, error: child.failure })
  } else if (loop.mode === 'sequential') {
    turn.run.push({ node_id, step: planned.name, command_id, attempt, loop_id, index })
  } else {
    const row: Draft<NewCommand> = {
      command_id,
      loop_id,
      node_id,
      node_name: planned.name,
      item_index: index,
      attempt,
    }
    if (!isLarge(item)) row.item = item
    if (after !== undefined) row.process_after = after
    turn.commands.push(row)
  }
}

type Child =
  | { readonly args?: undefined; readonly failure?: string }
  | { readonly execution_id: string; readonly args: JsonObject; readonly failure?: undefined }

function childOf(turn: Turn, planned: PlannedStep, loop: LoopActivation, item: Json, index: number): Child {
  if (planned.child === undefined) return {}
  try {
    const args = childArgs(planned, itemScope(turn, planned.step.loop!, loop, item, index))
    const execution_id = turn.ports.nextId()
    return { execution_id, args }
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    return { failure: thrown.message }
  }
}

function keyOf(turn: Turn, planned: PlannedStep, loop: LoopActivation, item: Json, index: number): string {
  const { step, name } = planned
  try {
    const value = render(step.loop!.key!, itemScope(turn, step.loop!, loop, item, index))
    return typeof value === 'string' ? value : JSON.stringify(value)
  } catch (thrown) {
    const where = `loop.key of step ${name}, item ${index}`
    throw new PlaybookFailure(`${where}: ${reasonOf(thrown)}`, name, loop.event_id)
  }
}

function itemScope(turn: Turn, { as }: Loop, loop: LoopActivation, item: Json, index: number): JsonObject {
  return { ...(readValue(loop.scope, turn.ports) as JsonObject), [as]: item, index }
}

function itemAt(
  turn: Turn,
  loop: LoopActivation,
  index: number,
  attempt: number,
): { item: Json; command_id: string } {
  const items = readValue(loop.collection, turn.ports) as readonly Json[]
  return { item: items[index] ?? null, command_id: itemCommandId(turn, loop, index, attempt) }
}

function itemCommandId(turn: Turn, { node_id }: LoopActivation, index: number, attempt: number): string {
  return `${turn.state.execution_id}:${node_id}:${index}:${attempt}`
}

/** The same on every replay. */
export function shardIdOf({ loop_id }: Pick<LoopActivation, 'loop_id'>, index: number): string {
  const hex = hash('sha256', `${loop_id}:${index}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
