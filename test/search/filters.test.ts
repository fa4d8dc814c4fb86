/** Filters of search: each of them, together, and what is wrong with some. */
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { call, enact, useLife } from '../units/life.ts'
import { documentIn, found, lexical, project, unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)
const unit: Record<string, string> = {}
let document: string

const names = async (filters: object) => {
  const known = Object.entries({ ...unit, document })
  const ids = await found(life, 'walrus', filters)
  return ids.map((id) => known.find(([, one]) => one === id)?.[0]).sort()
}
const make = async (name: string, more: object = {}) => {
  unit[name] = (await unitIn(db, life, `The walrus of ${name}.`, { address: `zoo/${name}`, ...more })).unit_id
}
const edge = (from: string, type: string, target: string) =>
  call(life.operator, 'fn_unit_edge_add', {
    p_from_unit_id: unit[from],
    p_edge_type: type,
    p_target_ref: target,
  })

beforeAll(async () => {
  const admin = await createMember(db, life.workspace, 'admin')
  for (const topic of ['spend', 'leave'])
    await db.as(admin, (client) =>
      client.query('select iu_core.fn_topic_add($1, $2)', [life.workspace, topic]),
    )
  await make('plain')
  await make('spend', { p_profile: { topic_labels: ['spend'], audience: 'staff', deep: { a: 1, b: 2 } } })
  await make('leave', { p_profile: { topic_labels: ['leave'], audience: 'all' } })
  await make('house', { p_unit_kind: 'section' })
  await make('room', { p_container_id: unit.house })
  await make('chair', { p_container_id: unit.room })
  await make('viet', { p_language: 'vi' })
  await make('british', { p_language: 'en-GB' })
  await make('enacted')
  await enact(life.reviewer, unit.enacted!)
  await edge('spend', 'refers_to', 'zoo/house')
  await edge('leave', 'refers_to', 'https://example.com/x')
  await edge('leave', 'explains', 'zoo/plain')
  document = await documentIn(db, life, 'The walrus of the old handbook.')
})

describe('the filter', () => {
  it.each([
    ['topic', { topic: 'spend' }, ['spend']],
    ['topic, any of several', { topic: ['spend', 'leave'] }, ['leave', 'spend']],
    ['lifecycle', { lifecycle: 'enacted' }, ['enacted']],
    ['kind', { kind: ['section', 'table'] }, ['house']],
    ['profile, by what it contains', { profile: { audience: 'staff', deep: { b: 2 } } }, ['spend']],
    ['edge, by its type', { edge: { type: 'refers_to' } }, ['leave', 'spend']],
    ['edge, by an address', { edge: { type: 'refers_to', target: 'zoo/house' } }, ['spend']],
    ['edge, by any other reference', { edge: { target: 'https://example.com/x' } }, ['leave']],
    ['container, at any depth', { container: 'zoo/house' }, ['chair', 'house', 'room']],
    ['source', { source: 'document' }, ['document']],
    [
      'language, with its regions',
      { language: 'en', source: 'unit', container: 'zoo/house' },
      ['chair', 'house', 'room'],
    ],
    ['language, another one', { language: ['vi', 'en-GB'] }, ['british', 'viet']],
    [
      'several at once',
      { topic: ['spend', 'leave'], profile: { audience: 'all' }, edge: { type: 'explains' } },
      ['leave'],
    ],
    ['null, which is none', { topic: null, kind: 'section' }, ['house']],
    ['nothing that there is', { topic: 'unheard-of' }, []],
  ])('%s', async (_, filters, expected) => {
    expect(await names(filters)).toEqual(expected)
  })

  it('edge and container take ids as well as addresses', async () => {
    expect(await names({ edge: { target: unit.house } })).toEqual(['spend'])
    expect(await names({ container: unit.room })).toEqual(['chair', 'room'])
  })

  it('source unit leaves documents out, and so does every filter on what only units have', async () => {
    expect(await names({ source: 'unit' })).toEqual(Object.keys(unit).sort())
    expect(await names({ source: ['unit', 'document'] })).toEqual([...Object.keys(unit), 'document'].sort())
    expect(await names({ lifecycle: ['draft', 'enacted'] })).toEqual(Object.keys(unit).sort())
  })

  it('holds for phrases and prefixes, too', async () => {
    expect(await found(life, '"walrus of"', { kind: 'section' })).toEqual([unit.house])
    expect(await found(life, 'walr*', { topic: 'spend' })).toEqual([unit.spend])
  })
})

