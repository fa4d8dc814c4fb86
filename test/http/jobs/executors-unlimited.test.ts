import { expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { beginWorker, executorToken, serviceToken } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db, { rateLimit: 2 })

it('an executor may ask as often as there are jobs; others are limited', async () => {
  const worker = await beginWorker(api, await executorToken('external_worker'), {
    executor: 'external_worker',
    kinds: ['many'],
  })
  for (let n = 0; n < 5; n++) expect(await worker.lease()).toEqual([])
  const service = await serviceToken()
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await api.get('/api/v1/jobs', service)).status)
  expect(statuses).toEqual([200, 200, 429])
})

it('a request that waits ends when the server stops, and its lease with the caller', async () => {
  const worker = await beginWorker(api, await executorToken('external_worker'), {
    executor: 'external_worker',
    kinds: ['never'],
  })
  const leases = () => db.owner('select worker_id, leased_until from iu_core.job_worker order by 1')
  const before = await leases()
  const WAIT_S = 20
  const began = performance.now()
  const waiting = worker.lease({ wait_s: WAIT_S })
  // A close cuts off what has not arrived yet; this request has when it renewed its lease.
  await expect.poll(leases).not.toEqual(before)
  await api.app.close()
  expect(await waiting).toEqual([])
  expect(performance.now() - began).toBeLessThan(WAIT_S * 1000)
})
