/** What is read in the background and fails: the upload says so, and the log has the cause of what is not ours. */
import { Readable } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { createBackgroundUploads } from '../../../src/http/upload-progress.ts'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { backEndActor, continueUpload, type IngestOptions, openUpload } from '../../../src/ingest/pipeline.ts'
import { planUpload } from '../../../src/ingest/plan.ts'
import { spool } from '../../../src/ingest/spool.ts'
import { StagedoorError } from '../../../src/kernel/errors.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { useIngest } from '../../support/ingest.ts'

const db = useDatabase()
const ingest = useIngest(db)
afterAll(closeDuck)

const file = (day: number) =>
  `Campaign ID,Campaign name,Day,Impressions,Amount spent (USD)\n1201,Always on,2026-09-0${day},7,1.5\n`

/** Opens an upload, has it continued in the background, and gives what was logged. */
async function read(
  text: string,
): Promise<{ upload_id: string; logged: [string, Record<string, unknown>][] }> {
  const deps = { pool: db.pool('stagedoor_worker'), home: ingest.home }
  const options: IngestOptions = {
    actor: backEndActor(deps.pool, ingest.operator.userId),
    until: 'planned',
    dataset: 'ads',
    platform: 'meta',
    workspaceId: ingest.workspace,
    clientId: ingest.client,
    fileName: 'week.csv',
  }
  const file = await spool(ingest.home, Readable.from([Buffer.from(text)]))
  const opened = await openUpload(deps, file, options)
  const logged: [string, Record<string, unknown>][] = []
  const level = (name: string) => (what: Record<string, unknown>) => logged.push([name, what])
  const log = { info: level('info'), warn: level('warn'), error: level('error') }
  const background = createBackgroundUploads(log as never)
  const { upload_id } = opened
  background.start(upload_id, (signal) => continueUpload(deps, opened, { ...options, signal }))
  while (background.has(upload_id)) await new Promise(setImmediate)
  await background.stop()
  return { upload_id, logged }
}

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
  const { upload_id, logged } = await whileFailing('iu_core.ingest_plan', () => read(file(1)))
  const failed = await ingest.find(upload_id)
  expect(failed).toMatchObject({ status: 'staged', error: { code: 'internal' } })
  expect(JSON.stringify(failed.error)).not.toContain('4711')
  expect(logged).toEqual([
    ['error', { upload_id, code: 'internal', err: expect.objectContaining({ message: 'cell 4711' }) }],
  ])
  await inTransaction(db.pool('stagedoor_worker'), (client) => planUpload(client, upload_id), {
    role: 'service_role',
  })
  expect(await ingest.find(upload_id)).toMatchObject({ status: 'planned', error: null })
})

it('a file that fails by what is not ours quotes nothing of it, and the log has the cause', async () => {
  const { upload_id, logged } = await whileFailing('public.staging_rows', () => read(file(2)))
  const { status, error } = await ingest.find(upload_id)
  expect(status).toBe('failed')
  expect(error).toEqual({ code: 'internal', message: expect.any(String), hint: expect.any(String) })
  expect(JSON.stringify(error)).not.toContain('4711')
  expect(logged).toEqual([['error', expect.objectContaining({ upload_id, code: 'internal' })]])
  expect(String(logged[0]![1].err)).toContain('4711')
})

it('a file that cannot be read is a line in the log without its content', async () => {
  const { upload_id, logged } = await read('Secret\n4711\n')
  expect(logged).toEqual([['info', { upload_id, code: 'upload_columns_missing' }]])
  expect(await ingest.find(upload_id)).toMatchObject({ error: { code: 'upload_columns_missing' } })
})

it('a reading that is stopped fails by the reason that it was stopped for', async () => {
  const stop = new AbortController()
  const reason = new StagedoorError('reader_replaced', { upload: 'x' })
  const failed = ingest.file(file(3), {
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
