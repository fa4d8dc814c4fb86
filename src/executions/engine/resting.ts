/** Executions that could not go on: each is left alone for a while, then read again. Neither a crash nor a hot loop. */
import type { Logger } from 'pino'

export interface RestSurroundings {
  readonly log: Logger
  /** Rows of the inbox are not read while their execution rests: those in hand are read again afterwards. */
  forget(inboxIds: readonly string[]): void
  again(execution: string, shard: number): void
}

const FIRST_MS = 1000
const LAST_MS = 60_000

export class Resting {
  private readonly around: RestSurroundings
  private readonly known = new Map<string, { readonly shard: number; readonly timer: NodeJS.Timeout }>()
  /** How long each was left alone last time. */
  private readonly backoffs = new Map<string, number>()

  constructor(around: RestSurroundings) {
    this.around = around
  }

  get executions(): string[] {
    return [...this.known.keys()]
  }

  has(execution: string): boolean {
    return this.known.has(execution)
  }

  add(execution: string, shard: number, error: Error, inHand: readonly string[] = []): void {
    this.around.forget(inHand)
    if (this.known.has(execution)) return
    const backoffMs = Math.min(LAST_MS, 2 * (this.backoffs.get(execution) ?? FIRST_MS / 2))
    this.backoffs.set(execution, backoffMs)
    this.around.log.error(
      { err: error, execution_id: execution, again_in_ms: backoffMs },
      'an execution is stuck',
    )
    const timer = setTimeout(() => this.around.again(execution, shard), backoffMs)
    this.known.set(execution, { shard, timer })
  }

  /** It is about to be read again. */
  over(execution: string): void {
    this.known.delete(execution)
  }

  /** It has ended. */
  forget(execution: string): void {
    this.backoffs.delete(execution)
  }

  dropShard(shard: number): void {
    for (const [execution, rest] of this.known) {
      if (rest.shard !== shard) continue
      clearTimeout(rest.timer)
      this.known.delete(execution)
    }
  }
}
