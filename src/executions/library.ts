/** What a program does with playbooks and executions: register, start, wait, look, steer, and run an engine. */
import { type Client, createPool, type Pool } from '../db/connection.ts'
import { mapDatabaseError } from '../db/database-error.ts'
import type { Engine, EngineOptions } from './engine/engine.ts'
import { type ExecutionOutcome, waitForEnd } from './outcome.ts'
import type { JsonObject, Playbook } from './playbook/definition.ts'
import { type TracedResult, traceOf } from './reading.ts'
import { countExecutions, projectionDifferences, rebuildProjection } from './rebuilding.ts'
import * as registration from './registration.ts'
import type { ResultStore } from './results/store.ts'
import * as shown from './shown-executions.ts'
import { executionSteps, type StepFilter, type StepPage } from './shown-steps.ts'
import { Starts } from './starts.ts'
import * as steering from './steering.ts'
import type { Tools } from './tool.ts'

export interface Playbooks {
  /** YAML, JSON, or what `definePlaybook()` gives. The same again changes nothing. */
  register(
    written: string | Playbook,
    options?: registration.RegisterOptions,
  ): Promise<registration.RegisteredPlaybook>
  list(): Promise<registration.RegisteredPlaybook[]>
  text(name: string, version?: number): Promise<string | undefined>
  disable(name: string): Promise<void>
  enable(name: string): Promise<void>
}

/** Acts as the back end (dot_executor). What people do goes through the API, under their own role. */
export interface Executions {
  /** With `client` in your own transaction: rolled back, it never was. Its role must be able to start (stagedoor_producer). Returns its id. */
  start(
    playbook: string,
    args?: JsonObject,
    options?: steering.StartOptions & { client?: Client },
  ): Promise<string>
  /** All or none, in one statement; the ids in the order of the arguments. */
  startMany(
    playbook: string,
    args: readonly JsonObject[],
    options?: Omit<steering.StartOptions, 'idempotency_key'> & { client?: Client },
  ): Promise<string[]>
  /** With its first hundred steps, as of the projection: PENDING until an engine has begun it. Throws execution_unknown. */
  status(id: string): Promise<shown.ExecutionDetail>
  /** Its steps, page by page, in the order in which they were entered. */
  steps(id: string, filter?: StepFilter): Promise<StepPage>
  list(filter?: shown.ExecutionFilter): Promise<shown.ExecutionRecord[]>
  /** Until it has ended. */
  wait(id: string, options?: { signal?: AbortSignal }): Promise<ExecutionOutcome>
  cancel(id: string, reason?: string): Promise<void>
  pause(id: string): Promise<void>
  resume(id: string): Promise<void>
  /** A new execution from a step of an old one, with its version of the playbook or another. Returns its id. */
  rerun(id: string, fromStep: string, options?: { version?: number }): Promise<string>
  /** The log, in its order; `after` is the seq of the last one of the page before. */
  events(id: string, filter?: shown.EventFilter): Promise<shown.LoggedEvent[]>
  /** From its last event back to its first. */
  trace(id: string): Promise<TracedResult[]>
  /** Folds every projection from its log anew; with `verify` only compares. `executions`: how many were folded or compared. */
  rebuild(options?: { verify?: boolean }): Promise<{ executions: number; differences: string[] }>
  /** Drives executions in this process until it is stopped, or until `close` of the whole. */
  work(options?: WorkOptions): Promise<Engine>
}

export type WorkOptions = Omit<EngineOptions, 'pool' | 'listenUrl' | 'tools' | 'results'> & {
  /** Beside the product's own. */
  readonly tools?: Tools
}

export interface ExecutionSurroundings {
  /** As dot_executor. */
  readonly pool: Pool
  readonly workerUrl: string
  worker<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** The tools and the results of an engine. `pool` is the engine's own, `tools` is for what tools hold for as long as they run. */
  equip(pool: Pool, tools: Pool): { tools: Tools; results: ResultStore }
}

/** Writer, heartbeat, inbox, claims, ends, projection, waits and one to spare. */
const ENGINE_SESSIONS = 8
const TOOL_SESSIONS = 8

