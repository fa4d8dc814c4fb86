/**
 * Measures what the model is made of, in one run on one server: what statements of the queue cost by their size, alone and beside other
 * sessions that claim, what NOTIFY costs, what a commit waits, what Node pays, what NATS costs, and what an idle process costs. Costs are
 * CPU times of processes, which other load on the machine hardly moves.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Contender, Round } from '../benchmark.ts'
import { postgresCpuMs, sessionCpuMs } from '../cpu.ts'
import type { Report } from '../harness.ts'
import { measureIdle } from '../idle/idle.ts'
import { connectNats, natsVersion, startNats } from '../nats.ts'
import {
  beginJobs,
  ClaimCursor,
  claimJobs,
  claimJobsById,
  completeJobs,
  createPool,
  enqueueMany,
  leaveWorker,
  registerWorker,
  startWorker,
} from '../product.ts'
import { startHosts } from '../remote/hosts.ts'
import { untilEmpty, usage } from '../remote/remote.ts'
import type { BenchDatabase } from '../server.ts'
import { median } from '../statistics.ts'
import {
  type ClaimCost,
  type ColdCost,
  type ContentionCost,
  fitLine,
  flatten,
  type MessageCost,
  type NotifyCost,
  type Parameters,
  type StatementCost,
  unflatten,
} from './parameters.ts'

type ClaimedJobs = Awaited<ReturnType<typeof claimJobs>>

const KIND = 'noop'
const LEASE_MS = 3_600_000
/** Jobs a statement, and how many jobs so. */
const SIZES = [
  { rows: 1, jobs: 500 },
  { rows: 3, jobs: 900 },
  { rows: 10, jobs: 2500 },
  { rows: 50, jobs: 6000 },
  { rows: 100, jobs: 10_000 },
  { rows: 400, jobs: 20_000 },
] as const
/** Of the drain that says what a handler costs that waits. */
const WAITING_HANDLER_MS = 20
const IDLE_GAPS_MS = [5, 20, 50]
const COLD_JOBS = 120
/** Before each of the round trips and hops that find both ends idle. */
const IDLE_MS = 10
const IDLE_SAMPLES = 100
const NOTIFY_SECONDS = 2

/** Each of them gets a database of its own. Their figures are what `parametersOf` needs, flat. */
export const MEASUREMENTS: readonly Contender[] = [
  {
    name: 'statements',
    about: 'statements of the queue by their size, of idle sessions, and of many sessions at once',
    async run({ database }) {
      const statements = await measureStatements(database)
      const { cold, cold_behind } = await measureCold(database)
      const { base_us, row_us } = statements.costs.claim
      const sessionUs = await measureFirstClaim(database, base_us + row_us)
      return flatten({
        ...statements,
        cold,
        cold_behind,
        sessionUs,
        contention: await measureContention(database, statements),
      })
    },
  },
  {
    name: 'node',
    about: 'the worker in Node',
    run: async ({ database }) => flatten(await measureNode(database)),
  },
  {
    name: 'commit',
    about: 'commit, round trip and NOTIFY',
    async run({ database }) {
      const commit = await measureCommit(database)
      return flatten({ ...commit, notify: await measureNotify(database) })
    },
  },
  {
    name: 'idle_process',
    about: 'processes that have nothing to do',
    run: async ({ database }) => flatten(await measureIdle(database, { count: 4, seconds: 8 })),
  },
  {
    name: 'nats',
    about: 'messages of core NATS, and a gateway with a remote worker',
    async run({ database }) {
      const nats = await measureNats()
      if (nats === undefined) return {}
      const node = await measureNode(database)
      return flatten({ ...nats, ...(await measureRelay(database, node)) })
    },
  },
]

