/** The checker: what it finds, what it makes of edges, and that nobody else writes its word. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROLES } from '../../src/kernel/postgres/migrate/bootstrap.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { cutDocument } from './cutting.ts'
import { useGraph } from './graph.ts'

const db = useDatabase()
const graph = useGraph(db)

let made = 0
const one = (made_: Parameters<typeof graph.unit>[1] = {}) => graph.unit(`check/${++made}`, made_)
const edgeOf = async (edge: string) =>
  (
    await db.owner('select edge_status, to_unit_id from iu_core.universal_edges where edge_id = $1', [edge])
  )[0]
const codes = async (unit: string) =>
  (await graph.check(unit))[0]!.findings.map((finding) => (finding as { code: string }).code)
const topic = (label: string) =>
  graph.call('select iu_core.fn_topic_add($1, $2)', [graph.workspace, label], graph.admin)

describe('a check', () => {
  it('of a unit without fault says that it conforms, and of which version', async () => {
    const unit = await one()
    expect(await graph.check(unit)).toEqual([
      { unit_id: unit, conformance: 'conforms', drift: 'none', findings: [] },
    ])
    expect(
      await db.owner(
        'select conformance, drift, findings, checked_version_no, checked_by from iu_core.unit_check where unit_id = $1',
        [unit],
      ),
    ).toEqual([
      {
        conformance: 'conforms',
        drift: 'none',
        findings: [],
        checked_version_no: 1,
        checked_by: 'stagedoor_worker',
      },
    ])
  })

  it('flags an edge to what is missing, verifies it when the target comes, and unverifies it when that is retired', async () => {
    const unit = await one()
    const target = `check/late-${made}`
    const { edge_id } = await graph.edge(unit, target)
    expect(await graph.check(unit)).toMatchObject([
      {
        conformance: 'deviates',
        findings: [{ code: 'edge_unverified', edge_id, edge_type: 'refers_to', target_ref: target }],
      },
    ])
    const late = await graph.unit(target)
    expect(await graph.check(unit)).toMatchObject([{ conformance: 'conforms', findings: [] }])
    expect(await edgeOf(edge_id)).toEqual({ edge_status: 'verified', to_unit_id: late })

    await graph.retire(late)
    expect(await graph.check(unit)).toMatchObject([{ conformance: 'deviates' }])
    expect(await edgeOf(edge_id)).toEqual({ edge_status: 'unverified', to_unit_id: null })
  })

  it('unverifies an edge while its target is deleted, and verifies it when that is restored', async () => {
    const [unit, target] = [await one(), await one()]
    const { edge_id } = await graph.edge(unit, target)
    await graph.call('select iu_core.fn_unit_delete($1)', [target])
    await graph.check(unit)
    expect(await edgeOf(edge_id)).toMatchObject({ edge_status: 'unverified' })
    await graph.call('select iu_core.fn_unit_restore($1)', [target])
    await graph.check(unit)
    expect(await edgeOf(edge_id)).toEqual({ edge_status: 'verified', to_unit_id: target })
  })

  it('misses what the kind asks the profile for, and what is null there', async () => {
    const unit = await one({ kind: 'commentary' })
    expect(await graph.check(unit)).toMatchObject([
      { conformance: 'deviates', findings: [{ code: 'profile_incomplete', keys: ['summary'] }] },
    ])
    await graph.call('select iu_core.fn_unit_profile_patch($1, $2)', [unit, '{"summary": "short"}'])
    expect(await codes(unit)).toEqual([])
  })

  it('finds topics that were retired since', async () => {
    await topic('kept')
    await topic('gone')
    const unit = await one({ profile: { topic_labels: ['kept', 'gone'] } })
    expect(await codes(unit)).toEqual([])
    await graph.call(`select iu_core.fn_topic_retire($1, 'gone')`, [graph.workspace], graph.admin)
    expect(await graph.check(unit)).toMatchObject([
      { conformance: 'deviates', findings: [{ code: 'topic_retired', topic: 'gone' }] },
    ])
  })

  it('finds a container that is gone', async () => {
    const container = await one({ kind: 'document' })
    const unit = await one({ container })
    await graph.retire(container)
    expect(await graph.check(unit)).toMatchObject([
      { conformance: 'deviates', findings: [{ code: 'container_gone', container_id: container }] },
    ])
  })

  it('of the same unit by several at once ends without a quarrel', async () => {
    const units = await Promise.all([...Array(20)].map(() => one()))
    for (const unit of units) await graph.edge(unit, units[0] === unit ? units[1]! : units[0]!)
    await Promise.all([
      graph.check(...units),
      graph.check(...units.toReversed()),
      graph.check(...units),
      graph.check(...units.toReversed()),
    ])
  })

  it('of no units gives none; of unknown ones, of NULL and of too many it is refused', async () => {
    const unit = await one()
    const tried = (units: unknown) =>
      sqlstateOf(db.pool('stagedoor_worker').query('select * from iu_core.fn_unit_check($1)', [units]))
    expect(await graph.check()).toEqual([])
    expect(await tried([unit, randomUUID()])).toBe('SD901')
    expect(await tried(null)).toBe('SD001')
    expect(await tried([null])).toBe('SD001')
    expect(await tried(Array(10_001).fill(unit))).toBe('SD001')
  })
})

describe('drift', () => {
  beforeAll(() => db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`))

  const at = async (address: string) =>
    (
      await db.owner<{ unit_id: string }>(
        'select unit_id from iu_core.information_unit where workspace_id = $1 and canonical_address = $2',
        [graph.workspace, address],
      )
    )[0]!.unit_id
  const driftOf = async (address: string) => (await graph.check(await at(address)))[0]!.drift

  it('is none while unit and document say the same', async () => {
    await cutDocument(db, graph, 'same', { a: 'Text of a.\n', b: 'Text of b.\n' })
    expect([await driftOf('same/a'), await driftOf('same/b')]).toEqual(['none', 'none'])
  })

  it('is found where somebody edited what the document says, which is no deviation', async () => {
    const document = await cutDocument(db, graph, 'edited', { a: 'Text of a.\n' })
    const unit = await at('edited/a')
    const { content_hash } = await graph.row(unit)
    await graph.call(`select iu_core.fn_unit_edit($1, 1, 'Another text.')`, [unit])
    expect(await graph.check(unit)).toEqual([
      {
        unit_id: unit,
        conformance: 'conforms',
        drift: 'drifted',
        findings: [
          {
            code: 'drifted',
            document_id: document,
            source_ref: expect.any(String),
            document_hash: content_hash,
          },
        ],
      },
    ])
  })

  it('is found in an enacted piece whose successor has the new text, not in the successor', async () => {
    await cutDocument(db, graph, 'changed', { a: 'Text of a.\n' })
    await graph.enact(await at('changed/a'))
    await cutDocument(db, graph, 'changed', { a: 'New text of a.\n' })
    expect([await driftOf('changed/a'), await driftOf('changed/a~2')]).toEqual(['drifted', 'none'])
  })

  it('is found where the document dropped an enacted piece, or is gone itself', async () => {
    await cutDocument(db, graph, 'dropped', { a: 'Text of a.\n', b: 'Text of b.\n' })
    await graph.enact(await at('dropped/b'))
    const document = await cutDocument(db, graph, 'dropped', { a: 'Text of a.\n' })
    expect([await driftOf('dropped/a'), await driftOf('dropped/b')]).toEqual(['none', 'drifted'])
    await db.owner('update iu_core.kb_document set deleted_at = now() where document_id = $1', [document])
    expect(await graph.check(await at('dropped/a'))).toMatchObject([
      { drift: 'drifted', findings: [{ document_id: document, document_hash: null }] },
    ])
  })
})

describe('what is due', () => {
  const due = async (workspace: string | null, limit?: number) =>
    (
      await db
        .pool('stagedoor_worker')
        .query<{ units: string[] }>('select iu_core.fn_unit_check_due($1, coalesce($2, 1000)) as units', [
          workspace,
          limit,
        ])
    ).rows[0]!.units

  it('was never checked, was edited or changed since, or has an edge that leads nowhere', async () => {
    const workspace = await createWorkspace(db, 'Due')
    const make = (address: string) => graph.unit(address, { workspace })
    const [fine, edited, profiled, linked] = [
      await make('fine'),
      await make('edited'),
      await make('profiled'),
      await make('linked'),
    ]
    const back = db.pool('stagedoor_worker')
    expect((await due(workspace)).sort()).toEqual([fine, edited, profiled, linked].sort())
    await back.query(`select iu_core.fn_unit_edge_add($1, 'refers_to', 'nowhere')`, [linked])
    await graph.check(fine, edited, profiled, linked)
    await back.query(`select iu_core.fn_unit_edit($1, 1, 'another text')`, [edited])
    await back.query(`select iu_core.fn_unit_profile_patch($1, '{"a": 1}')`, [profiled])
    const never = await make('never')
    expect((await due(workspace)).sort()).toEqual([edited, profiled, linked, never].sort())
    expect((await due(workspace, 1))[0]).toBe(never)
    await back.query('select iu_core.fn_unit_delete($1)', [never])
    expect(await due(workspace)).not.toContain(never)
    expect(await due(null, 10_000)).toEqual(expect.arrayContaining([edited, linked]))
  })

  it.each([0, 10_001])('is not asked for %s at a time', async (limit) => {
    expect(await sqlstateOf(due(graph.workspace, limit))).toBe('SD001')
  })
})

describe('nobody but the checker', () => {
  const WRITES = [
    `insert into iu_core.unit_check (unit_id, conformance, drift, checked_version_no, checked_by)
       select unit_id, 'conforms', 'none', 1, 'me' from iu_core.information_unit on conflict do nothing`,
    `update iu_core.unit_check set conformance = 'conforms'`,
    'delete from iu_core.unit_check',
    'truncate iu_core.unit_check',
  ]

  it.each(ROLES.map(({ name }) => name).filter((name) => name !== 'dot_executor'))(
    'writes its word: not %s',
    async (role) => {
      const session = await db.session('postgres')
      await session.query(`set role ${role}`)
      for (const write of WRITES) expect(await sqlstateOf(session.query(write)), write).toBe('42501')
      // service_role is back-end code, which may ask the checker.
      if (role === 'service_role') return
      const unit = await one()
      expect(await sqlstateOf(session.query('select * from iu_core.fn_unit_check($1)', [[unit]]))).toBe(
        '42501',
      )
    },
  )

  it('writes its word: dot_executor by asking it, and in no other way', async () => {
    await graph.check(await one())
    const back = db.pool('stagedoor_worker')
    for (const write of WRITES) expect(await sqlstateOf(back.query(write)), write).toBe('42501')
  })
})

it('looks for what unverified edges wait for without asking for each of them', async () => {
  const unit = await graph.unit('refresh/from')
  for (let n = 0; n < 20; n++) await graph.edge(unit, `https://example.org/${n}`)
  await graph.edge(unit, 'refresh/later')
  const refresh = 'select iu_core.fn_unit_link_refresh($1) as done'
  await db.pool('stagedoor_worker').query(refresh, [graph.workspace])
  const looking = await db.pool('postgres').connect()
  try {
    await looking.query(`begin; set local track_functions = 'all'`)
    await looking.query(refresh, [graph.workspace])
    const { rows } = await looking.query(
      `select calls::int from pg_stat_xact_user_functions where funcname = 'fn_unit_find'`,
    )
    expect(rows).toEqual([])
  } finally {
    await looking.query('rollback')
    looking.release()
  }
  await graph.unit('refresh/later')
  const { rows } = await db.pool('stagedoor_worker').query(refresh, [graph.workspace])
  expect(rows[0].done).toMatchObject({ checked: 1 })
})
