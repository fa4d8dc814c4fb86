/** Maintenance of access: deletes sessions, sign-ins and codes that ended. */
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'

const HOUR = 3_600_000

export const accessTasks: readonly MaintenanceTask[] = [
  {
    name: 'ended sessions',
    everyMs: HOUR,
    led: true,
    async run(client) {
      const { rows } = await client.query<{ deleted: number }>(
        'select iu_core.fn_access_cleanup() as deleted',
      )
      const { deleted } = rows[0]!
      return deleted > 0 ? `${deleted} sessions, codes and tokens that had ended were deleted` : undefined
    },
  },
]
