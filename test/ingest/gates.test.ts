/** STRICT takes all or nothing, LENIENT takes what is right if it is enough; a row that its table refuses fails alone. */
import { describe, expect, it } from 'vitest'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { useDatabase } from '../support/database.ts'
import { type StagedLine, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)
let files = 0

function lines(count: number): StagedLine[] {
  const group = `g${++files}`
  return Array.from({ length: count }, (_, n) => ({
    group_code: `${group}-${n}`,
    group_name: 'any',
    day: '2026-11-01',
    amount: n,
    units: n,
    note: null,
  }))
}
const firstN = (count: number) => Array.from({ length: count }, (_, n) => n)

describe('the threshold', () => {
  it.each([
    ['exactly 90 %', 10, 1, 0.9, true],
    ['one line below 90 %', 10, 2, 0.9, false],
    ['exactly 90 % of 100', 100, 10, 0.9, true],
    ['one line below 90 % of 100', 100, 11, 0.9, false],
    ['two thirds of 3', 3, 1, 0.6667, false],
    ['a little less than two thirds of 3', 3, 1, 0.6666, true],
    ['all of them', 3, 0, 1, true],
    ['all but one, where all are asked for', 3, 1, 1, false],
    ['one of a hundred, where nothing is asked for', 100, 99, 0, true],
    ['none, where nothing is asked for', 2, 2, 0, false],
  ])('LENIENT, %s: %i lines, %i wrong, %d asked for → %s', async (_, count, wrong, threshold, taken) => {
    const upload = await trial.stage(lines(count), { invalid: firstN(wrong) })
    const plan = await trial.planned(upload, 'LENIENT', threshold)
    expect(plan.refusal === null).toBe(taken)
    if (!taken) expect(await sqlstateOf(trial.promote(plan))).toBe('SD607')
    else expect((await trial.promote(plan)).totals).toMatchObject({ figure: { insert: count - wrong } })
  })

  it('does not count lines that were left out by rule', async () => {
    const upload = await trial.stage(lines(20), { invalid: [0], skipped: firstN(11).slice(1) })
    expect((await trial.planned(upload, 'LENIENT', 0.9)).refusal).toBeNull()
    expect((await trial.planned(upload, 'LENIENT', 0.91)).refusal).toMatch(/only 9 of 10/)
  })

  it('STRICT takes a file with totals rows, and none with one wrong line', async () => {
    const plan = await trial.planned(await trial.stage(lines(3), { skipped: [2] }))
    await trial.promote(plan)
    const wrong = await trial.planned(await trial.stage(lines(1000), { invalid: [500] }))
    expect(wrong.refusal).toMatch(/1 of 1000/)
    expect(await sqlstateOf(trial.promote(wrong))).toBe('SD607')
  })

  it('promotes no dry run', async () => {
    const plan = await trial.planned(await trial.stage(lines(2), { runMode: 'FULL_DRY_RUN' }))
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD607')
  })
})

/** A production constraint, and the line that it refuses: the fifth of ten. */
const trigger = (body: string) => `
  create function public.trial_guard() returns trigger language plpgsql as $$ begin if new.note = 'bad' then ${body} end if; return new; end $$;
  create trigger trial_guard before insert or update on trial_figures for each row execute function trial_guard()`
