/**
 * Remote workers and gateways in one process, without anything that carries messages between them: what a test says happens to a worker, a
 * gateway or a message happens at once. Calls and outcomes are copied through JSON, as on a wire.
 */
import pino from 'pino'
import type { GatewayEngine } from '../../../src/executions/engine/engine.ts'
import { runRemoteItem } from '../../../src/executions/engine/remote-item.ts'
import type { PlaybookHandlers } from '../../../src/executions/tools/tool.ts'
import {
  type CallRef,
  type RemoteCall,
  type RemoteCalls,
  type RemoteOutcome,
  WorkerGone,
} from '../../../src/runtime/remote/calls.ts'

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
const log = pino({ level: 'silent' })

interface HeldCall {
  readonly controller: AbortController
  readonly isAlone: boolean
  /** By which another gateway adopts it. */
  readonly refs: readonly CallRef[]
  /** Known since its handler has ended: repeated until it is settled. */
  outcome?: RemoteOutcome
}

export class FakeWorker {
  readonly name: string
  readonly concurrency: number
  readonly held = new Map<string, HeldCall>()
  /** Every call that it has begun. */
  readonly begun: string[] = []
  gateway: FakeGateway | undefined
  /** Which attachment this is. */
  session = 0
  private readonly handlers: PlaybookHandlers
  private dead = false
  /** So many of its next reports do not arrive. */
  losesReports = 0

  constructor(name: string, concurrency: number, handlers: PlaybookHandlers) {
    this.name = name
    this.concurrency = concurrency
    this.handlers = handlers
  }

  /** Calls whose handler runs. */
  get running(): HeldCall[] {
    return [...this.held.values()].filter(({ outcome }) => outcome === undefined)
  }

  attach(gateway: FakeGateway): void {
    this.gateway = gateway
    this.session++
    gateway.attached.add(this)
    gateway.changed()
  }

  /** It goes to another gateway without a word, with what it runs. Returns how its gateway notices that, when the session has passed. */
  leave(): () => void {
    const { gateway } = this
    if (gateway === undefined) return () => {}
    this.gateway = undefined
    gateway.attached.delete(this)
    gateway.changed()
    return gateway.sessionOf(this)
  }

  /** The process is gone. Its gateway notices at once. */
  kill(): void {
    this.dead = true
    for (const { controller } of this.held.values()) controller.abort(new Error('killed'))
    this.gateway?.workerIsSilent(this)
    this.held.clear()
  }

  begin(call: RemoteCall): void {
    const { call: id, alone = false, refs = [] } = copy(call)
    const held: HeldCall = { controller: new AbortController(), isAlone: alone, refs }
    this.begun.push(id)
    this.held.set(id, held)
    void runRemoteItem(this.handlers, copy(call), { signal: held.controller.signal, log }).then((outcome) => {
      if (this.dead || held.controller.signal.aborted) return
      held.outcome = { ...copy(outcome), worker: this.name }
      this.report()
      this.gateway?.changed()
    })
  }

  /** Repeats every end that was not answered. */
  report(): void {
    if (this.losesReports > 0) {
      this.losesReports--
      return
    }
    for (const [id, { outcome }] of [...this.held]) if (outcome) this.gateway?.ended(this, id, copy(outcome))
  }

  drop(id: string, reason: Error): void {
    this.held.get(id)?.controller.abort(reason)
    this.held.delete(id)
    this.gateway?.changed()
  }
}

interface Waiting {
  readonly call: RemoteCall
  worker: FakeWorker | undefined
  session: number | undefined
  resolve(outcome: RemoteOutcome): void
  reject(error: unknown): void
}

export class FakeGateway implements RemoteCalls {
  readonly attached = new Set<FakeWorker>()
  readonly settled: { readonly call: string; readonly counted: boolean }[] = []
  /** Calls that were given to it and not to a worker yet. */
  private queue: RemoteCall[] = []
  private readonly waiting = new Map<string, Waiting>()
  /** Ends that were received: until they are settled a repeated one changes nothing. */
  private readonly received = new Map<string, FakeWorker>()
  /** Workers that get nothing more until they run nothing, and then this call. */
  private readonly keptFor = new Map<string, FakeWorker>()
  /** Workers whose adoption is not answered: they get nothing until it is, as at the real gateway. */
  private readonly adopting = new Set<FakeWorker>()
  private readonly listeners = new Set<() => void>()
  private lastSlots = 0

  get workers(): number {
    return this.attached.size
  }

  /** A worker that is kept for a call that runs alone has room for that one. */
  get slots(): number {
    const kept = new Set(this.keptFor.values())
    let slots = 0
    for (const worker of this.attached) {
      if (this.adopting.has(worker)) continue
      const isAlone = worker.running.some((held) => held.isAlone)
      slots += isAlone ? 1 : kept.has(worker) ? worker.running.length + 1 : worker.concurrency
    }
    return slots
  }

  /** What waits here, for people. */
  get pending(): string {
    const calls = [...this.waiting.values()].map(
      ({ call, worker }) => `${call.call} ${worker?.name ?? 'queued'}`,
    )
    return `waiting: ${calls.join(', ')}`
  }

