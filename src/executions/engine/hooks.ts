/** What an engine tells whoever measures it. Called on the way of every step, so keep them short. */
import type { Logger } from 'pino'

export interface EngineHooks {
  /** A flush is durable. */
  flushed?(executions: number, events: number, ms: number): void
  /** A command ended in this process. */
  ran?(step: string, outcome: 'completed' | 'failed', ms: number): void
  /** `lagMs`: how old the oldest event was when it was folded. */
  projected?(executions: number, events: number, lagMs: number, ms: number): void
  /** The end of an execution is durable. */
  ended?(execution: string): void
  shardTaken?(shard: number): void
  shardLost?(shard: number): void
  leaseLost?(reason: string): void
}

/** A measure that throws must not stop an execution. */
export function harmless(hooks: EngineHooks, log: Logger): EngineHooks {
  const guarded = Object.entries(hooks).map(([name, hook]) => [
    name,
    (...told: unknown[]) => {
      try {
        ;(hook as (...told: unknown[]) => void)(...told)
      } catch (error) {
        log.error({ err: error, hook: name }, 'a hook of the engine threw')
      }
    },
  ])
  return Object.fromEntries(guarded)
}
