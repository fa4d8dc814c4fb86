/**
 * Files of uploads in a bucket, behind a proxy that breaks connections: a reader downloads a file again, another process takes the upload of
 * a killed one, and nothing is left in the bucket when a file has been read.
 */
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openStores, type Stores } from '../../src/app/stores.ts'
import { startReader } from '../../src/app/upload-reader.ts'
import { queueUpload } from '../../src/ingest/pipeline.ts'
import { emptyFileTrash } from '../../src/ingest/upload-files.ts'
import { findUpload } from '../../src/ingest/uploads.ts'
import type { Worker } from '../../src/jobs/worker.ts'
import { readConfig } from '../../src/kernel/config.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { week } from '../http/uploads/uploads-api.ts'
import {
  type RunningS3,
  S3RVER_GAPS,
  type S3Target,
  s3Target,
  startS3rver,
} from '../runtime/stores/targets.ts'
import { type RunningCli, startCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { useIngest } from '../support/ingest.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const ads = useIngest(db)
const folder = temporaryHome('reading-s3')
let server: RunningS3
let proxy: FaultProxy
let behind: S3Target
let stores: Stores
let reader: Worker | undefined
const processes: RunningCli[] = []

const environment = (name: string): Record<string, string> => ({
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url(MIGRATOR),
  STAGEDOOR_HOME: join(folder, name),
  STAGEDOOR_STORE: `s3://${server.settings.bucket}/files`,
  STAGEDOOR_S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
  STAGEDOOR_S3_ACCESS_KEY: 'S3RVER',
  STAGEDOOR_S3_SECRET_KEY: 'S3RVER',
  STAGEDOOR_S3_TIMEOUT: '1',
})

beforeAll(async () => {
  server = await startS3rver(join(folder, 's3rver'))
  proxy = await startFaultProxy({ port: server.port })
  behind = s3Target(server.settings, 'files/main/uploads', S3RVER_GAPS)
  stores = openStores(readConfig(environment('here')))
})
afterEach(async () => {
  proxy.setFault(undefined)
  await reader?.stop()
  reader = undefined
  for (const { end } of processes.splice(0)) await end('SIGKILL')
})
afterAll(async () => {
  stores.close()
  behind.close()
  await proxy.stop()
  await server.stop()
})

/** Enough bytes that a fault hits in the middle of them. */
function file(campaign: string): string {
  return week(`${campaign} ${'x'.repeat(40)}`) + '\n'.repeat(300_000)
}

async function queue(text: string): Promise<string> {
  const pool = db.pool('stagedoor_worker')
  const stored = await stores.uploads.put(Readable.from([text]))
  expect(stored).toMatchObject({
    file_ref: expect.stringMatching(/^s3:/),
    store: expect.stringMatching(/^s3\./),
  })
  const actor = {
    transaction: <T>(work: Parameters<typeof inTransaction<T>>[1]) =>
      inTransaction(pool, work, { role: 'service_role' }),
    onBehalfOf: ads.operator.userId,
  }
  const { workspace: workspaceId, client: clientId } = ads
  const options = {
    actor,
    until: 'planned',
    dataset: 'ads',
    platform: 'meta',
    workspaceId,
    clientId,
  } as const
  return (await queueUpload({ pool, home: ads.home, files: stores.uploads }, stored, options, findUpload))
    .upload_id
}

async function retryAtOnce(): Promise<void> {
  const pool = db.pool('stagedoor_worker')
  for (const store of await stores.uploads.stores())
    await pool.query('select iu_core.fn_ingest_reading_kind($1)', [store])
  await db.owner(
    `update iu_core.job_kind set backoff = '100 milliseconds', max_backoff = '100 milliseconds' where job_kind like 'upload_read:%'`,
  )
}

async function read(): Promise<void> {
  await retryAtOnce()
  const pool = db.pool('stagedoor_worker')
  reader = await startReader(
    { pool, home: ads.home, files: stores.uploads },
    { log: pino({ level: 'silent' }) },
  )
}

async function expectPlanned(upload: string): Promise<void> {
  await until('it is planned', async () => (await ads.find(upload)).status === 'planned')
  expect(await ads.find(upload)).toMatchObject({ error: null, valid_count: 7 })
  await until('its object is deleted', async () => {
    await emptyFileTrash(db.pool('stagedoor_worker'), stores.uploads)
    return (await behind.everything()).length === 0
  })
}

it('is read whole although its download is reset in the middle', async () => {
  const upload = await queue(file('Reset'))
  proxy.setFault({ kind: 'reset', direction: 'down', afterBytes: 150_000, times: 2 })
  await read()
  await expectPlanned(upload)
  expect(proxy.hits).toBe(2)
})

it('says that the store does not answer while it does not, and is read when it does', async () => {
  const upload = await queue(file('Stalled'))
  proxy.setFault({ kind: 'stall', direction: 'down', afterBytes: 0 })
  await read()
  await until('it says so', async () => (await ads.find(upload)).progress?.problem !== undefined)
  expect(await ads.find(upload)).toMatchObject({ status: 'reading', error: null })
  proxy.setFault(undefined)
  await expectPlanned(upload)
})

it('is read by another process when the one that downloads it is killed', async () => {
  await retryAtOnce()
  const upload = await queue(file('Killed'))
  proxy.setFault({ kind: 'stall', direction: 'down', afterBytes: 150_000 })
  const start = (name: string) => {
    const cli = startCli(
      ['worker', '--kinds', 'upload_read', '--no-playbooks', '--no-search'],
      environment(name),
    )
    processes.push(cli)
    return cli
  }
  const victim = start('victim')
  await until('it downloads', () => proxy.hits > 0)
  await victim.end('SIGKILL')
  proxy.setFault(undefined)
  start('other')
  await expectPlanned(upload)
})
