import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const worker = () => db.pool('stagedoor_worker')

const emit = (ref: string) =>
  worker().query(`select iu_core.fn_event_emit('system', 'gate_changed', p_event_subject_ref => $1)`, [ref])
const READ = 'select event_subject_ref as ref from iu_core.fn_event_read($1, $2)'
const read = async (reader: string | null, limit: number | null = 1000) =>
  (await worker().query<{ ref: string }>(READ, [reader, limit])).rows.map((row) => row.ref)
const register = async (reader: string | null, fromBeginning = false) =>
  (
    await worker().query<{ created: boolean }>('select iu_core.fn_event_reader_register($1, $2) as created', [
      reader,
      fromBeginning,
    ])
  ).rows[0]!.created

it('begins now, or at the beginning', async () => {
  await emit('before')
  expect(await register('now')).toBe(true)
  expect(await register('beginning', true)).toBe(true)
  await emit('after')
  expect(await read('now')).toEqual(['after'])
  expect(await read('beginning')).toEqual(['before', 'after'])
})

it('is not moved by being registered again', async () => {
  await register('again')
  await emit('unread')
  expect(await register('again')).toBe(false)
  expect(await register('again', true)).toBe(false)
  expect(await read('again')).toEqual(['unread'])
})

it('is deleted with its position, and can be registered again from the beginning', async () => {
  await register('restored', true)
  await emit('read once')
  expect(await read('restored')).toContain('read once')
  const remove = async (reader: string | null) =>
    (await worker().query('select iu_core.fn_event_reader_delete($1) as deleted', [reader])).rows[0]!.deleted
  expect(await remove('restored')).toBe(true)
  expect(await sqlstateOf(read('restored'))).toBe('SD303')
  expect(await remove('restored')).toBe(false)
  expect(await sqlstateOf(remove(null))).toBe('SD001')
  expect(await register('restored', true)).toBe(true)
  expect(await read('restored')).toContain('read once')
})

it('that is registered while a writer is open gets what that writer commits', async () => {
  const writer = await db.session('stagedoor_worker')
  await writer.query('begin')
  await writer.query(`select iu_core.fn_event_emit('system', 'gate_changed', p_event_subject_ref => 'open')`)
  await register('midway')
  await writer.query('commit')
  expect(await read('midway')).toEqual(['open'])
})

it('reads independently of other readers', async () => {
  await register('one')
  await register('two')
  await emit('for both')
  expect(await read('one')).toEqual(['for both'])
  expect(await read('one')).toEqual([])
  expect(await read('two')).toEqual(['for both'])
})

it('gives no event twice to two sessions that read for it at once', async () => {
  await register('shared')
  for (let i = 0; i < 30; i++) await emit(`shared ${i}`)
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  const begun = await first.query<{ ref: string }>(READ, ['shared', 20])
  const waiting = second.query<{ ref: string }>(READ, ['shared', 20])
  await untilWaiting(db, second)
  await first.query('commit')
  const rest = await waiting
  expect([...begun.rows, ...rest.rows].map((row) => row.ref)).toEqual(
    Array.from({ length: 30 }, (_, i) => `shared ${i}`),
  )
})

it('gives everything to the second session when the first rolls back', async () => {
  await register('handed-over')
  await emit('once')
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query(READ, ['handed-over', 20])
  const waiting = second.query<{ ref: string }>(READ, ['handed-over', 20])
  await untilWaiting(db, second)
  await first.query('rollback')
  expect((await waiting).rows).toEqual([{ ref: 'once' }])
})

it('gives no event twice to many sessions that read for it all the time', async () => {
  await register('crowd')
  const total = 300
  const batch = Array.from({ length: total }, (_, i) => ({
    event_domain: 'system',
    event_type: 'gate_changed',
    event_subject_ref: `crowd ${i}`,
  }))
  await worker().query('select count(*) from iu_core.fn_event_emit_batch($1)', [JSON.stringify(batch)])
  const delivered: string[] = []
  const drain = async () => {
    for (;;) {
      const refs = await read('crowd', 7)
      if (refs.length === 0) return
      delivered.push(...refs)
    }
  }
  await Promise.all([drain(), drain(), drain(), drain()])
  expect(delivered.sort()).toEqual(batch.map((event) => event.event_subject_ref).sort())
})

it('counts what it has read', async () => {
  await register('counting')
  await emit('a')
  await emit('b')
  await read('counting', 1)
  await read('counting', 10)
  expect(
    await db.owner(
      `select events_read, read_at is not null as dated from iu_core.event_reader where reader = 'counting'`,
    ),
  ).toEqual([{ events_read: '2', dated: true }])
})

it('is refused when nobody registered it', async () => {
  expect(await sqlstateOf(read('nobody'))).toBe('SD303')
  expect(await sqlstateOf(read(null))).toBe('SD303')
})

it.each([0, -1, 100_001, null])('is refused a limit of %s', async (limit) => {
  await register('limited')
  expect(await sqlstateOf(read('limited', limit))).toBe('SD001')
})

it.each([null, '', 'Capital', '1st', 'with space', 'x'.repeat(64)])('cannot be called "%s"', async (name) => {
  expect(await sqlstateOf(register(name))).toBe('SD001')
})

it.each(['authenticated', 'stagedoor_agent', 'stagedoor_reviewer', 'anon'])(
  'cannot be used by %s',
  async (role) => {
    await register('closed')
    for (const sql of [
      `select * from iu_core.fn_event_read('closed')`,
      `select iu_core.fn_event_reader_register('mine')`,
    ]) {
      expect(await sqlstateOf(db.as({ role, claims: { sub: 'eve' } }, (client) => client.query(sql)))).toBe(
        '42501',
      )
    }
  },
)
