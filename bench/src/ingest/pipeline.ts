/** The whole way: the product's own call, from the file on disk to rows in production. */
import type { Figures, Task } from '../benchmark.ts'
import { postgresCpuMs } from '../cpu.ts'
import { type BenchProcess, startProcess } from '../processes.ts'
import { createPool } from '../product.ts'
import { perSecond } from '../statistics.ts'
import { ingestExport, openWorld, type World } from './world.ts'

export const throughPipeline = (task: Task): Promise<Figures> => through(task, true)
/** As on a database whose administrator has not granted what checks in bulk need. */
export const throughRowChecks = (task: Task): Promise<Figures> => through(task, false)

/** Memory is that of a process of its own: what earlier rounds left in this one is no memory of the upload. */
export async function throughOwnProcess({ database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, size, round + 1, true)
  const { home, file, workspace, client } = world
  const input: Export = { home, file, workspace, client, workerUrl: database.workerUrl }
  let child: BenchProcess | undefined
  try {
    child = await startProcess(new URL('process.js', import.meta.url), input)
    const { node_cpu_ms, ...figures } = await withPostgresCpu(database, () => child!.ask<Figures>('ingest'))
    return {
      rows_per_s: perSecond(size, figures.ms!),
      ...figures,
      node_cpu_ms: node_cpu_ms!,
      rows_missing: size - (await metrics(world.pool)),
    }
  } finally {
    await child?.stop()
    await world.end()
  }
}

async function through({ database, size, round }: Task, checksInBulk: boolean): Promise<Figures> {
  const world = await openWorld(database, size, round + 1, checksInBulk)
  try {
    const figures = await withPostgresCpu(database, () => ingestWith(world))
    return {
      rows_per_s: perSecond(size, figures.ms!),
      ...figures,
      rows_missing: size - (await metrics(world.pool)),
    }
  } finally {
    await world.end()
  }
}

async function withPostgresCpu(database: Task['database'], work: () => Promise<Figures>): Promise<Figures> {
  const session = await database.superuser()
  const before = await postgresCpuMs(session)
  const figures = await work()
  return { ...figures, postgres_cpu_ms: (await postgresCpuMs(session)) - before }
}

/** Where another process finds what `openWorld` has made. */
export interface Export extends Pick<World, 'home' | 'file' | 'workspace' | 'client'> {
  readonly workerUrl: string
}

export async function ingestMeasured({ workerUrl, ...world }: Export): Promise<Figures> {
  const pool = createPool(workerUrl, { role: 'dot_executor', max: 4 })
  try {
    return await ingestWith({ ...world, pool })
  } finally {
    await pool.end()
  }
}

async function ingestWith(world: Parameters<typeof ingestExport>[0]): Promise<Figures> {
  const memory = watchMemory()
  const reached: Record<string, number> = {}
  try {
    const node = process.cpuUsage()
    const started = performance.now()
    await ingestExport(world, 'promoted', (event) => {
      if (event.type === 'progress') reached[event.stage] ??= performance.now() - started
    })
    const elapsed = performance.now() - started
    const { user, system } = process.cpuUsage(node)
    return {
      ms: elapsed,
      read_ms: reached.check!,
      stage_ms: reached.plan! - reached.check!,
      plan_ms: reached.promote! - reached.plan!,
      promote_ms: elapsed - reached.promote!,
      node_cpu_ms: (user + system) / 1000,
      peak_rss_mb: memory.stop(),
    }
  } finally {
    memory.stop()
  }
}

async function metrics(pool: {
  query(sql: string): Promise<{ rows: { count: string }[] }>
}): Promise<number> {
  const { rows } = await pool.query('select count(*) from public.daily_metrics')
  return Number(rows[0]!.count)
}

/** Of the whole process, DuckDB included. */
function watchMemory(): { stop(): number } {
  let peak = 0
  const look = (): void => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  const timer = setInterval(look, 20)
  return {
    stop() {
      clearInterval(timer)
      look()
      return peak / 1_048_576
    },
  }
}
