/** Who works and how many workers are wanted, in the browser. */
import { expect, it } from 'vitest'
import { seen, useRealConsole } from './real-console.ts'

const app = useRealConsole('console-workers')

it('Health lists workers behind gateways and leaders, and Jobs how many workers are wanted', async () => {
  await app.sql(
    `select iu_core.fn_remote_workers_write((select process_id from iu_core.process limit 1), $1)`,
    [
      JSON.stringify([
        {
          session: 's1',
          name: 'resize 1',
          host: 'far-away',
          pid: 7,
          version: '0.0.9',
          pool: '3fa9c1d2e0b7',
          concurrency: 8,
          held: 3,
          oldest_call_at: new Date(Date.now() - 120_000),
          attached_at: new Date(Date.now() - 3_600_000),
        },
      ]),
    ],
  )
  await app.sql(`select iu_core.fn_job_enqueue('nobody_runs_it') from generate_series(1, 150)`)
  const page = await app.signIn('operator')
  await page.goto(`${app.url}/health`)
  const workers = page.locator('#workers')
  await workers.getByText('resize 1').waitFor()
  const text = await seen(workers)
  expect(text).toMatch(/far-away, process 7[\s\S]*pool 3fa9c1d2e0b7[\s\S]*3 of 8/)
  expect(text).toMatch(/jobs\.schedules[\s\S]*fires schedules/)
  await page.goto(`${app.url}/jobs`)
  const pools = page.locator('#pools')
  await pools.getByText('nobody_runs_it').waitFor()
  expect(await seen(pools)).toMatch(/nobody_runs_it\s+0\s+150\s+not known\s+0\s+2/)
})
