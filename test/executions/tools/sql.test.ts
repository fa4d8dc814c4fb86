import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../../src/executions/engine/commands.ts'
import { sqlTool } from '../../../src/executions/tools/sql.ts'
import { type ToolContext, ToolError } from '../../../src/executions/tools/tool.ts'
import type { Json, JsonObject } from '../../../src/kernel/json.ts'
import { createPool, type Pool } from '../../../src/kernel/postgres/connection.ts'
import { LazyAbortController } from '../../../src/runtime/lazy-abort.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { createMemoryResultStore } from '../memory-results.ts'
import { contextOf, playbookOf, stepOf } from '../run-command/command.ts'

const db = useDatabase()
let pool: Pool
beforeAll(async () => {
  pool = createPool(db.url('stagedoor_playbook'), { max: 2 })
  await db.owner(`create table public.campaign (id bigint primary key, name text, spend numeric(12, 2))`)
  await db.owner('grant select, insert, update, delete on public.campaign to stagedoor_playbook')
  await db.owner(
    `insert into public.campaign values (9007199254740993, 'spring', 10.50), (2, 'autumn', null)`,
  )
})
afterAll(() => pool.end())

const call = (args: JsonObject, context: Partial<ToolContext> = {}) =>
  sqlTool(pool)(undefined, args, contextOf(context)) as Promise<Record<string, Json>>
const run = (query: string, ...params: Json[]) => call({ query, params })
const failure = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.then(
    () => 'not refused',
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ToolError)
  return error as ToolError
}

describe('a statement', () => {
  it('gives rows and their number, with digits that JavaScript would lose as text', async () => {
    expect(await run('select * from public.campaign order by name')).toEqual({
      rows: [
        { id: '2', name: 'autumn', spend: null },
        { id: '9007199254740993', name: 'spring', spend: '10.50' },
      ],
      row_count: 2,
    })
  })

  it('gives every type as JSON', async () => {
    const { rows } = await run(
      `select true as b, 1::smallint as i, 1.5::float8 as f, 'NaN'::float8 as n, '{"a": [1]}'::jsonb as j,
              timestamptz '2026-03-01 10:00:00.123456+02' as at, timestamp '2026-03-01 10:00' as t, date '2026-03-01' as d,
              array[1, null, 3] as ints, array[1.50] as exact, array['a,b', 'c'] as texts, '{{1},{2}}'::bigint[] as deep,
              array[timestamptz '2026-03-01 00:00+00'] as times, interval '1 day' as i2, '\\x00ff'::bytea as bytes,
              'infinity'::timestamptz as forever`,
    )
    expect(rows).toEqual([
      {
        b: true,
        i: 1,
        f: 1.5,
        n: 'NaN',
        j: { a: [1] },
        at: '2026-03-01T08:00:00.123456Z',
        t: '2026-03-01T10:00:00',
        d: '2026-03-01',
        ints: [1, null, 3],
        exact: ['1.50'],
        texts: ['a,b', 'c'],
        deep: [['1'], ['2']],
        times: ['2026-03-01T00:00:00Z'],
        i2: '1 day',
        bytes: '\\x00ff',
        forever: 'infinity',
      },
    ])
  })

  it('takes parameters as data, lists and maps as JSON', async () => {
    const { rows } = await run(
      `select $1::text as text, $2::int as n, $3::jsonb -> 'a' as a, $4::text is null as none`,
      `'; drop table public.campaign; --`,
      7,
      { a: ['x'] },
      null,
    )
    expect(rows).toEqual([{ text: `'; drop table public.campaign; --`, n: 7, a: ['x'], none: true }])
  })

  it('writes, in one transaction with everything that it does', async () => {
    expect(await run(`insert into public.campaign values (5, 'five') returning id`)).toEqual({
      rows: [{ id: '5' }],
      row_count: 1,
    })
    expect(await call({ query: 'delete from public.campaign where id = 5', rows: 'none' })).toEqual({
      row_count: 1,
    })
    await failure(
      run(`with w as (insert into public.campaign values (6, 'six') returning 1) select 1 / 0 from w`),
    )
    expect((await run('select from public.campaign where id in (5, 6)')).row_count).toBe(0)
  })

  it('with rows: one gives exactly one', async () => {
    const one = (query: string) => call({ query, rows: 'one' })
    expect(await one('select 1 as n')).toEqual({ row: { n: 1 }, row_count: 1 })
    expect((await failure(one('select 1 where false'))).message).toContain('gave no row')
    expect((await failure(one('select generate_series(1, 2)'))).message).toContain('more than one row')
  })

  it('with rows: none runs to its end, whatever it gives', async () => {
    await db.owner(
      'create sequence public.counted; grant usage on sequence public.counted to stagedoor_playbook',
    )
    expect(
      await call({ query: `select nextval('public.counted') from generate_series(1, 500)`, rows: 'none' }),
    ).toEqual({ row_count: 500 })
    expect(await db.owner('select last_value from public.counted')).toEqual([{ last_value: '500' }])
  })

  it('that gives too many rows is refused, and nothing of it stays', async () => {
    expect((await run('select generate_series(1, 10000)')).row_count).toBe(10_000)
    const error = await failure(run('select generate_series(1, 10001)'))
    expect(error).toMatchObject({
      message: expect.stringContaining('more than 10000 rows; aggregate them'),
      retryable: false,
    })
    const limited = call({
      query: 'insert into public.campaign (id) select generate_series(100, 104) returning id',
      limit: 3,
    })
    expect((await failure(limited)).message).toContain('more than 3 rows')
    expect((await run('select from public.campaign where id >= 100 and id < 200')).row_count).toBe(0)
  })

  it('is one: no second one comes along', async () => {
    const error = await failure(run(`select 1; delete from public.campaign`))
    expect(error.message).toContain('cannot insert multiple commands')
  })

  it.each(['begin', 'commit', 'rollback'])('is not %s', async (query) => {
    expect((await failure(run(query))).message).toContain('a transaction of its own')
  })

  it('leaves nothing behind for the next one on its connection', async () => {
    const single = createPool(db.url('stagedoor_playbook'), { max: 1 })
    const on = (query: string) => sqlTool(single)(undefined, { query }, contextOf())
    await on(`set search_path = pg_temp`)
    await on(`select set_config('stagedoor.cause', 'forged', false)`)
    await on(`create temp table campaign as select 'forged' as name`)
    const seen = await on(
      `select current_setting('search_path') as path, coalesce(current_setting('stagedoor.cause', true), '') as cause,
              to_regclass('pg_temp.campaign')::text as shadow,
              (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())::int as locks`,
    )
    await single.end()
    expect(seen).toMatchObject({ rows: [{ path: '"$user", public', cause: '', shadow: null, locks: 0 }] })
  })

  it('shows whose it is, and what it follows from', async () => {
    const cause = '0198c0de-0000-7000-8000-000000000001'
    const { rows } = await call(
      {
        query: `select current_setting('application_name') as name, current_setting('stagedoor.cause') as cause`,
      },
      { cause },
    )
    expect(rows).toEqual([{ name: 'stagedoor playbook hello fetch', cause }])
  })
})

