/** updated_at of the staging tables: when a row was last written, set before it is written. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ads = useIngest(db)

it.each(['staging_rows', 'staging_id_resolution'])(
  'moves in %s when a row is changed by hand, is seen by RETURNING, and cannot be set to another time',
  async (table) => {
    const { upload_id } = await ads.file(
      `Campaign name,Ad set name,Ad name,Day,Impressions\n${table},Retarget,Video,2026-11-09,3\n`,
    )
    const [earlier] = await db.owner<{ at: Date }>(
      `select max(updated_at) as at from public.${table} where upload_id = $1`,
      [upload_id],
    )
    for (const change of ['batch_id = upload_id', `updated_at = '2020-01-01'`]) {
      const returned = await ads.service<{ at: Date; now: Date }>(
        `update public.${table} set ${change} where upload_id = $1 returning updated_at as at, now() as now`,
        [upload_id],
      )
      expect(returned.length).toBeGreaterThan(0)
      for (const { at, now } of returned) {
        expect(at).toEqual(now)
        expect(at.getTime()).toBeGreaterThan(earlier!.at.getTime())
      }
    }
  },
)

it('has table comments', async () => {
  const [comments] = await db.owner(
    `select obj_description('public.staging_rows'::regclass) as rows, obj_description('public.staging_id_resolution'::regclass) as ids`,
  )
  expect(comments).toEqual({
    rows: expect.stringContaining('uploads'),
    ids: expect.stringContaining('target tables'),
  })
})
