/**
 * Items that wait 50 ms, 50 at once in a process, over 1, 2 and 4 processes: how much of the possible rate the processes reach together.
 * The handlers wait, because the cores of one machine could not show more otherwise. Which process drives is apart from those that run.
 * Beside it the same waits without the product, and how many cores were busy: what the timers and the machine leave.
 */
import type { Benchmark, Contender, Figures, Round, Task } from '../benchmark.ts'
import { machineBusyMs, postgresCpuMs } from '../cpu.ts'
import { atLeast, atMost } from '../criteria.ts'
import { askAll, startProcess, startProcesses, stopAll } from '../processes.ts'
import { medianOf, perSecond, worstOf } from '../statistics.ts'
import type { SpreadProcess } from './process.ts'

const ITEM_MS = 50
const AT_ONCE = 50
const PROCESSES = [1, 2, 4]
const SCRIPT = new URL('process.js', import.meta.url)

const FIELDS = [
  'items_per_s',
  'share',
  'cores_busy',
  'postgres_us_per_item',
  'driver_us_per_item',
  'worker_us_per_item',
] as const

export const spread: Benchmark = {
  name: 'spread',
  about: 'items that wait 50 ms, 50 at once, over 1, 2 and 4 processes: share of the possible rate',
  unit: 'seconds of work',
  size: { full: 10, quick: 3 },
  rounds: { full: 3, quick: 1 },
  freshDatabase: 'contender',
  contenders: [...PROCESSES.map(directWorkers), ...PROCESSES.map(floor)],
  summarise(rounds) {
    return {
      ...Object.assign({}, ...PROCESSES.map((count) => figuresOf(rounds, count))),
      ...Object.fromEntries(
        PROCESSES.map((count) => [`floor_share_${count}`, medianOf(rounds, floorOf(count), 'share')]),
      ),
      missed: Math.max(...PROCESSES.map((count) => worstOf(rounds, nameOf(count), 'missed'))),
      doubled: Math.max(...PROCESSES.map((count) => worstOf(rounds, nameOf(count), 'doubled'))),
    }
  },
  criteria: [
    { field: 'share_1', bar: atLeast(0.95) },
    { field: 'share_2', bar: atLeast(0.9) },
    { field: 'share_4', bar: atLeast(0.8) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
}

function directWorkers(count: number): Contender {
  return {
    name: nameOf(count),
    about: `${count} × ${AT_ONCE} items at once, each process on the database`,
    run: (task) => measure(task, count),
  }
}

/** A fifth of the time: nothing of it varies. */
function floor(count: number): Contender {
  return {
    name: floorOf(count),
    about: `${count} × ${AT_ONCE} waits of ${ITEM_MS} ms, without the product`,
    async run({ database, size }) {
      const items = Math.ceil(size / 5) * possibleOf(1)
      const processes = await startProcesses(count, () =>
        startProcess(SCRIPT, {
          role: 'floor',
          url: database.url,
          workerUrl: database.workerUrl,
          concurrency: AT_ONCE,
          itemMs: ITEM_MS,
        } satisfies SpreadProcess),
      )
      try {
        const slowest = Math.max(...(await askAll<number>(processes, 'run', items)))
        return { share: perSecond(items, slowest) / possibleOf(1) }
      } finally {
        await stopAll(processes)
      }
    },
  }
}

const possibleOf = (count: number): number => (count * AT_ONCE * 1000) / ITEM_MS

async function measure({ database, size }: Task, count: number): Promise<Figures> {
  const possible = possibleOf(count)
  const items = size * possible
  const start = (role: SpreadProcess['role']) => () =>
    startProcess(SCRIPT, {
      role,
      url: database.url,
      workerUrl: database.workerUrl,
      concurrency: AT_ONCE,
      itemMs: ITEM_MS,
    } satisfies SpreadProcess)
  const [driver] = await startProcesses(1, start('driver'))
  const workers = await startProcesses(count, start('worker'))
  try {
    const session = await database.superuser()
    const usage = async () => ({
      postgres: await postgresCpuMs(session),
      driver: await driver!.ask<number>('cpuMs'),
      workers: sum(await askAll<number>(workers, 'cpuMs')),
      machine: machineBusyMs(),
      at: performance.now(),
    })
    const before = await usage()
    const ms = await driver!.ask<number>('run', items)
    const after = await usage()
    const runs = (await askAll<number[]>(workers, 'runs')).flat()
    const different = new Set(runs).size
    const microseconds = (of: 'postgres' | 'driver' | 'workers'): number =>
      ((after[of] - before[of]) * 1000) / items
    return {
      items_per_s: perSecond(items, ms),
      share: perSecond(items, ms) / possible,
      cores_busy: (after.machine - before.machine) / (after.at - before.at),
      postgres_us_per_item: microseconds('postgres'),
      driver_us_per_item: microseconds('driver'),
      worker_us_per_item: microseconds('workers'),
      missed: items - different,
      doubled: runs.length - different,
    }
  } finally {
    await stopAll([driver!, ...workers])
  }
}

function figuresOf(rounds: readonly Round[], count: number): Figures {
  return Object.fromEntries(
    FIELDS.map((field) => [`${field}_${count}`, medianOf(rounds, nameOf(count), field)]),
  )
}

function floorOf(count: number): string {
  return `floor_${count}`
}

function nameOf(count: number): string {
  return `processes_${count}`
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
