/** Who acts in the tests of the staging zone: a session each, under the role and claims of the API's requests. */
import pg from 'pg'
import type { TestDatabase } from '../support/database.ts'
import { type AppRole, createMember, createWorkspace } from '../support/factories.ts'

export interface Person {
  /** The actor as the database names it. */
  readonly actor: string
  readonly session: pg.Client
}

/** A session that stays under one role and one subject, as if one request went on and on. */
export async function person(db: TestDatabase, role: string, sub: string): Promise<Person> {
  const session = await db.session('stagedoor_api')
  const claims = pg.escapeLiteral(JSON.stringify({ sub, role }))
  await session.query(`set role ${role}; select set_config('request.jwt.claims', ${claims}, false)`)
  return { actor: sub, session }
}

export async function member(db: TestDatabase, workspace: string, appRole: AppRole): Promise<Person> {
  const { role, userId } = await createMember(db, workspace, appRole)
  return person(db, role, userId)
}

/** Back-end code that acts for others by name. */
export const service = (db: TestDatabase, sub = 'importer'): Promise<Person> =>
  person(db, 'service_role', sub)

/** The login of the workers, which is dot_executor. */
export async function worker(db: TestDatabase): Promise<Person> {
  return { actor: 'stagedoor_worker', session: await db.session('stagedoor_worker') }
}

/** directus has no login of ours: its own tool brings one. */
export async function directus(db: TestDatabase): Promise<Person> {
  const session = await db.session('postgres')
  await session.query('set role directus')
  return { actor: 'postgres', session }
}

/** Somebody with all rights over the machine, whom no trigger stops. CHECKs still hold. */
export async function intruder(db: TestDatabase): Promise<pg.Client> {
  const session = await db.session('postgres')
  await session.query('set session_replication_role = replica')
  return session
}

export interface Workplace {
  readonly workspace: string
  readonly owner: Person
  readonly reviewer: Person
  readonly operator: Person
  readonly agent: Person
  readonly service: Person
  readonly worker: Person
  readonly intruder: pg.Client
}

/** A workspace with open gates, and one of each who work there. `owner` is a reviewer who stages. */
export async function workplace(db: TestDatabase): Promise<Workplace> {
  const workspace = await createWorkspace(db)
  await setGate(db, 'staging_writes_enabled', true)
  await setGate(db, 'staging_cleanup_enabled', true)
  return {
    workspace,
    owner: await member(db, workspace, 'reviewer'),
    reviewer: await member(db, workspace, 'reviewer'),
    operator: await member(db, workspace, 'operator'),
    agent: await member(db, workspace, 'agent'),
    service: await service(db),
    worker: await worker(db),
    intruder: await intruder(db),
  }
}

export type Gate = 'staging_writes_enabled' | 'staging_cleanup_enabled' | 'no_vector_staging_excluded'

export async function setGate(db: TestDatabase, gate: Gate, open: boolean): Promise<void> {
  await db.owner('select iu_core.fn_gate_set($1, $2, $3)', [`iu_core.${gate}`, open, 'a test'])
}
