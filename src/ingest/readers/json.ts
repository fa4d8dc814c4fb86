/**
 * JSON lines and JSON arrays as chunks. Read twice: a name that only the last record has is a column of all, so the
 * columns are known when the first row is written.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { StagedoorError } from '../../kernel/errors.ts'
import { type ChunkRow, ChunkWriter, chunkLine, type Flaw } from './chunks.ts'
import { CR, LF, MAX_RECORD_BYTES, MAX_SHOWN_CHARACTERS, QUOTE } from './csv-record.ts'
import { type FoundEncoding, findEncoding, requireUtf8, utf8Buffers } from './encoding.ts'
import {
  type FileNote,
  findEnvelope,
  MAX_COLUMNS,
  type NormalisedFile,
  type ReadOptions,
  unreadable,
} from './format.ts'

const BUFFER_BYTES = 256 * 1024

export function normaliseJsonLines(
  path: string,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  return normaliseJson(path, folder, 'jsonl', options)
}

export function normaliseJsonArray(
  path: string,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  return normaliseJson(path, folder, 'json', options)
}

async function normaliseJson(
  path: string,
  folder: string,
  format: 'jsonl' | 'json',
  options: ReadOptions & { bufferBytes?: number },
): Promise<NormalisedFile> {
  const file = await open(path, 'r')
  const writer = new ChunkWriter(folder, options.chunkLines ?? 20_000)
  try {
    const source = await sourceOf(file, format, options)
    const { headers, notes } = await findColumns(source, options)
    for await (const { records, bytes } of recordsOf(source, newSplitter(source), 0.5)) {
      options.signal?.throwIfAborted()
      for (const record of records) {
        const row = rowOf(record, headers, options.keepsJson)
        await writer.add(chunkLine(row, headers.length))
      }
      options.onProgress?.({ bytes, total: source.total, lines: writer.lines })
    }
    await writer.close()
    return {
      format,
      encoding: source.found.name,
      delimiter: null,
      preamble: [],
      headerLine: 0,
      headers,
      lines: writer.lines,
      chunks: writer.chunks,
      notes,
    }
  } finally {
    await writer.abandon()
    await file.close()
  }
}

interface Source {
  file: FileHandle
  format: 'jsonl' | 'json'
  found: FoundEncoding
  total: number
  bufferBytes: number
  /** Where the array begins that an object holds. */
  envelope?: number | undefined
}

async function sourceOf(
  file: FileHandle,
  format: 'jsonl' | 'json',
  options: ReadOptions & { bufferBytes?: number },
): Promise<Source> {
  const start = Buffer.alloc(4096)
  const { bytesRead } = await file.read(start, 0, start.length, 0)
  const found = findEncoding(start.subarray(0, bytesRead), options.encoding)
  const { size } = await file.stat()
  const source = { file, format, found, total: size, bufferBytes: options.bufferBytes ?? BUFFER_BYTES }
  if (format === 'jsonl') return source
  for await (const { bytes } of utf8Buffers(file, found, BUFFER_BYTES))
    return { ...source, envelope: findEnvelope(bytes) }
  return source
}

function newSplitter({ format, envelope }: Source): JsonSplitter {
  return format === 'jsonl' ? new LineSplitter() : new ElementSplitter(envelope)
}

/** Records buffer by buffer; `bytes` counts both readings as halves of one. */
async function* recordsOf(
  source: Source,
  splitter: JsonSplitter,
  done: number,
): AsyncGenerator<{ records: RawRecord[]; bytes: number }> {
  const base = Math.round(source.total * done)
  for await (const { bytes, position } of utf8Buffers(source.file, source.found, source.bufferBytes)) {
    yield { records: splitter.push(bytes).filter(isFilled), bytes: base + Math.floor(position / 2) }
  }
  yield { records: splitter.end().filter(isFilled), bytes: base + Math.floor(source.total / 2) }
}

function isFilled(record: RawRecord): boolean {
  for (const byte of record.bytes) if (byte > 32) return true
  return false
}

