/** What an undo takes back, what it keeps, and what it refuses because something depends on it. */
import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { PRICES, type StagedLine, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)
let files = 0

const line = (group = `u${++files}`, amount = 1): StagedLine => ({
  group_code: group,
  group_name: group,
  day: '2026-11-01',
  amount,
})
const figureOf = (group: unknown) =>
  `(select f.id from trial_figures f join trial_groups g on g.id = f.group_id where g.code = '${group}')`

describe('when', () => {
  it('the window has passed, nothing can be undone', async () => {
    const plan = await trial.promoted([line()])
    await db.owner(
      `update iu_core.ingest_promotion set undo_until = clock_timestamp() where upload_id = $1`,
      [plan.upload_id],
    )
    const before = await trial.image()
    expect(await sqlstateOf(trial.undo(plan.upload_id))).toBe('SD609')
    expect(await sqlstateOf(trial.service('select iu_core.fn_ingest_undo_plan($1)', [plan.upload_id]))).toBe(
      'SD609',
    )
    expect(await trial.image()).toEqual(before)
  })

  it('it was never promoted, there is nothing to undo, and that is what is said', async () => {
    const plan = await trial.planned(await trial.stage([line()]))
    await expect(trial.undo(plan.upload_id)).rejects.toThrow(/was never promoted: there is nothing to undo/)
  })

  it('it was undone, it cannot be undone again', async () => {
    const plan = await trial.promoted([line()])
    await trial.undo(plan.upload_id)
    expect(await sqlstateOf(trial.undo(plan.upload_id))).toBe('SD602')
  })

  it('rows change between the plan of the undo and the undo, it is refused', async () => {
    const one = line()
    const plan = await trial.promoted([one])
    const [seen] = await trial.service<{ digest: string; totals: unknown }>(
      'select * from iu_core.fn_ingest_undo_plan($1)',
      [plan.upload_id],
    )
    expect(seen!.totals).toEqual({ group: { reversed: 1 }, figure: { reversed: 1 } })
    await db.owner(`update trial_figures set note = 'mine' where id = ${figureOf(one.group_code)}`)
    expect(await sqlstateOf(trial.undo(plan.upload_id, seen!.digest))).toBe('SD606')
    await expect(trial.undo(plan.upload_id, seen!.digest)).rejects.toMatchObject({
      hint: `Look at the new preview, which \`stagedoor upload undo ${plan.upload_id}\` shows, and decide again.`,
    })
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      figure: { kept: 1 },
      group: { refused: 1 },
    })
  })

  it('a later upload wrote the same row, the row is kept until that one is undone', async () => {
    const one = line()
    const first = await trial.promoted([one])
    const second = await trial.promoted([{ ...one, amount: 2 }])
    const [seen] = await trial.service<{ totals: unknown; stays: { reason: string }[] }>(
      'select totals, stays from iu_core.fn_ingest_undo_plan($1)',
      [first.upload_id],
    )
    expect(seen!.totals).toEqual({ figure: { kept: 1 }, group: { refused: 1 } })
    expect(seen!.stays.map(({ reason }) => reason)).toContain(
      `upload ${second.upload_id} (rows.csv) changed it since: undo that first`,
    )
    await trial.undo(second.upload_id)
    expect((await trial.undo(first.upload_id)).undo_totals).toEqual({
      figure: { reversed: 1 },
      group: { reversed: 1 },
    })
  })

  it('a later upload wrote a row that is known by its key only, that one is named, but not for what others did to it', async () => {
    const price = { sku: 'later', tier: null, day: '2026-11-01', price: 1 }
    const first = await trial.promoted([price], { dataset: PRICES })
    const second = await trial.promoted([{ ...price, price: 2 }], { dataset: PRICES })
    const reasons = async () =>
      (
        await trial.service<{ reason: string }>(
          `select s ->> 'reason' as reason from iu_core.fn_ingest_undo_plan($1) p, jsonb_array_elements(p.stays) s`,
          [first.upload_id],
        )
      ).map(({ reason }) => reason)
    expect(await reasons()).toEqual([
      `upload ${second.upload_id} (rows.csv) changed it since: undo that first`,
    ])
    await db.owner(`update trial_prices set note = 'mine' where sku = 'later'`)
    expect(await reasons()).toEqual(['somebody changed it since'])
  })
})

