/** The state of an execution from its log: the only code that changes a state. */
import { type EventType, type ExecutionEvent, type ResultValue, refOfUri } from '../event.ts'
import type { Json, JsonObject, LoopMode } from '../playbook/definition.ts'
import { type Changes, forGood } from './changes.ts'
import type { Seed } from './decision.ts'
import { fanInOf } from './fan-in.ts'
import type {
  Activation,
  ExecutionState,
  ExecutionStatus,
  LoopActivation,
  OpenItem,
  StepOutcome,
} from './state.ts'

/** In place; what comes back is the state that went in. An event that is folded already changes nothing. */
export function fold(
  state: ExecutionState | undefined,
  event: ExecutionEvent,
  changes: Changes = forGood,
): ExecutionState {
  if (state === undefined) return begun(event)
  if (event.seq <= state.seq) return state
  if (event.seq !== state.seq + 1) {
    throw new Error(
      `the log of execution ${state.execution_id} has a gap between ${state.seq} and ${event.seq}`,
    )
  }
  changes.set(state, 'seq', event.seq)
  changes.set(state, 'last_event_id', event.event_id)
  folds[event.event_type](state, event, changes)
  return state
}

type Fold = (state: ExecutionState, event: ExecutionEvent, changes: Changes) => void

/** Those fields of `meta` that count here. */
interface Meta {
  readonly attempt?: number
  readonly command_id?: string
  readonly final?: boolean
  readonly retry_at?: string
  readonly loop_id?: string
  readonly iter_index?: number
  readonly collection_size?: number
  readonly mode?: LoopMode
  readonly outcome?: StepOutcome['status']
  readonly child_execution_id?: string
}

const nothing: Fold = () => {}

const folds: Readonly<Record<EventType, Fold>> = {
  'playbook.initialized': nothing,
  'playbook.completed': ended('COMPLETED'),
  'playbook.failed': ended('FAILED'),
  'workflow.initialized': nothing,
  'workflow.completed': ended('COMPLETED'),
  'workflow.failed': ended('FAILED'),
  'execution.cancelled': ended('CANCELLED'),
  'execution.paused': (state, _event, changes) => changes.set(state, 'status', 'PAUSED'),
  'execution.resumed': resumed,
  'step.enter': stepEntered,
  'step.exit': (state, event, changes) => stepEnded(state, event, outcomeOfExit(event), changes),
  'command.issued': commandIssued,
  'command.completed': commandCompleted,
  'command.failed': commandFailed,
  'loop.started': loopStarted,
  'loop.item': itemIssued,
  'loop.done': loopDone,
  'loop.fanout.started': nothing,
  'loop.shard.enqueued': itemIssued,
  'loop.shard.done': (state, event, changes) => itemEnded(state, event, 'done', changes),
  'loop.shard.failed': (state, event, changes) => itemEnded(state, event, 'failed', changes),
  'loop.fanin.completed': nothing,
}

function begun(event: ExecutionEvent): ExecutionState {
  if (event.event_type !== 'playbook.initialized' && event.event_type !== 'workflow.initialized') {
    throw new Error(`the log of execution ${event.execution_id} begins with ${event.event_type}`)
  }
  const meta = (event.meta ?? {}) as Record<string, Json | undefined>
  const context = (event.context ?? {}) as { readonly args?: JsonObject; readonly seed?: JsonObject }
  const seed = context.seed as Seed | undefined
  const text = (name: string) => (meta[name] as string | null | undefined) ?? null
  return {
    execution_id: event.execution_id,
    catalog_id: event.catalog_id,
    version: meta.version as number,
    seq: event.seq,
    last_event_id: event.event_id,
    status: 'RUNNING',
    parent: event.parent_execution_id
      ? {
          execution_id: event.parent_execution_id,
          node_id: meta.parent_node_id as string,
          ...(typeof meta.parent_index === 'number' && { index: meta.parent_index }),
          ...(typeof meta.parent_attempt === 'number' && { attempt: meta.parent_attempt }),
        }
      : null,
    workspace_id: text('workspace_id'),
    started_by: meta.started_by as string,
    cause: text('cause'),
    correlation_id: text('correlation_id'),
    depth: (meta.depth as number | undefined) ?? 0,
    args: context.args ?? {},
    steps: { ...seed?.steps },
    entries: { ...seed?.entries },
    entered: 0,
    active: {},
    error: null,
  }
}

