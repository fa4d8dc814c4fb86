/** Runs commands that are rows, whoever drives their execution: claims them ahead, runs so many at a time, hands in what became of them. */
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import { isConnectionError } from '../../db/transient.ts'
import { Wake } from '../../db/wake.ts'
import { planOf } from '../machine/plan.ts'
import type { Json, JsonObject, Playbook } from '../playbook/definition.ts'
import type { ResultStore } from '../results/store.ts'
import { type CommandOutcome, runCommand } from '../run-command.ts'
import type { Tools } from '../tool.ts'
import type { Catalog } from './catalog.ts'
import { ClaimSize } from './claim-size.ts'
import { CommandEnds } from './command-ends.ts'
import { isFenced } from './fenced.ts'
import type { HandedScope } from './flush.ts'
import { LoopScopes } from './loop-scopes.ts'
import { patiently } from './patience.ts'
import { type EngineLease, REFUSED } from './shards.ts'

export interface WorkerSurroundings {
  readonly pool: Pool
  readonly catalog: Catalog
  readonly tools: Tools
  readonly results: ResultStore
  readonly concurrency: number
  readonly pollMs: number
  readonly log: Logger
  lease(): EngineLease
  /** Ends were written: those of our own shards are in the inbox now. */
  ended(): void
  ran?(step: string, outcome: CommandOutcome['status'], ms: number): void
}

interface Command extends pg.QueryResultRow {
  readonly command_id: string
  readonly execution_id: string
  readonly catalog_id: string
  /** Of an item; a step has a scope instead. */
  readonly loop_id: string | null
  readonly node_name: string
  readonly item_index: number | null
  readonly item: Json | null
  readonly has_item: boolean
  readonly scope: HandedScope | null
  readonly attempt: number
  readonly lease_epoch: number
}

/** What the tools of a command see. */
interface Seen {
  readonly scope: JsonObject
  readonly item?: Json
  readonly index?: number
  readonly cause?: string | null
  readonly parent_ref?: string
}

const COLUMNS =
  'command_id, execution_id, catalog_id, loop_id, node_name, item_index, item, item is not null as has_item, scope, attempt, lease_epoch'
const RETRY_MS = 200
/** By then a server that lost sight of us has noticed, and no claim of ours is still under way. */
const SECOND_LOOK_MS = 5000
const LOST = new Error('the lease of its engine has passed')
const UNWANTED = new Error('its loop or its execution has ended')
const STOPPED = new Error('the engine stops')

export class CommandWorker {
  private readonly around: WorkerSurroundings
  private readonly size: ClaimSize
  private readonly ends: CommandEnds
  private readonly scopes: LoopScopes
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  /** Claimed and not written about: waiting (no controller yet), running, or on the way. */
  private readonly held = new Map<string, AbortController | undefined>()
  private waiting: Command[] = []
  private running = 0
  private looks: number[] = []
  private stopping = false
  private rested: (() => void) | undefined

  constructor(around: WorkerSurroundings) {
    this.around = around
    this.size = new ClaimSize(around.concurrency)
    this.scopes = new LoopScopes(around.pool, around.results)
    this.ends = new CommandEnds({
      pool: around.pool,
      log: around.log,
      written: (ends) => {
        for (const { command_id } of ends) this.held.delete(command_id)
        around.ended()
      },
    })
    this.loop = this.claimUntilStopped()
  }

  /** Those that run, by their ids. */
  get inHand(): readonly string[] {
    return [...this.held].flatMap(([id, controller]) => (controller === undefined ? [] : [id]))
  }

  /** What has ended is in the database. */
  settled(): Promise<void> {
    return this.ends.settled()
  }

  /** There may be new commands, or a new lease. */
  now(): void {
    this.wake.now()
  }

  /** With every heartbeat: what nobody wants any more ends. */
  async dropUnwanted(): Promise<void> {
    if (this.held.size === 0) return
    const lease = this.around.lease()
    const { rows } = await this.around.pool.query<{ command_id: string }>(
      'select command_id from noetl.fn_command_cancelled($1, $2) command_id',
      [lease.engine, [...this.held.keys()]],
    )
    if (lease.over) return
    const unwanted = new Set(rows.map((row) => row.command_id))
    if (unwanted.size === 0) return
    this.waiting = this.waiting.filter(({ command_id }) => !unwanted.has(command_id))
    for (const id of unwanted) this.abandon(id, UNWANTED)
  }

  /** The lease is gone, and with it everything that was claimed. */
  lose(): void {
    this.waiting = []
    this.ends.drop()
    this.looks = []
    for (const id of [...this.held.keys()]) this.abandon(id, LOST)
  }

