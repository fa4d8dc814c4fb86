/** What executions need from time to time: partitions of their log, results that nobody will read again, dead engines' work. */
import type { Client, Pool } from '../db/connection.ts'
import type { MaintenanceTask } from '../db/maintenance.ts'
import { collectResults } from './results/collect.ts'

const HOUR = 3_600_000
const REAP_MS = 5000

/** `pool` acts as dot_executor; `home` is where results on disk are, on the machine that has them. */
export function executionTasks(pool: Pool, home?: string): MaintenanceTask[] {
  return [
    {
      name: 'execution partitions',
      everyMs: HOUR,
      async run(client) {
        const { rows } = await client.query<{ created: number; dropped: number }>(
          'select created, dropped from noetl.fn_execution_partitions_maintain()',
        )
        const { created, dropped } = rows[0]!
        return created + dropped > 0 ? `${created} partitions made, ${dropped} dropped` : undefined
      },
    },
    {
      name: 'execution results',
      everyMs: HOUR,
      // In transactions of its own, a batch each.
      async run() {
        const { results, orphans } = await collectResults(pool, home)
        return results + orphans > 0
          ? `${results} results forgotten, ${orphans} files without one deleted`
          : undefined
      },
    },
    {
      // Engines do it for each other; this is for when the last one has died.
      name: 'commands of dead engines',
      everyMs: REAP_MS,
      async run(client) {
        const freed = await one(client, 'select noetl.fn_engine_reap() as answer')
        return freed > 0 ? `${freed} commands are free again` : undefined
      },
    },
    {
      // Engines do it all the time. Where none runs, the reader of the outbox goes when nobody waits any more.
      name: 'waits',
      everyMs: HOUR,
      async run(client) {
        const woken = await one(client, 'select noetl.fn_waits_wake() as answer')
        return woken > 0 ? `${woken} steps woken` : undefined
      },
    },
  ]
}

async function one(client: Client, sql: string): Promise<number> {
  const { rows } = await client.query<{ answer: number }>(sql)
  return rows[0]!.answer
}
