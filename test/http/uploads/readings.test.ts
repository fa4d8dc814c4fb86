/** Jobs that read a file and fail: the upload says why, and the log has the cause of what is not ours. */
import { once } from 'node:events'
import { get } from 'node:http'
import pino from 'pino'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { planUpload } from '../../../src/ingest/plan.ts'
import { StagedoorError } from '../../../src/kernel/errors.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { until } from '../../support/until.ts'
import { useUploads, week } from './uploads-api.ts'

let logged: Record<string, unknown>[] = []
const readerLog = pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line)) })
const uploads = useUploads({ readerLog })
const { db, ads } = uploads
const failures = () => logged.filter(({ msg }) => /upload/.test(String(msg)))
beforeEach(() => {
  logged = []
})

async function whileFailing<T>(table: string, work: () => Promise<T>): Promise<T> {
  await db.owner(
    `create function public.fails() returns trigger language plpgsql as $$ begin raise exception 'cell 4711'; end $$`,
  )
  await db.owner(`create trigger fails before insert on ${table} execute function public.fails()`)
  try {
    return await work()
  } finally {
    await db.owner(`drop function public.fails() cascade`)
  }
}

it('a plan that fails is kept with the upload until it is planned, and the log has the cause', async () => {
  const { upload_id } = await whileFailing('iu_core.ingest_plan', () => uploads.upload(week('Plan fails')))
  const failed = await ads.find(upload_id)
  expect(failed).toMatchObject({ status: 'staged', error: { code: 'internal' }, file_kept_until: null })
  expect(JSON.stringify(failed.error)).not.toContain('4711')
  expect(failures()).toMatchObject([
    { level: 50, upload_id, code: 'internal', err: { message: 'cell 4711' }, msg: 'upload failed' },
  ])
  await inTransaction(db.pool('stagedoor_worker'), (client) => planUpload(client, upload_id), {
    role: 'service_role',
  })
  expect(await ads.find(upload_id)).toMatchObject({ status: 'planned', error: null })
})