  /** What waits goes back with the lease; what runs may end in this time. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true
    this.wake.now()
    for (const { command_id } of this.waiting) this.held.delete(command_id)
    this.waiting = []
    await this.loop
    if (this.running > 0) await this.rest(graceMs)
    for (const controller of this.held.values()) controller?.abort(STOPPED)
    await this.ends.settled()
  }

  private async rest(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.rested = resolve
      timer = setTimeout(resolve, graceMs)
    })
    clearTimeout(timer)
  }

  private abandon(id: string, reason: Error): void {
    this.held.get(id)?.abort(reason)
    this.held.delete(id)
  }

  private async claimUntilStopped(): Promise<void> {
    while (!this.stopping) {
      const lease = this.around.lease()
      if (lease.over) {
        await this.wake.wait(this.around.pollMs)
        continue
      }
      try {
        await this.adoptUnknown(lease)
        const limit = this.size.next(this.running, this.waiting.length)
        const isShort = limit === 0 || (await this.claim(lease, limit)) < limit
        if (isShort && !this.stopping) await this.wake.wait(limit === 0 ? undefined : this.around.pollMs)
      } catch (error) {
        if (isFenced(error)) {
          lease.lose(REFUSED)
          continue
        }
        if (isConnectionError(error)) this.looks = [0, performance.now() + SECOND_LOOK_MS]
        this.around.log.warn({ err: error }, 'no commands could be claimed; trying again')
        await this.wake.wait(RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  private async claim(lease: EngineLease, limit: number): Promise<number> {
    const { rows } = await this.around.pool.query<Command>({
      name: 'stagedoor_command_claim',
      text: `select ${COLUMNS} from noetl.fn_command_claim($1, $2)`,
      values: [lease.engine, limit],
    })
    await this.accept(lease, rows)
    return rows.length
  }

  /** After a claim without an answer: it may have counted, and then its commands are ours and nobody runs them. */
  private async adoptUnknown(lease: EngineLease): Promise<void> {
    if (this.looks.length === 0 || this.looks[0]! > performance.now()) return
    const { rows } = await this.around.pool.query<Command>(
      `select ${COLUMNS} from noetl.command where leased_by = $1`,
      [lease.engine],
    )
    this.looks.shift()
    await this.accept(
      lease,
      rows.filter(({ command_id }) => !this.held.has(command_id)),
    )
  }

  private async accept(lease: EngineLease, commands: readonly Command[]): Promise<void> {
    // Of a lease that has ended: others have them, or will.
    if (commands.length === 0 || this.stopping || lease.over) return
    for (const { command_id } of commands) this.held.set(command_id, undefined)
    this.waiting.push(...commands)
    // All at once; what fails here each of them reads for itself.
    await this.around.catalog.read(commands.map(({ catalog_id }) => catalog_id)).catch(() => {})
    this.begin()
  }

  private begin(): void {
    while (this.running < this.around.concurrency && this.waiting.length > 0) {
      if (!this.around.lease().mayBegin) return
      void this.run(this.waiting.shift()!)
    }
    if (!this.stopping && this.size.next(this.running, this.waiting.length) > 0) this.wake.now()
  }

  private async run(command: Command): Promise<void> {
    this.running++
    const began = performance.now()
    const controller = new AbortController()
    const { engine } = this.around.lease()
    this.held.set(command.command_id, controller)
    const outcome = await this.outcomeOf(command, controller.signal)
    this.running--
    this.size.took(performance.now() - began)
    if (!controller.signal.aborted && this.held.get(command.command_id) === controller) {
      this.around.ran?.(command.node_name, outcome.status, performance.now() - began)
      this.ends.add({ engine, command_id: command.command_id, lease_epoch: command.lease_epoch, outcome })
    }
    if (this.running === 0) this.rested?.()
    this.begin()
  }

  private async outcomeOf(command: Command, signal: AbortSignal): Promise<CommandOutcome> {
    const { command_id, execution_id, node_name, attempt } = command
    try {
      const { scope, cause = null, ...place } = await this.seenBy(command)
      const playbook = await this.playbookOf(command, signal)
      const about = scope.execution as { started_by: string; workspace: string | null }
      return await runCommand({
        playbook,
        step: planOf(playbook).steps.get(node_name)!.step,
        scope,
        ...place,
        tools: this.around.tools,
        results: this.around.results,
        context: {
          execution_id,
          command_id,
          playbook: playbook.name,
          step: node_name,
          attempt,
          ...(place.index !== undefined && { index: place.index }),
          workspace_id: about.workspace,
          started_by: about.started_by,
          cause,
          signal,
          log: this.around.log,
        },
      })
    } catch (error) {
      return { status: 'failed', error: (error as Error).message, retryable: true }
    }
  }

  private async playbookOf({ catalog_id }: Command, signal: AbortSignal): Promise<Playbook> {
    const { catalog } = this.around
    await patiently(
      () => catalog.read([catalog_id]),
      () => !signal.aborted,
    )
    const known = catalog.known(catalog_id)
    if (known === undefined) throw new Error(`its playbook is not in the catalogue: ${catalog_id}`)
    return known.playbook
  }

  private async seenBy(command: Command): Promise<Seen> {
    const { execution_id, loop_id, item_index, scope } = command
    if (loop_id === null) {
      const value = await patiently(() => this.around.results.load(scope!))
      const { cause, parent_ref } = scope!
      return { scope: value as JsonObject, cause, ...(parent_ref !== undefined && { parent_ref }) }
    }
    const { items, scope: known, parent_ref } = await this.scopes.of(execution_id, loop_id)
    const index = item_index!
    const item = command.has_item ? command.item : ((await items())[index] ?? null)
    return { scope: known, item, index, ...(parent_ref !== undefined && { parent_ref }) }
  }
}
