/** What is known about a unit: merged key by key, without core keys, with topics of the vocabulary. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { call, create, enact, events, outbox, refusal, row, useLife, versions } from './life.ts'

const db = useDatabase()
const life = useLife(db)

const profile = async (unit: string, patch: unknown, who = life.operator) =>
  (
    await who.session.query<{ profile: object }>('select iu_core.fn_unit_profile_patch($1, $2) as profile', [
      unit,
      JSON.stringify(patch),
    ])
  ).rows[0]!.profile

beforeAll(async () => {
  await db.owner(
    `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by)
     values (null, 'safety', 'test'), ($1, 'leave', 'test'), ($1, 'fax', 'test'), ($2, 'secret', 'test')`,
    [life.workspace, life.elsewhere],
  )
})

it('merges at the top level, takes out what is null, and emits which keys changed', async () => {
  const { unit_id } = await create(life, { p_profile: { a: 1, b: { c: 2 }, d: 3 } })
  expect(await profile(unit_id, { b: { e: null }, d: null, f: 'x', a: 1 })).toEqual({
    a: 1,
    b: { e: null },
    f: 'x',
  })
  expect((await row(db, unit_id)).content_profile).toEqual({ a: 1, b: { e: null }, f: 'x' })
  expect((await events(db, unit_id)).slice(1)).toMatchObject([
    {
      type: 'iu.unit_profile_changed',
      actor: life.operator.actor,
      safe_payload: { unit_id, keys: ['b', 'd', 'f'] },
    },
  ])
  expect(await versions(db, unit_id)).toHaveLength(1)
  expect(await outbox(db, unit_id)).toMatchObject({ generation: '1' })
})

it('emits nothing where nothing changed', async () => {
  const { unit_id } = await create(life, { p_profile: { a: 1 } })
  for (const patch of [{}, { a: 1 }, { a: 1.0 }, { gone: null }])
    expect(await profile(unit_id, patch)).toEqual({ a: 1 })
  expect(await events(db, unit_id)).toHaveLength(1)
})

it('emits of many long keys the beginnings of the first', async () => {
  const { unit_id } = await create(life)
  await profile(
    unit_id,
    Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`${n + 10}"`.repeat(100), n])),
  )
  const { keys } = (await events(db, unit_id))[1]!.safe_payload as { keys: string[] }
  expect(keys).toHaveLength(50)
  expect(Math.max(...keys.map((key) => key.length))).toBe(60)
})

it('changes while the unit is enacted, and not when it is retired, superseded or deleted', async () => {
  const [one, two, three] = [await create(life), await create(life), await create(life)]
  await enact(life.reviewer, one.unit_id)
  expect(await profile(one.unit_id, { a: 1 })).toEqual({ a: 1 })
  await enact(life.reviewer, two.unit_id)
  await call(life.reviewer, 'fn_unit_supersede', {
    p_unit_id: one.unit_id,
    p_successor_id: two.unit_id,
    p_apr_ref: 'apr-2',
  })
  await call(life.reviewer, 'fn_unit_retire', { p_unit_id: two.unit_id })
  await call(life.operator, 'fn_unit_delete', { p_unit_id: three.unit_id })
  for (const [unit, status] of [
    [one, 'superseded'],
    [two, 'retired'],
    [three, 'deleted'],
  ] as const)
    expect(await refusal(profile(unit.unit_id, { a: 2 }))).toEqual({
      code: 'SD903',
      unit: unit.unit_id,
      status,
    })
})

it('takes topics of the workspace and of everybody, and keeps one that was retired meanwhile', async () => {
  const { unit_id } = await create(life)
  await profile(unit_id, { topic_labels: ['fax', 'safety'] })
  await db.owner(`update iu_core.topic_vocabulary set retired_at = now() where topic_label = 'fax'`)
  expect(await profile(unit_id, { topic_labels: ['leave', 'fax'] })).toEqual({
    topic_labels: ['leave', 'fax'],
  })
  await profile(unit_id, { topic_labels: ['leave'] })
  expect(await refusal(profile(unit_id, { topic_labels: ['fax', 'leave'] }))).toEqual({
    code: 'SD907',
    topics: 'fax',
  })
  expect(await profile(unit_id, { topic_labels: null })).toEqual({})
})

it.each([
  [
    'core keys',
    { lifecycle_status: 'enacted', vector: null, mood: 1 },
    { code: 'SD911', keys: 'lifecycle_status, vector' },
  ],
  [
    'topics outside the vocabulary',
    { topic_labels: ['leave', 'nonsense', 'secret'] },
    { code: 'SD907', topics: 'nonsense, secret' },
  ],
  ['topics that are no list', { topic_labels: { leave: true } }, { code: 'SD001' }],
  ['topics twice', { topic_labels: ['leave', 'leave'] }, { code: 'SD001' }],
  ['what is no object', ['a'], { code: 'SD001' }],
  ['nothing', null, { code: 'SD001' }],
  ['70 kB', { a: 'x'.repeat(70_000) }, { code: 'SD001' }],
])('refuses %s', async (_, patch, expected) => {
  const { unit_id } = await create(life, { p_profile: { a: 1 } })
  expect(await refusal(profile(unit_id, patch))).toMatchObject(expected)
  expect((await row(db, unit_id)).content_profile).toEqual({ a: 1 })
})

it('refuses what becomes too large by and by', async () => {
  const { unit_id } = await create(life, { p_profile: { a: 'x'.repeat(60_000) } })
  expect(await sqlstateOf(profile(unit_id, { b: 'y'.repeat(10_000) }))).toBe('SD001')
})

it('is guarded for the owner, too, who writes without a function', async () => {
  const { unit_id } = await create(life)
  const write = (profile: unknown) =>
    db.owner('update iu_core.information_unit set content_profile = $2 where unit_id = $1', [
      unit_id,
      JSON.stringify(profile),
    ])
  expect(await refusal(write({ a: 1, vector: [] }))).toMatchObject({ code: 'SD911' })
  expect(await refusal(write({ a: 'x'.repeat(70_000) }))).toMatchObject({ code: 'SD001' })
  await write({ a: 1 })
})

it('is not changed by viewers, agents or strangers', async () => {
  const { unit_id } = await create(life)
  expect(await sqlstateOf(profile(unit_id, { a: 1 }, life.viewer))).toBe('SD202')
  expect(await sqlstateOf(profile(unit_id, { a: 1 }, life.agent))).toBe('42501')
  expect(await sqlstateOf(profile(unit_id, { a: 1 }, life.stranger))).toBe('SD901')
})

it.each([
  [{ details: { lifecycle_status: 'enacted' } }, 'lifecycle_status'],
  [{ list: [{ deep: { content_hash: 'x' } }] }, 'content_hash'],
  [{ a: { vector: [1] }, b: [[{ unit_id: 1 }]] }, 'unit_id, vector'],
])('refuses core keys at any depth: %j', async (patch, keys) => {
  const { unit_id } = await create(life)
  expect(await refusal(profile(unit_id, patch))).toEqual({ code: 'SD911', keys })
  expect(await refusal(create(life, { p_profile: patch }))).toEqual({ code: 'SD911', keys })
  expect((await row(db, unit_id)).content_profile).toEqual({})
})
