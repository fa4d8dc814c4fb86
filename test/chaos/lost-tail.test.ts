/**
 * A failover to a replica that lacks the last commits, under a program that goes on: what it had in memory is another history's. It
 * must read everything again: no gap in a log, every item ended once, no job left behind, and search finds what is written later.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStagedoor, type Stagedoor, type Work } from '../../src/index.ts'
import { createPool, type Pool, withClient } from '../../src/kernel/postgres/connection.ts'
import { examine } from '../../src/kernel/postgres/doctor/doctor.ts'
import { createPostgresStore } from '../../src/search/stores/postgres.ts'
import type { VectorStore } from '../../src/search/stores/store.ts'
import { type ReplicatedServer, startReplicatedServer } from '../support/failover.ts'
import { loginUrl, MIGRATOR, prepareTemplate, TEMPLATE } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const ITEMS = { sequential: 200, fanout: 1_000 }
const JOBS = 600
const DATABASE = 'story'
const home = temporaryHome('lost-tail')
const logged: string[] = []

/** Lets handlers through, so many and no more: what is done before the failover does not hang on how fast the machine is. */
class Gate {
  passed = 0
  private allowed = 0

  allow(more: number): void {
    this.allowed += more
  }

  get isClosed(): boolean {
    return this.passed >= this.allowed
  }

  async pass(signal: AbortSignal): Promise<void> {
    while (this.isClosed) await delay(2, undefined, { signal })
    this.passed++
  }
}
const gates = { sequential: new Gate(), fanout: new Gate(), jobs: new Gate() }
let server: ReplicatedServer
let stagedoor: Stagedoor
let work: Work
let workspace: string
let pool: Pool
let vectors: VectorStore

beforeAll(async () => {
  server = await startReplicatedServer(home, async (superuserUrl) => {
    await prepareTemplate(superuserUrl)
    await withClient(superuserUrl, (client) =>
      client.query(`create database ${DATABASE} template ${TEMPLATE} owner ${MIGRATOR}`),
    )
  })
  const url = server.url(loginUrl(server.current.url(), MIGRATOR, DATABASE))
  pool = createPool(url, { role: 'dot_executor', max: 2 })
  vectors = createPostgresStore({ pool, stateOf: async () => 'active' })
  stagedoor = await createStagedoor({ databaseUrl: url, home })
  work = await stagedoor.work({
    jobs: {
      pack: (_job, { signal }) => gates.jobs.pass(signal),
    },
    playbooks: {
      numbers: ({ n }) => Array.from({ length: n as number }, (_, i) => i),
      one: async ({ n, mode }, { signal }) => {
        await gates[mode as keyof typeof ITEMS].pass(signal)
        return n
      },
    },
    dispatcher: true,
    search: true,
    log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
  })
  const [row] = await ask<{ id: string }>(`insert into public.workspaces (name) values ('Acme') returning id`)
  workspace = row!.id
})
afterAll(async () => {
  await stagedoor?.close()
  await pool?.end()
  await server?.stop()
})

/** As the administrator, on the server that is the primary now. */
async function ask<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return withClient(
    loginUrl(server.current.url(), 'postgres', DATABASE),
    async (client) => (await client.query<Row & { [column: string]: unknown }>(sql, values)).rows,
  )
}

const playbook = (mode: string) => `
name: each-${mode}
args: { n: 0 }
steps:
  - step: numbers
    tool: handler
    call: numbers
    args: { n: "\${args.n}" }
    next: each
  - step: each
    tool: handler
    call: one
    args: { n: "\${item}", mode: ${mode} }
    loop: { in: "\${steps.numbers.result}", mode: ${mode} }
`

async function writeUnit(address: string, body: string): Promise<void> {
  await stagedoor.units.create(workspace, { canonical_address: address, title: address, body })
  await stagedoor.search.flush({ workspace })
}

/** The chunks of a unit that have a vector, as the primary has them. */
async function chunksOf(address: string): Promise<string[]> {
  const rows = await ask<{ chunk_id: string }>(
    `select p.chunk_id from iu_core.search_point p join iu_core.information_unit u using (unit_id)
      where u.canonical_address = $1 and p.vector is not null`,
    [address],
  )
  return rows.map(({ chunk_id }) => chunk_id)
}

/** Which of these the mirror has, which lives as long as the program. */
async function mirrored(chunks: readonly string[]): Promise<string[]> {
  const [active] = await ask<{ collection: string }>(
    `select collection from iu_core.search_collection where source_kind = 'information_unit' and state = 'active'`,
  )
  return [...(await vectors.vectors(active!.collection, chunks)).keys()]
}

async function isFound(address: string, words: string): Promise<boolean> {
  const { hits } = await stagedoor.search.find(workspace, words)
  const chunks = await chunksOf(address)
  const isHit = hits.some(({ canonical_address }) => canonical_address === address)
  return isHit && chunks.length > 0 && (await mirrored(chunks)).length === chunks.length
}

it('doctor says that the failover can lose commits, also to a login that may not read statistics', async () => {
  const { notes } = await examine({ url: loginUrl(server.current.url(), MIGRATOR, DATABASE) })
  expect(notes).toContainEqual(
    expect.stringMatching(/^A standby follows this server.*synchronous_standby_names is empty/),
  )
})