describe('rows that others refer to', () => {
  it.each(['no action', 'cascade', 'set null', 'restrict'])('are refused: on delete %s', async (action) => {
    await db.owner(
      `create table remarks (figure_id uuid references trial_figures (id) on delete ${action}, text text)`,
    )
    const [one, two] = [line(), line()]
    const plan = await trial.promoted([one, two])
    await db.owner(`insert into remarks values (${figureOf(one.group_code)}, 'mine')`)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      figure: { refused: 1, reversed: 1 },
      group: { refused: 1, reversed: 1 },
    })
    expect(await db.owner('select text, figure_id is null as lost from remarks')).toEqual([
      { text: 'mine', lost: false },
    ])
    await db.owner('drop table remarks')
  })

  it('are refused where Stagedoor may not look whether there are any', async () => {
    const superuser = await db.session('postgres')
    await superuser.query(
      'create table hidden (figure_id uuid references trial_figures (id) on delete cascade)',
    )
    const plan = await trial.promoted([line()])
    expect((await trial.undo(plan.upload_id)).undo_totals).toMatchObject({ figure: { refused: 1 } })
    await superuser.query('drop table hidden')
    await superuser.end()
  })

  it('hold what they refer to themselves, in a chain within one table', async () => {
    await db.owner(`
      create table chain (workspace_id uuid not null, sku text not null, id uuid primary key, after uuid references chain (id) on delete cascade, unique (workspace_id, sku));
      create function public.link_up() returns trigger language plpgsql as $$ begin new.after := (select id from public.chain where sku < new.sku and sku like left(new.sku, 2) || '%' order by sku desc limit 1); return new; end $$;
      create trigger link_up before insert on chain for each row execute function link_up()`)
    const chain: Dataset = {
      ...PRICES,
      name: 'chain',
      rows: [
        {
          name: 'price',
          target: 'public.chain',
          id: 'id',
          key: ['workspace_id', 'sku'],
          requires: ['sku'],
          columns: { workspace_id: '$workspace', sku: 'sku' },
        },
      ],
    }
    await trial.register(chain, { approvalRequired: false })
    const plan = await trial.promoted(
      ['a-1', 'a-2', 'a-3', 'b-1', 'b-2'].map((sku) => ({ sku })),
      { dataset: chain },
    )
    await db.owner(`insert into chain values (gen_random_uuid(), 'a-4', gen_random_uuid())`)
    expect(await db.owner('select from chain where after is not null')).toHaveLength(4)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { refused: 3, reversed: 2 } })
    expect(await db.owner('select sku from chain order by 1')).toEqual(
      ['a-1', 'a-2', 'a-3', 'a-4'].map((sku) => ({ sku })),
    )
  })

  it('go where only rows referred to them that are restored: a child that was moved to a new parent', async () => {
    const [one, two] = [line(), line()]
    await db.owner(
      `create table moved (workspace_id uuid not null, sku text not null, group_id uuid references trial_groups (id), primary key (workspace_id, sku))`,
    )
    const moved: Dataset = {
      ...TRIAL,
      name: 'moved',
      rows: [
        TRIAL.rows[0]!,
        {
          name: 'moved',
          target: 'public.moved',
          key: ['workspace_id', 'sku'],
          requires: ['note'],
          columns: { workspace_id: '$workspace', group_id: '$group', sku: 'note' },
        },
      ],
    }
    await trial.register(moved, { approvalRequired: false })
    await trial.promoted([{ ...one, note: 'a' }], { dataset: moved })
    const before = await trial.image(['public.trial_groups', 'public.moved'])
    const plan = await trial.promoted([{ ...two, note: 'a' }], { dataset: moved })
    expect(plan.totals).toEqual({ group: { insert: 1 }, moved: { update: 1 } })
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      group: { reversed: 1 },
      moved: { reversed: 1 },
    })
    expect(await trial.image(['public.trial_groups', 'public.moved'])).toEqual(before)
    await db.owner('drop table moved')
  })

  it('go where a row of the same table was made to refer to them', async () => {
    await db.owner(
      `create table follows (workspace_id uuid not null, sku text not null, note text, primary key (workspace_id, sku), foreign key (workspace_id, note) references follows)`,
    )
    const follows: Dataset = {
      ...PRICES,
      name: 'follows',
      rows: [
        {
          name: 'price',
          target: 'public.follows',
          key: ['workspace_id', 'sku'],
          requires: ['sku'],
          columns: { workspace_id: '$workspace', sku: 'sku', note: 'note' },
        },
      ],
    }
    await trial.register(follows, { approvalRequired: false })
    await trial.promoted([{ sku: 'a', note: null }], { dataset: follows })
    const before = await trial.image(['public.follows'])
    const lines = [
      { sku: 'a', note: 'b' },
      { sku: 'b', note: 'c' },
      { sku: 'c', note: 'a' },
    ]
    const plan = await trial.promoted(lines, { dataset: follows })
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { reversed: 3 } })
    expect(await trial.image(['public.follows'])).toEqual(before)
    await db.owner('drop table follows')
  })

  it('are found in partitioned tables, also by a key that points at one partition', async () => {
    await db.owner(`
      create table parted (workspace_id uuid not null, sku text not null, day date not null, price numeric, primary key (workspace_id, sku, day)) partition by range (day);
      create table parted_old partition of parted for values from ('2020-01-01') to ('2026-01-01');
      create table parted_new partition of parted for values from ('2026-01-01') to ('2030-01-01');
      create table of_one (workspace_id uuid, sku text, day date, foreign key (workspace_id, sku, day) references parted_new on delete cascade);
      create table of_all (workspace_id uuid, sku text, day date, foreign key (workspace_id, sku, day) references parted on delete cascade)`)
    const parted: Dataset = {
      ...PRICES,
      name: 'parted',
      rows: [
        {
          ...PRICES.rows[0]!,
          target: 'public.parted',
          key: ['workspace_id', 'sku', 'day'],
          columns: { workspace_id: '$workspace', sku: 'sku', day: 'day', price: 'price' },
        },
      ],
    }
    await trial.register(parted, { approvalRequired: false })
    const rows = ['2025-01-01', '2026-02-01', '2026-02-02', '2026-02-03'].map((day) => ({
      sku: 'p',
      day,
      price: 1,
    }))
    const plan = await trial.promoted(rows, { dataset: parted })
    await db.owner(
      `insert into of_one select workspace_id, sku, day from parted where day = '2026-02-01'; insert into of_all select workspace_id, sku, day from parted where day = '2025-01-01'`,
    )
    const update = await trial.promoted([{ ...rows[3]!, price: 2 }], { dataset: parted })
    expect((await trial.undo(update.upload_id)).undo_totals).toEqual({ price: { reversed: 1 } })
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { refused: 2, reversed: 2 } })
    expect(
      await db.owner(
        'select (select count(*)::int from of_one) as one, (select count(*)::int from of_all) as all',
      ),
    ).toEqual([{ one: 1, all: 1 }])
  })
})