describe('an error', () => {
  it.each([
    ['a mistake is not tried again', 'select nothing', '42703', false],
    ['a broken rule is not', 'insert into public.campaign values (2)', '23505', false],
    ['a clash with others is', `do $$ begin raise exception using errcode = '40001'; end $$`, '40001', true],
  ])('%s', async (_, query, code, retryable) => {
    expect(await failure(run(query))).toMatchObject({ message: expect.stringContaining(code), retryable })
  })

  it('says where in the statement', async () => {
    expect((await failure(run('select 1 from nowhere'))).message).toBe(
      'relation "nowhere" does not exist (42P01); at character 15',
    )
  })

  it.each([
    ['no query', {}, 'The argument query of the tool sql is missing'],
    ['an unknown argument', { query: 'select 1', parms: [] }, 'takes query, params, rows, limit, not parms'],
    [
      'params that are no list',
      { query: 'select 1', params: { a: 1 } },
      'params of the tool sql must be a list',
    ],
    ['a limit over the limit', { query: 'select 1', limit: 10_001 }, 'from 1 to 10000'],
  ])('names what is wrong with the arguments: %s', async (_, args, message) => {
    expect((await failure(call(args as JsonObject))).message).toContain(message)
  })

  it('says what to set where no database was named', async () => {
    const error = await failure(sqlTool(undefined)(undefined, { query: 'select 1' }, contextOf()))
    expect(error.message).toContain('PLAYBOOK_DATABASE_URL')
    expect(error.retryable).toBe(false)
  })
})

describe('time', () => {
  it('that is up ends the statement on the server, too', async () => {
    const step = stepOf([{ tool: 'sql', args: { query: `select pg_sleep(60) /* late */` } }], {
      timeout_ms: 200,
    })
    const outcome = await runCommand({
      playbook: playbookOf(step),
      step,
      scope: {},
      tools: { sql: sqlTool(pool) },
      results: createMemoryResultStore(),
      context: contextOf(),
      aborts: new LazyAbortController(),
    })
    expect(outcome).toMatchObject({ status: 'failed', retryable: true })
    await until('the statement ends', async () => (await running('late')) === 0)
  })

  it('ends early for a statement whose execution was cancelled', async () => {
    const controller = new AbortController()
    const work = call({ query: 'select pg_sleep(60) /* early */' }, { signal: controller.signal })
    const failed = failure(work)
    await until('the statement runs', async () => (await running('early')) === 1)
    controller.abort()
    expect((await failed).message).toContain('57014')
    await until('the statement ends', async () => (await running('early')) === 0)
    expect((await run('select 1 as n')).rows).toEqual([{ n: 1 }])
  })

  const running = async (mark: string): Promise<number> => {
    const { rowCount } = await db
      .pool('postgres')
      .query(
        `select from pg_stat_activity where state = 'active' and query like '%/* ' || $1 || ' */%' and usename = 'stagedoor_playbook'`,
        [mark],
      )
    return rowCount!
  }
})

