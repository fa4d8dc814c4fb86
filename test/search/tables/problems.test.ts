/** Tables that cannot be searched, and tables that change under their projection. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { disableRoute } from '../../../src/events/routes.ts'
import { auditSearch } from '../../../src/search/audit.ts'
import { verifyTables } from '../../../src/search/table-rows.ts'
import { registerSearchTable, removeSearchTable, requireSearchTable } from '../../../src/search/tables.ts'
import { useDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'
import { createKnowledge, type Knowledge } from '../knowledge.ts'
import { useProjecting } from '../projection-workplace.ts'
import { activate, allowSearch, approve, rehearse, settleTables } from './table-life.ts'

const db = useDatabase()
const place = useProjecting(db)
let know: Knowledge
let owner: pg.Client

const add = (source: string, more: object = {}) =>
  registerSearchTable(db.pool(MIGRATOR), { source, text: ['about'], workspace_id: know.workspace, ...more })
const ids = async (text: string) =>
  (await know.ask(text, { dense: [] })).hits.map(({ key }) => Object.values(key ?? {}).join('/'))
const stateOf = async (code: string) => (await requireSearchTable(db.pool('stagedoor_worker'), code)).state
const issues = () =>
  db.owner<{ subject_ref: string }>(
    `select subject_ref from iu_core.system_issue where code = 'search_table_stopped' and resolved_at is null order by 1`,
  )

beforeAll(async () => {
  know = await createKnowledge(db)
  owner = await db.session('postgres')
  await know.unit('handbook/leave', 'Paid leave is 28 days.')
})

async function table(name: string, columns = 'id int primary key, about text', rows = `(1, 'green apples')`) {
  await owner.query(
    `create table ${name} (${columns}); grant select on ${name} to authenticated; insert into ${name} values ${rows}`,
  )
  await allowSearch(owner, name)
}

describe('a table is refused', () => {
  it.each([
    'iu_core.iu_staging_payload',
    'iu_core.iu_staging_record',
    'public.staging_rows',
    'iu_core.ingest_staged_row',
    'noetl.event',
    'iu_core.information_unit',
  ])('that is ours: %s', async (source) => {
    await expect(add(source)).rejects.toMatchObject({ code: 'SD720' })
    const [schema, name] = source.split('.')
    await expect(
      db.owner(
        `insert into iu_core.search_table (code, source_schema, source_table, workspace_id, language, key_columns, text_columns, filter_columns, read_sql, page_sql, registered_by)
           values ('x', $1, $2, $3, 'en', '{id}', '{a}', '{}', '', '', 'me')`,
        [schema, name, know.workspace],
      ),
    ).rejects.toMatchObject({ code: 'SD720' })
  })
  it('that has a staging table among its children', async () => {
    await owner
      .query(
        'create table disguise (like iu_core.ingest_staged_row); alter table iu_core.ingest_staged_row inherit disguise',
      )
      .catch(() => {})
    const [child] = await db.owner(`select from pg_inherits where inhparent = 'disguise'::regclass`)
    expect(child).toBeDefined()
    await expect(add('disguise')).rejects.toMatchObject({
      message: expect.stringContaining('it belongs to Stagedoor'),
    })
    await owner.query('alter table iu_core.ingest_staged_row no inherit disguise; drop table disguise')
  })
  it.each([
    ['without a key', 'k1 (about text)', {}, 'it has no key: a primary key'],
    [
      'with an unknown column',
      'k2 (id int primary key, about text)',
      { text: ['abuot'] },
      'it has no column abuot (text); it has id, about',
    ],
    [
      'with a column that is no text',
      'k3 (id int primary key, about bytea)',
      {},
      'its column about is of the type bytea, which is no text',
    ],
    [
      'with a workspace column that is no uuid',
      'k4 (id int primary key, about text)',
      { workspace_id: undefined, workspace_column: 'id' },
      'is not a uuid',
    ],
    ['without text', 'k5 (id int primary key, about text)', { text: [] }, 'no column is named'],
  ])('%s', async (_, definition, more, reason) => {
    const name = definition.split(' ')[0]!
    await owner.query(`create table ${definition}`)
    await allowSearch(owner, name)
    await expect(add(name, more)).rejects.toMatchObject({ message: expect.stringContaining(reason) })
  })
  it('that is a view, or does not exist', async () => {
    await owner.query('create view looks as select 1 as id')
    await expect(add('looks')).rejects.toMatchObject({
      message: expect.stringContaining('it is not a table'),
    })
    await expect(add('nowhere')).rejects.toMatchObject({
      message: expect.stringContaining('there is no such table'),
    })
  })
  it('that vector_worker may not read, with the statements; nothing is granted silently', async () => {
    await owner.query(`create schema closed; create table closed."My Table" (id int primary key, about text);
      alter table closed."My Table" enable row level security`)
    const statements = [
      'grant usage on schema closed to vector_worker;',
      'grant select on closed."My Table" to vector_worker;',
      'create policy stagedoor_search_reads on closed."My Table" for select to vector_worker using (true);',
    ]
    const refused = await add('closed."My Table"').catch((error) => error)
    expect(refused.code).toBe('SD722')
    expect(JSON.parse(refused.detail)).toEqual({ table: 'closed."My Table"', statements })
    await owner.query(`${statements.join(' ')} grant usage on schema closed to workflow_admin`)
    expect(await add('closed."My Table"')).toBe('closed.my_table')
    await removeSearchTable(db.pool(MIGRATOR), 'closed.my_table')
  })
})

describe('a table that changes under its projection', () => {
  it('stops with an issue when a column is dropped, while writers and the rest of search go on; it resumes by itself', async () => {
    await table('fruit')
    await activate(db, { source: 'fruit', text: ['about'], workspace_id: know.workspace })
    await settleTables(place)
    expect(await ids('apples')).toEqual(['1'])
    await owner.query('alter table fruit rename about to description')
    await owner.query(`insert into fruit values (2, 'red cherries')`)
    await settleTables(place)
    await verifyTables(place.pool)
    expect(await stateOf('fruit')).toBe('stopped')
    expect(await issues()).toEqual([{ subject_ref: 'fruit' }])
    const { hits, warnings } = await know.ask('apples leave', { dense: [] })
    expect(hits.map(({ canonical_address }) => canonical_address)).toEqual(['handbook/leave'])
    expect(warnings).toEqual([
      'public.fruit is not searched: it has no column about (text); it has id, description. It goes on by itself when that is corrected.',
    ])
    await owner.query(
      `insert into fruit values (3, 'yellow lemons'); delete from fruit where id = 1; alter table fruit rename description to about`,
    )
    expect(await verifyTables(place.pool)).toEqual([{ code: 'fruit', finding: 'active again' }])
    await settleTables(place)
    expect(await issues()).toEqual([])
    expect(await ids('apples')).toEqual([])
    expect(await ids('cherries lemons')).toHaveLength(2)
  })
  it('stops when its key is another one, and when it is dropped', async () => {
    await table('keyed')
    await activate(db, { source: 'keyed', text: ['about'], workspace_id: know.workspace })
    await settleTables(place)
    await owner.query('alter table keyed rename id to number')
    await owner.query(`update keyed set about = 'changed'`)
    await verifyTables(place.pool)
    expect((await requireSearchTable(db.pool('stagedoor_worker'), 'keyed')).stopped_reason).toBe(
      'its key was (id) and is (number)',
    )
    await owner.query('drop table keyed')
    await verifyTables(place.pool)
    expect((await requireSearchTable(db.pool('stagedoor_worker'), 'keyed')).stopped_reason).toBe(
      'the table public.keyed was dropped or renamed',
    )
    await removeSearchTable(db.pool(MIGRATOR), 'keyed')
    await settleTables(place)
    expect(await issues()).toEqual([])
  })
  it('stops when one of its routes is disabled, and misses nothing when it is active again', async () => {
    await table('routed')
    const code = await activate(db, { source: 'routed', text: ['about'], workspace_id: know.workspace })
    await settleTables(place)
    await db.as({ role: 'service_role', claims: { sub: 'second-person' } }, (client) =>
      disableRoute(client, 'search.routed.update', { reason: 'for a while' }),
    )
    expect(await stateOf(code)).toBe('stopped')
    await owner.query(`update routed set about = 'blue plums'`)
    await db.as({ role: 'service_role', claims: { sub: 'second-person' } }, (client) =>
      client.query(`select iu_core.fn_sql_route_activate('search.routed.update')`),
    )
    await settleTables(place)
    expect(await ids('plums')).toEqual(['1'])
  })
  it('with other columns it is reviewed again', async () => {
    await table('again', 'id int primary key, about text, more text', `(1, 'pears', 'quinces')`)
    const code = await activate(db, { source: 'again', text: ['about'], workspace_id: know.workspace })
    await settleTables(place)
    expect(
      await activate(db, { source: 'again', text: ['about'], workspace_id: know.workspace }).catch(
        (error) => error.code,
      ),
    ).toBe('SD724')
    expect(await stateOf(code)).toBe('active')
    await rehearse(db, { source: 'again', text: ['about', 'more'], workspace_id: know.workspace })
    expect(await stateOf(code)).toBe('dry_run')
    expect(await ids('quinces')).toEqual([])
    await approve(db, code)
    await settleTables(place)
    expect(await ids('quinces')).toEqual(['1'])
  })
})

describe('writers that began before the triggers', () => {
  it('are waited for: what they commit later is found', async () => {
    await table('slow')
    const code = await rehearse(db, { source: 'slow', text: ['about'], workspace_id: know.workspace })
    await owner.query(`begin; insert into slow values (7, 'late figs')`)
    await approve(db, code)
    await settleTables(place)
    expect(await ids('apples')).not.toContain('7')
    expect(await db.owner(`select scan_state from iu_core.search_table where code = 'slow'`)).toEqual([
      { scan_state: 'waiting' },
    ])
    await owner.query('commit')
    await settleTables(place)
    expect(await ids('figs')).toEqual(['7'])
  })
})

describe('the audit', () => {
  it('finds planted orphans of tables, a chunk without its row and a row without its chunk, and repairs them', async () => {
    await table('planted', undefined, `(1, 'walnut'), (2, 'almond'), (3, 'hazel')`)
    await activate(db, { source: 'planted', text: ['about'], workspace_id: know.workspace })
    await settleTables(place)
    // Of a unit that nobody embedded the audit says so as well.
    const audit = async (repair = false) => {
      const report = await auditSearch({
        pool: db.pool('stagedoor_worker'),
        worker: place.pool,
        providers: place.providers,
        repair,
      })
      return report.findings.filter(({ collection }) => collection === null)
    }
    expect(await audit()).toEqual([])
    // Without triggers, as replication or a restore writes.
    await owner.query(`set session_replication_role = replica; delete from planted where id = 1;
      insert into planted values (4, 'pecan'); update planted set about = 'cashew' where id = 2; set session_replication_role = origin`)
    const findings = await audit(true)
    expect(findings.map(({ finding, detail }) => [finding, detail])).toEqual([
      ['missing', 'public.planted 2: its current text is not in search'],
      ['missing', 'public.planted 4: its current text is not in search'],
      ['left', 'public.planted 1: the row is gone'],
    ])
    await settleTables(place)
    expect(await audit()).toEqual([])
    expect(await ids('pecan cashew')).toHaveLength(2)
  })
})
