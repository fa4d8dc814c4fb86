/** What the gates need from time to time: no override outlives its transaction. */
import type { MaintenanceTask } from '../db/maintenance.ts'
import { sweepOverrides } from './gates.ts'

const HOUR = 3_600_000

export const gateTasks: readonly MaintenanceTask[] = [
  {
    name: 'gate overrides',
    everyMs: HOUR,
    async run(client) {
      const swept = await sweepOverrides(client)
      return swept > 0 ? `${swept} overrides had outlived their transactions` : undefined
    },
  },
]
