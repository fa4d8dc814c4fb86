/** What a file says about a campaign comes from all of its lines, not from the first alone. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ingest = useIngest(db)
const HEAD = 'Campaign ID,Campaign name,Campaign status,Objective,Day,Impressions,Currency\n'

async function campaigns() {
  return db.owner('select external_id, name, status, objective, currency from public.campaigns order by 1')
}

it('an attribute is the first value that is not empty; an empty first line erases nothing', async () => {
  const upload = await ingest.file(
    `${HEAD}1,A,,,2026-11-01,1,EUR
1,A,active,Sales,2026-11-02,2,EUR
1,A,,,2026-11-03,3,
2,B,active,,2026-11-01,4,
`,
    { until: 'promoted' },
  )
  expect(upload.plan_notes).toEqual([])
  const told = [
    { external_id: '1', name: 'A', status: 'active', objective: 'Sales', currency: 'EUR' },
    { external_id: '2', name: 'B', status: 'active', objective: null, currency: null },
  ]
  expect(await campaigns()).toEqual(told)
  // The figures keep what their own lines say.
  expect(
    await db.owner(
      'select date::text, currency from public.daily_metrics where impressions in (1, 3) order by 1',
    ),
  ).toEqual([
    { date: '2026-11-01', currency: 'EUR' },
    { date: '2026-11-03', currency: null },
  ])
  await ingest.file(`${HEAD}1,A,,,2026-11-04,1,\n1,A,active,Sales,2026-11-05,2,EUR\n`, { until: 'promoted' })
  expect(await campaigns()).toEqual(told)
})

it('where lines differ the plan says so, and so does the review package', async () => {
  const upload = await ingest.file(
    `${HEAD}3,C,active,Sales,2026-11-01,1,EUR\n3,C,paused,Leads,2026-11-02,2,EUR\n`,
  )
  expect(upload.plan_notes).toEqual([
    {
      rule: 'entity.conflicting',
      line: 2,
      count: 1,
      message:
        'Lines differ about the Campaign status, Objective of 1 campaign; the first value that is not empty is taken.',
    },
  ])
})
