/** Who finds which rows: only those that the caller may read now, and nothing tells of the others. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { requireSearchTable } from '../../../src/search/tables.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { createKnowledge, type Knowledge } from '../knowledge.ts'
import { useProjecting } from '../projection-workplace.ts'
import { activate, allowSearch, settleTables } from './table-life.ts'

const db = useDatabase()
const place = useProjecting(db)
let know: Knowledge
let owner: pg.Client
let second: Member

const idsOf = async (text: string, options = {}) =>
  (await know.ask(text, { dense: [], ...options })).hits.map(({ key }) => key?.id)

beforeAll(async () => {
  know = await createKnowledge(db)
  second = await createMember(db, know.workspace, 'viewer')
  owner = await db.session('postgres')
  await owner.query(`
    create table notes (id int primary key, writer text, note text);
    alter table notes enable row level security;
    create policy own_notes on notes for select to authenticated
      using (writer = current_setting('request.jwt.claims', true)::jsonb ->> 'sub');
    create policy stagedoor_search_reads on notes for select to vector_worker using (true);
    grant select on notes to authenticated`)
  await allowSearch(owner, 'notes')
  await owner.query(
    `insert into notes values (1, $1, 'The merger is called Bluebird.'), (2, $2, 'Lunch is at noon.')`,
    [know.people.viewer.userId, second.userId],
  )
  await activate(db, { source: 'notes', text: ['note'], workspace_id: know.workspace })
  await settleTables(place)
})

describe('row level security', () => {
  it('shows a row to those whom the policy of its table shows it, and to nobody else', async () => {
    expect(await idsOf('bluebird')).toEqual(['1'])
    expect(await idsOf('bluebird', { as: second })).toEqual([])
    expect(await idsOf('lunch', { as: second })).toEqual(['2'])
    expect(await idsOf('lunch')).toEqual([])
  })
  it('says nothing of rows that are hidden: no count, no warning, no similar word', async () => {
    const hidden = await know.ask('bluebird', { as: second, dense: [] })
    const nothing = await know.ask('xylophone', { as: second, dense: [] })
    expect(hidden.legs).toEqual(nothing.legs)
    expect(hidden.warnings).toEqual(nothing.warnings)
    const { no_hits } = await know.ask('bluebirt', { as: second })
    expect(no_hits!.unknown_words.flatMap(({ similar }) => similar)).toEqual([])
    // Of the two rows in search not even their number.
    expect(no_hits).toMatchObject({ texts: 0, tables: 1 })
  })
  it('counts at the moment of the question', async () => {
    await owner.query('update notes set writer = $1 where id = 1', [second.userId])
    expect(await idsOf('bluebird')).toEqual([])
    expect(await idsOf('bluebird', { as: second })).toEqual(['1'])
    await owner.query('update notes set writer = $1 where id = 1', [know.people.viewer.userId])
  })
  it('finds the one row that may be read behind hundreds that may not', async () => {
    await owner.query(
      `insert into notes select n, 'somebody', 'quarterly figures' from generate_series(100, 500) n;
       insert into notes values (501, '${second.userId}', 'A long text in which the quarterly numbers come late: figures follow at the end of the month.')`,
    )
    await settleTables(place)
    expect(await idsOf('quarterly figures', { as: second })).toEqual(['501'])
  })
  it('holds for the leg by meaning, too', async () => {
    const chunks = await db.owner<{ chunk_id: string }>(
      `select c.chunk_id from iu_core.search_chunk c join iu_core.search_row r using (row_id) where r.key = '{1}' or r.key = '{2}' order by r.key`,
    )
    const dense = chunks.map(({ chunk_id }) => chunk_id)
    const answer = await know.ask('something else entirely', { dense })
    expect(answer.hits.map(({ key }) => key?.id)).toEqual(['1'])
    expect(answer.legs.dense).toBe(1)
  })
})

describe('rights on the table', () => {
  it('a caller without SELECT gets no row and is told so, whether there are hits or not', async () => {
    const agent = { as: know.people.agent, dense: [] }
    const denied =
      'Rows of public.notes are not shown: you do not have the right to read the table. `stagedoor search show-table public.notes` prints the GRANT for its owner.'
    for (const question of ['bluebird', 'xylophone']) {
      const { hits, warnings } = await know.ask(question, agent)
      expect(hits).toEqual([])
      expect(warnings).toEqual([denied])
    }
  })
  it('a table says which roles find its rows, and what its owner runs for the others', async () => {
    const { readers, reader_grants } = await db.as({ role: 'service_role' }, (client) =>
      requireSearchTable(client, 'notes'),
    )
    expect(readers).toContain('authenticated')
    expect(readers).not.toContain('stagedoor_agent')
    expect(reader_grants).toEqual([
      expect.stringMatching(/^grant select on public\.notes to .*stagedoor_agent.*;$/),
    ])
    await owner.query('begin')
    await owner.query(reader_grants.join(' '))
    const granted = await owner.query(`select reader_grants from iu_core.v_search_table where code = 'notes'`)
    await owner.query('rollback')
    expect(granted.rows).toEqual([{ reader_grants: [] }])
  })
  it('a login that is not ours finds no rows by the functions', async () => {
    const session = await db.session('postgres')
    await db.owner(
      `insert into public.workspace_members (workspace_id, user_id, role) values ($1, 'postgres', 'viewer')`,
      [know.workspace],
    )
    await session.query('set role authenticated')
    const lexical = await session.query('select * from iu_core.fn_search_lexical($1, $2)', [
      know.workspace,
      'bluebird lunch',
    ])
    expect(lexical.rows).toEqual([])
    const filtered = await session.query(
      `select * from iu_core.fn_search_lexical($1, $2, 10, '{"source": "row"}')`,
      [know.workspace, 'bluebird lunch'],
    )
    expect(filtered.rows).toEqual([])
    const { chunks } = (
      await db.owner<{ chunks: string[] }>(
        'select array_agg(chunk_id) as chunks from iu_core.search_chunk where row_id is not null',
      )
    )[0]!
    const scored = await session.query('select * from iu_core.fn_search_scores($1, $2, $3)', [
      know.workspace,
      'bluebird lunch',
      chunks,
    ])
    expect(scored.rows).toEqual([])
    const known = await session.query<{ words: { unknown: { word: string }[] } }>(
      'select iu_core.fn_search_unknown_words($1, $2) as words',
      [know.workspace, ['bluebird', 'xylophone']],
    )
    expect(known.rows[0]!.words.unknown.map(({ word }) => word)).toEqual(['bluebird', 'xylophone'])
    await expect(session.query('select * from iu_core.search_row')).rejects.toMatchObject({ code: '42501' })
  })
  it('vector_worker still has no privilege on a staging table', async () => {
    const rows = await db.owner(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where (n.nspname = 'iu_core' and c.relname ~ 'staging|staged' or c.relname = 'staging_rows' or n.nspname = 'noetl')
          and c.relkind in ('r', 'p', 'v') and has_table_privilege('vector_worker', c.oid, 'select')`,
    )
    expect(rows).toEqual([])
  })
})

describe('tenancy', () => {
  it('a row belongs to the workspace that its column says, moves with it, and without one to nobody', async () => {
    const elsewhere = await createWorkspace(db, 'elsewhere')
    const their = await createMember(db, elsewhere, 'viewer')
    await owner.query(
      `create table tickets (id int primary key, tenant uuid, about text); grant select on tickets to authenticated`,
    )
    await allowSearch(owner, 'tickets')
    await owner.query(
      `insert into tickets values (1, $1, 'printer on fire'), (2, $2, 'printer jammed'), (3, null, 'printer lost')`,
      [know.workspace, elsewhere],
    )
    await activate(db, { source: 'tickets', text: ['about'], workspace_column: 'tenant' })
    await settleTables(place)
    expect(await idsOf('printer')).toEqual(['1'])
    await owner.query('update tickets set tenant = $1 where id = 1', [elsewhere])
    expect(await idsOf('printer')).toEqual([])
    await settleTables(place)
    const chunks = await db.owner(
      `select c.workspace_id, r.key from iu_core.search_chunk c join iu_core.search_row r using (row_id)
         join iu_core.search_table t using (table_id) where t.code = 'tickets' order by r.key`,
    )
    expect(chunks).toEqual([
      { workspace_id: elsewhere, key: ['1'] },
      { workspace_id: elsewhere, key: ['2'] },
    ])
    expect(their.role).toBe('authenticated')
    expect(await db.owner(`select scan_skipped from iu_core.search_table where code = 'tickets'`)).toEqual([
      { scan_skipped: '1' },
    ])
  })
})
