/** Containers: what is inside what, in which order; never in a circle, whoever moves what at once. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { useGraph } from './graph.ts'

const db = useDatabase()
const graph = useGraph(db)

let made = 0
const one = (kind = 'note') => graph.unit(`c/${++made}`, { kind })
/** A document with so many pieces, addressed by their letters. */
async function document(letters: string) {
  const name = `d${++made}`
  const container = await graph.unit(name, { kind: 'document' })
  const pieces: Record<string, string> = {}
  for (const letter of letters) pieces[letter] = await graph.unit(`${name}/${letter}`, { container })
  const order = async () =>
    (await graph.inside(container)).map((address) => address.split('/').pop()).join('')
  const reorder = (sequence: string, caller = graph.operator) =>
    graph.call(
      'select iu_core.fn_unit_reorder($1, $2)',
      [container, [...sequence].map((letter) => pieces[letter])],
      caller,
    )
  return { container, pieces, order, reorder, p: (letter: string) => pieces[letter]! }
}
const positions = async (container: string) =>
  (
    await db.owner<{ position: number }>(
      'select position from iu_core.information_unit where container_id = $1 order by position',
      [container],
    )
  ).map((row) => row.position)

describe('a move', () => {
  it('puts a unit at the end of a container, or at the given position, and emits an event', async () => {
    const { container, order } = await document('abc')
    const late = await graph.unit(`d${made}/late/x`)
    const first = await graph.unit(`d${made}/late/y`)
    await graph.move(late, container)
    await graph.move(first, container, 1)
    expect(await order()).toBe('yabcx')
    expect(await positions(container)).toEqual([1, 2, 3, 4, 5])
    const told = (await graph.events('iu.unit_moved')).filter((event) =>
      [late, first].includes(event.event_subject_ref),
    )
    expect(told.map((event) => event.safe_payload)).toEqual([
      { unit_id: late, from_container_id: null, container_id: container, position: 4 },
      { unit_id: first, from_container_id: null, container_id: container, position: 1 },
    ])
    expect(told[0]).toMatchObject({ workspace_id: graph.workspace, canonical_address: `d${made}/late/x` })
  })

  it('takes a unit out of its container', async () => {
    const { container, p, order } = await document('ab')
    await graph.move(p('a'), null)
    expect(await graph.row(p('a'))).toMatchObject({ container_id: null, position: 0 })
    expect(await order()).toBe('b')
    const [told] = (await graph.events('iu.unit_moved')).filter((e) => e.event_subject_ref === p('a'))
    expect(told!.safe_payload).toMatchObject({ from_container_id: container, container_id: null })
  })

  it('within its container is a reordering', async () => {
    const { container, p, order } = await document('abcd')
    await graph.move(p('d'), container, 2)
    expect(await order()).toBe('adbc')
    await graph.move(p('a'), container, 99)
    expect(await order()).toBe('dbca')
    const told = await graph.events('piece.piece_reordered', 'iu.unit_moved')
    expect(
      told.filter((event) => [container, p('d'), p('a')].includes(event.event_subject_ref)),
    ).toMatchObject([
      { type: 'piece.piece_reordered', event_subject_ref: container },
      { type: 'piece.piece_reordered', event_subject_ref: container },
    ])
  })

  it('to where it is already does nothing', async () => {
    const { container, p } = await document('ab')
    const before = await graph.events('piece.piece_reordered', 'iu.unit_moved')
    await graph.move(p('a'), container)
    await graph.move(p('a'), container, 1)
    await graph.move(container, null)
    expect(await graph.events('piece.piece_reordered', 'iu.unit_moved')).toEqual(before)
  })

  it('is searched again only where the container is another one: its title is', async () => {
    const { container, p } = await document('ab')
    const outbox = async () => {
      const rows = await db.owner<{ unit_id: string; generation: string }>(
        'select unit_id, generation from iu_core.vector_outbox where unit_id = any ($1)',
        [[container, p('a'), p('b')]],
      )
      return new Map(rows.map(({ unit_id, generation }) => [unit_id, Number(generation)]))
    }
    const before = await outbox()
    await graph.move(p('b'), container, 1)
    expect(await outbox()).toEqual(before)
    await graph.move(p('a'), null)
    expect(await outbox()).toEqual(new Map(before).set(p('a'), before.get(p('a'))! + 1))
  })

  it('of an enacted unit is allowed, of a retired or deleted one refused', async () => {
    const { container } = await document('a')
    const [enacted, retired, deleted] = [await one(), await one(), await one()]
    await graph.enact(enacted)
    await graph.move(enacted, container)
    await graph.retire(retired)
    await graph.call('select iu_core.fn_unit_delete($1)', [deleted])
    expect(await sqlstateOf(graph.move(retired, container))).toBe('SD903')
    expect(await sqlstateOf(graph.move(deleted, container))).toBe('SD903')
  })

  it('into what is retired, deleted, unknown or of another workspace is refused', async () => {
    const unit = await one()
    const [retired, deleted] = [await one('document'), await one('document')]
    const theirs = await graph.unit(`theirs/${made}`, { workspace: graph.other })
    await graph.retire(retired)
    await graph.call('select iu_core.fn_unit_delete($1)', [deleted])
    expect(await sqlstateOf(graph.move(unit, retired))).toBe('SD903')
    expect(await sqlstateOf(graph.move(unit, deleted))).toBe('SD903')
    expect(await sqlstateOf(graph.move(unit, theirs))).toBe('SD901')
    expect(await sqlstateOf(graph.move(unit, randomUUID()))).toBe('SD901')
    expect(await sqlstateOf(graph.move(theirs, unit))).toBe('SD901')
  })

  it.each([0, -1])('to position %s is refused', async (position) => {
    const { container } = await document('a')
    expect(await sqlstateOf(graph.move(await one(), container, position))).toBe('SD001')
  })

  it('to a position outside of any container is refused', async () => {
    expect(await sqlstateOf(graph.move(await one(), null, 1))).toBe('SD001')
  })
})

