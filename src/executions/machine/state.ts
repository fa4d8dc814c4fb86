/** What an execution is, folded from its log alone. Plain JSON: it is the snapshot in noetl.checkpoint. */
import type { ResultValue } from '../event.ts'
import type { JsonObject, LoopMode } from '../playbook/definition.ts'

/** Raised with every change of the fold: a snapshot of another version is not used, the log is folded from its start. */
export const FOLD_VERSION = 1

export type ExecutionStatus = 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

export interface ExecutionState {
  execution_id: string
  catalog_id: string
  seq: number
  last_event_id: string
  status: ExecutionStatus
  parent: { execution_id: string; node_id: string; index?: number } | null
  workspace_id: string | null
  started_by: string
  cause: string | null
  correlation_id: string | null
  depth: number
  args: JsonObject
  /** The latest outcome of each step that has ended. */
  steps: Record<string, StepOutcome>
  /** How often each step was entered. */
  entries: Record<string, number>
  /** What has been entered and has not ended, by node_id. */
  active: Record<string, Activation>
  error: string | null
}

export interface StepOutcome {
  node_id: string
  status: 'completed' | 'failed' | 'complete' | 'partial' | 'timed_out'
  result?: ResultValue
  error?: string
  /** Of a loop. */
  fanin?: { status: 'complete' | 'partial' | 'failed'; total: number; done: number; failed: number }
}

export type Activation = CommandActivation | LoopActivation | WaitActivation | ChildActivation

interface Entered {
  node_id: string
  step: string
  /** The event that led here. */
  from_event_id: string
}

/** A step that runs its tools where the execution is driven. */
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
  /** Items that are out or will be tried again: index → attempt (and when). Bounded by max_in_flight. */
  open: Record<string, { attempt: number; retry_at?: string; child?: string }>
  /** Ended early (fail_fast); nothing more is handed out. */
  stopping: boolean
  collection: ResultValue
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
