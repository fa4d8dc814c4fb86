/** Loops of a step: start, issue of items, end of items, and the end of the loop, which happens exactly once. */
import { hash } from 'node:crypto'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { type NewEvent, type ResultValue, resultUri } from '../event.ts'
import type { Loop } from '../playbook/definition.ts'
import { render } from '../playbook/expressions.ts'
import {
  type DecisionBuilder,
  InputFailure,
  isLarge,
  type NewCommand,
  type NewMessage,
  okResult,
  PlaybookFailure,
  reasonOf,
  truncateMessage,
} from './decision.ts'
import { childArgs, orInputFailure, type PlannedStep, readValue, renderInput, toolScopeOf } from './plan.ts'
import {
  type Activation,
  type ExecutionState,
  type FanIn,
  fanInOf,
  type LoopActivation,
  type StepOutcome,
} from './state.ts'
import { type AttemptOutcome, isDue, retryAt } from './waits.ts'

const MAX_ITEMS = 1_000_000
const MAX_ITEMS_PER_DECISION = 1_000
/** Of the decision that starts the loop: workers begin while the rest is written. */
const FIRST_ITEMS = 200

/** Starts the loop of a step. Throws InputFailure before it changes anything. */
export function startLoop(
  decision: DecisionBuilder,
  planned: PlannedStep,
  node_id: string,
  from: string,
): void {
  const loop = planned.step.loop!
  const items = collectionOf(decision, planned, loop)
  const collection = orInputFailure(planned, 'loop.in', () =>
    storeCollection(decision, planned, items, node_id),
  )
  const scope = orInputFailure(planned, 'args', () =>
    decision.storeIfLarge(toolScopeOf(decision, planned), `${node_id}/scope`, planned.name),
  )
  const loop_id = decision.ports.nextId()
  const base = {
    node_id,
    node_name: planned.name,
    node_type: 'loop',
    status: 'started',
    current_index: 0,
  } as const
  const started = decision.emit(
    {
      ...base,
      event_type: 'loop.started',
      meta: { loop_id, collection_size: items.length, mode: loop.mode },
      context: {
        ...contextFields('collection', collection),
        ...contextFields('scope', scope),
        entered_from: from,
      },
    },
    from,
  )
  if (loop.mode === 'fanout') {
    const meta = { loop_id, total_shards: items.length }
    const shards = 'ref' in collection && { context: { shards_ref: resultUri(collection.ref) } }
    decision.emit({ ...base, event_type: 'loop.fanout.started', meta, ...shards }, started)
  }
  issueItems(decision, decision.state.active[node_id] as LoopActivation, started, FIRST_ITEMS)
}

/** An attempt at an item has ended: it is retried, or the item has ended and the loop continues or ends. */
export function itemEnded(
  decision: DecisionBuilder,
  loop: LoopActivation,
  index: number,
  ended: AttemptOutcome,
): void {
  const planned = decision.plan.steps.get(loop.step)!
  const { attempt } = loop.open[index]!
  const retry_at =
    ended.status === 'failed' ? retryAt(decision, planned.step.retry, attempt, ended.retryable) : undefined
  const event_id = emitItemEnd(decision, loop, { index, ended, retry_at })
  if (retry_at !== undefined) {
    if (!decision.paused) retryItem(decision, planned, loop, index)
    return
  }
  if (ended.status === 'failed' && planned.step.loop!.fail_fast) endLoop(decision, planned, loop, event_id)
  else if (isLoopOver(loop)) endLoop(decision, planned, loop, event_id)
  else if (!decision.paused && hasRoom(planned, loop)) issueItems(decision, loop, event_id)
}

