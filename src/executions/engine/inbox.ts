/**
 * The inbox of executions: rows of all shards of this engine, read in batches, delivered once, consumed by a flush. At the end
 * WaitPoller, which puts rows into it for steps that waited.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import type { JsonObject } from '../../kernel/json.ts'
import type { Pool } from '../../kernel/postgres/connection.ts'
import { LEASE_REFUSED } from '../../runtime/lease.ts'
import { Wake } from '../../runtime/wake.ts'
import type { Input, StartInput } from '../machine/decision.ts'
import { type EngineLease, isFenced } from './shards.ts'

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

interface InboxDeps {
  readonly pool: Pool
  readonly log: Logger
  /** How long to wait without a wake-up; undefined: for as long as it takes. */
  pollMs(): number | undefined
  lease(): EngineLease
  deliver(rows: readonly InboxRow[]): Promise<void>
  /** Executions whose rows are not read for now: however many, they do not hold up the others. */
  stuck(): readonly string[]
}

const INBOX_BATCH = 2000
/** Delivered and not consumed: no more are read until some are. */
const MAX_UNCONSUMED = 6000
const INBOX_RETRY_MS = 200
const READ_AGAIN_MS = 250
/** An engine without a lease has nothing to read. */
const LEASE_WAIT_MS = 250

export class Inbox {
  private readonly deps: InboxDeps
  /** Rows delivered and not consumed, with their shard. */
  private readonly unconsumed = new Map<string, number>()
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private stopping = false
  private isFull = false
  private again: NodeJS.Timeout | undefined
  /** Shards lost while a read is under way: rows of them in its answer are not delivered. */
  private readonly lostMeanwhile = new Set<number>()

  constructor(deps: InboxDeps) {
    this.deps = deps
    this.loop = this.readUntilStopped()
  }

  /** There is something new. */
  now(): void {
    this.wake.now()
  }

  /** Consumed. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.unconsumed.delete(id)
    if (this.isFull && this.unconsumed.size < MAX_UNCONSUMED / 2) this.wake.now()
  }

  /** Not consumed: read again in a moment. */
  readAgain(ids: readonly string[]): void {
    if (ids.length === 0) return
    this.forget(ids)
    this.again ??= setTimeout(() => {
      this.again = undefined
      this.wake.now()
    }, READ_AGAIN_MS)
  }

  /** Another engine consumes its rows now; should the shard come back, all of them count as new. */
  forgetShard(shard: number): void {
    this.lostMeanwhile.add(shard)
    for (const [id, of] of this.unconsumed) if (of === shard) this.unconsumed.delete(id)
  }

  async stop(): Promise<void> {
    this.stopping = true
    clearTimeout(this.again)
    this.wake.now()
    await this.loop
  }

  private async readUntilStopped(): Promise<void> {
    while (!this.stopping) {
      const lease = this.deps.lease()
      try {
        this.isFull = this.unconsumed.size >= MAX_UNCONSUMED
        const more = !this.isFull && !lease.over && (await this.read(lease)) === INBOX_BATCH
        if (!more && !this.stopping) await this.wake.wait(lease.over ? LEASE_WAIT_MS : this.deps.pollMs())
      } catch (error) {
        if (isFenced(error)) {
          lease.lose(LEASE_REFUSED)
          continue
        }
        this.deps.log.warn({ err: error }, 'reading the inbox failed; will be retried')
        await this.wake.wait(INBOX_RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  private async read(lease: EngineLease): Promise<number> {
    this.lostMeanwhile.clear()
    const { rows } = await this.deps.pool.query<InboxRow>({
      name: 'stagedoor_inbox_read',
      text: 'select inbox_id, execution_id, shard_id, kind, body from noetl.fn_inbox_read($1, $2, $3, $4)',
      values: [lease.engine, INBOX_BATCH, [...this.unconsumed.keys()], this.deps.stuck()],
    })
    if (rows.length === 0 || this.stopping) return 0
    const ours = rows.filter(({ shard_id }) => !this.lostMeanwhile.has(shard_id))
    for (const row of ours) this.unconsumed.set(row.inbox_id, row.shard_id)
    await this.deps.deliver(ours)
    return rows.length
  }
}

interface WaitPollerDeps {
  readonly pool: Pool
  readonly log: Logger
  /** How long to wait while something waits for an event or an approval. */
  readonly pollMs: number
  /** Whether this process does it now. */
  leads(): boolean
  /** Whether it is told of new waits and of times that have come: it needs no poll while nothing waits for an event. */
  isTold(): boolean
  onWake(count: number): void
}

const WAITS_BATCH = 1000
const WAITS_RETRY_MS = 1000
const MAX_TIMER_MS = 3_600_000
/** Milliseconds until waits are to be looked at: 0 while some wait for an event or an approval, null while nothing waits. */
export const WAITS_DUE_SQL = 'noetl.fn_waits_due_in()'

/** Ends waits whose time, event or decision has come, also of executions that other engines drive. One process leads it. */
export class WaitPoller {
  private readonly deps: WaitPollerDeps
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private stopping = false

  constructor(deps: WaitPollerDeps) {
    this.deps = deps
    this.loop = this.wakeUntilStopped()
  }

  /** There are new waits, a time has come, or this process leads now. */
  now(): void {
    this.wake.now()
  }

  async stop(): Promise<void> {
    this.stopping = true
    this.wake.now()
    await this.loop
  }

  private async wakeUntilStopped(): Promise<void> {
    while (!this.stopping) {
      if (!this.deps.leads()) {
        await this.wake.wait(this.deps.isTold() ? undefined : this.deps.pollMs)
        continue
      }
      try {
        const { rows } = await this.deps.pool.query<{ woken: number; due_ms: number | null }>({
          name: 'stagedoor_waits_wake',
          text: `select w.woken, ${WAITS_DUE_SQL} as due_ms from noetl.fn_waits_wake($1) as w (woken)`,
          values: [WAITS_BATCH],
        })
        const { woken, due_ms } = rows[0]!
        if (woken > 0) this.deps.onWake(woken)
        if (woken < WAITS_BATCH && !this.stopping) await this.wake.wait(this.waitMs(due_ms))
      } catch (error) {
        this.deps.log.warn({ err: error }, 'polling the waits failed; will be retried')
        if (!this.stopping) await this.wake.wait(WAITS_RETRY_MS)
      }
    }
  }

  /** Events are polled for; times are known. */
  private waitMs(dueMs: number | null): number | undefined {
    const pollMs = this.deps.pollMs * (0.8 + 0.4 * Math.random())
    if (dueMs === 0 || !this.deps.isTold()) return pollMs
    return dueMs === null ? undefined : Math.min(dueMs, MAX_TIMER_MS)
  }
}
