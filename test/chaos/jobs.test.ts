/**
 * The promise from event to result, under faults: workers and the dispatcher are killed, workers are frozen until their lease has
 * long passed and then go on, and the server is stopped as a crash would, all under load. Every event is one job, no job is lost,
 * none is run again once it completed, none is completed by a worker whose lease had passed.
 */
// @module-tag property
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type EmbeddedServer, startEmbedded } from '../../src/kernel/postgres/embedded/server.ts'
import { type Random, seeded } from '../events/random.ts'
import { cases } from '../support/length.ts'
import { SEED } from '../support/seed.ts'
import { loginUrl, prepareTemplate, TEMPLATE } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { watchDeaths } from './deaths.ts'
import { compile, type Program, standBy } from './program.ts'

const FAULTS = cases(16, 110)
const FAULTS_MS = cases(8_000, 50_000)
const WORKERS = 4
const DATABASE = 'chaos'
/** Frozen longer than the lease of six seconds: it comes back as a worker that does not know that it is late. */
const FROZEN_MS = 7500

const home = temporaryHome('chaos')
let server: EmbeddedServer
let superuser: string
const alive = new Set<Program>()
const failures: string[] = []

beforeAll(async () => {
  // As safe as it is shipped: what was committed must be there after a crash.
  server = await startEmbedded({ home, settings: { max_connections: '200' } })
  await prepareTemplate(server.url())
  await ask(server.url(), `create database ${DATABASE} template ${TEMPLATE} owner stagedoor_migrator`)
  superuser = loginUrl(server.url(), 'postgres', DATABASE)
  await ask(
    superuser,
    `create table public.chaos_position (next integer not null);
     insert into public.chaos_position values (0);
     create table public.chaos_run (job_id uuid, epoch integer, pid integer, began_at timestamptz default clock_timestamp());
     create table public.chaos_effect (job_id uuid);
     create table public.chaos_late (job_id uuid, worker_id uuid);
     grant all on public.chaos_position, public.chaos_run, public.chaos_effect to dot_executor;
     -- The lease at the moment of the completion, seen by somebody who has no part in it.
     create function public.chaos_watch() returns trigger language plpgsql security definer as $f$
     begin
       insert into public.chaos_late
       select new.job_id, new.worker_id
        where not exists (select from iu_core.job_worker w
                           where w.worker_id = new.worker_id and w.leased_until > statement_timestamp());
       return new;
     end $f$;
     create trigger chaos_watch before insert on iu_core.job_history for each row execute function public.chaos_watch();
     select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true);
     select iu_core.fn_job_kind_set('chaos', '{"max_attempts": 1000, "max_crashes": 1000, "backoff": "50 milliseconds", "max_backoff": "500 milliseconds"}');`,
  )
  await ask(
    superuser,
    `select iu_core.fn_consumer_register('{"consumer_id": "chaos", "event_domain": "dot", "event_type": "run.applied",
       "job_kind": "chaos", "idempotency_key_template": "{event_id}", "payload_ref_template": "{event_subject_ref}"}');
     select iu_core.fn_consumer_dry_run('chaos');
     -- As if it had seen an event.
     insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome) values (iu_core.fn_time_uuid(), 'chaos', 'dry_run')`,
  )
  // Somebody else than registered it.
  const reviewer = loginUrl(server.url(), 'stagedoor_worker', DATABASE)
  await ask(reviewer, `set role service_role; select iu_core.fn_consumer_review('chaos', 1)`)
  await ask(superuser, `select iu_core.fn_consumer_activate('chaos')`)
})

afterAll(async () => {
  for (const program of alive) end(program)
  await server?.stop()
})

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

function end(program: Program): void {
  program.doomed = true
  alive.delete(program)
  program.child.kill('SIGKILL')
}

/** So many programs at work, and one that stands by for the next that is killed. */
function crew(file: string, orders: object, size: number) {
  const working = new Set<Program>()
  const reserve = () => {
    const program = standBy(file, orders, (why) => failures.push(why))
    alive.add(program)
    return program
  }
  let next = reserve()
  const join = (): void => {
    next.go()
    working.add(next)
    next = reserve()
  }
  for (let n = 0; n < size; n++) join()
  return {
    working,
    /** One of those at work, if there are so many: somebody must be left to take over. */
    pick: (random: Random, fewest = 1): Program | undefined => {
      const ready = [...working].filter((program) => program.ready)
      return ready.length >= fewest ? random.pick(ready) : undefined
    },
    replace(program: Program): void {
      end(program)
      working.delete(program)
      join()
    },
    async stop(): Promise<void> {
      end(next)
      await until('all are at work', () => [...working].every((program) => program.ready))
      for (const program of working) {
        program.doomed = true
        program.child.kill('SIGTERM')
        const [code] = (await program.ended) as [number | null]
        if (code !== 0) failures.push(`${file} ended with ${code} when it was told to stop`)
        alive.delete(program)
      }
    },
  }
}

