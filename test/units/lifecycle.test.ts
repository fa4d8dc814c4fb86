/** Enact, supersede, retire, delete, restore, change kind: who may, when, and what stays. */
import { describe, expect, it } from 'vitest'
import type { Person } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import {
  call,
  create,
  edit,
  enact,
  events,
  lifecycleLog,
  outbox,
  refusal,
  row,
  sha256,
  useLife,
} from './life.ts'

const db = useDatabase()
const life = useLife(db)

const supersede = (unit: string, successor: string | null, who = life.reviewer) =>
  call(who, 'fn_unit_supersede', { p_unit_id: unit, p_successor_id: successor, p_apr_ref: 'apr-2' })
const retire = (unit: string, reason: string | null = null, who = life.reviewer) =>
  call(who, 'fn_unit_retire', { p_unit_id: unit, p_reason: reason })
const remove = (unit: string, who: Person = life.operator, reason: string | null = null) =>
  call(who, 'fn_unit_delete', { p_unit_id: unit, p_reason: reason })
const restore = (unit: string, who: Person = life.operator) =>
  call(who, 'fn_unit_restore', { p_unit_id: unit })

type Status = 'draft' | 'enacted' | 'superseded' | 'retired' | 'deleted'

async function unitThatIs(status: Status): Promise<string> {
  const { unit_id } = await create(life)
  if (status === 'enacted' || status === 'superseded') await enact(life.reviewer, unit_id)
  if (status === 'superseded') await supersede(unit_id, await unitThatIs('enacted'))
  if (status === 'retired') await retire(unit_id)
  if (status === 'deleted') await remove(unit_id)
  return unit_id
}

it('is logged and emitted at every step, with its approval and reason', async () => {
  const { unit_id } = await create(life, { address: 'told' })
  const successor = await unitThatIs('enacted')
  await enact(life.reviewer, unit_id, 1, 'apr-7')
  await remove(unit_id, life.reviewer, 'by mistake')
  await restore(unit_id, life.reviewer)
  await supersede(unit_id, successor)
  const changed_by = life.reviewer.actor
  const log = await lifecycleLog(db, unit_id)
  expect(log).toMatchObject([
    { from_status: 'draft', to_status: 'enacted', apr_ref: 'apr-7', reason: null, changed_by },
    { from_status: 'enacted', to_status: 'deleted', apr_ref: null, reason: 'by mistake', changed_by },
    { from_status: 'deleted', to_status: 'enacted', apr_ref: null, reason: null, changed_by },
    { from_status: 'enacted', to_status: 'superseded', apr_ref: 'apr-2', reason: null, changed_by },
  ])
  const told = (await events(db, unit_id)).slice(1)
  expect(told.map((event) => [event.type, event.canonical_address, event.actor])).toEqual(
    Array(4).fill(['iu.unit_lifecycle_changed', 'told', changed_by]),
  )
  expect(told.map((event) => event.safe_payload)).toEqual([
    { unit_id, from_status: 'draft', to_status: 'enacted', version_no: 1, apr_ref: 'apr-7' },
    { unit_id, from_status: 'enacted', to_status: 'deleted', version_no: 1 },
    { unit_id, from_status: 'deleted', to_status: 'enacted', version_no: 1 },
    { unit_id, from_status: 'enacted', to_status: 'superseded', version_no: 1, apr_ref: 'apr-2' },
  ])
  // Each is a change set of its own, named after its event.
  expect(
    await db.owner(
      `select from public.iu_lifecycle_log l join iu_core.event_outbox e on e.id = l.change_set_id where l.unit_id = $1`,
      [unit_id],
    ),
  ).toHaveLength(4)
  expect(await row(db, unit_id)).toMatchObject({
    lifecycle_status: 'superseded',
    superseded_by: successor,
    apr_ref: 'apr-2',
    deleted_at: null,
  })
})

it('enacts exactly the version that was read', async () => {
  const { unit_id } = await create(life, { body: 'One' })
  await edit(life.operator, unit_id, 1, { p_body: 'Two' })
  expect(await refusal(enact(life.reviewer, unit_id, 1))).toEqual({
    code: 'SD902',
    unit: unit_id,
    expected_version: 1,
    expected_hash: sha256('One'),
    current_version: 2,
    current_hash: sha256('Two'),
  })
  await enact(life.reviewer, unit_id, 2)
  expect(await row(db, unit_id)).toMatchObject({
    lifecycle_status: 'enacted',
    version_no: 2,
    apr_ref: 'apr-1',
  })
})

it('emits a retirement also as the deprecation of a piece', async () => {
  const { unit_id } = await create(life)
  await retire(unit_id, 'nobody reads it')
  expect((await events(db, unit_id)).slice(1).map((event) => event.type)).toEqual([
    'iu.unit_lifecycle_changed',
    'piece.piece_deprecated',
  ])
  expect(await lifecycleLog(db, unit_id)).toMatchObject([{ reason: 'nobody reads it', to_status: 'retired' }])
})

