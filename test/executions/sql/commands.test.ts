/** Commands of loops: leased to one engine at a time, ended once, taken back from the dead. */
import { beforeEach, expect, it } from 'vitest'
import { fastestMs } from '../../support/cpu.ts'
import { useDatabase } from '../../support/database.ts'
import { explainedSession, mostRemoved } from '../../support/plans.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { type Engine, engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let engine: Engine

interface Command extends Record<string, unknown> {
  command_id: string
  execution_id: string
  lease_epoch: number
  item_index: number
}

beforeEach(async () => {
  await db.owner('delete from noetl.command')
  await db.owner('delete from noetl.inbox')
  engine = await engines.alone()
})

async function put(count: number, more: Record<string, unknown> = {}): Promise<string> {
  const execution_id = await engines.newId()
  const commands = Array.from({ length: count }, (_, item_index) => ({
    ...{ command_id: `${execution_id}:a#1:${item_index}:1`, execution_id, catalog_id: '1', loop_id: '7' },
    ...{ node_id: 'a#1', node_name: 'a', item_index, attempt: 1, ...more },
  }))
  await engines.flush(engine, { commands })
  return execution_id
}
const CLAIM = 'select * from noetl.fn_command_claim($1, $2)'
const END = 'select * from noetl.fn_command_end($1, $2) as id'
const claim = (limit = 100, as = engine) => engines.rows<Command>(CLAIM, [as.id, limit])
const outcome = ({ command_id, lease_epoch }: Command, more = {}) => ({
  ...{ command_id, lease_epoch, status: 'completed', result: { value: 1 }, ...more },
})
const end = async (outcomes: unknown[], as = engine) =>
  (await engines.rows<{ id: string }>(END, [as.id, JSON.stringify(outcomes)])).map((row) => row.id)
const told = () => engines.rows('select execution_id, kind, body from noetl.inbox order by inbox_id')

it('leases what is due, oldest first, and each command once', async () => {
  await put(5)
  await put(3, { process_after: '2100-01-01T00:00:00Z' })
  const first = await claim(2)
  expect(first.map((command) => [command.item_index, command.lease_epoch])).toEqual([
    [0, 1],
    [1, 1],
  ])
  expect(await claim()).toHaveLength(3)
  expect(await claim()).toEqual([])
})

it('changes no index when it leases', async () => {
  await put(200)
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await session.query(CLAIM, [engine.id, 200])
  const { rows } = await session.query(
    `select pg_stat_get_xact_tuples_updated(c.oid)::int as leased, pg_stat_get_xact_tuples_hot_updated(c.oid)::int as hot
       from pg_class c where c.oid = 'noetl.command'::regclass`,
  )
  await session.query('commit')
  expect(rows).toEqual([{ leased: 200, hot: 200 }])
})

/** Of a table that is empty when the plans are made. Of one whose rows have gone the planner expects no row; of one without pages a few. */
const STATISTICS = {
  'without pages': async () => db.owner('vacuum analyze noetl.command'),
  'whose rows have gone': async () => {
    await put(300)
    await db.owner('delete from noetl.command')
    await db.owner('analyze noetl.command')
  },
}

it.each(Object.entries(STATISTICS))(
  'claims and ends read a few rows of many, even with plans made for a table %s',
  async (_, statistics) => {
    await db.owner('alter table noetl.command set (autovacuum_enabled = off)')
    await db.owner('truncate noetl.command')
    await statistics()
    const session = await db.session('stagedoor_worker')
    const readSoFar = async (): Promise<number> =>
      (
        await session.query<{ read: number }>(
          `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read from pg_stat_xact_user_tables
          where relid = 'noetl.command'::regclass`,
        )
      ).rows[0]!.read
    const readByOne = async () => {
      await session.query('begin')
      const before = await readSoFar()
      const claimed = (await session.query<Command>(CLAIM, [engine.id, 1])).rows
      const between = await readSoFar()
      await session.query(END, [engine.id, JSON.stringify(claimed.map((command) => outcome(command)))])
      const after = await readSoFar()
      await session.query('commit')
      expect(claimed).toHaveLength(1)
      return { claim: between - before, end: after - between }
    }
    // A function that is called for the sixth time in a session keeps one plan.
    await put(7)
    for (let n = 0; n < 7; n++) await readByOne()
    await put(5000)
    const { claim, end } = await readByOne()
    expect(claim).toBeLessThan(200)
    expect(end).toBeLessThan(20)
  },
)

