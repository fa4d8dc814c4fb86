/** What an execution is, folded from its log alone. Plain JSON: it is the snapshot in noetl.checkpoint. */
import type { ResultValue } from '../event.ts'
import type { JsonObject, LoopMode } from '../playbook/definition.ts'

/** Raised with every change of the fold: a snapshot of another version is not used, the log is folded from its start. */
export const FOLD_VERSION = 1

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
  /** The latest outcome of each step that has ended. */
  steps: Record<string, StepOutcome>
  /** How often each step was entered, and all of them together. */
  entries: Record<string, number>
  entered: number
  /** What has been entered and has not ended, by node_id. */
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
  /** Of a loop whose playbook refers to `steps.X.results`: what its items gave, in their order. */
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

interface Entered {
  node_id: string
  step: string
  /** The latest event of it: what comes next follows from that. */
  event_id: string
}

/** A step that runs its tools: where the execution is driven, or where its handlers are. */
export interface CommandActivation extends Entered {
  kind: 'command'
  attempt: number
  command_id: string
  /** ISO 8601: the next attempt begins then; absent while one runs. */
  retry_at?: string
}

export interface LoopActivation extends Entered {
  kind: 'loop'
  loop_id: string
  mode: LoopMode
  total: number
  done: number
  failed: number
  /** Items from 0 to issued - 1 have been handed out. */
  issued: number
  /** Items that are out or will be tried again, by index. Bounded by max_in_flight. */
  open: Record<string, OpenItem>
  /** The first item that failed for good: the step's error names it. */
  failure?: { index: number; error: string }
  collection: ResultValue
  /** What the expressions of its tools refer to, as it was when the loop began: every item sees the same. */
  scope: ResultValue
}

export interface OpenItem {
  attempt: number
  event_id: string
  /** ISO 8601: it failed and is not handed out again before. */
  retry_at?: string
  /** The execution that runs it. */
  child?: string
}

export interface WaitActivation extends Entered {
  kind: 'wait'
}

export interface ChildActivation extends Entered {
  kind: 'child'
  attempt: number
  child: string
  retry_at?: string
}

/** Ended, and its arcs are not taken yet: the execution is paused, or the loop's results become readable with this flush. */
export interface EndedActivation extends Entered {
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