const NO_TRIGGER = 'drop trigger trial_guard on trial_figures; drop function public.trial_guard()'
const HIDE_NOTES = 'alter table notes enable row level security; alter table notes force row level security'
const CONSTRAINTS: [string, string, string, Partial<StagedLine>, RegExp][] = [
  ['a check', 'select', 'select', { amount: 1_000_000 }, /trial_figures_amount_sane/],
  [
    // The plan finds what it can read.
    'a foreign key into a table that we may not read',
    `create table notes (note varchar(20) primary key); insert into notes values ('good'); alter table trial_figures add constraint known foreign key (note) references notes not valid; ${HIDE_NOTES}`,
    'drop table notes cascade',
    { note: 'bad' },
    /known/,
  ],
  [
    'a deferred foreign key into a table that we may not read',
    `create table notes (note varchar(20) primary key); insert into notes values ('good'); alter table trial_figures add constraint known foreign key (note) references notes deferrable initially deferred not valid; ${HIDE_NOTES}`,
    'drop table notes cascade',
    { note: 'bad' },
    /known/,
  ],
  [
    'a unique index on another column',
    `create unique index other on trial_figures (note) where note = 'bad'; insert into trial_groups (id, client_id, code) values ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), 'x'); insert into trial_figures (client_id, group_id, day, note) values (gen_random_uuid(), '00000000-0000-7000-8000-000000000001', '2020-01-01', 'bad')`,
    `drop index other; delete from trial_figures where note = 'bad'; delete from trial_groups where code = 'x'`,
    { note: 'bad' },
    /other/,
  ],
  [
    'a trigger that raises',
    trigger(`raise exception 'not this one';`),
    NO_TRIGGER,
    { note: 'bad' },
    /not this one/,
  ],
  [
    'a trigger that raises with a code of its own',
    trigger(`raise exception using errcode = 'ZZ123', message = 'not this one';`),
    NO_TRIGGER,
    { note: 'bad' },
    /not this one/,
  ],
  ['a trigger that returns NULL', trigger('return null;'), NO_TRIGGER, { note: 'bad' }, /skipped rows/],
  [
    'a deferred constraint trigger',
    `create function public.trial_guard() returns trigger language plpgsql as $$ begin if new.note = 'bad' then raise exception 'at the end'; end if; return null; end $$; create constraint trigger trial_guard after insert or update on trial_figures deferrable initially deferred for each row execute function trial_guard()`,
    NO_TRIGGER,
    { note: 'bad' },
    /at the end/,
  ],
  [
    'NOT NULL',
    'alter table trial_figures add constraint has_units check (units is not null) not valid',
    'alter table trial_figures drop constraint has_units',
    { units: null },
    /has_units/,
  ],
]

describe.each(CONSTRAINTS)('%s', (_, setUp, takeDown, bad, reason) => {
  const ten = () =>
    lines(10).map((line, n) => ({
      ...line,
      note: n === 4 ? null : 'good',
      ...(n === 4 && bad),
    })) as StagedLine[]

  it('fails the row alone when LENIENT', async () => {
    await db.owner(setUp)
    try {
      const plan = await trial.stagePlanned(ten(), {}, 'LENIENT')
      expect((await trial.promote(plan)).totals).toMatchObject({ figure: { insert: 9, refused: 1 } })
      const rows = await db.owner<{ row_number: number; processing_action: string; error: string }>(
        `select row_number, processing_action, validation_errors -> -1 ->> 'message' as error from public.staging_rows
          where upload_id = $1 and row_type = 'figure' order by row_number`,
        [plan.upload_id],
      )
      expect(rows.filter((row) => row.processing_action === 'insert')).toHaveLength(9)
      expect(rows[4]).toEqual({
        row_number: 6,
        processing_action: 'failed',
        error: expect.stringMatching(reason),
      })
      expect(
        await db.owner('select from iu_core.ingest_ledger where upload_id = $1', [plan.upload_id]),
      ).toHaveLength(19)
      expect((await trial.undo(plan.upload_id)).undo_totals.figure).toEqual({ reversed: 9 })
    } finally {
      await db.owner(takeDown)
    }
  })

  it('promotes nothing when STRICT, and names the line', async () => {
    await db.owner(setUp)
    try {
      const plan = await trial.stagePlanned(ten())
      const before = await trial.image()
      const thrown = await trial.promote(plan).catch(asStagedoorError)
      expect(thrown).toMatchObject({
        code: 'table_refused',
        details: { line: 6, reason: expect.stringMatching(reason) },
      })
      expect(await trial.image()).toEqual(before)
    } finally {
      await db.owner(takeDown)
    }
  })
})