describe('a table that has changed', () => {
  const own = (name: string): Dataset => ({
    ...PRICES,
    name,
    rows: [
      {
        ...PRICES.rows[0]!,
        target: `public.${name}`,
        key: ['workspace_id', 'sku'],
        requires: ['sku'],
        columns: { workspace_id: '$workspace', sku: 'sku', price: 'price' },
      },
    ],
  })
  async function promoteOver(name: string, columns = '') {
    await db.owner(
      `create table ${name} (workspace_id uuid not null, sku text not null, price numeric(10, 2)${columns}, unique (workspace_id, sku))`,
    )
    await db.owner(`insert into ${name} values ($1, 'old', 1)`, [trial.workspace])
    await trial.register(own(name), { approvalRequired: false })
    return trial.promoted(
      [
        { sku: 'old', price: 2 },
        { sku: 'new', price: 3 },
      ],
      { dataset: own(name) },
    )
  }

  it('by a column that was added: its rows are still nobody’s, and the column keeps its values', async () => {
    const plan = await promoteOver('widened')
    await db.owner(`alter table widened add column rating integer default 5`)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { reversed: 2 } })
    expect(await db.owner('select sku, price::text, rating from widened')).toEqual([
      { sku: 'old', price: '1.00', rating: 5 },
    ])
  })

  it('by a column of another kind that was added, which a row is not hashed with: its rows are still nobody’s', async () => {
    const plan = await promoteOver('documented')
    await db.owner(`alter table documented add column seen json default '{}'`)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { reversed: 2 } })
  })

  it('by a column that became json: its rows are kept', async () => {
    const plan = await promoteOver('converted')
    await db.owner('alter table converted alter column price type json using to_json(price)')
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { kept: 2 } })
  })

  it('not at all, where what was promoted is known by the text of its rows, as it was at first', async () => {
    const plan = await promoteOver('earlier')
    await db.owner(
      `update iu_core.ingest_ledger l set after_hash = sha256(convert_to(t::text, 'UTF8'))
         from earlier t where l.upload_id = $1 and l.target_key ->> 'sku' = t.sku`,
      [plan.upload_id],
    )
    await db.owner(`update earlier set price = 4 where sku = 'new'`)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { kept: 1, reversed: 1 } })
  })

  it('not in the eyes of its own types: an edit that they call equal is an edit', async () => {
    const plan = await promoteOver('patient', `, lasts interval default '30 days'`)
    await db.owner(`update patient set lasts = '1 month' where sku = 'new'`)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { kept: 1, reversed: 1 } })
  })

  it('by a column that was dropped: its rows are kept', async () => {
    const plan = await promoteOver('narrowed')
    await db.owner('alter table narrowed drop column price')
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { kept: 2 } })
    expect(await db.owner('select from narrowed')).toHaveLength(2)
  })

  it('by a key column that was renamed: its rows are kept', async () => {
    const plan = await promoteOver('renamed')
    await db.owner('alter table renamed rename column sku to article')
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { kept: 2 } })
  })

  it('by being gone: its rows are kept, and it says so', async () => {
    const plan = await promoteOver('dropped')
    await db.owner('drop table dropped')
    const [seen] = await trial.service<{ stays: { reason: string }[] }>(
      'select stays from iu_core.fn_ingest_undo_plan($1)',
      [plan.upload_id],
    )
    expect(seen!.stays.map(({ reason }) => reason)).toEqual([
      'its table no longer exists',
      'its table no longer exists',
    ])
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { kept: 2 } })
  })

  it('by a value that the old row would collide with: nothing is undone, and it says why', async () => {
    const plan = await promoteOver('collided')
    await db.owner('create unique index on collided (price)')
    await db.owner(`insert into collided values (gen_random_uuid(), 'other', 1)`)
    const before = await trial.image(['collided', 'iu_core.ingest_ledger', 'iu_core.ingest_promotion'])
    expect(await sqlstateOf(trial.undo(plan.upload_id))).toBe('SD611')
    expect(await trial.image(['collided', 'iu_core.ingest_ledger', 'iu_core.ingest_promotion'])).toEqual(
      before,
    )
  })
})

