/** What executions are told by others: rows of all shards of this engine, read in batches, told once, consumed by a flush. */
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import { Wake } from '../../db/wake.ts'
import type { Input, StartInput } from '../machine/decision.ts'
import type { JsonObject } from '../playbook/definition.ts'
import { isFenced } from './fenced.ts'
import { type EngineLease, REFUSED } from './shards.ts'

export interface InboxRow extends pg.QueryResultRow {
  readonly inbox_id: string
  readonly execution_id: string
  readonly shard_id: number
  readonly kind: string
  readonly body: JsonObject
}

export function inputOf({ kind, body }: InboxRow): Input {
  return { ...body, kind } as unknown as Input
}

/** The version is the playbook's, which the row names by its id only. */
export function startOf({ execution_id, body }: InboxRow, version: number): StartInput {
  return { ...body, kind: 'start', execution_id, version } as unknown as StartInput
}

export interface InboxReading {
  readonly pool: Pool
  readonly log: Logger
  readonly pollMs: number
  lease(): EngineLease
  tell(rows: readonly InboxRow[]): Promise<void>
  /** Executions whose rows stay where they are for now: however many, they keep nobody else from being told. */
  resting(): readonly string[]
}

const BATCH = 2000
/** Told and not consumed: no more are read until some are. */
const MOST_IN_HAND = 6000
const RETRY_MS = 200

export class Inbox {
  private readonly around: InboxReading
  /** Told and not consumed, with their shard. */
  private readonly inHand = new Map<string, number>()
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private stopping = false
  private isFull = false
  /** Whose rows, if the answer under way has any, are not to be told: they were read before the shard was lost. */
  private readonly lostMeanwhile = new Set<number>()

  constructor(around: InboxReading) {
    this.around = around
    this.loop = this.readUntilStopped()
  }

  /** There is something new. */
  now(): void {
    this.wake.now()
  }

  /** Consumed, or to be read again. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.inHand.delete(id)
    if (this.isFull && this.inHand.size < MOST_IN_HAND / 2) this.wake.now()
  }

  /** Others consume its rows now; should it come back, all of them count as new. */
  forgetShard(shard: number): void {
    this.lostMeanwhile.add(shard)
    for (const [id, of] of this.inHand) if (of === shard) this.inHand.delete(id)
  }

  async stop(): Promise<void> {
    this.stopping = true
    this.wake.now()
    await this.loop
  }

  private async readUntilStopped(): Promise<void> {
    while (!this.stopping) {
      const lease = this.around.lease()
      try {
        this.isFull = this.inHand.size >= MOST_IN_HAND
        const more = !this.isFull && !lease.over && (await this.read(lease)) === BATCH
        if (!more && !this.stopping) await this.wake.wait(this.around.pollMs)
      } catch (error) {
        if (isFenced(error)) {
          lease.lose(REFUSED)
          continue
        }
        this.around.log.warn({ err: error }, 'the inbox could not be read; trying again')
        await this.wake.wait(RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  private async read(lease: EngineLease): Promise<number> {
    this.lostMeanwhile.clear()
    const { rows } = await this.around.pool.query<InboxRow>({
      name: 'stagedoor_inbox_read',
      text: 'select inbox_id, execution_id, shard_id, kind, body from noetl.fn_inbox_read($1, $2, $3, $4)',
      values: [lease.engine, BATCH, [...this.inHand.keys()], this.around.resting()],
    })
    if (rows.length === 0 || this.stopping) return 0
    const told = rows.filter(({ shard_id }) => !this.lostMeanwhile.has(shard_id))
    for (const row of told) this.inHand.set(row.inbox_id, row.shard_id)
    await this.around.tell(told)
    return rows.length
  }
}