it('fails children with their parent', async () => {
  await db.owner(`alter table trial_groups add constraint no_bad check (name <> 'bad')`)
  const rows = lines(12).map((line, n) => ({
    ...line,
    group_code: `p${n % 3}`,
    group_name: n % 3 === 1 ? 'bad' : 'fine',
    item_code: `i${n}`,
    item_name: null,
  }))
  const strict = await trial.stagePlanned(rows, {}, 'LENIENT')
  const before = await trial.image()
  await expect(trial.promote(strict).catch(asStagedoorError)).resolves.toMatchObject({
    code: 'plan_refused',
    details: {
      reason: expect.stringMatching(
        /^its tables refuse 4 rows \(line 3: its (group|item) failed\); then only 8 of 12 lines are valid, and the threshold is 90 %$/,
      ),
    },
  })
  expect(await trial.image()).toEqual(before)
  const plan = await trial.planned(strict.upload_id, 'LENIENT', 0.6)
  expect((await trial.promote(plan)).totals).toEqual({
    group: { insert: 2, refused: 1 },
    item: { insert: 8, refused: 4 },
    figure: { insert: 8, refused: 4 },
  })
  expect(
    await db.owner(
      `select distinct row_type, validation_errors -> -1 ->> 'message' as error from public.staging_rows where upload_id = $1 and processing_action = 'failed' order by 1`,
      [plan.upload_id],
    ),
  ).toEqual([
    { row_type: 'figure', error: expect.stringMatching(/its (group|item) failed/) },
    { row_type: 'group', error: expect.stringContaining('no_bad') },
    { row_type: 'item', error: 'its group failed' },
  ])
  await db.owner('alter table trial_groups drop constraint no_bad')
})

it('fails all the children of a parent at once, however many they are', async () => {
  await db.owner(`alter table trial_groups add constraint no_odd_group check (code <> 'odd')`)
  const days = Array.from({ length: 12_000 }, (_, day) => new Date(Date.UTC(2000, 0, 1 + day)))
  const lines = days.map((day) => ({ group_code: 'odd', day: day.toISOString().slice(0, 10), amount: 1 }))
  let started = performance.now()
  const upload = await trial.stage([...lines, { ...lines[0]!, group_code: 'even' }])
  const plan = await trial.planned(upload, 'LENIENT', 0)
  // Where all lines were looked through again for each line, a minute; now 2 s.
  expect(performance.now() - started).toBeLessThan(20_000)
  started = performance.now()
  await trial.promote(plan)
  // Row by row, each with a pass over all the others, it took 30 s; now 1 s.
  expect(performance.now() - started).toBeLessThan(20_000)
  expect(
    await db.owner(
      `select count(*)::int as rows from staging_rows
        where upload_id = $1 and processing_action = 'failed' and validation_errors @> '[{"message": "its group failed"}]'`,
      [plan.upload_id],
    ),
  ).toEqual([{ rows: 12_000 }])
  await db.owner('alter table trial_groups drop constraint no_odd_group')
})

it('lets a deferred constraint see the whole promotion: a parent that must have children', async () => {
  await db.owner(`
    create function public.trial_has_children() returns trigger language plpgsql as $$
    begin if not exists (select from public.trial_figures where group_id = new.id) then raise exception 'no children'; end if; return null; end $$;
    create constraint trigger has_children after insert on trial_groups deferrable initially deferred for each row execute function trial_has_children()`)
  const plan = await trial.stagePlanned(lines(3))
  expect((await trial.promote(plan)).totals).toMatchObject({ group: { insert: 3 } })
  await db.owner('drop trigger has_children on trial_groups')
})

