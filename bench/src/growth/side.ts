/** One of two databases that do the same work, beside each other on one server: one is small, the other is filled. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type pg from 'pg'
import { activateConsumers, eventsOfUploads } from '../dispatch/events.ts'
import { type Executions, expression, openExecutions } from '../executions.ts'
import { writeMetaExport } from '../ingest/exports.ts'
import { ingestExport, openWorld, type World } from '../ingest/world.ts'
import {
  beginJobs,
  claimJobs,
  completeJobs,
  countByStatus,
  createPool,
  definePlaybook,
  dispatchEvents,
  enqueue,
  enqueueMany,
  inTransaction,
  listEvents,
  listExecutions,
  listJobs,
  listPromotions,
  listRecords,
  listUndelivered,
  listUploads,
  readOverview,
  registerWorker,
} from '../product.ts'
import type { BenchDatabase } from '../server.ts'
import { fillEventsAndJobs, fillExecutions, settle } from './fill.ts'

/** Milliseconds of each call, by path. */
export type Times = Readonly<Record<string, readonly number[]>>

type Pool = ReturnType<typeof createPool>

const KIND = 'growth'
const [ENQUEUES, BATCH, EVENTS, EXECUTIONS, LINES, READS] = [60, 100, 1000, 40, 1000, 8]
const LINES_OF_AN_UPLOAD = 100_000
/** A role belongs to the server, so both sides have this one. */
const PASSWORD = randomUUID()

interface SideDeps {
  readonly database: BenchDatabase
  readonly owner: pg.Client
  readonly worker: { readonly client: pg.Client; readonly id: string }
  readonly pool: Pool
  /** Sessions of the gateway, which act as a member. */
  readonly people: Pool
  readonly person: string
  readonly world: World
  readonly executions: Executions
}

export class Side {
  private uploads = 0
  private eventsMade = 0
  private filled = { events: 0, lines: 0, executions: 0 }

  private readonly deps: SideDeps

  private constructor(deps: SideDeps) {
    this.deps = deps
  }

