/** The state of an execution, folded from its log alone. Plain JSON, stored as the snapshot in noetl.checkpoint. */

import type { Json, JsonObject } from '../../kernel/json.ts'
import { type EventType, type ExecutionEvent, parseResultUri, type ResultValue } from '../event.ts'
import type { LoopMode } from '../playbook/definition.ts'

/** Increased with every change of the fold: a snapshot of another version is ignored, and the log is folded from its start. */
export const FOLD_VERSION = 2

export type ExecutionStatus = 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

export interface ExecutionState {
  execution_id: string
  catalog_id: string
  /** Of the playbook. */
  version: number
  seq: number
  last_event_id: string
  status: ExecutionStatus
  parent: Parent | null
  workspace_id: string | null
  started_by: string
  cause: string | null
  correlation_id: string | null
  depth: number
  args: JsonObject
  /** The latest outcome of each step that has ended. All that it refers to is durable, also while later events are not. */
  steps: Record<string, StepOutcome>
  /** How often each step was entered, and all of them together. */
  entries: Record<string, number>
  entered: number
  /** Activations: steps that were entered and have not ended, by node_id. */
  active: Record<string, Activation>
  error: string | null
}

/** The step of another execution that waits for this one. */
export interface Parent {
  execution_id: string
  node_id: string
  index?: number
  attempt?: number
}

export interface StepOutcome {
  node_id: string
  status: 'completed' | 'failed' | 'complete' | 'partial' | 'timed_out'
  result?: ResultValue
  error?: string
  /** Of a loop. */
  fanin?: FanIn
  /** The results of a loop's items in their order, if the playbook refers to `steps.X.results`. */
  results?: ResultValue
}

export interface FanIn {
  status: 'complete' | 'partial' | 'failed'
  total: number
  done: number
  failed: number
}

export type Activation =
  | CommandActivation
  | LoopActivation
  | WaitActivation
  | ChildActivation
  | EndedActivation

interface EnteredStep {
  node_id: string
  step: string
  /** Its latest event: the next one follows from it. */
  event_id: string
}

/** A step that runs its tools, in the engine that drives the execution or in one that has its handlers. */
export interface CommandActivation extends EnteredStep {
  kind: 'command'
  attempt: number
  command_id: string
  /** ISO 8601: the next attempt begins then; absent while one runs. */
  retry_at?: string
}

export interface LoopActivation extends EnteredStep {
  kind: 'loop'
  loop_id: string
  mode: LoopMode
  total: number
  done: number
  failed: number
  /** The items from 0 to issued - 1 were issued. */
  issued: number
  /** Items that run or will be retried, by index. Bounded by max_in_flight. */
  open: Record<string, OpenItem>
  /** The first item that failed for good: the step's error names it. */
  failure?: { index: number; error: string }
  collection: ResultValue
  /** The scope of its tools' expressions when the loop began: the same for every item. */
  scope: ResultValue
}

interface OpenItem {
  attempt: number
  event_id: string
  /** ISO 8601: it failed and is not issued again before. */
  retry_at?: string
  /** The execution that runs it. */
  child?: string
}

interface WaitActivation extends EnteredStep {
  kind: 'wait'
}

export interface ChildActivation extends EnteredStep {
  kind: 'child'
  attempt: number
  child: string
  retry_at?: string
}

/** Ended, but its arcs are not taken yet: the execution is paused, or the loop's results become readable only after this flush. */
export interface EndedActivation extends EnteredStep {
  kind: 'ended'
  outcome: StepOutcome
  collecting: boolean
}

export function isOver({ status }: ExecutionState): boolean {
  return status !== 'RUNNING' && status !== 'PAUSED'
}

/** For a time, an event or a person. */
export function onlyWaits(state: ExecutionState | undefined): boolean {
  const active = Object.values(state?.active ?? {})
  return active.length > 0 && active.every(({ kind }) => kind === 'wait')
}

