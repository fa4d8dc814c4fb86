/** The vocabulary of topics: an administrator's, of one workspace, or of all of them for back-end code. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { useGraph } from './graph.ts'

const db = useDatabase()
const graph = useGraph(db)

const add = (label: string | null, workspace: string | null = graph.workspace, caller = graph.admin) =>
  graph.call<{ id: string }>('select iu_core.fn_topic_add($1, $2) as id', [workspace, label], caller)
const retire = (label: string | null, workspace: string | null = graph.workspace, caller = graph.admin) =>
  graph.call('select iu_core.fn_topic_retire($1, $2)', [workspace, label], caller)
const give = (unit: string, ...topics: string[]) =>
  graph.call('select iu_core.fn_unit_profile_patch($1, $2)', [unit, JSON.stringify({ topic_labels: topics })])
const service = (sql: string, values: unknown[]) => db.pool('stagedoor_worker').query(sql, values)

describe('a topic', () => {
  it('can be given to units once it was added', async () => {
    const unit = await graph.unit('topics/one')
    expect(await sqlstateOf(give(unit, 'spend'))).toBe('SD907')
    await add('spend')
    await give(unit, 'spend')
    expect((await graph.row(unit)).content_profile).toEqual({ topic_labels: ['spend'] })
  })

  it('that was retired is not given any more, stays where it is, and can be taken up again', async () => {
    const [has, has_not] = [await graph.unit('topics/has'), await graph.unit('topics/has-not')]
    const { id } = await add('leave')
    await give(has, 'leave')
    await retire('leave')
    await retire('leave')
    expect(await sqlstateOf(give(has_not, 'leave'))).toBe('SD907')
    await graph.call('select iu_core.fn_unit_profile_patch($1, $2)', [has, '{"reviewed": true}'])
    expect(await add('leave')).toEqual({ id })
    await give(has_not, 'leave')
  })

  it('is added once, also by several at once, and keeps its description', async () => {
    await graph.call(`select iu_core.fn_topic_add($1, 'many', 'as it was')`, [graph.workspace], graph.admin)
    const all = await Promise.all([1, 2, 3, 4].map(() => add('many')))
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
    expect(
      await db.owner(`select description from iu_core.topic_vocabulary where topic_label = 'many'`),
    ).toEqual([{ description: 'as it was' }])
  })

  it('of every workspace is for back-end code, and known to all', async () => {
    expect(await sqlstateOf(add('global', null))).toBe('SD201')
    await service(`select iu_core.fn_topic_add(null, 'global')`, [])
    await give(await graph.unit('topics/of-all'), 'global')
    expect(await sqlstateOf(retire('global', null))).toBe('SD201')
    // It is not theirs to retire.
    expect(await sqlstateOf(retire('global'))).toBe('SD907')
    await service(`select iu_core.fn_topic_retire(null, 'global')`, [])
  })

  it('of another workspace does not count', async () => {
    await add('theirs', graph.other, graph.outsider)
    expect(await sqlstateOf(give(await graph.unit('topics/not-theirs'), 'theirs'))).toBe('SD907')
  })
})

describe('is refused', () => {
  it.each([null, '', ' ', 'Upper', 'two words', '-dash', 'x'.repeat(64), 'đ'])(
    'the label %j',
    async (label) => {
      expect(await sqlstateOf(add(label))).toBe('SD001')
    },
  )

  it('to retire what is not there', async () => {
    expect(await sqlstateOf(retire('never-was'))).toBe('SD907')
    expect(await sqlstateOf(retire(null))).toBe('SD907')
  })

  it('a workspace that is not there, and one of others', async () => {
    expect(await sqlstateOf(service('select iu_core.fn_topic_add($1, $2)', [randomUUID(), 'x']))).toBe(
      'SD001',
    )
    expect(await sqlstateOf(add('x', graph.other))).toBe('SD201')
  })

  it.each([
    ['viewer', 'SD202'],
    ['operator', 'SD202'],
    ['reviewer', 'SD202'],
    ['agent', '42501'],
  ] as const)('to a %s', async (role, state) => {
    const member = await createMember(db, graph.workspace, role)
    expect(await sqlstateOf(add('mine', graph.workspace, member))).toBe(state)
    expect(await sqlstateOf(retire('mine', graph.workspace, member))).toBe(state)
  })
})