describe('a circle', () => {
  it('is refused, of one, of two, of fifty', async () => {
    const chain = [await one()]
    for (let depth = 1; depth < 50; depth++) {
      chain.push(await one())
      await graph.move(chain[depth]!, chain[depth - 1]!)
    }
    for (const inner of [chain[0]!, chain[1]!, chain[49]!]) {
      expect(await sqlstateOf(graph.move(chain[0]!, inner))).toBe('SD908')
    }
    await expect(graph.move(chain[0]!, chain[49]!)).rejects.toMatchObject({
      code: 'container_cycle',
      details: { unit: chain[0], container: chain[49] },
    })
  })

  it('does not come of two moves at once: of A into B and B into A one wins, sixty times', async () => {
    for (let round = 0; round < 60; round++) {
      const [a, b] = [await one(), await one()]
      const outcomes = await Promise.all([sqlstateOf(graph.move(a, b)), sqlstateOf(graph.move(b, a))])
      expect(outcomes.sort()).toEqual(['SD908', 'not refused'])
    }
  })

  it('does not come of three moves at once either', async () => {
    for (let round = 0; round < 20; round++) {
      const [a, b, c] = [await one(), await one(), await one()]
      const outcomes = await Promise.all([
        sqlstateOf(graph.move(a, b)),
        sqlstateOf(graph.move(b, c)),
        sqlstateOf(graph.move(c, a)),
      ])
      expect(outcomes.sort()).toEqual(['SD908', 'not refused', 'not refused'])
    }
  })
})

it('moves of a workspace wait for each other by one lock, so that they cannot lock each other out', async () => {
  const [a, b] = [await one(), await one()]
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query('select iu_core.fn_unit_move($1, $2)', [a, b])
  const late = sqlstateOf(second.query('select iu_core.fn_unit_move($1, $2)', [b, a]))
  await untilWaiting(db, second)
  expect(
    await db.owner(`select locktype from pg_locks
      where not granted and database = (select oid from pg_database where datname = current_database())`),
  ).toEqual([{ locktype: 'advisory' }])
  await first.query('commit')
  expect(await late).toBe('SD908')
})

describe('while a container is being retired', () => {
  it('a move into it waits, and is then refused', async () => {
    const [unit, container] = [await one(), await one('document')]
    const [retiring, moving] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
    await retiring.query('begin')
    await retiring.query('select iu_core.fn_unit_retire($1)', [container])
    const late = sqlstateOf(moving.query('select iu_core.fn_unit_move($1, $2)', [unit, container]))
    await untilWaiting(db, moving)
    await retiring.query('commit')
    expect(await late).toBe('SD903')
    expect(await graph.row(unit)).toMatchObject({ container_id: null })
  })

  it('a move that was faster is there, and the checker finds the container gone', async () => {
    const [unit, container] = [await one(), await one('document')]
    const [moving, retiring] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
    await moving.query('begin')
    await moving.query('select iu_core.fn_unit_move($1, $2)', [unit, container])
    const late = retiring.query('select iu_core.fn_unit_retire($1)', [container])
    await untilWaiting(db, retiring)
    await moving.query('commit')
    await late
    expect(await graph.check(unit)).toMatchObject([{ findings: [{ code: 'container_gone' }] }])
  })
})