/** From the figures of all measurements of one round. */
export function parametersOf(
  round: Round,
  { machine, versions, started_at }: Pick<Report, 'machine' | 'versions' | 'started_at'>,
): Parameters {
  const statements = unflatten<Statements>(round.statements!)
  const commit = unflatten<Commit>(round.commit!)
  const nats = unflatten<NonNullable<Parameters['nats']>>(round.nats!)
  const silent = commit.notify.find(({ listeners }) => listeners === 0)!
  const plain = commit.notify.find(({ listeners }) => listeners < 0)!
  const heard = commit.notify.at(-1)!
  return {
    measured_at: started_at,
    machine,
    versions,
    postgres: {
      ...statements.costs,
      empty_claim_us: statements.emptyClaimUs,
      claim_by_id: statements.claimById,
      session_us: statements.sessionUs,
      contention: statements.contention.cost,
      cold: statements.cold,
      cold_behind: statements.cold_behind,
      vacuum_us: statements.vacuumUs,
      background_factor: statements.backgroundFactor,
      commit_ms: commit.commitMs,
      commit_times_ms: commit.commitTimesMs,
      flush_ms_per_mb: commit.flushMsPerMb,
      notify_us: Math.max(0, silent.postgres_us - plain.postgres_us),
      listener_us: Math.max(0, heard.postgres_us - silent.postgres_us) / heard.listeners,
      wal: statements.wal,
      idle: unflatten<Parameters['postgres']['idle']>(round.idle_process!),
    },
    node: unflatten<Parameters['node']>(round.node!),
    round_trip_ms: commit.roundTripMs,
    idle_round_trip_ms: commit.idleRoundTripMs,
    ...(nats.request !== undefined && { nats }),
    tables: { claims: [...statements.table, ...statements.contention.table], notify: commit.notify },
  }
}

interface Statements extends Awaited<ReturnType<typeof measureStatements>> {
  readonly cold: readonly ColdCost[]
  readonly cold_behind: readonly ColdCost[]
  readonly sessionUs: number
  readonly contention: Awaited<ReturnType<typeof measureContention>>
}

interface Commit extends Awaited<ReturnType<typeof measureCommit>> {
  readonly notify: readonly NotifyCost[]
}

interface Session {
  readonly client: pg.Client
  readonly pid: number
  readonly worker: string
}

async function openSession(database: BenchDatabase): Promise<Session> {
  const client = await database.worker()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const worker = await registerWorker(client, {
    executor: 'PG_worker',
    kinds: [KIND],
    name: 'model',
    leaseMs: LEASE_MS,
  })
  return { client, pid: rows[0].pid, worker }
}

async function closeSession({ client, worker }: Session): Promise<void> {
  await leaveWorker(client, worker)
  await client.end()
}

async function fillQueue(client: pg.Client, jobs: number, chunk = 1000): Promise<void> {
  for (let from = 0; from < jobs; from += chunk)
    await enqueueMany(
      client,
      Array.from({ length: Math.min(chunk, jobs - from) }, (_, n) => ({
        job_kind: KIND,
        payload: { n: from + n },
      })),
    )
}

async function emptyQueue(superuser: pg.Client): Promise<void> {
  await superuser.query('truncate iu_core.job_queue, iu_core.job_key')
  await superuser.query('vacuum analyze iu_core.job_queue')
  await superuser.query('checkpoint')
}

