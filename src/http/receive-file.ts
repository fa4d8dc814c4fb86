/** A file over HTTP: as a form, or as the raw body with the options in the query string, into the spool; and how it is to be read. */
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { encodingNamed } from '../ingest/readers/encoding.ts'
import { columnNames, type Format } from '../ingest/readers/format.ts'
import { type SpooledFile, spool } from '../ingest/spool.ts'
import type { FileOptions } from '../ingest/stage.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import { type Static, type TObject, type TSchema, Type } from '../kernel/schema.ts'
import { readJson } from '../staging/records.ts'
import { invalidInput } from './problem.ts'
import { createSlots, formError, invalidForm, uncut } from './request-limits.ts'

/** Larger ones wait for a place, so that nobody's files fill the disk all at once. */
const LARGE = 1024 ** 2
const LARGE_AT_ONCE = 8
const LARGE_OF_ONE_CALLER = 2
const MAX_FIELD_BYTES = 200_000
/** What a form adds to its file: a mapping of many columns is the longest field. */
const FORM_EXTRA = 512 * 1024

/** The plugin's routes take files. Its other routes must not inherit that: register it in a scope of its own. */
export async function acceptFiles(fastify: FastifyInstance): Promise<void> {
  const slots = createSlots(LARGE_AT_ONCE, LARGE_OF_ONE_CALLER)
  fastify.addHook('preParsing', async (request, reply) => {
    if (Number(request.headers['content-length'] ?? Infinity) > LARGE) await slots(request, reply)
  })
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser(BODY_TYPES, (_request: FastifyRequest, payload: unknown, done) =>
    done(null, payload),
  )
  await fastify.register(multipart, {
    limits: {
      fileSize: Number.MAX_SAFE_INTEGER,
      files: 1,
      fields: 30,
      fieldSize: MAX_FIELD_BYTES,
      fieldNameSize: 100,
    },
  })
}

/** What a route that takes a file adds to its definition. */
export function fileRoute(form: TSchema) {
  return {
    preValidation: async (request: FastifyRequest) => {
      if (request.isMultipart()) request.body = {}
    },
    body: {
      content: {
        'multipart/form-data': { schema: form },
        ...Object.fromEntries(
          BODY_TYPES.map((type) => [type, { schema: Type.Unknown({ description: 'the file' }) }]),
        ),
      },
    },
  }
}

/** A file that announces more than `limit` bytes is refused before its first one. */
export function refuseTooLarge(request: FastifyRequest, limit: number): void {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limit + (request.isMultipart() ? FORM_EXTRA : 0)) {
    throw new StagedoorError('upload_too_large', { limit })
  }
}

// How a file is to be read: options of every route that takes one.

const MAX_MAPPING_TEXT = 200_000

export const readingOptions = {
  encoding: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 40,
      examples: ['shift_jis', 'gbk', 'windows-1251'],
      description: 'of a file that is not UTF-8 or UTF-16; it is never guessed',
    }),
  ),
  delimiter: Type.Optional(Type.String({ minLength: 1, maxLength: 1, description: 'default: detected' })),
  columns: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'names of the columns of a file without a header: name,name,… or a JSON array',
    }),
  ),
  header_line: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'the line with the names of the columns; default: found',
    }),
  ),
  sheet: Type.Optional(
    Type.String({ maxLength: 200, description: 'of an xlsx; default the first with data' }),
  ),
  decimal: Type.Optional(Type.Enum(['dot', 'comma'], { description: 'default: detected' })),
  dates: Type.Optional(Type.Enum(['dmy', 'mdy'], { description: 'default: detected' })),
  remember_options: Type.Optional(
    Type.Boolean({
      description:
        'remember encoding, delimiter, header_line, decimal and dates as they are given here for your next files with the same columns; default false',
    }),
  ),
  without: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'fields that the dataset expects and the file has no column for, separated by commas',
    }),
  ),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  headers: Type.Optional(
    Type.String({
      maxLength: MAX_MAPPING_TEXT,
      description:
        'JSON: header → field, or null to ignore the column; for this file only, before what is remembered',
      examples: ['{"Kosten":"spend","Notes":null}'],
    }),
  ),
  field_values: Type.Optional(
    Type.String({
      maxLength: MAX_MAPPING_TEXT,
      description:
        'JSON: field → {value in the file → value to take}; for this file only, before what is remembered',
    }),
  ),
}
type ReadingOptions = Static<TObject<typeof readingOptions>>

export function fileOptionsOf(options: ReadingOptions, format: Format | undefined): FileOptions {
  const { delimiter, header_line: headerLine, sheet, decimal, dates } = options
  const encoding = options.encoding === undefined ? undefined : encodingNamed(options.encoding)
  const columns = options.columns === undefined ? undefined : columnNames(options.columns)
  const without = options.without?.split(',').map((field) => field.trim())
  const headers = options.headers === undefined ? undefined : readHeaders(options.headers)
  const values = options.field_values === undefined ? undefined : readValues(options.field_values)
  return omitUndefined({
    format,
    encoding,
    delimiter,
    columns,
    headerLine,
    sheet,
    decimal,
    dates,
    without,
    headers,
    values,
    rememberOptions: options.remember_options,
  })
}

