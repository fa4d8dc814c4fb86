/** What cannot be read, or is too much, is refused with the reason, and nothing is left of it. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { deflateRawSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { HEADER, useUploads, week } from './uploads-api.ts'

const uploads = useUploads()
const { call } = uploads
let address: string

beforeAll(async () => {
  address = await uploads.api.listen()
})
afterEach(async () => {
  expect(uploads.spooled()).toEqual([])
  await until('the store is empty', () => uploads.stored().length === 0)
})

const count = async () =>
  (await uploads.db.owner<{ count: number }>('select count(*)::int from iu_core.ingest_upload'))[0]!.count

/** Sends, waits and gives what the upload says. */
async function failure(text: string | Buffer, fields: Record<string, string> = {}, name = 'file.csv') {
  const { body } = await uploads.send(text, 'operator', fields, name)
  const upload = await uploads.settled(body.upload.upload_id)
  expect(upload.status).toBe('failed')
  return upload
}

const query = (more: Record<string, string> = {}) =>
  new URLSearchParams({ dataset: 'ads', platform: 'meta', client_id: uploads.ads.client, ...more }).toString()

describe('a file that cannot be read', () => {
  it('says which columns are missing, and which header is the nearest', async () => {
    const text = week('A').replace('Day,', 'Dayy,')
    const upload = await failure(text)
    expect(upload.error).toMatchObject({
      code: 'upload_columns_missing',
      message: expect.stringContaining('Dayy'),
    })
    expect(upload.may).toMatchObject({
      plan: { allowed: false, why: expect.stringContaining('upload it again') },
    })
  })

  it('is a zip, an image, nothing but a header, or empty', async () => {
    expect((await failure(zip('readme.txt', 'hello'))).error.code).toBe('file_unreadable')
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
    expect((await failure(png, {}, 'photo.csv')).error.code).toBe('file_unreadable')
    expect((await failure(`${HEADER}\n`)).error.code).toBe('file_has_no_rows')
    expect((await failure('')).error.code).toBe('file_unreadable')
  })

  it('can be uploaded again once it was corrected, and the failure keeps its place in the list', async () => {
    const { body } = await call('GET', '/uploads?status=failed&limit=2', 'operator')
    expect(body.uploads).toHaveLength(2)
    expect(body.next).toBe(body.uploads[1].upload_id)
    expect((await call('GET', '/uploads?status=failed,lost', 'operator')).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('lost'),
    })
  })
})

describe('an upload is refused before it is opened', () => {
  it.each([
    ['another dataset', { dataset: 'cats' }, 404, 'dataset_unknown'],
    ['another platform', { platform: 'radio' }, 404, 'dataset_unknown'],
    ['no client', { client_id: '' }, 404, 'client_unknown'],
    ['a client that is none', { client_id: 'Northwind' }, 400, 'request_invalid'],
    ['a field that is none', { colour: 'red' }, 400, 'request_invalid'],
    ['a threshold over 1', { threshold: '90' }, 400, 'request_invalid'],
    ['half a cursor', { cursor_name: 'page' }, 400, 'request_invalid'],
    [
      'a cursor that would be rounded',
      { cursor_name: 'page', cursor_value: '{"id":120253000000000123}' },
      400,
      'request_invalid',
    ],
    [
      'a promotion with the file: a person promotes what they have seen',
      { until: 'promoted' },
      400,
      'request_invalid',
    ],
  ])('for %s', async (_what, fields, status, code) => {
    const before = await count()
    expect((await uploads.send(week('B'), 'operator', fields)).body).toMatchObject({ status, code })
    expect(await count()).toBe(before)
  })

  it('without a file, with a field behind the file, or with two files', async () => {
    const head = (name: string, file = '') =>
      `--b\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`
    const fields = `${head('dataset')}ads\r\n${head('platform')}meta\r\n${head('client_id')}${uploads.ads.client}\r\n`
    const file = `${head('file', '; filename="a.csv"')}${week('C')}\r\n`
    const before = await count()
    for (const form of [
      fields,
      `${fields}${file}${head('until')}staged\r\n`,
      `${fields}${file}${file}`,
      `${file}${fields}`,
    ]) {
      const reply = await uploads.api.app.inject({
        method: 'POST',
        url: '/api/v1/uploads',
        headers: {
          authorization: `Bearer ${uploads.tokens.operator}`,
          'content-type': 'multipart/form-data; boundary=b',
        },
        payload: `${form}--b--\r\n`,
      })
      expect(reply.json()).toMatchObject({ status: 400, code: 'request_invalid' })
    }
    expect(await count()).toBe(before)
  })

  it('while the gate is closed', async () => {
    await uploads.db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', false)`)
    try {
      expect((await uploads.send(week('D'), 'operator')).body).toMatchObject({ code: 'gate_closed' })
    } finally {
      await uploads.db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    }
  })
})

describe('too much', () => {
  beforeAll(() =>
    uploads.db.owner('select iu_core.fn_ingest_limit_set($1, 20000, 100, null)', [uploads.ads.workspace]),
  )

  it('by its announced length is refused before a byte of it is taken', async () => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST /api/v1/uploads?${query()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${uploads.tokens.operator}\r\nContent-Type: text/csv\r\nContent-Length: 20001\r\n\r\n`,
    )
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 .*upload_too_large/s)
    socket.destroy()
  })

  it('without an announced length is cut off at the limit', async () => {
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        sent += 1000
        if (sent > 200_000) controller.close()
        else controller.enqueue(new Uint8Array(1000).fill(0x61))
      },
    })
    const reply = await fetch(`${address}/api/v1/uploads?${query()}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${uploads.tokens.operator}`, 'content-type': 'text/csv' },
      body,
      duplex: 'half',
    } as RequestInit)
    expect(await reply.json()).toMatchObject({ status: 413, code: 'upload_too_large' })
  })

  it('in a form is cut off at the limit, too', async () => {
    const { body } = await uploads.send('a'.repeat(20_001), 'operator')
    expect(body).toMatchObject({ status: 413, code: 'upload_too_large' })
    expect((await uploads.send('a'.repeat(200_000), 'operator')).body).toMatchObject({ status: 413 })
  })

  it('in lines fails with the limit', async () => {
    const line = 'A,B,C,2026-11-01,1.00,1,1'
    const upload = await failure([HEADER, ...Array.from({ length: 101 }, () => line)].join('\n'))
    expect(upload.error).toMatchObject({
      code: 'upload_too_many_lines',
      message: expect.stringContaining('100'),
    })
  })
})

describe('a client that disconnects in the middle', () => {
  it.each([
    ['of a body', 'text/csv', ''],
    [
      'of a form',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n',
    ],
  ])('%s leaves nothing behind', async (_what, type, head) => {
    const before = await count()
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST /api/v1/uploads?${query()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${uploads.tokens.operator}\r\nContent-Type: ${type}\r\nContent-Length: 15000\r\n\r\n${head}${HEADER}\n`,
    )
    await until('the file has begun', () => uploads.stored().length === 1)
    socket.destroy()
    await until('the store is empty', () => uploads.stored().length === 0)
    expect(await count()).toBe(before)
  })
})

/** The smallest zip: one file, no directory of its own. */
function zip(name: string, text: string): Buffer {
  const data = deflateRawSync(text)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(20, 4)
  local.writeUInt16LE(8, 8)
  local.writeUInt32LE(data.length, 18)
  local.writeUInt32LE(text.length, 22)
  local.writeUInt16LE(name.length, 26)
  return Buffer.concat([local, Buffer.from(name), data])
}