async function measureStatements(database: BenchDatabase) {
  const superuser = await database.superuser()
  const session = await openSession(database)
  const points = { enqueue: [], claim: [], begin: [], complete: [] } as Record<
    'enqueue' | 'claim' | 'begin' | 'complete',
    { rows: number; us: number }[]
  >
  const table: ClaimCost[] = []
  let sessionMs = 0
  let serverMs = 0
  let vacuumUs = 0
  await fillQueue(session.client, 500)
  await drainOnce(session, 50, { begins: true })
  for (const { rows, jobs } of SIZES) {
    await emptyQueue(superuser)
    const timed = async (name: keyof typeof points, statements: () => Promise<number>): Promise<number> => {
      const before = sessionCpuMs(session.pid)
      const count = await statements()
      // The session accounts for its CPU when it waits for the next statement.
      await delay(2)
      const us = ((sessionCpuMs(session.pid) - before) * 1000) / count
      points[name].push({ rows, us })
      return us
    }
    await timed('enqueue', async () => {
      await fillQueue(session.client, jobs, rows)
      return Math.ceil(jobs / rows)
    })
    await superuser.query('vacuum analyze iu_core.job_queue')
    const { rows: position } = await superuser.query('select pg_current_wal_insert_lsn() as lsn')
    const before = { session: sessionCpuMs(session.pid), server: await postgresCpuMs(superuser) }
    const claims: ClaimedJobs[] = []
    const claim = await timed('claim', async () => {
      const cursor = new ClaimCursor()
      for (let left: number = jobs; left > 0; left -= rows) {
        const after = cursor.after
        const found = await claimJobs(session.client, session.worker, rows, {
          after,
          prepared: true,
          begin: 0,
          held: 1,
        })
        cursor.advance(found)
        claims.push(found)
      }
      return claims.length
    })
    await timed('begin', async () => {
      for (const found of claims) await beginJobs(session.client, session.worker, found, { prepared: true })
      return claims.length
    })
    const complete = await timed('complete', async () => {
      for (const found of claims)
        await completeJobs(
          session.client,
          session.worker,
          found.map((job) => ({ job })),
          { prepared: true },
        )
      return claims.length
    })
    const { rows: wal } = await superuser.query(
      'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1) as bytes',
      [position[0].lsn],
    )
    sessionMs += sessionCpuMs(session.pid) - before.session
    serverMs += (await postgresCpuMs(superuser)) - before.server
    // Of the largest: small tables are left alone until enough rows are dead.
    vacuumUs = (await measureVacuum(superuser)) / jobs
    table.push({
      claimers: 1,
      jobs: rows,
      postgres_us: (claim + complete) / rows,
      wal_bytes: Number(wal[0].bytes) / jobs,
    })
  }
  const emptyClaimUs = await measureEmptyClaim(session)
  await emptyQueue(superuser)
  const claimById = await measureClaimById(session)
  await closeSession(session)
  const costs = Object.fromEntries(
    Object.entries(points).map(([name, list]) => [name, fitLine(list)]),
  ) as Record<keyof typeof points, StatementCost>
  const walFit = fitLine(table.map(({ jobs, wal_bytes }) => ({ rows: jobs, us: wal_bytes * jobs })))
  return {
    costs,
    table,
    emptyClaimUs,
    claimById,
    backgroundFactor: Math.max(1, serverMs / sessionMs),
    vacuumUs,
    // Three statements a batch: claim, begin, complete.
    wal: { job_bytes: walFit.row_us, statement_bytes: walFit.base_us / 3 },
  }
}

/** Autovacuum does it in a process of its own, in the runs it is off. */
async function measureVacuum(superuser: pg.Client): Promise<number> {
  const { rows } = await superuser.query('select pg_backend_pid() as pid')
  const before = sessionCpuMs(rows[0].pid)
  await superuser.query('vacuum (parallel 0) iu_core.job_queue')
  await delay(2)
  return (sessionCpuMs(rows[0].pid) - before) * 1000
}

async function measureEmptyClaim(session: Session): Promise<number> {
  const count = 200
  const before = sessionCpuMs(session.pid)
  for (let n = 0; n < count; n++)
    await claimJobs(session.client, session.worker, 100, { prepared: true, held: 1 })
  await delay(2)
  return ((sessionCpuMs(session.pid) - before) * 1000) / count
}

async function measureClaimById(session: Session): Promise<Parameters['postgres']['claim_by_id']> {
  const { client, pid, worker } = session
  const count = 300
  await fillQueue(client, count)
  const { rows } = await client.query<{ job_id: string }>('select job_id from iu_core.job_queue')
  const timed = async (): Promise<number> => {
    const before = sessionCpuMs(pid)
    for (const { job_id } of rows) await claimJobsById(client, worker, [job_id])
    await delay(2)
    return ((sessionCpuMs(pid) - before) * 1000) / count
  }
  return { hit_us: await timed(), miss_us: await timed() }
}

