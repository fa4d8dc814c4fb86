/** A CSV file as chunks: found out in its first megabyte, then read once from the start, one buffer at a time. */

import { isAscii, isUtf8 } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { StagedoorError } from '../../kernel/errors.ts'
import { ChunkWriter, chunkLine, type Flaw } from './chunks.ts'
import {
  type CsvEvidence,
  contradictingFlaw,
  countOtherQuotes,
  type Dialect,
  findDialect,
  hasOnlyFirst,
} from './csv-dialect.ts'
import {
  BACKSLASH,
  CR,
  type CsvRecord,
  LF,
  MAX_RECORD_BYTES,
  type Marks,
  QUOTE,
  readCsvRecord,
} from './csv-record.ts'
import {
  type FoundEncoding,
  findEncoding,
  requireUtf8,
  type Utf8Evidence,
  utf8Buffers,
  utf8Evidence,
} from './encoding.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './format.ts'

const SAMPLE_BYTES = MAX_RECORD_BYTES + 1
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
    const read = (shape: CsvShape) => readRecords({ file, found, folder, dialect, shape, options })
    let { scanner, chunks, lines, head } = await read(shape)
    // Quotes were text as long as no value stood in quotes. One did, further down: then they may not be.
    if (!evidence.quotes && scanner.counts.quotedFields && scanner.counts.bareQuotes.count > 0)
      ({ scanner, chunks, lines, head } = await read({ ...shape, evidence: { ...evidence, quotes: true } }))
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
      // Of another encoding the bytes that were read are not those of the file.
      ...(head && found.encoding === 'utf-8' && { head: { ...head, bytes: found.markLength + head.bytes } }),
      notes: [...dialect.notes, ...notesOf(scanner, dialect)],
    }
  } finally {
    await file.close()
  }
}

async function readRecords(request: {
  file: FileHandle
  found: FoundEncoding
  folder: string
  dialect: Dialect
  shape: CsvShape
  options: ReadOptions & { bufferBytes?: number }
}): Promise<{ scanner: CsvScanner; chunks: string[]; lines: number; head: NormalisedFile['head'] }> {
  const { file, found, folder, dialect, shape, options } = request
  const total = (await file.stat()).size
  // Small enough that the two sessions that copy them end at about the same time.
  const writer = new ChunkWriter(folder, options.chunkLines ?? 10_000)
  const bufferBytes = options.bufferBytes ?? BUFFER_BYTES
  const scanner = new CsvScanner(shape, 4 * bufferBytes)
  scanner.line = dialect.dataLine
  let passOver = dialect.dataFrom
  let taken = 0
  let head: NormalisedFile['head']
  const onWritten = (): void => {
    if (head !== undefined || !writer.isBetweenChunks || !scanner.isBetweenLines) return
    head = { bytes: taken - (scanner.end - scanner.from), lines: writer.lines }
  }
  try {
    for await (const { bytes, position } of utf8Buffers(file, found, bufferBytes)) {
      options.signal?.throwIfAborted()
      const passed = Math.min(passOver, bytes.length)
      passOver -= passed
      taken += bytes.length
      append(scanner, bytes.subarray(passed))
      await drain(scanner, writer, onWritten, options.maxLines)
      options.onProgress?.({ bytes: position, total, lines: writer.lines })
    }
    scanner.last = true
    append(scanner, Buffer.alloc(0))
    await drain(scanner, writer, onWritten, options.maxLines)
    await writer.close()
  } finally {
    await writer.abandon()
  }
  return { scanner, chunks: writer.chunks, lines: writer.lines, head }
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
  scanner.onRefill()
}

