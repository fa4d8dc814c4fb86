/** Somebody's own tables and routes on them, brought as far as a test needs. */
import type pg from 'pg'
import {
  activateRoute,
  dryRunRoute,
  type NewRoute,
  registerRoute,
  reviewRoute,
} from '../../../src/events/routes.ts'
import type { Queryable } from '../../../src/kernel/postgres/connection.ts'
import type { TestDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'

/** A session of the user who owns the tables: none of our roles, and its tables are not ours. */
export async function user(db: TestDatabase): Promise<pg.Client> {
  return db.session('postgres')
}

/** Gives our administrator what attaching needs; the schema's later tables are granted one by one. */
export async function grantTriggers(owner: pg.Client, ...tables: string[]): Promise<void> {
  for (const table of tables) await owner.query(`grant trigger on ${table} to workflow_admin`)
}

/** Acts as workflow_admin. */
export const admin = (db: TestDatabase) => db.pool(MIGRATOR)

export async function dryRun(db: TestDatabase, route: NewRoute): Promise<string> {
  const code = await registerRoute(admin(db), route)
  await dryRunRoute(admin(db), code)
  return code
}

/** A second person reviews what the dry run has seen, and activates it. */
export async function approve(db: TestDatabase, code: string): Promise<void> {
  await db.as({ role: 'service_role', claims: { sub: 'second-person' } }, async (client) => {
    await reviewRoute(client, code, { evidence: 1 })
    await activateRoute(client, code)
  })
}

/** An active route; `evidence` is what happens during its dry run. */
export async function active(
  db: TestDatabase,
  route: NewRoute,
  evidence: () => Promise<unknown>,
): Promise<string> {
  const code = await dryRun(db, route)
  await evidence()
  await approve(db, code)
  return code
}

export interface Sent {
  readonly id: string
  readonly event_type: string
  readonly event_subject_ref: string | null
  readonly canonical_address: string | null
  readonly workspace_id: string | null
  readonly correlation_id: string
  readonly causation_event_id: string | null
  readonly causation_depth: number
  readonly actor: string
  readonly safe_payload: Record<string, unknown>
  readonly tx: string
}

/** The events of a route so far, in their order. */
export async function sent(db: TestDatabase, type: string): Promise<Sent[]> {
  return db.owner<Sent & pg.QueryResultRow>(
    `select id, event_type, event_subject_ref, canonical_address, workspace_id, correlation_id, causation_event_id,
            causation_depth, actor, safe_payload, tx::text
       from iu_core.event_outbox where event_type = $1 order by seq`,
    [type],
  )
}

export async function payloads(db: TestDatabase, type: string): Promise<Record<string, unknown>[]> {
  return (await sent(db, type)).map((event) => event.safe_payload)
}

export interface Failure {
  readonly sqlstate: string
  readonly reason: string
}

export async function failures(db: TestDatabase, code: string): Promise<Failure[]> {
  return db.owner<Failure & pg.QueryResultRow>(
    'select sqlstate, reason from iu_core.iu_sql_event_route_failure where route_code = $1 order by failure_id',
    [code],
  )
}

/** Returns on how many tables the triggers are. `db` must act as workflow_admin or own the table. */
export async function attachRoute(db: Queryable, code: string): Promise<number> {
  const { rows } = await db.query<{ attached: number }>(
    'select iu_core.fn_sql_route_attach($1) as attached',
    [code],
  )
  return rows[0]!.attached
}

/** Disables it and drops its triggers. Returns the statements that the tables' owners must run. */
export async function detachRoute(db: Queryable, code: string): Promise<string[]> {
  const { rows } = await db.query<{ left: string[] }>('select iu_core.fn_sql_route_detach($1) as left', [
    code,
  ])
  return rows[0]!.left
}
