/** Events that came before the wait: received from the start of the execution on, once, and found by index. */
import { expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { newExecution } from '../projection/log.ts'
import { emit, told, wake } from './waiting-steps.ts'

const db = useDatabase()
const owner = () => db.pool('stagedoor_migrator')

/** An execution that begins now, by the clock of the database. */
async function begun(): Promise<string> {
  await db.owner('select pg_sleep(0.002)')
  const id = newExecution()
  await db.owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, meta)
     values ($1, $1::bigint + 1, 1, 'playbook.initialized', 1, '{"started_by": "ada"}')`,
    [id],
  )
  return id
}

interface Looking {
  readonly node?: string
  readonly subject?: string
  readonly match?: object
  readonly since_node?: string
}

/** As the flush of an engine writes it. */
async function wait(execution: string, { node = 'wait#1', ...what }: Looking = {}): Promise<void> {
  const row = {
    execution_id: execution,
    node_id: node,
    kind: 'event',
    event_domain: 'system',
    event_type: 'gate_changed',
    ...what,
  }
  await db.owner('select noetl.fn_execution_flush_waits($1)', [JSON.stringify({ waits: [row] })])
}

for (const [form, what] of Object.entries({
  'that names a subject': { subject: 'mine' },
  'that wants something of the payload': { match: { n: 1 } },
  'that names both': { subject: 'mine', match: { n: 1 } },
  'that names nothing': {},
}))
  it(`a wait ${form} receives an event that came before it, if its execution had begun`, async () => {
    const signal = { subject: 'mine', payload: { n: 1 } }
    await emit(owner(), signal)
    const id = await begun()
    await wait(id, what)
    expect(await wake(db)).toBe(0)
    const late = await begun()
    if (Object.keys(what).length > 0) await emit(owner(), { subject: 'other', payload: { n: 2 } })
    const first = await emit(owner(), signal)
    await emit(owner(), signal)
    await wait(late, what)
    expect(await wake(db)).toBe(2)
    for (const one of [id, late])
      expect(await told(db, one)).toMatchObject([{ status: 'received', event_id: first, node_id: 'wait#1' }])
    expect(await wake(db)).toBe(0)
  })

it('a later wait of the same execution does not receive what an earlier one was woken by', async () => {
  const id = await begun()
  const [one, two] = [await emit(owner(), { subject: 's' }), await emit(owner(), { subject: 's' })]
  const heard: unknown[] = []
  for (const [n, what] of [{ subject: 's' }, {}, { subject: 's' }].entries()) {
    await wait(id, { ...what, node: `wait#${n + 1}` })
    await wake(db)
    heard.splice(0, heard.length, ...(await told(db, id)).map(({ event_id }) => event_id))
  }
  expect(heard).toEqual([one, two])
  const three = await emit(owner(), { subject: 's' })
  expect(await wake(db)).toBe(1)
  expect((await told(db, id)).map(({ event_id }) => event_id)).toEqual([one, two, three])
})

it('a wait that names a step receives what came since that step was entered', async () => {
  const id = await begun()
  await emit(owner(), { subject: 's' })
  await db.owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, node_id, node_name, meta)
     select $1, event_id + 1, 2, 'command.issued', catalog_id, 'order#1', 'order', '{"command_id": "c"}'
       from noetl.event where execution_id = $1 and seq = 1`,
    [id],
  )
  await wait(id, { subject: 's', since_node: 'order#1' })
  expect(await wake(db)).toBe(0)
  const since = await emit(owner(), { subject: 's' })
  await wait(id, { subject: 's', since_node: 'order#1', node: 'wait#2' })
  expect(await wake(db)).toBe(2)
  expect((await told(db, id)).map(({ event_id }) => event_id)).toEqual([since, since])
})

it('an event that is not committed when the wait begins is received when it is', async () => {
  const id = await begun()
  const session = await db.session()
  await session.query('begin')
  const event = await emit(session, { subject: 'open' })
  await wait(id, { subject: 'open' })
  expect(await wake(db)).toBe(0)
  await session.query('commit')
  expect(await wake(db)).toBe(1)
  expect(await told(db, id)).toMatchObject([{ event_id: event }])
})

it('among a hundred thousand events of its type a wait finds its own by index', async () => {
  const id = await begun()
  await db.owner(
    `insert into iu_core.event_outbox (event_domain, event_type, event_subject_ref, correlation_id, actor)
     select 'system', 'gate_changed', 'subject ' || n, gen_random_uuid(), 'ada' from generate_series(1, 100000) n`,
  )
  await db.owner('analyze iu_core.event_outbox')
  const [plan] = await db.owner<{ 'QUERY PLAN': unknown }>(
    `explain (analyze, buffers, format json)
     select from iu_core.event_outbox e
      where e.event_domain = 'system' and e.event_type = 'gate_changed' and e.event_subject_ref = 'subject 70000'
        and e.id >= iu_core.fn_time_uuid_floor(now() - interval '1 hour')`,
  )
  const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read } = (
    plan!['QUERY PLAN'] as { Plan: Record<string, number> }[]
  )[0]!.Plan
  expect(hit! + read!).toBeLessThan(100)
  await wait(id, { subject: 'subject 70000' })
  expect(await wake(db)).toBe(1)
})
