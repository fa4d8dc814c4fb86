/** Writes logs as their owner, without an engine, and folds them as one. */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { TestDatabase } from '../../support/database.ts'

export interface LogEvent {
  readonly event_type: string
  readonly node_name?: string
  readonly node_id?: string
  readonly status?: string
  readonly meta?: JsonObject
  readonly context?: JsonObject
  readonly result?: JsonObject
  readonly error?: string
}

export const ENGINE = randomUUID()
const T0 = Date.parse('2026-01-01T00:00:00Z')

let lastId = 0n
/** A new execution of now. */
export function newExecution(): string {
  const now = BigInt(Date.now() - Date.parse('2024-01-01T00:00:00Z')) << 22n
  lastId = now > lastId ? now : lastId + 1n
  return lastId.toString()
}

/** Takes all shards for ENGINE, at epoch 1. */
export async function holdShards(db: TestDatabase): Promise<void> {
  await db.owner('update noetl.execution_shard set owner = $1, epoch = 1', [ENGINE])
}

/** Events of one execution from seq `from` on, a second apart from each other. */
export async function append(
  db: TestDatabase,
  executionId: string,
  from: number,
  events: readonly LogEvent[],
): Promise<void> {
  const rows = events.map((event, index) => ({
    ...event,
    execution_id: executionId,
    event_id: (BigInt(executionId) + BigInt(from + index)).toString(),
    seq: from + index,
    catalog_id: '1',
    created_at: new Date(T0 + (from + index) * 1000).toISOString(),
  }))
  await db.owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, node_id, node_name, status, context,
                              result, meta, error, created_at)
     select execution_id, event_id, seq, event_type, catalog_id, node_id, node_name, status, context, result, meta, error,
            created_at
       from jsonb_populate_recordset(null::noetl.event, $1)`,
    [JSON.stringify(rows)],
  )
}

export async function project(
  db: TestDatabase,
  executions: readonly string[],
  { engine = ENGINE, epoch = 1 } = {},
): Promise<{ events: string; lag_ms: number }> {
  const { rows } = await db.pool('stagedoor_worker').query(
    `select events, lag_ms from noetl.fn_execution_project($1,
       array(select generate_series(0, 15)::smallint), array(select $2::bigint from generate_series(0, 15)), $3)`,
    [engine, epoch, executions],
  )
  return rows[0] as { events: string; lag_ms: number }
}

/** The whole row as the database writes it: equal texts are equal bit by bit. */
export async function rowOf(db: TestDatabase, executionId: string): Promise<string | undefined> {
  const rows = await db.owner<{ row: string }>(
    'select x::text as row from noetl.execution x where execution_id = $1',
    [executionId],
  )
  return rows[0]?.row
}
