/**
 * What an agent waits for: a statement that changes rows becomes a plan, beside the same UPDATE and its rollback alone; and get_status over
 * MCP, beside the same call over HTTP, on a server as `stagedoor start` runs it.
 */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atMost } from '../criteria.ts'
import {
  backEndActor,
  createPool,
  inTransaction,
  openProposalTable,
  proposalGrants,
  propose,
} from '../product.ts'
import { median, medianOf, percentile, worstOf } from '../statistics.ts'
import { startServer } from './agent-server.ts'

const ROWS_OF_TABLE = 100_000
const PROPOSALS = 10
const CALLS = 1_000
const WARM_UP = 100
const STATEMENT = (rows: number) => `update public.products set price = price * 1.1 where id <= ${rows}`

export const agents: Benchmark = {
  name: 'agents',
  about: 'an UPDATE proposed in SQL, planned and rolled back; get_status over MCP beside HTTP',
  unit: 'rows',
  size: { full: 1_000, quick: 1_000 },
  rounds: { full: 3, quick: 1 },
  warmUp: false,
  freshDatabase: 'contender',
  contenders: [
    {
      name: 'proposal',
      about: 'analysed, worked out, rolled back, recorded as a plan',
      run: throughProposal,
    },
    { name: 'floor', about: 'UPDATE … RETURNING and ROLLBACK', run: throughPlainSql },
    { name: 'status', about: 'one call after the other, over MCP and over HTTP', run: throughServer },
  ],
  summarise: (rounds) => ({
    plan_ms: medianOf(rounds, 'proposal', 'plan_ms'),
    plan_worst_ms: worstOf(rounds, 'proposal', 'plan_worst_ms'),
    locked_worst_ms: worstOf(rounds, 'proposal', 'locked_worst_ms'),
    floor_ms: medianOf(rounds, 'floor', 'ms'),
    mcp_p50_ms: medianOf(rounds, 'status', 'mcp_p50_ms'),
    mcp_p99_ms: medianOf(rounds, 'status', 'mcp_p99_ms'),
    http_p50_ms: medianOf(rounds, 'status', 'http_p50_ms'),
    http_p99_ms: medianOf(rounds, 'status', 'http_p99_ms'),
    rows_changed: worstOf(rounds, 'proposal', 'rows_changed'),
    rows_missing: worstOf(rounds, 'proposal', 'rows_missing'),
  }),
  criteria: [
    { field: 'plan_worst_ms', bar: atMost(1_000) },
    { field: 'locked_worst_ms', bar: atMost(200) },
    { field: 'mcp_p99_ms', bar: atMost(20) },
    { field: 'rows_changed', bar: atMost(0), correctness: true },
    { field: 'rows_missing', bar: atMost(0), correctness: true },
  ],
}

async function makeProducts(superuser: pg.Client): Promise<void> {
  await superuser.query(`create table public.products (id bigint primary key, name text not null, price numeric(12, 4) not null);
    insert into public.products select n, 'Product ' || n, n from generate_series(1, ${ROWS_OF_TABLE}) n;
    grant select, insert, update, delete on public.products to workflow_admin`)
  await superuser.query('vacuum analyze public.products')
}

async function throughProposal({ database, size }: Task): Promise<Figures> {
  const superuser = await database.superuser()
  await makeProducts(superuser)
  const administration = createPool(database.url, { role: 'workflow_admin', max: 1 })
  const { workspaceId, grants } = await inTransaction(administration, async (session) => {
    await session.query(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    const made = await session.query(`insert into public.workspaces (name) values ('Acme') returning id`)
    await openProposalTable(session, 'public.products', { workspaceId: made.rows[0].id })
    return {
      workspaceId: made.rows[0].id as string,
      grants: await proposalGrants(session, 'public.products'),
    }
  })
  await administration.end()
  const password = randomBytes(16).toString('hex')
  await superuser.query(`${grants.join('\n')} alter role stagedoor_proposer login password '${password}'`)
  const proposerUrl = new URL(database.url)
  proposerUrl.username = 'stagedoor_proposer'
  proposerUrl.password = password
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 4 })
  const proposalPool = createPool(proposerUrl.toString(), { max: 2 })
  const sum = async () =>
    (await superuser.query('select sum(price)::text as sum from public.products')).rows[0].sum
  try {
    const before = await sum()
    const took: number[] = []
    const locked: number[] = []
    let missing = 0
    for (let n = 0; n <= PROPOSALS; n++) {
      const started = performance.now()
      const { upload } = await propose({ pool, home: '', proposalPool }, STATEMENT(size), {
        actor: backEndActor(pool),
        workspaceId,
      })
      // The first opens sessions.
      if (n === 0) continue
      took.push(performance.now() - started)
      locked.push(Number(upload.proposal?.locked_ms))
      missing += size - Number((upload.plan_totals?.products as { update?: number } | undefined)?.update ?? 0)
    }
    return {
      plan_ms: median(took),
      plan_worst_ms: Math.max(...took),
      locked_worst_ms: Math.max(...locked),
      rows_changed: (await sum()) === before ? 0 : 1,
      rows_missing: missing,
    }
  } finally {
    await pool.end()
    await proposalPool.end()
  }
}

async function throughPlainSql({ database, size }: Task): Promise<Figures> {
  const superuser = await database.superuser()
  await makeProducts(superuser)
  const took: number[] = []
  for (let n = 0; n <= PROPOSALS; n++) {
    const started = performance.now()
    await superuser.query('begin')
    await superuser.query(`${STATEMENT(size)} returning *`)
    await superuser.query('rollback')
    if (n > 0) took.push(performance.now() - started)
  }
  return { ms: median(took) }
}

async function throughServer({ size }: Task): Promise<Figures> {
  const server = await startServer(
    `create table public.products (id bigint primary key, name text not null, price numeric(12, 4) not null);
     insert into public.products select n, 'Product ' || n, n from generate_series(1, ${size * 10}) n;
     grant select, insert, update, delete on public.products to workflow_admin`,
    'public.products',
  )
  try {
    const upload = await server.propose(STATEMENT(size))
    const mcp = await times(() => server.overMcp(upload))
    const http = await times(() => server.overHttp(upload))
    return {
      mcp_p50_ms: percentile(mcp, 0.5),
      mcp_p99_ms: percentile(mcp, 0.99),
      http_p50_ms: percentile(http, 0.5),
      http_p99_ms: percentile(http, 0.99),
    }
  } finally {
    await server.stop()
  }
}

async function times(call: () => Promise<unknown>): Promise<number[]> {
  for (let warm = 0; warm < WARM_UP; warm++) await call()
  const took: number[] = []
  for (let made = 0; made < CALLS; made++) {
    const began = performance.now()
    await call()
    took.push(performance.now() - began)
  }
  return took
}
