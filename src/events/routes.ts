/** Routes in: what happens to somebody's tables becomes events, after a dry run and the review of a second person. */
import type { Queryable } from '../db/connection.ts'
import type { MaintenanceTask } from '../db/maintenance.ts'

export type SqlEvent = 'insert' | 'update' | 'delete' | 'truncate' | 'call' | 'ddl'
export type RouteState = 'disabled' | 'dry_run' | 'reviewed' | 'active'

export interface PayloadContract {
  /** The columns (or arguments) that an event may carry, and nothing else. */
  readonly keep_refs?: readonly string[]
  /** Keys that may not occur at any depth, beside the ten that never may. */
  readonly forbid_keys?: readonly string[]
  /** What names the row in the event; among keep_refs. Without it the primary key, if that is kept. */
  readonly subject?: readonly string[]
  /** Of an update only the rows in which something that is kept has changed. */
  readonly only_changed?: boolean
}

/** What a registrant gives. The names are those of the columns; the database fills in what is left out. */
export interface NewRoute {
  readonly route_code?: string
  /** The table or procedure as in SQL: orders, sales."Orders". */
  readonly source?: string
  readonly source_schema?: string
  readonly source_table?: string
  readonly sql_event: SqlEvent
  readonly target_event_domain?: string
  readonly target_event_type?: string
  readonly target_event_stream?: string
  readonly fail_closed?: boolean
  readonly idempotency_policy?: { readonly key?: string }
  readonly payload_contract?: PayloadContract
  readonly workspace_id?: string
  readonly workspace_column?: string
}

export interface Route {
  readonly route_code: string
  readonly state: RouteState
  readonly source_object_kind: 'table' | 'procedure' | 'database'
  readonly source_schema: string | null
  readonly source_table: string | null
  readonly sql_event: SqlEvent
  readonly target_event_domain: string
  readonly target_event_type: string
  readonly target_event_stream: string | null
  readonly fail_closed: boolean
  readonly idempotency_policy: { readonly key?: string }
  readonly payload_contract: PayloadContract
  readonly workspace_id: string | null
  readonly workspace_column: string | null
  /** Counts the definitions; a review names the one that was looked at. */
  readonly revision: number
  readonly registered_by: string
  readonly registered_at: Date
  readonly reviewed_by: string | null
  readonly reviewed_at: Date | null
  readonly evidence_seen: number | null
  readonly activated_by: string | null
  readonly activated_at: Date | null
  readonly disabled_reason: string | null
  /** On how many tables its triggers are: its own, partitions and children. */
  readonly attached: number
  /** Statements of the dry run that are kept. */
  readonly evidence: number
  /** A count that may outgrow a number. */
  readonly failures: string
  readonly last_failure: string | null
  readonly last_failed_at: Date | null
}

export interface RouteEvidence {
  readonly evidence_id: string
  readonly route_code: string
  readonly revision: number
  readonly relation: string
  readonly events: string
  /** Of these an event could not have been sent: forbidden keys, or too long. */
  readonly refused: string
  readonly sample: readonly {
    readonly event_subject_ref: string | null
    readonly canonical_address: string
    readonly workspace_id: string | null
    readonly safe_payload: Record<string, unknown>
  }[]
  readonly actor: string
  readonly recorded_at: Date
}

const COLUMNS = `route_code, state, source_object_kind, source_schema, source_table, sql_event, target_event_domain,
  target_event_type, target_event_stream, fail_closed, idempotency_policy, payload_contract, workspace_id,
  workspace_column, revision, registered_by, registered_at, reviewed_by, reviewed_at, evidence_seen, activated_by,
  activated_at, disabled_reason, attached, evidence, failures, last_failure, last_failed_at`

/** Registers or changes a route, which clears its review. `db` must act as workflow_admin. Returns its code. */
export async function registerRoute(db: Queryable, route: NewRoute, actor?: string): Promise<string> {
  const { rows } = await db.query<{ code: string }>('select iu_core.fn_sql_route_register($1, $2) as code', [
    JSON.stringify(route),
    actor ?? null,
  ])
  return rows[0]!.code
}

