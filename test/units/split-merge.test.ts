/** IU-VP-4: what is split or merged is retired, what holds its text is new, and both are linked. */
import { describe, expect, it } from 'vitest'
import { member } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import {
  anAddress,
  call,
  create,
  edit,
  enact,
  events,
  lifecycleLog,
  type NewUnit,
  outbox,
  refusal,
  row,
  useLife,
} from './life.ts'

const db = useDatabase()
const life = useLife(db)

interface New {
  unit_id: string
  canonical_address: string
}
const split = (
  unit: string,
  version: number | null,
  parts: unknown,
  more: object = {},
  who = life.reviewer,
) =>
  who.session
    .query<New>(
      'select * from iu_core.fn_unit_split(p_unit_id => $1, p_expected_version => $2, p_parts => $3, p_apr_ref => $4, p_actor => $5)',
      [
        unit,
        version,
        JSON.stringify(parts),
        (more as { apr?: string }).apr ?? null,
        (more as { actor?: string }).actor ?? null,
      ],
    )
    .then(({ rows }) => rows)
const merge = (
  units: string[],
  versions: (number | null)[],
  address: string,
  more: object = {},
  who = life.reviewer,
) =>
  call<New>(who, 'fn_unit_merge', {
    p_unit_ids: units,
    p_expected_versions: versions,
    p_canonical_address: address,
    ...more,
  })
const two = () => {
  const address = anAddress()
  return [
    { canonical_address: `${address}-a`, body: 'Annual leave.' },
    { canonical_address: `${address}-b`, body: 'Sick leave.', title: 'Sick' },
  ]
}
const edgesFrom = (unit: string) =>
  db.owner<{ edge_type: string; to_unit_id: string; edge_status: string }>(
    'select edge_type, to_unit_id, edge_status from iu_core.universal_edges where from_unit_id = $1 order by to_unit_id',
    [unit],
  )
const bodyOf = async (unit: string) =>
  (
    await db.owner<{ body: string }>(
      'select v.body from iu_core.information_unit u join iu_core.unit_version v on v.unit_version_id = u.current_version_id where u.unit_id = $1',
      [unit],
    )
  )[0]!.body

describe('split', () => {
  it('retires the unit, makes drafts of its parts in its place, and links them', async () => {
    const container = await create(life, { p_unit_kind: 'document' })
    const old = await create(life, {
      body: 'Annual leave. Sick leave.',
      p_container_id: container.unit_id,
      p_language: 'de',
      p_profile: { audience: 'staff' },
      p_source_ref: 'file:leave.md',
    })
    const [one, other, ...none] = await split(old.unit_id, 1, two())
    expect(none).toEqual([])
    expect(await row(db, old.unit_id)).toMatchObject({ lifecycle_status: 'retired' })
    for (const part of [one!, other!]) {
      expect(await row(db, part.unit_id)).toMatchObject({
        lifecycle_status: 'draft',
        container_id: container.unit_id,
        source_ref: 'file:leave.md',
        content_profile: { audience: 'staff' },
        position: (await row(db, old.unit_id)).position,
      })
      expect(await edgesFrom(part.unit_id)).toEqual([
        { edge_type: 'split_from', to_unit_id: old.unit_id, edge_status: 'verified' },
      ])
      expect(await outbox(db, part.unit_id)).toMatchObject({ operation: 'upsert', status: 'pending' })
    }
    expect((await row(db, other!.unit_id)).title).toBe('Sick')
    expect(await outbox(db, old.unit_id)).toBeDefined()
    expect((await lifecycleLog(db, old.unit_id)).at(-1)).toMatchObject({
      from_status: 'draft',
      to_status: 'retired',
      reason: 'split',
    })
    expect((await events(db, old.unit_id)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['iu.unit_split', 'iu.unit_lifecycle_changed', 'piece.piece_deprecated']),
    )
  })

  it('of what is in force makes what is in force, under an approval, and never leaves nothing in force', async () => {
    const old = await create(life)
    await enact(life.reviewer, old.unit_id)
    expect(await sqlstateOf(split(old.unit_id, 1, two()))).toBe('SD001')
    expect(await row(db, old.unit_id)).toMatchObject({ lifecycle_status: 'enacted' })
    const parts = await split(old.unit_id, 1, two(), { apr: 'apr-7' })
    for (const { unit_id } of parts)
      expect(await row(db, unit_id)).toMatchObject({ lifecycle_status: 'enacted', apr_ref: 'apr-7' })
    const draft = await create(life)
    expect(await refusal(split(draft.unit_id, 1, two(), { apr: 'apr-7' }))).toMatchObject({ code: 'SD920' })
  })

  it.each([
    ['one part', (parts: object[]) => parts.slice(1)],
    ['no list', () => ({})],
    ['a part with more in it', (parts: object[]) => [...parts, { ...parts[0], workspace_id: 'x' }]],
  ])('refuses %s', async (_, change) => {
    const old = await create(life)
    expect(await sqlstateOf(split(old.unit_id, 1, change(two())))).toBe('SD001')
    expect(await row(db, old.unit_id)).toMatchObject({ lifecycle_status: 'draft' })
  })

  it('refuses another version, an address that is taken, a container with units inside, and whoever may not', async () => {
    const old = await create(life)
    await edit(life.operator, old.unit_id, 1, { p_body: 'Newer.' })
    expect(await sqlstateOf(split(old.unit_id, 1, two()))).toBe('SD902')
    const taken = await row(db, (await create(life)).unit_id)
    const parts = [two()[0], { canonical_address: taken.canonical_address, body: 'x' }]
    expect(await sqlstateOf(split(old.unit_id, 2, parts))).toBe('SD904')
    await create(life, { p_container_id: old.unit_id })
    expect(await refusal(split(old.unit_id, 2, two()))).toMatchObject({ code: 'SD920' })
    const other = await create(life)
    expect(await sqlstateOf(split(other.unit_id, 1, two(), {}, life.operator))).toBe('42501')
    expect(await sqlstateOf(split(other.unit_id, 1, two(), {}, life.stranger))).toBe('SD901')
    expect(await sqlstateOf(split(other.unit_id, 1, two(), {}, life.service))).toBe('SD001')
    expect(await split(other.unit_id, 1, two(), { actor: 'rita' }, life.service)).toHaveLength(2)
  })
})

