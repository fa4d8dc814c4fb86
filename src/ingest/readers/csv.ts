/** A CSV file as chunks: found out in its first megabyte, then read once from the start, one buffer at a time. */
import { type FileHandle, open } from 'node:fs/promises'
import { StagedoorError } from '../../errors.ts'
import { ChunkWriter } from './chunks.ts'
import { type Dialect, findDialect } from './csv-dialect.ts'
import { LONGEST_RECORD, QUOTE } from './csv-record.ts'
import { CsvScanner, type CsvShape, type Seen } from './csv-scanner.ts'
import { type FoundEncoding, findEncoding, requireUtf8, utf8Buffers, utf8Evidence } from './encoding.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './reading.ts'

const SAMPLE_BYTES = LONGEST_RECORD + 1
const BUFFER_BYTES = 256 * 1024

/** `bufferBytes` is for tests: small buffers end in awkward places. */
export async function normaliseCsv(
  path: string,
  folder: string,
  options: ReadOptions & { bufferBytes?: number },
): Promise<NormalisedFile> {
  if (options.delimiter !== undefined && !/^[\t\x20-\x7e]$/.test(options.delimiter)) {
    throw new StagedoorError('argument_invalid', { reason: 'The delimiter must be one ASCII character' })
  }
  const file = await open(path, 'r')
  try {
    const found = findEncoding(await readStart(file), options.encoding)
    const { sample, whole } = await readSample(utf8Buffers(file, found, BUFFER_BYTES))
    await requireUtf8(file, found, utf8Evidence(sample))
    const dialect = findDialect(sample, whole, options)
    const { headers, evidence } = dialect
    const shape = { ...dialect, headers, evidence }
    const read = (asShape: CsvShape) => readRecords(file, found, folder, dialect, asShape, options)
    let { scanner, chunks, lines } = await read(shape)
    // Quotes were text as long as no value stood in quotes. One did, further down: then they may not be.
    if (!evidence.quotes && scanner.counts.quotedFields && scanner.counts.bareQuotes.count > 0)
      ({ scanner, chunks, lines } = await read({ ...shape, evidence: { ...evidence, quotes: true } }))
    await requireUtf8(file, found, scanner.counts.utf8)
    if (lines === 0) throw new StagedoorError('file_has_no_rows')
    return {
      format: 'csv',
      encoding: found.name,
      delimiter: String.fromCharCode(dialect.delimiter),
      preamble: dialect.preamble,
      headerLine: dialect.headerLine,
      headers,
      lines,
      chunks,
      notes: [...dialect.notes, ...notesOf(scanner, dialect)],
    }
  } finally {
    await file.close()
  }
}

async function readRecords(
  file: FileHandle,
  found: FoundEncoding,
  folder: string,
  dialect: Dialect,
  shape: CsvShape,
  options: ReadOptions & { bufferBytes?: number },
): Promise<{ scanner: CsvScanner; chunks: string[]; lines: number }> {
  const total = (await file.stat()).size
  // Small enough that the two sessions that copy them end at about the same time.
  const writer = new ChunkWriter(folder, options.chunkLines ?? 10_000)
  const bufferBytes = options.bufferBytes ?? BUFFER_BYTES
  const scanner = new CsvScanner(shape, 4 * bufferBytes)
  scanner.line = dialect.dataLine
  let passOver = dialect.dataFrom
  try {
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
  } finally {
    await writer.abandon()
  }
  return { scanner, chunks: writer.chunks, lines: writer.lines }
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

function notesOf({ counts }: CsvScanner, { quote }: Dialect): FileNote[] {
  const notes: FileNote[] = []
  const add = (rule: string, message: string, { count, line }: Partial<Seen>) => {
    if (count) notes.push({ rule, message, count, ...(line && { line }) })
  }
  add('file.blank_rows', 'Rows without a single value were passed over', { count: counts.blankRows })
  add(
    'file.spaced_quotes',
    'Values stand in quotes behind a blank; the blank and the quotes were left out',
    counts.spacedQuotes,
  )
  add(
    'file.other_quotes',
    'Values stand in quotes of another kind, which were kept as part of the value',
    counts.enclosedOtherwise,
  )
  add(
    'file.quotes_as_text',
    'Values have quotes inside and none around them; the quotes were kept as text',
    counts.bareQuotes,
  )
  add(
    'file.first_column_only',
    'Lines have a value in the first column only: check whether they are titles or footnotes',
    counts.onlyFirst,
  )
  if (counts.lf > 0)
    add(
      'file.mixed_line_ends',
      'Lines end with a carriage return alone while others end with a line feed: check that it does not stand within a value',
      counts.crAlone,
    )
  add(
    'file.encoding',
    'Some lines have bytes that are no text in the file’s encoding, while others are as they should be',
    { count: counts.utf8.invalid },
  )
  if (quote !== QUOTE)
    notes.push({
      rule: 'file.quote_character',
      message: `The file’s quotes are ${String.fromCharCode(quote)}; they were read as quotes`,
    })
  return notes
}