function readHeaders(text: string): Record<string, string | null> {
  const headers = readJson(text, 'headers', 'request_invalid')
  if (isMapping(headers)) return headers
  throw new StagedoorError('request_invalid', { reason: 'headers must be {"header": "field" or null}' })
}

function readValues(text: string): Record<string, Record<string, string | null>> {
  const values = readJson(text, 'field_values', 'request_invalid')
  if (isObject(values) && Object.values(values).every(isMapping))
    return values as Record<string, Record<string, string | null>>
  const reason = 'field_values must be {"field": {"value in the file": "value to take" or null}}'
  throw new StagedoorError('request_invalid', { reason })
}

function isMapping(value: unknown): value is Record<string, string | null> {
  return isObject(value) && Object.values(value).every((one) => one === null || typeof one === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Receiving: the file of a form, or the body itself, into a store or the spool. Nothing is left of one that breaks off.

export interface ReceivedFile<Options, File = SpooledFile> {
  readonly file: File
  readonly file_name: string
  readonly options: Options
  /** Where the content type says it. */
  readonly format: Format | undefined
}

interface FileRequest<Options> {
  /** The shape of the options, of a form and of the query string. */
  readonly options: TSchema
  /** Called before the first byte of the file: says how many there may be, or refuses. */
  admit(options: Options): Promise<{ limit: number }>
}

/** Where the bytes go. */
export interface FileSink<File> {
  put(bytes: AsyncIterable<Uint8Array>, limit: number): Promise<File>
  /** The request fails after its file was received. */
  remove(file: File): Promise<void>
}

/** For a file that is only looked at while its request runs. */
export function spoolSink(home: string): FileSink<SpooledFile> {
  return { put: (bytes, limit) => spool(home, bytes, limit), remove: (file) => file.remove() }
}

export async function receiveFile<Options extends { readonly file_name?: string }, File>(
  request: FastifyRequest,
  sink: FileSink<File>,
  asked: FileRequest<Options>,
): Promise<ReceivedFile<Options, File>> {
  try {
    return await (request.isMultipart() ? receiveForm : receiveBody)(request, sink, asked)
  } catch (error) {
    request.raw.unpipe()
    request.raw.resume()
    throw error
  }
}

const RECORDS = ['application/x-ndjson', 'application/jsonl', 'application/json-seq']
const BODY_TYPES = [
  ...RECORDS,
  'text/csv',
  'text/tab-separated-values',
  'text/plain',
  'application/json',
  'application/octet-stream',
  'application/vnd.apache.parquet',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
]

async function receiveBody<Options extends { readonly file_name?: string }, File>(
  request: FastifyRequest,
  sink: FileSink<File>,
  asked: FileRequest<Options>,
): Promise<ReceivedFile<Options, File>> {
  const options = readOptions(request, asked, request.query as object, 'querystring')
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  const format = RECORDS.includes(type) ? 'jsonl' : undefined
  const { limit } = await asked.admit(options)
  if (!request.body) throw new StagedoorError('request_invalid', { reason: 'the body is empty' })
  const bytes = uncut(
    request.body as Readable,
    type === 'application/json-seq' ? withoutSeparators : undefined,
  )
  return {
    file: await sink.put(bytes, limit),
    file_name: plainName(options.file_name ?? (format ? 'records.jsonl' : 'upload')),
    options,
    format,
  }
}

async function receiveForm<Options extends { readonly file_name?: string }, File>(
  request: FastifyRequest,
  sink: FileSink<File>,
  asked: FileRequest<Options>,
): Promise<ReceivedFile<Options, File>> {
  const fields: Record<string, unknown> = { ...(request.query as object) }
  let received: ReceivedFile<Options, File> | undefined
  try {
    for await (const part of request.parts()) {
      if (received) throw invalidForm('the file must be the last field of the form, and the only file')
      if (part.type === 'field') {
        if (part.valueTruncated || part.fieldnameTruncated)
          throw invalidForm(`the field ${part.fieldname} is too long`)
        fields[part.fieldname] = part.value
        continue
      }
      if (part.fieldname !== 'file')
        throw invalidForm(`the file must be the field file, not ${part.fieldname}`)
      const options = readOptions(request, asked, fields, 'form')
      const { limit } = await asked.admit(options)
      received = {
        file: await sink.put(uncut(part.file), limit),
        file_name: plainName(options.file_name ?? part.filename ?? 'upload'),
        options,
        format: undefined,
      }
    }
    if (!received) throw invalidForm('it has no field file')
    return received
  } catch (error) {
    if (received) await sink.remove(received.file)
    throw formError(error)
  }
}

/** Unset fields of a form are empty. */
function readOptions<Options>(
  request: FastifyRequest,
  { options: schema }: FileRequest<Options>,
  given: object,
  where: string,
): Options {
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const validate = request.compileValidationSchema(schema as object)
  if (!validate(options)) throw invalidInput((validate.errors ?? []) as never, where)
  return options as Options
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
