/**
 * The promise of executions under faults: engines are killed under load, several at a time, and sessions of the living are
 * cut. No execution whose start was answered is lost, no command runs again once its end is in the log, what a dead engine
 * drove goes on elsewhere in less than ten seconds, and the projection that came about on the way is the one that is folded
 * from the log.
 */
// @module-tag property
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/kernel/postgres/embedded/server.ts'
import { seeded } from '../../events/random.ts'
import { playbook, type ShortStep } from '../../executions/engine/engines.ts'
import { describeLog } from '../../executions/machine/check-run.ts'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { loginUrl, prepareTemplate, TEMPLATE } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { compile, type Program, standBy } from '../program.ts'
import { watchRecovery } from './recovery.ts'

const KILLS = cases(12, 102)
const ENGINES = 4
const CUTS_A_ROUND = 6
const ROUND_MS = 1200
const DATABASE = 'chaos_executions'
const OPEN = 60
const STUCK_MS = 90_000
/** Below the limit of the test, which says nothing about what is left. */
const MOST_MS = 600_000

const home = temporaryHome('chaos-executions')
const alive = new Set<Program>()
const failures: string[] = []
let server: EmbeddedServer
let superuser: pg.Client

const template = (expression: string) => `\${${expression}}`
const loop = (mode: 'sequential' | 'parallel' | 'fanout', items: number): NonNullable<ShortStep['loop']> => ({
  in: Array.from({ length: items }, (_, n) => n),
  mode,
  max_in_flight: 8,
  // An item whose workers were killed twenty times has failed, and that is no loss.
  allow_partial: true,
})
const retry = { attempts: 3, backoff_ms: 20, max_backoff_ms: 100 }
const PLAYBOOKS = [
  playbook('plain', [
    { step: 'a', next: 'b' },
    { step: 'b', next: 'c' },
    { step: 'c', next: 'd' },
    { step: 'd', args: { of: template('steps.a.result') } },
  ]),
  playbook('wide', [
    { step: 'each', retry, loop: loop('fanout', 12), next: 'after' },
    { step: 'after', args: { all: template('steps.each.results') } },
  ]),
  playbook('narrow', [
    { step: 'each', retry, loop: loop('sequential', 6), next: 'some' },
    { step: 'some', retry, loop: loop('parallel', 6) },
  ]),
  playbook('family', [
    { step: 'one', tools: [{ tool: 'playbook', call: 'plain', args: {} }], next: 'pause' },
    { step: 'pause', wait: { kind: 'timer', for_ms: 300 }, next: 'many' },
    { step: 'many', tools: [{ tool: 'playbook', call: 'wide', args: {} }] },
  ]),
]

beforeAll(async () => {
  server = await startEmbedded({ home, settings: { max_connections: '200' } })
  await prepareTemplate(server.url())
  const admin = new pg.Client(server.url())
  await admin.connect()
  await admin.query(`create database ${DATABASE} template ${TEMPLATE} owner stagedoor_migrator`)
  await admin.end()
  superuser = new pg.Client(loginUrl(server.url(), 'postgres', DATABASE))
  await superuser.connect()
  await superuser.query(
    `create table public.chaos_run (command_id text, pid integer, began_at timestamptz default clock_timestamp());
     grant all on public.chaos_run to dot_executor`,
  )
  for (const one of PLAYBOOKS) {
    const text = JSON.stringify(one)
    await superuser.query('select noetl.fn_playbook_register($1, $2, $3)', [one.name, text, text])
  }
})

afterAll(async () => {
  for (const program of alive) end(program)
  await superuser?.end()
  await server?.stop()
})

function end(program: Program): void {
  program.doomed = true
  alive.delete(program)
  program.child.kill('SIGKILL')
}

