/** The lifecycle of units as its tests need it: who acts, what they do, and what stays. */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { beforeAll } from 'vitest'
import { member, type Person, service } from '../staging/people.ts'
import type { TestDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'

export interface CreatedUnit {
  unit_id: string
  unit_version_id: string
  content_hash: string
}

export interface Written {
  version_no: number
  unit_version_id: string
  content_hash: string
  changed: boolean
}

export interface UnitRow {
  unit_id: string
  canonical_address: string
  unit_kind: string
  container_id: string | null
  position: number
  source_ref: string
  owner_actor: string
  current_version_id: string
  version_no: number
  content_hash: string
  title: string
  content_profile: Record<string, unknown>
  lifecycle_status: string
  apr_ref: string | null
  superseded_by: string | null
  deleted_at: Date | null
}

export interface Life {
  readonly workspace: string
  readonly elsewhere: string
  readonly viewer: Person
  readonly operator: Person
  readonly reviewer: Person
  readonly agent: Person
  /** An admin of the other workspace. */
  readonly stranger: Person
  readonly service: Person
}

export interface NewUnit {
  address?: string
  body?: string
  [parameter: `p_${string}`]: unknown
}

let addresses = 0
export const anAddress = () => `handbook/u${addresses++}`

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A workspace with one of each who work there, and another one. */
export function useLife(db: TestDatabase): Life {
  const life = {} as { -readonly [key in keyof Life]: Life[key] }
  beforeAll(async () => {
    life.workspace = await createWorkspace(db)
    life.elsewhere = await createWorkspace(db, 'elsewhere')
    for (const role of ['viewer', 'operator', 'reviewer', 'agent'] as const)
      life[role] = await member(db, life.workspace, role)
    life.stranger = await member(db, life.elsewhere, 'admin')
    life.service = await service(db)
  })
  return life
}

/** `select * from fn(…)` with named arguments; its first row. */
export async function call<R extends object>(who: Person, name: string, args: object): Promise<R> {
  const names = Object.keys(args)
  const values = Object.values(args).map((value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : value,
  )
  const sql = `select * from iu_core.${name}(${names.map((one, n) => `${one} => $${n + 1}`).join(', ')})`
  return (await who.session.query(sql, values)).rows[0]
}

export function create(life: Life, unit: NewUnit = {}, who: Person = life.operator): Promise<CreatedUnit> {
  const { address = anAddress(), body = '# A rule\n\nRest on Sundays.', ...more } = unit
  return call(who, 'fn_unit_create', {
    p_workspace_id: life.workspace,
    p_canonical_address: address,
    p_body: body,
    ...more,
  })
}

export const edit = (who: Person, unit: string, version: number | null, change: object): Promise<Written> =>
  call(who, 'fn_unit_edit', { p_unit_id: unit, p_expected_version: version, ...change })

export const enact = (who: Person, unit: string, version = 1, apr = 'apr-1') =>
  call(who, 'fn_unit_enact', { p_unit_id: unit, p_expected_version: version, p_apr_ref: apr })

export async function row(db: TestDatabase, unit: string): Promise<UnitRow> {
  return (
    await db.owner<UnitRow & pg.QueryResultRow>('select * from iu_core.information_unit where unit_id = $1', [
      unit,
    ])
  )[0]!
}

export interface VersionRow {
  version_no: number
  title: string
  language: string
  body: string
  content_hash: string
  note: string | null
  edited_by: string
}

export const versions = (db: TestDatabase, unit: string) =>
  db.owner<VersionRow & pg.QueryResultRow>(
    `select version_no, title, language, body, content_hash, note, edited_by
       from iu_core.unit_version where unit_id = $1 order by version_no`,
    [unit],
  )

export interface UnitEvent {
  type: string
  event_stream: string | null
  canonical_address: string
  workspace_id: string
  actor: string
  safe_payload: Record<string, unknown>
}

export const events = (db: TestDatabase, unit: string) =>
  db.owner<UnitEvent & pg.QueryResultRow>(
    `select event_domain || '.' || event_type as type, event_stream, canonical_address, workspace_id, actor, safe_payload
       from iu_core.event_outbox where event_subject_ref = $1 order by seq`,
    [unit],
  )

export interface OutboxRow {
  operation: string
  content_hash: string | null
  generation: string
  status: string
  /** Seconds between the last enqueuing and the earliest run. */
  wait: number
}

export async function outbox(db: TestDatabase, unit: string): Promise<OutboxRow | undefined> {
  const [found] = await db.owner<OutboxRow & pg.QueryResultRow>(
    `select operation, content_hash, generation::text, status, extract(epoch from earliest_run_at - changed_at)::float as wait
       from iu_core.vector_outbox where unit_id = $1`,
    [unit],
  )
  return found
}

export const lifecycleLog = (db: TestDatabase, unit: string) =>
  db.owner<{ from_status: string; to_status: string } & pg.QueryResultRow>(
    `select from_status, to_status, apr_ref, reason, changed_by, change_set_id
       from public.iu_lifecycle_log where unit_id = $1 order by log_id`,
    [unit],
  )

/** The detail of a refusal, with its SQLSTATE. */
export async function refusal(work: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await work.then(
    () => new Error('not refused') as pg.DatabaseError,
    (thrown: pg.DatabaseError) => thrown,
  )
  return { code: error.code, ...(error.detail?.startsWith('{') ? JSON.parse(error.detail) : {}) }
}
