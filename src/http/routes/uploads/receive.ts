/** A file on its way in: from a form or as the body itself, into the spool. Nothing is left of one that breaks off. */
import { basename } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { StagedoorError } from '../../../errors.ts'
import type { Format } from '../../../ingest/readers/reading.ts'
import { type SpooledFile, spool } from '../../../ingest/spool.ts'
import { interruption } from '../staging/uploads.ts'
import { readOptions, type UploadOptions } from './options.ts'

export interface ReceivedFile {
  readonly file: SpooledFile
  readonly file_name: string
  readonly options: UploadOptions
  /** Where the content type says it. */
  readonly format: Format | undefined
}

/** Called before the first byte of the file: says how many there may be, or refuses. */
export type Admit = (options: UploadOptions) => Promise<{ limit: number }>

const RECORDS = ['application/x-ndjson', 'application/jsonl', 'application/json-seq']
export const BODY_TYPES = [
  ...RECORDS,
  'text/csv',
  'text/tab-separated-values',
  'text/plain',
  'application/json',
  'application/octet-stream',
  'application/vnd.apache.parquet',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
]

export async function receiveBody(
  request: FastifyRequest,
  home: string,
  admit: Admit,
): Promise<ReceivedFile> {
  const options = readOptions(request, request.query as object, 'querystring')
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  const format = RECORDS.includes(type) ? 'jsonl' : undefined
  const { limit } = await admit(options)
  if (!request.body) throw new StagedoorError('request_invalid', { reason: 'the body is empty' })
  const bytes = uncut(
    request.body as Readable,
    type === 'application/json-seq' ? withoutSeparators : undefined,
  )
  return {
    file: await spool(home, bytes, limit),
    file_name: plainName(options.file_name ?? (format ? 'records.jsonl' : 'upload')),
    options,
    format,
  }
}

export async function receiveForm(
  request: FastifyRequest,
  home: string,
  admit: Admit,
): Promise<ReceivedFile> {
  const fields: Record<string, unknown> = { ...(request.query as object) }
  let received: ReceivedFile | undefined
  try {
    for await (const part of request.parts()) {
      if (received) throw malformed('the file must be the last field of the form, and the only file')
      if (part.type === 'field') {
        if (part.valueTruncated || part.fieldnameTruncated)
          throw malformed(`the field ${part.fieldname} is too long`)
        fields[part.fieldname] = part.value
        continue
      }
      if (part.fieldname !== 'file') throw malformed(`the file must be the field file, not ${part.fieldname}`)
      const options = readOptions(request, fields, 'form')
      const { limit } = await admit(options)
      received = {
        file: await spool(home, uncut(part.file), limit),
        file_name: plainName(options.file_name ?? part.filename ?? 'upload'),
        options,
        format: undefined,
      }
    }
    if (!received) throw malformed('it has no field file')
    return received
  } catch (error) {
    await received?.file.remove()
    throw asFormError(error)
  }
}

/**
 * The bytes of `source`, which is not destroyed with them: that would cut the connection before the answer is out.
 * If it breaks off, so do they.
 */
function uncut(source: Readable, change: (chunk: Buffer) => Buffer = (chunk) => chunk): Readable {
  const bytes = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, change(chunk)),
    destroy(error, done) {
      source.unpipe(bytes)
      source.resume()
      done(error)
    },
  })
  // The spool listens only once it has opened a folder; until then an error must not end the process.
  bytes.on('error', () => {})
  const broken = (): void => {
    if (!source.readableEnded) bytes.destroy(interruption())
  }
  source.once('error', broken).once('close', broken)
  if (source.destroyed) broken()
  return source.pipe(bytes)
}

/** RFC 7464 begins each record with a separator, which JSON itself never holds. */
function withoutSeparators(chunk: Buffer): Buffer {
  return chunk.includes(0x1e) ? Buffer.from(chunk.filter((byte) => byte !== 0x1e)) : chunk
}

/** Some browsers send the whole path. */
function plainName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const plain = basename(name.replaceAll('\\', '/')).replace(/[\x00-\x1f\x7f]/g, '')
  return plain.trim() || 'upload'
}

function malformed(reason: string): StagedoorError {
  return new StagedoorError('request_invalid', { reason: `the form cannot be read: ${reason}` })
}

function asFormError(error: unknown): unknown {
  if (error instanceof StagedoorError) return error
  const { code, message } = error as { code?: string; message: string }
  if (code === 'FST_MP_PREMATURE_CLOSE') return interruption(error)
  // The parser throws plain errors for what is wrong with a form.
  const parsing = code === undefined ? (error as object).constructor === Error : code.startsWith('FST_')
  return parsing ? malformed(message) : error
}