async function findColumns(
  source: Source,
  options: ReadOptions,
): Promise<{ headers: string[]; notes: FileNote[] }> {
  const names = new Set<string>()
  const splitter = newSplitter(source)
  const utf8 = { valid: 0, invalid: 0 }
  let lines = 0
  for await (const { records, bytes } of recordsOf(source, splitter, 0)) {
    options.signal?.throwIfAborted()
    lines += records.length
    if (options.maxLines !== undefined && lines > options.maxLines) {
      throw new StagedoorError('upload_too_many_lines', { limit: options.maxLines })
    }
    for (const record of records) {
      if (!isAscii(record.bytes)) utf8[isUtf8(record.bytes) ? 'valid' : 'invalid']++
      const values = record.tooLong ? undefined : flattenJson(record.bytes.toString(), options.keepsJson)
      for (const name of values?.keys() ?? []) names.add(name)
    }
    if (names.size > MAX_COLUMNS) {
      throw unreadable(`its objects have more than ${MAX_COLUMNS} different names: are some of them values?`)
    }
    options.onProgress?.({ bytes, total: source.total, lines: 0 })
  }
  await requireUtf8(source.file, source.found, utf8)
  if (lines === 0) throw new StagedoorError('file_has_no_rows')
  if (names.size === 0) throw unreadable('it is neither JSON lines nor a JSON array of objects')
  if (splitter.isCutOff()) throw unreadable('its JSON has no end: the file was cut off')
  const problem = splitter.problem()
  return { headers: [...names], notes: problem ? [problem] : [] }
}

function rowOf(record: RawRecord, headers: string[], keepsJson: ReadOptions['keepsJson']): ChunkRow {
  const text = record.bytes.toString()
  const values = record.tooLong ? undefined : flattenJson(text, keepsJson)
  if (!values) {
    const flaw: Flaw = record.tooLong ? 'line_too_long' : 'not_json'
    return { line: record.line, flaw, extra: [text.trim().slice(0, MAX_SHOWN_CHARACTERS)], values: [] }
  }
  if (values.repeated)
    return {
      line: record.line,
      flaw: 'repeated_name',
      extra: values.repeated,
      values: headers.map((name) => values.get(name) ?? ''),
    }
  return {
    line: record.line,
    flaw: flawOf(record, values),
    values: headers.map((name) => values.get(name) ?? ''),
  }
}

/** An escape can say what the bytes could not: NUL, or half a character. */
function flawOf(record: RawRecord, values: Map<string, string>): Flaw | '' {
  if (!isUtf8(record.bytes)) return 'invalid_utf8'
  if (!record.bytes.includes('\\u')) return ''
  for (const value of values.values()) {
    if (value.includes('\0')) return 'nul_character'
    if (/\p{Surrogate}/u.test(value)) return 'invalid_utf8'
  }
  return ''
}

// Cuts JSON lines, or the elements of a JSON array, out of buffers as they come; holds one record at most.

interface RawRecord {
  /** The physical line where it begins; of several on one line each has the next number, so that none is there twice. */
  line: number
  bytes: Buffer
  /** More than can be held: only its beginning is there. */
  tooLong: boolean
}

interface JsonSplitter {
  push(bytes: Buffer): RawRecord[]
  end(): RawRecord[]
  /** At the file's end: is the rest of it missing? */
  isCutOff(): boolean
  /** Of the whole file, at its end: is it as it should be? */
  problem(): FileNote | undefined
}

/** The bytes of one record, gathered over buffers. */
class RecordBuffer {
  #parts: Buffer[] = []
  #length = 0
  line = 0

