/** A snapshot of an ordinary table: no tenant in its key, an identity, a looked-up category as its scope, rows that refer to each other. */
import { expect, it } from 'vitest'
import { completeDataset, type DatasetDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)
const text = { type: 'text' as const }

const own = (name: string, more: Partial<DatasetDeclaration['rows'][number]>): DatasetDeclaration => ({
  name,
  fields: { sku: text, category: { ...text, lookup: 'categories' }, price: { type: 'decimal' } },
  lookups: { categories: { table: 'public.kinds', by: 'name', value: 'id' } },
  rows: [
    {
      name: 'thing',
      target: 'public.things',
      key: ['sku'],
      columns: { sku: 'sku', kind_id: 'category', price: 'price' },
      mode: 'snapshot',
      snapshot: { maxDeleted: 1 },
      ...more,
    },
  ],
})

it.each([
  ['known by its key', 'things_by_key', {}, ['b', 'z']],
  ['with an identity', 'things_by_id', { id: 'id' }, ['b', 'z']],
  [
    'within a looked-up category',
    'things_in_scope',
    { snapshot: { maxDeleted: 1, scope: ['kind_id'] } },
    ['b'],
  ],
])(
  '%s: rows that the file lacks go, and come back with their ids and children',
  async (_, name, more, gone) => {
    await db.owner(`
    drop table if exists reviews, things, kinds;
    create table kinds (id integer primary key, name text not null unique);
    create table things (id bigint generated always as identity primary key, sku text not null unique, kind_id integer references kinds, price numeric(10, 2),
                         updated_at timestamptz not null default now());
    create table reviews (id bigint generated always as identity primary key, thing_id bigint not null references things on delete cascade, text text);
    insert into kinds values (1, 'Toys'), (2, 'Tools');
    insert into things (sku, kind_id, price) values ('a', 1, 1), ('b', 1, 2), ('z', 2, 3);
    insert into reviews (thing_id, text) select id, sku from things`)
    const dataset = completeDataset(own(name, more as object))
    await trial.register(dataset, { approvalRequired: false })
    const before = await trial.image(['things', 'reviews'])
    const plan = await trial.stagePlanned(
      [
        { sku: 'a', category: 'Toys', price: 5 },
        { sku: 'c', category: 'Toys', price: 6 },
      ],
      { dataset },
    )
    expect(plan).toMatchObject({
      refusal: null,
      totals: { thing: { insert: 1, update: 1, delete: gone.length } },
    })
    await trial.promote(plan)
    const left = ['a', 'b', 'c', 'z'].filter((sku) => !(gone as string[]).includes(sku))
    expect(await db.owner('select sku from things order by sku')).toEqual(left.map((sku) => ({ sku })))
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      thing: { reversed: 2 + gone.length },
      'public.reviews': { reversed: gone.length },
    })
    expect(await trial.image(['things', 'reviews'])).toEqual(before)
  },
)
