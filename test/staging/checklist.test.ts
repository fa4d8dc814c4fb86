import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const OPEN = `select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`

async function create(parts: unknown[], kind = 'review_package', type = 'review_bundle'): Promise<string> {
  await db.owner(OPEN)
  const [row] = await db.owner<{ id: string }>(
    `select staging_record_id as id from iu_core.fn_iu_staging_create($1, $2, 'try', p_parts => $3::jsonb[])`,
    [kind, type, parts.map((part) => JSON.stringify(part))],
  )
  return row!.id
}

const manifest = { part_name: 'manifest', payload_kind: 'json', payload_json: {} }
const checklist = (payload_json: unknown) => ({ part_name: 'checklist', payload_kind: 'json', payload_json })

it.each<[string, unknown[]]>([
  ['none at all', [manifest]],
  ['one as text', [manifest, { part_name: 'checklist', payload_kind: 'text', payload_text: 'fine' }]],
  ['one under another name', [manifest, { ...checklist(['a']), part_name: 'Checklist' }]],
  ['an empty one', [manifest, checklist([])]],
  ['one whose items are no list', [manifest, checklist({ items: {} })]],
  ['one in which nothing is required', [manifest, checklist([{ id: 'a', required: false }])]],
  ['two of them', [checklist(['a']), checklist(['b'])]],
])('the owner of a review package cannot leave the checklist out: %s', async (_name, parts) => {
  expect(await sqlstateOf(create(parts))).toBe('SD506')
})

it.each<[string, unknown]>([
  ['a position that is another item’s id', ['a', { id: '1' }]],
  ['two equal ids', [{ id: 'x' }, { id: 'x' }]],
  ['a blank id', [{ id: ' ' }]],
  ['an id of 201 characters', [{ id: 'x'.repeat(201) }]],
  ['501 items', Array(501).fill('x')],
])('a checklist that nobody could tick is refused: %s', async (_name, items) => {
  expect(await sqlstateOf(create([checklist(items)]))).toBe('SD506')
  expect(await sqlstateOf(create([checklist(items)], 'agent_intermediate', 'nosql_payload'))).toBe('SD506')
})

it('a checklist of megabytes is refused at once', async () => {
  const started = performance.now()
  expect(await sqlstateOf(create([checklist(Array(1_000_000).fill(1))]))).toBe('SD506')
  expect(performance.now() - started).toBeLessThan(10_000)
})

it('nobody emits a transition that did not happen, or emits one twice', async () => {
  const id = await create([manifest, checklist(['a'])])
  const tell = (type: string) =>
    sqlstateOf(db.owner('select iu_core.fn_iu_staging_emit_event($1, $2)', [id, type]))
  for (const type of [
    'record_created',
    'record_approved',
    'record_consumed',
    'record_expired',
    'record_unregistered',
  ]) {
    expect([type, await tell(type)]).toEqual([type, 'SD001'])
  }
  expect(await tell('ingestion_complete')).toBe('not refused')
})

it('a record whose parts are gone is noticed by the healthcheck', async () => {
  const id = await create([manifest, checklist(['a'])])
  await db.pool('postgres').query('delete from iu_core.iu_staging_payload where staging_record_id = $1', [id])
  const [row] = await db.owner<{ health: { ok: boolean; checks: { name: string; detail: string }[] } }>(
    'select iu_core.fn_iu_staging_healthcheck() as health',
  )
  expect(row!.health.ok).toBe(false)
  expect(row!.health.checks.find((check) => check.name === 'parts present')?.detail).toContain(id)
})

it('a policy cannot ask for more time than a clock has', async () => {
  const set = (changes: object) =>
    sqlstateOf(
      db.owner(`select iu_core.fn_iu_staging_set_policy('nosql_payload', $1, 'try')`, [
        JSON.stringify(changes),
      ]),
    )
  expect(await set({ retention: '293000 years' })).toBe('SD001')
  expect(await set({ time_to_live: '11 years' })).toBe('SD001')
})
