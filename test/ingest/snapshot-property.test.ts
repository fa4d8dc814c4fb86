/**
 * A snapshot against sets: tables are sets of rows in TypeScript, files are random, applications write in between. What is
 * promoted is what the model says, a plan on what has changed is refused, and undo returns the whole database.
 */
// @module-tag property
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { type Planned, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const RUNS = cases(8, 120)
const db = useDatabase()
const trial = useTrial(db)
const TABLES = ['set_items', 'set_parts', 'set_screws', 'set_links', 'set_holds']
// More rows cost next to nothing in a case: its time is that of plan, promotion and undo.
const SKUS = [...'abcdefghij']
const REGIONS = ['north', 'south', null]
let elsewhere: string

const dataset = (name: string, scope?: string[]): Dataset => ({
  name,
  title: 'Sets',
  version: 1,
  platforms: { file: { title: 'File' } },
  fields: {
    sku: { type: 'id', aliases: { any: ['SKU'] } },
    region: { type: 'text', aliases: { any: ['Region'] } },
    price: { type: 'money', aliases: { any: ['Price'] } },
  },
  rows: [
    {
      name: 'item',
      target: 'public.set_items',
      key: ['workspace_id', 'sku'],
      requires: ['sku'],
      columns: { workspace_id: '$workspace', sku: 'sku', region: 'region', price: 'price' },
      mode: 'snapshot',
      snapshot: { maxDeleted: 1, ...(scope && { scope }) },
    },
  ],
})
const WHOLE = dataset('sets_whole')
const BY_REGION = dataset('sets_by_region', ['region'])

beforeAll(async () => {
  // Chains, two ways to one row, a table without a key, identities, defaults and generated columns.
  await db.owner(`
    create table set_items (
      id bigint generated always as identity primary key, workspace_id uuid not null, sku text not null, region text,
      price numeric(10, 2), doubled numeric generated always as (price * 2) stored, seen timestamptz not null default now(),
      unique (workspace_id, sku));
    create table set_parts (id serial primary key, item_id bigint not null references set_items (id) on delete cascade, "select" text);
    create table set_screws (part_id integer references set_parts (id) on delete cascade, item_id bigint references set_items (id) on delete cascade, size integer);
    create table set_links (id uuid primary key default gen_random_uuid(), item_id bigint references set_items (id) on delete set null,
                            part_id integer references set_parts (id) on delete set null, note text);
    create table set_holds (item_id bigint not null references set_items (id))`)
  for (const one of [WHOLE, BY_REGION]) await trial.register(one, { approvalRequired: false })
  elsewhere = await createWorkspace(db, 'Elsewhere')
})

const item = fc.record({
  sku: fc.constantFrom(...SKUS),
  region: fc.constantFrom(...REGIONS),
  price: fc.integer({ min: 0, max: 3 }),
})
const bySku = (one: { sku: string }) => one.sku
const write = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('price', 'delete', 'part', 'screw', 'link', 'hold', 'unlink', 'insert', 'other'),
      sku: fc.constantFrom(...SKUS),
    }),
  },
)
const story = fc.record({
  items: fc.uniqueArray(item, { selector: bySku, minLength: 1 }),
  others: fc.uniqueArray(item, { selector: bySku }),
  parts: fc.array(fc.constantFrom(...SKUS), { maxLength: 8 }),
  screws: fc.array(fc.record({ part: fc.nat(7), sku: fc.option(fc.constantFrom(...SKUS)) }), {
    maxLength: 8,
  }),
  links: fc.array(fc.record({ sku: fc.constantFrom(...SKUS), part: fc.option(fc.nat(7)) }), { maxLength: 8 }),
  holds: fc.array(fc.constantFrom(...SKUS), { maxLength: 1 }),
  file: fc.uniqueArray(item, { selector: bySku, minLength: 1 }),
  scoped: fc.boolean(),
  mode: fc.constantFrom('STRICT' as const, 'LENIENT' as const),
  write,
})
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never

