/** What a question is corrected, completed and counted by: never by rows of tables that the caller may not read. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { createMember, type Member } from '../../support/factories.ts'
import { type Asked, createKnowledge, type Knowledge } from '../knowledge.ts'
import { useProjecting } from '../projection-workplace.ts'
import { activate, allowSearch, settleTables } from './table-life.ts'

const db = useDatabase()
const place = useProjecting(db)
let know: Knowledge
let owner: pg.Client
let other: Member

const ask = (text: string, options: Asked = {}) => know.ask(text, { dense: [], ...options })

beforeAll(async () => {
  know = await createKnowledge(db)
  other = await createMember(db, know.workspace, 'viewer')
  await know.unit('handbook/birds', 'The bluebeard sings in the morning. Merge your calendars.')
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
    `insert into notes select n, $1, 'The bluebeare merger closes in June.' from generate_series(1, 3) n`,
    [know.people.viewer.userId],
  )
  await activate(db, { source: 'notes', text: ['note'], workspace_id: know.workspace })
  await settleTables(place)
})

it('a word that only rows have is known to whoever may read one of them, and unknown to the others', async () => {
  const mine = await ask('bluebeare')
  expect(mine.corrected).toBeUndefined()
  expect(mine.hits.map(({ source }) => source)).toEqual(['row', 'row', 'row'])
  const theirs = await ask('bluebeare', { as: other })
  expect(theirs.corrected).toMatchObject({ text: 'bluebeard', instead: 'bluebeare' })
  expect(theirs.hits.map(({ source }) => source)).toEqual(['unit'])
})

it('is a correction, completion or similar word for whoever may read one of the rows', async () => {
  expect((await ask('mergor')).corrected?.text).toBe('merger')
  expect((await ask('merge', { typing: true })).suggestions).toEqual(['merger'])
  expect((await ask('junne')).corrected?.text).toBe('june')
  const { no_hits } = await ask('juna', { exact: true })
  expect(no_hits!.unknown_words).toEqual([{ word: 'juna', similar: ['june'] }])
})

it('is none for anybody else', async () => {
  expect((await ask('mergre', { as: other })).corrected?.text).toBe('merge')
  expect((await ask('junne', { as: other })).corrected).toBeUndefined()
  const typed = await ask('merg', { as: other, typing: true })
  expect(typed.suggestions).toEqual(['merge'])
  const { no_hits } = await ask('juna', { as: other })
  expect(no_hits!.unknown_words).toEqual([{ word: 'juna', similar: [] }])
})

it('facets, pages and equal hits are of rows that the caller may read', async () => {
  const mine = await ask('merger june', { facets: true, collapse: false, limit: 2 })
  expect(mine.facets).toContainEqual({ filter: 'source', value: 'row', count: 3 })
  expect(mine.hits).toHaveLength(2)
  const rest = await ask('merger june', { collapse: false, limit: 2, after: mine.next! })
  const rows = [...mine.hits, ...rest.hits].flatMap(({ key }) => key?.id ?? [])
  expect(rows.sort()).toEqual(['1', '2', '3'])
  const theirs = await ask('merger june', { as: other, facets: true })
  expect(theirs.facets!.filter(({ value }) => value === 'row')).toEqual([])
  expect(theirs.hits.filter(({ source }) => source === 'row')).toEqual([])
  expect(JSON.stringify(theirs)).not.toContain('notes')
})

it('rows have no date of change: by newest they are last', async () => {
  const { hits } = await ask('merger merge calendars', { sort: 'newest', collapse: false })
  expect(hits.map(({ source }) => source)).toEqual(['unit', 'row', 'row', 'row'])
})

it('a login that is not ours learns nothing of them by the functions', async () => {
  await db.owner(
    `insert into public.workspace_members (workspace_id, user_id, role) values ($1, 'postgres', 'viewer')`,
    [know.workspace],
  )
  const session = await db.session('postgres')
  await session.query('set role authenticated')
  const { rows } = await session.query<{ words: { unknown: { word: string; rows: string[] }[] } }>(
    'select iu_core.fn_search_question($1, $2) as words',
    [know.workspace, ['bluebeare', 'xylophone']],
  )
  expect(rows[0]!.words.unknown).toMatchObject([
    { word: 'bluebeare', rows: [] },
    { word: 'xylophone', rows: [] },
  ])
  const completed = await session.query<{ lexeme: string; chunks: number }>(
    'select lexeme, chunks from iu_core.fn_search_completions($1, $2)',
    [know.workspace, 'jun'],
  )
  expect(completed.rows).toEqual([])
})
