/** Maintenance of the queue: partitions of its history, old keys, jobs of dead workers, kinds without a handler. */
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import { reapJobs } from './lease.ts'

const HOUR = 3_600_000
const REAP_MS = 5000
const UNHANDLED_MS = 15_000

export const jobTasks: readonly MaintenanceTask[] = [
  {
    name: 'job history',
    everyMs: HOUR,
    led: true,
    async run(client) {
      const { rows } = await client.query<{ created: number; dropped: number; keys: number }>(
        'select created, dropped, keys from iu_core.fn_job_history_maintain()',
      )
      const { created, dropped, keys } = rows[0]!
      return created + dropped + keys > 0
        ? `${created} partitions made, ${dropped} dropped, ${keys} keys forgotten`
        : undefined
    },
  },
  {
    // Workers do it for each other; executors elsewhere have only this.
    name: 'jobs of dead workers',
    everyMs: REAP_MS,
    led: true,
    async run(client) {
      const reaped = await reapJobs(client)
      return reaped > 0 ? `${reaped} jobs are back in the queue` : undefined
    },
  },
  {
    name: 'kinds that nobody handles',
    everyMs: UNHANDLED_MS,
    led: true,
    async run(client) {
      const { rows } = await client.query<{ opened: number; resolved: number }>(
        'select opened, resolved from iu_core.fn_job_review_unhandled()',
      )
      const { opened, resolved } = rows[0]!
      return opened + resolved > 0
        ? `kinds that no worker handles: ${opened} issues opened, ${resolved} resolved`
        : undefined
    },
  },
]
