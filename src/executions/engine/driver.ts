/** The executions that this process owns, by shard: read when a shard is taken, told what the inbox says, dropped with it. */
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import { commandsWithHandlers, resumeAfterLoad } from '../machine/resume.ts'
import { type ExecutionState, isOver, onlyWaits } from '../machine/state.ts'
import { type ExecutionOutcome, outcomeOf } from '../outcome.ts'
import { isLoopBusy, untilLoopIsFree } from '../playbook/budget.ts'
import type { CatalogEntry } from './catalog.ts'
import type { Address } from './decided.ts'
import { DrivenExecution, type DrivenSurroundings } from './driven-execution.ts'
import { isFenced } from './fenced.ts'
import type { Append } from './flush.ts'
import { type InboxRow, inputOf, startOf } from './inbox.ts'
import { checkpointsOf, checkpointsOfShard, commandsOut, hasEnded, seeded, statesOf } from './load.ts'
import { patiently } from './patience.ts'
import { Resting } from './resting.ts'

export interface DriverSurroundings
  extends Omit<DrivenSurroundings, 'read' | 'ended' | 'endedBefore' | 'stuck'> {
  readonly pool: Pool
  engine(): string
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
  readonly shard: number
  readonly epoch: string
  loaded: boolean
  /** Nothing new is begun in it: it goes to another engine. */
  leaving: boolean
  /** What came before it was loaded. */
  early: InboxRow[]
}

/** A row, and the ownership under which it was read: it says nothing under a later one. */
interface Told {
  readonly row: InboxRow
  readonly owned: OwnedShard
}

const RETRY_MS = 200
const GONE = new Error('the shard of its execution was lost')
const ENDED = new Error('its execution has ended')
const NONE: ReadonlySet<string> = new Set()

export class Driver {
  private readonly around: DriverSurroundings
  private readonly executions = new Map<string, DrivenExecution>()
  private readonly shards = new Map<number, OwnedShard>()
  private readonly rests: Resting
  /** What the inbox says is told in its order, whatever must be read first. */
  private chain: Promise<void> = Promise.resolve()
  private readonly surroundings: DrivenSurroundings
  private readonly log: Logger

  constructor(around: DriverSurroundings) {
    this.around = around
    this.log = around.log
    this.surroundings = this.asSurroundings()
    this.rests = new Resting({
      log: around.log,
      forget: (inboxIds) => around.forget(inboxIds),
      again: (id, shard) => this.readAgainInTurn(id, shard),
    })
  }

  get size(): number {
    return this.executions.size
  }

  /** Executions that are told nothing for now. */
  get resting(): string[] {
    return this.rests.executions
  }