it('executions take turns: a large fan-out that came first leaves the others their part', async () => {
  const large = await put(500)
  const small = await put(4)
  const one = await put(1)
  const share = (commands: Command[], id: string) =>
    commands.filter((command) => command.execution_id === id).length
  const claimed = await claim(30)
  expect(claimed).toHaveLength(30)
  expect([share(claimed, small), share(claimed, one), share(claimed, large)]).toEqual([4, 1, 25])
  expect(await claim(30)).toHaveLength(30)
})

it('comes to every execution, however many have commands', async () => {
  const ids = new Set<string>()
  for (let n = 0; n < 150; n += 1) ids.add(await put(2))
  const seen = new Set<string>()
  for (let round = 0; round < 400 && seen.size < ids.size; round += 1) {
    for (const { execution_id } of await claim(2)) seen.add(execution_id)
  }
  expect(seen).toEqual(ids)
})

it('comes to what is due behind any number that is not, at once', async () => {
  // Ids are times: one execution of yesterday, a hundred of a moment ago that are to be tried again, and then the one.
  await db.owner(
    `insert into noetl.command (command_id, execution_id, shard_id, catalog_id, loop_id, node_id, node_name, item_index, attempt, process_after)
     select n, noetl.fn_snowflake_floor(now() - case n when 0 then '1 day' else '10 seconds' end::interval) + (n::bigint << 22),
            0, 1, 7, 'a#1', 'a', 0, 2, now() + interval '1 hour' from generate_series(0, 100) n`,
  )
  const due = await put(10)
  expect((await claim(50)).map(({ execution_id }) => execution_id)).toEqual(Array(10).fill(due))
})

it('goes on behind who was served last, so that in one round everybody has had a turn', async () => {
  await db.owner(
    `insert into noetl.command (command_id, execution_id, shard_id, catalog_id, loop_id, node_id, node_name, item_index, attempt)
     select x || ':' || n, noetl.fn_snowflake_floor(now() - case x when 0 then '1 day' else '0' end::interval) + x, 0, 1, 7, 'a#1', 'a', n, 1
       from generate_series(0, 199) x cross join generate_series(1, 20) n`,
  )
  for (const limit of [10, 100]) {
    const seen = new Set<string>()
    for (let round = 0; round < 200 / Math.min(limit, 64) + 1; round += 1)
      for (const { execution_id } of await claim(limit)) seen.add(execution_id)
    expect(seen.size, `claims of ${limit}`).toBe(200)
  }
})

it('gives an engine what needs no handler that it lacks, and the others take their turns all the same', async () => {
  const free = await put(2)
  const both = await put(3, { needs: ['a', 'b'] })
  const one = await put(40, { needs: ['a'] })
  const share = (commands: Command[], id: string) =>
    commands.filter((command) => command.execution_id === id).length
  expect((await claim()).map((command) => command.execution_id)).toEqual([free, free])
  expect(await claim()).toEqual([])
  const [alone, whole] = [
    await engines.register({ handlers: ['a', 'z'] }),
    await engines.register({ handlers: ['b', 'a'] }),
  ]
  const some = await claim(4, alone)
  expect(share(some, one)).toBe(4)
  expect(some.map((command) => command.item_index)).toEqual([0, 1, 2, 3])
  const shared = await claim(10, whole)
  expect([share(shared, both), share(shared, one)]).toEqual([3, 7])
  await engines.expire(whole)
  await engines.rows('select noetl.fn_engine_reap()')
  expect(await claim()).toEqual([])
  expect(share(await claim(100, alone), one)).toBe(36)
})

