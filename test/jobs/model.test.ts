/**
 * The queue against a model of it: random stories of several workers, with leases that pass, stale acknowledgements,
 * replays and pauses. After every step queue, history and dead letters must be what the model says.
 */
// @module-tag property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Lease, MUCH_LATER, queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)
const STORIES = cases(10, 80)
const KINDS = ['patient', 'hasty'] as const
const MAX_ATTEMPTS = { patient: 8, hasty: 2 }

interface Job {
  kind: keyof typeof MAX_ATTEMPTS
  priority: number
  state: 'waiting' | 'running' | 'dead' | 'completed' | 'cancelled'
  attempts: number
  crashes: number
  lease?: Lease
  cancelled?: boolean
}

class World {
  readonly jobs = new Map<string, Job>()
  readonly keys = new Map<string, string>()
  readonly workers: { id: string; alive: boolean }[] = []
  /** Every lease that was ever given: most are stale, and all may be tried. */
  readonly leases: Lease[] = []
  readonly paused = new Set<string>()
  completions = 0

  holds(lease: Lease): Job | undefined {
    const job = this.jobs.get(lease.job)
    const alive = this.workers.find((worker) => worker.id === lease.worker)?.alive
    return alive && job?.state === 'running' && job.lease === lease ? job : undefined
  }

  alive(lease: Lease): boolean {
    return this.workers.find((worker) => worker.id === lease.worker)!.alive
  }
}

type Step = (world: World) => Promise<void>

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)]