  /** The shard is ours: what has not ended in it goes on. */
  async take(shard: number, epoch: string): Promise<void> {
    const owned: OwnedShard = { shard, epoch, loaded: false, leaving: false, early: [] }
    this.shards.set(shard, owned)
    while (this.shards.get(shard) === owned) {
      try {
        await this.load(owned)
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
    this.rests.dropShard(shard)
    for (const execution of this.of(shard)) this.remove(execution, GONE)
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
    // Settled now: when their turn comes the shard may have been another's meanwhile, who consumed them, and be ours again.
    const told: Told[] = []
    for (const row of rows) {
      const owned = this.shards.get(row.shard_id)
      if (owned === undefined) this.around.forget([row.inbox_id])
      else told.push({ row, owned })
    }
    return this.tellInTurn(() => told)
  }

  private tellInTurn(rowsOf: () => readonly Told[]): Promise<void> {
    return this.inTurn(async () => {
      const told = rowsOf()
      await this.tellNow(told).catch((error) => {
        this.log.error({ err: error }, 'rows of the inbox could not be handed on; they are read again')
        this.around.forget(told.map(({ row }) => row.inbox_id))
      })
    })
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    this.chain = this.chain.then(work)
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
        if (execution.idle && this.executions.get(execution.id) === execution) this.remove(execution, GONE)
      })
    }
  }

  /** Snapshots for whoever comes after us. */
  snapshotAll(): void {
    for (const execution of this.executions.values()) if (execution.settled) execution.snapshot(() => {})
  }

  close(): void {
    for (const shard of [...this.shards.keys()]) this.drop(shard)
  }

  private of(shard: number): DrivenExecution[] {
    return [...this.executions.values()].filter((execution) => execution.shard === shard)
  }

  private async load(owned: OwnedShard): Promise<void> {
    const { pool, catalog } = this.around
    const { shard } = owned
    const found = await checkpointsOfShard(pool, this.around.engine(), shard)
    const open = found.filter(({ ended }) => !ended)
    const { states, broken } = await statesOf(pool, open)
    await catalog.read([...states.values()].map((state) => state.catalog_id))
    const out = await this.handedOver(states.values())
    if (this.shards.get(shard) !== owned) return
    for (const state of states.values()) {
      this.around.idsAfter(state.last_event_id)
      if (!onlyWaits(state)) this.goOn(owned, state, out)
    }
    for (const [id, error] of broken) this.rests.add(id, shard, error)
    this.around.behind(
      found.map(({ execution_id }) => execution_id),
      shard,
    )
    await this.tellEarly(owned)
  }

  /** In its turn: what is told later must not come before what came too early. */
  private tellEarly(owned: OwnedShard): Promise<void> {
    return this.tellInTurn(() => {
      owned.loaded = true
      return owned.early.splice(0).map((row) => ({ row, owned }))
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
  private goOn(owned: OwnedShard, state: ExecutionState, out: ReadonlySet<string>): void {
    this.around.idsAfter(state.last_event_id)
    if (isOver(state)) return
    const entry = this.around.catalog.known(state.catalog_id)
    if (entry === undefined) {
      this.rests.add(state.execution_id, owned.shard, unknownPlaybook(state.catalog_id))
      return
    }
    const execution = this.add(state.execution_id, owned, entry, state)
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
  }

  private add(
    id: string,
    { shard, epoch }: OwnedShard,
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

  private asSurroundings(): DrivenSurroundings {
    return {
      ...this.around,
      begin: (execution, command) => {
        if (!this.isLeaving(execution.shard)) this.around.begin(execution, command)
      },
      read: async (id) => {
        const [checkpoint] = await checkpointsOf(this.around.pool, [id])
        if (checkpoint === undefined) return (await hasEnded(this.around.pool, id)) ? 'ended' : undefined
        const { states, broken } = await statesOf(this.around.pool, [checkpoint])
        if (broken.has(id)) throw broken.get(id)
        return states.get(id)
      },
      ended: (execution, last) => {
        this.around.forget(execution.inboxInHand())
        this.remove(execution, ENDED)
        this.rests.forget(execution.id)
        this.around.ended(outcomeOf(last))
      },
      endedBefore: (execution) => {
        const inHand = execution.inboxInHand()
        this.remove(execution, ENDED)
        this.consume(execution.address, inHand)
      },
      stuck: (execution, error) => this.setAside(execution, error),
    }
  }

  private async tellNow(told: readonly Told[]): Promise<void> {
    const ready = told.filter((one) => this.isReady(one))
    await this.around.catalog.read(
      ready.flatMap(({ row }) => (row.kind === 'start' ? [row.body.catalog_id as string] : [])),
    )
    await this.loadMissing(ready)
    for (const one of ready) {
      if (isLoopBusy()) await untilLoopIsFree()
      this.tellOne(one)
    }
  }

  private isReady({ row, owned }: Told): boolean {
    // All of its rows were forgotten with the shard.
    if (!this.isOurs(owned)) return false
    if (owned.leaving || this.rests.has(row.execution_id)) this.around.forget([row.inbox_id])
    else if (owned.loaded) return true
    else owned.early.push(row)
    return false
  }

  private isOurs(owned: OwnedShard): boolean {
    return this.shards.get(owned.shard) === owned
  }

  /** Executions that are not in memory, all in one statement. What a `start` is for has no log yet. */
  private async loadMissing(ready: readonly Told[]): Promise<void> {
    const starting = new Set(ready.flatMap(({ row }) => (row.kind === 'start' ? [row.execution_id] : [])))
    const missing = new Map<string, OwnedShard>()
    for (const { row, owned } of ready)
      if (!this.executions.has(row.execution_id) && !starting.has(row.execution_id))
        missing.set(row.execution_id, owned)
    if (missing.size === 0) return
    const found = await patiently(() => checkpointsOf(this.around.pool, [...missing.keys()]))
    const { states, broken } = await patiently(() => statesOf(this.around.pool, found))
    await this.around.catalog.read([...states.values()].map((state) => state.catalog_id))
    const out = await this.handedOver(states.values())
    for (const [id, owned] of missing) {
      if (!this.isOurs(owned)) continue
      const state = states.get(id)
      if (broken.has(id)) this.rests.add(id, owned.shard, broken.get(id)!)
      else if (state !== undefined) this.goOn(owned, state, out)
    }
  }

  private tellOne({ row, owned }: Told): void {
    if (!this.isOurs(owned)) return
    const { execution_id: id, inbox_id: inboxId } = row
    const known = this.executions.get(id)
    // A start that is read twice goes the same way: consumed before the first one's flush, the execution would be lost.
    if (known !== undefined) known.deliver({ input: inputOf(row), inboxId })
    // It could not be read, or was set aside a moment ago: nobody is in memory, and it has not ended.
    else if (this.rests.has(id)) this.around.forget([inboxId])
    else if (row.kind === 'start') this.start(row, owned)
    else this.consume({ execution_id: id, shard_id: owned.shard, epoch: owned.epoch }, [inboxId])
  }

  private start(row: InboxRow, owned: OwnedShard): void {
    const { execution_id: id, inbox_id: inboxId } = row
    const catalogId = row.body.catalog_id as string
    const entry = this.around.catalog.known(catalogId)
    if (entry === undefined) {
      this.rests.add(id, owned.shard, unknownPlaybook(catalogId), [inboxId])
      return
    }
    const input = startOf(row, entry.version)
    const execution = this.add(id, owned, entry, undefined)
    if (input.rerun_of === undefined) execution.deliver({ input, inboxId })
    else execution.deliverLater(seeded(this.around.pool, input).then((whole) => ({ input: whole, inboxId })))
  }

  /** It has ended, or was never known. */
  private consume(address: Address, inbox: readonly string[]): void {
    this.log.debug({ execution_id: address.execution_id, inbox }, 'nobody to tell')
    this.around.append({
      ...address,
      events: [],
      inbox,
      durable: () => {},
      refused: () => this.around.forget(inbox),
    } satisfies Append)
  }

  private setAside(execution: DrivenExecution, error: Error): void {
    // It was dropped meanwhile, with all that it had in hand.
    if (this.executions.get(execution.id) !== execution) return
    const inHand = execution.inboxInHand()
    this.remove(execution, error)
    this.rests.add(execution.id, execution.shard, error, inHand)
  }

  private remove(execution: DrivenExecution, reason: Error): void {
    execution.drop(reason)
    this.executions.delete(execution.id)
  }

  /** In turn: what it is told from now on comes after it is in memory again. */
  private readAgainInTurn(id: string, shard: number): void {
    void this.inTurn(async () => {
      this.rests.over(id)
      await this.readAgain(id, shard).catch((error) => this.rests.add(id, shard, error))
    })
  }

  private async readAgain(id: string, shard: number): Promise<void> {
    const owned = this.shards.get(shard)
    if (!owned?.loaded || this.executions.has(id)) return
    const state = await this.surroundings.read(id)
    if (state === undefined || state === 'ended') return
    await this.around.catalog.read([state.catalog_id])
    const out = await this.handedOver([state])
    if (this.isOurs(owned)) this.goOn(owned, state, out)
  }
}

function unknownPlaybook(catalogId: string): Error {
  return new Error(`its playbook is not in the catalogue: ${catalogId}`)
}
