/** Maintenance of changes: deletes read marks of news that the inbox no longer lists. */
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'

const HOUR = 3_600_000

export const changeTasks: readonly MaintenanceTask[] = [
  {
    name: 'read marks of the inbox',
    everyMs: HOUR,
    led: true,
    async run(client) {
      const { rows } = await client.query<{ deleted: number }>('select iu_core.fn_inbox_cleanup() as deleted')
      const { deleted } = rows[0]!
      return deleted > 0 ? `${deleted} read marks of old news were deleted` : undefined
    },
  },
]
