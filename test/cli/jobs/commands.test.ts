/** Commands of jobs on a database of the user's own: what they print, how they end, what they refuse. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { SECRET } from '../../support/api.ts'
import { runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const home = temporaryHome('cli-jobs-external')
let env: Record<string, string>

beforeAll(async () => {
  env = {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: home,
    STAGEDOOR_JWT_SECRET: SECRET,
  }
  const workspace = await createWorkspace(db)
  await createMember(db, workspace, 'reviewer')
  await db.owner('create table public.orders (id integer primary key, status text)')
})

const cli = (...args: string[]) => runCli(args, env)
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}

it('a job is enqueued once for its key, shown, cancelled, and then it has ended', async () => {
  const empty = await cli('job', 'list')
  expect(empty.stdout).toMatch(/No job here[\s\S]*fn_job_enqueue/)
  const enqueue = ['job', 'enqueue', 'send_report', '--key', 'week-45', '--payload', '{"report_id":"r1"}']
  const { job_id: id, created } = await json(...enqueue, '--at', '2h', '--priority', '5')
  expect(created).toBe(true)
  expect(await json(...enqueue)).toEqual({ job_id: id, created: false })
  expect((await cli(...enqueue)).stdout).toMatch(/has this key already: it is waiting. Nothing was added/)
  expect((await cli('job', 'list')).stdout).toMatch(
    new RegExp(`${id} +○ waiting +send_report +.* due in 1 h|${id} .* due in 2 h`),
  )
  const shown = await cli('job', 'show', id)
  expect(shown.stdout).toMatch(/payload +\{"report_id":"r1"\}/)
  expect(shown.stdout).toContain(`stagedoor job cancel ${id}`)
  expect(await json('job', 'cancel', id, '--reason', 'not now')).toEqual({ job_id: id, outcome: 'cancelled' })
  expect(await cli('job', 'cancel', id)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('has ended'),
  })
  expect((await cli('job', 'show', id)).stdout).toMatch(/– cancelled[\s\S]*not now/)
  const { job_id: due } = await json('job', 'enqueue', 'send_report')
  expect((await cli('job', 'show', due)).stdout).toMatch(
    /No running worker handles send_report[\s\S]*stagedoor worker/,
  )
})

it.each([
  [2, /is not the id of a job/, ['job', 'show', 'nothing']],
  [8, /There is no job/, ['job', 'show', '0190a0a0-0000-7000-8000-000000000000']],
  [2, /A JSON object/, ['job', 'enqueue', 'a', '--payload', '[1]']],
  [2, /cannot be enqueued/, ['job', 'enqueue', 'Bad Kind']],
  [2, /is no setting of a kind/, ['job', 'kind', 'set', 'a', 'tries=3']],
  [2, /are invalid/, ['job', 'kind', 'set', 'a', 'max_attempts=0']],
  [8, /There is no job kind/, ['job', 'pause', 'unheard_of']],
  [2, /Select the dead letters/, ['job', 'replay']],
  [2, /is not a cron line/, ['schedule', 'set', 'x', '--cron', 'daily', '--kind', 'a']],
  [8, /There is no schedule/, ['schedule', 'enable', 'nothing']],
  [8, /There is no route/, ['route', 'show', 'nothing']],
  [2, /the events are insert, update/, ['route', 'register', 'orders', '--on', 'upsert']],
  [8, /There is no consumer/, ['consumer', 'show', 'nothing']],
  [2, /An event as domain.type/, ['consumer', 'register', 'x', '--on', 'orders', '--kind', 'a']],
  [
    2,
    /No route sends iu_sql\.nothing\.insert[\s\S]*stagedoor route register nothing --on insert/,
    ['consumer', 'register', 'x', '--on', 'iu_sql.nothing.insert', '--kind', 'a'],
  ],
  [
    2,
    /cannot be used/,
    ['consumer', 'register', 'x', '--on', 'staging.record_created', '--kind', 'a', '--key', '{body}'],
  ],
  [8, /There is no webhook target/, ['webhook', 'test', 'nothing']],
  [8, /There is no event, job, execution or trace/, ['trace', '0190a0a0-0000-7000-8000-000000000000']],
  [2, /There is no handler of mine/, ['worker', '--kinds', 'mine']],
  [2, /There is no file/, ['worker', '--handlers', 'nowhere.mjs']],
  [2, /--executor/, ['token', '--role', 'stagedoor_executor']],
  [2, /from -32767 to 32767/, ['job', 'enqueue', 'a', '--priority', 'high']],
  [2, /--role stagedoor_executor/, ['token', '--executor', 'external_worker']],
  [2, /say one of them/, ['token', '--role', 'service_role', '--as', 'admin']],
  [
    2,
    /begins with a lowercase letter/,
    ['consumer', 'register', 'Bad Name', '--on', 'dot.run.applied', '--kind', 'a'],
  ],
  [2, /are invalid/, ['job', 'kind', 'set', 'a', 'max_attempts=abc']],
])('exit %i, %s: %j', async (exit, words, args) => {
  const { code, stderr } = await cli(...args)
  expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringMatching(words) })
})

it('kinds are set, paused and resumed, and the list says so', async () => {
  await json(
    'job',
    'kind',
    'set',
    'crawl',
    'concurrency=4',
    'rate=100',
    'rate_period=1 minute',
    'timeout=30 seconds',
  )
  expect((await cli('job', 'pause', 'crawl')).stdout).toMatch(
    /crawl is paused[\s\S]*stagedoor job resume crawl/,
  )
  expect((await cli('job', 'kinds')).stdout).toMatch(
    /crawl .*paused by .* · 4 at once · 100 in 00:01:00 · at most 00:00:30/,
  )
  await json('job', 'resume', 'crawl')
  const kinds = await json('job', 'kind', 'set', 'crawl', 'concurrency=none')
  expect(kinds).toMatchObject({ concurrency: null, rate: 100, paused_at: null })
})

it('a schedule says when it is due, in its time zone', async () => {
  const nightly = ['schedule', 'set', 'nightly', '--cron', '30 6 * * *', '--kind', 'send_report']
  const added = await cli(...nightly, '--time-zone', 'Europe/Berlin')
  expect(added.stdout).toMatch(
    /nightly enqueues send_report at\n +\w{3}, \d+ \w+ \d{4}, 06:30 Europe\/Berlin/,
  )
  expect((await cli('schedule', 'disable', 'nightly')).stdout).toMatch(/nightly is off/)
  expect((await cli('schedule', 'list')).stdout).toMatch(/○ off +nightly +30 6 \* \* \* +Europe\/Berlin/)
  expect(await json('schedule', 'enable', 'nightly')).toMatchObject({ enabled: true })
  expect(await json('schedule', 'delete', 'nightly')).toEqual({ schedule: 'nightly', deleted: true })
})

describe('on one’s own database', () => {
  it('nobody reviews in the name of another: the hint is the call of the API', async () => {
    const added = await json('route', 'register', 'orders', '--on', 'insert', '--columns', 'id')
    expect(added).toMatchObject([{ route_code: 'orders.insert', state: 'disabled', registered_by: MIGRATOR }])
    await json('route', 'dry-run', 'orders.insert')
    await db.owner(`insert into public.orders values (1, 'new')`)
    const evidence = await cli('route', 'evidence', 'orders.insert')
    expect(evidence.stdout).toContain(
      'POST /api/v1/event-routes/orders.insert/review with their token and {"evidence": 1, "revision": 1}',
    )
    expect(
      await cli('route', 'review', 'orders.insert', '--evidence', '1', '--as', 'reviewer'),
    ).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('POST /api/v1/event-routes/orders.insert/review'),
    })
    expect(await json('route', 'delete', 'orders.insert')).toEqual({
      deleted: ['orders.insert'],
      statements: [],
    })
  })

  it('a token for an executor leases its jobs, and one for the back end reads figures', async () => {
    const executor = await cli('token', '--role', 'stagedoor_executor', '--executor', 'external_worker')
    expect(decodeJwt(executor.stdout.trim())).toMatchObject({
      role: 'stagedoor_executor',
      executor: 'external_worker',
      sub: 'external_worker',
    })
    const scraper = await json('token', '--role', 'service_role', '--read-only', '--name', 'prometheus')
    expect(decodeJwt(scraper.token)).toMatchObject({
      role: 'service_role',
      read_only: true,
      sub: 'prometheus',
    })
  })

  it('a worker runs handlers of a file, ends what runs on Ctrl-C and leaves', async () => {
    const file = join(home, 'jobs.mjs')
    writeFileSync(
      file,
      `export default { slow: async (job, { log }) => {
        log.warn('begun')
        await new Promise((resolve) => setTimeout(resolve, 300))
        return { done_ref: job.job_id }
      } }`,
    )
    await db.owner(`do $$ declare p regclass; begin
      for p in select partition from iu_core.v_job_history_partition where from_time > now() loop
        execute format('drop table %s', p);
      end loop; end $$`)
    const worker = startCli(
      ['worker', '--handlers', file, '--kinds', 'slow', '--concurrency', '2', '--metrics-port', '0'],
      env,
    )
    await worker.says(/Working as PG_worker, 2 jobs at once\n +slow/)
    await worker.says(/playbooks driven and run, with no playbook handlers of yours;/)
    const [, metrics] = await worker.says(/metrics (http:\/\/127\.0\.0\.1:\d+\/metrics)/)
    const { job_id: id } = await json('job', 'enqueue', 'slow')
    await worker.says(/begun/)
    await until('the end is counted', async () =>
      /stagedoor_jobs_ended_total\{by="worker",kind="slow",outcome="completed"\} 1/.test(
        await (await fetch(metrics!)).text(),
      ),
    )
    expect(await (await fetch(metrics!)).text()).not.toContain('stagedoor_dispatch_lag_seconds')
    await until('partitions are ahead, with nothing but a worker', async () => {
      const [row] = await db.owner<{ days: number }>(
        'select history_days_left as days from iu_core.fn_health()',
      )
      return row!.days >= 90
    })
    const { job_id: last } = await json('job', 'enqueue', 'slow', '--priority', '-5')
    await worker.says(/begun[\s\S]*begun/)
    expect(await worker.end('SIGINT')).toBe(0)
    expect(await json('job', 'show', last)).toMatchObject({ status: 'completed', priority: -5 })
    expect(await json('job', 'show', id)).toMatchObject({ status: 'completed', result: { done_ref: id } })
    expect(await db.owner('select from iu_core.job_worker')).toEqual([])
  })

  it('a worker that is killed loses its job to the next within seconds', async () => {
    const file = join(home, 'stuck.mjs')
    writeFileSync(
      file,
      `export default { stuck: (job, { log }) => { log.warn('begun'); return new Promise(() => {}) } }`,
    )
    const worker = startCli(['worker', '--handlers', file, '--kinds', 'stuck'], env)
    await worker.says(/Working/)
    const { job_id: id } = await json('job', 'enqueue', 'stuck')
    await worker.says(/begun/)
    await worker.end('SIGKILL')
    writeFileSync(file, `export default { stuck: () => ({ freed: true }) }`)
    const next = startCli(['worker', '--handlers', file, '--kinds', 'stuck'], env)
    await until('the job is done', async () => {
      const [row] = await db.owner('select crashes from iu_core.job_history where job_id = $1', [id])
      return row
    })
    expect(await json('job', 'show', id)).toMatchObject({ status: 'completed', crashes: 1, attempts: 1 })
    await next.end()
  })

  it('`event rebase` rewrites the positions and says what is yet to be dispatched', async () => {
    expect((await cli('event', 'rebase')).stdout).toMatch(
      /\d+ events, \d+ readers and \d+ consumers have positions of this server/,
    )
  })
})

it('settings of a kind are flags, or setting=value', async () => {
  const set = await json(
    'job',
    'kind',
    'set',
    'flagged',
    '--max-attempts',
    '3',
    '--rate-period',
    '1 minute',
    'rate=5',
  )
  expect(set).toMatchObject({ max_attempts: 3, rate_period: '00:01:00', rate: 5 })
  expect(await json('job', 'kind', 'set', 'flagged', '--rate', 'none')).toMatchObject({
    rate: null,
    max_attempts: 3,
  })
  expect(await cli('job', 'kind', 'set', 'flagged')).toMatchObject({ code: 2 })
})

it('a rejection that nobody handled names the jobs in hand and gives the lease back', async () => {
  const file = join(home, 'stray.mjs')
  writeFileSync(
    file,
    `export default {
       stray: async (job) => {
         if (job.payload_ref === 'bad') void Promise.reject(new Error('nobody caught me'))
         await new Promise(() => setTimeout(() => {}, 60_000))
       },
     }`,
  )
  const enqueue = async (ref: string): Promise<string> => {
    const { rows } = await db
      .pool('stagedoor_worker')
      .query<{ id: string }>(`select iu_core.fn_job_enqueue('stray', p_payload_ref => $1) as id`, [ref])
    return rows[0]!.id
  }
  // One runs, the others are claimed ahead.
  const bad = await enqueue('bad')
  await enqueue('good')
  const worker = startCli(
    ['worker', '--handlers', file, '--kinds', 'stray', '--concurrency', '1', '--no-playbooks', '--no-search'],
    env,
  )
  await until('it has ended', () => worker.child.exitCode !== null)
  expect(worker.child.exitCode).toBe(1)
  expect(worker.output()).toContain(`stray ${bad}`)
  expect(worker.output()).toContain('nobody caught me')
  // At once, not when the lease has passed: there is no worker any more.
  expect(await db.owner('select from iu_core.job_worker')).toEqual([])
  expect(
    await db.owner(
      `select payload_ref, leased_by, crashes, attempts, last_error ~ 'nobody caught me' as told
         from iu_core.job_queue where job_kind = 'stray' order by payload_ref`,
    ),
  ).toEqual([
    { payload_ref: 'bad', leased_by: null, crashes: 1, attempts: 0, told: true },
    { payload_ref: 'good', leased_by: null, crashes: 0, attempts: 0, told: null },
  ])
  await db.owner(`delete from iu_core.job_queue where job_kind = 'stray'`)
})

it('a server and a worker that are idle hold at most 20 connections each', {
  tags: 'long',
}, async () => {
  const counts: Record<string, number> = {}
  for (const [name, args, ready] of [
    ['server', ['start', '--port', '0'], /runs at/],
    ['worker', ['worker'], /Working/],
  ] as const) {
    const running = startCli(args, { ...env, DATABASE_DIRECT_URL: db.url('stagedoor_worker') })
    await running.says(ready)
    // Its start needs more for a moment; then it stays below, whatever its periodic tasks do.
    const seen: number[] = []
    await until(`the idle ${name} holds at most 20`, async () => {
      const { rows } = await db.pool('postgres').query<{ n: number }>(
        `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and usename in ('stagedoor_api', 'stagedoor_worker', 'stagedoor_playbook', 'stagedoor_proposer')
              and application_name ~ '^stagedoor [0-9]' and application_name !~ 'cli$'`,
      )
      seen.push(rows[0]!.n)
      await delay(500)
      return seen.length > 10 && seen.slice(-10).every((n) => n <= 20)
    })
    counts[name] = Math.max(...seen.slice(-10))
    await running.end()
  }
  console.log('idle connections', counts)
})
