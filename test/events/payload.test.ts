import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()

const FORBIDDEN = [
  'body',
  'content',
  'raw',
  'vector',
  'embedding',
  'secret',
  'token',
  'password',
  'ssn',
  'personal_data',
]

/** Tries both doors, one event and a batch of one, and says with which SQLSTATE each was shut. */
beforeAll(() =>
  db.pool('postgres').query(`
    create function public.refusals(p_payload jsonb, out one text, out many text) language plpgsql as $$
    begin
      begin
        perform iu_core.fn_event_emit('system', 'gate_changed', p_safe_payload => p_payload);
        one := 'taken';
      exception when others then one := sqlstate;
      end;
      begin
        perform iu_core.fn_event_emit_batch(jsonb_build_array(jsonb_build_object(
          'event_domain', 'system', 'event_type', 'gate_changed', 'safe_payload', p_payload)));
        many := 'taken';
      exception when others then many := sqlstate;
      end;
    end $$`),
)

/** The answer to each payload, by its name; both doors must give the same. */
async function answers(payloads: Record<string, unknown>): Promise<Record<string, string>> {
  const { rows } = await db
    .pool('postgres')
    .query<{ name: string; one: string; many: string }>(
      'select p.key as name, r.one, r.many from jsonb_each($1) as p, public.refusals(p.value) as r',
      [JSON.stringify(payloads)],
    )
  for (const row of rows) expect(row.many, row.name).toBe(row.one)
  return Object.fromEntries(rows.map((row) => [row.name, row.one]))
}
const all = (payloads: object, answer: string) =>
  Object.fromEntries(Object.keys(payloads).map((name) => [name, answer]))

it.each(FORBIDDEN)('refuses the key %s at any depth, inside arrays and in any case', async (key) => {
  const payloads = {
    'at the top': { [key]: 1 },
    'with nothing in it': { [key]: null },
    'in capitals': { [key.toUpperCase()]: 1 },
    'in mixed case': { [key[0]!.toUpperCase() + key.slice(1)]: 1 },
    'deep inside': { a: { b: { c: { d: { [key]: 1 } } } } },
    'inside an array': { rows: [1, [{ ok: 1 }, { [key]: 1 }]] },
    'in an array of arrays': { rows: [[[{ x: [{ [key]: {} }] }]]] },
    'beside good keys': { id: 1, [key]: 'x', ref: 2 },
  }
  expect(await answers(payloads)).toEqual(all(payloads, 'SD302'))
})

it('takes words that only contain a forbidden one, forbidden words as values, and nothing at all', async () => {
  const payloads = {
    'longer words': { token_id: 1, body_ref: 2, passwords: 3 },
    values: { kind: 'password', list: ['token', 'secret'] },
    types: { id: '1', number: 1.5, ok: true, none: null, list: [], nested: { a: [{}] } },
    nothing: {},
  }
  expect(await answers(payloads)).toEqual(all(payloads, 'taken'))
})

it('refuses everything that is not an object', async () => {
  const payloads = { array: [1], empty: [], string: 'text', number: 1, boolean: true, null: null }
  expect(await answers(payloads)).toEqual(all(payloads, 'SD302'))
})

it('takes 8192 characters and refuses one more', async () => {
  const envelope = '{"ref": ""}'.length
  const payloads = { full: { ref: 'ä'.repeat(8192 - envelope) }, over: { ref: 'ä'.repeat(8193 - envelope) } }
  expect(await answers(payloads)).toEqual({ full: 'taken', over: 'SD302' })
})

it('takes SQL NULL as no payload', async () => {
  const [row] = await db.owner<{ id: string }>(
    `select iu_core.fn_event_emit('system', 'gate_changed', p_safe_payload => null) as id`,
  )
  expect(await db.owner('select safe_payload from iu_core.event_outbox where id = $1', [row!.id])).toEqual([
    { safe_payload: {} },
  ])
})