/** Reads every whole record of the window and writes it. */
async function drain(
  scanner: CsvScanner,
  writer: ChunkWriter,
  onWritten: () => void,
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
      onWritten()
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

// The quick way from CSV bytes to chunk bytes: regular records are copied byte by byte without a string being made,
// everything else goes to `csv-record.ts`. Works on a window of the file that holds at least one whole record.

interface CsvShape extends Marks {
  headers: readonly string[]
  /** Empty fields behind the last column that a file has in every line, by its habit. */
  surplusBlanks: number
  evidence: CsvEvidence
}

/** Of something that is no flaw and yet worth a word: how often, and where first. */
interface Seen {
  count: number
  line: number
}

interface CsvCounts {
  blankRows: number
  /** Records with characters beyond ASCII. */
  utf8: Utf8Evidence
  spacedQuotes: Seen
  enclosedOtherwise: Seen
  onlyFirst: Seen
  /** Records that a CR alone ends, and those with an LF. */
  crAlone: Seen
  lf: number
  /** Values that have quotes inside and do not stand in quotes. */
  bareQuotes: Seen
  quotedFields: boolean
}

/** `more` bytes are needed, the output is `full`, or the `limit` of records is reached. */
type Stop = 'more' | 'full' | 'limit'

/** Surplus fields of one record that are shown. */
const MAX_EXTRA_FIELDS = 100

/** How many records a window counts for that is UTF-8 throughout. */
const VALID_WINDOW = 1000

const COMMA = 44
const DIGIT_0 = 48

/** What stops a run of plain bytes, in a bare field and in a quoted one. */
const PLAIN = 0
const STOPS = 1
/** A delimiter of other files: counted, and otherwise plain. */
const OTHER_DELIMITER = 2

/** Begins a value in quotes of another kind: ' and `, and the first bytes of “ and «. */
const SUSPECT_BEGINNINGS = [39, 96, 0xe2, 0xc2]

class CsvScanner {
  /** Bytes from `from` to `end` are unread; behind `end` there is room for one more, which stops every run. */
  bytes: Buffer = Buffer.allocUnsafe(1)
  from = 0
  end = 0
  last = false
  output: Buffer
  written = 0
  records = 0
  line = 1
  readonly counts: CsvCounts = {
    blankRows: 0,
    utf8: { valid: 0, invalid: 0 },
    spacedQuotes: { count: 0, line: 0 },
    enclosedOtherwise: { count: 0, line: 0 },
    onlyFirst: { count: 0, line: 0 },
    crAlone: { count: 0, line: 0 },
    lf: 0,
    bareQuotes: { count: 0, line: 0 },
    quotedFields: false,
  }
  readonly #shape: CsvShape
  readonly #columns: number
  /** The header as a record of a chunk, behind its line. */
  readonly #header: Buffer
  readonly #lastHeaderLine: number
  readonly #suspectBeginning = new Uint8Array(256)
  readonly #stopsBare = new Uint8Array(256)
  readonly #stopsQuoted = new Uint8Array(256)
  /** The window as a whole is UTF-8: no record of it has to be looked at. */
  #valid = false
  /** Behind a record that was too long: everything up to the line's end is passed over. */
  #skipping = false

  constructor(shape: CsvShape, outputSize: number) {
    this.#shape = shape
    this.#columns = shape.headers.length
    this.#header = Buffer.from(chunkLine({ line: 0, values: [...shape.headers] }, this.#columns).slice(10))
    this.#lastHeaderLine = Math.max(0, ...shape.evidence.headerLines)
    this.output = Buffer.allocUnsafe(outputSize)
    const { delimiter, quote, escapedBy, evidence } = shape
    for (const other of evidence.otherDelimiters) this.#stopsBare[other.charCodeAt(0)] = OTHER_DELIMITER
    for (const byte of [delimiter, CR, LF, quote, QUOTE, 0]) this.#stopsBare[byte] = STOPS
    for (const byte of [CR, LF, quote, QUOTE, 0]) this.#stopsQuoted[byte] = STOPS
    if (escapedBy === BACKSLASH) this.#stopsQuoted[BACKSLASH] = STOPS
    for (const byte of SUSPECT_BEGINNINGS) this.#suspectBeginning[byte] = byte === quote ? 0 : 1
  }

  /** A record ended with the last byte that was read, and its line as well. */
  get isBetweenLines(): boolean {
    return this.from > 0 && this.bytes[this.from - 1] === LF && !this.#skipping
  }

  /** Tells the scanner that its window changed. */
  onRefill(): void {
    this.bytes[this.end] = LF
    let whole = this.end
    // A character that the window cuts belongs to a record that it cuts, too.
    for (let back = 0; !this.last && back < 3 && whole > this.from; back++) {
      const byte = this.bytes[whole - 1]!
      if (byte < 0x80) break
      whole--
      if (byte >= 0xc0) break
    }
    const window = this.bytes.subarray(this.from, whole)
    this.#valid = isUtf8(window)
    // A whole window says more than any line: its records are not looked at one by one.
    if (this.#valid && !isAscii(window)) this.counts.utf8.valid += VALID_WINDOW
  }

  /** Reads records until something is missing; `limit` is how many more the open chunk takes. */
  scan(limit: number): Stop {
    for (let left = limit; left > 0; ) {
      if (this.#skipping && !this.#skipLine()) return 'more'
      if (this.from >= this.end) return 'more'
      const before = this.records
      let stop = this.#regular()
      if (stop === undefined || (stop === 'more' && this.end - this.from > MAX_RECORD_BYTES))
        stop = this.#irregular()
      if (stop === 'more' || stop === 'full') return stop
      left -= this.records - before
    }
    return 'limit'
  }

  /** Copies one record; `undefined` if it is not a regular one. What was written of it is forgotten then. */
  #regular(): Stop | 'done' | undefined {
    const { bytes, end, last, output } = this
    const { delimiter, quote, surplusBlanks, evidence } = this.#shape
    const columns = this.#columns
    if (this.line <= this.#lastHeaderLine) return undefined
    const stopsBare = this.#stopsBare
    const stopsQuoted = this.#stopsQuoted
    let at = this.from
    let to = this.#writeLine(this.written)
    const start = to
    let behindFirst = 0
    let behindColumns = 0
    let behindLast = to
    let fields = 0
    let lines = 1
    let others = 0
    let bare = true
    for (;;) {
      behindLast = to
      output[to++] = QUOTE
      let byte = bytes[at]!
      if (byte === quote) {
        bare = false
        at++
        for (;;) {
          byte = bytes[at]!
          while (stopsQuoted[byte] === PLAIN) {
            output[to++] = byte
            byte = bytes[++at]!
          }
          if (at >= end) return last ? undefined : 'more'
          if (byte === quote) {
            if (bytes[++at] !== quote) break
            output[to++] = quote
            if (quote === QUOTE) output[to++] = QUOTE
            at++
          } else if (byte === QUOTE) {
            output[to++] = QUOTE
            output[to++] = QUOTE
            at++
          } else if (byte === 0 || byte === BACKSLASH) return undefined
          else {
            if (byte === CR && bytes[at + 1] === LF) {
              // The stopper behind the end looks like the other half of a CRLF.
              if (at + 1 >= end) return last ? undefined : 'more'
              at++
            }
            output[to++] = LF
            at++
            // Long quoted fields are rare and may be a forgotten quote.
            if (++lines > 20) return undefined
          }
        }
        byte = bytes[at]!
        if (at < end && byte !== delimiter && byte !== LF && byte !== CR) return undefined
      } else {
        if (this.#suspectBeginning[byte] === 1) return undefined
        for (;;) {
          while (stopsBare[byte] === PLAIN) {
            output[to++] = byte
            byte = bytes[++at]!
          }
          if (stopsBare[byte] !== OTHER_DELIMITER) break
          others++
          output[to++] = byte
          byte = bytes[++at]!
        }
        // What a quote within a bare value means is seen with the whole record at hand.
        if (byte === 0 || byte === quote || byte === QUOTE) return undefined
      }
      output[to++] = QUOTE
      fields++
      if (fields === 1) behindFirst = to
      if (fields === columns) behindColumns = to
      if (at >= end) {
        if (!last) return 'more'
        break
      }
      if (byte !== delimiter) break
      output[to++] = COMMA
      at++
    }
    if (at < end && bytes[at++] === CR && bytes[at] === LF) {
      if (at < end) at++
      else if (!last) return 'more'
    }
    if (at - this.from > MAX_RECORD_BYTES) return undefined
    if (!this.#valid) {
      const record = bytes.subarray(this.from, at)
      if (!isUtf8(record)) return undefined
      if (!isAscii(record)) this.counts.utf8.valid++
    }
    if (bare && to - start === fields * 3 - 1) {
      if (fields > 1) this.counts.blankRows++
    } else {
      const surplus = fields - columns
      if (surplus < 0 || surplus > surplusBlanks || to - behindColumns !== surplus * 3) return undefined
      // Fewer empty fields at the end than the other lines have: values may have moved into their place.
      if (surplus < surplusBlanks && (to - behindLast === 2 || others > 0)) return undefined
      if (others > 0 && others >= columns - 1) return undefined
      if (evidence.filled && behindColumns - behindFirst === 3 * (columns - 1)) return undefined
      to = behindColumns
      output[to++] = LF
      if (to - start === this.#header.length && this.#header.equals(output.subarray(start, to)))
        return undefined
      // Writing behind the end of the output is without effect: the record is copied again when there is room.
      if (to > output.length) return 'full'
      this.written = to
      this.records++
    }
    if (!bare) this.counts.quotedFields = true
    this.#countLineEnd(at)
    this.from = at
    this.line += lines
    return 'done'
  }

  #irregular(): Stop | 'done' {
    const { bytes, from, end, last } = this
    const { delimiter, quote, escapedBy } = this.#shape
    const record = readCsvRecord({ bytes, from, end, last, delimiter, quote, escapedBy })
    if (!record) return 'more'
    const blank = record.bare && !record.flaw && record.fields.every((field) => field.trim() === '')
    if (blank) {
      if (record.fields.length > 1) this.counts.blankRows++
    } else {
      const row = { line: this.line, ...this.#fitToColumns(record) }
      const length = this.output.write(chunkLine(row, this.#columns), this.written)
      // Cut off, or just enough room: in both cases there is more of it behind a flush.
      if (this.written + length + 3 >= this.output.length) return 'full'
      this.written += length
      this.records++
      if (record.flaw === 'invalid_utf8') this.counts.utf8.invalid++
      if (row.flaw === '') this.#count(record)
    }
    this.#countLineEnd(record.next)
    this.from = record.next
    this.line += record.lines
    this.#skipping = record.unfinished === true
    return 'done'
  }

  #fitToColumns(record: CsvRecord): { flaw: Flaw | ''; extra: string[]; values: string[] } {
    const { fields, flaw } = record
    const { surplusBlanks, headers, evidence } = this.#shape
    const columns = this.#columns
    const extra = fields.slice(columns, columns + MAX_EXTRA_FIELDS)
    const isHabit = extra.length <= surplusBlanks && extra.every((field) => field === '')
    const isShort = fields.length < columns + surplusBlanks && /^$|[\t;|,]$/.test(fields.at(-1)!)
    // Where fields are missing or too many, values stand in wrong columns: worse than a broken character.
    const ofWidth =
      fields.length < columns || (isHabit && isShort)
        ? 'too_few_fields'
        : extra.length > 0 && !isHabit
          ? 'too_many_fields'
          : ''
    const ofText = flaw === 'invalid_utf8' || flaw === 'nul_character'
    const ofHeader = headers.every((name, at) => name === fields[at]?.trim())
      ? 'repeated_header'
      : evidence.headerLines.includes(this.line) && 'continued_header'
    const ofRecord = ofHeader || contradictingFlaw(record, evidence, this.#marks)
    return {
      flaw: flaw && !ofText ? flaw : ofWidth || ofRecord || flaw || '',
      extra: isHabit ? [] : extra,
      values: fields,
    }
  }

  get #marks(): { delimiter: string; quote: string } {
    const { delimiter, quote } = this.#shape
    return { delimiter: String.fromCharCode(delimiter), quote: String.fromCharCode(quote) }
  }

  /** What a record without a flaw leaves to be said about the file. */
  #count(record: CsvRecord): void {
    const { counts } = this
    const { evidence } = this.#shape
    this.#addSeen(counts.spacedQuotes, record.spacedQuotes)
    this.#addSeen(counts.enclosedOtherwise, countOtherQuotes(record, this.#marks.quote))
    if (evidence.filled && hasOnlyFirst(record.fields)) this.#addSeen(counts.onlyFirst, 1)
    if (!record.bare) counts.quotedFields = true
    const bare = record.fields.filter((field, column) => !record.inQuotes[column] && field.includes('"'))
    this.#addSeen(counts.bareQuotes, bare.length)
  }

  #addSeen(seen: Seen, times: number): void {
    if (times === 0) return
    if (seen.count === 0) seen.line = this.line
    seen.count += times
  }

  #countLineEnd(next: number): void {
    const end = this.bytes[next - 1]
    if (end === LF) this.counts.lf++
    else if (end === CR) this.#addSeen(this.counts.crAlone, 1)
  }

  /** False if the line goes on behind the window. */
  #skipLine(): boolean {
    const { bytes, end, last } = this
    let at = this.from
    while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++
    this.from = at
    if (at >= end) return false
    if (bytes[at] === CR && at + 1 >= end && !last) return false
    this.from += bytes[at] === CR && at + 1 < end && bytes[at + 1] === LF ? 2 : 1
    this.line++
    this.#skipping = false
    return true
  }

  /** `"<line>","","",` by hand: a number as a string for every record would cost as much as the record. */
  #writeLine(from: number): number {
    const { output } = this
    let digits = 1
    for (let rest = this.line; rest >= 10; rest = Math.floor(rest / 10)) digits++
    let to = from
    output[to++] = QUOTE
    let rest = this.line
    for (let digit = digits - 1; digit >= 0; digit--) {
      const tenth = Math.floor(rest / 10)
      output[to + digit] = DIGIT_0 + rest - tenth * 10
      rest = tenth
    }
    to += digits
    output[to++] = QUOTE
    output[to++] = COMMA
    for (let column = 0; column < 2; column++) {
      output[to++] = QUOTE
      output[to++] = QUOTE
      output[to++] = COMMA
    }
    return to
  }
}
