/** Tables of the user in search over HTTP: reviewed and activated by people, asked with filters. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { createKnowledge, type Knowledge } from '../../search/knowledge.ts'
import { useProjecting } from '../../search/projection-workplace.ts'
import { allowSearch, rehearse, settleTables } from '../../search/tables/table-life.ts'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import type { Member } from '../../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
const place = useProjecting(db)
let know: Knowledge
let owner: pg.Client

const get = async (who: Pick<Member, 'userId' | 'role'>, url: string) =>
  api.get(`/api/v1${url}`, await api.token(who))
const post = async (who: Pick<Member, 'userId' | 'role'>, url: string, body?: object) =>
  api.post(`/api/v1${url}`, await api.token(who), body)

beforeAll(async () => {
  know = await createKnowledge(db)
  owner = await db.session('postgres')
  await owner.query(`create table tools (id int primary key, name text, brand text); grant select on tools to authenticated;
    insert into tools values (1, 'claw hammer', 'ACME'), (2, 'sledge hammer', 'Globex')`)
  await allowSearch(owner, 'tools')
  await rehearse(db, { source: 'tools', text: ['name'], filter: ['brand'], workspace_id: know.workspace })
})

it('is listed, reviewed by a reviewer and not by a viewer, activated, and found', async () => {
  const { viewer, reviewer, stranger } = know.people
  expect(await get(viewer, '/search/tables')).toMatchObject({
    status: 200,
    body: {
      tables: [{ code: 'tools', state: 'dry_run', text_columns: ['name'], filter_columns: ['brand'] }],
    },
  })
  expect(await get(stranger, '/search/tables')).toMatchObject({ body: { tables: [] } })
  expect(await get(stranger, '/search/tables/tools')).toMatchObject({
    status: 404,
    body: { code: 'search_table_unknown' },
  })
  expect(await post(viewer, '/search/tables/tools/review')).toMatchObject({ status: 403 })
  expect(await post(stranger, '/search/tables/tools/review')).toMatchObject({ status: 404 })
  expect(await post(reviewer, '/search/tables/tools/activate')).toMatchObject({ status: 409 })
  expect(await post(reviewer, '/search/tables/tools/review')).toMatchObject({
    status: 200,
    body: { state: 'reviewed' },
  })
  expect(await post(reviewer, '/search/tables/tools/activate')).toMatchObject({
    status: 200,
    body: { state: 'active' },
  })
  await settleTables(place)
  const found = await get(viewer, '/search?q=hammer&column=brand%3DACME')
  expect(found).toMatchObject({
    status: 200,
    body: { hits: [{ source: 'row', table: 'public.tools', key: { id: '1' }, columns: { brand: 'ACME' } }] },
  })
  expect((found.body as { hits: object[] }).hits).toHaveLength(1)
  expect(
    await post(viewer, '/search', {
      text: 'hammer',
      filters: { table: 'tools', columns: { brand: ['ACME', 'Globex'] } },
    }),
  ).toMatchObject({ status: 200, body: { hits: [{}, {}] } })
  expect(await get(viewer, '/search?q=hammer&column=colour%3Dred')).toMatchObject({
    status: 422,
    body: {
      code: 'search_filter_column_unknown',
      detail: 'There is no filter column colour; there are brand',
    },
  })
})
