/** Stores that do not answer, are broken or full: a reading is tried again and says so; a file that cannot be received leaves no upload. */
import { Readable } from 'node:stream'
import pino from 'pino'
import { afterEach, expect, it } from 'vitest'
import { startReader } from '../../src/app/upload-reader.ts'
import { createUploadFiles, diskPlace, type UploadFiles } from '../../src/ingest/upload-files.ts'
import type { Worker } from '../../src/jobs/worker.ts'
import { type ErrorCode, StagedoorError } from '../../src/kernel/errors.ts'
import type { BlobStore } from '../../src/runtime/stores/blob-store.ts'
import { week } from '../http/uploads/uploads-api.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const ads = useIngest(db)
let reader: Worker | undefined
afterEach(async () => {
  await reader?.stop()
})

/** A store without paths, as a bucket is, whose reads fail as often as it is told, or give other bytes. */
function faulty(code: ErrorCode, times: number, bytes?: string): UploadFiles & { opened: number } {
  const { blobs, identity } = diskPlace(ads.home)
  const { pathOf: _, ...rest } = blobs
  const remote: BlobStore = {
    ...rest,
    async open(ref) {
      files.opened += 1
      if (files.opened <= times && bytes !== undefined) return Readable.from([Buffer.from(bytes)])
      if (files.opened <= times) throw new StagedoorError(code, { store: 'test', reason: 'the test says so' })
      return blobs.open(ref)
    },
  }
  const files = Object.assign(createUploadFiles(ads.home, [{ blobs: remote, identity }]), { opened: 0 })
  return files
}

const queue = (files: UploadFiles, campaign: string) => ads.queue(week(campaign), files)

async function read(files: UploadFiles): Promise<void> {
  await db.owner(
    `update iu_core.job_kind set backoff = '100 milliseconds', max_backoff = '100 milliseconds' where job_kind like 'upload_read:%'`,
  )
  const pool = db.pool('stagedoor_worker')
  reader = await startReader({ pool, home: ads.home, files }, { log: pino({ level: 'silent' }) })
}

it.each([
  ['store_unreachable', undefined],
  ['store_slow', undefined],
  ['store_full', undefined],
  ['store_broken', 'other bytes than were stored'],
] as const)('tries again after %s, says so meanwhile, and reads the file once', async (code, bytes) => {
  const files = faulty(code, 2, bytes)
  const upload = await queue(files, `Again ${code}`)
  const problems = new Set<unknown>()
  await read(files)
  await until('it is planned', async () => {
    const { status, progress } = await ads.find(upload)
    if (progress?.problem !== undefined) problems.add(progress.problem)
    return status === 'planned'
  })
  expect(files.opened).toBe(3)
  expect([...problems].join()).toMatch(code === 'store_broken' ? /gave back other bytes/ : /the test says so/)
  expect(await ads.find(upload)).toMatchObject({ error: null, valid_count: 7, file_kept_until: null })
})

it('fails when its attempts are used up, keeps the file, and reads it when a person asks for it', async () => {
  const files = faulty('store_unreachable', 5)
  const upload = await queue(files, 'Used up')
  await read(files)
  await until('it has failed', async () => (await ads.find(upload)).status === 'failed')
  expect(files.opened).toBe(5)
  expect(await ads.find(upload)).toMatchObject({
    error: { code: 'store_unreachable', hint: expect.stringContaining(`stagedoor upload retry ${upload}`) },
    file_kept_until: expect.any(Date),
  })
  expect(
    await db.owner(`select event_type from iu_core.event_outbox where event_subject_ref = $1`, [upload]),
  ).toEqual([{ event_type: 'ingestion_failed' }])
  await ads.service('select iu_core.fn_ingest_retry($1)', [upload])
  await until('it is planned', async () => (await ads.find(upload)).status === 'planned')
})

it('gives up a kept file after a week, and the upload stays failed', async () => {
  const files = faulty('store_unreachable', 5)
  const upload = await queue(files, 'A week')
  await read(files)
  await until('it has failed', async () => (await ads.find(upload)).status === 'failed')
  await db.owner(
    `update iu_core.ingest_reading set kept_until = now() - interval '1 second' where upload_id = $1`,
    [upload],
  )
  await ads.service('select iu_core.fn_ingest_fail_stalled()')
  expect(await ads.find(upload)).toMatchObject({ status: 'failed', file_kept_until: null })
  expect(await db.owner('select from iu_core.ingest_file_trash')).toHaveLength(1)
})

it('records nothing of a file that the store does not take, or that is too large', async () => {
  const { blobs, identity } = diskPlace(ads.home)
  const full = createUploadFiles(ads.home, [
    {
      identity,
      blobs: {
        ...blobs,
        put: async (bytes) => {
          bytes.destroy()
          throw new StagedoorError('store_full', { store: 'test', reason: 'no space left' })
        },
      },
    },
  ])
  const before = await db.owner('select count(*) from iu_core.ingest_upload')
  await expect(queue(full, 'Full')).rejects.toMatchObject({ code: 'store_full' })
  const files = createUploadFiles(ads.home, [diskPlace(ads.home)])
  await expect(files.put(Readable.from([week('Large')]), { limit: 10 })).rejects.toMatchObject({
    code: 'upload_too_large',
  })
  expect(await db.owner('select count(*) from iu_core.ingest_upload')).toEqual(before)
})
