/** A server that stops while it reads. */
import { expect, it } from 'vitest'
import { HEADER, useUploads } from './uploads-api.ts'

const uploads = useUploads()

it('fails what it reads with the reason, and leaves nothing in the spool', async () => {
  const lines = Array.from({ length: 60_000 }, (_, line) => `A,B,Ad ${line},2026-11-01,1.00,1,1`)
  const { body } = await uploads.send([HEADER, ...lines].join('\n'), 'operator')
  await uploads.api.app.close()
  expect(uploads.spooled()).toEqual([])
  const upload = await uploads.ads.find(body.upload.upload_id)
  expect(upload).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/stopped/) } })
  expect(await uploads.db.owner('select from public.staging_rows')).toEqual([])
})