it('a move with an old view of the tree fails instead of making a circle', async () => {
  const [a, b, c, inA] = [await one(), await one(), await one(), await one()]
  await graph.move(b, c)
  await graph.move(inA, a)
  const session = await db.session('stagedoor_worker')
  await session.query('begin isolation level repeatable read')
  await session.query('select from iu_core.information_unit limit 1')
  await graph.move(a, b)
  expect(await sqlstateOf(session.query('select iu_core.fn_unit_move($1, $2)', [c, inA]))).toBe('40001')
  await session.query('rollback')
})

describe('a reordering', () => {
  it('gives the pieces the order, with one event for the container', async () => {
    const { container, order, reorder } = await document('abc')
    await reorder('cab')
    expect(await order()).toBe('cab')
    expect(await positions(container)).toEqual([1, 2, 3])
    await reorder('cab')
    const told = (await graph.events('piece.piece_reordered')).filter(
      (event) => event.event_subject_ref === container,
    )
    expect(told).toMatchObject([
      { actor: graph.operator.userId, safe_payload: { unit_id: container, pieces: 3 } },
    ])
  })

  it.each([
    ['one is missing', 'ab'],
    ['one is named twice', 'abcc'],
    ['one is from elsewhere', 'abx'],
    ['none is named', ''],
  ])('is refused where %s', async (_, sequence) => {
    const { reorder, order, pieces } = await document('abc')
    pieces.x = await one()
    expect(await sqlstateOf(reorder(sequence))).toBe('SD001')
    expect(await order()).toBe('abc')
  })

  it('is refused without a list, with a gap in it, and for others', async () => {
    const { container, p, reorder } = await document('ab')
    const reorderTo = (units: unknown) =>
      sqlstateOf(graph.call('select iu_core.fn_unit_reorder($1, $2)', [container, units]))
    expect(await reorderTo(null)).toBe('SD001')
    expect(await reorderTo([p('a'), null])).toBe('SD001')
    expect(await sqlstateOf(reorder('ba', graph.outsider))).toBe('SD901')
  })

  it('counts those only that are alive', async () => {
    const { p, order, reorder } = await document('abcd')
    await graph.retire(p('b'))
    await graph.call('select iu_core.fn_unit_delete($1)', [p('c')])
    await reorder('da')
    expect(await order()).toBe('da')
  })

  it('meets a move: it waits, and then does not know the order of what it has not seen', async () => {
    const { container, reorder, order } = await document('abc')
    const newcomer = await graph.unit(`d${made}/n`)
    const session = await db.session('stagedoor_worker')
    const waiting = await db.session('stagedoor_worker')
    await session.query('begin')
    await session.query('select iu_core.fn_unit_move($1, $2)', [newcomer, container])
    const { rows } = await db
      .pool('stagedoor_worker')
      .query<{ unit_id: string }>(
        'select unit_id from iu_core.information_unit where container_id = $1 order by position desc',
        [container],
      )
    const late = sqlstateOf(
      waiting.query('select iu_core.fn_unit_reorder($1, $2)', [container, rows.map((row) => row.unit_id)]),
    )
    await untilWaiting(db, waiting)
    await session.query('commit')
    expect(await late).toBe('SD001')
    expect(await order()).toBe('abcn')
    await expect(reorder('cba')).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('and moves in and out at once leave an order without gaps or doubles, fifty times', async () => {
    const { container, p, reorder, order } = await document('abcd')
    for (let round = 0; round < 50; round++) {
      const outcomes = await Promise.all([
        sqlstateOf(reorder(round % 2 ? 'abcd' : 'dcba')),
        sqlstateOf(graph.move(p('b'), null)),
        sqlstateOf(graph.move(p('c'), container, 1)),
      ])
      expect(outcomes.slice(1)).toEqual(['not refused', 'not refused'])
      expect(['SD001', 'not refused']).toContain(outcomes[0])
      expect([...(await order())].sort().join('')).toBe('acd')
      const given = await positions(container)
      expect(new Set(given).size).toBe(given.length)
      await graph.move(p('b'), container, 2)
    }
  })
})

it.each([
  ['viewer', 'SD202'],
  ['agent', '42501'],
] as const)('neither move nor reordering is for a %s', async (role, state) => {
  const { container, p, reorder } = await document('ab')
  const member = await createMember(db, graph.workspace, role)
  expect(await sqlstateOf(graph.call('select iu_core.fn_unit_move($1, null)', [p('a')], member))).toBe(state)
  expect(await sqlstateOf(reorder('ba', member))).toBe(state)
  expect(await graph.inside(container)).toHaveLength(2)
})
