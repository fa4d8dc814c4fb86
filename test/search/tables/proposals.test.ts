/** A table that is searched and open to proposals: what a statement would write is found by nobody before people promote it. */
import { beforeAll, expect, it } from 'vitest'
import { search } from '../../../src/search/query.ts'
import { createVectorSearch } from '../../../src/search/vector-search.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, type Member } from '../../support/factories.ts'
import { useProposals } from '../../support/proposals.ts'
import { NOTHING_CONFIGURED } from '../knowledge.ts'
import { useProjecting } from '../projection-workplace.ts'
import { activate, allowSearch, settleTables } from './table-life.ts'

const db = useDatabase()
const proposals = useProposals(db)
const place = useProjecting(db)
let viewer: Member

async function find(text: string): Promise<unknown[]> {
  const vectorSearch = createVectorSearch({ pool: db.pool('stagedoor_worker'), config: NOTHING_CONFIGURED })
  try {
    const request = { workspaceId: proposals.workspace, text }
    const { hits } = await search({ transaction: (work) => db.as(viewer, work), vectorSearch }, request)
    return hits.map(({ key }) => key)
  } finally {
    await vectorSearch.close()
  }
}

beforeAll(async () => {
  viewer = await createMember(db, proposals.workspace, 'viewer')
  const owner = await db.session('postgres')
  await owner.query(`create table plants (code text primary key, about text); grant select on plants to authenticated;
    insert into plants values ('p1', 'a thorny shrub'), ('p2', 'a tall fern')`)
  await allowSearch(owner, 'plants')
  await activate(db, { source: 'plants', text: ['about'], workspace_id: proposals.workspace })
  await settleTables(place)
})

it('the triggers of the search are no foreign effect, and write nothing while the statement is worked out', async () => {
  expect(await proposals.open('public.plants')).toMatchObject({ triggers: [], triggers_allowed: false })
  expect(await find('thorny')).toEqual([{ code: 'p1' }])
  const upload = await proposals.propose(
    `insert into plants values ('p1', 'a zanzibar shrub'), ('p3', 'a zanzibar moss') on conflict (code) do update set about = excluded.about`,
  )
  expect(upload.plan_notes).toEqual([])
  await settleTables(place)
  expect(await find('zanzibar')).toEqual([])
  expect(await find('thorny')).toEqual([{ code: 'p1' }])
  await proposals.promote(upload)
  await settleTables(place)
  expect(await find('zanzibar')).toEqual(expect.arrayContaining([{ code: 'p1' }, { code: 'p3' }]))
  await proposals.undo(upload)
  await settleTables(place)
  expect(await find('zanzibar')).toEqual([])
  expect(await find('thorny')).toEqual([{ code: 'p1' }])
})

it.each([
  [
    'has the name of one of search and calls a function of somebody',
    `create trigger stagedoor_route_insert after insert on decoys for each statement execute function decoy()`,
    'stagedoor_route_insert',
    'insert into decoys values (3, 3)',
  ],
  [
    'calls our function under a condition that calls somebody’s',
    `create trigger stagedoor_route_update after update on decoys for each statement when (asked()) execute function iu_core.fn_sql_event_route()`,
    'stagedoor_route_update',
    'update decoys set n = 2',
  ],
  [
    'calls our function before each row, which it would suppress',
    `create trigger before_rows before delete on decoys for each row execute function iu_core.fn_sql_event_route()`,
    'before_rows',
    'delete from decoys where id = 1',
  ],
])('a trigger that %s is refused', async (_, trigger, name, statement) => {
  await proposals.sql(`drop table if exists decoys;
    create table decoys (id integer primary key, n integer); insert into decoys values (1, 1), (2, 2);
    create or replace function decoy() returns trigger language plpgsql as $$ begin raise exception 'it ran'; end $$;
    create or replace function asked() returns boolean language plpgsql volatile as $$ begin raise exception 'it ran'; end $$`)
  await proposals.open('public.decoys')
  await proposals.sql(trigger)
  await expect(proposals.propose(statement)).rejects.toMatchObject({
    code: 'proposal_refused',
    message: expect.stringContaining(name),
  })
  await expect(proposals.open('public.decoys')).rejects.toMatchObject({
    code: 'proposal_table_unfit',
    message: expect.stringContaining(name),
  })
})