  add(bytes: Buffer): void {
    this.#length += bytes.length
    if (this.#length <= MAX_RECORD_BYTES || this.#parts.length === 0)
      this.#parts.push(Buffer.from(bytes.subarray(0, MAX_RECORD_BYTES)))
  }

  take(): RawRecord {
    const record = {
      line: this.line,
      bytes: Buffer.concat(this.#parts),
      tooLong: this.#length > MAX_RECORD_BYTES,
    }
    this.#parts = []
    this.#length = 0
    return record
  }
}

class LineSplitter implements JsonSplitter {
  readonly #gathered = new RecordBuffer()
  #line = 1
  #afterCr = false

  push(bytes: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let start = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte !== LF && byte !== CR) {
        if (this.#afterCr) this.#afterCr = false
        continue
      }
      if (byte === LF && this.#afterCr) {
        this.#afterCr = false
        start = at + 1
        continue
      }
      this.#gathered.add(bytes.subarray(start, at))
      records.push(this.#take())
      this.#afterCr = byte === CR
      start = at + 1
    }
    this.#gathered.add(bytes.subarray(start))
    return records
  }

  end(): RawRecord[] {
    return [this.#take()]
  }

  /** A cut line is a flaw of its own. */
  isCutOff(): boolean {
    return false
  }

  problem(): undefined {
    return undefined
  }

  #take(): RawRecord {
    this.#gathered.line = this.#line++
    return this.#gathered.take()
  }
}

const BACKSLASH = 92
const COMMA = 44
const OPENING = new Set([91, 123])
const CLOSING = new Set([93, 125])

/** What stands behind the array tells whether an envelope is whole and whether there are more pages. */
const TAIL_BYTES = 64 * 1024

/**
 * An element ends at a comma or bracket of the array's own level, well-formed or not: what it is, is seen later.
 * `envelope` is the byte at which an array within an object begins; what stands before it is passed over.
 */
class ElementSplitter implements JsonSplitter {
  readonly #gathered = new RecordBuffer()
  #line = 1
  #depth = 0
  #inString = false
  #escaped = false
  #begun = false
  #closed = false
  #tail = ''
  #previous = 0
  #passOver: number
  readonly #inEnvelope: boolean

  constructor(envelope?: number) {
    this.#passOver = envelope ?? 0
    this.#inEnvelope = envelope !== undefined
  }

  push(bytes: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let start = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte === CR || (byte === LF && this.#previous !== CR)) this.#line++
      this.#previous = byte
      if (this.#passOver > 0) {
        this.#passOver--
        continue
      }
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inString = false
        continue
      }
      if (byte <= 32) continue
      if (this.#closed) {
        const room = TAIL_BYTES - this.#tail.length
        if (room > 0) this.#tail += bytes.toString('latin1', at, Math.min(bytes.length, at + room))
        break
      }
      const closes = CLOSING.has(byte)
      if (this.#depth === 1 && (byte === COMMA || closes)) {
        if (this.#begun) this.#gathered.add(bytes.subarray(start, at))
        if (this.#begun) records.push(this.#gathered.take())
        this.#begun = false
        this.#closed = closes
        continue
      }
      if (this.#depth > 0 && !this.#begun) {
        this.#begun = true
        this.#gathered.line = Math.max(this.#line, this.#gathered.line + 1)
        start = at
      }
      if (byte === QUOTE) this.#inString = true
      else if (OPENING.has(byte)) this.#depth++
      else if (closes) this.#depth--
    }
    if (this.#begun) this.#gathered.add(bytes.subarray(start))
    return records
  }

  end(): RawRecord[] {
    return this.#begun ? [this.#gathered.take()] : []
  }

  isCutOff(): boolean {
    return !this.#closed || (this.#inEnvelope && !/\}\s*$/.test(this.#tail))
  }

  problem(): FileNote | undefined {
    if (this.#tail === '') return undefined
    if (!this.#inEnvelope) {
      return {
        rule: 'file.json_array',
        message: 'There is more behind the end of the array; it was passed over',
      }
    }
    if (/^[^{]*\}\s*\{|\}\s*\}\s*\{/.test(this.#tail)) {
      throw unreadable('it holds several answers of an API, one behind the other: upload each by itself')
    }
    if (!MORE_PAGES.test(this.#tail)) return undefined
    return {
      rule: 'file.one_page',
      message:
        'The file is one page of an API’s answer and says that there is another: that one is not in it',
    }
  }
}

const MORE_PAGES = /"(?:next|nextPageToken)"\s*:\s*"[^"]/

// One JSON object as columns: nested objects flatten to dotted names, arrays stay JSON, and every value is the text
// that was written: `JSON.parse` would round an id of 18 digits.

/** Deeper objects do not become columns. */
const MAX_DEPTH = 50

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\r\n]*/y

const DOUBLE_QUOTE = 34
/** JSON forbids control characters in strings; the end of the text is none either. */
const FIRST_ALLOWED = 32

class NotJson extends Error {}

/** Names that are there twice with different values are in `repeated`; the last value is shown. */
interface FlatJson extends Map<string, string> {
  repeated?: string[]
}

/** `undefined` if the text is not one JSON object. */
function flattenJson(text: string, keepsJson: ReadOptions['keepsJson']): FlatJson | undefined {
  const reader = new JsonReader(text, keepsJson)
  try {
    return reader.read()
  } catch (error) {
    if (error instanceof NotJson || error instanceof SyntaxError) return undefined
    throw error
  }
}

class JsonReader {
  readonly #text: string
  readonly #values: FlatJson = new Map<string, string>()
  readonly #keepsJson: ReadOptions['keepsJson']
  #at = 0

  constructor(text: string, keepsJson: ReadOptions['keepsJson']) {
    this.#text = text
    this.#keepsJson = keepsJson
  }

  read(): FlatJson {
    this.#space()
    this.#object('', 0)
    this.#space()
    if (this.#at < this.#text.length) throw new NotJson()
    return this.#values
  }

  #object(prefix: string, depth: number): void {
    this.#expect('{')
    this.#space()
    if (this.#take('}')) return
    do {
      this.#space()
      const name = prefix + this.#string()
      this.#space()
      this.#expect(':')
      this.#space()
      this.#value(name, depth)
      this.#space()
    } while (this.#take(','))
    this.#expect('}')
  }

  #value(name: string, depth: number): void {
    const keepsJson = this.#keepsJson?.(name) ?? false
    if (keepsJson || this.#text[this.#at] !== '{') {
      const value = keepsJson ? this.#asWritten() : this.#scalar()
      const before = this.#values.get(name)
      if (before !== undefined && before !== value) {
        this.#values.repeated ??= []
        this.#values.repeated.push(name)
      }
      this.#values.set(name, value)
      return
    }
    if (depth >= MAX_DEPTH) throw new NotJson()
    this.#object(`${name}.`, depth + 1)
  }

  #scalar(): string {
    switch (this.#text[this.#at]) {
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      case 't':
        return this.#expect('true')
      case 'f':
        return this.#expect('false')
      case 'n':
        this.#expect('null')
        return ''
      default:
        return this.#number()
    }
  }

  /** The JSON of a value; none where it is null. */
  #asWritten(): string {
    const start = this.#at
    if (this.#text[start] === '{') return this.#brackets('{', '}')
    const value = this.#scalar()
    return value === '' && this.#text[start] === 'n' ? '' : this.#text.slice(start, this.#at)
  }

  #number(): string {
    NUMBER.lastIndex = this.#at
    if (!NUMBER.test(this.#text)) throw new NotJson()
    const written = this.#text.slice(this.#at, NUMBER.lastIndex)
    this.#at = NUMBER.lastIndex
    return written
  }

  #string(): string {
    this.#expect('"')
    const start = this.#at
    let escaped = false
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === DOUBLE_QUOTE) break
      if (code === BACKSLASH) {
        escaped = true
        this.#at++
      } else if (!(code >= FIRST_ALLOWED)) throw new NotJson()
      this.#at++
    }
    const written = this.#text.slice(start, this.#at++)
    return escaped ? (JSON.parse(`"${written}"`) as string) : written
  }

  /** As written: its end is found by counting brackets outside strings, then the engine says whether it is JSON. */
  #array(): string {
    return this.#brackets('[', ']')
  }

  #brackets(opening: string, closing: string): string {
    const start = this.#at
    let open = 0
    do {
      const character = this.#text[this.#at]
      if (character === undefined) throw new NotJson()
      if (character === '"') {
        this.#string()
        continue
      }
      if (character === opening) open++
      if (character === closing) open--
      this.#at++
    } while (open > 0)
    const written = this.#text.slice(start, this.#at)
    JSON.parse(written)
    return written
  }

  #space(): void {
    const code = this.#text.charCodeAt(this.#at)
    if (code > 32) return
    SPACE.lastIndex = this.#at
    SPACE.test(this.#text)
    this.#at = SPACE.lastIndex
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #expect(word: string): string {
    if (!this.#text.startsWith(word, this.#at)) throw new NotJson()
    this.#at += word.length
    return word
  }
}
