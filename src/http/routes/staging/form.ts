/** A record sent as a form: the field `record` first, then a file for each part. */
import { Readable } from 'node:stream'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { StagedoorError } from '../../../errors.ts'
import type { StoredBlob } from '../../../staging/blobs/store.ts'
import { decodeUtf8, readJson } from '../../../staging/exact-json.ts'
import { LARGEST_PART, LARGEST_TOTAL, MOST_PARTS } from '../../../staging/limits.ts'
import { refuseCostlyJson, tooManyParts } from '../../json-limits.ts'
import { interruption, receiveBlob, type Stores } from './uploads.ts'

/**
 * Gives the parts as JSON text of an array. `opened` is called with the record before the first part is read. Blobs are added to `stored` as they come, so that
 * whoever called can delete them whatever happens.
 */
export async function readForm(
  request: FastifyRequest,
  stores: Stores,
  recordLimit: number,
  stored: StoredBlob[],
  opened: (record: string) => Promise<void>,
): Promise<string> {
  let record: string | undefined
  let inline = 0
  const parts: string[] = []
  for await (const file of filesOf(request)) {
    if (record === undefined) {
      record = await readRecord(file, recordLimit)
      await opened(record)
      continue
    }
    if (parts.length === MOST_PARTS) {
      throw tooManyParts()
    }
    const part = await readPart(file, stores, stored)
    inline += part.length
    if (inline > LARGEST_TOTAL) throw new StagedoorError('body_too_large', { limit: LARGEST_TOTAL })
    parts.push(part)
  }
  if (record === undefined) throw recordMissing()
  return `[${parts.join(',')}]`
}

/** Errors of the parser are errors of the request. */
async function* filesOf(request: FastifyRequest): AsyncGenerator<MultipartFile> {
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') yield part
    }
  } catch (error) {
    throw malformed(error)
  }
}

function malformed(error: unknown): StagedoorError {
  if (error instanceof StagedoorError) return error
  const { code, message } = error as { code?: string; message: string }
  if (code === 'FST_MP_PREMATURE_CLOSE') return interruption(error)
  return new StagedoorError(
    'request_invalid',
    { reason: `the form cannot be read: ${message}` },
    { cause: error },
  )
}

async function readRecord(file: MultipartFile, limit: number): Promise<string> {
  if (file.fieldname !== 'record') throw recordMissing()
  const { bytes, rest } = await readUpTo(file.file, limit)
  if (rest) throw new StagedoorError('body_too_large', { limit })
  refuseCostlyJson(bytes)
  return decodeUtf8(bytes, 'The field record')
}

function recordMissing(): StagedoorError {
  return new StagedoorError('request_invalid', {
    reason: 'the first field of the form must be `record`, the record as JSON',
  })
}

/** JSON and text of up to 10 MiB are kept in the database, everything else as a blob. */
async function readPart(file: MultipartFile, stores: Stores, stored: StoredBlob[]): Promise<string> {
  const name = file.fieldname
  const isJson = file.mimetype === 'application/json' || file.mimetype.endsWith('+json')
  if (!isJson && !file.mimetype.startsWith('text/')) return storePart(name, file.file, stores, stored)
  const { bytes, rest } = await readUpTo(file.file, LARGEST_PART)
  if (rest) return storePart(name, Readable.from(rest), stores, stored)
  if (!isJson) {
    const text = decodeUtf8(bytes, `The part ${name}`, { keepMark: true })
    return JSON.stringify({ part_name: name, payload_kind: 'text', payload_text: text })
  }
  refuseCostlyJson(bytes)
  const text = decodeUtf8(bytes, `The part ${name}`)
  readJson(text, `the part ${name}`, 'request_invalid')
  return `{"part_name":${JSON.stringify(name)},"payload_kind":"json","payload_json":${text}}`
}

async function storePart(
  name: string,
  bytes: Readable,
  stores: Stores,
  stored: StoredBlob[],
): Promise<string> {
  const blob = await receiveBlob(bytes, stores)
  stored.push(blob)
  return JSON.stringify({ part_name: name, payload_kind: 'blob_ref', blob_ref: blob.blob_ref })
}

/** `rest` begins from the start, and is there if there is more than `limit`. */
async function readUpTo(
  file: Readable,
  limit: number,
): Promise<{ bytes: Buffer; rest?: AsyncGenerator<Buffer> }> {
  const chunks: Buffer[] = []
  let length = 0
  const iterator: AsyncIterator<Buffer> = file.iterator({ destroyOnReturn: false })
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      chunks.push(next.value)
      length += next.value.length
      if (length > limit) return { bytes: Buffer.alloc(0), rest: from(chunks, iterator) }
    }
  } catch (error) {
    throw malformed(error)
  }
  return { bytes: Buffer.concat(chunks) }
}

async function* from(chunks: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
}