describe('a value that its column cannot hold', () => {
  it.each([
    [
      'a text that is too long',
      { note: 'x'.repeat(21) },
      /trial_figures.note cannot hold x+: it is longer than the 20/,
    ],
    [
      'an integer that is too large',
      { units: 2_147_483_648 },
      /trial_figures.units cannot hold 2147483648: integer out of range/,
    ],
    [
      'a number that is too large',
      { amount: 10_000_000_000 },
      /trial_figures.amount cannot hold 10000000000: numeric field overflow/,
    ],
  ])('%s is refused in the plan, with its line', async (_, bad, reason) => {
    const upload = await trial.stage(
      lines(10).map((line, n) => (n === 7 ? { ...line, ...bad } : line)) as StagedLine[],
    )
    const strict = await trial.planned(upload)
    expect(strict.totals.figure).toEqual({ insert: 9, refused: 1 })
    expect(await sqlstateOf(trial.promote(strict))).toBe('SD607')
    expect(
      await db.owner(
        `select row_number, reason from iu_core.ingest_plan_row where upload_id = $1 and action = 'refused'`,
        [upload],
      ),
    ).toEqual([{ row_number: 9, reason: expect.stringMatching(reason) }])
    const lenient = await trial.planned(upload, 'LENIENT')
    expect((await trial.promote(lenient)).totals).toMatchObject({ figure: { insert: 9, refused: 1 } })
    expect(
      await sqlstateOf(
        trial
          .planned(
            await trial.stage(
              lines(9).map((line, n) => (n === 7 ? { ...line, ...bad } : line)) as StagedLine[],
            ),
            'LENIENT',
          )
          .then((plan) => trial.promote(plan)),
      ),
    ).toBe('SD607')
  })
})

it('refuses an id that the file has under two parents, instead of hanging both under the first', async () => {
  const rows = [
    ['a', 'same'],
    ['b', 'same'],
    ['b', 'other'],
  ].map(([group, item]) => ({ group_code: `two-${group}`, item_code: item!, day: '2026-11-01', amount: 1 }))
  const plan = await trial.planned(await trial.stage(rows), 'LENIENT', 0)
  expect(plan.totals).toEqual({
    // The group that only a refused line names is not planned.
    group: { insert: 1 },
    item: { insert: 1, refused: 1 },
    figure: { insert: 1, refused: 2 },
  })
  expect(
    await db.owner(
      `select distinct reason from iu_core.ingest_plan_row where upload_id = $1 and row_type = 'figure' and action = 'refused'`,
      [plan.upload_id],
    ),
  ).toEqual([{ reason: 'its parent is ambiguous: it occurs under several parents in the file' }])
})

it('lets the triggers of the table of uploads call what they always call by a plain name', async () => {
  await db.owner(`create table public.told (status text)`)
  await db.owner(
    `create function public.tell() returns trigger language plpgsql as $$ begin insert into told values (new.status); return new; end $$`,
  )
  await db.owner(
    'create trigger tells after insert or update on data_uploads for each row execute function tell()',
  )
  await trial.promoted([{ group_code: 'told', day: '2026-11-01', amount: 1 }])
  expect(await db.owner('select status from told')).toEqual([{ status: 'pending' }, { status: 'completed' }])
  await db.owner('drop trigger tells on data_uploads')
})

it('stops at what says nothing about a row', async () => {
  await db.owner(trigger('perform nothing_like_this();'))
  const plan = await trial.stagePlanned(
    lines(4).map((line) => ({ ...line, note: 'bad' })),
    {},
    'LENIENT',
  )
  const before = await trial.image()
  expect(await sqlstateOf(trial.promote(plan))).toBe('42883')
  expect(await trial.image()).toEqual(before)
  await db.owner(NO_TRIGGER)
})

it('says so when a trigger takes a row away from under its key', async () => {
  await trial.register({ ...TRIAL, name: 'trial_moved' }, { approvalRequired: false })
  await db.owner(`create function public.trial_guard() returns trigger language plpgsql as $$ begin new.id := gen_random_uuid(); return new; end $$;
    create trigger trial_guard before insert on trial_figures for each row execute function trial_guard()`)
  const plan = await trial.stagePlanned(lines(2))
  expect(await sqlstateOf(trial.promote(plan))).toBe('SD611')
  await db.owner(NO_TRIGGER)
})
