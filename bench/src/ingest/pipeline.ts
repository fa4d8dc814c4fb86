/** The whole way: the product's own call, from the file on disk to rows in production. */
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { ingestExport, openWorld } from './world.ts'

export async function throughPipeline({ database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, size, round + 1)
  const memory = watchMemory()
  const reached: Record<string, number> = {}
  try {
    const started = performance.now()
    await ingestExport(world, 'promoted', (event) => {
      if (event.type === 'progress') reached[event.stage] ??= performance.now() - started
    })
    const elapsed = performance.now() - started
    const written = await metrics(world.pool)
    return {
      rows_per_s: perSecond(size, elapsed),
      ms: elapsed,
      read_ms: reached.check!,
      stage_ms: reached.plan! - reached.check!,
      plan_ms: reached.promote! - reached.plan!,
      promote_ms: elapsed - reached.promote!,
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