  static async open(database: BenchDatabase): Promise<Side> {
    const world = await openWorld(database, LINES, 1)
    await activateConsumers(database)
    const owner = await database.superuser()
    const person = randomUUID()
    await owner.query(`alter role stagedoor_api password '${PASSWORD}'`)
    await owner.query(
      `insert into public.workspace_members (workspace_id, user_id, role) values ('${world.workspace}', '${person}', 'admin')`,
    )
    const peopleUrl = new URL(database.url)
    peopleUrl.username = 'stagedoor_api'
    peopleUrl.password = PASSWORD
    const client = await database.worker()
    const id = await registerWorker(client, { executor: 'PG_worker', kinds: [KIND], leaseMs: 3_600_000 })
    const executions = await openExecutions(
      database.workerUrl,
      { noop: () => null },
      { concurrency: EXECUTIONS },
    )
    await executions.register(
      definePlaybook({
        name: KIND,
        args: { n: 0 },
        steps: [
          { step: 'a', tool: 'handler', call: 'noop', args: { n: expression('args.n') }, next: 'b' },
          { step: 'b', tool: 'handler', call: 'noop' },
        ],
      }),
    )
    return new Side({
      database,
      owner,
      worker: { client, id },
      pool: createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'bench' }),
      people: createPool(peopleUrl.toString(), { max: 1, purpose: 'bench' }),
      person,
      world,
      executions,
    })
  }

  /** Up to so many of each; `all`: how many events there will be at last. */
  async fill(to: { events: number; lines: number; executions: number }, all: number): Promise<void> {
    const { workspace } = this.deps.world
    await fillEventsAndJobs(this.deps.owner, { workspace, from: this.filled.events, events: to.events, all })
    await fillExecutions(this.deps.owner, workspace, this.filled.executions, to.executions)
    for (let lines = this.filled.lines; lines < to.lines; lines += LINES_OF_AN_UPLOAD) {
      await this.upload(Math.min(LINES_OF_AN_UPLOAD, to.lines - lines), await this.newClient())
    }
    this.filled = to
    await settle(this.deps.owner)
  }

  /** One call after the other: what counts is what a call costs, not how many fit beside each other. */
  async measure(): Promise<Times> {
    const times: Record<string, number[]> = {}
    const timed = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
      const started = performance.now()
      const result = await work()
      times[path] ??= []
      times[path].push(performance.now() - started)
      return result
    }
    await this.jobs(timed)
    await this.events(timed)
    await timed('executions', () =>
      Promise.all(Array.from({ length: EXECUTIONS }, (_, n) => this.deps.executions.run(KIND, { n }))),
    )
    await this.plans(times)
    await this.lists(timed)
    return times
  }

  async close(): Promise<void> {
    await this.deps.executions.stop()
    await this.deps.world.end()
    await this.deps.people.end()
    await this.deps.pool.end()
  }

  async drop(): Promise<void> {
    await this.deps.database.drop()
  }

  private async jobs(timed: Timed): Promise<void> {
    const { client, id } = this.deps.worker
    for (let n = 0; n < ENQUEUES; n++) {
      await timed('enqueue', () =>
        enqueue(client, { job_kind: KIND, idempotency_key: randomUUID(), payload: { n } }),
      )
    }
    await timed('enqueue_many', () =>
      enqueueMany(
        client,
        Array.from({ length: BATCH * 9 }, (_, n) => ({
          job_kind: KIND,
          idempotency_key: randomUUID(),
          payload: { n },
        })),
      ),
    )
    for (let claimed = true; claimed; ) {
      const jobs = await timed('claim', () => claimJobs(client, id, BATCH, { prepared: true }))
      claimed = jobs.length > 0
      if (!claimed) break
      await beginJobs(client, id, jobs, { prepared: true })
      await timed('complete', () =>
        completeJobs(
          client,
          id,
          jobs.map((job) => ({ job })),
          { prepared: true },
        ),
      )
    }
  }

  private async events(timed: Timed): Promise<void> {
    for (let batch = 0; batch < 3; batch++) {
      await timed('emit', () =>
        this.deps.pool.query('select count(*) from iu_core.fn_event_emit_batch($1)', [
          eventsOfUploads(this.eventsMade, EVENTS, this.deps.world.workspace),
        ]),
      )
      this.eventsMade += EVENTS
      await timed('dispatch', () => inTransaction(this.deps.pool, (client) => dispatchEvents(client, EVENTS)))
    }
    // Its jobs are nobody's here; left in the queue they would make it longer with every pass.
    await this.deps.owner.query(`truncate iu_core.job_queue`)
  }

  private async plans(times: Record<string, number[]>): Promise<void> {
    for (let n = 0; n < 2; n++) {
      const { plan, promote } = await this.upload(LINES, await this.newClient())
      times.plan = [...(times.plan ?? []), plan]
      times.promote = [...(times.promote ?? []), promote]
    }
  }

  private async upload(lines: number, client: string): Promise<{ plan: number; promote: number }> {
    const file = join(this.deps.world.home, `upload-${++this.uploads}.csv`)
    writeMetaExport(file, { lines, seed: this.uploads })
    const reached: Record<string, number> = {}
    await ingestExport({ ...this.deps.world, file, client }, 'promoted', (event) => {
      if (event.type === 'progress') reached[event.stage] ??= performance.now()
    })
    return { plan: reached.promote! - reached.plan!, promote: performance.now() - reached.promote! }
  }

  private async newClient(): Promise<string> {
    const { rows } = await this.deps.owner.query(
      'insert into public.clients (workspace_id, name) values ($1, $2) returning id',
      [this.deps.world.workspace, `Client ${randomUUID()}`],
    )
    return rows[0].id
  }

  private async lists(timed: Timed): Promise<void> {
    const caller = { role: 'authenticated', claims: { sub: this.deps.person } }
    const read = (path: string, work: (db: pg.ClientBase) => Promise<unknown>): Promise<unknown> =>
      timed(path, () => inTransaction(this.deps.people, (client) => work(client), caller))
    const limit = 50
    for (let n = 0; n < READS; n++) {
      await read('list_events', (db) => listEvents(db, { limit }))
      await read('list_events_of_a_subject', (db) =>
        listEvents(db, { limit, domain: 'staging', subject: 'upload-7' }),
      )
      await read('list_events_of_a_rare_type', (db) =>
        listEvents(db, { limit, domain: 'governance', type: 'consumer_changed' }),
      )
      await read('list_jobs', (db) => listJobs(db, { limit }))
      await read('list_jobs_of_a_rare_kind', (db) => listJobs(db, { limit, kind: 'seldom' }))
      await read('list_dead_jobs', (db) => listJobs(db, { limit, status: 'dead' }))
      await read('list_cancelled_jobs', (db) => listJobs(db, { limit, status: 'cancelled' }))
      await read('list_uploads', (db) => listUploads(db, { limit }))
      await read('list_promotions', (db) => listPromotions(db, { limit }))
      await read('list_records', (db) => listRecords(db, { limit }))
      await read('list_executions', (db) => listExecutions(db, { limit }))
      await read('list_failed_executions', (db) => listExecutions(db, { limit, status: 'FAILED' }))
      await read('count_executions', (db) => countByStatus(db))
      await read('list_undelivered', (db) => listUndelivered(db, { limit }))
      await read('overview', (db) => readOverview(db))
    }
  }
}

type Timed = <T>(path: string, work: () => Promise<T>) => Promise<T>
