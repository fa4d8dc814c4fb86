/**
 * What happens to uploads by themselves: readers that died, images past their undo. Retention of staged rows and of id
 * resolutions are jobs of the schedules with their names.
 */
import type { MaintenanceTask } from '../db/maintenance.ts'
import { sweepSpool } from './spool.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export function ingestTasks(home: string): MaintenanceTask[] {
  return [
    {
      name: 'uploads without a reader',
      everyMs: MINUTE,
      async run(client) {
        const { rows } = await client.query<{ failed: number }>('select iu_core.fn_ingest_sweep() as failed')
        const folders = await sweepSpool(home)
        const { failed } = rows[0]!
        return failed + folders > 0
          ? `${failed} uploads given up, ${folders} spool folders removed`
          : undefined
      },
    },
    {
      name: 'images of promotions',
      everyMs: HOUR,
      async run(client) {
        // One promotion a call, and there may be many: all that are due, for up to a minute.
        const until = Date.now() + MINUTE
        let dropped = 0n
        let promotions = 0
        while (Date.now() < until) {
          const { rows } = await client.query<{ rows: string | null }>(
            'select iu_core.fn_ingest_images_drop() as rows',
          )
          if (rows[0]!.rows === null) break
          dropped += BigInt(rows[0]!.rows)
          promotions += 1
        }
        return promotions > 0 ? `images of ${dropped} rows of ${promotions} promotions dropped` : undefined
      },
    },
  ]
}
