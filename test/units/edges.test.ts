/** Edges: to a unit, to what is not there yet, to anything; added once, whoever is faster. */
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
const pair = async () => {
  const n = ++made
  return [await graph.unit(`edges/from-${n}`), await graph.unit(`edges/to-${n}`), `edges/to-${n}`] as const
}
const edgeRow = async (edge: string) =>
  (await db.owner('select * from iu_core.universal_edges where edge_id = $1', [edge]))[0]

describe('adding an edge', () => {
  it('leads to a unit of the workspace by its address or its id, is verified, and emits an event', async () => {
    const [from, to, address] = await pair()
    const byAddress = await graph.edge(from, address)
    const byId = await graph.edge(from, to.toUpperCase())
    expect([byAddress, byId]).toMatchObject([
      { edge_status: 'verified', created: true },
      { edge_status: 'verified', created: true },
    ])
    expect(await edgeRow(byAddress.edge_id)).toMatchObject({
      from_unit_id: from,
      to_unit_id: to,
      target_ref: address,
      created_by: graph.operator.userId,
    })
    const told = (await graph.events('iu.edge_added')).filter((event) => event.event_subject_ref === from)
    expect(told).toHaveLength(2)
    expect(told[0]).toEqual({
      type: 'iu.edge_added',
      event_subject_ref: from,
      canonical_address: `edges/from-${made}`,
      workspace_id: graph.workspace,
      actor: graph.operator.userId,
      safe_payload: {
        unit_id: from,
        edge_id: byAddress.edge_id,
        edge_type: 'refers_to',
        edge_status: 'verified',
        to_unit_id: to,
      },
    })
  })

  it.each(['not/there-yet', randomUUID(), 'https://example.com/a b', 'Ünïcode'])(
    'accepts what names no unit as unverified: %s',
    async (target) => {
      const [from] = await pair()
      const { edge_id, ...edge } = await graph.edge(from, target)
      expect(edge).toEqual({ edge_status: 'unverified', created: true })
      expect(await edgeRow(edge_id)).toMatchObject({ to_unit_id: null, target_ref: target })
    },
  )

  it('does not see into another workspace', async () => {
    const [from] = await pair()
    const theirs = await graph.unit('edges/theirs', { workspace: graph.other })
    expect(await graph.edge(from, theirs)).toMatchObject({ edge_status: 'unverified' })
    expect(await graph.edge(from, 'edges/theirs')).toMatchObject({ edge_status: 'unverified' })
  })

  it('to a retired unit is unverified', async () => {
    const [from, to, address] = await pair()
    await graph.retire(to)
    expect(await graph.edge(from, address)).toMatchObject({ edge_status: 'unverified' })
  })

  it('twice gives the same edge, verified again, and emits nothing', async () => {
    const [from] = await pair()
    const late = `edges/late-${made}`
    const first = await graph.edge(from, late)
    await graph.unit(late)
    const before = (await graph.events('iu.edge_added')).length
    expect(await graph.edge(from, late)).toEqual({ ...first, edge_status: 'verified', created: false })
    expect((await graph.events('iu.edge_added')).length).toBe(before)
  })

  it('by several at once makes one edge and one event', async () => {
    for (let round = 0; round < 20; round++) {
      const [from, , address] = await pair()
      const all = await Promise.all([1, 2, 3].map(() => graph.edge(from, address)))
      expect(new Set(all.map((one) => one.edge_id)).size).toBe(1)
      expect(all.filter((one) => one.created)).toHaveLength(1)
      const told = await graph.events('iu.edge_added')
      expect(told.filter((event) => event.event_subject_ref === from)).toHaveLength(1)
    }
  })

  it('enqueues nothing for search and makes no version', async () => {
    const [from, , address] = await pair()
    const outbox = () =>
      db.owner('select generation, status from iu_core.vector_outbox where unit_id = $1', [from])
    const before = await outbox()
    const { edge_id } = await graph.edge(from, address)
    await graph.call('select iu_core.fn_unit_edge_delete($1)', [edge_id])
    expect(await outbox()).toEqual(before)
    expect(await graph.row(from)).toMatchObject({ version_no: 1 })
  })
})

