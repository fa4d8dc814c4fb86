/** Many at once, and edits at the worst moment: one winner, and nothing is written on what has changed. */
import type pg from 'pg'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { type Planned, PRICES, sha256, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const trial = useTrial(db)
let files = 0

const line = (group: string, amount = 1) => ({
  group_code: group,
  group_name: group,
  day: '2026-11-01',
  amount,
})

async function asService(): Promise<pg.Client> {
  const session = await db.session('stagedoor_worker')
  await session.query('set role service_role')
  return session
}

const promoteIn = (session: pg.Client, plan: Planned) =>
  session.query('select iu_core.fn_ingest_promote($1, $2)', [plan.upload_id, plan.digest])

it('promotes an upload once, however many try at once', async () => {
  const plan = await trial.stagePlanned(Array.from({ length: 20 }, (_, n) => line(`many-${n}`)))
  const sessions = await Promise.all(Array.from({ length: 16 }, asService))
  const outcomes = await Promise.all(sessions.map((session) => sqlstateOf(promoteIn(session, plan))))
  expect(outcomes.sort()).toEqual([...Array.from({ length: 15 }, () => 'SD602'), 'not refused'].sort())
  expect(
    await db.owner(
      `select (select count(*)::int from iu_core.ingest_promotion where upload_id = $1) as promotions,
              (select count(*)::int from iu_core.event_outbox where event_type = 'ingestion_complete' and event_subject_ref = $1::text) as events,
              (select count(*)::int from trial_figures f join trial_groups g on g.id = f.group_id where g.code like 'many-%') as rows,
              (select count(*)::int from iu_core.ingest_ledger where upload_id = $1) as ledger`,
      [plan.upload_id],
    ),
  ).toEqual([{ promotions: 1, events: 1, rows: 20, ledger: 40 }])
  await Promise.all(sessions.map((session) => session.end()))
})

it('undoes an upload once, however many try at once', async () => {
  const plan = await trial.promoted([line('undo-race')])
  const sessions = await Promise.all(Array.from({ length: 8 }, asService))
  const outcomes = await Promise.all(
    sessions.map((session) =>
      sqlstateOf(session.query('select iu_core.fn_ingest_undo($1)', [plan.upload_id])),
    ),
  )
  expect(outcomes.sort()).toEqual([...Array.from({ length: 7 }, () => 'SD602'), 'not refused'].sort())
  expect(
    await db.owner(
      `select from iu_core.event_outbox where event_type = 'ingestion_undone' and event_subject_ref = $1`,
      [plan.upload_id],
    ),
  ).toHaveLength(1)
  await Promise.all(sessions.map((session) => session.end()))
})

const COLUMNS = ['client_id', 'day', 'amount', 'units', 'note', 'flag', 'seen', 'group_id', 'id']
const EDITS: [string, string, ReturnType<typeof line>[]][] = [
  ...COLUMNS.map((column): [string, string, ReturnType<typeof line>[]] => [
    `an update of ${column}`,
    `update trial_figures set ${column} = ${{ client_id: 'gen_random_uuid()', day: `date '2001-01-01'`, amount: '77', units: '77', note: `'theirs'`, flag: 'true', seen: 'clock_timestamp()', group_id: `(select id from trial_groups where code = 'spare')`, id: 'gen_random_uuid()' }[column]} where group_id = (select id from trial_groups where code = $1)`,
    [],
  ]),
  [
    'a delete',
    'delete from trial_figures where group_id = (select id from trial_groups where code = $1)',
    [],
  ],
  ['an edit of an unchanged parent', `update trial_groups set seen = clock_timestamp() where code = $1`, []],
  [
    'an insert of a planned key',
    `insert into trial_figures (client_id, group_id, day) select client_id, id, '2026-11-02' from trial_groups where code = $1`,
    [],
  ],
  [
    'an insert of a planned parent',
    `insert into trial_groups (client_id, code) select client_id, $1 || '-new' from trial_groups where code = $1`,
    [],
  ],
]

/** One row to be updated, one to be inserted, one parent unchanged and one new. */
async function planOver(code: string): Promise<Planned> {
  await db.owner(`insert into trial_groups (client_id, code) values ($1, 'spare') on conflict do nothing`, [
    trial.client,
  ])
  await db.owner(
    `delete from trial_figures where group_id = (select id from trial_groups where code = 'spare')`,
  )
  await trial.promoted([line(code)])
  return trial.stagePlanned([line(code, 2), { ...line(code, 3), day: '2026-11-02' }, line(`${code}-new`)])
}

it.each(EDITS)('refuses a plan as stale after %s', async (_, sql) => {
  const code = `stale-${++files}`
  const plan = await planOver(code)
  await db.owner(sql, [code])
  const before = await trial.image()
  expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
  expect(await trial.image()).toEqual(before)
  // Planned again it sees what is there now.
  await trial.promote(await trial.planned(plan.upload_id, 'STRICT', 0.9, 'use_mine'))
})

it.each(EDITS)('refuses it when %s is committed while promotion waits', async (what, sql) => {
  const code = `late-${++files}`
  const plan = await planOver(code)
  const theirs = await db.session('postgres')
  await theirs.query('begin')
  // Another row that promotion must lock, so that it waits in every case before or while it compares.
  await theirs.query(sql, [code])
  if (/unchanged parent|planned parent/.test(what))
    await theirs.query(
      'update trial_figures set seen = seen where group_id = (select id from trial_groups where code = $1)',
      [code],
    )
  const ours = await asService()
  const promoting = sqlstateOf(promoteIn(ours, plan))
  await untilWaiting(db, ours)
  await theirs.query('commit')
  const outcome = await promoting
  if (/unchanged parent/.test(what)) {
    // Compared before it was committed, and only read: the same as if the edit had come after.
    expect(['SD606', 'not refused']).toContain(outcome)
  } else expect(outcome).toBe('SD606')
  if (outcome === 'SD606')
    expect(
      await db.owner(`select from iu_core.ingest_ledger where upload_id = $1`, [plan.upload_id]),
    ).toEqual([])
  await Promise.all([ours.end(), theirs.end()])
})

it.each(['STRICT', 'LENIENT'] as const)(
  'calls it stale, not a failed row, when somebody inserts the key meanwhile (%s)',
  async (mode) => {
    const sku = `race-${mode}`
    const plan = await trial.stagePlanned(
      ['a', 'b', 'c'].map((one) => ({ sku: `${sku}-${one}`, tier: null, day: '2026-11-01', price: 1 })),
      { dataset: PRICES },
      mode,
    )
    const theirs = await db.session('postgres')
    await theirs.query('begin')
    await theirs.query(`insert into trial_prices values ($1, $2, null, '2026-11-01', 9)`, [
      trial.workspace,
      `${sku}-b`,
    ])
    const ours = await asService()
    const promoting = sqlstateOf(promoteIn(ours, plan))
    await untilWaiting(db, ours)
    await theirs.query('commit')
    expect(await promoting).toBe('SD606')
    expect(await db.owner('select sku from trial_prices where sku like $1', [`${sku}%`])).toEqual([
      { sku: `${sku}-b` },
    ])
    await Promise.all([ours.end(), theirs.end()])
  },
)

it('keeps a row that is edited while the undo waits for it', async () => {
  const plan = await trial.promoted([line('edited-late')])
  const theirs = await db.session('postgres')
  await theirs.query('begin')
  await theirs.query(
    `update trial_figures set note = 'mine' where group_id = (select id from trial_groups where code = 'edited-late')`,
  )
  const ours = await asService()
  const undoing = ours.query('select undo_totals from iu_core.fn_ingest_undo($1)', [plan.upload_id])
  await untilWaiting(db, ours)
  await theirs.query('commit')
  expect((await undoing).rows).toEqual([{ undo_totals: { figure: { kept: 1 }, group: { refused: 1 } } }])
  await Promise.all([ours.end(), theirs.end()])
})

it('reads the same bytes once when two begin at once', async () => {
  const hash = sha256('the same bytes')
  const sessions = await Promise.all(Array.from({ length: 6 }, asService))
  const begun = await Promise.all(
    sessions.map((session) =>
      session.query(
        `select upload_id, created from iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3)`,
        [trial.workspace, hash, trial.client],
      ),
    ),
  )
  expect(begun.filter(({ rows }) => rows[0].created)).toHaveLength(1)
  expect(new Set(begun.map(({ rows }) => rows[0].upload_id)).size).toBe(1)
  await Promise.all(sessions.map((session) => session.end()))
})

it('plans and promotes by the dataset that the file was read by, or not at all', async () => {
  const staged = await trial.stage([line('read-before')])
  const plan = await trial.stagePlanned([line('planned-before')])
  const theirs = await db.session(MIGRATOR)
  await theirs.query('begin')
  await theirs.query('select iu_core.fn_ingest_dataset_register($1)', [
    JSON.stringify({ ...TRIAL, version: 2 }),
  ])
  const [planning, promoting] = await Promise.all([asService(), asService()])
  const outcomes = [
    sqlstateOf(planning.query('select iu_core.fn_ingest_plan($1)', [staged])),
    sqlstateOf(promoteIn(promoting, plan)),
  ]
  await untilWaiting(db, planning)
  await untilWaiting(db, promoting)
  await theirs.query('commit')
  expect(await Promise.all(outcomes)).toEqual(['SD606', 'SD606'])
  // Registered as it was, it is the same dataset, whenever that was.
  await trial.register(TRIAL)
  await trial.promote(plan)
  await trial.promote(await trial.planned(staged))
  await Promise.all([theirs.end(), planning.end(), promoting.end()])
})
