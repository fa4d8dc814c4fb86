/** Wakes steps whose time, event or decision has come. Any engine may ask, whoever drives them; one does at a time. */
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import { Wake } from '../../db/wake.ts'

export interface WaitsWaking {
  readonly pool: Pool
  readonly log: Logger
  readonly pollMs: number
  woken(count: number): void
}

const MOST = 1000
const RETRY_MS = 1000

export class Waits {
  private readonly around: WaitsWaking
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private stopping = false

  constructor(around: WaitsWaking) {
    this.around = around
    this.loop = this.wakeUntilStopped()
  }

  async stop(): Promise<void> {
    this.stopping = true
    this.wake.now()
    await this.loop
  }

  private async wakeUntilStopped(): Promise<void> {
    while (!this.stopping) {
      try {
        const { rows } = await this.around.pool.query<{ woken: number }>({
          name: 'stagedoor_waits_wake',
          text: 'select noetl.fn_waits_wake($1) as woken',
          values: [MOST],
        })
        const { woken } = rows[0]!
        if (woken > 0) this.around.woken(woken)
        if (woken < MOST) await this.wake.wait(this.around.pollMs * (0.8 + 0.4 * Math.random()))
      } catch (error) {
        this.around.log.warn({ err: error }, 'waits could not be looked at; trying again')
        if (!this.stopping) await this.wake.wait(RETRY_MS)
      }
    }
  }
}