describe('removing an edge', () => {
  it('deletes it once, and emits an event', async () => {
    const [from, to, address] = await pair()
    const { edge_id } = await graph.edge(from, address)
    const remove = () => sqlstateOf(graph.call('select iu_core.fn_unit_edge_delete($1)', [edge_id]))
    const all = await Promise.all([remove(), remove()])
    expect(all.sort()).toEqual(['SD913', 'not refused'])
    expect(await edgeRow(edge_id)).toBeUndefined()
    const told = (await graph.events('iu.edge_removed')).filter((event) => event.event_subject_ref === from)
    expect(told.map((event) => event.safe_payload)).toEqual([
      { unit_id: from, edge_id, edge_type: 'refers_to', to_unit_id: to },
    ])
  })

  it('while it is added again leaves either none or one, never an error', async () => {
    for (let round = 0; round < 20; round++) {
      const [from, , address] = await pair()
      const { edge_id } = await graph.edge(from, address)
      await Promise.all([
        graph.call('select iu_core.fn_unit_edge_delete($1)', [edge_id]),
        graph.edge(from, address),
      ])
      const left = await db.owner('select from iu_core.universal_edges where from_unit_id = $1', [from])
      expect(left.length).toBeLessThanOrEqual(1)
    }
  })
})

describe('while a unit is being retired', () => {
  it('an edge from it waits, and is then refused; one to it does not wait, and the checker looks again', async () => {
    const [from, to, address] = await pair()
    const [retiring, adding] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
    await retiring.query('begin')
    await retiring.query('select iu_core.fn_unit_retire($1)', [to])
    const out = sqlstateOf(adding.query(`select iu_core.fn_unit_edge_add($1, 'refers_to', 'x')`, [to]))
    await untilWaiting(db, adding)
    const { edge_id, edge_status } = await graph.edge(from, address)
    expect(edge_status).toBe('verified')
    await retiring.query('commit')
    expect(await out).toBe('SD903')
    await graph.check(from)
    expect(await edgeRow(edge_id)).toMatchObject({ edge_status: 'unverified', to_unit_id: null })
  })
})

describe('is refused', () => {
  it.each([
    ['an edge without a type', null, 'x'],
    ['a type that is not a word', 'Refers To', 'x'],
    ['an edge without a target', 'refers_to', null],
    ['a blank target', 'refers_to', ' \n'],
    ['a target of 2001 characters', 'refers_to', 'x'.repeat(2001)],
  ])('%s', async (_, type, target) => {
    const [from] = await pair()
    const tried = graph.call('select iu_core.fn_unit_edge_add($1, $2, $3)', [from, type, target])
    expect(await sqlstateOf(tried)).toBe('SD001')
  })

  it('an edge to the unit itself', async () => {
    const [from] = await pair()
    expect(await sqlstateOf(graph.edge(from, from))).toBe('SD001')
    expect(await sqlstateOf(graph.edge(from, `edges/from-${made}`))).toBe('SD001')
  })

  it('an edge of a retired or deleted unit; an enacted one may have it', async () => {
    const [from, , address] = await pair()
    await graph.enact(from)
    const { edge_id } = await graph.edge(from, address)
    await graph.retire(from)
    expect(await sqlstateOf(graph.edge(from, 'other'))).toBe('SD903')
    expect(await sqlstateOf(graph.call('select iu_core.fn_unit_edge_delete($1)', [edge_id]))).toBe('SD903')
    const [deleted] = await pair()
    await graph.call('select iu_core.fn_unit_delete($1)', [deleted])
    expect(await sqlstateOf(graph.edge(deleted, 'other'))).toBe('SD903')
  })

  it('whatever is of another workspace, like what is not there', async () => {
    const [from, , address] = await pair()
    const { edge_id } = await graph.edge(from, address)
    const add = (unit: string | null, caller = graph.outsider) =>
      sqlstateOf(graph.call(`select iu_core.fn_unit_edge_add($1, 'refers_to', 'x')`, [unit], caller))
    const remove = (edge: string | null) =>
      sqlstateOf(graph.call('select iu_core.fn_unit_edge_delete($1)', [edge], graph.outsider))
    expect(await Promise.all([add(from), add(randomUUID()), add(null)])).toEqual(['SD901', 'SD901', 'SD901'])
    expect(await Promise.all([remove(edge_id), remove(randomUUID()), remove(null)])).toEqual([
      'SD913',
      'SD913',
      'SD913',
    ])
  })

  it('whoever may only read', async () => {
    const [from, , address] = await pair()
    const { edge_id } = await graph.edge(from, address)
    for (const [role, state] of [
      ['viewer', 'SD202'],
      ['agent', '42501'],
    ] as const) {
      const member = await createMember(db, graph.workspace, role)
      const add = graph.call(`select iu_core.fn_unit_edge_add($1, 'refers_to', 'x')`, [from], member)
      expect(await sqlstateOf(add), role).toBe(state)
      const remove = graph.call('select iu_core.fn_unit_edge_delete($1)', [edge_id], member)
      expect(await sqlstateOf(remove), role).toBe(state)
    }
  })
})
