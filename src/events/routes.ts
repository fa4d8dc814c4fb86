/** Routes in: what happens to somebody's tables becomes events, after a dry run and the review of a second person. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import { type PayloadContract, Route, RouteEvidence } from './shapes.ts'

export type { PayloadContract, Route, RouteEvidence } from './shapes.ts'

export type SqlEvent = 'insert' | 'update' | 'delete' | 'truncate' | 'call' | 'ddl'
/** What a registrant gives. The names are those of the columns; the database fills in what is left out. */
export interface NewRoute {
  readonly route_code?: string | undefined
  /** The table or procedure as in SQL: orders, sales."Orders". */
  readonly source?: string | undefined
  readonly source_schema?: string | undefined
  readonly source_table?: string | undefined
  readonly sql_event: SqlEvent
  readonly target_event_domain?: string | undefined
  readonly target_event_type?: string | undefined
  readonly target_event_stream?: string | undefined
  readonly fail_closed?: boolean | undefined
  readonly idempotency_policy?: { readonly key?: string } | undefined
  readonly payload_contract?: PayloadContract | undefined
  readonly workspace_id?: string | undefined
  readonly workspace_column?: string | undefined
}

const COLUMNS = columnsOf(Route)

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

export async function requireRoute(db: Queryable, code: string): Promise<Route> {
  const route = await findRoute(db, code)
  if (!route) throw new StagedoorError('route_unknown', { route: code })
  return route
}

/** The columns of a table that is named as in SQL; null: there is no such table. */
export async function tableColumns(db: Queryable, table: string): Promise<string[] | null> {
  const { rows } = await db.query<{ columns: string[] | null }>(
    `select array_agg(attname::text order by attnum) as columns from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  return rows[0]!.columns
}

/** A route may be registered before its table exists. */
export async function sourceExists(db: Queryable, route: Route): Promise<boolean> {
  if (route.source_object_kind !== 'table') return true
  const { rows } = await db.query<{ exists: boolean }>(
    `select to_regclass(format('%I.%I', $1::text, $2::text)) is not null as exists`,
    [route.source_schema, route.source_table],
  )
  return rows[0]!.exists
}

/** Attaches the triggers and starts the dry run. `db` must act as workflow_admin. Returns the number of tables. */
export async function dryRunRoute(db: Queryable, code: string): Promise<number> {
  const { rows } = await db.query<{ attached: number }>(
    'select iu_core.fn_sql_route_dry_run($1) as attached',
    [code],
  )
  return rows[0]!.attached
}

const EVIDENCE_COLUMNS = columnsOf(RouteEvidence, {
  as: {
    sample: `(select coalesce(jsonb_agg(event - 'safe_payload' || jsonb_build_object('payload', event -> 'safe_payload')
                                        order by position), '[]')
                from jsonb_array_elements(sample) with ordinality as one (event, position))`,
  },
})

/** What the dry run would have sent, newest statement first. */
export async function routeEvidence(db: Queryable, code: string, limit = 20): Promise<RouteEvidence[]> {
  const { rows } = await db.query<RouteEvidence>(
    `select ${EVIDENCE_COLUMNS} from iu_core.fn_sql_route_evidence($1, $2)`,
    [code, limit],
  )
  return rows
}

/** Records the review of a second person: how many statements of evidence they saw, and of which revision. */
export async function reviewRoute(
  db: Queryable,
  code: string,
  seen: { evidence: number; revision?: number | undefined; actor?: string | undefined },
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
  why: { reason?: string | undefined; actor?: string | undefined } = {},
): Promise<void> {
  await db.query('select iu_core.fn_sql_route_disable($1, $2, $3)', [
    code,
    why.reason ?? null,
    why.actor ?? null,
  ])
}

/** Deletes it with its evidence. Returns the statements that the tables' owners must run. */
export async function deleteRoute(db: Queryable, code: string): Promise<string[]> {
  const { rows } = await db.query<{ left: string[] }>('select iu_core.fn_sql_route_delete($1) as left', [
    code,
  ])
  return rows[0]!.left
}

/** Updates routes after changes of their tables: new partitions, dropped and renamed tables. Returns what it found. */
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
    led: true,
    async run(client) {
      const findings = await syncRoutes(client)
      const lines = findings.map(({ route_code, finding }) => `${route_code}: ${finding}`)
      return lines.length > 0 ? lines.join('; ') : undefined
    },
  },
]
