import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

const EVENT = { event_domain: 'system', event_type: 'gate_changed' }

async function emit(events: unknown): Promise<string[]> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>('select iu_core.fn_event_emit_batch($1) as id', [JSON.stringify(events)])
  return rows.map((row) => row.id)
}
const written = async () =>
  Number((await db.owner<{ n: string }>('select count(*) as n from iu_core.event_outbox'))[0]!.n)

it('writes 10,000 events in one statement, in their given order', async () => {
  const events = Array.from({ length: 10_000 }, (_, i) => ({
    ...EVENT,
    event_stream: 'bulk',
    event_subject_ref: `row ${i}`,
    safe_payload: { i },
  }))
  const ids = await emit(events)
  const rows = await db.owner<{ id: string; event_subject_ref: string; tx: string }>(
    `select id, event_subject_ref, tx from iu_core.event_outbox where event_stream = 'bulk' order by seq`,
  )
  expect(rows.map((row) => row.event_subject_ref)).toEqual(events.map((event) => event.event_subject_ref))
  expect(rows.map((row) => row.id)).toEqual(ids)
  expect(new Set(rows.map((row) => row.tx)).size).toBe(1)
})

it('writes every field', async () => {
  const [cause] = await emit([{ ...EVENT, correlation_id: randomUUID() }])
  const workspace = randomUUID()
  const fields = {
    ...EVENT,
    event_stream: 's',
    event_subject_ref: 'r',
    canonical_address: 'a',
    workspace_id: workspace,
    safe_payload: { ref: 1 },
    causation_event_id: cause,
  }
  const [id, plain] = await emit([fields, EVENT])
  const [first, second] = await db.owner(
    `select e.*, e.correlation_id = c.correlation_id as correlated
       from iu_core.event_outbox e left join iu_core.event_outbox c on c.id = e.causation_event_id
      where e.id in ($1, $2) order by e.seq`,
    [id, plain],
  )
  expect(first).toMatchObject({ ...fields, causation_depth: 1, correlated: true, actor: 'stagedoor_worker' })
  expect(second).toMatchObject({ safe_payload: {}, causation_depth: 0, correlation_id: plain })
})

it.each([
  ['SD301', 'an unknown type', { ...EVENT, event_type: 'unheard_of' }],
  ['SD301', 'no type', {}],
  ['SD301', 'something that is no object', 'gate_changed'],
  ['SD302', 'an unsafe payload', { ...EVENT, safe_payload: { rows: [{ Token: 1 }] } }],
  ['SD001', 'a cause that does not exist', { ...EVENT, causation_event_id: randomUUID() }],
  ['SD001', 'a field that does not exist', { ...EVENT, subject: 'lost' }],
  ['SD001', 'the name of another actor', { ...EVENT, actor: 'ada' }],
  ['22P02', 'a workspace that is no uuid', { ...EVENT, workspace_id: 'ours' }],
])('writes none at all (%s) when one has %s', async (state, _, bad) => {
  const before = await written()
  expect(await sqlstateOf(emit([EVENT, EVENT, bad, EVENT]))).toBe(state)
  expect(await written()).toBe(before)
})

it.each([[{}], ['text'], [null]])('refuses %j, which is not an array', async (events) => {
  expect(await sqlstateOf(emit(events))).toBe('SD001')
})

it('refuses SQL NULL', async () => {
  expect(await sqlstateOf(db.owner('select iu_core.fn_event_emit_batch(null)'))).toBe('SD001')
})

it('writes nothing for an empty array', async () => {
  const before = await written()
  expect(await emit([])).toEqual([])
  expect(await written()).toBe(before)
})
