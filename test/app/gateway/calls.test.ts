/** Jobs through a gateway: they run in a worker without a database, once. */
import { expect, it } from 'vitest'
import { useJobs } from '../../jobs/worker/support.ts'
import { useDatabase } from '../../support/database.ts'
import { useGateways } from '../../support/gateway.ts'

const db = useDatabase()
const jobs = useJobs(db)
const remote = await useGateways(db)

it('a job runs in a worker that has no database', async () => {
  await remote.gateway()
  await remote.worker({ greet: async (job) => ({ greeted: job.source_ref }) })
  const ids = await jobs.enqueue(
    ...Array.from({ length: 200 }, (_, n) => ({ job_kind: 'greet', source_ref: String(n) })),
  )
  const done = await jobs.reached('completed', ids)
  expect(done.map(({ result }) => result)).toEqual(ids.map((_, n) => ({ greeted: String(n) })))
  expect(done.every(({ attempts, crashes }) => attempts === 1 && crashes === 0)).toBe(true)
})