it('takes back what triggers made of it: a parent that counts its children', async () => {
  await db.owner(`
    alter table trial_groups add column children integer not null default 0;
    create function public.count_children() returns trigger language plpgsql as $$
    begin
      update trial_groups g set children = (select count(*) from trial_figures f where f.group_id = g.id) where g.id = coalesce(new.group_id, old.group_id);
      return null;
    end $$;
    create trigger count_children after insert or update or delete on trial_figures for each row execute function count_children()`)
  const old = line()
  await trial.promoted([old])
  const before = await trial.image(['trial_groups', 'trial_figures'])
  const plan = await trial.promoted(
    [
      { ...old, day: '2026-11-05' },
      { ...line(), amount: 3 },
      { ...old, amount: 9 },
    ].map((one) => ({ ...one, group_name: 'renamed' })),
  )
  expect(plan.totals).toEqual({ group: { insert: 1, update: 1 }, figure: { insert: 2, update: 1 } })
  expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
    group: { reversed: 2 },
    figure: { reversed: 3 },
  })
  expect(await trial.image(['trial_groups', 'trial_figures'])).toEqual(before)
  await db.owner(
    'drop trigger count_children on trial_figures; alter table trial_groups drop column children',
  )
})

it('works on names that need quotes', async () => {
  await db.owner(
    `create table "Mixed Case" ("Workspace" uuid not null, "Item No." text not null, "UnitPrice" numeric, "it's" text, unique ("Workspace", "Item No."))`,
  )
  const mixed: Dataset = {
    ...PRICES,
    name: 'mixed',
    rows: [
      {
        name: 'price',
        target: 'public."Mixed Case"',
        key: ['Workspace', 'Item No.'],
        requires: ['sku'],
        columns: { Workspace: '$workspace', 'Item No.': 'sku', UnitPrice: 'price', "it's": 'note' },
      },
    ],
  }
  // In SQL: a declaration of ours has plain names only.
  await db.owner('select iu_core.fn_ingest_dataset_register($1, false)', [JSON.stringify(mixed)])
  const first = await trial.promoted([{ sku: 'A', price: 1, note: "it's" }], { dataset: mixed })
  const second = await trial.promoted([{ sku: 'A', price: 2, note: "it's" }], { dataset: mixed })
  expect(second.totals).toEqual({ price: { update: 1 } })
  expect(
    await trial.service('select line from iu_core.fn_ingest_lineage($1, $2, null, $3)', [
      trial.workspace,
      'public."Mixed Case"',
      JSON.stringify({ Workspace: trial.workspace, 'Item No.': 'A' }),
    ]),
  ).toHaveLength(2)
  await trial.undo(second.upload_id)
  await trial.undo(first.upload_id)
  expect(await db.owner('select from "Mixed Case"')).toEqual([])
})

