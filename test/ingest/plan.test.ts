/** The plan is what promotion does, on every row, over generated states of production; and undo is its exact reverse. */
// @module-tag property
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { createClient } from '../support/ingest.ts'
import { type Planned, PRICES, type StagedLine, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import {
  type Duplicates,
  fileLine,
  type Production,
  productionOf,
  promoteModel,
  type Seed,
  told,
} from './plan-model.ts'

const RUNS = cases(25, 220)
const db = useDatabase()
const trial = useTrial(db)
const POLICIES: Duplicates[] = ['refuse', 'last', 'sum']
let clients: string[]

const dataset = (duplicates: Duplicates) => ({
  ...TRIAL,
  name: `trial_${duplicates}`,
  rows: TRIAL.rows.map((row) => (row.name === 'figure' ? { ...row, duplicates } : row)),
})

beforeAll(async () => {
  for (const policy of POLICIES) await trial.register(dataset(policy), { approvalRequired: false })
  clients = [
    trial.client,
    await createClient(db, trial.workspace, 'Other client'),
    await createClient(db, await createWorkspace(db, 'Elsewhere'), 'Client of others'),
  ]
})

const NAMES = fc.constantFrom('Alpha', 'Beta', 'Gamma', 'ünïcode “quoted”')
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 5 })
const figures = {
  day: fc.constantFrom('2026-10-31', '2026-11-01', '2024-02-29'),
  // Thousandths: one digit more than the column has.
  amount: orNull(fc.integer({ min: -99_999, max: 999_999 })),
  units: orNull(fc.integer({ min: -5, max: 2_147_483 })),
  note: orNull(fc.constantFrom('', 'a', "it's", 'line\nbreak', '100 %')),
  flag: orNull(fc.boolean()),
}
const seeds: fc.Arbitrary<Seed[]> = fc.array(
  fc.record({
    client: fc.constantFrom(0, 0, 0, 1, 2),
    group: fc.constantFrom('g1', 'g2', 'g3'),
    groupName: orNull(NAMES),
    item: orNull(fc.constantFrom('i1', 'i2', 'i3')),
    itemName: orNull(NAMES),
    ...figures,
  }),
  { maxLength: 20, size: 'max' },
)
const FIELDS = ['amount', 'units', 'note', 'flag'] as const
const lines: fc.Arbitrary<StagedLine[]> = fc
  .record({
    identity: fc.constantFrom('ids', 'ids and names', 'names'),
    columns: fc.subarray([...FIELDS], { minLength: 1 }),
    items: fc.boolean(),
    rows: fc.array(
      fc.record({
        group_code: fc.constantFrom('g1', 'g2', 'g4'),
        group_name: NAMES,
        item_code: orNull(fc.constantFrom('i1', 'i2', 'i4')),
        item_name: orNull(NAMES),
        ...figures,
      }),
      { minLength: 1, maxLength: 12, size: 'max' },
    ),
  })
  .map(({ identity, columns, items, rows }) => {
    const kept = [
      ...(identity === 'names' ? [] : ['group_code', ...(items ? ['item_code'] : [])]),
      ...(identity === 'ids' ? [] : ['group_name', ...(items ? ['item_name'] : [])]),
      'day',
      ...columns,
    ]
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => kept.includes(key))))
  })

async function produce(state: Production): Promise<void> {
  await db.owner('truncate trial_groups, trial_items, trial_figures')
  await db.owner(
    'insert into trial_groups (id, client_id, code, name) select id, client, code, name from jsonb_to_recordset($1) as r (id uuid, client uuid, code text, name text)',
    [JSON.stringify(state.groups)],
  )
  await db.owner(
    'insert into trial_items (id, group_id, code, name) select r.id, (r."group" ->> $2)::uuid, r.code, r.name from jsonb_to_recordset($1) as r (id uuid, "group" jsonb, code text, name text)',
    [JSON.stringify(state.items), 'id'],
  )
  await db.owner(
    `insert into trial_figures (id, client_id, group_id, item_id, day, amount, units, note, flag)
     select r.id, (r."group" ->> 'client')::uuid, (r."group" ->> 'id')::uuid, (r.item ->> 'id')::uuid, r.day, r.amount / 100, r.units, r.note, r.flag
       from jsonb_to_recordset($1) as r (id uuid, "group" jsonb, item jsonb, day date, amount numeric, units integer, note text, flag boolean)`,
    [JSON.stringify(state.figures)],
  )
}

async function toldByDatabase(): Promise<string[]> {
  const rows = await db.owner<{ said: unknown[] }>(`
    select jsonb_build_array('group', client_id, code, name) as said from trial_groups
    union all select jsonb_build_array('item', g.client_id, g.code, i.code, i.name) from trial_items i join trial_groups g on g.id = i.group_id
    union all select jsonb_build_array('figure', f.client_id, g.code, i.code, f.day, f.amount * 100, f.units, f.note, f.flag)
      from trial_figures f join trial_groups g on g.id = f.group_id left join trial_items i on i.id = f.item_id`)
  return rows.map(({ said }) => JSON.stringify(said)).sort()
}