function ended(status: ExecutionStatus): Fold {
  return (state, event, changes) => {
    changes.set(state, 'status', status)
    changes.set(state, 'active', {})
    if (event.error) changes.set(state, 'error', event.error)
  }
}

/** Whoever writes execution.resumed takes the arcs of what ended meanwhile in the same flush. */
function resumed(state: ExecutionState, _event: ExecutionEvent, changes: Changes): void {
  changes.set(state, 'status', 'RUNNING')
  for (const activation of Object.values(state.active)) {
    if (activation.kind === 'ended' && !activation.collecting)
      changes.remove(state.active, activation.node_id)
  }
}

function stepEntered(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const { child_execution_id: child, attempt = 1 } = metaOf(event)
  if (attempt === 1) entered(state, event, changes)
  const base = { node_id: nodeOf(event), step: stepOf(event), event_id: event.event_id }
  activate(
    state,
    child === undefined ? { ...base, kind: 'wait' } : { ...base, kind: 'child', attempt, child },
    changes,
  )
}

function commandIssued(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const { loop_id, attempt, command_id } = metaOf(event)
  if (loop_id !== undefined) {
    putOut(state, event, attempt!, changes)
    return
  }
  if (attempt === 1) entered(state, event, changes)
  const base = { node_id: nodeOf(event), step: stepOf(event), event_id: event.event_id }
  activate(state, { ...base, kind: 'command', attempt: attempt!, command_id: command_id! }, changes)
}

function commandCompleted(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const outcome: StepOutcome = { node_id: nodeOf(event), status: 'completed', result: resultOf(event) }
  if (metaOf(event).loop_id !== undefined) itemEnded(state, event, 'done', changes)
  else stepEnded(state, event, outcome, changes)
}

function commandFailed(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const { loop_id, final, retry_at, iter_index } = metaOf(event)
  if (!final) {
    const active = state.active[nodeOf(event)]
    const retried = active?.kind === 'loop' ? active.open[String(iter_index)] : active
    if (retried === undefined || !('attempt' in retried)) return
    changes.set(retried, 'event_id', event.event_id)
    changes.set(retried, 'retry_at', retry_at!)
  } else if (loop_id !== undefined) {
    itemEnded(state, event, 'failed', changes)
  } else {
    stepEnded(state, event, { node_id: nodeOf(event), status: 'failed', error: errorOf(event) }, changes)
  }
}

function loopStarted(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const meta = metaOf(event)
  entered(state, event, changes)
  const loop: LoopActivation = {
    node_id: nodeOf(event),
    step: stepOf(event),
    event_id: event.event_id,
    kind: 'loop',
    loop_id: meta.loop_id!,
    mode: meta.mode!,
    total: meta.collection_size!,
    done: 0,
    failed: 0,
    issued: 0,
    open: {},
    collection: keptIn(event.context, 'collection'),
    scope: keptIn(event.context, 'scope'),
  }
  activate(state, loop, changes)
}

function itemIssued(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const loop = loopOf(state, event)
  if (loop === undefined) return
  changes.set(loop, 'issued', metaOf(event).iter_index! + 1)
  putOut(state, event, 1, changes)
}

function putOut(state: ExecutionState, event: ExecutionEvent, attempt: number, changes: Changes): void {
  const loop = loopOf(state, event)
  if (loop === undefined) return
  const { iter_index, child_execution_id: child } = metaOf(event)
  const item: OpenItem = { attempt, event_id: event.event_id }
  if (child !== undefined) item.child = child
  changes.set(loop.open, String(iter_index), item)
}