it(`loses no execution and runs no ended command again through ${KILLS} kills and more cut sessions`, async () => {
  const random = seeded(SEED)
  console.log(`seed ${random.seed} (run again with SEED=${random.seed})`)
  const file = compile(join(home, 'programs'), ['executions/engine-program.ts'])(
    'executions/engine-program.ts',
  )
  const url = loginUrl(server.url(), 'stagedoor_worker', DATABASE)
  const reserve = (): ReturnType<typeof standBy> => {
    const program = standBy(file, { url }, (why) => failures.push(why))
    alive.add(program)
    return program
  }
  const working = new Set<Program>()
  const standing = Array.from({ length: ENGINES + 2 }, reserve)
  const join_ = (): void => {
    const next = standing.shift()!
    next.go()
    working.add(next)
    standing.push(reserve())
  }
  for (let n = 0; n < ENGINES; n++) join_()
  const recovery = watchRecovery(loginUrl(server.url(), 'postgres', DATABASE))
  const started: string[] = []
  let loading = true
  const load = (async () => {
    while (loading) {
      const { open } = await one<{ open: number }>(
        'select count(*)::integer as open from noetl.checkpoint where not ended',
      )
      if (open < OPEN) {
        const { rows } = await superuser.query<{ id: string }>(
          `select noetl.fn_execution_start(path)::text as id
             from noetl.catalog cross join generate_series(1, 2) order by random()`,
        )
        started.push(...rows.map(({ id }) => id))
      }
      await delay(100)
    }
  })()

  await until('the first executions have ended', async () => (await completed()) > 4, 180_000)
  const began = Date.now()
  let kills = 0
  let cuts = 0
  for (let round = 0; kills < KILLS; round++) {
    await delay(Math.max(0, began + round * ROUND_MS - Date.now()))
    cuts += await cutSessions()
    const ready = [...working].filter((program) => program.ready)
    // Two or three of them at a time, and never the last one.
    const doomed = ready.slice(0, Math.min(ready.length - 1, 2 + random.below(2), KILLS - kills))
    for (const program of doomed) {
      recovery.add(program.pid)
      end(program)
      working.delete(program)
      kills++
      join_()
    }
  }
  loading = false
  await load
  await untilAllHaveEnded()
  const times = await recovery.stop()
  for (const program of standing) end(program)
  for (const program of working) {
    program.doomed = true
    await until('it is at work', () => program.ready || program.child.exitCode !== null)
    program.child.kill('SIGTERM')
    await program.ended
    alive.delete(program)
  }

  const outcome = await account(started)
  console.log(
    `${kills} kills and ${cuts} cuts in ${Date.now() - began} ms; ${JSON.stringify(outcome)}; from a death to living owners of all its shards: ` +
      `median ${times.at(times.length >> 1)} ms, longest ${times.at(-1)} ms of ${times.length}`,
  )
  expect(failures).toEqual([])
  expect(outcome).toMatchObject({ lost: 0, unfinished: 0, ranAfterItsEnd: 0, leftBehind: 0 })
  expect(outcome.completed).toBeGreaterThan(KILLS / 2)
  expect(cuts).toBeGreaterThan(KILLS)
  // The lease of a shard is six seconds; the rest is what a busy machine adds, to one of them more than to most.
  expect(times.at(times.length >> 1)).toBeLessThan(20_000)
  expect(times.at(-1)).toBeLessThan(60_000)
  expect(await differences()).toEqual([])
}, 900_000)

async function one<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row> {
  return (await superuser.query<Row>(sql, values)).rows[0]!
}

async function completed(): Promise<number> {
  return (
    await one<{ n: number }>(`select count(*)::integer as n from noetl.execution where status = 'COMPLETED'`)
  ).n
}

/** Fails when nothing happens any more, and not because it takes long: on a busy machine it does. */
async function untilAllHaveEnded(): Promise<void> {
  let last = { progress: '', at: performance.now() }
  const check = async () => {
    const { left, progress } = await one<{ left: number; progress: string }>(
      `select c.open + i.unread as left, concat_ws(' ', c.open, c.seqs, i.unread, i.newest) as progress
         from (select count(*)::integer as open, sum(e.last_seq) as seqs
                 from noetl.checkpoint left join noetl.execution e using (execution_id)) c,
              (select count(*)::integer as unread, max(inbox_id) as newest from noetl.inbox) i`,
    )
    if (progress !== last.progress) last = { progress, at: performance.now() }
    else if (performance.now() - last.at > STUCK_MS)
      throw new Error(`nothing has happened for ${STUCK_MS} ms`)
    return left === 0
  }
  await until('everything has ended', check, MOST_MS).catch(async (error) => {
    throw new Error(`${error.message}; ${await leftovers()}`)
  })
}

