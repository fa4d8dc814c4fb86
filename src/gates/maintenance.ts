/** Maintenance of gates: removes overrides that outlived their transaction. */
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import { sweepOverrides } from './gates.ts'

const HOUR = 3_600_000

export const gateTasks: readonly MaintenanceTask[] = [
  {
    name: 'gate overrides',
    everyMs: HOUR,
    led: true,
    async run(client) {
      const swept = await sweepOverrides(client)
      return swept > 0 ? `${swept} gate overrides that outlived their transactions were removed` : undefined
    },
  },
]