/** Claims and completes by so many until nothing is left. */
async function drainOnce(
  { client, worker }: Session,
  batch: number,
  { begins = false, claiming = new ClaimsAtOnce() }: { begins?: boolean; claiming?: ClaimsAtOnce } = {},
): Promise<number> {
  const cursor = new ClaimCursor()
  for (let done = 0; ; ) {
    const after = cursor.after
    const found = await claiming.during(() =>
      claimJobs(client, worker, batch, { after, prepared: true, held: 1, ...(begins && { begin: 0 }) }),
    )
    if (found.length === 0) {
      if (after === undefined) return done
      cursor.reset()
      continue
    }
    cursor.advance(found)
    if (begins) await beginJobs(client, worker, found, { prepared: true })
    await completeJobs(
      client,
      worker,
      found.map((job) => ({ job })),
      { prepared: true },
    )
    done += found.length
  }
}

/**
 * Pairs of sessions in turn, as a worker uses them: the claim on one, the completion at once on the other, then nothing. What one pair leaves
 * in the caches of the cores the next ones displace; what the sessions have in common the second statement of a pair finds there.
 */
const COLD_SESSIONS = 4

async function measureCold(
  database: BenchDatabase,
): Promise<Pick<Parameters['postgres'], 'cold' | 'cold_behind'>> {
  const superuser = await database.superuser()
  const sessions = await Promise.all(Array.from({ length: COLD_SESSIONS }, () => openSession(database)))
  const usedMs = (second: number): number =>
    sessions.reduce((sum, { pid }, n) => sum + (n % 2 === second ? sessionCpuMs(pid) : 0), 0)
  const cost = async (idleMs: number): Promise<{ first: number; behind: number }> => {
    await emptyQueue(superuser)
    await fillQueue(sessions[0]!.client, COLD_JOBS)
    const before = [usedMs(0), usedMs(1)] as const
    for (let left = COLD_JOBS, turn = 0; left > 0; left -= 2, turn++) {
      const first = idleMs === 0 ? 0 : (turn * 2) % COLD_SESSIONS
      const { client, worker } = sessions[first]!
      const found = await claimJobs(client, worker, 2, { prepared: true, held: 1 })
      await completeJobs(
        sessions[first + 1]!.client,
        worker,
        found.map((job) => ({ job })),
        { prepared: true },
      )
      if (idleMs > 0) await delay((idleMs * 2) / COLD_SESSIONS)
    }
    await delay(2)
    return { first: usedMs(0) - before[0], behind: usedMs(1) - before[1] }
  }
  for (const idleMs of [0, 4]) await cost(idleMs)
  const warm = await cost(0)
  const cold = [{ idle_ms: 0.5, factor: 1 }]
  const cold_behind = [{ idle_ms: 0.5, factor: 1 }]
  for (const idle_ms of IDLE_GAPS_MS) {
    const { first, behind } = await cost(idle_ms)
    cold.push({ idle_ms, factor: Math.max(1, first / warm.first) })
    cold_behind.push({ idle_ms, factor: Math.max(1, behind / warm.behind) })
  }
  await Promise.all(sessions.map(closeSession))
  return { cold, cold_behind }
}

/** CPU of a session until its first claim is answered, beyond what that claim costs later. */
async function measureFirstClaim(database: BenchDatabase, claimUs: number): Promise<number> {
  const used: number[] = []
  for (let n = 0; n < 5; n++) {
    const session = await openSession(database)
    await fillQueue(session.client, 1)
    const before = sessionCpuMs(session.pid)
    await claimJobs(session.client, session.worker, 1, { prepared: true, held: 1 })
    await delay(2)
    used.push((sessionCpuMs(session.pid) - before) * 1000)
    await closeSession(session)
  }
  return Math.max(0, median(used) - claimUs)
}

/** Claims of so many jobs by one, two, four and many sessions at once. */
const CONTENTION = [
  { rows: 10, jobs: 8000 },
  { rows: 100, jobs: 30_000 },
]
const CLAIMERS = [1, 2, 4, 16]

