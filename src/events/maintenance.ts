/** What the outbox needs from time to time: partitions ahead, and none kept that every reader has read. */
import type { MaintenanceTask } from '../db/maintenance.ts'
import { maintainPartitions } from './outbox.ts'

const HOUR = 3_600_000

export const eventTasks: readonly MaintenanceTask[] = [
  {
    name: 'event partitions',
    everyMs: HOUR,
    async run(client) {
      const { created, dropped } = await maintainPartitions(client)
      return created + dropped > 0 ? `${created} partitions made, ${dropped} dropped` : undefined
    },
  },
]
