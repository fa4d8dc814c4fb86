/** A server that stops while it reads: nothing fails, and the next process reads the file from the beginning. */
import pino from 'pino'
import { expect, it } from 'vitest'
import { startReader } from '../../../src/app/upload-reader.ts'
import { until } from '../../support/until.ts'
import { HEADER, useUploads } from './uploads-api.ts'

const uploads = useUploads()
const LINES = 5000

it('gives back what it reads, leaves nothing in the spool, and another process reads all of it once', async () => {
  const { db, api } = uploads
  const session = await db.session('postgres')
  // The reader asks for what people said about headers first, and waits here.
  await session.query('begin; lock table iu_core.ingest_mapping in access exclusive mode')
  const lines = Array.from({ length: LINES }, (_, line) => `A,B,Ad ${line},2026-11-01,1.00,1,1`)
  const { body } = await uploads.send([HEADER, ...lines].join('\n'), 'operator')
  const { upload_id } = body.upload
  const seen = async () => {
    const [row] = await db.owner<{ leased: boolean; attempts: number }>(
      'select leased_by is not null as leased, attempts from iu_core.job_queue where target_ref = $1',
      [upload_id],
    )
    return row
  }
  await until('it is being read', async () => (await seen())?.leased)
  await api.app.close()
  const stopped = api.stopReader()
  await until('the job is given back', async () => (await seen())?.leased === false)
  await session.query('rollback')
  await session.end()
  await stopped
  expect(uploads.spooled()).toEqual([])
  expect(await seen()).toMatchObject({ attempts: 0 })
  expect(await uploads.ads.find(upload_id)).toMatchObject({ status: 'reading', error: null })
  expect(uploads.stored()).toHaveLength(1)
  const next = await startReader(
    { pool: db.pool('stagedoor_worker'), home: api.home },
    { log: pino({ level: 'silent' }) },
  )
  try {
    const upload = await until('it is planned', async () => {
      const found = await uploads.ads.find(upload_id)
      return found.status === 'planned' && found
    })
    expect(upload).toMatchObject({ error: null, line_count: LINES, valid_count: LINES })
  } finally {
    await next!.stop()
  }
  const events = await db.owner(
    `select event_type from iu_core.event_outbox where event_subject_ref = $1 order by id`,
    [upload_id],
  )
  expect(events).toEqual(['ingestion_staged', 'ingestion_planned'].map((event_type) => ({ event_type })))
  await until('the store is empty', () => uploads.stored().length === 0)
})