it('finds what an engine can run behind any number that it cannot', async () => {
  const execution_id = await engines.newId()
  const command = (item_index: number, needs: string[]) => ({
    ...{ command_id: `${execution_id}:a#1:${item_index}:1`, execution_id, catalog_id: '1', loop_id: '7' },
    ...{ node_id: 'a#1', node_name: 'a', item_index, attempt: 1, needs },
  })
  const others = Array.from({ length: 300 }, (_, index) => command(index, ['a']))
  await engines.flush(engine, { commands: [...others, command(300, []), command(301, [])] })
  expect((await claim(1)).concat(await claim(5)).map((found) => found.item_index)).toEqual([300, 301])
})

it('a step is handed over once: not while it is out, nor when its end is in the inbox or in the log', async () => {
  const execution_id = await engines.newId()
  const command_id = `${execution_id}:a#1:1`
  const step = {
    ...{
      command_id,
      execution_id,
      catalog_id: '1',
      node_id: 'a#1',
      node_name: 'a',
      attempt: 1,
      needs: ['a'],
    },
    ...{ scope: { value: { args: {} }, cause: null }, handed_over: true },
  }
  const worker = await engines.register({ drives: false, handlers: ['a'] })
  const handOver = () => engines.flush(engine, { commands: [step] })
  await handOver()
  await handOver()
  const [claimed, ...more] = await claim(10, worker)
  expect(more).toEqual([])
  expect(claimed).toMatchObject({ loop_id: null, item_index: null, scope: step.scope, needs: ['a'] })
  await handOver()
  expect(await claim(10, worker)).toEqual([])

  expect(await end([outcome(claimed!)], worker)).toEqual([command_id])
  await handOver()
  expect(await engines.rows('select from noetl.command')).toEqual([])
  const [ended] = await engines.rows<{ inbox_id: string; body: object }>(
    'select inbox_id, body from noetl.inbox',
  )
  expect(ended!.body).toMatchObject({ command_id, node_id: 'a#1', loop_id: null, index: null, attempt: 1 })

  // The owner consumes the end and hands over again in the same flush, and after it.
  const completed = logOf(execution_id)('command.completed', { meta: { command_id } })
  await engines.flush(engine, { events: [completed], inbox: [ended!.inbox_id], commands: [step] })
  await handOver()
  expect(await engines.rows('select from noetl.command')).toEqual([])
  expect(await engines.one('select noetl.fn_command_is_dispatched($1, $2)', [execution_id, command_id])).toBe(
    true,
  )
  expect(await engines.one('select noetl.fn_command_is_dispatched($1, $2)', [execution_id, 'other'])).toBe(
    false,
  )
})

it('finds out by index whether a command is out, however many messages its execution has', async () => {
  const execution_id = await engines.newId()
  await db.owner(
    `insert into noetl.inbox (execution_id, shard_id, kind, body)
     select $1, noetl.fn_shard_of($1), 'command_ended', jsonb_build_object('command_id', 'item ' || n) from generate_series(1, 30000) n`,
    [execution_id],
  )
  await db.owner('analyze noetl.inbox')
  const look = () =>
    engines.rows(
      `select n from generate_series(29901, 30100) n where noetl.fn_command_is_dispatched($1, 'item ' || n)`,
      [execution_id],
    )
  expect(await look()).toHaveLength(100)
  // One after the other through all of them took seconds.
  expect(await fastestMs(look, 1500)).toBeLessThan(1500)
})

it('an owner that releases its shard while the step ends elsewhere waits for nobody and adds nothing', async () => {
  for (let round = 0; round < 30; round += 1) {
    const execution_id = await engines.newId()
    const step = {
      ...{
        command_id: `${execution_id}:a#1:1`,
        execution_id,
        catalog_id: '1',
        node_id: 'a#1',
        node_name: 'a',
      },
      ...{ attempt: 1, scope: { value: {}, cause: null }, handed_over: true },
    }
    await engines.flush(engine, { commands: [step] })
    const [claimed] = await claim(1)
    await Promise.all([end([outcome(claimed!)]), engines.flush(engine, { commands: [step] })])
    expect(await engines.rows('select from noetl.command')).toEqual([])
  }
  expect(await told()).toHaveLength(30)
})