async function measureContention(
  database: BenchDatabase,
  { backgroundFactor }: { backgroundFactor: number },
): Promise<{ cost: ContentionCost[]; table: ClaimCost[] }> {
  const superuser = await database.superuser()
  const sessions = await Promise.all(Array.from({ length: CLAIMERS.at(-1)! }, () => openSession(database)))
  const costs: ClaimCost[] = []
  const cost: ContentionCost[] = []
  const alone = new Map<number, number>()
  for (const claimers of CLAIMERS) {
    const points: { rows: number; us: number }[] = []
    const claiming = new ClaimsAtOnce()
    for (const { rows, jobs } of CONTENTION) {
      await emptyQueue(superuser)
      await fillQueue(sessions[0]!.client, jobs)
      await superuser.query('vacuum analyze iu_core.job_queue')
      const { rows: position } = await superuser.query('select pg_current_wal_insert_lsn() as lsn')
      const before = await postgresCpuMs(superuser)
      await Promise.all(sessions.slice(0, claimers).map((session) => drainOnce(session, rows, { claiming })))
      const us = (((await postgresCpuMs(superuser)) - before) * 1000) / jobs / backgroundFactor
      const { rows: wal } = await superuser.query(
        'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1) as bytes',
        [position[0].lsn],
      )
      if (claimers === 1) alone.set(rows, us)
      points.push({ rows, us: Math.max(1, (us - alone.get(rows)!) * rows) })
      costs.push({ claimers, jobs: rows, postgres_us: us, wal_bytes: Number(wal[0].bytes) / jobs })
    }
    if (claimers > 1) cost.push({ others: claiming.others, ...fitLine(points) })
  }
  await Promise.all(sessions.map(closeSession))
  return { cost, table: costs }
}

/** How many other claims are under way when one is sent, on average. */
class ClaimsAtOnce {
  private sent = 0
  private underWay = 0
  private sum = 0

  get others(): number {
    return this.sum / Math.max(1, this.sent)
  }

  async during<T>(claim: () => Promise<T>): Promise<T> {
    this.sent++
    this.sum += this.underWay++
    try {
      return await claim()
    } finally {
      this.underWay--
    }
  }
}

/** What the worker pays in this process, from two drains whose statements are of different sizes, and how late timers are. */
async function measureNode(database: BenchDatabase): Promise<Parameters['node']> {
  const superuser = await database.superuser()
  await superuser.query('create extension if not exists pg_stat_statements')
  const drain = async (
    jobs: number,
    batch: number,
    handlerMs = 0,
  ): Promise<{ us: number; statements: number }> => {
    await emptyQueue(superuser)
    const filler = await database.worker()
    await fillQueue(filler, jobs)
    await filler.end()
    const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 6, purpose: 'bench' })
    let ran = 0
    let finish = (): void => {}
    const done = new Promise<void>((resolve) => {
      finish = resolve
    })
    await superuser.query('select pg_stat_statements_reset()')
    const before = process.cpuUsage()
    const worker = await startWorker({
      pool,
      listenUrl: database.workerUrl,
      concurrency: batch === 1 ? 1 : 10,
      batch,
      handlers: { [KIND]: () => (handlerMs === 0 ? undefined : delay(handlerMs)) },
      hooks: {
        onWrite: (_what, count) => {
          ran += count
          if (ran >= jobs) finish()
        },
      },
    })
    await done
    const { user, system } = process.cpuUsage(before)
    await worker.stop()
    await pool.end()
    const { claims, begins, completions } = await statementCalls(superuser)
    return { us: (user + system) / jobs, statements: (claims + begins + completions) / jobs }
  }
  await drain(5000, 100)
  const large = await drain(40_000, 100)
  const small = await drain(2000, 1)
  const waiting = await drain(1000, 100, WAITING_HANDLER_MS)
  const statement_us = Math.max(0, (small.us - large.us) / (small.statements - large.statements))
  const job_us = Math.max(1, large.us - statement_us * large.statements)
  return {
    statement_us,
    job_us,
    call_us: Math.max(job_us, waiting.us - statement_us * waiting.statements),
    wait_ms: WAITING_HANDLER_MS,
    cold: await measureColdNode(superuser, statement_us),
    timer_late_ms: await measureTimers(),
  }
}