/** Issues the next items, up to the loop's window and the limit of one decision. */
export function issueItems(
  decision: DecisionBuilder,
  loop: LoopActivation,
  from: string,
  maxItems = MAX_ITEMS_PER_DECISION,
): void {
  const planned = decision.plan.steps.get(loop.step)!
  while (loop.issued < loop.total && openItems(loop) < planned.window && isLoopActive(decision, loop)) {
    if (decision.items >= Math.min(maxItems, decision.ports.max_items ?? MAX_ITEMS_PER_DECISION)) {
      decision.continues = true
      break
    }
    issueItem(decision, planned, loop, from)
    failRefusedItems(decision, planned)
  }
  if (isLoopActive(decision, loop) && isLoopOver(loop)) endLoop(decision, planned, loop, from)
}

/** Issues the rows of items again that failed while the execution was paused. */
export function retryRows(decision: DecisionBuilder, loop: LoopActivation): void {
  const planned = decision.plan.steps.get(loop.step)!
  if (!isRow(planned, loop)) return
  for (const index of Object.keys(loop.open)) {
    if (loop.open[index]?.retry_at === undefined || !isLoopActive(decision, loop)) continue
    if (decision.items >= (decision.ports.max_items ?? MAX_ITEMS_PER_DECISION)) {
      decision.continues = true
      break
    }
    retryItem(decision, planned, loop, Number(index))
  }
}

/** Retries an item now or later. A row waits in the database until it is due; other items need a timer. */
export function retryItem(
  decision: DecisionBuilder,
  planned: PlannedStep,
  loop: LoopActivation,
  index: number,
): void {
  const retry_at = loop.open[index]?.retry_at
  if (retry_at === undefined || !isLoopActive(decision, loop)) return
  if (isDue(decision, retry_at)) retryIssuedItem(decision, planned, loop, { index })
  else if (isRow(planned, loop)) retryIssuedItem(decision, planned, loop, { index, after: retry_at })
  else decision.timers.push({ node_id: loop.node_id, index, at: retry_at })
  if (decision.refused.length === 0) return
  failRefusedItems(decision, planned)
  if (isLoopActive(decision, loop)) issueItems(decision, loop, loop.event_id)
}

/** Fails items that could not begin. After their issue, because the loop must not end while it issues items. */
function failRefusedItems(decision: DecisionBuilder, planned: PlannedStep): void {
  for (let refused = decision.refused.pop(); refused !== undefined; refused = decision.refused.pop()) {
    const { loop, index, error } = refused
    if (!isLoopActive(decision, loop)) continue
    const ended = { status: 'failed', error, retryable: false } as const
    const event_id = emitItemEnd(decision, loop, { index, ended })
    if (planned.step.loop!.fail_fast || isLoopOver(loop)) endLoop(decision, planned, loop, event_id)
  }
}

export function openItems({ issued, done, failed }: LoopActivation): number {
  return issued - done - failed
}

function isLoopActive(decision: DecisionBuilder, loop: LoopActivation): boolean {
  return decision.state.active[loop.node_id] === loop
}

function isLoopOver({ total, done, failed }: LoopActivation): boolean {
  return done + failed >= total
}

/** A wide window is refilled when a quarter of it is free, not one by one. */
function hasRoom({ window }: PlannedStep, loop: LoopActivation): boolean {
  return loop.issued < loop.total && openItems(loop) <= Math.floor((window * 3) / 4)
}

function collectionOf(decision: DecisionBuilder, planned: PlannedStep, loop: Loop): readonly Json[] {
  const items = renderInput(decision, planned, 'loop.in', loop.in)
  if (!Array.isArray(items)) {
    const what = items === null ? 'null' : `a ${typeof items === 'object' ? 'map' : typeof items}`
    throw new InputFailure(
      `loop.in of step ${planned.name}: a list is needed, ${JSON.stringify(loop.in)} gave ${what}`,
    )
  }
  if (items.length > MAX_ITEMS) {
    throw new InputFailure(`loop.in of step ${planned.name}: ${items.length} items, ${MAX_ITEMS} is the most`)
  }
  return items
}

const ONE_RESULT = /^\$\{\s*steps\.(\w+)\.(results?)\s*\}$/