it('an end notifies nobody: its caller wakes the owner after the commit', async () => {
  const listener = await db.session()
  const calls: string[] = []
  listener.on('notification', ({ payload }) => calls.push(payload ?? ''))
  await listener.query('listen stagedoor')
  await put(2)
  await end((await claim(2)).map((command) => outcome(command)))
  await listener.query('select')
  expect(calls).toEqual([])
})

it('engines that claim at once get every command exactly once', async () => {
  await put(150)
  await put(150)
  const claimed = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const own = await engines.register({ drives: false })
      const mine: string[] = []
      for (;;) {
        const commands = await claim(7, own)
        if (commands.length === 0) return mine
        mine.push(...commands.map((command) => command.command_id))
      }
    }),
  )
  expect(claimed.flat()).toHaveLength(300)
  expect(new Set(claimed.flat()).size).toBe(300)
})

it('two claims: the second passes over what the first has not committed', async () => {
  await put(4)
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  expect((await session.query(CLAIM, [engine.id, 3])).rowCount).toBe(3)
  expect(await claim()).toHaveLength(1)
  await session.query('rollback')
  expect(await claim()).toHaveLength(3)
})

it('refuses a claim without a living lease', async () => {
  await engines.expire(engine)
  expect(await sqlstateOf(claim())).toBe('SD805')
  expect(await sqlstateOf(claim(1, { ...engine, id: '00000000-0000-7000-8000-000000000000' }))).toBe('SD805')
  expect(await sqlstateOf(claim(0))).toBe('SD001')
})

it('an end moves the command into the inbox of its execution, once', async () => {
  const id = await put(2)
  const [first, second] = await claim()
  const outcomes = [
    outcome(first!, { result: { value: { n: 1 } } }),
    outcome(second!, { status: 'failed', result: null, error: 'no', retryable: false }),
  ]
  expect((await end(outcomes)).sort()).toEqual([first!.command_id, second!.command_id].sort())
  expect(await end(outcomes)).toEqual([])
  const common = { node_id: 'a#1', loop_id: '7', attempt: 1, worker: 'test', ms: null }
  expect(await told()).toEqual(
    expect.arrayContaining([
      {
        ...{ execution_id: id, kind: 'command_ended' },
        body: {
          ...common,
          command_id: first!.command_id,
          index: 0,
          status: 'completed',
          result: { value: { n: 1 } },
          error: null,
          retryable: true,
        },
      },
      {
        ...{ execution_id: id, kind: 'command_ended' },
        body: {
          ...common,
          command_id: second!.command_id,
          index: 1,
          status: 'failed',
          result: null,
          error: 'no',
          retryable: false,
        },
      },
    ]),
  )
  expect(await engines.rows('select from noetl.command')).toEqual([])
})

it('an end of another engine, of an old lease or with no known status does not count', async () => {
  await put(1)
  const [command] = await claim()
  const other = await engines.register()
  expect(await end([outcome(command!)], other)).toEqual([])
  expect(await end([outcome(command!, { lease_epoch: 7 })])).toEqual([])
  expect(await end([outcome(command!, { status: 'done' })])).toEqual([])
  expect(await told()).toEqual([])
  expect(await sqlstateOf(engines.rows(END, [engine.id, '{}']))).toBe('SD001')
})

it('what dead engines held is free again, and their late end does not count', async () => {
  await put(3)
  const held = await claim()
  await engines.expire(engine)
  expect(await engines.one('select noetl.fn_engine_reap()')).toBe(3)
  expect(await end(held.map((command) => outcome(command)))).toEqual([])
  const next = await engines.register()
  const again = await claim(100, next)
  expect(again.map((command) => command.lease_epoch)).toEqual([2, 2, 2])
  expect(
    await end(
      again.map((command) => outcome(command)),
      next,
    ),
  ).toHaveLength(3)
  expect(await told()).toHaveLength(3)
})

