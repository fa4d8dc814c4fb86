/** updated_at of the staging tables: right also where an update by hand forgets it. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ads = useIngest(db)

it.each(['staging_rows', 'staging_id_resolution'])(
  'moves in %s when a row is changed by hand',
  async (table) => {
    const { upload_id } = await ads.file(
      `Campaign name,Ad set name,Ad name,Day,Impressions\n${table},Retarget,Video,2026-11-09,3\n`,
    )
    const stamps = async (statement: string) => {
      await ads.service(`update public.${table} set ${statement} where upload_id = $1`, [upload_id])
      return ads.service<{ at: string; batch_id: string }>(
        `select distinct updated_at::text as at, batch_id from public.${table} where upload_id = $1`,
        [upload_id],
      )
    }
    expect(await stamps(`updated_at = '2020-01-01'`)).toEqual([
      { at: expect.stringMatching(/^2020-01-01/), batch_id: null },
    ])
    const changed = await stamps('batch_id = upload_id')
    expect(changed.length).toBeGreaterThan(0)
    for (const { at, batch_id } of changed) {
      expect(batch_id).toBe(upload_id)
      expect(Date.parse(at)).toBeGreaterThan(Date.now() - 3_600_000)
    }
  },
)