describe('a filter that is wrong', () => {
  it('is refused by its name, with those that there are', async () => {
    const refused = await lexical(life.viewer, life.workspace, 'walrus', { colour: 'red' }).catch(
      (error) => error,
    )
    expect(refused.code).toBe('SD001')
    expect(refused.message).toBe(
      'There is no filter colour; there are topic, lifecycle, kind, profile, edge, container, source, language, table, columns, without',
    )
  })

  it.each([
    { topic: 1 },
    { topic: ['spend', 1] },
    { kind: {} },
    { lifecycle: 'retired' },
    { lifecycle: ['draft', 'removed'] },
    { source: 'staging' },
    { profile: 'x' },
    { profile: [] },
    { edge: {} },
    { edge: 'refers_to' },
    { edge: { type: ['refers_to'] } },
    { edge: { type: 'refers_to', to: 'x' } },
    { container: ['zoo/house'] },
    ['topic'],
  ])('is refused: %j', async (filters) => {
    expect(await sqlstateOf(lexical(life.viewer, life.workspace, 'walrus', filters))).toBe('SD001')
    expect(await sqlstateOf(allowed(filters))).toBe('SD001')
  })

  it('because its container does not exist gets that error', async () => {
    expect(await sqlstateOf(lexical(life.viewer, life.workspace, 'walrus', { container: 'no/where' }))).toBe(
      'SD901',
    )
  })

  it('cannot bring SQL of its own', async () => {
    const evil = `x') or true; drop table iu_core.search_chunk; --`
    for (const filters of [
      { topic: evil },
      { kind: evil },
      { profile: { [evil]: evil } },
      { edge: { type: evil } },
      { language: evil },
    ])
      expect(await names(filters)).toEqual([])
  })
})

const allowed = async (filters: object, most = 10_000): Promise<string[] | null> =>
  (
    await life.viewer.session.query<{ ids: string[] | null }>(
      'select iu_core.fn_search_allowed_ids($1, $2, $3) as ids',
      [life.workspace, JSON.stringify(filters), most],
    )
  ).rows[0]!.ids

describe('what filters let through', () => {
  it('is reported by the ids of chunks, up to as many as asked for', async () => {
    const hits = await lexical(life.viewer, life.workspace, 'walrus', { container: 'zoo/house' })
    expect(await allowed({ container: 'zoo/house' })).toEqual(hits.map((hit) => hit.chunk_id).sort())
    expect(await allowed({ container: 'zoo/house' }, 2)).toBeNull()
    expect(await allowed({ topic: 'unheard-of' })).toEqual([])
    expect(
      await sqlstateOf(
        life.stranger.session.query(`select iu_core.fn_search_allowed_ids($1, '{}')`, [life.workspace]),
      ),
    ).toBe('SD201')
  })

  it('is chosen before candidates are: one among thousands that fit better is found', async () => {
    const units = Array.from({ length: 5000 }, (_, n) => ({
      canonical_address: `herd/${n}`,
      body: n % 500 === 7 ? 'In a long text with many other words there is one narwhal.' : 'Narwhal narwhal.',
      profile: { few: n % 500 === 7, most: n > 100 || n === 7 },
    }))
    const { rows } = await life.operator.session.query<{ unit_id: string }>(
      'select * from iu_core.fn_unit_create_batch($1, $2)',
      [life.workspace, JSON.stringify(units)],
    )
    await project(
      db,
      rows.map((row) => row.unit_id),
    )
    expect(await found(life, 'narwhal', { profile: { few: true } })).toHaveLength(10)
    expect(await found(life, 'narwhal "other words"', { profile: { most: true } })).toHaveLength(10)
    expect(await found(life, 'narwhal', { profile: { most: false } })).toHaveLength(50)
    const wide = await lexical(life.viewer, life.workspace, 'narwhal', { profile: { most: true } }, 1000)
    expect(wide).toHaveLength(1000)
    expect(wide.every((hit) => hit.unit_id !== null)).toBe(true)
  })
})
