/**
 * Runs a scenario on the machine alone: a log, an inbox, commands, waits and results in memory, an owner that crashes, messages
 * that come twice and late. As in the engine the state is ahead of the log: a decision may be flushed after later decisions were
 * made, and takes effect then. Which of the things that can happen happens next is chance, from the scenario's seed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ExecutionEvent, ResultValue } from '../../../src/executions/event.ts'
import { decide, resumeAfterLoad } from '../../../src/executions/machine/decide.ts'
import {
  type CommandEndedInput,
  type Decision,
  type Input,
  type LocalCommand,
  type NewCommand,
  type NewWait,
  type Ports,
  type StartInput,
  StoreNeeded,
  type Timer,
  ValueNeeded,
} from '../../../src/executions/machine/decision.ts'
import { scopeOf } from '../../../src/executions/machine/plan.ts'
import { type ExecutionState, fold } from '../../../src/executions/machine/state.ts'
import type { Playbook } from '../../../src/executions/playbook/definition.ts'
import type { Json } from '../../../src/kernel/json.ts'
import type { Scenario } from './scenarios.ts'
import { Script } from './script.ts'
import { playbookOf } from './sketch.ts'

/** What a scenario left behind: of the machine in memory, or of the real engine. */
export interface Ran {
  readonly root: string
  readonly logs: ReadonlyMap<string, readonly ExecutionEvent[]>
  /** The execution was cancelled; it may have ended before. */
  readonly cancelled: boolean
  /** Rows that nobody will ever take away. */
  readonly leftovers: readonly string[]
}

export type Runner = (scenario: Scenario) => Ran | Promise<Ran>

const MOST_TURNS = 200_000

export const runInMemory: Runner = (scenario) => new World(scenario).run()

interface Durable {
  readonly log: ExecutionEvent[]
  snapshot: string | undefined
  readonly inbox: Input[]
  ended: boolean
}

/** What the owner of an execution has in memory. */
interface Owned {
  state: ExecutionState | undefined
  readonly running: LocalCommand[]
  readonly timers: Timer[]
  /** The `through` of each continue that is to be delivered. */
  readonly continues: string[]
  /** Decided and not flushed, in order. */
  readonly written: Written[]
  /** How many rows of the inbox these follow from: its first ones. */
  delivered: number
}

interface Written {
  readonly decision: Decision
  readonly snapshot: string | undefined
  /** From the inbox, or the end of a command that ran here; other inputs do not come twice. */
  readonly input?: Input
  readonly isRow: boolean
}