it('does not depend on the session’s time zone and styles', async () => {
  const one = line()
  await trial.promoted([one])
  const session = await db.session('stagedoor_worker')
  await session.query(
    `set role service_role; set timezone = 'Asia/Kathmandu'; set datestyle = 'German'; set extra_float_digits = -5`,
  )
  const upload = await trial.stage([{ ...one, amount: 5 }])
  const { rows } = await session.query('select * from iu_core.fn_ingest_plan($1)', [upload])
  await trial.promote(rows[0])
  const undone = await session.query('select undo_totals from iu_core.fn_ingest_undo($1)', [upload])
  expect(undone.rows[0].undo_totals).toEqual({ figure: { reversed: 1 } })
  expect((await session.query('show timezone')).rows).toEqual([{ TimeZone: 'Asia/Kathmandu' }])
  await session.end()
})

it('leaves alone what the promotion did not change, also what an image of the row does not hold exactly', async () => {
  await db.owner(`
    create table exact (workspace_id uuid not null, sku text not null, note text, as_text json, nothing jsonb not null, bounds text[],
      zero double precision, primary key (workspace_id, sku))`)
  const exact: Dataset = {
    ...PRICES,
    name: 'exact',
    rows: [
      {
        name: 'price',
        target: 'public.exact',
        key: ['workspace_id', 'sku'],
        requires: ['sku'],
        columns: { workspace_id: '$workspace', sku: 'sku', note: 'note' },
      },
    ],
  }
  await trial.register(exact, { approvalRequired: false })
  await db.owner(
    `insert into exact values ($1, 'a', 'old', '{"b":1,  "a":2, "a":3}', 'null', '[2:3]={a,b}', '-0')`,
    [trial.workspace],
  )
  const before = await trial.image(['public.exact'])
  const plan = await trial.promoted([{ sku: 'a', note: 'new' }], { dataset: exact })
  expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { reversed: 1 } })
  expect(await trial.image(['public.exact'])).toEqual(before)
  await db.owner('drop table exact')
})