const of = (sku: string, price = 1): Story['items'][number] => ({ sku, region: 'north', price })
const plain: Story = {
  items: [of('a'), of('b'), of('c')],
  others: [of('a')],
  parts: ['b', 'c'],
  screws: [{ part: 0, sku: 'c' }],
  links: [{ sku: 'b', part: 1 }],
  holds: [],
  file: [of('a', 2), of('d')],
  scoped: false,
  mode: 'STRICT',
  write: null,
}
/** One story for every outcome, so that each occurs however few others are generated. */
const EVERY_OUTCOME: Story[] = [
  plain,
  { ...plain, holds: ['b'] },
  { ...plain, holds: ['b'], mode: 'LENIENT' },
  { ...plain, scoped: true, write: { kind: 'price', sku: 'b' } },
  { ...plain, write: { kind: 'other', sku: 'a' } },
]

const idOf = (sku: string) =>
  `(select id from set_items where workspace_id = '${trial.workspace}' and sku = '${sku}')`

/** In one round trip: a case must not take long. */
async function load({ items, others, parts, screws, links, holds }: Story): Promise<void> {
  const has = new Set(items.map(bySku))
  const text = (value: string | null) => (value === null ? 'null' : `'${value}'`)
  const insert = (workspace: string, rows: Story['items']) =>
    rows.map(
      ({ sku, region, price }) =>
        `insert into set_items (workspace_id, sku, region, price) values ('${workspace}', '${sku}', ${text(region)}, ${price})`,
    )
  const part = (place: number | null) =>
    place === null ? 'null::integer' : `(select id from set_parts order by id offset ${place} limit 1)`
  await db.owner(
    [
      `truncate ${TABLES.join(', ')} restart identity`,
      ...insert(trial.workspace, items),
      ...insert(elsewhere, others),
      ...parts
        .filter((sku) => has.has(sku))
        .map((sku) => `insert into set_parts (item_id, "select") values (${idOf(sku)}, '${sku}')`),
      ...screws.map(
        (screw) =>
          `insert into set_screws values (${part(screw.part)}, ${screw.sku === null ? 'null' : idOf(screw.sku)}, 3)`,
      ),
      ...links.map(
        (link) =>
          `insert into set_links (item_id, part_id, note) values (${idOf(link.sku)}, ${part(link.part)}, 'n')`,
      ),
      ...holds.filter((sku) => has.has(sku)).map((sku) => `insert into set_holds values (${idOf(sku)})`),
    ].join(';'),
  )
}

/** What an application does between plan and promotion. */
function applicationSql({ kind, sku }: NonNullable<Story['write']>): string {
  const id = idOf(sku)
  const statements = {
    price: `update set_items set price = price + 1 where id = ${id}`,
    delete: `delete from set_items where id = ${id} and id not in (select item_id from set_holds)`,
    part: `insert into set_parts (item_id) select ${id} where ${id} is not null`,
    screw: `insert into set_screws values (null, ${id}, 9)`,
    link: `insert into set_links (item_id) values (${id})`,
    hold: `insert into set_holds select ${id} where ${id} is not null`,
    unlink: `delete from set_links where item_id = ${id}`,
    insert: `insert into set_items (workspace_id, sku) values ('${trial.workspace}', '${sku}') on conflict do nothing`,
    other: `update set_items set price = 9 where workspace_id = '${elsewhere}' and sku = '${sku}'`,
  }
  return statements[kind as keyof typeof statements]
}

const skus = async (workspace: string) =>
  (
    await db.owner<{ sku: string; region: string | null; price: number | null }>(
      'select sku, region, price::float8 as price from set_items where workspace_id = $1 order by sku',
      [workspace],
    )
  ).map(({ sku, region, price }) => [sku, region, price] as const)

const count = async (sql: string) =>
  Number((await db.owner<{ count: string }>(`select count(*) from ${sql}`))[0]!.count)

const seen = { promoted: 0, refused: 0, stale: 0, deleted: 0, cascaded: 0, unlinked: 0 }

