/** What an engine is given, and what can be asked of it. */
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import type { HealthCheck } from '../../db/health.ts'
import type { ExecutionOutcome } from '../outcome.ts'
import type { ResultStore } from '../results/store.ts'
import type { Tools } from '../tool.ts'
import type { EngineHooks } from './hooks.ts'

export interface EngineOptions {
  /** Sessions as dot_executor; the engine itself uses up to eight of them. */
  readonly pool: Pool
  /** A direct connection, for notices. Without it news are found by polling alone. */
  readonly listenUrl?: string
  /** Steps that call a handler which is not among them are run by engines that have it, and wait while none has. */
  readonly tools: Tools
  readonly results: ResultStore
  readonly log?: Logger
  /** Shown to people; default: host and process. */
  readonly name?: string
  /** Steps at once, and items of loops at once; default 50. */
  readonly concurrency?: number
  /** False: it only runs items of loops, and steps, that others drive and hand over. */
  readonly drives?: boolean
  /** False: it runs nothing but steps that it drives itself. */
  readonly runs?: boolean
  /** After this long without a heartbeat its shards go to others; default 6 s. */
  readonly leaseMs?: number
  /** How often to look without a notice; default 250. */
  readonly pollMs?: number
  /** How long a step waits for a handler that no running process has before it fails; default: for ever. */
  readonly handlerGraceMs?: number
  /** After this long a system issue says that a handler is missing; default 60 s. */
  readonly handlerIssueMs?: number
  /** How long what runs may take to end when the engine stops; default 30 s. */
  readonly shutdownMs?: number
  readonly hooks?: EngineHooks
  /** False: no heartbeat is ever sent, as by a process that was frozen. For tests. */
  readonly beats?: boolean
}

export interface Engine {
  /** Its registration; another one after a lost lease. */
  readonly id: string
  health(): HealthCheck
  /** How it ended, whoever drives it; at once when it is this engine. */
  wait(execution: string, options?: { signal?: AbortSignal }): Promise<ExecutionOutcome>
  /** Calls back when the end of the execution is durable, if this engine drives it to there. Returns how to forget it. */
  whenEnded(execution: string, told: (outcome: ExecutionOutcome) => void): () => void
  /** Begins nothing new, lets what runs end, and hands everything over. The same promise however often it is called. */
  stop(): Promise<void>
  /**
   * The process is about to end because of this error, for example a rejection that nobody handled: names the steps in hand and
   * gives the lease back. Never throws.
   */
  crash(error: unknown): Promise<void>
}
