/** Who sees and writes which rows: directly, around the functions. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { directus, member, type Person, person, service, type Workplace, workplace } from './people.ts'
import { PACKAGE, stage } from './staged.ts'

const db = useDatabase()
let place: Workplace
const people = new Map<string, Person>()
/** Ids of the records that are there, by who may see them. */
const records: Record<'agents' | 'others' | 'elsewhere' | 'global', string> = {
  agents: '',
  others: '',
  elsewhere: '',
  global: '',
}

const TABLES = [
  'iu_staging_record',
  'iu_staging_payload',
  'iu_staging_check',
  'iu_staging_kind_policy',
  'iu_staging_kind_type',
  'iu_staging_kind_policy_audit',
  'iu_staging_blob_trash',
]
const VIEWS = ['v_iu_staging_record', 'v_iu_staging_payload_observability']

beforeAll(async () => {
  place = await workplace(db)
  const elsewhere = await createWorkspace(db, 'elsewhere')
  const { session } = place.service
  const ticker = await service(db, 'ticker')
  const make = async (workspace: string | null, owner: string) => {
    const { staging_record_id } = await stage(session, { workspace, owner, ...PACKAGE })
    await ticker.session.query(`select iu_core.fn_iu_staging_tick($1, 'totals')`, [staging_record_id])
    return staging_record_id
  }
  records.agents = await make(place.workspace, place.agent.actor)
  records.others = await make(place.workspace, place.owner.actor)
  records.elsewhere = await make(elsewhere, place.owner.actor)
  records.global = await make(null, place.owner.actor)
  for (const [name, one] of Object.entries({
    viewer: member(db, place.workspace, 'viewer'),
    operator: member(db, place.workspace, 'operator'),
    reviewer: member(db, place.workspace, 'reviewer'),
    admin: member(db, place.workspace, 'admin'),
    'another agent': member(db, place.workspace, 'agent'),
    stranger: member(db, elsewhere, 'reviewer'),
    'an agent elsewhere': member(db, elsewhere, 'agent'),
    anon: person(db, 'anon', place.agent.actor),
    directus: directus(db),
  })) {
    people.set(name, await one)
  }
  people.set('agent', place.agent)
  people.set('service_role', place.service)
  people.set('dot_executor', place.worker)
  const vectors = await db.session('stagedoor_worker')
  await vectors.query('set role vector_worker')
  people.set('vector_worker', { actor: 'stagedoor_worker', session: vectors })
})

const SEES: Record<string, readonly (keyof typeof records)[]> = {
  viewer: ['agents', 'others'],
  operator: ['agents', 'others'],
  reviewer: ['agents', 'others'],
  admin: ['agents', 'others'],
  agent: ['agents'],
  'another agent': [],
  stranger: ['elsewhere'],
  'an agent elsewhere': [],
  directus: ['agents', 'others', 'elsewhere', 'global'],
  service_role: ['agents', 'others', 'elsewhere', 'global'],
  dot_executor: ['agents', 'others', 'elsewhere', 'global'],
}

async function idsIn(session: pg.Client, relation: string, column = 'staging_record_id'): Promise<string[]> {
  const { rows } = await session.query(`select distinct ${column}::text as id from iu_core.${relation}`)
  return rows.map((row) => row.id as string).sort()
}

describe.each(Object.entries(SEES))('%s', (name, sees) => {
  const ids = () => sees.map((which) => records[which]).sort()

  it.each(['iu_staging_record', 'iu_staging_payload', 'iu_staging_check', ...VIEWS])(
    `sees the records of ${sees.join(', ') || 'nobody'} in %s`,
    async (relation) => {
      expect(await idsIn(people.get(name)!.session, relation)).toEqual(ids())
    },
  )

  it(`gets events about the records of ${sees.join(', ') || 'nobody'}`, async () => {
    const { session } = people.get(name)!
    const events = `event_outbox where event_domain = 'staging'`
    // Its own tool has no business with the outbox.
    if (name === 'directus')
      expect(await sqlstateOf(idsIn(session, events, 'event_subject_ref'))).toBe('42501')
    else expect(await idsIn(session, events, 'event_subject_ref')).toEqual(ids())
  })
})

describe.each(['anon', 'vector_worker'])('%s', (name) => {
  it.each([...TABLES, ...VIEWS])('cannot read %s', async (relation) => {
    const { session } = people.get(name)!
    expect(await sqlstateOf(session.query(`select * from iu_core.${relation}`))).toBe('42501')
    expect(await sqlstateOf(session.query(`select count(*) from iu_core.${relation}`))).toBe('42501')
    expect(await sqlstateOf(session.query(`copy iu_core.${relation} to stdout`))).toBe('42501')
  })

  it('has no privilege of any kind on any table, column, view or function of the staging zone', async () => {
    const rights = await db.owner(
      `select oid::regclass::text as name from pg_class
        where relnamespace = 'iu_core'::regnamespace and relname ~ 'iu_staging' and relkind in ('r', 'p', 'v', 'm')
          and (has_table_privilege($1::name, oid, 'select, insert, update, delete, truncate, references, trigger')
               or has_any_column_privilege($1::name, oid, 'select, insert, update, references'))
       union all
       select oid::regprocedure::text from pg_proc
        where pronamespace = 'iu_core'::regnamespace and proname ~ 'iu_staging' and has_function_privilege($1::name, oid, 'execute')`,
      [name],
    )
    expect(rights).toEqual([])
  })
})

it('names every table and view of the staging zone in this test', async () => {
  const rows = await db.owner<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'iu_core'::regnamespace and relname ~ 'iu_staging' and relkind in ('r', 'p', 'v', 'm')`,
  )
  expect(rows.map((row) => row.name).sort()).toEqual([...TABLES, ...VIEWS].sort())
})

describe.each([...Object.keys(SEES), 'anon', 'vector_worker'])('%s', (name) => {
  it.each(TABLES)('cannot insert into, update, delete from or truncate %s', async (table) => {
    const { session } = people.get(name)!
    const [column] = await db.owner<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum = 1`,
      [`iu_core.${table}`],
    )
    for (const sql of [
      `insert into iu_core.${table} default values`,
      `update iu_core.${table} set ${column!.name} = default`,
      `delete from iu_core.${table}`,
      `truncate iu_core.${table} cascade`,
      `lock table iu_core.${table} in exclusive mode`,
    ]) {
      await session.query('begin')
      const refused = await sqlstateOf(session.query(sql))
      await session.query('rollback')
      expect(refused, sql).toBe('42501')
    }
  })
})

it('reveals nothing to an agent about a record whose id it has learnt, not even that its digest is another', async () => {
  const session = people.get('another agent')!.session
  for (const id of Object.values(records)) {
    for (const sql of [
      'select from iu_core.iu_staging_record where staging_record_id = $1',
      'select from iu_core.iu_staging_payload where staging_record_id = $1',
      'select from iu_core.v_iu_staging_record where staging_record_id = $1',
      'select from iu_core.event_outbox where event_subject_ref = $1',
    ]) {
      expect((await session.query(sql, [id])).rowCount, sql).toBe(0)
    }
  }
})

it('shows an agent what became of its own record, also what others did with it', async () => {
  const { staging_record_id: id, content_hash } = await stage(place.agent.session, {
    workspace: place.workspace,
  })
  await place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [id, content_hash])
  const { rows } = await place.agent.session.query(
    'select event_type from iu_core.event_outbox where event_subject_ref = $1 order by seq',
    [id],
  )
  expect(rows.map((row) => row.event_type)).toEqual(['record_created', 'record_approved'])
})
