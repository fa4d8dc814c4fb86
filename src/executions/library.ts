/** The library's part for playbooks and executions: register, start, wait, query, control, and run an engine. */
import type { JsonObject } from '../kernel/json.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { mapDatabaseError } from '../kernel/postgres/errors.ts'
import * as control from './control.ts'
import { type ExecutionOutcome, StartBatcher, waitForEnd } from './control.ts'
import type { Engine, EngineOptions } from './engine/engine.ts'
import { countExecutions, projectionDifferences, rebuildProjection } from './engine/projection.ts'
import type { Playbook } from './playbook/definition.ts'
import * as playbooks from './playbooks.ts'
import * as queries from './queries.ts'
import { listSteps, type StepFilter, type StepPage, type TracedResult, traceExecution } from './queries.ts'
import type { PlaybookHandlers, Tools } from './tools/tool.ts'

export interface Playbooks {
  /** YAML, JSON, or what `definePlaybook()` gives. The same again changes nothing. */
  register(
    written: string | Playbook,
    options?: playbooks.RegisterOptions,
  ): Promise<playbooks.RegisteredPlaybook>
  list(): Promise<playbooks.RegisteredPlaybook[]>
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
    options?: control.StartOptions & { client?: Client },
  ): Promise<string>
  /** All or none, in one statement; the ids in the order of the arguments. */
  startMany(
    playbook: string,
    args: readonly JsonObject[],
    options?: Omit<control.StartOptions, 'idempotency_key'> & { client?: Client },
  ): Promise<string[]>
  /** With its first hundred steps, as of the projection: PENDING until an engine has begun it. Throws execution_unknown. */
  status(id: string): Promise<queries.ExecutionDetail>
  /** Its steps, page by page, in the order in which they were entered. */
  steps(id: string, filter?: StepFilter): Promise<StepPage>
  list(filter?: queries.ExecutionFilter): Promise<queries.ExecutionRecord[]>
  /** Until it has ended. */
  wait(id: string, options?: { signal?: AbortSignal }): Promise<ExecutionOutcome>
  cancel(id: string, reason?: string): Promise<void>
  pause(id: string): Promise<void>
  resume(id: string): Promise<void>
  /** A new execution from a step of an old one, with its version of the playbook or another. Returns its id. */
  rerun(id: string, fromStep: string, options?: { version?: number }): Promise<string>
  /** The log, in its order; `after` is the seq of the last one of the page before. */
  events(id: string, filter?: queries.EventFilter): Promise<queries.LoggedEvent[]>
  /** From its last event back to its first. */
  trace(id: string): Promise<TracedResult[]>
  /** Rebuilds every projection from its log; with `verify` it only compares. `executions`: how many were folded or compared. */
  rebuild(options?: { verify?: boolean }): Promise<{ executions: number; differences: string[] }>
  /** Drives executions and runs their steps in this process, with all maintenance, until the engine stops or the library closes. */
  work(options?: WorkOptions): Promise<Engine>
}

export type WorkOptions = Omit<EngineOptions, 'pool' | 'listenUrl' | 'tools' | 'results'> & {
  /** Handlers that steps with `tool: handler` call. */
  readonly handlers?: PlaybookHandlers
  /** Additional tools. */
  readonly tools?: Tools
}

interface ExecutionsDeps {
  /** As dot_executor. */
  readonly pool: Pool
  worker<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** Starts an engine with pools, tools and results of its own. */
  startEngine(options: WorkOptions): Promise<Engine>
  /** The engines of this process that run now: they say first how an execution ended. */
  engines(): Iterable<Engine>
}

export function playbooksLibrary({ worker }: Pick<ExecutionsDeps, 'worker'>): Playbooks {
  return {
    register: (written, options) => worker((client) => playbooks.registerPlaybook(client, written, options)),
    list: () => worker(playbooks.listRegisteredPlaybooks),
    text: (name, version) => worker((client) => playbooks.playbookText(client, name, version)),
    disable: (name) => worker((client) => playbooks.disablePlaybook(client, name)),
    enable: (name) => worker((client) => playbooks.enablePlaybook(client, name)),
  }
}

export function executionsLibrary({ pool, worker, startEngine, engines }: ExecutionsDeps): Executions {
  const starts = new StartBatcher(pool)
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
        ? within(client, (own) => control.startExecution(own, playbook, args, options))
        : starts.add({ playbook, args: args ?? {}, options }),
    startMany: (playbook, args, { client, ...options } = {}) =>
      within(client, (own) => control.startExecutions(own, playbook, args, options)),
    status: (id) => worker((client) => queries.getExecution(client, id)),
    steps: (id, filter) =>
      worker(async (client) => listSteps(client, await queries.requireExecution(client, id), filter)),
    list: (filter) => worker((client) => queries.listExecutions(client, filter)),
    wait: (id, { signal } = {}) => waitForEnd(pool, id, engines(), signal),
    cancel: (id, reason) => worker((client) => control.cancelExecution(client, id, reason)),
    pause: (id) => worker((client) => control.pauseExecution(client, id)),
    resume: (id) => worker((client) => control.resumeExecution(client, id)),
    rerun: (id, fromStep, options) =>
      worker((client) => control.rerunExecution(client, id, fromStep, options)),
    events: (id, filter) => worker((client) => queries.listEvents(client, id, filter)),
    trace: (id) => worker((client) => traceExecution(client, id)),
    rebuild: ({ verify = false } = {}) => rebuild(pool, verify),
    work: (options = {}) => startEngine(options),
  }
}

async function rebuild(pool: Pool, verify: boolean): Promise<{ executions: number; differences: string[] }> {
  const differences: string[] = []
  for await (const { execution_id, difference } of projectionDifferences(pool)) {
    differences.push(`${execution_id}: ${difference}`)
  }
  return { executions: await (verify ? countExecutions(pool) : rebuildProjection(pool)), differences }
}
