/** How many workers are wanted: by what runs, what is due, and how long handlers take. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { listPools, type Pool, poolDemand } from '../../src/jobs/pools.ts'
import { useApi } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const api = useApi(db)
let operator: Member
let viewer: Member

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  viewer = await createMember(db, workspace, 'viewer')
})
beforeEach(async () => {
  await db.owner('truncate iu_core.job_queue, iu_core.job_history, iu_core.job_worker, noetl.command cascade')
  await db.owner(`update iu_core.job_kind set paused_at = null, paused_by = null, concurrency = null`)
})

const put = async (
  kind: string,
  count: number,
  more: { after?: string; leased?: number; priority?: number } = {},
) => {
  await db.owner(`insert into iu_core.job_kind (job_kind) values ($1) on conflict do nothing`, [kind])
  await db.owner(
    `insert into iu_core.job_queue (job_kind, actor, process_after, priority, leased_by, started_at)
     select $1, 'test', now() + $3::interval, $5, case when g <= $4 then gen_random_uuid() end, now()
       from generate_series(1, $2::integer) g`,
    [kind, count, more.after ?? '-1 second', more.leased ?? 0, more.priority ?? 0],
  )
}
const ended = (kind: string, count: number, seconds: number, ago = '1 minute') =>
  db.owner(
    `insert into iu_core.job_history (job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at,
                                      finished_at, safe_payload, causation_depth, actor)
     select gen_random_uuid(), $1, 'PG_worker', 'completed', 0, 1, 0, 0, now(), now() - $4::interval - make_interval(secs => $3),
            now() - $4::interval, '{}', 0, 'test' from generate_series(1, $2::integer)`,
    [kind, count, seconds, ago],
  )
const worker = (...kinds: string[]) =>
  db.owner(
    `insert into iu_core.job_worker (executor, kinds, registered_by, lease, leased_until)
     values ('PG_worker', $1, 'test', '30 seconds', now() + interval '30 seconds')`,
    [kinds],
  )
const pools = (concurrency?: number) => db.as(operator, (client) => listPools(client, { concurrency }))
const demand = (pool: string, concurrency?: number) =>
  db.as(operator, (client) => poolDemand(client, pool, concurrency))

it('wants so many workers that what is due is begun within ten seconds', async () => {
  await worker('resize', 'crop')
  await worker('crop', 'resize')
  await put('resize', 130, { leased: 20 })
  await put('crop', 10, { priority: 5 })
  await put('crop', 500, { after: '1 hour' })
  await ended('resize', 50, 4)
  // (20 + 110 × 4 s / 10 s + 10 × 1 s / 10 s) / 10, where crop has no history.
  expect(await pools()).toMatchObject([
    {
      pool: 'crop,resize',
      kinds: ['crop', 'resize'],
      workers: 2,
      running: 20,
      due: 120,
      mean_seconds: 4,
      wanted_workers: 7,
    },
  ])
  expect((await pools(20))[0]).toMatchObject({ wanted_workers: 4 })
  expect(await demand('resize,crop,resize')).toMatchObject({
    pool: 'crop,resize',
    workers: 2,
    wanted_workers: 7,
  })
  expect(await demand('crop')).toMatchObject({ pool: 'crop', workers: 0, due: 10, wanted_workers: 1 })
})

it('knows pools that have no worker, and those that want none', async () => {
  await worker('quiet')
  await put('lonely', 3)
  expect(await pools()).toMatchObject([
    { pool: 'lonely', workers: 0, due: 3, wanted_workers: 1 },
    { pool: 'quiet', workers: 1, running: 0, due: 0, wanted_workers: 0 },
  ])
  expect(await demand('never_seen')).toMatchObject({ pool: 'never_seen', workers: 0, wanted_workers: 0 })
  expect(await demand('external_worker/lonely')).toMatchObject({ executor: 'external_worker', due: 0 })
})

it('wants nobody for a paused kind, and no more places than a kind may have', async () => {
  await worker('held', 'limited')
  await put('held', 1000)
  await put('limited', 1000)
  await db.owner(`update iu_core.job_kind set paused_at = now(), paused_by = 'test' where job_kind = 'held'`)
  await db.owner(`update iu_core.job_kind set concurrency = 15 where job_kind = 'limited'`)
  expect((await pools())[0]).toMatchObject({ due: 2000, wanted_workers: 2 })
})

it('forgets how long handlers took more than ten minutes ago', async () => {
  await worker('slow')
  await put('slow', 100)
  await ended('slow', 10, 60, '11 minutes')
  expect((await pools())[0]).toMatchObject({ mean_seconds: null, wanted_workers: 1 })
  await ended('slow', 10, 60)
  expect((await pools())[0]).toMatchObject({ mean_seconds: 60, wanted_workers: 60 })
})

it('shortens a long name, and finds the pool by it', async () => {
  const kinds = Array.from({ length: 12 }, (_, n) => `a_rather_long_kind_${n}`)
  await worker(...kinds)
  const [found] = await pools()
  expect(found!.pool).toMatch(/^a_rather_long_kind_0,a_rather_long_kind_-[0-9a-f]{12}$/)
  expect(await demand(found!.pool)).toEqual(found)
})

it('counts handlers of playbooks by what calls need', async () => {
  await db.owner(
    `insert into noetl.engine (name, drives, runs, handlers, lease, leased_until, registered_by)
     values ('far', false, true, '{resize,geocode}', '30 seconds', now() + interval '30 seconds', 'test')`,
  )
  await db.owner(
    `insert into noetl.command (command_id, execution_id, shard_id, catalog_id, node_id, node_name, needs, scope, attempt, leased_by, started_at)
     select g::text, g, 0, 1, 'n', 'n', case when g <= 60 then '{geocode}' else '{print}' end::text[], '{}', 1,
            case when g <= 20 then gen_random_uuid() end, case when g <= 20 then clock_timestamp() - interval '10 seconds' end
       from generate_series(1, 65) g`,
  )
  const found = await pools()
  expect(found.map(({ pool }) => pool)).toEqual(['handler:geocode,resize', 'handler:print'])
  expect(found[0]).toMatchObject({ workers: 1, running: 20, due: 40 })
  // Those that run are ten seconds old: a call takes about twenty. (20 + 40 × 20 / 10) / 50
  expect(found[0]!.mean_seconds).toBeGreaterThan(19)
  expect(found[0]!.wanted_workers).toBeGreaterThanOrEqual(2)
  expect(await demand('handler:geocode', 10)).toMatchObject({ workers: 0, running: 20, due: 40 })
  await db.owner('delete from noetl.engine')
})

it('reads no more than 10,000 jobs of a kind, however many there are', async () => {
  const blocks = async (): Promise<number> => {
    await db.owner('analyze iu_core.job_queue')
    const session = await db.session('postgres')
    let plan: Record<string, number> = {}
    // The second time the catalogue is known.
    for (let times = 0; times < 2; times++) {
      const { rows } = await session.query(
        'explain (analyze, buffers, format json) select * from iu_core.fn_job_demand()',
      )
      plan = rows[0]['QUERY PLAN'][0].Plan
    }
    return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
  }
  await put('many', 15_000)
  await put('many', 15_000, { after: '1 hour' })
  const few = await blocks()
  await put('many', 60_000)
  await put('many', 60_000, { after: '1 hour' })
  expect(await blocks()).toBeLessThan(few * 1.5)
  expect((await pools())[0]).toMatchObject({ due: 10_000, wanted_workers: 100 })
})

it('is for whoever operates a workspace, over HTTP, on the command line and in the metrics', async () => {
  await worker('shown')
  await put('shown', 250)
  const token = await api.token(operator)
  expect((await api.get('/api/v1/pools', token)).body).toMatchObject({
    pools: [{ pool: 'shown', wanted_workers: 3 }],
  })
  const one = await api.get('/api/v1/pools/shown/demand?concurrency=5', token)
  expect(one).toMatchObject({ status: 200, body: { pool: 'shown', due: 250, wanted_workers: 5 } })
  expect((await api.get('/api/v1/pools/external_worker%2Fshown/demand', token)).body).toMatchObject({
    due: 0,
  })
  expect((await api.get('/api/v1/pools/shown/demand', await api.token(viewer))).status).toBe(403)
  expect((await api.get('/api/v1/pools/shown/demand?concurrency=0', token)).status).toBe(400)
  expect((await api.get('/api/v1/pools/%27;drop/demand', token)).status).toBe(400)
  expect(await sqlstateOf(db.as(viewer, (client) => listPools(client)))).toBe('SD202')
  const service = await api.token({ userId: operator.userId, role: 'service_role' as never })
  const metrics = await api.app.inject({
    url: '/api/v1/metrics',
    headers: { authorization: `Bearer ${service}` },
  })
  expect(metrics.body).toContain('stagedoor_wanted_workers{pool="shown"} 3')
  const env = {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: temporaryHome('pools'),
    STAGEDOOR_JWT_SECRET: 'x'.repeat(32),
  }
  expect((await runCli(['pool', 'list'], env)).stdout).toMatch(/shown +0 +250 +1 +3/)
  const { stdout } = await runCli(['pool', 'demand', 'shown', '--concurrency', '5', '--json'], env)
  expect(JSON.parse(stdout) as Pool).toMatchObject({ pool: 'shown', wanted_workers: 5 })
})
