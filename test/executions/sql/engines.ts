/** Engines and their shards, driven by SQL alone. */
import type pg from 'pg'
import { eventRow } from '../../../src/executions/engine/log-writer.ts'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import type { TestDatabase } from '../../support/database.ts'

export interface Engine {
  readonly id: string
  readonly node: number | null
  shards: number[]
  epochs: string[]
}

export type Row = Record<string, unknown>
export type Batch = Record<string, unknown>

export interface EngineDriver {
  /** As an engine does it: stagedoor_worker, acting as dot_executor. */
  rows<R extends Row = Row>(sql: string, values?: unknown[]): Promise<R[]>
  one<T>(sql: string, values?: unknown[]): Promise<T>
  register(options?: { drives?: boolean; runs?: boolean; handlers?: string[] }): Promise<Engine>
  beat(engine: Engine): Promise<{ shard_id: number; epoch: string; surplus: boolean }[]>
  /** Its lease has passed. */
  expire(engine: Engine): Promise<void>
  /** An engine that holds all shards, and nobody else does. */
  alone(): Promise<Engine>
  flush(engine: Engine, batch: Batch, session?: pg.Client): Promise<void>
  newId(): Promise<string>
}

/** Of noetl.execution_shard. */
const SHARDS = 16

export function engineDriver(db: TestDatabase): EngineDriver {
  const driver: EngineDriver = {
    async rows<R extends Row>(sql: string, values: unknown[] = []) {
      return (await db.pool('stagedoor_worker').query(sql, values)).rows as R[]
    },
    async one<T>(sql: string, values: unknown[] = []) {
      const [row] = await driver.rows(sql, values)
      return Object.values(row ?? {})[0] as T
    },
    async register({ drives = true, runs = true, handlers = [] } = {}) {
      const [row] = await driver.rows<{ engine_id: string; node_number: number | null }>(
        `select * from noetl.fn_engine_register('test', $1, $2, '1 minute', $3)`,
        [drives, runs, handlers],
      )
      return { id: row!.engine_id, node: row!.node_number, shards: [], epochs: [] }
    },
    async beat(engine) {
      const held = await driver.rows<{ shard_id: number; epoch: string; surplus: boolean }>(
        'select * from noetl.fn_engine_heartbeat($1)',
        [engine.id],
      )
      engine.shards = held.map((shard) => shard.shard_id)
      engine.epochs = held.map((shard) => shard.epoch)
      return held
    },
    async expire(engine) {
      await db.owner(`update noetl.engine set leased_until = now() - interval '1 ms' where engine_id = $1`, [
        engine.id,
      ])
    },
    async alone() {
      await db.owner('delete from noetl.engine')
      const engine = await driver.register()
      // A refused flush of the test before may hold its locks for a moment after its error was told; such shards are left out.
      while ((await driver.beat(engine)).length < SHARDS);
      return engine
    },
    async flush(engine, batch, session) {
      await (session ?? db.pool('stagedoor_worker')).query(
        'select noetl.fn_execution_flush($1, $2, $3, $4)',
        [engine.id, engine.shards, engine.epochs, JSON.stringify(batch)],
      )
    },
    newId: () => driver.one<string>('select noetl.fn_snowflake()::text'),
  }
  return driver
}

/** The log of one execution as a test writes it: ids and seq come by themselves. */
export function logOf(execution_id: string): (event_type: string, fields?: Row) => unknown[] {
  let seq = 0
  return (event_type, fields = {}) => {
    seq += 1
    return eventRow({
      catalog_id: '1',
      execution_id,
      event_id: String(BigInt(execution_id) + BigInt(seq)),
      seq,
      event_type,
      ...fields,
    } as ExecutionEvent)
  }
}
