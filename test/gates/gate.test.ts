import { beforeEach, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()

const GATE = 'iu_core.staging_writes_enabled'
const DEFAULTS = {
  'iu_core.staging_writes_enabled': false,
  'iu_core.staging_cleanup_enabled': false,
  'iu_core.no_vector_staging_excluded': true,
  'iu_core.bulk_reference_checks_enabled': false,
  'queue.consumer_dispatch.enabled': false,
  'search.phase_1.enabled': true,
  'search.phase_2.enabled': true,
  'search.phase_3.enabled': true,
}

const isOpen = async (gate: string): Promise<boolean> =>
  (await db.owner<{ open: boolean }>('select iu_core.fn_gate_open($1) as open', [gate]))[0]!.open
const set = async (
  gate: string | null,
  open: boolean | null,
  reason: string | null = null,
): Promise<boolean> =>
  (
    await db.owner<{ changed: boolean }>('select iu_core.fn_gate_set($1, $2, $3) as changed', [
      gate,
      open,
      reason,
    ])
  )[0]!.changed
const audit = () =>
  db.owner<{ change: string; old_value: string; new_value: string; actor: string; reason: string | null }>(
    `select change, old_value, new_value, actor, reason from iu_core.dot_config_audit
      where key = '${GATE}' order by audit_id`,
  )
const events = () =>
  db.owner<{ actor: string; safe_payload: unknown }>(
    `select actor, safe_payload from iu_core.event_outbox
      where event_domain = 'system' and event_type = 'gate_changed' and event_subject_ref = '${GATE}' order by seq`,
  )

beforeEach(() => set(GATE, false))

it('starts with the defaults and no others', async () => {
  const rows = await db.owner<{ key: string; open: boolean }>(
    'select key, iu_core.fn_gate_open(key) as open from iu_core.dot_config',
  )
  expect(Object.fromEntries(rows.map((row) => [row.key, row.open]))).toEqual(DEFAULTS)
})

it('opens and closes, with a line of audit and one event each time', async () => {
  const [linesBefore, eventsBefore] = [await audit(), await events()]
  expect(await set(GATE, true, 'the import of May')).toBe(true)
  expect(await isOpen(GATE)).toBe(true)
  expect(await set(GATE, false)).toBe(true)
  expect(await isOpen(GATE)).toBe(false)
  expect((await audit()).slice(linesBefore.length)).toEqual([
    { change: 'update', old_value: 'false', new_value: 'true', actor: MIGRATOR, reason: 'the import of May' },
    { change: 'update', old_value: 'true', new_value: 'false', actor: MIGRATOR, reason: null },
  ])
  expect((await events()).slice(eventsBefore.length)).toEqual([
    { actor: MIGRATOR, safe_payload: { gate: GATE, open: true } },
    { actor: MIGRATOR, safe_payload: { gate: GATE, open: false } },
  ])
  const rows = await db.owner(
    'select updated_by, updated_at is not null as dated from iu_core.dot_config where key = $1',
    [GATE],
  )
  expect(rows).toEqual([{ updated_by: MIGRATOR, dated: true }])
})

it('does nothing, and says so, when the gate already is as asked', async () => {
  const [linesBefore, eventsBefore] = [await audit(), await events()]
  expect(await set(GATE, false, 'again')).toBe(false)
  expect(await audit()).toEqual(linesBefore)
  expect(await events()).toEqual(eventsBefore)
})

it('leaves neither audit nor event when the transaction rolls back', async () => {
  const [linesBefore, eventsBefore] = [await audit(), await events()]
  const session = await db.session()
  await session.query('begin')
  await session.query('select iu_core.fn_gate_set($1, true)', [GATE])
  await session.query('rollback')
  expect(await isOpen(GATE)).toBe(false)
  expect(await audit()).toEqual(linesBefore)
  expect(await events()).toEqual(eventsBefore)
})

it.each(['no.such.gate', '', null])('refuses the unknown gate %s', async (gate) => {
  expect(await sqlstateOf(db.owner('select iu_core.fn_gate_open($1)', [gate]))).toBe('SD102')
  expect(await sqlstateOf(db.owner('select iu_core.fn_gate_require($1)', [gate]))).toBe('SD102')
  expect(await sqlstateOf(db.owner('select iu_core.fn_gate_override($1, true)', [gate]))).toBe('SD102')
  expect(await sqlstateOf(set(gate, true))).toBe('SD102')
})

it('refuses to make a gate NULL', async () => {
  expect(await sqlstateOf(set(GATE, null))).toBe('SD001')
  expect(await sqlstateOf(db.owner('select iu_core.fn_gate_override($1, null)', [GATE]))).toBe('SD001')
  expect(
    await sqlstateOf(db.owner(`update iu_core.dot_config set value = 'maybe' where key = $1`, [GATE])),
  ).toBe('23514')
})

it('is required open by those who depend on it', async () => {
  const worker = db.pool('stagedoor_worker')
  expect(await sqlstateOf(worker.query('select iu_core.fn_gate_require($1)', [GATE]))).toBe('SD101')
  await set(GATE, true)
  await worker.query('select iu_core.fn_gate_require($1)', [GATE])
})

it('names the closed gate and who opens it', async () => {
  const asked = db.as({ role: 'service_role', claims: { sub: 'importer' } }, (client) =>
    client.query('select iu_core.fn_gate_require($1)', [GATE]),
  )
  await expect(asked).rejects.toMatchObject({
    code: 'gate_closed',
    details: { gate: GATE },
    hint: expect.stringContaining(`stagedoor gate open ${GATE}`),
  })
})

it.each(['authenticated', 'service_role', 'stagedoor_agent', 'stagedoor_reviewer', 'anon'])(
  'cannot be changed by %s',
  async (role) => {
    const caller = { role, claims: { sub: 'eve' } }
    for (const sql of [
      `select iu_core.fn_gate_set('${GATE}', true)`,
      `update iu_core.dot_config set value = 'true'`,
      `insert into iu_core.dot_config values ('mine', 'true', '')`,
    ]) {
      expect(await sqlstateOf(db.as(caller, (client) => client.query(sql))), sql).toBe('42501')
    }
  },
)