describe('goes its way only:', () => {
  const steps: Record<string, (unit: string) => Promise<unknown>> = {
    enacted: (unit) => enact(life.reviewer, unit),
    superseded: async (unit) => supersede(unit, await unitThatIs('enacted')),
    retired: (unit) => retire(unit),
    deleted: (unit) => remove(unit, life.reviewer),
    restored: (unit) => restore(unit, life.reviewer),
  }
  const allowed: Record<Status, string[]> = {
    draft: ['enacted', 'retired', 'deleted'],
    enacted: ['superseded', 'retired', 'deleted'],
    superseded: ['deleted'],
    retired: ['deleted'],
    deleted: ['restored'],
  }
  it.each(Object.keys(allowed) as Status[])('what is %s', async (status) => {
    for (const [to, step] of Object.entries(steps)) {
      const unit = await unitThatIs(status)
      if (allowed[status].includes(to)) await step(unit)
      else expect(await refusal(step(unit)), to).toEqual({ code: 'SD905', unit, status, to })
    }
  })
})

it('brings what was deleted back as what it was', async () => {
  for (const status of ['draft', 'enacted', 'superseded', 'retired'] as const) {
    const unit = await unitThatIs(status)
    const before = await row(db, unit)
    await remove(unit, life.reviewer)
    expect((await row(db, unit)).deleted_at).toBeInstanceOf(Date)
    await restore(unit, life.reviewer)
    expect(await row(db, unit)).toEqual({ ...before, changed_at: expect.any(Date) })
    expect(await outbox(db, unit)).toMatchObject({ operation: 'upsert' })
    // It is not retired a second time.
    const deprecated = (await events(db, unit)).filter((event) => event.type === 'piece.piece_deprecated')
    expect(deprecated).toHaveLength(status === 'retired' ? 1 : 0)
  }
})

it('supersedes by an enacted unit of the same workspace, and not by itself', async () => {
  const unit = await unitThatIs('enacted')
  const draft = await unitThatIs('draft')
  expect(await refusal(supersede(unit, draft))).toMatchObject({ code: 'SD905', unit: draft, status: 'draft' })
  expect(await refusal(supersede(unit, await unitThatIs('deleted')))).toMatchObject({
    code: 'SD905',
    status: 'deleted',
  })
  expect(await sqlstateOf(supersede(unit, unit))).toBe('SD001')
  expect(await refusal(supersede(unit, null))).toEqual({ code: 'SD901', unit: null })
  const theirs = await call<{ unit_id: string }>(life.stranger, 'fn_unit_create', {
    p_workspace_id: life.elsewhere,
    p_canonical_address: 'theirs',
    p_body: 'x',
  })
  await enact(life.stranger, theirs.unit_id)
  expect(await refusal(supersede(unit, theirs.unit_id))).toEqual({ code: 'SD901', unit: theirs.unit_id })
})

it('restores no second successor beside the one that is worked on', async () => {
  const enacted = await unitThatIs('enacted')
  const successor = async (address: string) =>
    (
      await db.owner<{ unit_id: string }>(`select unit_id from iu_core.fn_unit_create_rows($1, $2, 'cut')`, [
        life.workspace,
        JSON.stringify([{ canonical_address: address, body: 'x', supersedes: enacted }]),
      ])
    )[0]!.unit_id
  const first = await successor('chain~2')
  await remove(first)
  await successor('chain~3')
  expect(await refusal(restore(first))).toMatchObject({ code: 'SD905', unit: first, status: 'deleted' })
  expect((await row(db, first)).deleted_at).not.toBeNull()
})

describe('changes a kind', () => {
  const changeKind = (unit: string, kind: string | null, apr: string | null, who = life.reviewer) =>
    call(who, 'fn_unit_change_kind', { p_unit_id: unit, p_unit_kind: kind, p_apr_ref: apr })

  it('under an approval of its own, also of what is enacted', async () => {
    const unit = await unitThatIs('enacted')
    expect(await refusal(changeKind(unit, 'table', 'apr-1'))).toEqual({ code: 'SD910', field: 'unit_kind' })
    await changeKind(unit, 'table', 'apr-3')
    expect(await row(db, unit)).toMatchObject({
      unit_kind: 'table',
      apr_ref: 'apr-3',
      lifecycle_status: 'enacted',
    })
    await changeKind(unit, 'table', 'apr-4')
    expect((await row(db, unit)).apr_ref).toBe('apr-3')
    expect((await events(db, unit)).slice(2)).toMatchObject([
      {
        type: 'iu.unit_profile_changed',
        safe_payload: {
          unit_id: unit,
          keys: ['unit_kind'],
          from_kind: 'note',
          to_kind: 'table',
          apr_ref: 'apr-3',
        },
      },
    ])
    expect(await outbox(db, unit)).toMatchObject({ generation: '2' })
  })

  it('and leaves a line in its history, with the approval and both kinds', async () => {
    const unit = await unitThatIs('draft')
    await changeKind(unit, 'table', 'apr-3')
    expect(
      await db.owner(
        'select from_status, to_status, apr_ref, reason, changed_by from public.iu_lifecycle_log where unit_id = $1',
        [unit],
      ),
    ).toEqual([
      {
        from_status: 'draft',
        to_status: 'draft',
        apr_ref: 'apr-3',
        reason: 'its kind was note and is table',
        changed_by: life.reviewer.actor,
      },
    ])
  })

  it('not into one that is none, nor without an approval, nor of what is gone', async () => {
    const unit = await unitThatIs('draft')
    expect(await sqlstateOf(changeKind(unit, 'poem', 'apr-3'))).toBe('SD001')
    expect(await sqlstateOf(changeKind(unit, null, 'apr-3'))).toBe('SD001')
    expect(await sqlstateOf(changeKind(unit, 'table', ' '))).toBe('SD001')
    expect(await sqlstateOf(changeKind(unit, 'table', 'apr-3', life.operator))).toBe('42501')
    for (const status of ['superseded', 'retired', 'deleted'] as const)
      expect(await refusal(changeKind(await unitThatIs(status), 'table', 'apr-3'))).toMatchObject({
        code: 'SD903',
        status,
      })
  })
})