/** Stores the collection, unless it is the unchanged result of a step, which is stored already. */
function storeCollection(
  decision: DecisionBuilder,
  planned: PlannedStep,
  items: readonly Json[],
  node_id: string,
): ResultValue {
  const template = planned.step.loop!.in
  const [, step, field] = (typeof template === 'string' && ONE_RESULT.exec(template)) || []
  const outcome = step === undefined ? undefined : decision.state.steps[step]
  const known = field === 'results' ? outcome?.results : outcome?.result
  return known !== undefined && 'ref' in known
    ? known
    : decision.storeIfLarge(items, `${node_id}/collection`, planned.name)
}

function contextFields(name: string, result: ResultValue): { [field: string]: Json } {
  return 'ref' in result
    ? { [`${name}_ref`]: resultUri(result.ref), [`${name}_bytes`]: result.bytes }
    : { [name]: result.value }
}

// Items.

/** Larger items are not written to the log, which refers to the collection. */
const MAX_LOGGED_ITEM_BYTES = 1_024

type Draft<T> = { -readonly [Field in keyof T]: T[Field] }

interface LoopItem {
  readonly loop: LoopActivation
  readonly index: number
  readonly item: Json
}

/** One attempt at an item. */
interface ItemIssue extends LoopItem {
  readonly attempt: number
  readonly command_id: string
  readonly child: ItemChild
  /** The event that issued it. */
  readonly event_id: string
  /** The time before which its row must not be claimed. */
  readonly after?: string | undefined
}

/** Issues the next item. An item whose child playbook gets invalid arguments is added to `refused`, and fails after its issue. */
function issueItem(
  decision: DecisionBuilder,
  planned: PlannedStep,
  loop: LoopActivation,
  from: string,
): void {
  const index = loop.issued
  const { item, command_id } = itemAt(decision, loop, index, 1)
  const child = itemChild(decision, planned, { loop, index, item })
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
    if (planned.step.loop!.key !== undefined)
      meta.iter_key = itemKey(decision, planned, { loop, index, item })
  } else {
    event.status = 'dispatched'
    if (!isLarge(item, MAX_LOGGED_ITEM_BYTES)) event.current_item = item
  }
  const event_id = decision.emit(event, from)
  beginItem(decision, planned, { loop, index, item, attempt: 1, command_id, child, event_id })
}