/** What has not ended, and who should have ended it. */
async function leftovers(): Promise<string> {
  const { found } = await one<{ found: object }>(
    `select jsonb_build_object(
       'engines', (select jsonb_agg(jsonb_build_object('name', name, 'alive', leased_until > clock_timestamp())) from noetl.engine),
       'shards without owner', (select count(*) from noetl.execution_shard where owner is null),
       'inbox', (select jsonb_object_agg(kind, n) from (select kind, count(*) as n from noetl.inbox group by 1) k),
       'commands', (select jsonb_agg(to_jsonb(c) - '{item,scope}'::text[]) from (select * from noetl.command limit 5) c),
       'waits', (select jsonb_agg(to_jsonb(w)) from (select * from noetl.wait limit 5) w),
       'now', clock_timestamp(),
       'checkpoints', (select count(*) from noetl.checkpoint),
       -- The youngest: the others may wait for them. Their last event says what should have followed.
       'executions', (select jsonb_agg(to_jsonb(x)) from (
          select c.execution_id::text, c.ended, c.last_seq, e.status, e.last_seq as projected_seq, g.name as owner, g.heartbeat_at, l.seq,
                 l.event_type, l.node_id, l.meta, l.error, l.created_at
            from noetl.checkpoint c
            join noetl.execution_shard s using (shard_id)
            left join noetl.engine g on g.engine_id = s.owner
            left join noetl.execution e using (execution_id)
            left join lateral (select * from noetl.event v where v.execution_id = c.execution_id order by v.seq desc limit 1) l on true
           order by c.execution_id desc limit 12) x)) as found`,
  )
  const { rows } = await superuser.query<ExecutionEvent>(
    `select * from noetl.event where execution_id in (select execution_id from noetl.checkpoint order by 1 desc limit 3)
      order by execution_id, seq`,
  )
  const logs = new Map<string, ExecutionEvent[]>()
  for (const event of rows) logs.set(event.execution_id, [...(logs.get(event.execution_id) ?? []), event])
  return [JSON.stringify(found), ...[...logs].map(([id, log]) => describeLog(id, log))].join('\n')
}

/** Of the engines, whatever they do with them just now: flush, heartbeat, claim, result, notices. */
async function cutSessions(): Promise<number> {
  const { rowCount } = await superuser.query(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity where datname = $1 and usename = 'stagedoor_worker' order by random() limit $2) s`,
    [DATABASE, CUTS_A_ROUND],
  )
  return rowCount ?? 0
}

/** `started`: as fn_execution_start answered. Those that they started themselves are found in the log. */
async function account(started: readonly string[]) {
  await superuser.query('analyze public.chaos_run, noetl.event')
  return one<Record<string, number>>(
    `select (select count(*)::integer from noetl.execution where status = 'COMPLETED') as completed,
            (select count(*)::integer from public.chaos_run) as runs,
            (select count(*)::integer - count(distinct command_id)::integer from public.chaos_run) as "runAgain",
            -- What began and did not end well: a child that was never told, a parent that waits for ever.
            (select count(*)::integer from noetl.execution where status <> 'COMPLETED') as unfinished,
            (select min(error) from noetl.execution where status <> 'COMPLETED') as why,
            (select count(*)::integer
               from (select distinct execution_id from noetl.event union select unnest($1::bigint[])) e
              where not exists (select from noetl.execution x where x.execution_id = e.execution_id)) as lost,
            (select count(*)::integer from public.chaos_run r join noetl.event e
                 on e.execution_id = split_part(r.command_id, ':', 1)::bigint and e.meta ->> 'command_id' = r.command_id
              where e.event_type in ('command.completed', 'command.failed', 'loop.shard.done', 'loop.shard.failed')
                and r.began_at > e.created_at) as "ranAfterItsEnd",
            (select count(*)::integer from noetl.command) + (select count(*)::integer from noetl.wait) as "leftBehind"`,
    [started],
  )
}

async function differences(): Promise<string[]> {
  const { rows } = await superuser.query<{ difference: string }>(
    "select execution_id || ': ' || difference as difference from noetl.fn_projection_differences(0, 100000)",
  )
  return rows.map((row) => row.difference)
}