export function playbooksLibrary({ worker }: Pick<ExecutionSurroundings, 'worker'>): Playbooks {
  return {
    register: (written, options) =>
      worker((client) => registration.registerPlaybook(client, written, options)),
    list: () => worker(registration.listPlaybooks),
    text: (name, version) => worker((client) => registration.playbookText(client, name, version)),
    disable: (name) => worker((client) => registration.disablePlaybook(client, name)),
    enable: (name) => worker((client) => registration.enablePlaybook(client, name)),
  }
}

export function executionsLibrary(around: ExecutionSurroundings): Executions & { close(): Promise<void> } {
  const { pool, worker } = around
  const running = new Set<Engine>()
  const starts = new Starts(pool)
  // In the user's own transaction, too, a refusal is one of the catalogue, with its hint.
  const within = <T>(client: Client | undefined, work: (own: Client) => Promise<T>): Promise<T> =>
    client
      ? work(client).catch((error) => {
          throw mapDatabaseError(error)
        })
      : worker(work)
  return {
    start: (playbook, args, { client, ...options } = {}) =>
      client
        ? within(client, (own) => steering.startExecution(own, playbook, args, options))
        : starts.add({ playbook, args: args ?? {}, options }),
    startMany: (playbook, args, { client, ...options } = {}) =>
      within(client, (own) => steering.startExecutions(own, playbook, args, options)),
    status: (id) => worker((client) => shown.showExecution(client, id)),
    steps: (id, filter) =>
      worker(async (client) => executionSteps(client, await shown.requireExecution(client, id), filter)),
    list: (filter) => worker((client) => shown.listExecutions(client, filter)),
    wait: (id, { signal } = {}) => waitForEnd(pool, id, running, signal),
    cancel: (id, reason) => worker((client) => steering.cancelExecution(client, id, reason)),
    pause: (id) => worker((client) => steering.pauseExecution(client, id)),
    resume: (id) => worker((client) => steering.resumeExecution(client, id)),
    rerun: (id, fromStep, options) =>
      worker((client) => steering.rerunExecution(client, id, fromStep, options)),
    events: (id, filter) => worker((client) => shown.executionEvents(client, id, filter)),
    trace: (id) => worker((client) => traceOf(client, id)),
    rebuild: ({ verify = false } = {}) => rebuild(pool, verify),
    async work(options = {}) {
      const started = await startWork(around, options, () => running.delete(started))
      running.add(started)
      return started
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop()))
    },
  }
}

async function rebuild(pool: Pool, verify: boolean): Promise<{ executions: number; differences: string[] }> {
  const differences: string[] = []
  for await (const { execution_id, difference } of projectionDifferences(pool)) {
    differences.push(`${execution_id}: ${difference}`)
  }
  return { executions: await (verify ? countExecutions(pool) : rebuildProjection(pool)), differences }
}

/** With connections of its own, and others for its tools: tools that hold all of theirs hold up neither the engine nor the program. */
async function startWork(
  { workerUrl, equip }: ExecutionSurroundings,
  { tools: more, ...options }: WorkOptions,
  over: () => void,
): Promise<Engine> {
  // Loaded here: most programs run no executions.
  const { startEngine } = await import('./engine/engine.ts')
  const open = (purpose: string, max: number) => createPool(workerUrl, { role: 'dot_executor', purpose, max })
  const pool = open('executions', ENGINE_SESSIONS)
  const toolPool = open('tools', TOOL_SESSIONS)
  const close = () => Promise.all([pool.end(), toolPool.end()])
  try {
    const { tools, results } = equip(pool, toolPool)
    const engine = await startEngine({
      ...options,
      pool,
      listenUrl: workerUrl,
      tools: { ...tools, ...more },
      results,
    })
    let stopped: Promise<void> | undefined
    return {
      get id() {
        return engine.id
      },
      health: () => engine.health(),
      crash: (error) => engine.crash(error),
      wait: (execution, options) => engine.wait(execution, options),
      whenEnded: (execution, told) => engine.whenEnded(execution, told),
      stop() {
        stopped ??= engine.stop().finally(close).finally(over)
        return stopped
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