/**
 * What a statement that does nothing costs this process more after it was idle than one after the other, beside what the worker pays for one: in
 * a loop of nothing else it is cheaper than it ever is in a worker.
 */
async function measureColdNode(client: pg.Client, statementUs: number): Promise<ColdCost[]> {
  const cost = async (idleMs: number, count: number): Promise<number> => {
    const used: number[] = []
    for (let n = 0; n < count; n++) {
      if (idleMs > 0) await delay(idleMs)
      const before = process.cpuUsage()
      await client.query({ name: 'nothing', text: 'select 1' })
      const { user, system } = process.cpuUsage(before)
      used.push(user + system)
    }
    return median(used)
  }
  await cost(0, 500)
  const warm = await cost(0, 500)
  const factors = []
  for (const idle_ms of IDLE_GAPS_MS)
    factors.push({
      idle_ms,
      factor: 1 + Math.max(0, (await cost(idle_ms, 60)) - warm) / Math.max(1, statementUs),
    })
  return [{ idle_ms: 0.5, factor: 1 }, ...factors]
}

async function measureTimers(): Promise<number> {
  const late: number[] = []
  for (let n = 0; n < 40; n++) {
    const began = performance.now()
    await delay(n % 2 === 0 ? 5 : 20)
    late.push(performance.now() - began - (n % 2 === 0 ? 5 : 20))
  }
  return Math.max(0, median(late))
}

async function measureCommit(database: BenchDatabase) {
  const client = await database.superuser()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  await client.query('create table bench_commit (id bigserial primary key, s text)')
  const timed = async (sql: string, count = 400): Promise<{ ms: number; us: number; times: number[] }> => {
    const times: number[] = []
    const cpu = sessionCpuMs(rows[0].pid)
    for (let n = 0; n < count; n++) {
      const began = performance.now()
      await client.query({ name: sql.slice(-40), text: sql })
      times.push(performance.now() - began)
    }
    await delay(2)
    return { ms: median(times), us: ((sessionCpuMs(rows[0].pid) - cpu) * 1000) / count, times }
  }
  const nothing = await timed('select 1')
  await client.query('set synchronous_commit = off')
  const unsynced = await timed(`insert into bench_commit (s) values ('off')`)
  await client.query('set synchronous_commit = on')
  const synced = await timed(`insert into bench_commit (s) values ('on')`, 1000)
  // A large row, so that what is written takes longer than the writing of it.
  await client.query('alter table bench_commit alter column s set storage external')
  await client.query(
    `create table bench_text as select string_agg(md5(n::text), '') as s from generate_series(1, 16000) n`,
  )
  const large = async (): Promise<{ ms: number; mb: number }> => {
    const position = async (): Promise<string> =>
      (await client.query('select pg_current_wal_insert_lsn() as lsn')).rows[0].lsn
    const before = await position()
    const { ms } = await timed('insert into bench_commit (s) select s from bench_text', 60)
    const { rows: written } = await client.query(
      'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::float8 as bytes',
      [before],
    )
    return { ms, mb: written[0].bytes / 60 / 1e6 }
  }
  await client.query('set synchronous_commit = off')
  const largeUnsynced = await large()
  await client.query('set synchronous_commit = on')
  const largeSynced = await large()
  const commitMs = Math.max(0.02, synced.ms - unsynced.ms)
  const commitTimesMs = synced.times
    .sort((a, b) => a - b)
    .filter((_, n) => n % 10 === 9)
    .map((ms) => Math.max(0.02, ms - unsynced.ms))
  return {
    commitMs,
    commitTimesMs,
    flushMsPerMb: Math.max(0, (largeSynced.ms - largeUnsynced.ms - commitMs) / largeSynced.mb),
    roundTripMs: Math.max(0.01, nothing.ms - nothing.us / 1000),
    idleRoundTripMs: await idleTimes(
      () => client.query({ name: 'nothing', text: 'select 1' }),
      nothing.us / 1000,
    ),
  }
}

