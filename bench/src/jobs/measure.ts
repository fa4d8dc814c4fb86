/** What every contender measures in the same way. Runs in a process of its own: the last line of its output is its figures. */
import { percentile, perSecond } from '../statistics.ts'
import type { DrainTask } from './jobs.ts'

export interface Queue {
  /** Jobs 0 … count − 1, in bulk. */
  enqueue(count: number): Promise<void>
  enqueueOne(job: number): Promise<void>
  /** Begins to work; `ran` is called at the start of every job. */
  start(ran: (job: number) => void): Promise<void>
  /** Ends what `start` began; it may begin again. */
  halt(): Promise<void>
  /** Whether the tables say that nothing is left to do. */
  isEmpty(): Promise<boolean>
  stop(): Promise<void>
}

/** Every contender gets the same time to compile its code and to open and plan what it keeps, not the same number of jobs. */
const WARM_UP_MS = 1000
const WARM_UP_JOBS = 1000

export async function measure(queue: Queue, { jobs, few, latencies }: DrainTask): Promise<void> {
  const warm = performance.now() + WARM_UP_MS
  while (performance.now() < warm) {
    await drain(queue, WARM_UP_JOBS)
    await queue.halt()
  }
  const small = few === 0 ? undefined : await drain(queue, few)
  if (small) await queue.halt()
  const { runs, enqueueMs, drainMs, onRun } = await drain(queue, jobs)

  const taken: number[] = []
  for (let job = jobs; job < jobs + latencies; job++) {
    const begun = performance.now()
    const ran = new Promise<void>((resolve) => onRun(resolve))
    await queue.enqueueOne(job)
    await ran
    taken.push(performance.now() - begun)
    // The worker goes back to waiting, as it would between two jobs of a quiet hour.
    while (!(await queue.isEmpty())) await new Promise((resolve) => setTimeout(resolve, 2))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await queue.stop()
  console.log(
    JSON.stringify({
      enqueue_per_s: perSecond(jobs, enqueueMs),
      drain_per_s: perSecond(jobs, drainMs),
      ...(small && { few_drain_per_s: perSecond(few, small.drainMs) }),
      latency_p50_ms: percentile(taken, 0.5),
      latency_p99_ms: percentile(taken, 0.99),
      missed: jobs + latencies - runs.size,
      doubled: [...runs.values()].filter((times) => times > 1).length,
    }),
  )
  process.exit(0)
}

/** From the start of the workers until the tables say that nothing is left. */
async function drain(queue: Queue, jobs: number) {
  const runs = new Map<number, number>()
  let waiting: (() => void) | undefined
  const enqueued = performance.now()
  await queue.enqueue(jobs)
  const enqueueMs = performance.now() - enqueued

  const started = performance.now()
  await queue.start((job) => {
    runs.set(job, (runs.get(job) ?? 0) + 1)
    waiting?.()
  })
  while (runs.size < jobs || !(await queue.isEmpty())) await new Promise((resolve) => setTimeout(resolve, 5))
  return {
    runs,
    enqueueMs,
    drainMs: performance.now() - started,
    onRun: (callback: () => void) => {
      waiting = callback
    },
  }
}

export function taskGiven(): DrainTask {
  return JSON.parse(process.argv[2] ?? '{}') as DrainTask
}

/** As large as each of the peers takes them well. */
export function chunks(count: number, size = 5000): number[][] {
  return Array.from({ length: Math.ceil(count / size) }, (_, chunk) =>
    Array.from({ length: Math.min(size, count - chunk * size) }, (_, index) => chunk * size + index),
  )
}