const steps = {
  enqueue:
    (kind: number, key: number | null, priority: number): Step =>
    async (world) => {
      const name = KINDS[kind]!
      const id = await queue.enqueue(name, key === null ? null : `k${key}`, priority)
      const known = key === null ? undefined : world.keys.get(`${name} ${key}`)
      if (known) return expect(id).toBe(known)
      expect(world.jobs.has(id)).toBe(false)
      world.jobs.set(id, { kind: name, priority, state: 'waiting', attempts: 0, crashes: 0 })
      if (key !== null) world.keys.set(`${name} ${key}`, id)
    },
  claim:
    (at: number, limit: number): Step =>
    async (world) => {
      const worker = pick(world.workers, at)
      if (!worker) return
      if (!worker.alive) return expect(await sqlstateOf(queue.claim(worker.id, limit))).toBe('SD703')
      const waiting = [...world.jobs].filter(
        ([, job]) => job.state === 'waiting' && !world.paused.has(job.kind),
      )
      const claimed = await queue.claim(worker.id, limit, MUCH_LATER)
      // One with a crash behind it comes alone, and while it is in hand nothing else does.
      const isAlone = [...world.jobs.values()].some(
        (job) => job.state === 'running' && job.lease?.worker === worker.id && job.crashes > 0,
      )
      if (isAlone) return expect(claimed).toEqual([])
      const suspects = waiting.filter(([, job]) => job.crashes > 0)
      const free = suspects.length > 0 ? suspects : waiting
      expect(claimed).toHaveLength(Math.min(suspects.length > 0 ? 1 : limit, free.length))
      for (const row of claimed) {
        const job = world.jobs.get(row.job_id)!
        expect(job.state).toBe('waiting')
        expect(world.paused.has(job.kind)).toBe(false)
        const lease = { worker: worker.id, job: row.job_id, epoch: row.lease_epoch }
        expect(world.leases).not.toContainEqual({ ...lease, worker: expect.anything() })
        Object.assign(job, { state: 'running', lease, attempts: job.attempts + 1 })
        world.leases.push(lease)
      }
      // Nothing that is more urgent was left lying.
      const least = Math.min(...claimed.map((row) => row.priority))
      const left = free.filter(([, job]) => job.state === 'waiting').map(([, job]) => job.priority)
      if (claimed.length > 0 && left.length > 0) expect(Math.max(...left)).toBeLessThanOrEqual(least)
    },
  heartbeat:
    (at: number): Step =>
    async (world) => {
      const worker = pick(world.workers, at)
      if (!worker) return
      const beat = queue.rows<{ cancelled: string[] }>('select cancelled from iu_core.fn_job_heartbeat($1)', [
        worker.id,
      ])
      if (!worker.alive) return expect(await sqlstateOf(beat)).toBe('SD703')
      const wanted = [...world.jobs].filter(
        ([, job]) => job.state === 'running' && job.cancelled && job.lease?.worker === worker.id,
      )
      expect((await beat)[0]!.cancelled.sort()).toEqual(wanted.map(([id]) => id).sort())
    },
  complete:
    (at: number): Step =>
    async (world) => {
      const lease = pick(world.leases, at)
      if (!lease) return
      if (!world.alive(lease)) return expect(await sqlstateOf(queue.complete(lease))).toBe('SD703')
      const job = world.holds(lease)
      expect(await queue.complete(lease)).toEqual(job ? [lease.job] : [])
      if (job) end(job, 'completed')
    },
  fail:
    (at: number, fatal: boolean): Step =>
    async (world) => {
      const lease = pick(world.leases, at)
      if (!lease) return
      if (!world.alive(lease)) return expect(await sqlstateOf(queue.fail(lease, fatal))).toBe('SD703')
      const job = world.holds(lease)
      const outcome = await queue.fail(lease, fatal)
      if (!job) return expect(outcome).toBeUndefined()
      const dies = fatal || job.attempts >= MAX_ATTEMPTS[job.kind]
      expect(outcome).toBe(job.cancelled ? 'cancelled' : dies ? 'dead' : 'retry')
      end(job, job.cancelled ? 'cancelled' : dies ? 'dead' : 'waiting')
    },
  snooze:
    (at: number): Step =>
    async (world) => {
      const lease = pick(world.leases, at)
      if (!lease || !world.alive(lease)) return
      const job = world.holds(lease)
      expect(await queue.snooze(lease)).toBe(job !== undefined)
      if (job)
        Object.assign(end(job, job.cancelled ? 'cancelled' : 'waiting'), { attempts: job.attempts - 1 })
    },
  release:
    (at: number): Step =>
    async (world) => {
      const lease = pick(world.leases, at)
      if (!lease || !world.alive(lease)) return
      const job = world.holds(lease)
      expect(await queue.release(lease)).toBe(job ? 1 : 0)
      if (job)
        Object.assign(end(job, job.cancelled ? 'cancelled' : 'waiting'), { attempts: job.attempts - 1 })
    },
  cancel:
    (at: number): Step =>
    async (world) => {
      const entry = pick([...world.jobs], at)
      if (!entry) return
      const [id, job] = entry
      if (job.state === 'waiting') {
        expect(await queue.cancel(id)).toBe('cancelled')
        end(job, 'cancelled')
      } else if (job.state === 'running') {
        expect(await queue.cancel(id)).toBe('requested')
        job.cancelled = true
      } else expect(await sqlstateOf(queue.cancel(id))).toBe('SD702')
    },
  expire:
    (at: number): Step =>
    async (world) => {
      const worker = pick(world.workers, at)
      if (!worker?.alive) return
      await queue.expire(worker.id)
      const held = [...world.jobs.values()].filter(
        (job) => job.state === 'running' && job.lease?.worker === worker.id,
      )
      expect(await queue.reap()).toBe(held.length)
      worker.alive = false
      for (const job of held) {
        job.attempts -= 1
        job.crashes += 1
        end(job, job.cancelled ? 'cancelled' : 'waiting')
      }
    },
  register: (): Step => async (world) => {
    if (world.workers.filter((worker) => worker.alive).length >= 3) return
    world.workers.push({ id: await queue.register([...KINDS]), alive: true })
  },
  replay:
    (at: number): Step =>
    async (world) => {
      const entry = pick([...world.jobs], at)
      if (!entry) return
      const [id, job] = entry
      if (job.state === 'completed' || job.state === 'cancelled') {
        return expect(await sqlstateOf(queue.replay(id))).toBe('SD702')
      }
      expect(await queue.replay(id)).toHaveLength(job.state === 'dead' ? 1 : 0)
      if (job.state === 'dead') Object.assign(job, { state: 'waiting', attempts: 0, crashes: 0 })
    },
  pause:
    (kind: number, on: boolean): Step =>
    async (world) => {
      const name = KINDS[kind]!
      expect(await queue.one(`select iu_core.${on ? 'fn_job_pause' : 'fn_job_resume'}($1)`, [name])).toBe(
        world.paused.has(name) !== on,
      )
      world.paused[on ? 'add' : 'delete'](name)
    },
}

