/** The whole way: the product's own call, from the file on disk to rows in production. */
import type { Figures, Task } from '../benchmark.ts'
import { postgresCpuMs } from '../cpu.ts'
import { perSecond } from '../statistics.ts'
import { ingestExport, openWorld } from './world.ts'

export const throughPipeline = (task: Task): Promise<Figures> => through(task, true)
/** As on a database whose administrator has not granted what checks in bulk need. */
export const throughRowChecks = (task: Task): Promise<Figures> => through(task, false)

async function through({ database, size, round }: Task, checksInBulk: boolean): Promise<Figures> {
  const world = await openWorld(database, size, round + 1, checksInBulk)
  const session = await database.superuser()
  const memory = watchMemory()
  const reached: Record<string, number> = {}
  try {
    const node = process.cpuUsage()
    const postgres = await postgresCpuMs(session)
    const started = performance.now()
    await ingestExport(world, 'promoted', (event) => {
      if (event.type === 'progress') reached[event.stage] ??= performance.now() - started
    })
    const elapsed = performance.now() - started
    const { user, system } = process.cpuUsage(node)
    const postgres_cpu_ms = (await postgresCpuMs(session)) - postgres
    const written = await metrics(world.pool)
    return {
      rows_per_s: perSecond(size, elapsed),
      ms: elapsed,
      read_ms: reached.check!,
      stage_ms: reached.plan! - reached.check!,
      plan_ms: reached.promote! - reached.plan!,
      promote_ms: elapsed - reached.promote!,
      node_cpu_ms: (user + system) / 1000,
      postgres_cpu_ms,
      peak_rss_mb: memory.stop(),
      rows_missing: size - written,
    }
  } finally {
    memory.stop()
    await world.end()
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
