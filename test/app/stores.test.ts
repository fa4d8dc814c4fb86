/** STAGEDOOR_STORE: where new blobs go, what stays readable, and what a process does when a shared store cannot be used. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compose } from '../../src/app/compose.ts'
import { openStores, type StoreWatch, watchStores } from '../../src/app/stores.ts'
import { describeConfig, readConfig } from '../../src/kernel/config.ts'
import type { Database } from '../../src/kernel/postgres/open.ts'
import { type RunningS3, startS3rver } from '../runtime/stores/targets.ts'
import { setGate } from '../staging/people.ts'
import { stage } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const home = temporaryHome('app-stores')
const silent = pino({ level: 'silent' })
const watches: StoreWatch[] = []
let s3: RunningS3
beforeAll(async () => {
  s3 = await startS3rver(join(home, 's3rver'))
})
afterAll(async () => {
  for (const watch of watches) watch.stop()
  await s3.stop()
})

const settings = (more: Record<string, string> = {}) =>
  readConfig({
    STAGEDOOR_HOME: home,
    STAGEDOOR_S3_ENDPOINT: s3.settings.endpoint,
    STAGEDOOR_S3_ACCESS_KEY: 'S3RVER',
    STAGEDOOR_S3_SECRET_KEY: 'S3RVER',
    ...more,
  })

async function watched(config: ReturnType<typeof settings>) {
  const stores = openStores(config)
  const watch = await watchStores(stores, config.cell, await db.session('stagedoor_worker'), silent)
  watches.push(watch)
  const [health] = await until('the store was checked', () => {
    const found = watch.health()
    return found.every(({ detail }) => !detail.endsWith('is being checked')) && found
  })
  return { stores, watch, health: health! }
}

it('a blob of before the switch stays readable, in both directions', async () => {
  const before = openStores(settings())
  const onDisk = await before.blobs.put(Readable.from(['on disk']))
  expect(onDisk.blob_ref).toMatch(/^disk:/)
  expect(before.sharedBlobs).toBeUndefined()

  const { blobs } = openStores(settings({ STAGEDOOR_STORE: 's3://blobs/some/prefix' }))
  const inBucket = await blobs.put(Readable.from(['in the bucket']))
  expect(inBucket.blob_ref).toMatch(/^s3:/)
  expect(readdirSync(join(home, 's3rver', 'blobs', 'some', 'prefix', 'main', 'blobs')).join()).toContain(
    inBucket.blob_ref.slice('s3:'.length),
  )
  expect(await text(await blobs.open(onDisk.blob_ref))).toBe('on disk')

  const back = openStores(settings({ STAGEDOOR_STORE: `disk:${home}, s3://blobs/some/prefix` })).blobs
  const again = await back.put(Readable.from(['on disk again']))
  expect(again.blob_ref).toMatch(/^disk:/)
  const all = [onDisk, inBucket, again].map(({ blob_ref }) => blob_ref)
  expect(await Promise.all(all.map((ref) => back.verify(ref)))).toEqual([true, true, true])
  const listed: string[] = []
  for await (const ref of back.list(new Date(Date.now() + 60_000))) listed.push(ref)
  expect(listed.sort()).toEqual([...all].sort())
  const rest: string[] = []
  for await (const ref of back.list(new Date(Date.now() + 60_000), listed.at(-1))) rest.push(ref)
  expect(rest).toEqual([])
  for (const ref of all) await back.delete(ref)
  expect(await Promise.all(all.map((ref) => back.facts(ref)))).toEqual([undefined, undefined, undefined])
  await expect(openStores(settings()).blobs.open(inBucket.blob_ref)).rejects.toMatchObject({
    code: 'blob_missing',
  })
})

it('a process is red until its store was checked, says what is wrong, and nothing is deleted meanwhile', async () => {
  const good = await watched(settings({ STAGEDOOR_STORE: 's3://blobs/checked' }))
  expect(good.health).toMatchObject({ name: 'store', ok: true })
  expect(good.watch.mayDelete()).toBe(true)
  const missing = await watched(settings({ STAGEDOOR_STORE: 's3://no-such-bucket' }))
  expect(missing.health).toMatchObject({
    name: 'store',
    ok: false,
    detail: expect.stringMatching(/^store_bucket_missing: .*no-such-bucket/),
  })
  expect(missing.watch.mayDelete()).toBe(false)

  const config = settings({ STAGEDOOR_STORE: 's3://no-such-bucket' })
  const database: Database = {
    kind: 'external',
    apiUrl: db.url('stagedoor_api'),
    directUrl: db.url(),
    workerUrl: db.url('stagedoor_worker'),
    playbookUrl: undefined,
    proposalUrl: undefined,
    jwtSecret: undefined,
    close: async () => {},
  }
  const composition = await compose(config, database, { roles: {}, log: silent })
  try {
    const store = () => composition.health().find(({ name }) => name === 'store')
    expect(store()).toMatchObject({ ok: false })
    await until('compose has checked it', () => store()?.detail.startsWith('store_bucket_missing'))
  } finally {
    await composition.stop()
  }
})

it('a store of another database is read and written, but nothing is deleted in it', async () => {
  const config = settings({ STAGEDOOR_STORE: 's3://blobs/of-another' })
  const { stores } = await watched(config)
  await stores.shared[0]!.writeMarker('{"cell":"main","database":"1/2"}\n')
  const { watch, health } = await watched(config)
  expect(health).toMatchObject({
    ok: false,
    detail: expect.stringContaining(
      'store_of_other_database: s3://blobs/of-another/main belongs to another database (1/2',
    ),
  })
  expect(watch.mayDelete()).toBe(false)
  const { health: other } = await watched(
    settings({ STAGEDOOR_STORE: 's3://blobs/of-another', STAGEDOOR_CELL: 'two' }),
  )
  expect(other).toMatchObject({ ok: true })
})

it('a server that refuses its identifier can use a shared store, in which nothing is deleted', async () => {
  const admin = await db.session('postgres')
  await admin.query('revoke execute on function pg_control_system() from public')
  try {
    const { stores, watch, health } = await watched(
      settings({ STAGEDOOR_STORE: 's3://blobs/of-a-managed-one' }),
    )
    expect(health).toMatchObject({ ok: true, detail: expect.stringContaining('nothing is deleted there') })
    expect(watch.mayDelete()).toBe(false)
    const { blob_ref } = await stores.blobs.put(Readable.from(['kept']))
    expect(await stores.blobs.verify(blob_ref)).toBe(true)
  } finally {
    await admin.query('grant execute on function pg_control_system() to public')
  }
})

it('a volume that is not mounted takes no blob; a new one gets its marker from the first process', async () => {
  const volume = join(home, 'volume')
  const config = settings({ STAGEDOOR_STORE: `pvc:${volume}` })
  await expect(openStores(config).blobs.put(Readable.from(['lost']))).rejects.toMatchObject({
    code: 'store_not_mounted',
    hint: expect.stringContaining('Mount the volume'),
  })
  const { stores, health } = await watched(config)
  expect(health.ok).toBe(true)
  const blob = await stores.blobs.put(Readable.from(['kept']))
  expect(await text(await stores.blobs.open(blob.blob_ref))).toBe('kept')
  // A record refers to it, and the volume is gone.
  await setGate(db, 'staging_writes_enabled', true)
  const part = JSON.stringify({ part_name: 'file', payload_kind: 'blob_ref', ...blob })
  await stage(await db.session('stagedoor_worker'), {
    workspace: null,
    kind: 'nosql_payload',
    type: 'nosql_payload',
    parts: [part],
  })
  rmSync(volume, { recursive: true })
  expect((await watched(config)).health).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^store_not_mounted: .*stagedoor-cell\.json/),
  })
  expect(existsSync(join(volume, 'main', 'stagedoor-cell.json'))).toBe(false)
})

it.each([
  ['STAGEDOOR_STORE', 'ftp://host', 'it must be disk:/folder, pvc:/folder or s3://bucket/prefix'],
  ['STAGEDOOR_STORE', 's3://', 'it must be'],
  ['STAGEDOOR_STORE', 's3://bucket/a b', 'the prefix may have'],
  ['STAGEDOOR_STORE', 's3://one,s3://two', 's3 is named twice'],
  ['STAGEDOOR_CELL', 'Über', 'lowercase letters'],
  ['STAGEDOOR_S3_ENDPOINT', 'https://me:hidden@host', 'must not contain a user or a password'],
])('refuses %s=%s', (name, value, reason) => {
  let message = ''
  try {
    settings({ [name]: value })
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toContain(reason)
  expect(message).not.toContain('hidden')
})

it('shows the settings without the secret, and refuses half of the credentials', () => {
  const config = settings({
    STAGEDOOR_STORE: 'disk:/a,s3://bucket/prefix/',
    STAGEDOOR_S3_SECRET_KEY: 'hidden',
  })
  const shown = new Map(describeConfig(config).map(({ setting, value }) => [setting, value]))
  expect(shown.get('STAGEDOOR_STORE')).toBe('disk:/a,s3://bucket/prefix')
  expect(shown.get('STAGEDOOR_S3_SECRET_KEY')).toBe('***')
  expect(() => readConfig({ STAGEDOOR_S3_ACCESS_KEY: 'x' })).toThrow('only one is set')
})