it(`loses no job and runs none again through ${FAULTS} faults`, async () => {
  const random = seeded(SEED)
  console.log(`seed ${random.seed} (run again with SEED=${random.seed})`)
  const compiled = compile(join(home, 'programs'), ['jobs-worker.ts', 'jobs-dispatcher.ts'])
  const url = loginUrl(server.url(), 'stagedoor_worker', DATABASE)
  const workers = crew(compiled('jobs-worker.ts'), { url }, WORKERS)
  const dispatchers = crew(compiled('jobs-dispatcher.ts'), { url, waiting: 200 }, 1)
  const deaths = watchDeaths(superuser)
  const frozen: Promise<void>[] = []
  const stopped = new Set<Program>()
  const counts = { worker: 0, dispatcher: 0, frozen: 0, server: 0 }

  const fault = async (): Promise<void> => {
    const dice = random.below(100)
    if (dice < 14) {
      counts.server++
      return deaths.whileDown(() => server.restart('immediate'))
    }
    if (dice < 46) {
      const program = await until('a dispatcher works', () => dispatchers.pick(random))
      counts.dispatcher++
      return dispatchers.replace(program)
    }
    const program = await until('two workers work', () => workers.pick(random, 2))
    if (dice < 58 && stopped.size < 2) {
      counts.frozen++
      stopped.add(program)
      program.ready = false
      program.child.kill('SIGSTOP')
      frozen.push(
        delay(FROZEN_MS).then(() => {
          program.child.kill('SIGCONT')
          stopped.delete(program)
          program.ready = true
        }),
      )
      return
    }
    counts.worker++
    deaths.add(program.pid)
    workers.replace(program)
  }

  await until('the first jobs ran', async () => (await done()) > 50, 180_000)
  const began = Date.now()
  for (let n = 0; n < FAULTS; n++) {
    await delay(Math.max(0, began + (n * FAULTS_MS) / FAULTS - Date.now()))
    await fault()
  }
  await Promise.all(frozen)
  await dispatchers.stop()
  await until('every event was passed on', async () => (await passedOn(url)) === 0)
  await until('everything has ended', async () => (await left()) === 0, 180_000)
  // Before the last of them go: somebody must be there to take over from whoever was killed last.
  const recovery = await deaths.stop()
  await workers.stop()

  const [emitted] = await ask<{ next: number }>(superuser, 'select next from public.chaos_position')
  const outcome = await account()
  console.log(
    `${JSON.stringify(counts)} in ${Date.now() - began} ms; ${emitted!.next} events and jobs, ${outcome.runs} runs, ` +
      `${outcome.crashed} given back by a death; from a death to the last of its jobs in the queue again: ` +
      `median ${recovery.at(recovery.length >> 1)} ms, longest ${recovery.at(-1)} ms of ${recovery.length}`,
  )
  expect(failures).toEqual([])
  expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(FAULTS)
  expect(outcome).toMatchObject({
    completed: emitted!.next,
    jobs: emitted!.next,
    dead: 0,
    ranAfterCompletion: 0,
    completedLate: 0,
    effectsTwice: 0,
    effectsMissing: 0,
  })
  if (FAULTS >= 110) expect(recovery.length).toBeGreaterThan(10)
  // The lease of a job is six seconds; the rest is what a busy machine adds, to one of them more than to most.
  expect(recovery.at(recovery.length >> 1) ?? 0).toBeLessThan(20_000)
  expect(recovery.at(-1) ?? 0).toBeLessThan(60_000)
}, 900_000)

/** How many the last dispatcher had left. */
async function passedOn(url: string): Promise<number> {
  const answer = `set role dot_executor; select events from iu_core.fn_consumer_dispatch_batch(1000)`
  const client = new pg.Client(url)
  await client.connect()
  try {
    const results = (await client.query(answer)) as unknown as pg.QueryResult<{ events: number }>[]
    return results.at(-1)!.rows[0]!.events
  } finally {
    await client.end()
  }
}

async function done(): Promise<number> {
  return (await ask<{ n: number }>(superuser, 'select count(*)::integer as n from iu_core.job_history'))[0]!.n
}

async function left(): Promise<number> {
  return (await ask<{ n: number }>(superuser, 'select count(*)::integer as n from iu_core.job_queue'))[0]!.n
}

async function account() {
  // A crash loses the statistics, and without them the joins below go in loops, for minutes.
  await ask(superuser, 'analyze public.chaos_run, public.chaos_effect, iu_core.job_history')
  const [row] = await ask<Record<string, number>>(
    superuser,
    `select (select count(*)::integer from iu_core.job_history) as completed,
            (select count(distinct job_id)::integer from iu_core.job_history) as jobs,
            (select count(*)::integer from iu_core.job_dead_letter) as dead,
            (select count(*)::integer from iu_core.job_history where crashes > 0) as crashed,
            (select count(*)::integer from public.chaos_run) as runs,
            -- Every claim raises the epoch: a run under a later one than the completion's came after it.
            (select count(*)::integer from public.chaos_run r join iu_core.job_history h using (job_id)
              where r.epoch > (h.result ->> 'epoch')::integer) as "ranAfterCompletion",
            (select count(*)::integer from public.chaos_late) as "completedLate",
            (select count(*)::integer - count(distinct job_id)::integer from public.chaos_effect) as "effectsTwice",
            (select count(*)::integer from iu_core.job_history h
              where h.payload_ref::integer % 2 = 1
                and not exists (select from public.chaos_effect e where e.job_id = h.job_id)) as "effectsMissing"`,
  )
  return row!
}