  onSlots(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  run(call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> {
    const outcome = this.wait(call, undefined, signal)
    this.queue.push(call)
    this.handOut()
    this.giveBack()
    return outcome
  }

  /** The call runs already. */
  resume(call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> {
    const worker = [...this.attached].find(({ held }) => held.has(call.call))
    const outcome = this.wait(call, worker, signal)
    if (worker === undefined) this.waiting.get(call.call)?.reject(new WorkerGone('unknown', true))
    return outcome
  }

  settle(call: string, counted: boolean): void {
    this.settled.push({ call, counted })
    const worker = this.received.get(call)
    this.received.delete(call)
    // One that has left and adopted it elsewhere does not hear it.
    if (worker?.gateway === this) worker.held.delete(call)
  }

  /** A worker that lost its gateway tells what it holds. What is not adopted is void. */
  async adoptFrom(worker: FakeWorker, from: string, engine: Pick<GatewayEngine, 'adopt'>): Promise<string[]> {
    const before = [...worker.held]
    this.adopting.add(worker)
    worker.attach(this)
    // What it has itself, under a former session, is not the worker's any more.
    const held = before.filter(([call]) => !this.waiting.has(call) && !this.received.has(call))
    const refs = held.flatMap(([, call]) => call.refs)
    const ours = new Set(await engine.adopt(from, refs, (call, signal) => this.resume(call, signal)))
    this.adopting.delete(worker)
    for (const [call] of before) if (!ours.has(call)) worker.drop(call, new Error('void'))
    worker.report()
    this.changed()
    return [...ours]
  }

  ended(worker: FakeWorker, call: string, outcome: RemoteOutcome): void {
    const waiting = this.waiting.get(call)
    if (waiting?.worker === worker) {
      this.received.set(call, worker)
      waiting.resolve(outcome)
    } else if (this.received.get(call) !== worker) {
      worker.held.delete(call)
    }
  }

  workerIsSilent(worker: FakeWorker): void {
    this.attached.delete(worker)
    this.sessionOf(worker)()
    this.changed()
  }

  /** Ends the calls that this worker has now, and none of a later session. */
  sessionOf(worker: FakeWorker): () => void {
    const held = [...this.waiting].filter(([, waiting]) => waiting.worker === worker)
    return () => {
      for (const [call, waiting] of held)
        if (this.waiting.get(call) === waiting) waiting.reject(new WorkerGone(worker.name, true))
    }
  }

  changed(): void {
    this.handOut()
    this.giveBack()
    if (this.slots === this.lastSlots) return
    this.lastSlots = this.slots
    for (const listener of this.listeners) listener()
  }

  private wait(
    call: RemoteCall,
    worker: FakeWorker | undefined,
    signal: AbortSignal,
  ): Promise<RemoteOutcome> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        this.waiting.delete(call.call)
        this.keptFor.delete(call.call)
        signal.removeEventListener('abort', abort)
        this.queue = this.queue.filter((queued) => queued.call !== call.call)
      }
      const waiting: Waiting = {
        call,
        worker,
        session: worker?.session,
        resolve(outcome) {
          over()
          resolve(outcome)
        },
        reject(error) {
          over()
          reject(error)
        },
      }
      const abort = (): void => {
        waiting.reject(signal.reason)
        // A worker that has left does not hear it.
        if (waiting.worker?.gateway === this && waiting.worker.session === waiting.session)
          waiting.worker.drop(call.call, signal.reason as Error)
      }
      this.waiting.set(call.call, waiting)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort)
    })
  }

  /** What finds no worker goes back into the queue of the database: at the real gateway after a moment. */
  private giveBack(): void {
    if (this.attached.size > 0) return
    for (const { call } of [...this.queue])
      this.waiting.get(call)?.reject(new WorkerGone('no remote worker had a free slot', false))
  }

  private handOut(): void {
    for (const [call, worker] of this.keptFor) if (!this.attached.has(worker)) this.keptFor.delete(call)
    for (const call of [...this.queue]) {
      const worker = call.alone ? this.emptyWorkerFor(call) : this.workerWithRoom()
      if (worker === undefined) continue
      this.queue.splice(this.queue.indexOf(call), 1)
      Object.assign(this.waiting.get(call.call)!, { worker, session: worker.session })
      worker.begin(call)
    }
  }

  private get free(): FakeWorker[] {
    const kept = new Set(this.keptFor.values())
    return [...this.attached]
      .filter((worker) => !this.adopting.has(worker) && !kept.has(worker))
      .filter((worker) => !worker.running.some(({ isAlone }) => isAlone))
      .sort((a, b) => a.running.length - b.running.length)
  }

  private workerWithRoom(): FakeWorker | undefined {
    return this.free.find(({ running, concurrency }) => running.length < concurrency)
  }

  private emptyWorkerFor({ call }: RemoteCall): FakeWorker | undefined {
    const kept = this.keptFor.get(call) ?? this.free[0]
    if (kept === undefined) return undefined
    this.keptFor.set(call, kept)
    if (kept.running.length > 0 || this.adopting.has(kept)) return undefined
    this.keptFor.delete(call)
    return kept
  }
}
