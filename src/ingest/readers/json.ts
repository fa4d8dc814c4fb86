/**
 * JSON lines and JSON arrays as chunks. Read twice: a name that only the last record has is a column of all, so the
 * columns are known when the first row is written.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { StagedoorError } from '../../errors.ts'
import { type ChunkRow, ChunkWriter, chunkLine, type Flaw } from './chunks.ts'
import { SHOWN_CHARACTERS } from './csv-record.ts'
import { type FoundEncoding, findEncoding, requireUtf8, utf8Buffers } from './encoding.ts'
import { unreadable } from './format.ts'
import { MOST_COLUMNS } from './header.ts'
import { findEnvelope } from './json-envelope.ts'
import { flattenJson } from './json-record.ts'
import { ElementSplitter, type JsonSplitter, LineSplitter, type RawRecord } from './json-split.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './reading.ts'

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
      for (const record of records) await writer.add(chunkLine(rowOf(record, headers), headers.length))
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
      const values = record.tooLong ? undefined : flattenJson(record.bytes.toString())
      for (const name of values?.keys() ?? []) names.add(name)
    }
    if (names.size > MOST_COLUMNS) {
      throw unreadable(`its objects have more than ${MOST_COLUMNS} different names: are some of them values?`)
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

function rowOf(record: RawRecord, headers: string[]): ChunkRow {
  const text = record.bytes.toString()
  const values = record.tooLong ? undefined : flattenJson(text)
  if (!values) {
    const flaw: Flaw = record.tooLong ? 'line_too_long' : 'not_json'
    return { line: record.line, flaw, extra: [text.trim().slice(0, SHOWN_CHARACTERS)], values: [] }
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
