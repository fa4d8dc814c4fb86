import { beforeEach, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { begun, emit, isReading, told, wait, wake } from './waiting-steps.ts'

const db = useDatabase()
const owner = () => db.pool('stagedoor_migrator')
beforeEach(() => db.owner('delete from noetl.wait; delete from noetl.inbox'))

it('wakes a timer when its time has come, once, and notifies the engines', async () => {
  const [due, later] = [await begun(db), await begun(db)]
  const listener = await db.session('stagedoor_worker')
  const notified = new Promise((resolve) =>
    listener.on('notification', (message) => resolve(message.payload)),
  )
  await listener.query('listen stagedoor')
  await wait(owner(), due, { kind: 'timer', wake_at: '2026-01-01Z' })
  await wait(owner(), later, { kind: 'timer', wake_at: '2999-01-01Z' })
  expect(await wake(db)).toBe(1)
  expect(await wake(db)).toBe(0)
  expect(await told(db, due)).toEqual([{ node_id: 'wait#1', status: 'elapsed' }])
  expect(await told(db, later)).toEqual([])
  expect(await notified).toMatch(/^inbox \d+$/)
})

it('wakes timers in the order of their times, as many as it is allowed to', async () => {
  const ids = [await begun(db), await begun(db), await begun(db)]
  for (const [index, id] of ids.entries())
    await wait(owner(), id, { kind: 'timer', wake_at: `2026-01-0${3 - index}Z` })
  expect(await wake(db, 2)).toBe(2)
  expect(await told(db, ids[0]!)).toEqual([])
  expect(await wake(db, 2)).toBe(1)
})

it('wakes by the first event that has the subject and contains what must match', async () => {
  const id = await begun(db)
  await wait(owner(), id, { subject: 'gate a', match: { open: true } })
  await wake(db)
  await emit(owner(), { subject: 'gate b', payload: { open: true } })
  await emit(owner(), { subject: 'gate a', payload: { open: false } })
  await emit(owner(), { type: 'issue_resolved', subject: 'gate a', payload: { open: true } })
  expect(await wake(db)).toBe(0)
  const event_id = await emit(owner(), { subject: 'gate a', payload: { open: true, by: 'ada' } })
  await emit(owner(), { subject: 'gate a', payload: { open: true, by: 'eve' } })
  expect(await wake(db)).toBe(1)
  expect(await told(db, id)).toEqual([
    {
      node_id: 'wait#1',
      status: 'received',
      event_id,
      subject: 'gate a',
      payload: { open: true, by: 'ada' },
    },
  ])
})

it('reads a backlog in pages, and no wait times out over events that are not read yet', async () => {
  const id = await begun(db)
  await wait(owner(), id, { subject: 'mine' })
  await wake(db)
  await db.owner(
    `insert into iu_core.event_outbox (event_domain, event_type, event_subject_ref, correlation_id, actor)
     select 'system', 'gate_changed', case when n = 25 then 'mine' else 'other' end, gen_random_uuid(), 'ada'
       from generate_series(1, 25) n`,
  )
  await db.owner(`update noetl.wait set wake_at = '2026-01-01Z'`)
  expect(await wake(db, 2)).toBe(0)
  expect(await wake(db, 2)).toBe(1)
  expect(await told(db, id)).toMatchObject([{ status: 'received' }])
})

it('times out when nothing came, but not when it came in time', async () => {
  const [alone, met] = [await begun(db), await begun(db)]
  await wait(owner(), alone, { subject: 'a', wake_at: '2026-01-01Z' })
  await wait(owner(), met, { subject: 'b', wake_at: '2026-01-01Z' })
  await emit(owner(), { subject: 'b' })
  expect(await wake(db)).toBe(2)
  expect(await told(db, alone)).toEqual([{ node_id: 'wait#1', status: 'timed_out' }])
  expect(await told(db, met)).toMatchObject([{ status: 'received' }])
})

it('receives only events of its own workspace and of the system, unless the execution belongs to no workspace', async () => {
  const [mine, other] = [await createWorkspace(db), await createWorkspace(db)]
  const waiting = async (workspace: string | null, event_type: string) => {
    const id = await begun(db, workspace)
    await wait(owner(), id, { event_type, ...(event_type === 'run.applied' && { event_domain: 'dot' }) })
    return id
  }
  const local = await waiting(mine, 'run.applied')
  const global = await waiting(null, 'run.applied')
  const system = await waiting(mine, 'gate_changed')
  for (const caughtUp of [false, true]) {
    if (caughtUp) await wake(db)
    await emit(owner(), { domain: 'dot', type: 'run.applied', workspace: caughtUp ? other : null })
  }
  await emit(owner())
  await wake(db)
  expect(await told(db, local)).toEqual([])
  expect(await told(db, global)).toHaveLength(1)
  expect(await told(db, system)).toHaveLength(1)
  await emit(owner(), { domain: 'dot', type: 'run.applied', workspace: mine })
  expect(await wake(db)).toBe(1)
  expect(await told(db, local)).toHaveLength(1)
})

it('reads the outbox only while somebody waits for it, so that nobody keeps its partitions for nothing', async () => {
  const id = await begun(db)
  await wake(db)
  expect(await isReading(db)).toBe(false)
  await wait(owner(), id, { kind: 'timer', wake_at: '2999-01-01Z' })
  await wake(db)
  expect(await isReading(db)).toBe(false)
  const listening = await begun(db)
  await wait(owner(), listening)
  await wake(db)
  expect(await isReading(db)).toBe(true)
  await emit(owner())
  expect(await wake(db)).toBe(1)
  await wake(db)
  expect(await isReading(db)).toBe(false)
})

it('reads past events again when its reader was deleted', async () => {
  const id = await begun(db)
  await wait(owner(), id)
  await wake(db)
  await db.owner(`select iu_core.fn_event_reader_delete('executions')`)
  await emit(owner())
  expect(await wake(db)).toBe(1)
  expect(await told(db, id)).toHaveLength(1)
})

it('refuses a limit that makes no sense', async () => {
  expect(await sqlstateOf(wake(db, 0))).toBe('SD001')
})

it('finds what it needs by index, however many timers wait', async () => {
  const plan = async (sql: string) => {
    const session = await db.session()
    await session.query('set enable_seqscan = off')
    const { rows } = await session.query(`explain ${sql}`)
    return JSON.stringify(rows)
  }
  expect(await plan(`select from noetl.wait where kind = 'event'`)).toContain('wait_event')
  expect(await plan(`select from noetl.wait where kind = 'approval'`)).toContain('wait_approval')
  expect(await plan(`select from noetl.wait where not caught_up and kind <> 'timer'`)).toContain('wait_fresh')
  expect(await plan('select from noetl.wait where wake_at <= now() order by wake_at limit 9')).toContain(
    'wait_wake_at',
  )
})