it(`is what sets say, for ${RUNS} generated tables and files`, async () => {
  await fc.assert(
    fc.asyncProperty(story, async (given) => {
      await load(given)
      const { items, file, scoped } = given
      const before = await trial.image(TABLES)
      // The model: which rows go.
      const inFile = new Set(file.map(bySku))
      const regions = new Set(file.map(({ region }) => region))
      const inScope = items.filter(({ region }) => !scoped || regions.has(region))
      const lacks = inScope
        .filter(({ sku }) => !inFile.has(sku))
        .map(bySku)
        .sort()
      const held = lacks.some((sku) => given.holds.includes(sku))
      // Where wrong lines are left out, rows that others hold are, too.
      const gone = given.mode === 'LENIENT' ? lacks.filter((sku) => !given.holds.includes(sku)) : lacks
      const refused = held && given.mode === 'STRICT'

      const plan: Planned = await trial.stagePlanned(
        file,
        { dataset: scoped ? BY_REGION : WHOLE },
        given.mode,
      )
      expect(plan.totals.item?.delete ?? 0).toBe(gone.length)
      expect(await trial.image(TABLES)).toEqual(before)
      expect(plan.refusal === null).toBe(!refused)
      if (refused) {
        seen.refused += 1
        expect(plan.refusal).toMatch(/rows? of public.set_holds refers? to rows that would be deleted/)
        expect(await sqlstateOf(trial.promote(plan))).toBe('SD607')
        expect(await trial.image(TABLES)).toEqual(before)
        return
      }
      if (given.write) await db.owner(applicationSql(given.write))
      const meanwhile = await trial.image(TABLES)
      const current = await skus(trial.workspace)
      const stale = await trial.service<{ line: number }>(
        'select line from iu_core.fn_ingest_plan_stale($1)',
        [plan.upload_id],
      )
      const outcome = await sqlstateOf(trial.promote(plan))
      // What says that it is stale, and what refuses to promote it, agree.
      expect(outcome).toBe(stale.length > 0 ? 'SD606' : 'not refused')
      if (stale.length > 0) {
        seen.stale += 1
        expect(given.write).not.toBeNull()
        expect(await trial.image(TABLES)).toEqual(meanwhile)
        return
      }
      seen.promoted += 1
      seen.deleted += gone.length
      const expected = [
        ...current.filter(([sku]) => !gone.includes(sku) && !inFile.has(sku)),
        ...file.map(({ sku, region, price }) => [sku, region, price] as const),
      ].sort(([a], [b]) => (a < b ? -1 : 1))
      expect(await skus(trial.workspace)).toEqual(expected)
      // Nothing refers to what is gone.
      expect(
        await count('set_parts p where not exists (select from set_items i where i.id = p.item_id)'),
      ).toBe(0)
      seen.cascaded += await count(
        `iu_core.ingest_dependent where upload_id = '${plan.upload_id}' and effect = 'delete'`,
      )
      seen.unlinked += await count(
        `iu_core.ingest_dependent where upload_id = '${plan.upload_id}' and effect = 'set null'`,
      )
      const undone = await trial.undo(plan.upload_id)
      for (const outcomes of Object.values(undone.undo_totals))
        expect(Object.keys(outcomes)).toEqual(['reversed'])
      expect(await trial.image(TABLES)).toEqual(meanwhile)
    }),
    {
      numRuns: RUNS,
      examples: EVERY_OUTCOME.map((one): [Story] => [one]),
      ...(process.env.SEED && { seed: Number(process.env.SEED) }),
    },
  )
  console.log(`snapshot: ${JSON.stringify(seen)}`)
  for (const [what, times] of Object.entries(seen)) expect([what, times > 0]).toEqual([what, true])
})

it('refuses every empty or truncated file of what it has taken before', async () => {
  await db.owner(`truncate ${TABLES.join(', ')} restart identity`)
  const fused: Dataset = {
    ...dataset('sets_fused'),
    rows: dataset('sets_fused').rows.map(({ snapshot: _, ...row }) => row),
  }
  await trial.register(fused, { approvalRequired: false })
  const lines = Array.from({ length: 30 }, (_, n) => ({ sku: `sku-${n}`, region: 'north', price: n }))
  await trial.promoted(lines, { dataset: fused })
  const before = await trial.image(['set_items'])
  for (const kept of [0, 1, 5, 14, 15, 20, 26]) {
    const plan = await trial.stagePlanned(lines.slice(0, kept), {
      dataset: fused,
      fields: ['sku', 'region', 'price'],
    })
    expect([kept, plan.refusal]).toEqual([kept, expect.any(String)])
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD607')
  }
  for (const kept of [27, 30]) {
    const plan = await trial.stagePlanned(lines.slice(0, kept), { dataset: fused })
    expect([kept, plan.refusal]).toEqual([kept, null])
  }
  expect(await trial.image(['set_items'])).toEqual(before)
})