/** Every row by id: its text, where it lies, and whom it refers to. */
interface Row {
  id: string
  text: string
  place: string
  refers: string[]
}
async function rowsById(): Promise<Map<string, Row>> {
  const rows = await db.owner<Row>(`
    select id, t::text as text, ctid::text || xmin::text as place, array[]::text[] as refers from trial_groups t
    union all select id, t::text, ctid::text || xmin::text, array[group_id::text] from trial_items t
    union all select id, t::text, ctid::text || xmin::text, array_remove(array[group_id::text, item_id::text], null) from trial_figures t`)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Each planned row against the row that is there now. */
async function differences(upload: string): Promise<unknown[]> {
  return db.owner(
    `select p.row_type, p.row_number, p.action, i.after, to_jsonb(t) as found
       from iu_core.ingest_plan_row p
       join iu_core.ingest_plan d using (upload_id)
       cross join lateral (select iu_core.fn_ingest_plan_image(d.inserted_columns, p)) as i (after)
       left join (select id, to_jsonb(g) as row from trial_groups g union all select id, to_jsonb(i) from trial_items i
                  union all select id, to_jsonb(f) from trial_figures f) t on t.id = p.target_id
      where p.upload_id = $1 and p.action in ('insert', 'update')
        and (t.id is null or not t.row @> i.after or (p.action = 'update' and not exists (
               select from unnest(p.changed) c where p.before -> c is distinct from p.after -> c)))`,
    [upload],
  )
}

const edits = fc.array(
  fc.record({ what: fc.constantFrom('update', 'delete', 'figure', 'item'), nth: fc.nat({ max: 40 }) }),
  { maxLength: 5 },
)

async function edit({ what, nth }: { what: string; nth: number }): Promise<void> {
  const { rows } = await db.pool('postgres').query<{ id: string; kind: string }>(`
    select id, 'trial_groups' as kind from trial_groups union all select id, 'trial_items' from trial_items
    union all select id, 'trial_figures' from trial_figures order by 1`)
  const one = rows[nth % (rows.length || 1)]
  if (!one) return
  if (what === 'update') {
    const column = one.kind === 'trial_figures' ? ['note', 'seen', 'day'][nth % 3]! : 'name'
    const value =
      column === 'seen'
        ? 'clock_timestamp()'
        : column === 'day'
          ? `date '2030-01-01' + (random() * 99999)::int`
          : `'edited'`
    await db.owner(`update ${one.kind} set ${column} = ${value} where id = $1`, [one.id])
  } else if (what === 'delete') {
    await db.owner(`delete from ${one.kind} where id = $1`, [one.id]).catch(() => undefined)
  } else if (what === 'item' && one.kind === 'trial_groups') {
    await db.owner(`insert into trial_items (group_id, code) values ($1, 'theirs') on conflict do nothing`, [
      one.id,
    ])
  } else if (what === 'figure' && one.kind !== 'trial_figures') {
    await db.owner(
      one.kind === 'trial_groups'
        ? `insert into trial_figures (client_id, group_id, day) select client_id, id, '2031-01-01' from trial_groups where id = $1 on conflict do nothing`
        : `insert into trial_figures (client_id, group_id, item_id, day) select g.client_id, g.id, i.id, '2031-01-01' from trial_items i join trial_groups g on g.id = i.group_id where i.id = $1 on conflict do nothing`,
      [one.id],
    )
  }
}

/** What is still as we left it goes back; what is not, and what something that stays refers to, stays. */
function undone(
  before: Map<string, Row>,
  promoted: Map<string, Row>,
  edited: Map<string, Row>,
): Map<string, string> {
  const inserted = [...promoted.keys()].filter(
    (id) => !before.has(id) && edited.get(id)?.text === promoted.get(id)!.text,
  )
  const gone = new Set(inserted)
  for (let size = -1; size !== gone.size; ) {
    size = gone.size
    for (const [id, row] of edited)
      if (!gone.has(id)) for (const referred of row.refers) gone.delete(referred)
  }
  const left = new Map<string, string>()
  for (const [id, row] of edited) {
    if (gone.has(id)) continue
    const old = before.get(id)
    left.set(id, old && row.text === promoted.get(id)?.text ? old.text : row.text)
  }
  return left
}

it(`promotes exactly what was planned, and undoes exactly what nobody touched, for ${RUNS} generated uploads`, async () => {
  const seen = {
    uploads: 0,
    insert: 0,
    update: 0,
    unchanged: 0,
    left_out: 0,
    refused: 0,
    edits: 0,
    reversed: 0,
    stayed: 0,
  }
  await fc.assert(
    fc.asyncProperty(
      seeds,
      lines,
      fc.constantFrom(...POLICIES),
      edits,
      async (produced, file, duplicates, changes) => {
        const state = productionOf(produced, clients)
        await produce(state)
        expect(await toldByDatabase()).toEqual(told(state))
        const before = await rowsById()
        const upload = await trial.stage(file.map(fileLine), { dataset: dataset(duplicates) })
        const plan = await trial.planned(upload, 'LENIENT', 0)
        expect(await rowsById()).toEqual(before)
        const expected = structuredClone(state)
        const { leftOut } = promoteModel(expected, trial.client, file, duplicates)
        const actions = await db.owner<{ row_number: number; action: string }>(
          `select row_number, action from iu_core.ingest_plan_row where upload_id = $1 and row_type = 'figure'`,
          [upload],
        )
        expect(
          new Set(
            actions
              .filter(({ action }) => ['skipped', 'refused'].includes(action))
              .map(({ row_number }) => row_number - 2),
          ),
        ).toEqual(leftOut)
        seen.uploads++
        seen.left_out += leftOut.size
        if (plan.refusal) {
          seen.refused++
          expect(leftOut.size).toBe(file.length)
          return
        }
        expect((await trial.promote(plan)).totals).toEqual(plan.totals)
        expect(await differences(upload)).toEqual([])
        expect(await toldByDatabase()).toEqual(told(expected))
        const promoted = await rowsById()
        // What the plan does not name, or names as unchanged, was not even rewritten.
        const planned = await db.owner<{ target_id: string; action: string }>(
          `select target_id, action from iu_core.ingest_plan_row where upload_id = $1 and action in ('insert', 'update', 'unchanged')`,
          [upload],
        )
        const written = new Set(
          planned.filter(({ action }) => action !== 'unchanged').map(({ target_id }) => target_id),
        )
        for (const [id, row] of before) if (!written.has(id)) expect(promoted.get(id)).toEqual(row)
        for (const { action } of planned) seen[action as 'insert']++

        for (const change of changes) await edit(change)
        seen.edits += changes.length
        const edited = await rowsById()
        const stays = undone(before, promoted, edited)
        const { undo_totals } = await trial.undo(upload)
        const after = await rowsById()
        expect(new Map([...after].map(([id, row]) => [id, row.text]))).toEqual(stays)
        for (const outcomes of Object.values(undo_totals)) {
          seen.reversed += outcomes.reversed ?? 0
          seen.stayed += (outcomes.kept ?? 0) + (outcomes.refused ?? 0)
        }
      },
    ),
    { numRuns: RUNS },
  )
  console.log(`plan = promotion, undo = its reverse: ${JSON.stringify(seen)}`)
  // Few cases need not have met each of them.
  if (RUNS >= 60)
    expect(
      seen.insert * seen.update * seen.unchanged * seen.left_out * seen.stayed * seen.reversed,
    ).toBeGreaterThan(0)
}, 400_000)

it('does the same for rows that are known by their natural key only, NULLs and scales included', async () => {
  const price = fc.record({
    sku: fc.constantFrom('a', 'B', 'ä'),
    tier: orNull(fc.constantFrom('gold', '')),
    day: fc.constantFrom('2026-11-01', '2026-11-02'),
    price: orNull(fc.integer({ min: 0, max: 9_999 })),
  })
  const keyed = (rows: { sku: string; tier: string | null; day: string; price: number | null }[]) =>
    new Map(rows.map((row) => [JSON.stringify([row.sku, row.tier, row.day]), row]))
  let uploads = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(price, { maxLength: 8 }),
      fc.array(price, { minLength: 1, maxLength: 8 }),
      async (there, file) => {
        await db.owner('truncate trial_prices')
        const state = keyed(there)
        for (const row of state.values())
          await db.owner('insert into trial_prices values ($1, $2, $3, $4, $5::numeric / 1000, null)', [
            trial.workspace,
            row.sku,
            row.tier,
            row.day,
            row.price,
          ])
        const before = await trial.image(['trial_prices'])
        const rows = [...keyed(file).values()]
        const plan: Planned = await trial.promoted(
          rows.map((row) => ({ ...row, price: row.price === null ? null : row.price / 1000 })),
          { dataset: PRICES },
        )
        for (const [key, row] of keyed(rows)) state.set(key, row)
        const found = await db.owner<{ key: string; price: string | null }>(
          'select jsonb_build_array(sku, tier, day)::text as key, price::text from trial_prices',
        )
        expect(new Map(found.map((row) => [JSON.stringify(JSON.parse(row.key)), row.price]))).toEqual(
          new Map(
            [...state].map(([key, row]) => [
              key,
              row.price === null ? null : (Math.round(row.price / 10) / 100).toFixed(2),
            ]),
          ),
        )
        await trial.undo(plan.upload_id)
        expect(await trial.image(['trial_prices'])).toEqual(before)
        uploads++
      },
    ),
    { numRuns: cases(8, 40) },
  )
  console.log(`natural keys: ${uploads} uploads`)
})

it('compiles no statement of what people wait for: on servers with JIT it took longer than the work', async () => {
  const compiled = await db.owner<{ name: string }>(
    `select proname as name from pg_proc
      where proname in ('fn_ingest_complete_reading', 'fn_ingest_plan', 'fn_ingest_plan_row_names', 'fn_ingest_plan_stale', 'fn_ingest_repair',
                        'fn_ingest_submit', 'fn_ingest_promote', 'fn_ingest_undo_plan', 'fn_ingest_undo', 'fn_ingest_lineage')
        and not 'jit=off' = any (coalesce(proconfig, '{}'))`,
  )
  expect(compiled).toEqual([])
})