describe('access control', () => {
  it.each([
    'set role service_role',
    'set role workflow_admin',
    'set role dot_executor',
    'set role stagedoor_api',
    `set session authorization stagedoor_worker`,
    `select set_config('role', 'service_role', true)`,
    `select set_config('role', 'authenticated', false)`,
    'select iu_core.fn_actor()',
    `select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`,
    `select noetl.fn_result_put(1, 2, '1')`,
    `select noetl.fn_execution_start('x')`,
    'select * from iu_core.iu_staging_record',
    'select * from noetl.event',
    'select * from public.workspaces',
    'create table public.mine (id int)',
    'create schema mine',
    `create function public.mine() returns int language sql as 'select 1'`,
    `alter role stagedoor_playbook superuser`,
    `copy public.campaign to '/tmp/out'`,
    `copy public.campaign to program 'cat'`,
    `select pg_read_file('/etc/passwd')`,
  ])('is not passed by: %s', async (query) => {
    expect((await failure(run(query))).message).toMatch(/permission denied|must be|does not exist|\(42501\)/)
  })

  it('is not passed with the claims of a member, forged beside the statement', async () => {
    const workspace = await createWorkspace(db)
    const admin = await createMember(db, workspace, 'admin')
    const claims = JSON.stringify({ sub: admin.userId, role: 'service_role' })
    const forged = (query: string) =>
      run(`with forged as materialized (select set_config('request.jwt.claims', $1, true)) ${query}`, claims)
    const denied = await failure(forged('select * from forged, public.workspaces'))
    expect(denied.message).toContain('permission denied')
    // Even with every right that its operator could give by mistake, it would be itself.
    await db.owner(
      `grant usage on schema iu_core to stagedoor_playbook;
       grant execute on function iu_core.fn_actor(), iu_core.fn_caller_is_service(), iu_core.fn_my_workspaces(),
         iu_core.fn_caller_role() to stagedoor_playbook;
       grant select on public.workspaces to stagedoor_playbook`,
    )
    const { rows } = await forged(
      `select iu_core.fn_actor() as actor, iu_core.fn_caller_is_service() as service,
              (select count(*) from iu_core.fn_my_workspaces())::int as workspaces, current_user as role from forged`,
    )
    expect(rows).toEqual([
      { actor: 'stagedoor_playbook', service: false, workspaces: 0, role: 'stagedoor_playbook' },
    ])
    await db.owner(
      `revoke usage on schema iu_core from stagedoor_playbook;
       revoke execute on function iu_core.fn_actor(), iu_core.fn_caller_is_service(), iu_core.fn_my_workspaces(),
         iu_core.fn_caller_role() from stagedoor_playbook;
       revoke select on public.workspaces from stagedoor_playbook`,
    )
  })

  it('is that of a login that is a member of nothing', async () => {
    expect(
      await db.owner(`select from pg_auth_members where member = 'stagedoor_playbook'::regrole`),
    ).toEqual([])
  })
})

it('without a right it says which grant gives it', async () => {
  await db.owner('create table public.address (id int)')
  expect((await failure(run('select * from address'))).message).toContain(
    'hint: grant select on address to stagedoor_playbook',
  )
  expect((await failure(run('select * from noetl.event'))).message).toContain(
    'hint: grant usage on schema noetl to stagedoor_playbook',
  )
})

describe('what PostgreSQL lets everybody do', () => {
  it.each([
    `select lo_from_bytea(0, 'stays')`,
    'select lo_create(0)',
    'select lo_creat(-1)',
    `do $$ begin perform lo_create(0); end $$`,
    `do $$ begin begin perform lo_create(0); exception when others then null; end; end $$`,
  ])('makes no large object: %s', async (query) => {
    expect((await failure(run(query))).message).toContain('no large objects')
    expect(await db.owner('select count(*)::int as n from pg_largeobject_metadata')).toEqual([{ n: 0 }])
  })

  it('does not fail because of a large object from before they were refused', async () => {
    const client = await db.session('stagedoor_playbook')
    const { rows } = await client.query('select lo_create(0) as id')
    expect(await run('select 1 as n')).toMatchObject({ rows: [{ n: 1 }] })
    expect((await failure(run('select lo_create(0)'))).message).toContain('no large objects')
    await run('select lo_unlink($1)', rows[0].id)
    expect(await db.owner('select count(*)::int as n from pg_largeobject_metadata')).toEqual([{ n: 0 }])
  })

  it.each([
    'select pg_advisory_lock(1)',
    'select pg_advisory_xact_lock(1)',
    'select pg_try_advisory_xact_lock_shared(1, 2)',
    `select pg_advisory_lock(hashtextextended('stagedoor.blob:x', 0)) from generate_series(1, 2)`,
  ])('keeps no advisory lock: %s', async (query) => {
    expect((await failure(run(query))).message).toContain('no advisory locks')
    const held = () =>
      db.owner(
        `select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
      )
    await until('the lock is gone', async () => (await held()).length === 0)
  })
})
