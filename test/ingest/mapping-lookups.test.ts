/** Values of a looked-up field before the file is uploaded: unknown ones with the nearest, under the caller's rights. */
import { beforeAll, expect, it } from 'vitest'
import { completeDataset } from '../../src/ingest/datasets/dataset.ts'
import { backEndActor } from '../../src/ingest/pipeline.ts'
import { previewSource } from '../../src/ingest/source-preview.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { useIngest } from '../support/ingest.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const ads = useIngest(db)

beforeAll(async () => {
  await db.owner(
    `create table public.categories (id bigint generated always as identity primary key, name text not null unique)`,
  )
  await db.owner(`insert into public.categories (name) values ('Boots'), ('Sandals'), ('Socks')`)
  await db.owner(
    `create table public.articles (sku text primary key, category_id bigint references public.categories)`,
  )
  await ads.register(
    completeDataset({
      name: 'articles',
      fields: { sku: { type: 'text', required: true }, category: { type: 'text', lookup: 'category' } },
      lookups: { category: { table: 'public.categories', by: 'name', value: 'id' } },
      rows: [
        {
          name: 'article',
          target: 'public.articles',
          key: ['sku'],
          columns: { sku: 'sku', category_id: 'category' },
        },
      ],
    }),
    { approvalRequired: false, workspaceId: ads.workspace },
  )
})

async function* bytes(text: string) {
  yield Buffer.from(text)
}

it('are listed with the nearest one as the proposal; an answer makes them known', async () => {
  const preview = (values = {}) =>
    previewSource(
      { home: ads.home },
      backEndActor(db.pool('stagedoor_worker')),
      bytes('sku,category\nA,Boots\nB,Sandal\nC,Sandal\nD,Lamps\nE,\n'),
      { workspaceId: ads.workspace, dataset: 'articles', platform: 'file', file: { values } },
    )
  const found = await preview()
  expect(found.complete).toBe(false)
  expect(found.values).toMatchObject([
    {
      field: 'category',
      unknown: [
        { value: 'Sandal', lines: 2, proposal: 'Sandals' },
        { value: 'Lamps', lines: 1, proposal: null },
      ],
    },
  ])
  expect(found.values[0]!.choices).toContain('Sandals')
  const answered = await preview({ category: { Sandal: 'Sandals', Lamps: null } })
  expect(answered.complete).toBe(true)
})

it('are looked for in any number of columns of any number of values', async () => {
  const columns = Array.from({ length: 9 }, (_, column) => `Unknown ${column}`)
  const lines = Array.from({ length: 300 }, (_, line) =>
    [`S${line}`, ...columns.map((_, column) => `value ${column} ${line}`), 'Boots'].join(','),
  )
  const found = await previewSource(
    { home: ads.home },
    backEndActor(db.pool('stagedoor_worker')),
    bytes(`${['sku', ...columns, 'Gruppe'].join(',')}\n${lines.join('\n')}\n`),
    { workspaceId: ads.workspace, dataset: 'articles', platform: 'file' },
  )
  expect(found.columns.find(({ field }) => field === 'category')).toMatchObject({ header: 'Gruppe' })
})

it('are not shown to whoever may not stage in the workspace of the dataset', async () => {
  const elsewhere = await createWorkspace(db, 'Elsewhere')
  const stranger = await createMember(db, elsewhere, 'admin')
  const viewer = await createMember(db, ads.workspace, 'viewer')
  const ask = (workspace: string) => (client: { query(sql: string, values: unknown[]): Promise<unknown> }) =>
    client.query(`select * from iu_core.fn_ingest_lookup_unknown($1, 'articles', 'category', '{Sandal}')`, [
      workspace,
    ])
  expect(await sqlstateOf(db.as(stranger, ask(ads.workspace)))).toBe('SD201')
  expect(await sqlstateOf(db.as(stranger, ask(elsewhere)))).toBe('SD604')
  expect(await sqlstateOf(db.as(viewer, ask(ads.workspace)))).toMatch(/^SD20[12]$/)
  await expect(db.as(ads.operator, ask(ads.workspace))).resolves.toMatchObject({
    rows: [{ value: 'Sandal', near: expect.arrayContaining(['Sandals']) }],
  })
})
