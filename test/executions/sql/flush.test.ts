/** The log and what goes with it in one flush: fenced, all or nothing, each thing once, and never changed. */
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { type Engine, engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let engine: Engine

beforeEach(async () => {
  engine = await engines.alone()
})

const LOG = 'select event_type, seq, meta, result from noetl.event where execution_id = $1 order by seq'

it('writes events as they are given, with nothing for what is left out and with the engine that wrote them', async () => {
  const id = await engines.newId()
  const event = logOf(id)
  const whole = event('command.completed', {
    parent_event_id: '5',
    parent_execution_id: '6',
    node_id: 'a#1',
    node_name: 'a',
    node_type: 'command',
    status: 'completed',
    meta: { command_id: 'c', attempt: 1 },
    result: { status: 'ok', value: null },
    context: { args: {} },
    error: 'none',
    current_index: 0,
    current_item: null,
  })
  await engines.flush(engine, { events: [event('playbook.initialized').slice(0, 5), whole] })
  // The first was made second: seq is the caller's.
  const rows = await engines.rows('select * from noetl.event where execution_id = $1 order by seq', [id])
  expect(rows[0]).toMatchObject({
    seq: 1,
    parent_event_id: '5',
    parent_execution_id: '6',
    node_id: 'a#1',
    result: { status: 'ok', value: null },
    context: { args: {} },
    error: 'none',
    current_index: 0,
    worker_id: engine.id,
  })
  expect(rows[1]).toMatchObject({ seq: 2, event_type: 'playbook.initialized', meta: null, node_id: null })
})

it('refuses a part that it does not know, and then writes nothing', async () => {
  const id = await engines.newId()
  const batch = { events: [logOf(id)('playbook.initialized')], event: [] }
  expect(await sqlstateOf(engines.flush(engine, batch))).toBe('SD001')
  expect(await engines.rows(LOG, [id])).toEqual([])
})

it('refuses to go on after an event that is not in the log, and then writes nothing', async () => {
  const [id, other] = [await engines.newId(), await engines.newId()]
  const event = logOf(id)
  const [one, two] = [event('playbook.initialized'), event('execution.paused')]
  const after = (seq: number) => [[id, seq]]
  expect(await sqlstateOf(engines.flush(engine, { follows: after(1), events: [two] }))).toBe('SD814')
  await engines.flush(engine, { events: [one] })
  const both = { follows: after(2), events: [logOf(other)('playbook.initialized'), two] }
  expect(await sqlstateOf(engines.flush(engine, both))).toBe('SD814')
  expect(await engines.rows(LOG, [other])).toEqual([])
  await engines.flush(engine, { follows: after(1), events: [two] })
  expect(await engines.rows(LOG, [id])).toHaveLength(2)
})

describe('the fence', () => {
  it('refuses events of a shard that is not named, whoever holds it', async () => {
    const id = await engines.newId()
    const shard = await engines.one<number>('select noetl.fn_shard_of($1)', [id])
    const others = engine.shards.map((_, index) => index).filter((index) => engine.shards[index] !== shard)
    const without = {
      ...engine,
      shards: others.map((index) => engine.shards[index]!),
      epochs: others.map((index) => engine.epochs[index]!),
    }
    const batch = { events: [logOf(id)('playbook.initialized')] }
    expect(await sqlstateOf(engines.flush(without, batch))).toBe('SD001')
    expect(await engines.rows(LOG, [id])).toEqual([])
    await engines.flush(engine, batch)
  })

  it('refuses an owner of before, a wrong epoch, a shard of nobody, none at all, and writes nothing', async () => {
    const id = await engines.newId()
    const batch = { events: [logOf(id)('playbook.initialized')] }
    const refused = (as: Engine) => sqlstateOf(engines.flush(as, batch))
    const other = await engines.register()
    expect(await refused({ ...engine, id: other.id })).toBe('SD805')
    expect(
      await refused({ ...engine, epochs: engine.epochs.map((epoch) => String(BigInt(epoch) - 1n)) }),
    ).toBe('SD805')
    expect(await refused({ ...engine, epochs: engine.epochs.slice(1) })).toBe('SD805')
    expect(
      await refused({ ...engine, shards: [...engine.shards, 16], epochs: [...engine.epochs, '1'] }),
    ).toBe('SD805')
    expect(await refused({ ...engine, shards: [0, 0], epochs: [engine.epochs[0]!, engine.epochs[0]!] })).toBe(
      'SD805',
    )
    await engines.rows('select noetl.fn_engine_release_shards($1, array[4::smallint])', [engine.id])
    expect(await refused(engine)).toBe('SD805')
    expect(await engines.rows(LOG, [id])).toEqual([])
  })

  it('a zombie that waits while its shard is taken is refused', async () => {
    const id = await engines.newId()
    const next = await engines.register()
    const [taker, zombie] = [await db.session(), await db.session('stagedoor_worker')]
    await engines.expire(engine)
    await taker.query('begin')
    await taker.query('select * from noetl.fn_engine_heartbeat($1)', [next.id])
    const late = sqlstateOf(engines.flush(engine, { events: [logOf(id)('playbook.initialized')] }, zombie))
    await untilWaiting(db, zombie)
    await taker.query('commit')
    expect(await late).toBe('SD805')
    expect(await engines.rows(LOG, [id])).toEqual([])
  })

  it('a taker that rolls back leaves the flush to its owner', async () => {
    const id = await engines.newId()
    const [taker, owner] = [await db.session(), await db.session('stagedoor_worker')]
    await taker.query('begin')
    await taker.query('update noetl.execution_shard set owner = gen_random_uuid(), epoch = epoch + 1')
    const waiting = engines.flush(engine, { events: [logOf(id)('playbook.initialized')] }, owner)
    await untilWaiting(db, owner)
    await taker.query('rollback')
    await waiting
    expect(await engines.rows(LOG, [id])).toHaveLength(1)
  })

  it('a flush that came first is in the log before its shard changes its owner', async () => {
    const id = await engines.newId()
    const [owner, taker] = [await db.session('stagedoor_worker'), await db.session()]
    await owner.query('begin')
    await engines.flush(engine, { events: [logOf(id)('playbook.initialized')] }, owner)
    const taking = taker.query(
      'update noetl.execution_shard set owner = gen_random_uuid(), epoch = epoch + 1',
    )
    await untilWaiting(db, taker)
    await owner.query('commit')
    await taking
    expect(await engines.rows(LOG, [id])).toHaveLength(1)
    expect(await sqlstateOf(engines.flush(engine, {}))).toBe('SD805')
    await db.owner('update noetl.execution_shard set owner = null')
  })
})

describe('the log', () => {
  const meta = {
    loop_id: '7',
    shard_id: 'd9428888-122b-11e1-b85c-61cd3cbb3210',
    command_id: 'c',
    iter_index: 0,
  }
  it.each([
    ['an event id', 'step.enter', 'step.exit', { event_id: '77' }],
    ['a seq', 'step.enter', 'step.exit', { seq: 1 }],
    ['a command.issued of one command', 'command.issued', 'command.issued', { meta }],
    ['an end of one command', 'command.completed', 'command.completed', { meta }],
    ['an end of one command, the other way', 'command.completed', 'command.failed', { meta }],
    ['a loop.done of one loop', 'loop.done', 'loop.done', { meta }],
    ['a loop.fanin.completed of one loop', 'loop.fanin.completed', 'loop.fanin.completed', { meta }],
    ['an end of one shard', 'loop.shard.done', 'loop.shard.done', { meta }],
    ['an end of one shard, the other way', 'loop.shard.failed', 'loop.shard.done', { meta }],
  ])('takes %s only once in an execution', async (_, first, second, fields) => {
    const [id, other] = [await engines.newId(), await engines.newId()]
    const event = logOf(id)
    await engines.flush(engine, { events: [event(first, fields), logOf(other)(first, fields)] })
    expect(await sqlstateOf(engines.flush(engine, { events: [event(second, fields)] }))).toBe('23505')
    expect(await engines.rows(LOG, [id])).toHaveLength(1)
  })

  it('takes the same in another loop, and commands without end in each', async () => {
    const event = logOf(await engines.newId())
    const again = { ...meta, loop_id: '8', command_id: 'd' }
    await engines.flush(engine, {
      events: [
        'loop.done',
        'loop.fanin.completed',
        'loop.shard.done',
        'command.issued',
        'command.failed',
      ].flatMap((type) => [event(type, { meta }), event(type, { meta: again })]),
    })
  })

  it.each([
    ['a type that nobody knows', 'command.sent', { meta }],
    ['a loop without its id', 'loop.item', { meta: { iter_index: 0 } }],
    ['a shard without its id', 'loop.shard.done', { meta: { loop_id: '7' } }],
    ['a command without its id', 'command.issued', { meta: {} }],
    ['a command without meta', 'command.issued', {}],
    ['a seq of 0', 'step.enter', { seq: 0 }],
  ])('refuses %s', async (_, type, fields) => {
    const id = await engines.newId()
    expect(await sqlstateOf(engines.flush(engine, { events: [logOf(id)(type, fields)] }))).toBe('23514')
  })

  it('only grows, for its owner too: update, delete and truncate are refused, also on a partition', async () => {
    const id = await engines.newId()
    await engines.flush(engine, { events: [logOf(id)('playbook.initialized')] })
    const [partition] = await db.owner<{ name: string }>(
      'select tableoid::regclass::text as name from noetl.event where execution_id = $1',
      [id],
    )
    for (const table of ['noetl.event', partition!.name]) {
      expect(await sqlstateOf(db.owner(`update ${table} set error = 'x'`)), table).toBe('SD002')
      expect(await sqlstateOf(db.owner(`delete from ${table}`)), table).toBe('SD002')
      expect(await sqlstateOf(db.owner(`truncate ${table}`)), table).toBe('SD002')
    }
    for (const sql of ['update noetl.event set seq = 9', 'delete from noetl.event', 'truncate noetl.event']) {
      expect(await sqlstateOf(engines.rows(sql)), sql).toBe('42501')
    }
  })
})

it('takes commands away by loop or execution, then writes the new ones, and notifies nobody: its caller does after the commit', async () => {
  const [id, other] = [await engines.newId(), await engines.newId()]
  const listener = await db.session('stagedoor_worker')
  const calls: string[] = []
  listener.on('notification', ({ payload }) => calls.push(payload ?? ''))
  await listener.query('listen stagedoor')
  const command = (execution_id: string, loop_id: string, item_index: number, more = {}) => ({
    ...{ command_id: `${execution_id}:a#${loop_id}:${item_index}:1`, execution_id, loop_id, item_index },
    ...{ catalog_id: '1', node_id: `a#${loop_id}`, node_name: 'a', attempt: 1, ...more },
  })
  const later = { process_after: '2100-01-01T00:00:00Z' }
  await engines.flush(engine, { commands: [command(id, '1', 0, later), command(other, '1', 0, later)] })
  await engines.flush(engine, { commands: [command(id, '1', 1, { item: { a: 1 } }), command(id, '2', 0)] })
  await listener.query('select')
  expect(calls).toEqual([])
  await engines.flush(engine, {
    commands_cancelled: [{ execution_id: id, loop_id: '1' }],
    commands: [command(id, '1', 1, { item: null })],
  })
  const left = () =>
    engines.rows(
      'select execution_id, loop_id, item_index, item, shard_id = noetl.fn_shard_of(execution_id) as right_shard from noetl.command order by 1, 2',
    )
  expect(await left()).toEqual([
    { execution_id: id, loop_id: '1', item_index: 1, item: null, right_shard: true },
    { execution_id: id, loop_id: '2', item_index: 0, item: null, right_shard: true },
    { execution_id: other, loop_id: '1', item_index: 0, item: null, right_shard: true },
  ])
  await engines.flush(engine, { commands_cancelled: [{ execution_id: id, loop_id: null }] })
  expect(await left()).toHaveLength(1)
  await engines.flush(engine, { commands_cancelled: [{ execution_id: other, loop_id: null }] })
})

it('begins and ends waits', async () => {
  const id = await engines.newId()
  const waits = [
    { execution_id: id, node_id: 'a#1', kind: 'timer', wake_at: '2100-01-01T00:00:00Z' },
    { execution_id: id, node_id: 'b#1', kind: 'event', event_domain: 'iu', event_type: 'x', match: { a: 1 } },
  ]
  await engines.flush(engine, { waits })
  await engines.flush(engine, { waits_ended: [{ execution_id: id, node_id: 'a#1' }] })
  expect(await engines.rows('select node_id, kind, match from noetl.wait')).toEqual([
    { node_id: 'b#1', kind: 'event', match: { a: 1 } },
  ])
  await engines.flush(engine, { waits_ended: [{ execution_id: id, node_id: 'b#1' }] })
})

it('emits ends to the outbox: as whoever started it, through the engine, following from its cause', async () => {
  const workspace_id = await createWorkspace(db)
  const [id, free] = [await engines.newId(), await engines.newId()]
  const cause = await engines.one<string>(`select iu_core.fn_event_emit('dot', 'run.applied')`)
  const outbox = [
    {
      execution_id: id,
      event_type: 'execution.completed',
      workspace_id,
      playbook: 'hello',
      started_by: 'ann',
      cause,
    },
    {
      execution_id: free,
      event_type: 'execution.failed',
      playbook: 'hello',
      started_by: 'stagedoor_worker',
      cause: '00000000-0000-7000-8000-000000000000',
    },
  ]
  await engines.flush(engine, { outbox })
  const rows = await engines.rows(
    `select id, event_domain, event_type, workspace_id, causation_event_id, causation_depth, correlation_id, actor, actor_via, safe_payload
       from iu_core.event_outbox where event_subject_ref = any ($1) order by event_type`,
    [[`execution:${id}`, `execution:${free}`]],
  )
  expect(rows).toMatchObject([
    {
      ...{
        event_domain: 'dot',
        event_type: 'execution.completed',
        workspace_id,
        actor: 'ann',
        actor_via: 'stagedoor_worker',
      },
      ...{ causation_event_id: cause, causation_depth: 1, correlation_id: cause },
      safe_payload: { execution_id: id, playbook: 'hello', status: 'COMPLETED' },
    },
    {
      event_type: 'execution.failed',
      causation_event_id: null,
      causation_depth: 0,
      actor: 'stagedoor_worker',
      actor_via: null,
    },
  ])
  expect(rows[1]!.correlation_id).toBe(rows[1]!.id)
})
