/** The executions that this process owns, by shard: read when a shard is taken, told what the inbox says, dropped with it. */
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import type { StartInput } from '../machine/decision.ts'
import { commandsWithHandlers, resumeAfterLoad } from '../machine/resume.ts'
import { SeedFinder } from '../machine/seed.ts'
import type { ExecutionState } from '../machine/state.ts'
import { type ExecutionOutcome, outcomeOf } from '../outcome.ts'
import type { CatalogEntry } from './catalog.ts'
import { DrivenExecution, type DrivenSurroundings } from './driven-execution.ts'
import { isFenced } from './fenced.ts'
import type { Append } from './flush.ts'
import { type InboxRow, inputOf, startOf } from './inbox.ts'
import { checkpointsOf, checkpointsOfShard, commandsOut, logOf, statesOf } from './load.ts'
import { patiently } from './patience.ts'

export interface DriverSurroundings extends Omit<DrivenSurroundings, 'read' | 'ended' | 'stuck'> {
  readonly pool: Pool
  engine(): string
  epochOf(shard: number): string | undefined
  /** Ids that are made from now on come after it. */
  idsAfter(eventId: string): void
  /** Rows that were read may be read again. */
  forget(inboxIds: readonly string[]): void
  forgetShard(shard: number): void
  /** Their log may be ahead of their projection. */
  behind(executions: readonly string[], shard: number): void
  ended(outcome: ExecutionOutcome): void
}

interface OwnedShard {
  readonly epoch: string
  loaded: boolean
  /** Nothing new is begun in it: it goes to another engine. */
  leaving: boolean
  /** What came before it was loaded. */
  early: InboxRow[]
}

const RETRY_MS = 200
const FIRST_BACKOFF_MS = 1000
const LAST_BACKOFF_MS = 60_000
const GONE = new Error('the shard of its execution was lost')
const ENDED = new Error('its execution has ended')
const NONE: ReadonlySet<string> = new Set()

export class Driver {
  private readonly around: DriverSurroundings
  private readonly executions = new Map<string, DrivenExecution>()
  private readonly shards = new Map<number, OwnedShard>()
  /** How long those that could not go on were left alone last time. */
  private readonly backoffs = new Map<string, number>()
  private readonly resting = new Map<string, { timer: NodeJS.Timeout; inHand: string[] }>()
  /** What the inbox says is told in its order, whatever must be read first. */
  private chain: Promise<void> = Promise.resolve()
  private readonly log: Logger

  constructor(around: DriverSurroundings) {
    this.around = around
    this.log = around.log
  }

  get size(): number {
    return this.executions.size
  }

