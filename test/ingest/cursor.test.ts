/** An API pull: where the next one begins is committed with the promotion, never before and never without. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)
const cursor = () =>
  db.owner<{ value: unknown }>(
    `select cursor_value as value from iu_core.ingest_cursor where cursor_name = 'pull'`,
  )
const pull = (day: number, value: unknown) =>
  trial.stagePlanned([{ group_code: 'pulled', day: `2026-11-${10 + day}`, amount: 1 }], {
    cursor: { name: 'pull', value },
  })

it('moves with the promotion and not with the plan', async () => {
  const first = await pull(1, { since: '2026-11-11' })
  expect(await cursor()).toEqual([])
  await trial.promote(first)
  expect(await cursor()).toEqual([{ value: { since: '2026-11-11' } }])
  const second = await pull(2, { since: '2026-11-12' })
  expect(await cursor()).toEqual([{ value: { since: '2026-11-11' } }])
  await trial.promote(second)
  expect(await cursor()).toEqual([{ value: { since: '2026-11-12' } }])
})

it('stays where it was when the promotion is refused or rolled back', async () => {
  const before = await cursor()
  const plan = await pull(3, { since: 'refused' })
  await db.owner(
    `insert into trial_figures (client_id, group_id, day) select client_id, id, '2026-11-13' from trial_groups where code = 'pulled'`,
  )
  expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
  expect(await cursor()).toEqual(before)
  const session = await db.session('stagedoor_worker')
  const again = await trial.planned(plan.upload_id, 'STRICT', 0.9, 'use_mine')
  await session.query('begin; set local role service_role')
  await session.query('select iu_core.fn_ingest_promote($1, $2)', [again.upload_id, again.digest])
  await session.query('rollback')
  await session.end()
  expect(await cursor()).toEqual(before)
  await trial.promote(again)
  expect(await cursor()).toEqual([{ value: { since: 'refused' } }])
})

it('goes back with the undo, so that the next pull fetches it again', async () => {
  const [before] = await cursor()
  const plans = []
  for (const day of [4, 5, 6]) {
    const plan = await pull(day, { since: day })
    await trial.promote(plan)
    plans.push(plan)
  }
  const [first, second, third] = plans
  await trial.undo(second!.upload_id)
  expect(await cursor()).toEqual([{ value: { since: 6 } }])
  // Not to that of the second, which is undone, too.
  await trial.undo(third!.upload_id)
  expect(await cursor()).toEqual([{ value: { since: 4 } }])
  await trial.undo(first!.upload_id)
  expect(await cursor()).toEqual([before])
  const only = await trial.promoted([{ group_code: 'only', day: '2026-11-01', amount: 1 }], {
    cursor: { name: 'first', value: 1 },
  })
  await trial.undo(only.upload_id)
  expect(await db.owner(`select from iu_core.ingest_cursor where cursor_name = 'first'`)).toEqual([])
})

it('is one per name, client and platform', async () => {
  await trial.promoted([{ group_code: 'other', day: '2026-11-01', amount: 1 }], {
    cursor: { name: 'another', value: 1 },
  })
  expect(await db.owner('select cursor_name from iu_core.ingest_cursor order by 1')).toEqual([
    { cursor_name: 'another' },
    { cursor_name: 'pull' },
  ])
})
