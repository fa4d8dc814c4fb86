/** The order in which the parts of a process start. */
import pino from 'pino'
import { expect, it } from 'vitest'
import { builtInJobs, compose } from '../../src/app/compose.ts'
import { readConfig } from '../../src/kernel/config.ts'
import { openDatabase } from '../../src/kernel/postgres/open.ts'
import { SECRET } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const config = readConfig({
  STAGEDOOR_HOME: temporaryHome('compose'),
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url('stagedoor_worker'),
  STAGEDOOR_JWT_SECRET: SECRET,
})
const leases = async () =>
  (await db.owner<{ n: number }>('select count(*)::int as n from iu_core.job_worker'))[0]!.n

it('prepares the API before any part takes a lease, which nothing could keep while schemas are compiled', async () => {
  const database = await openDatabase(config, { share: false })
  let before: unknown
  const composition = await compose(config, database, {
    roles: { api: true, jobs: { handlers: builtInJobs(config) } },
    log: pino({ level: 'silent' }),
    prepareApi: async ({ api, worker }) => {
      before = { api: api !== undefined, worker, leases: await leases() }
    },
  })
  expect(before).toEqual({ api: true, worker: undefined, leases: 0 })
  expect(await leases()).toBeGreaterThan(0)
  await composition.stop()
})
