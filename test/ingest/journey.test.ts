/** The user's story, from a messy export to promoted rows and back. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ads = useIngest(db)

const HEADER =
  'Campaign name,Ad set name,Ad name,Day,Delivery status,Amount spent (AUD),Impressions,Reach,Link clicks,Ad set name'
const WEEK = `\ufeff${HEADER}
Winter boots,Retarget,Boots video,2026-11-09,active,412.10,21004,9000,311,Retarget
Winter boots,Retarget,Boots video,2026-11-10,active,498.77,25310,9800,320,Retarget
Winter boots,Lookalike,Boots photo,2026-11-09,active,88.00,6120,3000,52,Lookalike
,,,,,998.87,52434,21800,683,
`

it('reads, plans, promotes and undoes', async () => {
  const planned = await ads.file(WEEK)
  expect(planned).toMatchObject({
    status: 'planned',
    line_count: 4,
    valid_count: 3,
    invalid_count: 0,
    skipped_count: 1,
  })
  expect(planned.plan_totals).toEqual({
    campaign: { insert: 1 },
    ad_set: { insert: 2 },
    ad: { insert: 2 },
    daily_metric: { insert: 3, skipped: 1 },
  })
  const [promotion] = await ads.service<{ totals: unknown }>(
    'select * from iu_core.fn_ingest_promote($1, $2)',
    [planned.upload_id, planned.plan_digest],
  )
  expect(promotion).toMatchObject({ totals: planned.plan_totals })
  expect(await db.owner('select name, external_id from campaigns')).toEqual([
    { name: 'Winter boots', external_id: expect.stringMatching(/^name:[0-9a-f]{32}$/) },
  ])
  expect(
    await db.owner(`select a.name, d.date::text, d.spend::text, d.impressions, d.clicks, d.currency from daily_metrics d
                      join ads a on a.id = d.ad_id order by 1, 2`),
  ).toEqual([
    {
      name: 'Boots photo',
      date: '2026-11-09',
      spend: '88.000000',
      impressions: '6120',
      clicks: '52',
      currency: 'AUD',
    },
    {
      name: 'Boots video',
      date: '2026-11-09',
      spend: '412.100000',
      impressions: '21004',
      clicks: '311',
      currency: 'AUD',
    },
    {
      name: 'Boots video',
      date: '2026-11-10',
      spend: '498.770000',
      impressions: '25310',
      clicks: '320',
      currency: 'AUD',
    },
  ])

  const corrected = await ads.file(WEEK.replace('412.10', '420.00'))
  expect(corrected.plan_totals).toEqual({
    campaign: { unchanged: 1 },
    ad_set: { unchanged: 2 },
    ad: { unchanged: 2 },
    daily_metric: { update: 1, unchanged: 2, skipped: 1 },
  })
  await ads.service('select iu_core.fn_ingest_promote($1, $2)', [corrected.upload_id, corrected.plan_digest])
  const [undo] = await ads.service('select * from iu_core.fn_ingest_undo($1)', [corrected.upload_id])
  expect(undo).toMatchObject({ undo_totals: { daily_metric: { reversed: 1 } } })
  const [first] = await ads.service('select * from iu_core.fn_ingest_undo($1)', [planned.upload_id])
  expect(first).toMatchObject({
    undo_totals: {
      campaign: { reversed: 1 },
      ad_set: { reversed: 2 },
      ad: { reversed: 2 },
      daily_metric: { reversed: 3 },
    },
  })
  expect(await db.owner('select from campaigns')).toEqual([])
})