it('an end that waits for the reaper does not count; one that came first is not undone', async () => {
  await put(2)
  const [first, second] = await claim()
  const [reaper, late] = [await db.session(), await db.session('stagedoor_worker')]
  await reaper.query('begin')
  await engines.expire(engine)
  await reaper.query('select noetl.fn_engine_reap()')
  const waiting = late.query(END, [engine.id, JSON.stringify([outcome(first!)])])
  await untilWaiting(db, late)
  await reaper.query('commit')
  expect((await waiting).rows).toEqual([])

  const next = await engines.register()
  const held = await claim(100, next)
  const ending = held.find((command) => command.command_id === second!.command_id)!
  await late.query('begin')
  expect((await late.query(END, [next.id, JSON.stringify([outcome(ending)])])).rowCount).toBe(1)
  await engines.expire(next)
  // The other one is free; the engine stays until it is known what became of this one.
  expect(await engines.one('select noetl.fn_engine_reap()')).toBe(1)
  expect(await engines.rows('select from noetl.engine')).toHaveLength(1)
  await late.query('commit')
  expect(await engines.one('select noetl.fn_engine_reap()')).toBe(0)
  expect(await engines.rows('select from noetl.engine')).toEqual([])
  expect(await told()).toHaveLength(1)
})

it('a command under which engines die 20 times has failed, and is not tried again', async () => {
  const id = await put(1)
  for (let death = 1; death <= 20; death += 1) {
    const dying = await engines.register()
    expect(await claim(1, dying), `death ${death}`).toHaveLength(1)
    await engines.expire(dying)
    await engines.rows('select noetl.fn_engine_reap()')
  }
  expect(await engines.rows('select from noetl.command')).toEqual([])
  expect(await told()).toMatchObject([
    {
      execution_id: id,
      body: { status: 'failed', error: 'its worker died 20 times', retryable: false, index: 0 },
    },
  ])
})

it('a command that ends its engines takes no neighbours with it: after three deaths each is claimed without another such one', async () => {
  await put(5)
  for (let round = 1; round <= 30; round += 1) {
    const some = await engines.register()
    const held = await claim(100, some)
    // The first item ends every engine that has it, before the others have ended.
    if (held.every(({ item_index }) => item_index !== 0))
      await end(
        held.map((one) => outcome(one)),
        some,
      )
    await engines.expire(some)
    await engines.rows('select noetl.fn_engine_reap()')
  }
  const ends = (await told()) as { body: { index: number; status: string } }[]
  expect(ends.map(({ body }) => [body.index, body.status]).sort()).toEqual([
    [0, 'failed'],
    [1, 'completed'],
    [2, 'completed'],
    [3, 'completed'],
    [4, 'completed'],
  ])
})

it('an engine that goes because of an error charges only what it had begun', async () => {
  await put(3)
  const [first] = await claim()
  await engines.rows('select noetl.fn_engine_leave($1, $2)', [engine.id, [first!.command_id]])
  expect(await engines.rows('select item_index, leased_by, crashes from noetl.command order by 1')).toEqual(
    [1, 0, 0].map((crashes, item_index) => ({ item_index, leased_by: null, crashes })),
  )
})

it('leaving frees its commands without a crash', async () => {
  await put(1)
  await claim()
  await engines.rows('select noetl.fn_engine_leave($1)', [engine.id])
  expect(await engines.rows('select leased_by, crashes from noetl.command')).toEqual([
    { leased_by: null, crashes: 0 },
  ])
})

it('says which of its commands an engine need not run any more', async () => {
  const [id, other] = [await put(1), await put(1)]
  const held = (await claim()).map((command) => command.command_id)
  await engines.flush(engine, { commands_cancelled: [{ execution_id: id, loop_id: null }] })
  const CANCELLED = 'select * from noetl.fn_command_cancelled($1, $2) as id'
  expect(await engines.rows(CANCELLED, [engine.id, held])).toEqual([{ id: `${id}:a#1:0:1` }])
  expect(await engines.rows(CANCELLED, [(await engines.register()).id, [`${other}:a#1:0:1`]])).toHaveLength(1)
})

