/** Engines on the test's database, the playbooks that they run, and what became of them. */
import pino from 'pino'
import { afterEach } from 'vitest'
import { type Engine, type EngineOptions, startEngine } from '../../../src/executions/engine/engine.ts'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import type { Playbook, Step } from '../../../src/executions/playbook/definition.ts'
import { createResultStore } from '../../../src/executions/results.ts'
import { handlerTool, type PlaybookHandlers, type Tools } from '../../../src/executions/tools/tool.ts'
import type { Json, JsonObject } from '../../../src/kernel/json.ts'
import { type TestDatabase, useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

/** A step in few words: it calls a handler of its own name. */
export type ShortStep = Partial<Omit<Step, 'next' | 'retry' | 'loop'>> & {
  readonly step: string
  readonly call?: string
  readonly args?: JsonObject
  readonly next?: Step['next'] | string
  readonly retry?: Partial<Step['retry']>
  readonly loop?: Partial<NonNullable<Step['loop']>> & { in: Json }
}

export function playbook(
  name: string,
  steps: readonly ShortStep[],
  more: Partial<Pick<Playbook, 'args' | 'output'>> = {},
): Playbook {
  return { name, args: {}, start: steps[0]!.step, steps: steps.map(whole), ...more }
}

function whole({ call, args = {}, next, retry, loop, ...step }: ShortStep): Step {
  return {
    tools: step.wait ? [] : [{ tool: 'handler', call: call ?? step.step, args }],
    on_error: 'fail',
    ...step,
    retry: { attempts: 1, backoff_ms: 1, max_backoff_ms: 1000, ...retry },
    ...(loop && {
      loop: {
        as: 'item',
        mode: 'sequential',
        max_in_flight: 16,
        fail_fast: false,
        allow_partial: false,
        ...loop,
      },
    }),
    next:
      typeof next === 'string'
        ? { mode: 'exclusive', arcs: [{ step: next }] }
        : (next ?? { mode: 'exclusive', arcs: [] }),
  }
}

export function handlersAsTools(handlers: PlaybookHandlers): Tools {
  return { handler: handlerTool(handlers) }
}

export interface Engines {
  readonly db: TestDatabase
  start(handlers: PlaybookHandlers, options?: Partial<EngineOptions>): Promise<Engine>
  register(playbook: Playbook): Promise<void>
  run(name: string, args?: JsonObject): Promise<string>
  /** The id of an execution that waits for an hour before its step `a`; no engine has it in memory. */
  runUntilWaiting(name: string): Promise<string>
  /** The row of noetl.execution, once it has ended. */
  ended(execution: string, withinMs?: number): Promise<Ended>
  status(execution: string): Promise<string | undefined>
  log(execution: string): Promise<ExecutionEvent[]>
  differences(): Promise<string[]>
  /** As when the lease of this engine has passed and another engine noticed it: no test waits for that. */
  endLease(engine: string): Promise<void>
}

export interface Ended {
  readonly status: string
  readonly error: string | null
  readonly state: JsonObject
}

export function useEngines(): Engines {
  const db = useDatabase()
  const running = new Set<Engine>()
  afterEach(async () => {
    for (const engine of running) await engine.stop()
    running.clear()
  })
  const worker = () => db.pool('stagedoor_worker')
  const engines: Engines = {
    db,
    async start(handlers, options = {}) {
      const engine = await startEngine({
        pool: worker(),
        listenUrl: db.url('stagedoor_worker'),
        tools: handlersAsTools(handlers),
        results: createResultStore({ pool: worker() }),
        log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
        shutdownMs: 2000,
        ...options,
      })
      running.add(engine)
      return engine
    },
    async register(playbook) {
      await worker().query('select noetl.fn_playbook_register($1, $2, $3)', [
        playbook.name,
        JSON.stringify(playbook),
        JSON.stringify(playbook),
      ])
    },
    async run(name, args = {}) {
      const { rows } = await worker().query<{ id: string }>(
        'select noetl.fn_execution_start($1, $2)::text as id',
        [name, JSON.stringify(args)],
      )
      return rows[0]!.id
    },
    async runUntilWaiting(name) {
      const wait = { kind: 'timer', for_ms: 3_600_000 } as const
      await engines.register(playbook(name, [{ step: 'wait', wait, next: 'a' }, { step: 'a' }]))
      const engine = await engines.start({ a: () => 1 })
      const id = await engines.run(name)
      await until(
        'it waits',
        async () => (await db.owner('select from noetl.wait where execution_id = $1', [id])).length,
      )
      await engine.stop()
      return id
    },
    ended: (execution, withinMs = 60_000) =>
      until(
        `execution ${execution} has ended`,
        async () => {
          const rows = await db.owner<Ended & { over: boolean }>(
            'select status, error, state, end_time is not null as over from noetl.execution where execution_id = $1',
            [execution],
          )
          return rows[0]?.over ? rows[0] : undefined
        },
        withinMs,
      ),
    async status(execution) {
      const rows = await db.owner<{ status: string }>(
        'select status from noetl.execution where execution_id = $1',
        [execution],
      )
      return rows[0]?.status
    },
    async log(execution) {
      return db.owner('select * from noetl.event where execution_id = $1 order by seq', [
        execution,
      ]) as unknown as Promise<ExecutionEvent[]>
    },
    async endLease(engine) {
      await db.owner(
        `update noetl.engine set leased_until = clock_timestamp() - interval '1 second' where engine_id = $1`,
        [engine],
      )
      await db.owner('select noetl.fn_engine_reap()')
    },
    async differences() {
      const rows = await db.owner<{ line: string }>(
        "select execution_id || ' ' || difference as line from noetl.fn_projection_differences()",
      )
      return rows.map((row) => row.line)
    },
  }
  return engines
}
