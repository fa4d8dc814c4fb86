/** What happens to units by itself: from the change that a person makes, over its event and consumer, to the handler. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { useGraph } from '../../units/graph.ts'
import { useReacting } from './reacting.ts'

const db = useDatabase()
const graph = useGraph(db)
const reacting = useReacting(db)

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const statusOf = async (edge: string) =>
  (
    await db.owner<{ edge_status: string }>(
      'select edge_status from iu_core.universal_edges where edge_id = $1',
      [edge],
    )
  )[0]!.edge_status
const conformance = async (unit: string) =>
  (
    await db.owner<{ conformance: string }>('select conformance from iu_core.unit_check where unit_id = $1', [
      unit,
    ])
  )[0]?.conformance
const recompose = async (unit: string) =>
  (await db.pool('stagedoor_worker').query('select iu_core.fn_unit_recompose($1) as did', [unit])).rows[0].did

let made = 0
async function document(letters: string) {
  const name = `pieces-${++made}`
  const container = await graph.unit(name, { kind: 'document' })
  const pieces: Record<string, string> = {}
  for (const letter of letters) {
    pieces[letter] = await graph.unit(`${name}/${letter}`, { container, body: `text of ${letter}` })
  }
  return { container, piece: (letter: string) => pieces[letter]! }
}

describe('a new unit', () => {
  beforeAll(() => reacting.activate('auto_instantiate_from_template'))

  it('stages what the templates of its kind prescribe, for review, caused by the creation', async () => {
    await inTransaction(
      db.pool('stagedoor_worker'),
      (client) =>
        client.query('select iu_core.fn_iu_auto_instantiate_template_set($1, $2)', [
          'commentary_review',
          JSON.stringify({
            event_stream: 'commentary',
            staging_kind: 'draft_iu_composition',
            payload_type: 'composition_draft',
            purpose: 'What follows from {canonical_address}',
            parts: [
              {
                part_name: 'draft',
                payload_kind: 'json',
                payload_json: { unit: '{event_subject_ref}', kind: '{event_stream}', by: '{actor}' },
              },
            ],
          }),
        ]),
      { role: 'service_role' },
    )
    const created = await graph.call<{ unit_id: string }>(
      `select unit_id from iu_core.fn_unit_create($1, 'comments/spend', 'Spend rose.', p_unit_kind => 'commentary')`,
      [graph.workspace],
    )
    await graph.unit('comments/a-note')
    const jobs = await reacting.react()
    expect(jobs).toHaveLength(2)
    const [event] = (await graph.events('birth_registry.entity_born')).filter(
      (one) => one.event_subject_ref === created.unit_id,
    )
    expect(event).toMatchObject({ canonical_address: 'comments/spend', actor: graph.operator.userId })
    const staged = await db.owner(
      `select r.purpose, r.workspace_id, r.lifecycle_status, p.payload_json, c.event_subject_ref as follows_from
         from iu_core.iu_staging_record r
         join iu_core.iu_staging_payload p using (staging_record_id)
         join iu_core.event_outbox e on e.event_subject_ref = r.staging_record_id::text
         join iu_core.event_outbox c on c.id = e.causation_event_id`,
    )
    expect(staged).toEqual([
      {
        purpose: 'What follows from comments/spend',
        workspace_id: graph.workspace,
        lifecycle_status: 'pending',
        payload_json: { unit: created.unit_id, kind: 'commentary', by: graph.operator.userId },
        follows_from: created.unit_id,
      },
    ])
    await db.owner('select iu_core.fn_consumer_disable($1)', ['auto_instantiate_from_template'])
  })
})

describe('a reordering', () => {
  beforeAll(() => reacting.activate('iu_recompose_pieces'))

  it('says what the text of the container is now, and numbers its pieces without gaps', async () => {
    const { container, piece } = await document('abcd')
    await graph.retire(piece('b'))
    await graph.call('select iu_core.fn_unit_reorder($1, $2)', [
      container,
      [piece('d'), piece('a'), piece('c')],
    ])
    const [job] = await reacting.react()
    expect(job).toMatchObject({
      job_kind: 'iu_recompose_pieces',
      target_ref: container,
      result: {
        container_id: container,
        pieces: 3,
        content_hash: hash('text of d\n\ntext of a\n\ntext of c'),
      },
    })
    await graph.move(piece('a'), null)
    expect(await recompose(container)).toMatchObject({ pieces: 2 })
    expect(await graph.row(piece('c'))).toMatchObject({ position: 2 })
    // It tells nobody, or it would set itself off.
    expect(await reacting.dispatch()).toEqual([])
  })

  it('of more text than anybody holds in memory says how much it is, not its hash', async () => {
    const { container } = await document('a')
    await db.owner(
      `select count(*) from iu_core.fn_unit_create_rows($1, (
         select jsonb_agg(jsonb_build_object('canonical_address', $2::text || n, 'body', repeat('x', 1048576), 'container_id', $3::uuid))
           from generate_series(1, 64) n), 'ada')`,
      [graph.workspace, `huge-${made}/`, container],
    )
    expect(await recompose(container)).toEqual({
      container_id: container,
      pieces: 65,
      bytes: 64 * 1024 ** 2 + 'text of a'.length,
      content_hash: null,
    })
  })

  it('leaves out a successor that is still a draft, until it has taken the place', async () => {
    const { container, piece } = await document('ab')
    await graph.enact(piece('a'))
    // As a cut makes it.
    const draft = {
      canonical_address: `pieces-${made}/a~2`,
      body: 'new text of a',
      container_id: container,
      supersedes: piece('a'),
    }
    await db.owner('select from iu_core.fn_unit_create_rows($1, $2, $3, null)', [
      graph.workspace,
      JSON.stringify([draft]),
      'ada',
    ])
    const [{ unit_id: successor }] = (await db.owner(
      'select unit_id from iu_core.information_unit where supersedes = $1',
      [piece('a')],
    )) as [{ unit_id: string }]
    expect(await recompose(container)).toMatchObject({
      pieces: 2,
      content_hash: hash('text of a\n\ntext of b'),
    })
    await graph.enact(successor)
    await graph.call(
      `select iu_core.fn_unit_supersede($1, $2, 'apr-2')`,
      [piece('a'), successor],
      graph.reviewer,
    )
    expect(await recompose(container)).toMatchObject({
      pieces: 2,
      content_hash: hash('text of b\n\nnew text of a'),
    })
  })

  it('of a container without pieces is the text of nothing', async () => {
    const { container } = await document('')
    expect(await recompose(container)).toMatchObject({ pieces: 0, content_hash: hash('') })
  })
})

describe('a retirement', () => {
  beforeAll(() => reacting.activate('iu_axis_refresh'))

  it('has the units checked whose edges lead to it, and no others', async () => {
    const target = await graph.unit('axis/target')
    const [byAddress, byId, other] = [
      await graph.unit('axis/by-address'),
      await graph.unit('axis/by-id'),
      await graph.unit('axis/other'),
    ]
    const edges = [await graph.edge(byAddress, 'axis/target'), await graph.edge(byId, target)]
    expect(edges.map((edge) => edge.edge_status)).toEqual(['verified', 'verified'])
    await graph.retire(target)
    const [job] = await reacting.react()
    expect(job).toMatchObject({ job_kind: 'iu_axis_refresh', target_ref: target, result: { checked: 2 } })
    expect(await Promise.all(edges.map(({ edge_id }) => statusOf(edge_id)))).toEqual([
      'unverified',
      'unverified',
    ])
    expect(await Promise.all([byAddress, byId, other].map(conformance))).toEqual([
      'deviates',
      'deviates',
      undefined,
    ])
  })
})

describe('a run that ended well', () => {
  beforeAll(() => reacting.activate('kg_link_refresh'))

  it('has the edges looked at again that led nowhere, in its workspace', async () => {
    const from = await graph.unit('links/from')
    const theirs = await graph.unit('links/theirs', { workspace: graph.other })
    const found = await graph.edge(from, 'links/late')
    const lost = await graph.edge(from, 'https://example.com')
    await db
      .pool('stagedoor_worker')
      .query(`select iu_core.fn_unit_edge_add($1, 'refers_to', 'links/late')`, [theirs])
    await graph.check(from)
    expect(await statusOf(found.edge_id)).toBe('unverified')
    await graph.unit('links/late')
    const { run } = await graph.call<{ run: string }>(
      `select iu_core.fn_command_run_start('a cut', null, $1) as run`,
      [graph.workspace],
    )
    await graph.call('select iu_core.fn_command_run_finish($1)', [run])
    const [job] = await reacting.react()
    expect(job).toMatchObject({ job_kind: 'kg_link_refresh', target_ref: run })
    expect(await statusOf(found.edge_id)).toBe('verified')
    expect(await statusOf(lost.edge_id)).toBe('unverified')
    expect(await conformance(from)).toBe('deviates')
    expect(await conformance(theirs)).toBeUndefined()
  })
})

it.each(['fn_unit_recompose', 'fn_unit_axis_refresh', 'fn_unit_link_refresh'])(
  '%s is for back-end code only',
  async (name) => {
    const { container } = await document('')
    for (const member of [graph.operator, graph.admin]) {
      const tried = graph.call(`select iu_core.${name}($1)`, [container], member)
      expect(await sqlstateOf(tried)).toBe('42501')
    }
  },
)