/** The routes that the caller may see, by code. */
export async function listRoutes(db: Queryable): Promise<Route[]> {
  const { rows } = await db.query<Route>(
    `select ${COLUMNS} from iu_core.v_sql_event_route order by route_code`,
  )
  return rows
}

export async function findRoute(db: Queryable, code: string): Promise<Route | undefined> {
  const { rows } = await db.query<Route>(
    `select ${COLUMNS} from iu_core.v_sql_event_route where route_code = $1`,
    [code],
  )
  return rows[0]
}

/** Attaches the triggers and lets the route run dry. `db` must act as workflow_admin. Returns on how many tables. */
export async function dryRunRoute(db: Queryable, code: string): Promise<number> {
  const { rows } = await db.query<{ attached: number }>(
    'select iu_core.fn_sql_route_dry_run($1) as attached',
    [code],
  )
  return rows[0]!.attached
}

/** What the dry run would have sent, newest statement first. */
export async function routeEvidence(db: Queryable, code: string, limit = 20): Promise<RouteEvidence[]> {
  const { rows } = await db.query<RouteEvidence>('select * from iu_core.fn_sql_route_evidence($1, $2)', [
    code,
    limit,
  ])
  return rows
}

/** Says that a second person looked at so many statements of evidence, of the definition with this revision. */
export async function reviewRoute(
  db: Queryable,
  code: string,
  seen: { readonly evidence: number; readonly revision?: number; readonly actor?: string },
): Promise<void> {
  await db.query('select iu_core.fn_sql_route_review($1, $2, $3, $4)', [
    code,
    seen.evidence,
    seen.actor ?? null,
    seen.revision ?? null,
  ])
}

export async function activateRoute(db: Queryable, code: string, actor?: string): Promise<void> {
  await db.query('select iu_core.fn_sql_route_activate($1, $2)', [code, actor ?? null])
}

/** Stops it at once; no lock on the table is needed. */
export async function disableRoute(
  db: Queryable,
  code: string,
  why: { readonly reason?: string; readonly actor?: string } = {},
): Promise<void> {
  await db.query('select iu_core.fn_sql_route_disable($1, $2, $3)', [
    code,
    why.reason ?? null,
    why.actor ?? null,
  ])
}

/** Returns on how many tables the triggers are. `db` must act as workflow_admin or own the table. */
export async function attachRoute(db: Queryable, code: string): Promise<number> {
  const { rows } = await db.query<{ attached: number }>(
    'select iu_core.fn_sql_route_attach($1) as attached',
    [code],
  )
  return rows[0]!.attached
}

/** Disables it and drops its triggers. Returns the statements that are left to the tables' owners. */
export async function detachRoute(db: Queryable, code: string): Promise<string[]> {
  const { rows } = await db.query<{ left: string[] }>('select iu_core.fn_sql_route_detach($1) as left', [
    code,
  ])
  return rows[0]!.left
}

/** Takes it away with its evidence. Returns the statements that are left to the tables' owners. */
export async function removeRoute(db: Queryable, code: string): Promise<string[]> {
  const { rows } = await db.query<{ left: string[] }>('select iu_core.fn_sql_route_remove($1) as left', [
    code,
  ])
  return rows[0]!.left
}

/** Brings routes in step with their tables: new partitions, dropped and renamed tables. Returns what it found. */
export async function syncRoutes(db: Queryable): Promise<{ route_code: string; finding: string }[]> {
  const { rows } = await db.query<{ route_code: string; finding: string }>(
    'select route_code, finding from iu_core.fn_sql_route_sync()',
  )
  return rows
}

const HOUR = 3_600_000

export const routeTasks: readonly MaintenanceTask[] = [
  {
    name: 'routes',
    everyMs: HOUR,
    async run(client) {
      const findings = await syncRoutes(client)
      const told = findings.map(({ route_code, finding }) => `${route_code}: ${finding}`)
      return told.length > 0 ? told.join('; ') : undefined
    },
  },
]
