/** Who may touch which table and call which function, read from the catalogue cell by cell. */
import { describe, expect, it } from 'vitest'
import { ROLES } from '../../src/kernel/postgres/migrate/bootstrap.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

const OWNER = 'workflow_admin'
const OTHERS = ROLES.map((role) => role.name).filter((name) => name !== OWNER)
const WRITES = ['insert', 'update', 'delete', 'truncate', 'references', 'trigger']

/** The only rows of ours that are written without a function, and by whom. */
const WRITTEN_DIRECTLY: Record<string, readonly string[]> = {
  // Membership is administration: back-end code keeps it, as it keeps public.workspace_members.
  'iu_core.workspace_member_role': ['service_role'],
  // The table of the view public.staging_rows, which belongs to the back end, too: it copies the rows of a file into it. Columns that say
  // whose a row is cannot be updated, so there is no right to update it as a whole.
  'iu_core.ingest_staged_row': ['service_role'],
}
const NOT_UPDATED = ['iu_core.ingest_staged_row']

/** What a role may do with each table, view and sequence of these schemas; those without any right are left out. */
async function rights(role: string, schemas: string[]): Promise<Record<string, string[]>> {
  const rows = await db.owner<{ name: string; privileges: string[] }>(
    `select name, array_agg(privilege order by position) as privileges
       from (select format('%I.%I', n.nspname, c.relname) as name, c.relkind, c.oid
               from pg_class c join pg_namespace n on n.oid = c.relnamespace
              where n.nspname = any ($2) and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')) as relation,
            unnest($3::text[]) with ordinality as asked (privilege, position)
      where case when relkind = 'S' then has_sequence_privilege($1::name, oid, 'usage, select, update')
                 else has_table_privilege($1::name, oid, privilege) end
      group by name`,
    [role, schemas, ['select', ...WRITES]],
  )
  return Object.fromEntries(rows.map((row) => [row.name, row.privileges]))
}

describe.each(OTHERS)('%s', (role) => {
  it('cannot write any table of iu_core or noetl directly', async () => {
    const all = Object.entries(await rights(role, ['iu_core', 'noetl']))
    const found = all
      .map(
        ([table, privileges]) => [table, privileges.filter((privilege) => privilege !== 'select')] as const,
      )
      .filter(([, writes]) => writes.length > 0)
    const allowed = Object.entries(WRITTEN_DIRECTLY).filter(([, roles]) => roles.includes(role))
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(
        allowed.map(([table]) => [
          table,
          NOT_UPDATED.includes(table) ? ['insert', 'delete'] : ['insert', 'update', 'delete'],
        ]),
      ),
    )
  })

  it('can create nothing in our schemas', async () => {
    const rows = await db.owner<{ schema: string }>(
      `select schema from unnest(array['iu_core', 'noetl', 'public']) as schema
        where has_schema_privilege($1::name, schema, 'create')`,
      [role],
    )
    expect(rows).toEqual([])
  })

  it('owns nothing and is no member of the owner', async () => {
    const [row] = await db.owner<{ owned: string; member: boolean }>(
      `select (select count(*) from pg_class where relowner = $1::regrole)
            + (select count(*) from pg_proc where proowner = $1::regrole) as owned,
              pg_has_role($1::name, '${OWNER}', 'member') as member`,
      [role],
    )
    expect(row).toEqual({ owned: '0', member: false })
  })
})

it('refuses a direct write when it is really tried', async () => {
  const tables = await db.owner<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace = 'iu_core'::regnamespace and relkind in ('r', 'p')`,
  )
  expect(tables.length).toBeGreaterThan(10)
  for (const role of ['authenticated', 'service_role', 'stagedoor_agent', 'stagedoor_reviewer', 'anon']) {
    for (const table of tables) {
      if (WRITTEN_DIRECTLY[table.name]?.includes(role)) continue
      const tried = db.as({ role, claims: { sub: 'ada' } }, (client) =>
        client.query(`delete from ${table.name}`),
      )
      expect(await sqlstateOf(tried), `${role} deletes from ${table.name}`).toBe('42501')
    }
  }
})

describe.each(['anon', 'stagedoor_api', 'stagedoor_worker', 'stagedoor_playbook', 'stagedoor_proposer'])(
  '%s, as itself',
  (role) => {
    it('has no right on any table, view or sequence', async () => {
      expect(await rights(role, ['iu_core', 'noetl', 'public'])).toEqual({})
    })

    it('can call no function of ours', async () => {
      const rows = await db.owner(
        `select p.oid::regprocedure from pg_proc p
        where p.pronamespace in ('iu_core'::regnamespace, 'noetl'::regnamespace)
          and has_function_privilege($1::name, p.oid, 'execute')`,
        [role],
      )
      expect(rows).toEqual([])
    })

    it('cannot look into our schemas', async () => {
      const rows = await db.owner(
        `select s from unnest(array['iu_core', 'noetl']) as s where has_schema_privilege($1::name, s, 'usage')`,
        [role],
      )
      expect(rows).toEqual([])
    })
  },
)

it('lets the login of the API do nothing before it takes a role', async () => {
  const session = await db.session('stagedoor_api')
  for (const sql of [
    'select from public.workspaces',
    'select from iu_core.dot_config',
    'select iu_core.fn_actor()',
    `select iu_core.require_member(null, 'read')`,
    `select iu_core.fn_event_emit('system', 'gate_changed')`,
    `select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`,
    'create table public.mine (id int)',
    'set role workflow_admin',
    'set role dot_executor',
    'set role vector_worker',
  ]) {
    expect(await sqlstateOf(session.query(sql)), sql).toBe('42501')
  }
})

it('lets the login of the workers become nothing that decides for people', async () => {
  const session = await db.session('stagedoor_worker')
  for (const role of ['workflow_admin', 'stagedoor_reviewer', 'authenticated', 'stagedoor_api']) {
    expect(await sqlstateOf(session.query(`set role ${role}`)), role).toBe('42501')
  }
})

it('lets vector_worker read the gates, units and documents, and nothing that is staged', async () => {
  const units = [
    'information_unit',
    'unit_version',
    'universal_edges',
    'unit_check',
    'unit_vector',
    'unit_kind',
  ]
  const others = [
    'dot_config',
    'kb_document',
    'kb_unit_map',
    'topic_vocabulary',
    'vector_outbox',
    'vector_policy',
    'v_document',
  ]
  // The projection itself, which it writes through functions.
  const projection = [
    'generation',
    'collection',
    'chunk',
    'language',
    'lexeme',
    'pending',
    'posting',
    'statistics',
    'point',
    'cost',
    'document_sync',
    'pending',
    'table',
    'row',
    'row_change',
  ].map((name) => `search_${name}`)
  const tables = [
    ...[...units, ...others, ...projection].map((name) => `iu_core.${name}`),
    'public.iu_lifecycle_log',
  ]
  expect(await rights('vector_worker', ['iu_core', 'noetl', 'public'])).toEqual(
    Object.fromEntries(tables.map((table) => [table, ['select']])),
  )
})
