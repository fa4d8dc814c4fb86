/** How files come in and are read: bodies and forms, exact numbers, progress, what is remembered about headers. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { until } from '../../support/until.ts'
import { HEADER, useUploads, week } from './uploads-api.ts'

const uploads = useUploads()
const { call, db } = uploads
const impatient = useApi(db, { stallMs: 200 })
let address: string

beforeAll(async () => {
  address = await uploads.api.listen()
})
afterEach(async () => {
  expect(uploads.spooled()).toEqual([])
  // Its job deletes the file after it has ended the upload.
  await until('the store is empty', () => uploads.stored().length === 0)
})

const query = (more: Record<string, string> = {}) =>
  new URLSearchParams({ dataset: 'ads', platform: 'meta', client_id: uploads.ads.client, ...more }).toString()

async function sendBody(text: string, type: string, more: Record<string, string> = {}) {
  const reply = await uploads.api.app.inject({
    method: 'POST',
    url: `/api/v1/uploads?${query(more)}`,
    headers: { authorization: `Bearer ${uploads.tokens.operator}`, 'content-type': type },
    payload: text,
  })
  return { status: reply.statusCode, body: reply.json() }
}

describe('a body', () => {
  it('of CSV is read, planned in the mode that is asked for, and named', async () => {
    const { status, body } = await sendBody(week('Body', { spend: 'x' }), 'text/csv', {
      file_name: 'C:\\exports\\wöche.csv',
      on_invalid: 'skip',
      threshold: '0.5',
    })
    expect([status, body.upload.file_name]).toEqual([202, 'wöche.csv'])
    expect(await uploads.settled(body.upload.upload_id)).toMatchObject({
      status: 'planned',
      gate_mode: 'LENIENT',
      threshold: '0.5',
      plan_refusal: null,
    })
  })

  it.each([
    ['application/x-ndjson', ''],
    ['application/json-seq', '\u001e'],
  ])('of records (%s) is read with its cursor', async (type, separator) => {
    const records = [1, 2].map((day) => ({
      campaign_name: `Pull ${type}`,
      adset_name: 'Set',
      ad_name: 'Ad',
      date_start: `2026-11-0${day}`,
      date_stop: `2026-11-0${day}`,
      spend: '1.50',
      impressions: '10',
    }))
    const text = records.map((record) => `${separator}${JSON.stringify(record)}\n`).join('')
    const sent = await sendBody(text, type, { cursor_name: 'daily', cursor_value: '{"day":"2026-11-02"}' })
    expect(await uploads.settled(sent.body.upload.upload_id)).toMatchObject({
      status: 'planned',
      file_name: 'records.jsonl',
      valid_count: 2,
      cursor_name: 'daily',
      cursor_value: { day: '2026-11-02' },
    })
  })

  it('of a kind that cannot be a file is refused', async () => {
    expect((await sendBody('a=b', 'application/x-www-form-urlencoded')).body).toMatchObject({ status: 400 })
  })
})

it('stops at staged, or plans what is never promoted, where it is asked to', async () => {
  const staged = await uploads.upload(week('Staged'), 'operator', { until: 'staged' })
  expect(staged).toMatchObject({ status: 'staged', plan_digest: null, may: { plan: { allowed: true } } })
  const dry = await uploads.upload(week('Dry'), 'operator', { dry_run: 'true' })
  expect(dry).toMatchObject({
    status: 'planned',
    run_mode: 'FULL_DRY_RUN',
    may: { promote: { allowed: false, why: expect.stringContaining('without it') } },
  })
})

it('keeps every digit of numbers, from the file to the plan', async () => {
  const exact = '9007199254740993'
  const line = `Exact,Set,Ad,2026-11-01,1.10,${exact},1`
  const upload = await uploads.upload(`${HEADER}\n${line}\n`)
  const text = async (path: string) =>
    (
      await uploads.api.app.inject({
        url: `/api/v1/uploads/${upload.upload_id}${path}`,
        headers: { authorization: `Bearer ${uploads.tokens.operator}` },
      })
    ).body
  expect(await text('/rows')).toContain(`"impressions": ${exact}`)
  // As text: whoever parses the answer would get another number.
  expect(await text('/plan/rows?row_type=daily_metric')).toContain(`"impressions": "${exact}"`)
  const number = { rows: [{ line: 2, values: { Impressions: Number(exact) } }] }
  expect((await call('PATCH', `/uploads/${upload.upload_id}/rows`, 'operator', number)).body).toMatchObject({
    status: 400,
    detail: expect.stringContaining('must be text'),
  })
  const corrected = await call('PATCH', `/uploads/${upload.upload_id}/rows`, 'operator', {
    rows: [{ line: 2, values: { Impressions: '9007199254740995', 'Link clicks': null } }],
  })
  expect(corrected.status).toBe(200)
  expect(await text('/rows')).toContain('"impressions": 9007199254740995')
})

describe('corrections', () => {
  it('of a line or a column that is not there are refused', async () => {
    const { upload_id } = await uploads.upload(week('Corrections'))
    const patch = (line: number, values: object) =>
      call('PATCH', `/uploads/${upload_id}/rows`, 'operator', { rows: [{ line, values }] })
    expect((await patch(99, { 'Ad name': 'B' })).body).toMatchObject({
      status: 409,
      code: 'repair_refused',
      detail: expect.stringContaining('99'),
    })
    expect((await patch(2, { Colour: 'red' })).body).toMatchObject({
      status: 409,
      code: 'repair_refused',
      detail: expect.stringContaining('Colour'),
    })
    expect((await call('GET', `/uploads/${upload_id}`, 'operator')).body.status).toBe('planned')
  })

  it('leave one line out, and the others are planned', async () => {
    const { upload_id } = await uploads.upload(week('Left out', { spend: 'much' }))
    const leaveOut = () =>
      call('PATCH', `/uploads/${upload_id}/rows`, 'operator', { rows: [{ line: 2, leave_out: true }] })
    const { status, body } = await leaveOut()
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'planned', invalid_count: 0, skipped_count: 1 },
    })
    const rows = await call('GET', `/uploads/${upload_id}/rows?status=skipped`, 'operator')
    expect(rows.body.rows).toMatchObject([
      { row_number: 2, validation_warnings: [{ rule: 'line.left_out', message: 'Left out by hand.' }] },
    ])
  })

  it('leave the upload staged where no new plan is wanted', async () => {
    const { upload_id } = await uploads.upload(week('No plan'))
    const { body } = await call('PATCH', `/uploads/${upload_id}/rows`, 'operator', {
      rows: [{ line: 2, values: { 'Ad name': 'B' } }],
      replan: false,
    })
    expect(body).toMatchObject({ status: 'staged', plan_digest: null })
  })
})

it('the rows of a plan are found by column and by how much it changes', async () => {
  const first = await uploads.upload(week('Filter'))
  await call('POST', `/uploads/${first.upload_id}/promote`, 'operator', { digest: first.plan_digest })
  const { upload_id } = await uploads.upload(week('Filter', { spend: '20.00' }))
  const find = (filter: string) => call('GET', `/uploads/${upload_id}/plan/rows?${filter}`, 'operator')
  expect((await find('column=spend&by_more_than=0.5')).body.rows).toMatchObject([
    { action: 'update', changed: expect.arrayContaining(['spend']), row_number: 2 },
  ])
  expect((await find('column=spend&by_more_than=0.7')).body.rows).toEqual([])
  expect((await find('by_more_than=0.7')).body).toMatchObject({ status: 400 })
  const dollars = await uploads.upload(week('Filter').replace('(AUD)', '(USD)'))
  const text = await call(
    'GET',
    `/uploads/${dollars.upload_id}/plan/rows?column=currency&by_more_than=0.1`,
    'operator',
  )
  expect(text).toMatchObject({ status: 200, body: { rows: [] } })
})

describe('what is said about headers', () => {
  it('is remembered for the next file', async () => {
    const file = week('Mapped').replace('Amount spent (AUD)', 'Geld')
    const before = await uploads.upload(file)
    expect(before.notes).toContainEqual({ rule: 'header.unknown', message: expect.stringContaining('Geld') })
    const path = '/datasets/ads/mapping'
    const put = await call('PUT', path, 'operator', {
      platform: 'meta',
      headers: { Geld: 'spend', Notes: null },
      field_values: {},
    })
    expect(put).toMatchObject({ status: 200, body: { headers: { Geld: 'spend', Notes: null } } })
    expect((await call('GET', `${path}?platform=meta`, 'viewer')).body).toMatchObject({
      headers: { Geld: 'spend', Notes: null },
      fields: expect.arrayContaining([expect.objectContaining({ field: 'spend', type: 'money' })]),
    })
    const after = await uploads.upload(file.replace('10.25', '10.26'))
    expect(after.reading.map.fields.spend.header).toBe('Geld')
    const wrong = { platform: 'meta', headers: { Geld: 'money' }, field_values: {} }
    expect((await call('PUT', path, 'operator', wrong)).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('money'),
    })
  })

  it('is asked with the datasets and the clients that there are', async () => {
    expect((await call('GET', '/datasets', 'operator')).body.datasets).toMatchObject([
      {
        dataset: 'ads',
        has_clients: true,
        platforms: expect.arrayContaining([expect.objectContaining({ platform: 'meta' })]),
        row_types: expect.arrayContaining([
          {
            row_type: 'campaign',
            target: 'public.campaigns',
            key: ['client_id', 'platform', 'external_id'],
          },
        ]),
      },
    ])
    expect((await call('GET', '/datasets/ads/clients', 'operator')).body).toEqual({
      clients: [{ id: uploads.ads.client, name: 'Northwind' }],
    })
    expect((await call('GET', '/datasets/cats/clients', 'operator')).body).toMatchObject({
      status: 404,
      code: 'dataset_unknown',
    })
  })
})

describe('progress', () => {
  /** As a reader in another process would leave it. */
  const reading = async (): Promise<string> => {
    const { upload_id } = await uploads.upload(week(`Progress ${Math.random()}`), 'operator', {
      until: 'staged',
    })
    await db.owner(
      `update iu_core.ingest_upload set status = 'reading', reader_token = gen_random_uuid(), reader_seen_at = now(),
              progress = '{"stage": "read", "done": 5, "total": 10, "lines": 3}' where upload_id = $1`,
      [upload_id],
    )
    return upload_id
  }
  const end = (upload: string) =>
    db.owner(`update iu_core.ingest_upload set status = 'staged', reader_token = null where upload_id = $1`, [
      upload,
    ])
  const open = async (upload: string): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${uploads.tokens.operator}` }
    const request = get(`${address}/api/v1/uploads/${upload}/progress`, { headers, agent: false })
    const [reply] = await once(request, 'response')
    return reply
  }

  it('is read from the database, whichever process reads the file, until it ends', async () => {
    const upload = await reading()
    const reply = await open(upload)
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const text: string[] = []
    for await (const chunk of reply.setEncoding('utf8')) {
      if (text.push(chunk) === 1) await end(upload)
    }
    const [progress, done] = text.join('').split('\n\n')
    expect(JSON.parse(progress!.replace('event: progress\ndata: ', ''))).toEqual({
      stage: 'read',
      done: 5,
      total: 10,
      lines: 3,
    })
    expect(done).toBe('event: done\ndata: {"status":"staged","error":null}')
  })

  it('is sent to at most twenty streams of a caller, and one that is closed makes room', async () => {
    const upload = await reading()
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(upload)))
    expect((await open(upload)).destroy().statusCode).toBe(429)
    streams[0]!.destroy()
    await until('a stream is free', async () => (await open(upload)).destroy().statusCode === 200)
    for (const stream of streams) stream.destroy()
    await end(upload)
  })
})

it('a caller sends two large files at once, and the third waits for a place', async () => {
  const begin = async (as: 'operator' | 'reviewer') => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST /api/v1/uploads?${query()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${uploads.tokens[as]}\r\nContent-Type: text/csv\r\nContent-Length: 2000000\r\n\r\n${HEADER}\n`,
    )
    return socket
  }
  const first = await begin('operator')
  const second = await begin('operator')
  await until('two are received', () => uploads.stored().length === 2)
  const seen = new Set(uploads.stored())
  const third = await begin('operator')
  const others = await begin('reviewer')
  await until('the other caller is received', () => uploads.stored().length > 2)
  expect(uploads.stored()).toHaveLength(3)
  for (const name of uploads.stored()) seen.add(name)
  first.destroy()
  await until('the third is received', () => uploads.stored().some((name) => !seen.has(name)))
  for (const socket of [second, third, others]) socket.destroy()
  await until('the store is empty', () => uploads.stored().length === 0)
})