function retryIssuedItem(
  decision: DecisionBuilder,
  planned: PlannedStep,
  loop: LoopActivation,
  { index, after }: { readonly index: number; readonly after?: string },
): void {
  const { event_id: from, attempt: before } = loop.open[index]!
  const attempt = before + 1
  const { item, command_id } = itemAt(decision, loop, index, attempt)
  const child = itemChild(decision, planned, { loop, index, item })
  const event_id = decision.emit(
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
  beginItem(decision, planned, { loop, index, item, attempt, command_id, child, event_id, after })
}

interface ItemEnd {
  readonly index: number
  readonly ended: AttemptOutcome
  /** Absent: it was the last attempt. */
  readonly retry_at?: string | undefined
}

/** Emits the end of an attempt at an item. */
function emitItemEnd(
  decision: DecisionBuilder,
  loop: LoopActivation,
  { index, ended, retry_at }: ItemEnd,
): string {
  const open = loop.open[index]!
  const { event_id } = open
  // An item that waits for its next attempt ends under that attempt's number: the log has the end of the last attempt already.
  const attempt = open.retry_at === undefined ? open.attempt : open.attempt + 1
  const shard = loop.mode === 'fanout' && retry_at === undefined
  const completed = ended.status === 'completed'
  const meta: Record<string, Json> = {
    loop_id: loop.loop_id,
    iter_index: index,
    command_id: itemCommandId(decision.state, loop.node_id, index, attempt),
    ...ended.run,
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
  if (!completed) event.error = truncateMessage(ended.error)
  if (!completed && ended.cancelled) meta.cancelled = true
  if (!completed && !shard) meta.final = retry_at === undefined
  if (retry_at !== undefined) meta.retry_at = retry_at
  return decision.emit(event, event_id)
}

const ITEM_ENDS = {
  shard: { completed: 'loop.shard.done', failed: 'loop.shard.failed' },
  command: { completed: 'command.completed', failed: 'command.failed' },
} as const

/** Whether items are rows, which any worker may claim. Other items run in the engine that drives the execution. */
export function isRow({ child }: PlannedStep, { mode }: LoopActivation): boolean {
  return mode !== 'sequential' && child === undefined
}

function beginItem(decision: DecisionBuilder, planned: PlannedStep, issue: ItemIssue): void {
  const { loop, index, item, attempt, command_id, child, event_id, after } = issue
  const { node_id, loop_id } = loop
  decision.items++
  if (child.args !== undefined) {
    const playbook = planned.child!.call!
    const { execution_id, args } = child
    const depth = decision.state.depth + 1
    decision.startChild({
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
    decision.refused.push({ loop, index, error: child.failure })
  } else if (loop.mode === 'sequential') {
    decision.run.push({ node_id, step: planned.name, command_id, attempt, loop_id, index })
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
    decision.commands.push(row)
  }
}

type ItemChild =
  | { readonly args?: undefined; readonly failure?: string }
  | { readonly execution_id: string; readonly args: JsonObject; readonly failure?: undefined }

function itemChild(decision: DecisionBuilder, planned: PlannedStep, item: LoopItem): ItemChild {
  if (planned.child === undefined) return {}
  try {
    const args = childArgs(planned, itemScope(decision, planned, item))
    const execution_id = decision.ports.nextId()
    return { execution_id, args }
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    return { failure: thrown.message }
  }
}

function itemKey(decision: DecisionBuilder, planned: PlannedStep, item: LoopItem): string {
  const { step, name } = planned
  try {
    const value = render(step.loop!.key!, itemScope(decision, planned, item))
    return typeof value === 'string' ? value : JSON.stringify(value)
  } catch (thrown) {
    const where = `loop.key of step ${name}, item ${item.index}`
    throw new PlaybookFailure(`${where}: ${reasonOf(thrown)}`, name, item.loop.event_id)
  }
}

function itemScope(
  decision: DecisionBuilder,
  { step }: PlannedStep,
  { loop, index, item }: LoopItem,
): JsonObject {
  return { ...(readValue(loop.scope, decision.ports) as JsonObject), [step.loop!.as]: item, index }
}

function itemAt(
  decision: DecisionBuilder,
  loop: LoopActivation,
  index: number,
  attempt: number,
): { item: Json; command_id: string } {
  const items = readValue(loop.collection, decision.ports) as readonly Json[]
  return {
    item: items[index] ?? null,
    command_id: itemCommandId(decision.state, loop.node_id, index, attempt),
  }
}

export function itemCommandId(
  { execution_id }: Pick<ExecutionState, 'execution_id'>,
  node_id: string,
  index: number | string,
  attempt: number,
): string {
  return `${execution_id}:${node_id}:${index}:${attempt}`
}

/** Deterministic: the same on every replay. */
export function shardIdOf({ loop_id }: Pick<LoopActivation, 'loop_id'>, index: number): string {
  const hex = hash('sha256', `${loop_id}:${index}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

// The end of a loop.

/** Cancels the items that are still open, counts all, and emits the end. */
function endLoop(decision: DecisionBuilder, planned: PlannedStep, loop: LoopActivation, from: string): void {
  const cancelled = loop.total - loop.done - loop.failed
  const began = cancelled > 0 ? cancelOpenItems(decision, planned, loop, from) : from
  // A cancelled item counts as failed.
  const fanin = fanInOf({ total: loop.total, done: loop.done, failed: loop.total - loop.done })
  const outcome = loopOutcome(planned, fanin)
  const base = { node_id: loop.node_id, node_name: planned.name, node_type: 'loop' } as const
  const { total, done, failed } = fanin
  const more = cancelled > 0 && { cancelled }
  let last = began
  if (loop.mode === 'fanout') {
    last = decision.emit(
      {
        ...base,
        event_type: 'loop.fanin.completed',
        status: fanin.status === 'complete' ? 'completed' : fanin.status,
        meta: { loop_id: loop.loop_id },
        result: { status: fanin.status, context: { done, failed, total, ...more } },
      },
      last,
    )
  }
  const event_id = decision.emit(
    {
      ...base,
      event_type: 'loop.done',
      status: 'completed',
      meta: { loop_id: loop.loop_id, outcome },
      result: {
        status: 'ok',
        context: { total, completed: done, failed, ...more },
        ...loopResults(decision, planned, loop),
      },
      ...(outcome === 'failed' && { error: loopError(loop, fanin, cancelled) }),
    },
    last,
  )
  decision.endStep(loop.node_id, planned.name, event_id)
}

/** A reference to the results of all items, if the playbook reads them. The results are collected when they are first read. */
function loopResults(
  decision: DecisionBuilder,
  planned: PlannedStep,
  { loop_id, total }: LoopActivation,
): JsonObject {
  if (!planned.collects) return {}
  if (total === 0) return { value: [] }
  const ref_id = decision.ports.nextId()
  decision.collect.push({ loop_id, ref_id, node_name: planned.name })
  return { ref: ref_id, bytes: 0 }
}

function loopOutcome({ step }: PlannedStep, { status }: FanIn): StepOutcome['status'] {
  return status === 'partial' && !step.loop!.allow_partial ? 'failed' : status
}

function loopError({ failure }: LoopActivation, { total, failed }: FanIn, cancelled: number): string {
  const first = failure === undefined ? '' : `; item ${failure.index}: ${failure.error}`
  const rest = cancelled > 0 ? `, ${cancelled} were cancelled` : ''
  return `${failed - cancelled} of ${total} items failed${rest}${first}`
}

/** The loop ends early: each open item gets a cancelled end; items that were never issued get none. */
function cancelOpenItems(
  decision: DecisionBuilder,
  planned: PlannedStep,
  loop: LoopActivation,
  from: string,
): string {
  cancelItems(decision, planned, loop)
  const reason = loop.failure === undefined ? '' : `: item ${loop.failure.index} failed`
  let last = from
  for (const index of Object.keys(loop.open))
    last = emitItemEnd(decision, loop, {
      index: Number(index),
      ended: { status: 'failed', error: `cancelled${reason}`, retryable: false, cancelled: true },
    })
  return last
}

function cancelItems(decision: DecisionBuilder, planned: PlannedStep, loop: LoopActivation): void {
  decision.drop(loop)
  if (isRow(planned, loop)) decision.commandsCancelled.push({ loop_id: loop.loop_id })
  cancelChildren(decision, loop, 'an item of the same loop failed')
}

/** Sends a cancel to the children. Not to those that this decision starts itself: they are dropped from the decision. */
export function cancelChildren(decision: DecisionBuilder, activation: Activation, reason: string): void {
  for (const message of cancelMessages(decision.state.execution_id, activation, reason))
    if (!decision.started.has(message.execution_id)) decision.messages.push(message)
}

/** Cancel messages to the child executions of an activation that has ended. */
export function cancelMessages(execution: string, activation: Activation, reason: string): NewMessage[] {
  return childrenOf(activation).map((execution_id) => ({
    execution_id,
    kind: 'cancel',
    body: { by: `execution ${execution}`, reason },
  }))
}

function childrenOf(activation: Activation): string[] {
  if (activation.kind === 'child') return activation.retry_at === undefined ? [activation.child] : []
  if (activation.kind !== 'loop') return []
  return Object.values(activation.open).flatMap(({ child, retry_at }) =>
    child !== undefined && retry_at === undefined ? [child] : [],
  )
}