  /** The shard is ours: what has not ended in it goes on. */
  async take(shard: number, epoch: string): Promise<void> {
    const owned: OwnedShard = { epoch, loaded: false, leaving: false, early: [] }
    this.shards.set(shard, owned)
    while (this.shards.get(shard) === owned) {
      try {
        await this.load(shard, owned)
        return
      } catch (error) {
        if (isFenced(error)) return
        this.log.warn({ err: error, shard }, 'the executions of a shard could not be read; trying again')
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  drop(shard: number): void {
    this.shards.delete(shard)
    this.around.forgetShard(shard)
    for (const execution of this.of(shard)) {
      execution.drop(GONE)
      this.executions.delete(execution.id)
    }
  }

  /** Nothing of the inbox is told to it any more. */
  leave(shard: number): void {
    const owned = this.shards.get(shard)
    if (owned !== undefined) owned.leaving = true
  }

  isLeaving(shard: number): boolean {
    return this.shards.get(shard)?.leaving ?? true
  }

  /** Nothing of it runs here or is on the way. */
  isAtRest(shard: number): boolean {
    return this.of(shard).every((execution) => execution.settled && execution.commands.size === 0)
  }

  /** Rows of the inbox, in order. Resolves when all are handed on. */
  tell(rows: readonly InboxRow[]): Promise<void> {
    return this.inTurn(() => rows)
  }

  private inTurn(rowsOf: () => readonly InboxRow[]): Promise<void> {
    this.chain = this.chain.then(async () => {
      const rows = rowsOf()
      await this.tellNow(rows).catch((error) => {
        this.log.error({ err: error }, 'rows of the inbox could not be handed on; they are read again')
        this.around.forget(rows.map((row) => row.inbox_id))
      })
    })
    return this.chain
  }

  /** Those that only wait for something from outside make room. */
  evict(idleMs: number, waitingMs: number): void {
    const now = performance.now()
    for (const execution of this.executions.values()) {
      if (!execution.idle) continue
      const restMs = now - execution.touchedAt
      if (restMs < (onlyWaits(execution.state) ? waitingMs : idleMs)) continue
      execution.snapshot(() => {
        if (execution.idle && this.executions.get(execution.id) === execution) {
          execution.drop(GONE)
          this.executions.delete(execution.id)
        }
      })
    }
  }

  /** Snapshots for whoever comes after us. */
  snapshotAll(): void {
    for (const execution of this.executions.values()) if (execution.settled) execution.snapshot(() => {})
  }

  close(): void {
    for (const { timer } of this.resting.values()) clearTimeout(timer)
    for (const shard of [...this.shards.keys()]) this.drop(shard)
  }

  private of(shard: number): DrivenExecution[] {
    return [...this.executions.values()].filter((execution) => execution.shard === shard)
  }

  private async load(shard: number, owned: OwnedShard): Promise<void> {
    const { pool, catalog } = this.around
    const found = await checkpointsOfShard(pool, this.around.engine(), shard)
    const open = found.filter(({ ended }) => !ended)
    const { states, broken } = await statesOf(pool, open)
    await catalog.read([...states.values()].map((state) => state.catalog_id))
    const out = await this.handedOver(states.values())
    if (this.shards.get(shard) !== owned) return
    for (const state of states.values()) {
      this.around.idsAfter(state.last_event_id)
      if (!onlyWaits(state)) this.goOn(shard, owned.epoch, state, out)
    }
    for (const [id, error] of broken) this.stuck(id, shard, error)
    this.around.behind(
      found.map(({ execution_id }) => execution_id),
      shard,
    )
    await this.tellEarly(owned)
  }

  /** In its turn: what is told later must not come before what came too early. */
  private tellEarly(owned: OwnedShard): Promise<void> {
    return this.inTurn(() => {
      owned.loaded = true
      return owned.early.splice(0)
    })
  }

  /** Commands of these that other engines run, or whose end is in the inbox: they are not to be begun here as well. */
  private async handedOver(states: Iterable<ExecutionState>): Promise<ReadonlySet<string>> {
    const asked: [string, string][] = []
    for (const state of states) {
      const playbook = this.around.catalog.known(state.catalog_id)?.playbook
      if (playbook === undefined || isOver(state)) continue
      for (const id of commandsWithHandlers(playbook, state)) asked.push([state.execution_id, id])
    }
    if (asked.length === 0) return NONE
    return patiently(() => commandsOut(this.around.pool, asked))
  }

  /** One that was read. */
  private goOn(
    shard: number,
    epoch: string,
    state: ExecutionState,
    out: ReadonlySet<string>,
  ): DrivenExecution | undefined {
    this.around.idsAfter(state.last_event_id)
    if (isOver(state)) return undefined
    const entry = this.around.catalog.known(state.catalog_id)
    if (entry === undefined) {
      this.log.error(
        { execution_id: state.execution_id, catalog_id: state.catalog_id },
        'its playbook is gone',
      )
      return undefined
    }
    const execution = this.add(state.execution_id, shard, epoch, entry, state)
    try {
      const { run, timers, go_on } = resumeAfterLoad(entry.playbook, state)
      execution.resume(
        run.filter(({ command_id }) => !out.has(command_id)),
        timers,
        go_on,
      )
    } catch (error) {
      this.setAside(execution, error as Error)
    }
    return execution
  }

  private add(
    id: string,
    shard: number,
    epoch: string,
    entry: CatalogEntry,
    state: ExecutionState | undefined,
  ): DrivenExecution {
    const execution = new DrivenExecution(
      { execution_id: id, shard_id: shard, epoch },
      entry,
      state,
      this.surroundings,
    )
    this.executions.set(id, execution)
    return execution
  }

  private get surroundings(): DrivenSurroundings {
    this.own ??= {
      ...this.around,
      begin: (execution, command) => {
        if (!this.isLeaving(execution.shard)) this.around.begin(execution, command)
      },
      read: async (id) => {
        const [checkpoint] = await checkpointsOf(this.around.pool, [id])
        if (checkpoint === undefined) return undefined
        const { states, broken } = await statesOf(this.around.pool, [checkpoint])
        if (broken.has(id)) throw broken.get(id)
        return states.get(id)
      },
      ended: (execution, last) => {
        this.around.forget(execution.inboxInHand())
        execution.drop(ENDED)
        this.executions.delete(execution.id)
        this.backoffs.delete(execution.id)
        this.around.ended(outcomeOf(last))
      },
      stuck: (execution, error) => this.setAside(execution, error),
    }
    return this.own
  }
  private own: DrivenSurroundings | undefined

  private async tellNow(rows: readonly InboxRow[]): Promise<void> {
    const ready = rows.filter((row) => this.isReady(row))
    await this.around.catalog.read(
      ready.flatMap((row) => (row.kind === 'start' ? [row.body.catalog_id as string] : [])),
    )
    await this.loadMissing(ready)
    for (const row of ready) this.tellOne(row)
  }

  private isReady(row: InboxRow): boolean {
    const owned = this.shards.get(row.shard_id)
    const resting = this.resting.get(row.execution_id)
    if (resting !== undefined) {
      resting.inHand.push(row.inbox_id)
      return false
    }
    if (owned?.loaded && !owned.leaving) return true
    if (owned !== undefined && !owned.leaving) owned.early.push(row)
    else this.around.forget([row.inbox_id])
    return false
  }

  /** Executions that are not in memory, all in one statement. What a `start` is for has no log yet. */
  private async loadMissing(rows: readonly InboxRow[]): Promise<void> {
    const starting = new Set(rows.flatMap((row) => (row.kind === 'start' ? [row.execution_id] : [])))
    const missing = new Map<string, number>()
    for (const { execution_id, shard_id } of rows)
      if (!this.executions.has(execution_id) && !starting.has(execution_id))
        missing.set(execution_id, shard_id)
    if (missing.size === 0) return
    const found = await patiently(() => checkpointsOf(this.around.pool, [...missing.keys()]))
    const { states, broken } = await patiently(() => statesOf(this.around.pool, found))
    for (const [id, error] of broken) this.stuck(id, missing.get(id)!, error)
    await this.around.catalog.read([...states.values()].map((state) => state.catalog_id))
    const out = await this.handedOver(states.values())
    for (const [id, state] of states) {
      const shard = missing.get(id)!
      const epoch = this.shards.get(shard)?.epoch
      if (epoch !== undefined) this.goOn(shard, epoch, state, out)
    }
  }

  private tellOne(row: InboxRow): void {
    const { execution_id: id, shard_id: shard, inbox_id: inboxId } = row
    const epoch = this.shards.get(shard)?.epoch
    if (epoch === undefined) return
    const known = this.executions.get(id)
    // A start that is read twice goes the same way: consumed before the first one's flush, the execution would be lost.
    if (known !== undefined) known.deliver({ input: inputOf(row), inboxId })
    else if (row.kind === 'start') this.start(row, epoch)
    else this.consume(row, epoch)
  }

  private start(row: InboxRow, epoch: string): void {
    const { execution_id: id, shard_id: shard, inbox_id: inboxId } = row
    const entry = this.around.catalog.known(row.body.catalog_id as string)
    if (entry === undefined) {
      this.log.error({ execution_id: id, body: row.body }, 'a start of a playbook that is not there')
      this.consume(row, epoch)
      return
    }
    const input = startOf(row, entry.version)
    const execution = this.add(id, shard, epoch, entry, undefined)
    if (input.rerun_of === undefined) execution.deliver({ input, inboxId })
    else execution.deliverLater(this.seeded(input).then((seeded) => ({ input: seeded, inboxId })))
  }

  /** A rerun begins with what the old execution knew when it came to the step. */
  private async seeded(input: StartInput): Promise<StartInput> {
    const finder = new SeedFinder(input.from_step!)
    for await (const event of logOf(this.around.pool, input.rerun_of!)) finder.add(event)
    return { ...input, seed: finder.seed }
  }

  /** It has ended, or was never known. */
  private consume(row: InboxRow, epoch: string): void {
    this.log.debug({ execution_id: row.execution_id, kind: row.kind }, 'nobody to tell')
    this.around.append({
      execution_id: row.execution_id,
      shard_id: row.shard_id,
      epoch,
      events: [],
      inbox: [row.inbox_id],
      durable: () => {},
      refused: () => this.around.forget([row.inbox_id]),
    } satisfies Append)
  }

  private setAside(execution: DrivenExecution, error: Error): void {
    const inHand = execution.inboxInHand()
    execution.drop(error)
    if (this.executions.get(execution.id) === execution) this.executions.delete(execution.id)
    this.stuck(execution.id, execution.shard, error, inHand)
  }

  /** Left alone for a while, then read again: neither a crash nor a hot loop. */
  private stuck(id: string, shard: number, error: Error, inHand: string[] = []): void {
    const before = this.resting.get(id)
    if (before !== undefined) return void before.inHand.push(...inHand)
    const backoffMs = Math.min(LAST_BACKOFF_MS, 2 * (this.backoffs.get(id) ?? FIRST_BACKOFF_MS / 2))
    this.backoffs.set(id, backoffMs)
    this.log.error({ err: error, execution_id: id, again_in_ms: backoffMs }, 'an execution is stuck')
    const timer = setTimeout(() => {
      this.resting.delete(id)
      this.around.forget(inHand)
      this.readAgain(id, shard).catch((why) => this.stuck(id, shard, why))
    }, backoffMs)
    this.resting.set(id, { timer, inHand })
  }

  private async readAgain(id: string, shard: number): Promise<void> {
    const owned = this.shards.get(shard)
    if (!owned?.loaded) return
    const state = await this.surroundings.read(id)
    if (state === undefined || this.executions.has(id) || this.shards.get(shard) !== owned) return
    await this.around.catalog.read([state.catalog_id])
    const out = await this.handedOver([state])
    if (!this.executions.has(id) && this.shards.get(shard) === owned)
      this.goOn(shard, owned.epoch, state, out)
  }
}

function isOver(state: ExecutionState): boolean {
  return state.status !== 'RUNNING' && state.status !== 'PAUSED'
}

function onlyWaits(state: ExecutionState | undefined): boolean {
  const active = Object.values(state?.active ?? {})
  return active.length > 0 && active.every(({ kind }) => kind === 'wait')
}
