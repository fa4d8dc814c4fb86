/** batch_id and request_id of staged rows: which were written together, and which request brought them. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { form, useUploads, week } from './uploads-api.ts'

const uploads = useUploads()
const UUID = /^[0-9a-f-]{36}$/

const staged = (upload: string) =>
  uploads.db.owner<{ row_type: string; batches: string[]; requests: string[]; nulls: number }>(
    `select row_type, array_agg(distinct batch_id) as batches, array_agg(distinct request_id) as requests,
            (count(*) filter (where batch_id is null or request_id is null))::int as nulls
       from public.staging_rows where upload_id = $1 group by row_type order by row_type`,
    [upload],
  )

async function send(name: string, requestId?: string): Promise<{ upload: string; request: string }> {
  const { body, type } = form(
    week(name),
    { dataset: 'ads', platform: 'meta', client_id: uploads.ads.client },
    'week.csv',
  )
  const reply = await uploads.api.app.inject({
    method: 'POST',
    url: '/api/v1/uploads',
    headers: {
      authorization: `Bearer ${uploads.tokens.operator}`,
      'content-type': type,
      ...(requestId && { 'x-request-id': requestId }),
    },
    payload: body,
  })
  const upload = reply.json().upload.upload_id as string
  await uploads.settled(upload)
  return { upload, request: reply.headers['x-request-id'] as string }
}

it.each([
  ['that the server named', undefined],
  ['that its caller named', randomUUID()],
])('rows of a file have the id of the request %s, entities of the plan too', async (_, given) => {
  const { upload, request } = await send(`Boots ${given}`, given)
  if (given) expect(request).toBe(given)
  const types = await staged(upload)
  expect(types.map(({ row_type }) => row_type)).toEqual(['ad', 'ad_set', 'campaign', 'daily_metric'])
  for (const { batches, requests, nulls } of types) {
    expect(nulls).toBe(0)
    expect(requests).toEqual([request])
    expect(batches).toHaveLength(1)
  }
  expect(new Set(types.flatMap(({ batches }) => batches)).size).toBe(4)
  const resolved = await uploads.db.owner<{ row_type: string; batches: string[] }>(
    `select entity_type as row_type, array_agg(distinct batch_id) as batches
       from public.staging_id_resolution where upload_id = $1 group by 1 order by 1`,
    [upload],
  )
  expect(resolved).toEqual(
    types
      .filter(({ row_type }) => row_type !== 'daily_metric')
      .map(({ row_type, batches }) => ({ row_type, batches })),
  )
})

it('where a request has another name, or there is none, an id is made for the call', async () => {
  const { upload } = await send('Sandals', 'trace:42')
  const file = await uploads.ads.file(week('Slippers'))
  const requests = [await staged(upload), await staged(file.upload_id)].map((types) => {
    expect(types.reduce((sum, { nulls }) => sum + nulls, 0)).toBe(0)
    return [...new Set(types.flatMap((type) => type.requests))]
  })
  for (const made of requests) expect(made).toEqual([expect.stringMatching(UUID)])
  expect(requests[0]).not.toEqual(requests[1])
})