class World {
  readonly #scenario: Scenario
  readonly #playbooks: ReadonlyMap<string, Playbook>
  readonly #script: Script
  readonly #executions = new Map<string, Durable>()
  readonly #owned = new Map<string, Owned>()
  readonly #commands = new Map<string, NewCommand & { execution_id: string }>()
  readonly #waits = new Map<string, NewWait & { execution_id: string }>()
  readonly #results = new Map<string, Json>()
  readonly #loaded = new Set<string>()
  readonly #seen: { execution_id: string; input: Input }[] = []
  #now = Date.parse('2026-01-01T00:00:00Z')
  #id = 1_000
  #chance: number
  #cancelled = false

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.#script = new Script(scenario.seed, scenario.failures)
    this.#playbooks = new Map(scenario.sketches.map((sketch) => [sketch.name, playbookOf(sketch)]))
    this.#chance = scenario.seed | 1
  }

  run(): Ran {
    const root = this.#nextId()
    this.#start(root, { playbook: this.#scenario.sketches[0]!.name, salt: 'r' }, null, 0)
    for (let turn = 0; this.#turn(root); turn++) {
      if (turn > MOST_TURNS) throw new Error('it does not come to an end')
    }
    for (const execution_id of this.#executions.keys()) this.#compareFold(execution_id)
    return {
      root,
      logs: new Map([...this.#executions].map(([id, { log }]) => [id, log])),
      cancelled: this.#cancelled,
      leftovers: [
        ...[...this.#commands.keys()].map((id) => `command ${id}`),
        ...[...this.#waits.keys()].map((id) => `wait ${id}`),
      ],
    }
  }

  /** One thing happens; false when nothing can. */
  #turn(root: string): boolean {
    const { chaos } = this.#scenario
    // Before the actions are listed: what an owner has after a crash is refused by the database.
    if (this.#lucky(chaos.crash)) this.#crash()
    const actions = this.#possible()
    if (actions.length === 0) return this.#waitForTime(root)
    if (this.#lucky(chaos.pause))
      this.#tell(this.#any([...this.#executions.keys()]), { kind: 'pause', by: 'p' })
    if (this.#lucky(chaos.pause * 2)) this.#resumeAll()
    if (this.#lucky(chaos.cancel)) this.#cancelRoot(root)
    if (this.#lucky(chaos.again) && this.#seen.length > 0) {
      const { execution_id, input } = this.#any(this.#seen)
      this.#tell(execution_id, input)
    }
    if (this.#lucky(0.1)) this.#now += 20
    this.#any(actions)()
    return true
  }

  #possible(): (() => void)[] {
    const actions: (() => void)[] = []
    for (const [execution_id, { inbox }] of this.#executions) {
      const owned = this.#own(execution_id)
      if (inbox.length > owned.delivered) actions.push(() => this.#readInbox(execution_id, owned))
      if (owned.written.length > 0) actions.push(() => this.#flushNext(execution_id, owned))
      if (owned.running.length > 0) actions.push(() => this.#runLocally(execution_id, owned))
      if (owned.continues.length > 0) actions.push(() => this.#continue(execution_id, owned))
      if (owned.timers.some(({ at }) => this.#isDue(at))) actions.push(() => this.#ring(execution_id, owned))
    }
    const due = [...this.#commands.values()].filter((command) => this.#isDue(command.process_after))
    if (due.length > 0) actions.push(() => this.#work(this.#any(due)))
    const wakeable = [...this.#waits.entries()].filter(
      ([, wait]) => this.#comes(wait) || this.#isDue(wait.wake_at),
    )
    if (wakeable.length > 0) actions.push(() => this.#wake(...this.#any(wakeable)))
    return actions
  }

  /** Nothing else can happen: time passes to the next moment that somebody waits for. */
  #waitForTime(root: string): boolean {
    const moments = [
      ...[...this.#owned.values()].flatMap(({ timers }) => timers.map(({ at }) => at)),
      ...[...this.#commands.values()].flatMap(({ process_after }) => process_after ?? []),
      ...[...this.#waits.values()].flatMap(({ wake_at }) => wake_at ?? []),
    ].map((at) => Date.parse(at))
    if (moments.length > 0) {
      this.#now = Math.max(this.#now, Math.min(...moments))
      return true
    }
    if (this.#resumeAll()) return true
    const stuck = [...this.#executions].filter(([, { ended }]) => !ended).map(([id]) => id)
    if (stuck.length > 0) throw new Error(`stuck: ${stuck.join(', ')} of root ${root}`)
    return false
  }

  #readInbox(execution_id: string, owned: Owned): void {
    const input = this.#executions.get(execution_id)!.inbox[owned.delivered]!
    this.#decide(execution_id, input, { input, isRow: true })
  }

  #runLocally(execution_id: string, owned: Owned): void {
    const command = this.#any(owned.running)
    const { node_id, step, index, attempt, command_id, loop_id } = command
    const scope = this.#withValues(() =>
      scopeOf(this.#playbookOf(execution_id), owned.state!, command, this.#ports()),
    )
    owned.running.splice(owned.running.indexOf(command), 1)
    if (scope === undefined) return
    if (index !== undefined && scope.item !== index * 10)
      throw new Error(`item ${index} is ${JSON.stringify(scope.item)}`)
    const ended = this.#ended(execution_id, node_id, step, index, attempt)
    const input: CommandEndedInput = { kind: 'command_ended', node_id, attempt, command_id, ...ended }
    const whole = index === undefined ? input : { ...input, index, loop_id: loop_id! }
    this.#decide(execution_id, whole, { input: whole, isRow: false })
  }

  #continue(execution_id: string, owned: Owned): void {
    this.#decide(execution_id, { kind: 'continue', through: owned.continues.shift()! })
  }

  #ring(execution_id: string, owned: Owned): void {
    const timer = owned.timers.find(({ at }) => this.#isDue(at))!
    owned.timers.splice(owned.timers.indexOf(timer), 1)
    const { at: _, ...place } = timer
    this.#decide(execution_id, { kind: 'due', ...place })
  }

  #work(command: NewCommand & { execution_id: string }): void {
    const { execution_id, command_id, node_id, node_name, item_index: index, attempt, loop_id } = command
    this.#commands.delete(command_id)
    if (command.item !== index * 10) throw new Error(`item ${index} is ${JSON.stringify(command.item)}`)
    const ended = this.#ended(execution_id, node_id, node_name, index, attempt)
    this.#tell(execution_id, {
      kind: 'command_ended',
      command_id,
      node_id,
      loop_id,
      index,
      attempt,
      ...ended,
    })
  }

  #wake(key: string, { execution_id, node_id, kind, ...wait }: NewWait & { execution_id: string }): void {
    this.#waits.delete(key)
    const comes = this.#comes({ execution_id, node_id, kind, ...wait })
    this.#tell(execution_id, {
      kind: 'woken',
      node_id,
      ...(kind === 'timer'
        ? { status: 'elapsed' }
        : comes
          ? { status: 'received', event_id: 'e', payload: { fine: true } }
          : { status: 'timed_out' }),
    })
  }

  #comes({ execution_id, node_id, kind }: NewWait & { execution_id: string }): boolean {
    if (kind === 'timer') return false
    const { playbook, salt } = this.#about(execution_id)
    const [step, entry] = node_id.split('#') as [string, string]
    return this.#script.comes(playbook, salt, step, Number(entry))
  }

  #ended(execution_id: string, node_id: string, step: string, index: number | undefined, attempt: number) {
    const entry = Number(node_id.split('#')[1])
    const end = this.#script.ends({ ...this.#about(execution_id), step, entry, index, attempt })
    if (end.status === 'failed')
      return { status: 'failed' as const, error: 'as scripted', retryable: end.retryable }
    return { status: 'completed' as const, result: this.#store(end.value) }
  }

  /** The owner may die before the flush. */
  #decide(
    execution_id: string,
    input: Input,
    from: Pick<Written, 'input' | 'isRow'> = { isRow: false },
  ): void {
    const owned = this.#own(execution_id)
    const durable = this.#executions.get(execution_id)!
    const name = durable.log[0] ? this.#about(execution_id).playbook : this.#namedIn(execution_id)
    const before = this.#lucky(0.05) ? JSON.stringify(owned.state) : undefined
    let aborted = false
    const decision = this.#withValues(
      () => decide(this.#playbooks.get(name)!, owned.state, input, this.#ports()),
      () => {
        aborted = true
        if (before !== undefined && !isDeepStrictEqual(owned.state, before && JSON.parse(before))) {
          throw new Error('a decision that was given up has left something behind')
        }
      },
    )
    owned.state = decision.state
    if (this.#lucky(aborted ? 0.3 : this.#scenario.chaos.crash / 4)) {
      this.#owned.delete(execution_id)
      return
    }
    const snapshot = this.#lucky(0.2) && decision.state ? asJsonb(decision.state) : undefined
    owned.written.push({ ...from, decision, snapshot })
    if (from.isRow) owned.delivered++
    if (this.#lucky(0.5)) while (owned.written.length > 0) this.#flushNext(execution_id, owned)
  }

  #flushNext(execution_id: string, owned: Owned): void {
    const durable = this.#executions.get(execution_id)!
    const { decision, snapshot, input, isRow } = owned.written.shift()!
    this.#flush(execution_id, durable, owned, decision)
    if (snapshot !== undefined) durable.snapshot = snapshot
    if (isRow) {
      owned.delivered--
      durable.inbox.shift()
    }
    if (input && input.kind !== 'cancel' && input.kind !== 'pause' && input.kind !== 'resume')
      this.#seen.push({ execution_id, input })
  }

  #flush(execution_id: string, durable: Durable, owned: Owned, decision: Decision): void {
    durable.log.push(...decision.events.map((event) => JSON.parse(JSON.stringify(event)) as ExecutionEvent))
    for (const { loop_id } of decision.commands_cancelled) this.#dropCommands(execution_id, loop_id)
    for (const command of decision.commands)
      this.#commands.set(command.command_id, { ...command, execution_id })
    for (const { node_id } of decision.waits_ended) this.#waits.delete(`${execution_id} ${node_id}`)
    for (const wait of decision.waits)
      this.#waits.set(`${execution_id} ${wait.node_id}`, { ...wait, execution_id })
    for (const { loop_id, ref_id } of decision.collect) this.#collect(durable.log, loop_id, ref_id)
    for (const { execution_id: child, playbook, args, depth, ...place } of decision.children) {
      const { cause_event_id: _, playbook: __, ...parent } = { ...place, playbook }
      this.#start(child, { playbook, salt: args.salt as string }, { execution_id, ...parent }, depth)
    }
    for (const { execution_id: to, kind, body } of decision.messages)
      this.#tell(to, { kind, ...body } as unknown as Input)
    owned.running.push(...decision.run)
    owned.timers.push(...decision.timers)
    if (decision.continues) owned.continues.push(decision.events.at(-1)!.event_id)
    if (decision.ended) {
      durable.ended = true
      owned.timers.length = 0
    }
  }

  /** Some were running at that moment, and their outcomes come later. */
  #dropCommands(execution_id: string, loop_id: string | null): void {
    for (const command of [...this.#commands.values()]) {
      if (command.execution_id !== execution_id || (loop_id !== null && command.loop_id !== loop_id)) continue
      if (this.#lucky(0.3)) this.#work(command)
      this.#commands.delete(command.command_id)
    }
  }

  #collect(log: readonly ExecutionEvent[], loop_id: string, ref_id: string): void {
    const started = log.find(
      ({ event_type, meta }) => event_type === 'loop.started' && meta!.loop_id === loop_id,
    )!
    const results: Json[] = Array.from({ length: started.meta!.collection_size as number }, () => null)
    for (const { meta, result, event_type } of log) {
      if (meta?.loop_id !== loop_id || !['command.completed', 'loop.shard.done'].includes(event_type))
        continue
      results[meta.iter_index as number] =
        (result!.value as Json) ?? this.#results.get(result!.ref as string)!
    }
    this.#results.set(ref_id, results)
  }

  #own(execution_id: string): Owned {
    let owned = this.#owned.get(execution_id)
    if (owned !== undefined) return owned
    const state = this.#load(execution_id)
    owned = { state, running: [], timers: [], continues: [], written: [], delivered: 0 }
    this.#owned.set(execution_id, owned)
    if (owned.state === undefined || this.#executions.get(execution_id)!.ended) return owned
    const { run, timers, continues } = resumeAfterLoad(this.#playbookOf(execution_id), owned.state)
    owned.running.push(...run)
    owned.timers.push(...timers)
    if (continues) owned.continues.push(state!.last_event_id)
    return owned
  }

  /** From the snapshot and what came after it, or from the beginning. */
  #load(execution_id: string): ExecutionState | undefined {
    const { log, snapshot } = this.#executions.get(execution_id)!
    let state = snapshot && this.#lucky(0.7) ? (JSON.parse(snapshot) as ExecutionState) : undefined
    for (const event of log) state = fold(state, event)
    return state
  }

  #crash(): void {
    this.#loaded.clear()
    if (this.#lucky(0.3)) this.#owned.clear()
    else this.#owned.delete(this.#any([...this.#executions.keys()]))
  }

  #compareFold(execution_id: string): void {
    const { log } = this.#executions.get(execution_id)!
    let state: ExecutionState | undefined
    for (const event of log) state = fold(state, event)
    const { state: live } = this.#own(execution_id)
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(state)), JSON.parse(JSON.stringify(live)))) {
      throw new Error(`the state of ${execution_id} is not the fold of its log`)
    }
  }

  #start(
    execution_id: string,
    about: { playbook: string; salt: string },
    parent: StartInput['parent'],
    depth: number,
  ) {
    if (!this.#executions.has(execution_id)) {
      this.#executions.set(execution_id, { log: [], snapshot: undefined, inbox: [], ended: false })
    }
    const start: StartInput & { playbook: string } = {
      kind: 'start',
      playbook: about.playbook,
      execution_id,
      catalog_id: '1',
      version: 1,
      args: { salt: about.salt },
      workspace_id: null,
      started_by: 'test',
      cause: null,
      correlation_id: null,
      depth,
      parent,
    }
    this.#tell(execution_id, start)
  }

  #tell(execution_id: string, input: Input): void {
    this.#executions.get(execution_id)?.inbox.push(input)
  }

  #resumeAll(): boolean {
    let any = false
    for (const [execution_id] of this.#executions) {
      if (this.#own(execution_id).state?.status !== 'PAUSED') continue
      this.#tell(execution_id, { kind: 'resume', by: 'p' })
      any = true
    }
    return any
  }

  #cancelRoot(root: string): void {
    this.#cancelled = true
    this.#tell(root, { kind: 'cancel', by: 'p', reason: 'enough' })
  }

  #about(execution_id: string): { playbook: string; salt: string } {
    const [first] = this.#executions.get(execution_id)!.log
    return {
      playbook: first!.meta!.playbook as string,
      salt: (first!.context!.args as { salt: string }).salt,
    }
  }

  #playbookOf(execution_id: string): Playbook {
    return this.#playbooks.get(this.#about(execution_id).playbook)!
  }

  #namedIn(execution_id: string): string {
    const start = this.#executions.get(execution_id)!.inbox.find(({ kind }) => kind === 'start')
    return (start as unknown as { playbook: string } | undefined)?.playbook ?? 'root'
  }

  #ports(): Ports {
    return {
      max_items: 3,
      now: () => new Date(this.#now),
      nextId: () => this.#nextId(),
      value: (result) => {
        if (!this.#loaded.has(result.ref)) throw new ValueNeeded(result)
        return this.#results.get(result.ref)!
      },
      store: (value, key, node) => {
        throw new StoreNeeded(value, key, node)
      },
    }
  }

  /** As a driver does it: load what is asked for and try again. */
  #withValues<T>(compute: () => T, givenUp: () => void = () => {}): T {
    for (;;) {
      try {
        return compute()
      } catch (thrown) {
        if (!(thrown instanceof ValueNeeded)) throw thrown
        givenUp()
        if (!this.#results.has(thrown.result.ref)) throw new Error(`nobody kept ${thrown.result.ref}`)
        this.#loaded.add(thrown.result.ref)
      }
    }
  }

  #store(value: Json): ResultValue {
    const bytes = JSON.stringify(value).length
    if (bytes <= 8_192) return { value }
    const ref = this.#nextId()
    this.#results.set(ref, value)
    return { ref, bytes }
  }

  #isDue(at: string | undefined): boolean {
    return at === undefined || Date.parse(at) <= this.#now
  }

  #nextId(): string {
    return String(++this.#id)
  }

  #lucky(chance: number): boolean {
    return chance > 0 && this.#random() < chance
  }

  #any<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }

  /** mulberry32 */
  #random(): number {
    this.#chance = (this.#chance + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#chance ^ (this.#chance >>> 15), 1 | this.#chance)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** jsonb keeps keys in an order of its own. */
function asJsonb(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)))
      : inner,
  )
}
