/** Starting a playbook: once for a key, with arguments it knows, following from what the caller follows from. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { engineDriver } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let catalogId: string
let workspace: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  const playbook = { name: 'hello', args: { n: 1, who: null }, start: 'a', steps: [{ step: 'a' }] }
  catalogId = await engines.one('select catalog_id from noetl.fn_playbook_register($1, $2, $3)', [
    ...['hello', 'text', JSON.stringify(playbook)],
  ])
})

const START = 'select noetl.fn_execution_start($1, $2, $3, p_idempotency_key => $4) as id'
const start = (args: unknown = {}, key: string | null = null, name = 'hello') =>
  engines.one<string>(START, [name, JSON.stringify(args), workspace, key])
const told = (id: string) =>
  engines.rows('select kind, body, shard_id from noetl.inbox where execution_id = $1', [id])

it('sends the start to the execution: which version, with what, where, for whom', async () => {
  const id = await start({ n: 3 })
  expect(await told(id)).toEqual([
    {
      kind: 'start',
      shard_id: Number(((BigInt(id) >> 22n) ^ BigInt(id)) & 15n),
      body: {
        ...{ catalog_id: catalogId, args: { n: 3 }, workspace_id: workspace, started_by: 'stagedoor_worker' },
        ...{ cause: null, correlation_id: null, depth: 0, parent: null },
      },
    },
  ])
})

it('follows from the event that the caller’s job came from', async () => {
  const cause = await engines.one<string>(`select iu_core.fn_event_emit('dot', 'run.applied')`)
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await session.query(`select set_config('stagedoor.cause', $1, true)`, [cause])
  const { rows } = await session.query(START, ['hello', '{}', workspace, null])
  await session.query('commit')
  expect(await told(rows[0].id)).toMatchObject([{ body: { cause, correlation_id: cause } }])
})

it('rolled back, it never was', async () => {
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  const { rows } = await session.query(START, ['hello', '{}', workspace, 'undone'])
  await session.query('rollback')
  expect(await told(rows[0].id)).toEqual([])
  expect(await start({}, 'undone')).not.toBe(rows[0].id)
})

it('the same key again is the same execution; in another workspace it is another', async () => {
  const first = await start({ n: 1 }, 'key')
  expect(await start({ n: 1 }, 'key')).toBe(first)
  expect(await told(first)).toHaveLength(1)
  const elsewhere = await engines.one(START, ['hello', '{}', await createWorkspace(db, 'other'), 'key'])
  const global = await engines.one(START, ['hello', '{}', null, 'key'])
  expect(new Set([first, elsewhere, global]).size).toBe(3)
  expect(await engines.one(START, ['hello', '{}', null, 'key'])).toBe(global)
})

it('the same key with other arguments is refused, and the execution that has it is named', async () => {
  const first = await start({ n: 1, who: 'Ada' }, 'theirs')
  expect(await start({ who: 'Ada', n: 1 }, 'theirs')).toBe(first)
  await expect(start({ n: 2, who: 'Ada' }, 'theirs')).rejects.toMatchObject({
    code: 'SD813',
    message: expect.stringContaining(first),
  })
  expect(await told(first)).toHaveLength(1)
})

it('a login with stagedoor_producer starts any playbook, in a workspace or in none; without it, none', async () => {
  const superuser = await db.session('postgres')
  await superuser.query('create role shop_starter login')
  const shop = async (workspace_id: string | null) => {
    const { rows } = await superuser.query(START, ['hello', '{"n": 7}', workspace_id, null])
    return rows[0].id as string
  }
  try {
    await superuser.query('set role shop_starter')
    expect(await sqlstateOf(shop(null))).toBe('42501')
    await superuser.query('reset role; grant stagedoor_producer to shop_starter; set role shop_starter')
    expect(await told(await shop(workspace))).toMatchObject([{ body: { workspace_id: workspace } }])
    expect(await told(await shop(null))).toMatchObject([{ body: { workspace_id: null } }])
    expect(await sqlstateOf(superuser.query('select from noetl.catalog'))).toBe('42501')
    expect(await sqlstateOf(superuser.query(`select noetl.fn_playbook_disable('hello')`))).toBe('42501')
  } finally {
    await superuser.query('reset role')
    await superuser.query('drop owned by shop_starter; drop role shop_starter')
  }
})

it('twenty with one key at once start one', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => start({}, 'at-once')))
  expect(new Set(ids).size).toBe(1)
  expect(await told(ids[0]!)).toHaveLength(1)
})

it('one that waits for another with its key takes over when that one is rolled back', async () => {
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  const gone = (await first.query(START, ['hello', '{}', workspace, 'contested'])).rows[0].id
  const waiting = second.query(START, ['hello', '{}', workspace, 'contested'])
  await untilWaiting(db, second)
  await first.query('rollback')
  const { id } = (await waiting).rows[0]
  expect(id).not.toBe(gone)
  expect(await told(id)).toHaveLength(1)
})

it('refuses what the playbook does not take, a playbook or workspace that is not there, an empty key', async () => {
  expect(await sqlstateOf(start({ m: 1 }))).toBe('SD001')
  expect(await sqlstateOf(start([1]))).toBe('SD001')
  expect(await sqlstateOf(start({}, ''))).toBe('SD001')
  expect(await sqlstateOf(start({}, null, 'bye'))).toBe('SD802')
  expect(await sqlstateOf(engines.rows(`select noetl.fn_execution_start('hello', p_version => 9)`))).toBe(
    'SD802',
  )
  expect(
    await sqlstateOf(
      engines.rows(`select noetl.fn_execution_start('hello', p_workspace_id => gen_random_uuid())`),
    ),
  ).toBe('SD001')
})

it('takes arguments of 16 MiB and no more', async () => {
  expect(await sqlstateOf(start({ who: 'x'.repeat(17 * 1024 * 1024) }))).toBe('SD001')
  await start({ who: 'x'.repeat(1024 * 1024) })
})

it('of one that is disabled it says so, and how it is enabled', async () => {
  await engines.rows(`select noetl.fn_playbook_disable('hello')`)
  await expect(start()).rejects.toMatchObject({
    code: 'SD802',
    message: 'The playbook hello is disabled',
    hint: expect.stringContaining('playbook enable hello'),
  })
  await engines.rows(`select noetl.fn_playbook_enable('hello')`)
})

const startBatch = async (...starts: object[]) =>
  (
    await engines.rows<{ id: string }>('select noetl.fn_execution_start_batch($1) as id', [
      JSON.stringify(starts),
    ])
  ).map(({ id }) => id)
const hello = (args: unknown = {}, more: object = {}) => ({
  playbook: 'hello',
  args,
  workspace_id: workspace,
  ...more,
})

it('a batch starts each as it would be started alone, in the order of the batch', async () => {
  await engines.rows('select noetl.fn_playbook_register($1, $2, $3)', [
    ...['other', 'text', JSON.stringify({ name: 'other', args: {}, start: 'a', steps: [{ step: 'a' }] })],
  ])
  const ids = await startBatch(
    hello({ n: 1 }),
    { playbook: 'other', args: {} },
    hello({ n: 2 }, { version: 1 }),
  )
  expect(new Set(ids).size).toBe(3)
  const alone = [
    await start({ n: 1 }),
    await engines.one<string>(`select noetl.fn_execution_start('other')`),
    await start({ n: 2 }),
  ]
  for (const [n, id] of ids.entries()) {
    const [{ shard_id, ...row }] = (await told(id)) as [{ shard_id: number }]
    const [{ shard_id: _, ...expected }] = (await told(alone[n]!)) as [{ shard_id: number }]
    expect(row).toEqual(expected)
    expect(shard_id).toBe(Number(((BigInt(id) >> 22n) ^ BigInt(id)) & 15n))
  }
})

it('a batch starts one for each key: of before, of the batch itself, and of another batch at the same time', async () => {
  const before = await start({ n: 1 }, 'batch-1')
  const keyed = (key: string, args: unknown = { n: 1 }) => hello(args, { idempotency_key: key })
  const [none, first, second, twice] = await startBatch(
    hello(),
    keyed('batch-1'),
    keyed('batch-2'),
    keyed('batch-2'),
  )
  expect(first).toBe(before)
  expect(second).toBe(twice)
  expect(new Set([none, first, second]).size).toBe(3)
  for (const id of [none, first, second]) expect(await told(id!)).toHaveLength(1)
  await expect(startBatch(hello(), keyed('batch-1', { n: 2 }))).rejects.toMatchObject({
    code: 'SD813',
    message: expect.stringContaining(before),
  })
  const keys = Array.from({ length: 20 }, (_, n) => `at-once-${n}`)
  const batches = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      startBatch(...(n % 2 ? keys : keys.toReversed()).map((key) => keyed(key))),
    ),
  )
  expect(new Set(batches.flat()).size).toBe(20)
  for (const [n, ids] of batches.entries()) expect(n % 2 ? ids : ids.toReversed()).toEqual(batches[1])
})

it('a batch has at most 10,000 starts', async () => {
  await expect(startBatch(...Array.from({ length: 10_001 }, () => hello()))).rejects.toMatchObject({
    code: 'SD001',
    message: 'A batch has at most 10000 starts, and this one has 10001',
    hint: expect.stringContaining('several batches'),
  })
})

it('a batch with one that is refused alone starts none, for the same reason', async () => {
  const [{ n: before }] = (await engines.rows('select count(*)::int as n from noetl.inbox')) as [
    { n: number },
  ]
  const refused: [object, string][] = [
    [hello({ m: 1 }), 'SD001'],
    [hello([1]), 'SD001'],
    [hello(null), 'SD001'],
    [{ playbook: 'hello' }, 'SD001'],
    [hello({}, { idempotency_key: '' }), 'SD001'],
    [hello({}, { playbook: 'bye' }), 'SD802'],
    [hello({}, { playbook: null }), 'SD802'],
    [hello({}, { version: 9 }), 'SD802'],
    [hello({}, { workspace_id: '00000000-0000-7000-8000-000000000001' }), 'SD001'],
    [hello({ who: 'x'.repeat(17 * 1024 * 1024) }), 'SD001'],
  ]
  for (const [bad, code] of refused) expect(await sqlstateOf(startBatch(hello(), bad))).toBe(code)
  expect(await sqlstateOf(engines.rows(`select noetl.fn_execution_start_batch('{}')`))).toBe('SD001')
  expect(await engines.rows('select count(*)::int as n from noetl.inbox')).toEqual([{ n: before }])
})