/** Without the CPU of this process and of the other end. Ten of them, from short to long. */
async function idleTimes(act: () => Promise<unknown>, otherEndMs: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < IDLE_SAMPLES; n++) {
    await delay(IDLE_MS)
    const cpu = process.cpuUsage()
    const began = performance.now()
    await act()
    const ms = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    times.push(Math.max(0.01, ms - (user + system) / 1000 - otherEndMs))
  }
  times.sort((a, b) => a - b)
  return Array.from({ length: 10 }, (_, n) => times[Math.floor(((n + 0.5) / 10) * times.length)]!)
}

/** One small insert a commit by 8 sessions; `listeners` sessions hear of each. */
async function measureNotify(database: BenchDatabase): Promise<NotifyCost[]> {
  const superuser = await database.superuser()
  const writers = await Promise.all(Array.from({ length: 8 }, () => database.superuser()))
  const results: NotifyCost[] = []
  const measure = async (listeners: number, text: string): Promise<NotifyCost> => {
    const hearing = await Promise.all(
      Array.from({ length: listeners }, async () => {
        const client = await database.superuser()
        await client.query('listen bench')
        return client
      }),
    )
    let commits = 0
    const cpu = await postgresCpuMs(superuser)
    const began = performance.now()
    await Promise.all(
      writers.map(async (client) => {
        while (performance.now() - began < NOTIFY_SECONDS * 1000) {
          await client.query({ name: text.slice(-40), text })
          commits++
        }
      }),
    )
    const seconds = (performance.now() - began) / 1000
    const postgres_us = (((await postgresCpuMs(superuser)) - cpu) * 1000) / commits
    await Promise.all(hearing.map((client) => client.end()))
    return { listeners, commits_per_s: commits / seconds, postgres_us }
  }
  results.push({ ...(await measure(0, `insert into bench_commit (s) values ('x')`)), listeners: -1 })
  const notifying = `with i as (insert into bench_commit (s) values ('x') returning id) select pg_notify('bench', (id % 16)::text) from i`
  for (const listeners of [0, 20, 100]) results.push(await measure(listeners, notifying))
  await Promise.all(writers.map((client) => client.end()))
  return results
}

/** Workers, their slots, and how many jobs so. A message carries as many calls as a worker has slots. The first is for messages that wake. */
const RELAYS = [
  { workers: 1, slots: 1, jobs: 1000 },
  { workers: 8, slots: 1, jobs: 8000 },
  { workers: 1, slots: 10, jobs: 8000 },
  { workers: 1, slots: 50, jobs: 20_000 },
]

async function measureRelay(
  database: BenchDatabase,
  { statement_us }: Pick<Parameters['node'], 'statement_us'>,
): Promise<Pick<NonNullable<Parameters['nats']>, 'relay' | 'relay_alone_us'>> {
  const superuser = await database.superuser()
  await superuser.query('create extension if not exists pg_stat_statements')
  const points = { gateway: [], worker: [], server: [] } as Record<
    'gateway' | 'worker' | 'server',
    { rows: number; us: number }[]
  >
  const alone = { gateway: 0, worker: 0, server: 0 }
  for (const { workers, slots, jobs } of RELAYS) {
    await emptyQueue(superuser)
    const hosts = await startHosts(database, { way: 'remote', workers, concurrency: slots, handlerMs: 0 })
    try {
      const filler = await database.worker()
      // The first calls of everything.
      await fillQueue(filler, 20 * slots * workers)
      await untilEmpty(superuser)
      await superuser.query('select pg_stat_statements_reset()')
      const before = await usage(superuser, hosts)
      await fillQueue(filler, jobs, 5000)
      await untilEmpty(superuser)
      const after = await usage(superuser, hosts)
      const { claims, completions } = await statementCalls(superuser)
      await filler.end()
      // Ends of one worker come together, and become one statement.
      const messages = workers === 1 ? completions : jobs / slots
      const add = (name: keyof typeof points, ms: number): void => {
        const us = Math.max(1, (ms * 1000) / messages)
        if (workers * slots === 1) alone[name] = us
        else points[name].push({ rows: jobs / messages, us })
      }
      add('gateway', after.gateway - before.gateway - ((claims + completions) * statement_us) / 1000)
      add('worker', after.workers - before.workers)
      add('server', after.nats - before.nats)
    } finally {
      await hosts.stop()
    }
  }
  return {
    relay: {
      gateway: fitLine(points.gateway),
      worker: fitLine(points.worker),
      server: fitLine(points.server),
    },
    relay_alone_us: alone,
  }
}