function itemEnded(
  state: ExecutionState,
  event: ExecutionEvent,
  as: 'done' | 'failed',
  changes: Changes,
): void {
  const loop = loopOf(state, event)
  if (loop === undefined) return
  const index = metaOf(event).iter_index!
  changes.set(loop, as, loop[as] + 1)
  changes.remove(loop.open, String(index))
  if (as === 'failed' && loop.failure === undefined)
    changes.set(loop, 'failure', { index, error: errorOf(event) })
}

function loopDone(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const { total, completed, failed } = event.result!.context as {
    total: number
    completed: number
    failed: number
  }
  const outcome: StepOutcome = {
    node_id: nodeOf(event),
    status: metaOf(event).outcome!,
    fanin: fanInOf({ total, done: completed, failed }),
  }
  if (event.error) outcome.error = event.error
  const results = event.result
  if (results && ('ref' in results || 'value' in results)) outcome.results = resultOf(event)
  stepEnded(state, event, outcome, changes)
}

function stepEnded(
  state: ExecutionState,
  event: ExecutionEvent,
  outcome: StepOutcome,
  changes: Changes,
): void {
  const { node_id } = outcome
  const active = state.active[node_id]
  // Its results are readable now; its outcome is known since its loop.done.
  if (active?.kind === 'ended') {
    changes.remove(state.active, node_id)
    return
  }
  if (active === undefined) entered(state, event, changes)
  changes.set(state.steps, stepOf(event), outcome)
  const collecting = outcome.results !== undefined && 'ref' in outcome.results
  if (collecting || state.status === 'PAUSED') {
    const base = { node_id, step: stepOf(event), event_id: event.event_id }
    activate(state, { ...base, kind: 'ended', outcome, collecting }, changes)
  } else if (active !== undefined) {
    changes.remove(state.active, node_id)
  }
}

function outcomeOfExit(event: ExecutionEvent): StepOutcome {
  const outcome: StepOutcome = { node_id: nodeOf(event), status: event.status as StepOutcome['status'] }
  if (outcome.status !== 'failed') outcome.result = resultOf(event)
  if (event.error) outcome.error = event.error
  return outcome
}

function entered(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const step = stepOf(event)
  changes.set(state.entries, step, (state.entries[step] ?? 0) + 1)
  changes.set(state, 'entered', state.entered + 1)
}

function activate(state: ExecutionState, activation: Activation, changes: Changes): void {
  changes.set(state.active, activation.node_id, activation)
}

/** Late events of a loop that was entered again have another node_id, and another loop_id. */
function loopOf(state: ExecutionState, event: ExecutionEvent): LoopActivation | undefined {
  const active = state.active[nodeOf(event)]
  return active?.kind === 'loop' && active.loop_id === metaOf(event).loop_id ? active : undefined
}

function keptIn(context: JsonObject | undefined, name: string): ResultValue {
  const ref = context?.[`${name}_ref`]
  if (typeof ref === 'string') return { ref: refOfUri(ref), bytes: context?.[`${name}_bytes`] as number }
  return { value: context?.[name] ?? null }
}

function resultOf(event: ExecutionEvent): ResultValue {
  const result = event.result ?? {}
  if (typeof result.ref === 'string')
    return { ref: result.ref, bytes: (result.bytes as number | undefined) ?? 0 }
  return { value: result.value ?? null }
}

function metaOf(event: ExecutionEvent): Meta {
  return (event.meta ?? {}) as Meta
}

function nodeOf(event: ExecutionEvent): string {
  return event.node_id!
}

function stepOf(event: ExecutionEvent): string {
  return event.node_name!
}

function errorOf(event: ExecutionEvent): string {
  return event.error ?? 'it failed'
}