/** Folds an event into the state, in place. No other code changes a state. An event that was folded before changes nothing. */
export function fold(
  state: ExecutionState | undefined,
  event: ExecutionEvent,
  changes: Changes = directChanges,
): ExecutionState {
  if (state === undefined) return initialState(event)
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

/** The fields of `meta` that the fold reads. */
interface EventMeta {
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

const ignore: Fold = () => {}

const folds: Readonly<Record<EventType, Fold>> = {
  'playbook.initialized': ignore,
  'playbook.completed': executionEnded('COMPLETED'),
  'playbook.failed': executionEnded('FAILED'),
  'workflow.initialized': ignore,
  'workflow.completed': executionEnded('COMPLETED'),
  'workflow.failed': executionEnded('FAILED'),
  'execution.cancelled': executionEnded('CANCELLED'),
  'execution.paused': (state, _event, changes) => changes.set(state, 'status', 'PAUSED'),
  'execution.resumed': executionResumed,
  'step.enter': stepEntered,
  'step.exit': (state, event, changes) => stepEnded(state, event, outcomeOfExit(event), changes),
  'command.issued': commandIssued,
  'command.completed': commandCompleted,
  'command.failed': commandFailed,
  'loop.started': loopStarted,
  'loop.item': itemIssued,
  'loop.done': loopDone,
  'loop.fanout.started': ignore,
  'loop.shard.enqueued': itemIssued,
  'loop.shard.done': (state, event, changes) => itemEnded(state, event, 'done', changes),
  'loop.shard.failed': (state, event, changes) => itemEnded(state, event, 'failed', changes),
  'loop.fanin.completed': ignore,
}

function initialState(event: ExecutionEvent): ExecutionState {
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

function executionEnded(status: ExecutionStatus): Fold {
  return (state, event, changes) => {
    changes.set(state, 'status', status)
    changes.set(state, 'active', {})
    if (event.error) changes.set(state, 'error', event.error)
  }
}

/** The decision that emits execution.resumed also takes the arcs of steps that ended during the pause. */
function executionResumed(state: ExecutionState, _event: ExecutionEvent, changes: Changes): void {
  changes.set(state, 'status', 'RUNNING')
  for (const activation of Object.values(state.active)) {
    if (activation.kind === 'ended' && !activation.collecting)
      changes.remove(state.active, activation.node_id)
  }
}

function stepEntered(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const { child_execution_id: child, attempt = 1 } = metaOf(event)
  if (attempt === 1) countEntry(state, event, changes)
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
    openItem(state, event, attempt!, changes)
    return
  }
  if (attempt === 1) countEntry(state, event, changes)
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
  countEntry(state, event, changes)
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
    collection: storedIn(event.context, 'collection'),
    scope: storedIn(event.context, 'scope'),
  }
  activate(state, loop, changes)
}

function itemIssued(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const loop = loopOf(state, event)
  if (loop === undefined) return
  changes.set(loop, 'issued', metaOf(event).iter_index! + 1)
  openItem(state, event, 1, changes)
}

function openItem(state: ExecutionState, event: ExecutionEvent, attempt: number, changes: Changes): void {
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
  // The exit of a loop whose results are readable now: the outcome is that of its loop.done.
  if (active?.kind === 'ended') {
    changes.set(state.steps, stepOf(event), active.outcome)
    changes.remove(state.active, node_id)
    return
  }
  if (active === undefined) countEntry(state, event, changes)
  const collecting = outcome.results !== undefined && 'ref' in outcome.results
  // Until the flush of loop.done is durable nobody can read these results: neither another branch, nor an earlier entry of the loop.
  if (!collecting) changes.set(state.steps, stepOf(event), outcome)
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

function countEntry(state: ExecutionState, event: ExecutionEvent, changes: Changes): void {
  const step = stepOf(event)
  changes.set(state.entries, step, (state.entries[step] ?? 0) + 1)
  changes.set(state, 'entered', state.entered + 1)
}

function activate(state: ExecutionState, activation: Activation, changes: Changes): void {
  changes.set(state.active, activation.node_id, activation)
}

/** Undefined for late events of an earlier entry of the loop: they have another node_id and loop_id. */
function loopOf(state: ExecutionState, event: ExecutionEvent): LoopActivation | undefined {
  const active = state.active[nodeOf(event)]
  return active?.kind === 'loop' && active.loop_id === metaOf(event).loop_id ? active : undefined
}

function storedIn(context: JsonObject | undefined, name: string): ResultValue {
  const ref = context?.[`${name}_ref`]
  if (typeof ref === 'string')
    return { ref: parseResultUri(ref), bytes: context?.[`${name}_bytes`] as number }
  return { value: context?.[name] ?? null }
}

function resultOf(event: ExecutionEvent): ResultValue {
  const result = event.result ?? {}
  if (typeof result.ref === 'string')
    return { ref: result.ref, bytes: (result.bytes as number | undefined) ?? 0 }
  return { value: result.value ?? null }
}

function metaOf(event: ExecutionEvent): EventMeta {
  return (event.meta ?? {}) as EventMeta
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

// The counts of a loop's items.

export function fanInOf({ total, done, failed }: { total: number; done: number; failed: number }): FanIn {
  const status = failed === 0 ? 'complete' : done === 0 ? 'failed' : 'partial'
  return { status, total, done, failed }
}

/**
 * Changes of a state that can be rolled back. A decision changes the state in place, event by event, and may find in the middle that it
 * needs a value that is not loaded. Copying the state first would make the cost of every decision grow with the size of the state.
 */
export interface Changes {
  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void
  remove<T extends object, K extends keyof T>(target: T, key: K): void
}

/** For folding a log that is durable. */
const directChanges: Changes = {
  set(target, key, value) {
    target[key] = value
  },
  remove(target, key) {
    delete target[key]
  },
}

const ABSENT = Symbol('absent')

export class RevocableChanges implements Changes {
  /** Target, key and old value of each change, one after the other. */
  readonly #before: unknown[] = []

  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void {
    this.#remember(target, key)
    target[key] = value
  }

  remove<T extends object, K extends keyof T>(target: T, key: K): void {
    this.#remember(target, key)
    delete target[key]
  }

  revoke(): void {
    const before = this.#before
    while (before.length > 0) {
      const value = before.pop()
      const key = before.pop() as string
      const target = before.pop() as Record<string, unknown>
      if (value === ABSENT) delete target[key]
      else target[key] = value
    }
  }

  #remember<T extends object, K extends keyof T>(target: T, key: K): void {
    const value = target[key]
    this.#before.push(target, key, value === undefined && !Object.hasOwn(target, key) ? ABSENT : value)
  }
}

/** The seed of a rerun: the steps that had ended in the old execution when the step was last entered. */
export interface Seed {
  readonly steps: Record<string, StepOutcome>
  readonly entries: Record<string, number>
}

/** Reads the events of the old log one by one, so that a long log is not kept in memory. */
export class SeedFinder {
  readonly #step: string
  #state: ExecutionState | undefined
  #seed: Seed | undefined

  constructor(from_step: string) {
    this.#step = from_step
  }

  add(event: ExecutionEvent): void {
    const before = this.#state?.entries[this.#step] ?? 0
    const steps = this.#state?.steps[this.#step]
    this.#state = fold(this.#state, event)
    if (event.node_name !== this.#step || event.node_id === undefined) return
    if ((this.#state.entries[this.#step] ?? 0) === before) return
    this.#seed = {
      steps: { ...this.#state.steps },
      entries: { ...this.#state.entries, [this.#step]: before },
    }
    // It may have ended by the same event, because its inputs were invalid.
    if (steps === undefined) delete this.#seed.steps[this.#step]
    else this.#seed.steps[this.#step] = steps
  }

  /** Undefined: the step was never entered. */
  get seed(): Seed | undefined {
    return this.#seed
  }
}