it('is decided by those who review; whoever writes may delete and restore drafts', async () => {
  const draft = await unitThatIs('draft')
  const enacted = await unitThatIs('enacted')
  // Under the role of people who do not review there is not even the function.
  for (const who of [life.operator, life.viewer, life.agent]) {
    expect(await sqlstateOf(enact(who, draft))).toBe('42501')
    expect(await sqlstateOf(retire(draft, null, who))).toBe('42501')
    expect(await sqlstateOf(supersede(enacted, draft, who))).toBe('42501')
  }
  expect(await sqlstateOf(remove(enacted, life.operator))).toBe('SD202')
  await remove(enacted, life.reviewer)
  expect(await sqlstateOf(restore(enacted, life.operator))).toBe('SD202')
  for (const who of [life.viewer, life.agent])
    expect(['SD202', '42501']).toContain(await sqlstateOf(remove(draft, who)))
  await remove(draft, life.operator)
  await restore(draft, life.operator)
  for (const step of [
    () => enact(life.stranger, draft),
    () => supersede(draft, enacted, life.stranger),
    () => retire(draft, null, life.stranger),
    () => remove(draft, life.stranger),
    () => restore(draft, life.stranger),
  ])
    expect(await refusal(step())).toEqual({ code: 'SD901', unit: draft })
})

it.each([
  ['a version', { p_expected_version: null, p_apr_ref: 'apr' }],
  ['an approval', { p_expected_version: 1, p_apr_ref: null }],
  ['words in the approval', { p_expected_version: 1, p_apr_ref: ' ' }],
])('enacts nothing without %s', async (_, args) => {
  const p_unit_id = await unitThatIs('draft')
  expect(await sqlstateOf(call(life.reviewer, 'fn_unit_enact', { p_unit_id, ...args }))).toBe('SD001')
})

it('takes reasons of a few words only', async () => {
  const unit = await unitThatIs('draft')
  expect(await sqlstateOf(retire(unit, ' '))).toBe('SD001')
  expect(await sqlstateOf(remove(unit, life.operator, 'x'.repeat(2001)))).toBe('SD001')
})

describe('back-end code decides nothing of its own', () => {
  const worker = () => db.session('stagedoor_worker')
  const decisions = (unit: string, actor: string | null): [string, unknown[]][] => [
    ['select iu_core.fn_unit_enact($1, 1, $2, $3)', [unit, 'apr-7', actor]],
    ['select iu_core.fn_unit_change_kind($1, $4, $2, $3)', [unit, 'apr-8', actor, 'table']],
  ]

  it('as service_role it names the person, and the history says who wrote it down', async () => {
    const { unit_id } = await create(life)
    for (const [sql, values] of decisions(unit_id, null)) {
      await expect(life.service.session.query(sql, values)).rejects.toMatchObject({
        code: 'SD001',
        message: 'Only a person can decide this, and importer is not a person',
        hint: expect.stringContaining('p_actor'),
      })
    }
    // Nor does it help to name itself.
    expect(await sqlstateOf(life.service.session.query(...decisions(unit_id, 'importer')[0]!))).toBe('SD001')
    for (const [sql, values] of decisions(unit_id, 'user:rita')) await life.service.session.query(sql, values)
    await call(life.service, 'fn_unit_retire', { p_unit_id: unit_id, p_actor: 'user:rita' })
    await call(life.service, 'fn_unit_delete', { p_unit_id: unit_id, p_actor: 'user:rita' })
    await call(life.service, 'fn_unit_restore', { p_unit_id: unit_id, p_actor: 'user:rita' })
    expect(
      await db.owner(
        'select distinct changed_by, changed_via, count(*)::int from public.iu_lifecycle_log where unit_id = $1 group by 1, 2',
        [unit_id],
      ),
    ).toEqual([{ changed_by: 'user:rita', changed_via: 'importer', count: 5 }])
  })

  it('a worker names nobody', async () => {
    const { unit_id } = await create(life)
    const session = await worker()
    expect(await sqlstateOf(session.query(...decisions(unit_id, null)[0]!))).toBe('SD001')
    expect(await sqlstateOf(session.query(...decisions(unit_id, 'user:rita')[0]!))).toBe('SD203')
  })
})