it('goes on by itself from what the new primary has', async () => {
  await writeUnit('rules/first', 'Parcels are weighed on arrival.')
  await until('search has a mirror', () => isFound('rules/first', 'parcels weighed'))
  const executions: string[] = []
  for (const [mode, n] of Object.entries(ITEMS)) {
    await stagedoor.playbooks.register(playbook(mode))
    executions.push(await stagedoor.executions.start(`each-${mode}`, { n }))
  }
  await stagedoor.jobs.enqueueMany(Array.from({ length: JOBS }, () => ({ job_kind: 'pack' })))
  await letThrough({ sequential: 50, fanout: 200, jobs: 60 })
  await server.holdBackWal()
  await letThrough({ sequential: 50, fanout: 300, jobs: 120 })
  const lost = await stagedoor.executions.start('each-fanout', { n: 5 })
  await writeUnit('rules/lost', 'Letters are sorted by night.')
  await until('the mirror has what will be lost', () => isFound('rules/lost', 'letters sorted'))
  const lostChunks = await chunksOf('rules/lost')
  await useTransactionIds()
  expect(await mirrored(lostChunks)).toEqual(lostChunks)

  await server.failOver()
  for (const gate of Object.values(gates)) gate.allow(Number.POSITIVE_INFINITY)
  const began = performance.now()
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1)
  await until('a unit can be written again', () =>
    writeUnit('rules/later', 'Crates are opened at noon.').then(
      () => true,
      () => false,
    ),
  )
  await until('search finds what was written later', () =>
    isFound('rules/later', 'crates opened noon').catch(() => false),
  )
  const found = seconds()
  expect(await mirrored(lostChunks)).toEqual([])
  for (const id of executions)
    await until('the execution has ended', async () => (await stagedoor.executions.status(id)).end_time)
  await until('no job is left', async () => (await ask('select from iu_core.job_queue')).length === 0)
  console.log(`lost tail: search after ${found} s, everything done after ${seconds()} s`)

  expect(await ask(GAPS)).toEqual([])
  expect(await ask(ENDS_OF_ITEMS)).toEqual(
    Object.values(ITEMS).map((n, at) => ({ execution_id: executions[at], items: n, ends: n })),
  )
  expect(await ask('select execution_id::text, status from noetl.execution order by execution_id')).toEqual(
    executions.map((execution_id) => ({ execution_id, status: 'COMPLETED' })),
  )
  await expect(stagedoor.executions.status(lost)).rejects.toMatchObject({ code: 'execution_unknown' })
  expect(await stagedoor.executions.rebuild({ verify: true })).toMatchObject({ differences: [] })
  expect(await ask('select from iu_core.job_dead_letter')).toEqual([])
  expect(await ask(`select count(*)::int as n from iu_core.job_history where job_kind = 'pack'`)).toEqual([
    { n: JOBS },
  ])
  // Nobody is charged with a crash: crashed jobs would run one at a time.
  expect(await ask('select from iu_core.job_history where crashes > 0')).toEqual([])
  const issues = await ask<{ subject_ref: string }>(
    `select subject_ref, occurrences::int from iu_core.system_issue where code = 'database_history'`,
  )
  expect(issues).toEqual([{ subject_ref: expect.stringMatching(/^history:\d+\/00000002$/), occurrences: 1 }])
  expect(logged.filter((line) => line.includes('the database continues from another history'))).not.toEqual(
    [],
  )
  await until('every part is well', () => work.health().every(({ ok }) => ok))
})

/** So many more, all of them durable on the primary. */
async function letThrough(more: Record<keyof typeof gates, number>): Promise<void> {
  for (const [name, count] of Object.entries(more)) gates[name as keyof typeof gates].allow(count)
  const { sequential, fanout, jobs } = gates
  await until('their ends are written', async () => {
    const [done] = await ask<{ items: number; jobs: number }>(DONE)
    return (
      done!.items >= sequential.passed + fanout.passed &&
      done!.jobs >= jobs.passed &&
      Object.values(gates).every((gate) => gate.isClosed)
    )
  })
}

const DONE = `
  select (select count(*)::int from noetl.event where event_type in ('command.completed', 'loop.shard.done') and current_index is not null) as items,
         (select count(*)::int from iu_core.job_history where job_kind = 'pack') as jobs`

/** The new primary uses the ids of lost transactions again, and a mirror that counts them as seen misses what they write. */
async function useTransactionIds(): Promise<void> {
  await ask(`do $$ begin
    create temp table used (n integer);
    for n in 1..20000 loop
      begin insert into used values (n); exception when others then null; end;
    end loop; end $$`)
}

const GAPS = `
  select execution_id, before, seq from (
    select execution_id, seq, lag(seq, 1, 0) over (partition by execution_id order by seq) as before from noetl.event) as log
   where seq <> before + 1`

const ENDS_OF_ITEMS = `
  select execution_id::text, count(distinct current_index)::int as items, count(*)::int as ends from noetl.event
   where event_type in ('command.completed', 'loop.shard.done') and current_index is not null group by 1 order by execution_id`
