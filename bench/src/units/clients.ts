/** Eight clients that write and read as fast as they are answered, while consumers, jobs and their worker run. */
import { fork } from 'node:child_process'
import type pg from 'pg'
import type { Figures, Task } from '../benchmark.ts'
import type { BenchDatabase } from '../server.ts'
import { percentile, perSecond } from '../statistics.ts'

export const CLIENTS = 8
export const WRITES = ['create', 'slice', 'profile', 'edge'] as const
export type Write = (typeof WRITES)[number]
/** Reads of what was just written: nothing waits for the projection. */
const READS = 4

export interface Unit {
  readonly id: string
  readonly address: string
  readonly body: string
}

export interface Hand {
  create(unit: Omit<Unit, 'id'>): Promise<string>
  /** Characters 10 to 20 of version 1 become `text`. */
  slice(unit: Unit, text: string): Promise<void>
  profile(unit: Unit, profile: object): Promise<void>
  edge(unit: Unit, target: string): Promise<void>
  /** The body as it is now. */
  read(unit: Unit): Promise<string>
}

export type Opening = (client: pg.Client, workspace: string) => Hand

export async function work({ database, size }: Task, open: Opening, asOwner: boolean): Promise<Figures> {
  const { hands, stop } = await ready(database, open, asOwner)
  const writes: Record<Write, number[]> = { create: [], slice: [], profile: [], edge: [] }
  const reads: number[] = []
  let next = 0
  let wrong = 0
  const begun = performance.now()
  await Promise.all(
    hands.map(async (hand) => {
      let last = 'knowledge'
      while (next < size) {
        const made = textOf(next++)
        const unit = { ...made, id: await timed(writes.create, () => hand.create(made)) }
        await timed(writes.slice, () => hand.slice(unit, 'sliced'))
        await timed(writes.profile, () => hand.profile(unit, { summary: 'in short', weight: next }))
        await timed(writes.edge, () => hand.edge(unit, last))
        const now = sliced(unit)
        for (let n = 0; n < READS; n++) if ((await timed(reads, () => hand.read(unit))) !== now) wrong++
        last = unit.address
      }
    }),
  )
  const elapsed = performance.now() - begun
  await stop()
  const all = WRITES.flatMap((write) => writes[write])
  return {
    writes_per_s: perSecond(all.length, elapsed),
    write_p50_ms: percentile(all, 0.5),
    ...Object.fromEntries(WRITES.map((write) => [`${write}_p99_ms`, percentile(writes[write], 0.99)])),
    read_p50_ms: percentile(reads, 0.5),
    read_p99_ms: percentile(reads, 0.99),
    wrong_reads: wrong,
  }
}

export const sliced = ({ body }: Unit): string => `${body.slice(0, 10)}sliced${body.slice(20)}`

/** Eight sessions, with consumers and a worker that run until `stop`. */
export async function ready(
  database: BenchDatabase,
  open: Opening,
  asOwner: boolean,
): Promise<{ hands: Hand[]; stop(): Promise<void> }> {
  const workspace = await prepared(database)
  const stop = await startWorkers(database)
  const hands = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const client = asOwner ? await database.superuser() : await database.worker()
      if (asOwner) await client.query('set role workflow_admin')
      return open(client, workspace)
    }),
  )
  return { hands, stop }
}

async function timed<T>(taken: number[], act: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await act()
  taken.push(performance.now() - begun)
  return result
}

/** About a kilobyte of words, no two alike. */
export function textOf(n: number): Omit<Unit, 'id'> {
  const words = Array.from({ length: 150 }, (_, at) => `word${(n * 31 + at * 7) % 997}`)
  return { address: `bench/unit-${n}`, body: `Unit ${n}: ${words.join(' ')}.` }
}

/** A workspace, and a consumer that makes a job of every new unit. */
async function prepared(database: BenchDatabase): Promise<string> {
  const owner = await database.superuser()
  const { rows } = await owner.query(`insert into public.workspaces (name) values ('bench') returning id`)
  const reviewer = await database.worker()
  await reviewer.query('set role service_role')
  await owner.query(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
  await owner.query('select iu_core.fn_consumer_register($1)', [
    JSON.stringify({
      consumer_id: 'bench_births',
      event_domain: 'birth_registry',
      event_type: 'entity_born',
      job_kind: 'bench_birth',
      idempotency_key_template: '{event_id}',
      payload_ref_template: '{event_subject_ref}',
    }),
  ])
  await owner.query(`select iu_core.fn_consumer_dry_run('bench_births')`)
  await owner.query(
    `insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome)
     values (iu_core.fn_time_uuid(), 'bench_births', 'dry_run')`,
  )
  await reviewer.query(`select iu_core.fn_consumer_review('bench_births', 1)`)
  await owner.query(`select iu_core.fn_consumer_activate('bench_births')`)
  return rows[0].id
}

/** In a process of their own, as they are in production. */
async function startWorkers({ workerUrl }: BenchDatabase): Promise<() => Promise<void>> {
  const workers = fork(new URL('workers.js', import.meta.url).pathname, [workerUrl])
  await new Promise((ready) => workers.once('message', ready))
  return async () => {
    const gone = new Promise((end) => workers.once('exit', end))
    workers.disconnect()
    await gone
  }
}