it('an end and the flush that ends its loop never wait for each other in a circle', async () => {
  for (let round = 0; round < 20; round += 1) {
    const id = await put(40)
    const held = await claim()
    const backwards = held.map((command) => outcome(command)).reverse()
    await Promise.all([
      end(backwards),
      engines.flush(engine, { commands_cancelled: [{ execution_id: id, loop_id: null }] }),
    ])
    expect(await engines.rows('select from noetl.command')).toEqual([])
  }
})

it('answers what a loop was begun with, and refuses one that is not there', async () => {
  const id = await engines.newId()
  const meta = { loop_id: '7', collection_size: 1, mode: 'parallel' }
  await engines.flush(engine, { events: [logOf(id)('loop.started', { meta, context: { collection: [1] } })] })
  expect(await engines.one('select noetl.fn_loop_scope($1, 7)', [id])).toEqual({ collection: [1] })
  expect(await sqlstateOf(engines.rows('select noetl.fn_loop_scope($1, 8)', [id]))).toBe('SD803')
})

const paused = (execution_id: string, isPaused: boolean) => ({ paused: [{ execution_id, paused: isPaused }] })
const begun = (execution_id: string) => ({
  checkpoints: [
    { execution_id, epoch: '1', last_event_id: execution_id, last_seq: 1, fold_version: 1, state: null },
  ],
})

it('of a paused execution nothing is claimed, neither what was handed out nor what comes or is freed later', async () => {
  const id = await put(3)
  await engines.flush(engine, begun(id))
  const [inHand] = await claim(1)
  await engines.flush(engine, paused(id, true))
  expect(await claim()).toEqual([])
  const other = await put(2)
  expect((await claim()).map((command) => command.execution_id)).toEqual([other, other])

  // One that its owner hands over, one whose worker dies.
  const handed = {
    command_id: `${id}:b#1:1`,
    execution_id: id,
    catalog_id: '1',
    node_id: 'b#1',
    node_name: 'b',
    attempt: 1,
  }
  await engines.flush(engine, { commands: [{ ...handed, scope: { value: null }, handed_over: true }] })
  await db.owner('update noetl.command set leased_by = null where command_id = $1', [inHand!.command_id])
  expect(await claim()).toEqual([])

  await engines.flush(engine, paused(id, false))
  expect(await claim()).toHaveLength(4)
})

it('a retry of a paused execution keeps its time', async () => {
  const later = '2100-01-01T00:00:00Z'
  const id = await put(1, { process_after: later })
  await engines.flush(engine, { ...begun(id), ...paused(id, true) })
  await engines.flush(engine, paused(id, false))
  expect(await claim()).toEqual([])
  const rows = await engines.rows('select process_after from noetl.command where execution_id = $1', [id])
  expect(rows).toEqual([{ process_after: new Date(later) }])
})

it('what is claimed while the pause is written still runs; after its commit nothing more is claimed', async () => {
  const id = await put(400)
  await engines.flush(engine, begun(id))
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await engines.flush(engine, paused(id, true), session)
  expect(await claim(10)).toHaveLength(10)
  const claims = Array.from({ length: 8 }, () => claim(10))
  await session.query('commit')
  const after = Array.from({ length: 8 }, () => claim(10))
  expect((await Promise.all(after)).flat()).toEqual([])
  const taken = (await Promise.all(claims)).flat().length + 10
  await engines.flush(engine, paused(id, false))
  expect(await claim(1000)).toHaveLength(400 - taken)
})

it('many paused executions hide none that is not', async () => {
  for (let n = 0; n < 70; n++) {
    const id = await put(1)
    await engines.flush(engine, { ...begun(id), ...paused(id, true) })
  }
  const open = await put(1)
  expect((await claim(5)).map((command) => command.execution_id)).toEqual([open])
})

it('commands that end together are not compared with each other, however few the planner expected', async () => {
  await put(200)
  const { plansOf } = await explainedSession(db)
  const outcomes = (await claim(200)).map((command) => outcome(command))
  const plans = await plansOf(async (session) => {
    expect((await session.query(END, [engine.id, JSON.stringify(outcomes)])).rowCount).toBe(200)
  })
  expect(plans.join('\n')).toContain('command')
  expect(mostRemoved(plans)).toBeLessThan(2000)
})