function end(job: Job, state: Job['state']): Job {
  delete job.cancelled
  delete job.lease
  job.state = state
  return job
}

async function compare(world: World): Promise<void> {
  const rows = await queue.rows<{ id: string; state: string; attempts: number; crashes: number }>(`
    select job_id as id, case when leased_by is null then 'waiting' else 'running' end as state, attempts, crashes from iu_core.job_queue
    union all select job_id, 'dead', attempts, crashes from iu_core.job_dead_letter
    union all select job_id, outcome, attempts, crashes from iu_core.job_history`)
  const seen = new Map(rows.map((row) => [row.id, row]))
  expect(rows, 'a job stands twice').toHaveLength(seen.size)
  const expected = [...world.jobs].map(([id, { state, attempts, crashes }]) => ({
    id,
    state,
    attempts,
    crashes,
  }))
  const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
  expect([...seen.values()].sort(byId)).toEqual(expected.sort(byId))
}

const index = fc.nat(60)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.nat(1), fc.option(fc.nat(5)), fc.integer({ min: -1, max: 2 }))
      .map((a) => steps.enqueue(...a)),
  },
  { weight: 6, arbitrary: fc.tuple(index, fc.integer({ min: 1, max: 4 })).map((a) => steps.claim(...a)) },
  { weight: 2, arbitrary: index.map((at) => steps.heartbeat(at)) },
  { weight: 4, arbitrary: index.map((at) => steps.complete(at)) },
  { weight: 4, arbitrary: fc.tuple(index, fc.boolean()).map((a) => steps.fail(...a)) },
  { weight: 1, arbitrary: index.map((at) => steps.snooze(at)) },
  { weight: 1, arbitrary: index.map((at) => steps.release(at)) },
  { weight: 2, arbitrary: index.map((at) => steps.cancel(at)) },
  { weight: 2, arbitrary: index.map((at) => steps.expire(at)) },
  { weight: 3, arbitrary: fc.constant(steps.register()) },
  { weight: 2, arbitrary: index.map((at) => steps.replay(at)) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(1), fc.boolean()).map((a) => steps.pause(...a)) },
)

it(`is what a model says in ${STORIES} random stories`, async () => {
  const count = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50 }), async (story) => {
      await db.owner(
        'truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_dead_letter, iu_core.job_worker, iu_core.job_running, iu_core.job_cancellation',
      )
      await db.owner(`update iu_core.job_kind set paused_at = null, paused_by = null`)
      await queue.one(`select iu_core.fn_job_kind_set('hasty', '{"max_attempts": 2}')::text`)
      await queue.one(`select iu_core.fn_job_kind_set('patient', '{}')::text`)
      const world = new World()
      await steps.register()(world)
      for (const act of story) {
        await act(world)
        await compare(world)
      }
      for (const job of world.jobs.values()) count.set(job.state, (count.get(job.state) ?? 0) + 1)
    }),
    { numRuns: STORIES },
  )
  console.log(
    `jobs at the end of ${STORIES} stories: ${[...count].map(([state, n]) => `${n} ${state}`).join(', ')}`,
  )
  if (STORIES >= 80)
    for (const state of ['waiting', 'running', 'dead', 'completed', 'cancelled'])
      expect(count.get(state)).toBeGreaterThan(5)
})
