/** What an engine tells whoever measures it. Called on the way of every step, so keep them short. */

export interface EngineHooks {
  /** A flush is durable. */
  flushed?(executions: number, events: number, ms: number): void
  /** A command ended in this process. */
  ran?(step: string, outcome: 'completed' | 'failed', ms: number): void
  /** `lagMs`: how old the oldest event was when it was folded. */
  projected?(executions: number, events: number, lagMs: number, ms: number): void
  /** Every second: for how long the execution that is furthest behind its log has been so. */
  behind?(lagMs: number): void
  /** The end of an execution is durable. */
  ended?(execution: string): void
  shardTaken?(shard: number): void
  shardLost?(shard: number): void
  leaseLost?(reason: string): void
}