describe('merge', () => {
  const three = async (more: NewUnit = {}) => {
    const made = []
    for (const body of ['One.\n', 'Two.\n\n', 'Three.'])
      made.push((await create(life, { body, ...more })).unit_id)
    return made as [string, string, string]
  }

  it('retires the units, holds their texts in the order that was named, and is linked with each', async () => {
    await db.owner(
      `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, 'a', 't'), ($1, 'b', 't')`,
      [life.workspace],
    )
    const [one, two_, three_] = await three()
    await life.operator.session.query(`select iu_core.fn_unit_profile_patch($1, '{"topic_labels": ["a"]}')`, [
      one,
    ])
    await life.operator.session.query(
      `select iu_core.fn_unit_profile_patch($1, '{"topic_labels": ["b", "a"]}')`,
      [three_],
    )
    const address = anAddress()
    const made = await merge([two_, one, three_], [1, 1, 1], address)
    expect(made.canonical_address).toBe(address)
    expect(await bodyOf(made.unit_id)).toBe('Two.\n\nOne.\n\nThree.\n')
    expect(await row(db, made.unit_id)).toMatchObject({
      lifecycle_status: 'draft',
      content_profile: { topic_labels: ['a', 'b'] },
    })
    for (const unit of [one, two_, three_])
      expect(await row(db, unit)).toMatchObject({ lifecycle_status: 'retired' })
    expect((await edgesFrom(made.unit_id)).map(({ to_unit_id }) => to_unit_id)).toEqual(
      [one, two_, three_].sort(),
    )
    expect((await events(db, made.unit_id)).map(({ type }) => type)).toContain('iu.unit_merged')
  })

  it('takes a text that was written for it, and refuses drafts beside what is in force, and others’ units', async () => {
    const [one, two_] = await three()
    const theirs = await call<New>(life.stranger, 'fn_unit_create', {
      p_workspace_id: life.elsewhere,
      p_canonical_address: anAddress(),
      p_body: 'Theirs.',
    })
    expect(await sqlstateOf(merge([one, theirs.unit_id], [1, 1], anAddress()))).toBe('SD901')
    expect(await sqlstateOf(merge([one, one], [1, 1], anAddress()))).toBe('SD001')
    expect(await sqlstateOf(merge([one, two_], [1, null], anAddress()))).toBe('SD001')
    expect(await sqlstateOf(merge([one, two_], [1, 2], anAddress()))).toBe('SD902')
    await enact(life.reviewer, one)
    expect(await refusal(merge([one, two_], [1, 1], anAddress(), { p_apr_ref: 'apr-1' }))).toMatchObject({
      code: 'SD920',
    })
    await enact(life.reviewer, two_)
    const made = await merge([one, two_], [1, 1], anAddress(), {
      p_apr_ref: 'apr-1',
      p_body: 'Both.',
      p_title: 'Both',
    })
    expect(await row(db, made.unit_id)).toMatchObject({ lifecycle_status: 'enacted', title: 'Both' })
    expect(await bodyOf(made.unit_id)).toBe('Both.')
  })
})

describe('races', () => {
  it('of two that split the same unit one wins, and of a split with an edit, too', async () => {
    for (let round = 0; round < 5; round++) {
      const old = await create(life)
      const second = await member(db, life.workspace, 'reviewer')
      const outcomes = await Promise.allSettled([
        split(old.unit_id, 1, two()),
        split(old.unit_id, 1, two(), {}, second),
        edit(life.operator, old.unit_id, 1, { p_body: `Edited ${round}.` }),
      ])
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const parts = await db.owner(
        `select from iu_core.universal_edges where to_unit_id = $1 and edge_type = 'split_from'`,
        [old.unit_id],
      )
      expect([0, 2]).toContain(parts.length)
      expect((await row(db, old.unit_id)).lifecycle_status).toBe(parts.length === 2 ? 'retired' : 'draft')
    }
  })

  it('of merges that share units one wins, without a deadlock, in any order', async () => {
    const second = await member(db, life.workspace, 'reviewer')
    for (let round = 0; round < 5; round++) {
      const [a, b, c] = [await create(life), await create(life), await create(life)].map(
        ({ unit_id }) => unit_id,
      )
      const outcomes = await Promise.allSettled([
        merge([a!, b!], [1, 1], anAddress()),
        merge([c!, b!, a!], [1, 1, 1], anAddress(), {}, second),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const lost = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(lost.reason.code).toBe('SD905')
    }
  })
})
