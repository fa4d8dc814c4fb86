/** What became of commands, on its way to their executions: one statement in flight, the others ride the next. */
import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import { isTransient } from '../../db/transient.ts'
import { Wake } from '../../db/wake.ts'
import type { CommandOutcome } from '../run-command.ts'
import { storable } from '../storable.ts'

export interface CommandEnd {
  readonly engine: string
  readonly command_id: string
  readonly lease_epoch: number
  readonly outcome: CommandOutcome
}

export interface EndsWriting {
  readonly pool: Pool
  readonly log: Logger
  /** It is in the inbox, or was not ours any more. */
  written(ends: readonly CommandEnd[]): void
}

const MOST = 1000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 1000

export class CommandEnds {
  private readonly to: EndsWriting
  private buffer: CommandEnd[] = []
  private flushing: Promise<void> | undefined
  private readonly retry = new Wake()
  private dropped = false

  constructor(to: EndsWriting) {
    this.to = to
  }

  add(end: CommandEnd): void {
    this.buffer.push(end)
    this.flushing ??= this.flush()
  }

  async settled(): Promise<void> {
    while (this.flushing) await this.flushing
  }

  /** The lease has passed: none of it would count. */
  drop(): void {
    this.buffer = []
    this.dropped = true
    this.retry.now()
  }

  private async flush(): Promise<void> {
    await setImmediate()
    try {
      while (this.buffer.length > 0) {
        this.dropped = false
        await this.write(this.buffer.splice(0, MOST))
      }
    } finally {
      // In the same breath as the last look at the buffer: what is added a moment later begins a flush of its own.
      this.flushing = undefined
    }
  }

  private async write(ends: readonly CommandEnd[]): Promise<void> {
    for (let delayMs = FIRST_RETRY_MS; !this.dropped; delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)) {
      try {
        const outcomes = ends.map(({ command_id, lease_epoch, outcome }) => ({
          command_id,
          lease_epoch,
          ...outcome,
        }))
        await this.to.pool.query({
          name: 'stagedoor_command_end',
          text: 'select noetl.fn_command_end($1, $2)',
          values: [ends[0]!.engine, JSON.stringify(outcomes)],
        })
        break
      } catch (error) {
        if (!isTransient(error)) return this.divide(ends, error as Error)
        this.to.log.warn({ err: error }, 'ends of commands cannot be written just now; trying again')
        await this.retry.wait(delayMs)
      }
    }
    this.to.written(ends)
  }

  /** One that the database refuses must not keep the others from being written. */
  private async divide(ends: readonly CommandEnd[], error: Error): Promise<void> {
    if (ends.length === 1) return this.refused(ends[0]!, error)
    const half = ends.length >> 1
    await this.write(ends.slice(0, half))
    await this.write(ends.slice(half))
  }

  private async refused(end: CommandEnd, error: Error): Promise<void> {
    this.to.log.error({ err: error, command_id: end.command_id }, 'the end of a command is refused')
    if (end.outcome.status === 'failed') return this.to.written([end])
    const reason = storable(`its result cannot be stored: ${error.message}`)
    await this.write([{ ...end, outcome: { status: 'failed', error: reason, retryable: false } }])
  }
}