it('an upload that stalls is cut off, and nothing is left of it', async () => {
  const port = Number(new URL(await impatient.listen()).port)
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket.resume(), 'close')
  socket.write(
    `POST /api/v1/uploads?${query()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${uploads.tokens.operator}\r\nContent-Type: text/csv\r\nContent-Length: 15000\r\n\r\n${HEADER}\n`,
  )
  await closed
  await until('the store is empty', () => readdirSync(join(impatient.home, 'uploads/drafts')).length === 0)
})

it('lineage is asked for a table by its name and for a row by its id or key', async () => {
  const ask = (row: string) => call('GET', `/lineage?${row}`, 'operator')
  const whole = { client_id: uploads.ads.client, platform: 'meta', external_id: '1' }
  const key = encodeURIComponent(JSON.stringify(whole))
  expect((await ask(`target=public.campaigns&key=${key}`)).body).toEqual({ entries: [], people: {} })
  for (const wrong of [
    'target=public.campaigns',
    `target=public.campaigns&key=${key}&id=${uploads.ads.client}`,
    'target=public.campaigns&key=[]',
    'target=public.campaigns&key={}',
    'target=public.campaigns&key={"external_id":"1"}',
    `target=public.nope&id=${uploads.ads.client}`,
    'target=public.campaigns&key=nothing',
    `target=a.b.c.d&key=${key}`,
    `target=%22a&key=${key}`,
  ]) {
    expect([wrong, (await ask(wrong)).status]).toEqual([wrong, 400])
  }
})