it('a file that fails by what is not ours quotes nothing of it, the log has the cause, and the kept file is read again', async () => {
  const { upload_id } = await whileFailing('iu_core.ingest_staged_row', () =>
    uploads.upload(week('Not ours')),
  )
  const { status, error, file_kept_until } = await ads.find(upload_id)
  expect(status).toBe('failed')
  expect(error).toEqual({
    code: 'internal',
    message: expect.any(String),
    hint: expect.stringContaining(`stagedoor upload retry ${upload_id}`),
  })
  expect(JSON.stringify(error)).not.toContain('4711')
  expect(failures()).toMatchObject([{ level: 50, upload_id, code: 'internal' }])
  expect(JSON.stringify(failures()[0]!.err)).toContain('4711')
  const days = (file_kept_until!.getTime() - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(6)
  expect(days).toBeLessThan(7.1)
  const { body } = await uploads.call('POST', `/uploads/${upload_id}/retry`, 'operator')
  expect(body).toMatchObject({ status: 'reading', error: null })
  expect(await uploads.settled(upload_id)).toMatchObject({ status: 'planned', valid_count: 7, error: null })
  await until('the store is empty', () => uploads.stored().length === 0)
  const again = await uploads.call('POST', `/uploads/${upload_id}/retry`, 'operator')
  expect(again.body).toMatchObject({ status: 409, code: 'upload_state' })
})

it('a file that cannot be read is a line in the log without its content, and it is not kept', async () => {
  const { upload_id } = await uploads.upload('Secret\n4711\n')
  expect(failures()).toMatchObject([{ level: 30, upload_id, code: 'upload_columns_missing' }])
  expect(JSON.stringify(failures())).not.toContain('4711')
  expect(await ads.find(upload_id)).toMatchObject({
    error: { code: 'upload_columns_missing' },
    file_kept_until: null,
  })
  await until('the store is empty', () => uploads.stored().length === 0)
  const { body } = await uploads.call('POST', `/uploads/${upload_id}/retry`, 'operator')
  expect(body).toMatchObject({ status: 409, code: 'upload_file_gone' })
})

it('a reading that is stopped fails by the reason that it was stopped for', async () => {
  const stop = new AbortController()
  const reason = new StagedoorError('reader_replaced', { upload: 'x' })
  const failed = ads.file(week('Stopped'), {
    signal: stop.signal,
    onEvent: (event) => event.type === 'progress' && event.stage === 'check' && stop.abort(reason),
  })
  await expect(failed).rejects.toBe(reason)
  expect(
    await db.owner(
      `select error ->> 'code' as code from iu_core.ingest_upload order by upload_id desc limit 1`,
    ),
  ).toEqual([{ code: 'reader_replaced' }])
})

describe('while it is read', () => {
  let address: string
  beforeAll(async () => {
    address = await uploads.api.listen()
  })

  /** Sends a file whose reader waits until `release`. */
  async function held(name: string) {
    const session = await db.session('postgres')
    await session.query('begin; lock table iu_core.ingest_mapping in access exclusive mode')
    const { body } = await uploads.send(week(name), 'operator')
    const { upload_id } = body.upload
    await until('it is being read', async () => {
      const rows = await db.owner(
        'select from iu_core.job_queue where target_ref = $1 and leased_by is not null',
        [upload_id],
      )
      return rows.length === 1
    })
    return {
      upload_id: upload_id as string,
      async release() {
        await session.query('rollback')
        await session.end()
      },
    }
  }

  it('goes on when whoever follows it goes away, and ends for the next who does', async () => {
    const { upload_id, release } = await held('Left alone')
    const headers = { authorization: `Bearer ${uploads.tokens.operator}` }
    const request = get(`${address}/api/v1/uploads/${upload_id}/progress`, { headers, agent: false })
    const [reply] = await once(request, 'response')
    await once(reply, 'data')
    reply.destroy()
    await release()
    expect(await uploads.settled(upload_id)).toMatchObject({ status: 'planned', valid_count: 7 })
  })

  it('is cancelled by a discard, and nothing of it is kept', async () => {
    const { upload_id, release } = await held('Cancelled')
    const { may } = (await uploads.call('GET', `/uploads/${upload_id}`, 'operator')).body
    expect(may.discard).toEqual({ allowed: true })
    const { body } = await uploads.call('POST', `/uploads/${upload_id}/discard`, 'operator')
    expect(body).toMatchObject({ status: 'discarded', error: null })
    await release()
    const job = await until('its job has ended', async () => {
      const rows = await db.owner<{ outcome: string; result: object }>(
        'select outcome, result from iu_core.job_history where target_ref = $1',
        [upload_id],
      )
      return rows[0]
    })
    expect(job).toMatchObject({ outcome: 'completed', result: { skipped: expect.any(String) } })
    expect(await ads.find(upload_id)).toMatchObject({ status: 'discarded' })
    expect(await db.owner('select from public.staging_rows where upload_id = $1', [upload_id])).toEqual([])
    expect(uploads.spooled()).toEqual([])
  })

  it('fails when its job is cancelled, and its file is kept', async () => {
    const { upload_id, release } = await held('Job cancelled')
    await ads.service(
      `select iu_core.fn_job_cancel(job_id, 'too late') from iu_core.job_queue where target_ref = $1`,
      [upload_id],
    )
    // The answer of a heartbeat says so; the second one comes after it was heard.
    for (const _ of [1, 2]) {
      const [now] = await db.owner<{ now: Date }>('select clock_timestamp() as now')
      await until('a heartbeat', async () => {
        const beats = await db.owner('select from iu_core.job_worker where heartbeat_at > $1', [now!.now])
        return beats.length > 0
      })
    }
    await release()
    await until('it has failed', async () => (await ads.find(upload_id)).status === 'failed')
    expect(await ads.find(upload_id)).toMatchObject({
      error: { code: 'upload_interrupted' },
      file_kept_until: expect.any(Date),
    })
    await uploads.call('POST', `/uploads/${upload_id}/discard`, 'operator')
    expect(await db.owner('select from iu_core.ingest_reading')).toEqual([])
  })
})
