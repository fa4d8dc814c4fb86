/** Waits and events as other sessions write them: inside transactions that a test ends when it likes. */
import type { Queryable } from '../../../src/kernel/postgres/connection.ts'
import type { TestDatabase } from '../../support/database.ts'
import { append, newExecution } from '../projection/log.ts'

export interface Wait {
  readonly kind?: 'timer' | 'event' | 'approval'
  readonly wake_at?: string
  readonly event_type?: string
  readonly subject?: string
  readonly match?: object
  readonly staging_record_id?: string
}

/** An execution that has begun, in a workspace or in none. */
export async function begun(db: TestDatabase, workspace: string | null = null): Promise<string> {
  const id = newExecution()
  await append(db, id, 1, [
    { event_type: 'playbook.initialized', meta: { started_by: 'ada', workspace_id: workspace } },
  ])
  return id
}

/** For `system.gate_changed` by default. */
export async function wait(client: Queryable, executionId: string, what: Wait = {}): Promise<void> {
  const row = {
    kind: 'event',
    ...((what.kind ?? 'event') === 'event' && { event_domain: 'system', event_type: 'gate_changed' }),
    ...what,
  }
  await client.query(
    `insert into noetl.wait (execution_id, node_id, shard_id, kind, wake_at, event_domain, event_type, subject, match, staging_record_id)
     select $1, 'wait#1', noetl.fn_shard_of($1), kind, wake_at, event_domain, event_type, subject, match, staging_record_id
       from jsonb_populate_record(null::noetl.wait, $2)`,
    [executionId, JSON.stringify(row)],
  )
}

export interface Signal {
  readonly domain?: string
  readonly type?: string
  readonly subject?: string
  readonly payload?: object
  readonly workspace?: string | null
}

export async function emit(
  client: Queryable,
  { domain = 'system', type = 'gate_changed', subject, payload = {}, workspace = null }: Signal = {},
): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `insert into iu_core.event_outbox (event_domain, event_type, event_subject_ref, safe_payload, workspace_id, correlation_id, actor)
     values ($1, $2, $3, $4, $5, gen_random_uuid(), 'ada') returning id`,
    [domain, type, subject, payload, workspace],
  )
  return rows[0]!.id
}

export async function wake(db: TestDatabase, limit = 1000): Promise<number> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ woken: number }>('select noetl.fn_waits_wake($1) as woken', [limit])
  return rows[0]!.woken
}

/** The messages of an execution when it was woken, one for each time. */
export async function told(db: TestDatabase, executionId: string): Promise<Record<string, unknown>[]> {
  const rows = await db.owner<{ body: Record<string, unknown> }>(
    `select body from noetl.inbox where execution_id = $1 and kind = 'woken' order by inbox_id`,
    [executionId],
  )
  return rows.map((row) => row.body)
}

export const isReading = async (db: TestDatabase): Promise<boolean> =>
  (await db.owner(`select from iu_core.event_reader where reader = 'executions'`)).length === 1
