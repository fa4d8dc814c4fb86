import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()

const emit = `select iu_core.fn_event_emit('system', 'gate_changed', p_event_subject_ref => $1)`

async function register(reader: string): Promise<void> {
  await db.pool('stagedoor_worker').query('select iu_core.fn_event_reader_register($1)', [reader])
}

async function read(reader: string, limit = 1000): Promise<string[]> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ event_subject_ref: string }>('select event_subject_ref from iu_core.fn_event_read($1, $2)', [
      reader,
      limit,
    ])
  return rows.map((row) => row.event_subject_ref)
}

it('delivers an event whose transaction committed after later ones were read', async () => {
  await register('late')
  const early = await db.session('stagedoor_worker')
  const late = await db.session('stagedoor_worker')
  await early.query('begin')
  await early.query(emit, ['early, commits last'])
  await late.query(emit, ['late, commits first'])
  expect(await read('late')).toEqual(['late, commits first'])
  await early.query('commit')
  expect(await read('late')).toEqual(['early, commits last'])
  expect(await read('late')).toEqual([])
})

it('delivers what the reading transaction itself writes after its read', async () => {
  await register('own')
  const reader = await db.session('stagedoor_worker')
  await reader.query('begin')
  await reader.query(emit, ['before'])
  // Another transaction completes, so that the reader is below the next snapshot's xmax.
  await db.pool('stagedoor_worker').query(emit, ['beside'])
  await reader.query(`select * from iu_core.fn_event_read('own')`)
  await reader.query(emit, ['after'])
  await reader.query('commit')
  expect(await read('own')).toEqual(['before', 'after'])
})

it('delivers again what was read in a transaction that rolled back', async () => {
  await register('rolled-back')
  const reader = await db.session('stagedoor_worker')
  await reader.query(emit, ['once'])
  await reader.query('begin')
  expect((await reader.query(`select * from iu_core.fn_event_read('rolled-back')`)).rowCount).toBe(1)
  await reader.query('rollback')
  expect(await read('rolled-back')).toEqual(['once'])
})

it('never delivers an event that rolled back', async () => {
  await register('ghost')
  const writer = await db.session('stagedoor_worker')
  await writer.query('begin')
  await writer.query(emit, ['ghost'])
  await read('ghost')
  await writer.query('rollback')
  expect(await read('ghost')).toEqual([])
})

it('reads a window larger than the limit in pages, in order, without what commits meanwhile', async () => {
  await register('pages')
  const writer = await db.session('stagedoor_worker')
  await writer.query('begin')
  for (let i = 0; i < 25; i++) await writer.query(emit, [`page ${i}`])
  await writer.query('commit')
  const first = await read('pages', 10)
  await writer.query(emit, ['meanwhile'])
  const rest = [...(await read('pages', 10)), ...(await read('pages', 10))]
  expect([...first, ...rest]).toEqual(Array.from({ length: 25 }, (_, i) => `page ${i}`))
  expect(await read('pages', 10)).toEqual(['meanwhile'])
})