/** Statements of the queue since the last reset of pg_stat_statements. */
export async function statementCalls(
  superuser: pg.Client,
): Promise<{ claims: number; begins: number; completions: number }> {
  const { rows } = await superuser.query<{ claims: number; begins: number; completions: number }>(
    `select coalesce(sum(calls) filter (where query like '%fn_job_claim(%'), 0)::int as claims,
            coalesce(sum(calls) filter (where query like '%fn_job_begin(%'), 0)::int as begins,
            coalesce(sum(calls) filter (where query like '%fn_job_complete(%'), 0)::int as completions
       from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())`,
  )
  return rows[0]!
}

async function measureNats(): Promise<
  Omit<NonNullable<Parameters['nats']>, 'relay' | 'relay_alone_us'> | undefined
> {
  if ((await natsVersion()) === undefined) return undefined
  const server = await startNats()
  const [one, other] = [await connectNats(server.url), await connectNats(server.url)]
  try {
    const request: MessageCost[] = []
    for (const jobs of [1, 10, 100]) {
      const subject = one.subject('model', String(jobs))
      const calls = Array.from({ length: jobs }, (_, n) => ({
        call: `0199a8f0-0000-7000-8000-${String(n).padStart(12, '0')}:1`,
        name: KIND,
        body: { n },
      }))
      const end = other.subscribe(subject, (message) => message.respond({ v: 1, calls }))
      const count = jobs === 1 ? 6000 : 1500
      await delay(50)
      const before = { server: server.cpuMs(), node: process.cpuUsage() }
      let left = count
      await Promise.all(
        Array.from({ length: 64 }, async () => {
          while (left-- > 0) await one.request(subject, { v: 1, free: jobs }, 10_000)
        }),
      )
      const { user, system } = process.cpuUsage(before.node)
      request.push({
        jobs,
        server_us: ((server.cpuMs() - before.server) * 1000) / count / jobs,
        node_us: (user + system) / count / jobs,
      })
      end()
    }
    return { ...(await measureHops(one, other)), request, wake_up: await measureWakeUp(server, one, other) }
  } finally {
    await Promise.all([one.close(), other.close()])
    await server.stop()
  }
}

type Connection = Awaited<ReturnType<typeof connectNats>>

async function measureHops(
  one: Connection,
  other: Connection,
): Promise<Pick<NonNullable<Parameters['nats']>, 'hop_ms' | 'idle_hop_ms'>> {
  let came = (): void => {}
  const end = other.subscribe(one.subject('hop'), () => came())
  const hop = (): Promise<void> =>
    new Promise((resolve) => {
      came = resolve
      one.publish(one.subject('hop'))
    })
  await delay(50)
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const began = performance.now()
    await hop()
    times.push(performance.now() - began)
  }
  const idle_hop_ms = await idleTimes(hop, 0)
  end()
  return { hop_ms: median(times), idle_hop_ms }
}

async function measureWakeUp(server: { cpuMs(): number }, one: Connection, other: Connection) {
  const count = 10_000
  let came = 0
  let finish = (): void => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const end = other.subscribe(one.subject('wake'), () => {
    if (++came === count) finish()
  })
  await delay(50)
  const before = { server: server.cpuMs(), node: process.cpuUsage() }
  for (let n = 0; n < count; n++) {
    one.publish(one.subject('wake'), ['noop'])
    if (n % 100 === 99) await delay(0)
  }
  await done
  const { user, system } = process.cpuUsage(before.node)
  end()
  return { server_us: ((server.cpuMs() - before.server) * 1000) / count, node_us: (user + system) / count }
}
