/** A CSV file as chunks: found out in its first megabyte, then read once from the start, one buffer at a time. */
import { type FileHandle, open } from 'node:fs/promises'
import { StagedoorError } from '../../errors.ts'
import { ChunkWriter } from './chunks.ts'
import { findDialect } from './csv-dialect.ts'
import { LONGEST_RECORD } from './csv-record.ts'
import { CsvScanner } from './csv-scanner.ts'
import { findEncoding, utf8Buffers } from './encoding.ts'
import { unreadable } from './format.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './reading.ts'

const SAMPLE_BYTES = LONGEST_RECORD + 1
const BUFFER_BYTES = 256 * 1024

/** `bufferBytes` is for tests: small buffers end in awkward places. */
export async function normaliseCsv(
  path: string,
  folder: string,
  options: ReadOptions & { bufferBytes?: number },
): Promise<NormalisedFile> {
  const file = await open(path, 'r')
  // Small enough that the two sessions that copy them end at about the same time.
  const writer = new ChunkWriter(folder, options.chunkLines ?? 10_000)
  try {
    return await normalise(file, writer, options)
  } finally {
    await writer.abandon()
    await file.close()
  }
}

async function normalise(
  file: FileHandle,
  writer: ChunkWriter,
  options: ReadOptions & { bufferBytes?: number },
): Promise<NormalisedFile> {
  const total = (await file.stat()).size
  const found = findEncoding(await readStart(file), options.encoding)
  const { sample, whole } = await readSample(utf8Buffers(file, found, BUFFER_BYTES))
  if (options.delimiter !== undefined && !/^[\t\x20-\x7e]$/.test(options.delimiter)) {
    throw new StagedoorError('argument_invalid', { reason: 'The delimiter must be one ASCII character' })
  }
  const dialect = findDialect(sample, whole, options)
  if (!dialect) throw unreadable('no line of it could be a header')

  const shape = {
    delimiter: dialect.delimiter.charCodeAt(0),
    columns: dialect.headers.length,
    surplusBlanks: dialect.surplusBlanks,
  }
  const bufferBytes = options.bufferBytes ?? BUFFER_BYTES
  const scanner = new CsvScanner(shape, 4 * bufferBytes)
  scanner.line = dialect.dataLine
  let passOver = dialect.dataFrom
  for await (const { bytes, position } of utf8Buffers(file, found, bufferBytes)) {
    options.signal?.throwIfAborted()
    const passed = Math.min(passOver, bytes.length)
    passOver -= passed
    append(scanner, bytes.subarray(passed))
    await drain(scanner, writer, options.maxLines)
    options.onProgress?.({ bytes: position, total, lines: writer.lines })
  }
  scanner.last = true
  append(scanner, Buffer.alloc(0))
  await drain(scanner, writer, options.maxLines)
  await writer.close()
  if (writer.lines === 0) throw new StagedoorError('file_has_no_rows')

  return {
    format: 'csv',
    encoding: found.name,
    delimiter: dialect.delimiter,
    preamble: dialect.preamble,
    headerLine: dialect.headerLine,
    headers: dialect.headers,
    lines: writer.lines,
    chunks: writer.chunks,
    notes: notesOf(scanner),
  }
}

async function readStart(file: FileHandle): Promise<Buffer> {
  const start = Buffer.alloc(4096)
  const { bytesRead } = await file.read(start, 0, start.length, 0)
  return start.subarray(0, bytesRead)
}

async function readSample(
  buffers: AsyncIterable<{ bytes: Buffer }>,
): Promise<{ sample: Buffer; whole: boolean }> {
  const parts: Buffer[] = []
  let length = 0
  for await (const { bytes } of buffers) {
    parts.push(Buffer.from(bytes))
    length += bytes.length
    if (length >= SAMPLE_BYTES) return { sample: Buffer.concat(parts), whole: false }
  }
  return { sample: Buffer.concat(parts), whole: true }
}

/** Moves what is unread to the front of the window and puts the new bytes behind it. */
function append(scanner: CsvScanner, bytes: Uint8Array): void {
  const unread = scanner.end - scanner.from
  const needed = unread + bytes.length + 1
  if (needed > scanner.bytes.length) {
    const larger = Buffer.allocUnsafe(2 * needed)
    scanner.bytes.copy(larger, 0, scanner.from, scanner.end)
    scanner.bytes = larger
  } else scanner.bytes.copyWithin(0, scanner.from, scanner.end)
  scanner.bytes.set(bytes, unread)
  scanner.from = 0
  scanner.end = unread + bytes.length
  scanner.refilled()
}

/** Reads every whole record of the window and writes it. */
async function drain(
  scanner: CsvScanner,
  writer: ChunkWriter,
  maxLines = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (;;) {
    const stop = scanner.scan(writer.room - scanner.records)
    if (writer.lines + scanner.records > maxLines) {
      throw new StagedoorError('upload_too_many_lines', { limit: maxLines })
    }
    if (stop === 'full' && scanner.written === 0)
      scanner.output = Buffer.allocUnsafe(2 * scanner.output.length)
    else {
      await writer.write(scanner.output.subarray(0, scanner.written), scanner.records)
      scanner.written = 0
      scanner.records = 0
    }
    if (stop === 'more') return
  }
}

function notesOf(scanner: CsvScanner): FileNote[] {
  const notes: FileNote[] = []
  const { blankRows, invalidUtf8 } = scanner.counts
  if (blankRows > 0) {
    notes.push({
      rule: 'file.blank_rows',
      message: 'Rows without a single value were passed over',
      count: blankRows,
    })
  }
  if (invalidUtf8 > 0) {
    notes.push({
      rule: 'file.encoding',
      message:
        'Some lines are not valid UTF-8. If the file comes from an older Windows program, upload it again with the encoding windows-1252',
      count: invalidUtf8,
    })
  }
  return notes
}
