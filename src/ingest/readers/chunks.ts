/**
 * Chunks: the one form in which every file reaches DuckDB. UTF-8 CSV without a header, every field quoted, `\n`
 * line ends; columns line, flaw, extra, c0 … cN-1, and the payload before c0 where they are many.
 */

import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { storableText } from '../../kernel/text.ts'
import { duckText } from '../duckdb.ts'
import { unreadable } from './format.ts'

/** What is wrong with a record before anyone looks at its values. */
export type Flaw =
  | 'too_many_fields'
  | 'too_few_fields'
  | 'unterminated_quote'
  | 'stray_quote'
  | 'other_delimiter'
  | 'repeated_header'
  | 'continued_header'
  | 'invalid_utf8'
  | 'nul_character'
  | 'line_too_long'
  | 'not_json'
  | 'repeated_name'
  | 'formula_without_value'
  | 'merged_number'

export interface ChunkRow {
  line: number
  flaw?: string
  extra?: string[]
  values: (string | null)[]
}

/** A record of 1 MiB may double when its quotes are doubled, and every field gains quotes and a comma. */
const MAX_LINE_BYTES = 8 * 1024 * 1024

/**
 * DuckDB holds what it writes for a chunk, several times over and not counted in its memory limit: chunks of long lines have
 * fewer of them (20,000 lines of 500 columns in chunks of 16 MB: 700 MB resident, of 2 MB: 300 MB).
 */
const LONG_LINE = 1024
const MAX_CHUNK_BYTES_OF_LONG_LINES = 2 * 1024 * 1024

/** Written at once: a call for every row would cost more than the row. */
const BLOCK_CHARACTERS = 256 * 1024

/** The DuckDB table function over chunks, one or many. */
export function chunkSource(chunks: string[], columnCount: number): string {
  const columns = Object.entries(columnTypes(columnCount)).map(([name, type]) => `${name}: '${type}'`)
  return [
    `read_csv([${chunks.map(duckText).join(', ')}], auto_detect = false, header = false, delim = ',', quote = '"'`,
    `escape = '"', new_line = '\\n', allow_quoted_nulls = false, strict_mode = true, parallel = false`,
    `max_line_size = ${MAX_LINE_BYTES}, buffer_size = ${MAX_LINE_BYTES}, columns = {${columns.join(', ')}})`,
  ].join(', ')
}

function columnTypes(columnCount: number): Record<string, string> {
  const types: Record<string, string> = { line: 'BIGINT', flaw: 'VARCHAR', extra: 'VARCHAR' }
  if (hasRawColumn(columnCount)) types.raw = 'VARCHAR'
  for (let column = 0; column < columnCount; column++) types[`c${column}`] = 'VARCHAR'
  return types
}

/** The same columns out of the statement's parameter: rows already held, as `rowsText` writes them. */
export function rowsSource(columnCount: number): string {
  const shape = duckText(JSON.stringify([columnTypes(columnCount)]))
  return `(SELECT unnest(from_json(CAST($1 AS VARCHAR), ${shape}), recursive := true))`
}

/** The lines of a small chunk in the same form. */
export async function chunkText(chunk: string, columnCount: number): Promise<string> {
  const text = await readFile(chunk, 'utf8')
  const names = Object.keys(columnTypes(columnCount)).map((name) => `${JSON.stringify(name)}:`)
  const records: string[] = []
  for (let at = 0; at < text.length; ) {
    const fields = fieldsAt(text, at, names.length)
    if (!fields) throw unreadable('a part of it was lost while it was read')
    records.push(`{${fields.values.map((field, place) => names[place]! + jsonField(field)).join(',')}}`)
    at = fields.next
  }
  return `[${records.join(',')}]`
}

/** Rows that someone typed, where a file's reader has not looked: for repair. */
export function rowsText(
  headers: readonly string[],
  rows: Iterable<Pick<ChunkRow, 'line' | 'values'>>,
): string {
  const keys = rawKeys(headers)
  const records: Record<string, string | number>[] = []
  for (const { line, values } of rows) {
    const cells = keys.map((_, column) => storable(values[column] ?? ''))
    const record: Record<string, string | number> = { line, flaw: flawIn(values), extra: '' }
    if (hasRawColumn(keys.length)) record.raw = rawText(keys, cells)
    for (const [column, cell] of cells.entries()) record[`c${column}`] = cell
    records.push(record)
  }
  return JSON.stringify(records)
}

/** What no text in PostgreSQL can hold, and so what nobody may type into a cell. */
export function flawIn(values: readonly (string | null)[]): Flaw | '' {
  if (values.some((value) => value?.includes('\0'))) return 'nul_character'
  return values.some((value) => value !== null && /\p{Surrogate}/u.test(value)) ? 'invalid_utf8' : ''
}

function storable(value: string): string {
  return storableText(value, '').replace(/\r\n?/g, '\n')
}

/** Exactly `columns` values: what is missing is empty. NUL, which no text in PostgreSQL can hold, is left out. */
export function chunkLine(row: ChunkRow, columns: number): string {
  let text = `"${row.line}","${row.flaw ?? ''}",${quote(row.extra?.length ? JSON.stringify(row.extra) : '')}`
  for (let column = 0; column < columns; column++) text += `,${quote(row.values[column] ?? '')}`
  return `${text}\n`
}

const NEEDS_ESCAPE = /["\r\0]/

function quote(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  return `"${text.replaceAll('\0', '').replace(/\r\n?/g, '\n').replaceAll('"', '""')}"`
}

/** Writes a file's records as chunks of a bounded number of lines; holds one block of bytes at most. */
export class ChunkWriter {
  readonly chunks: string[] = []
  /** Records written, over all chunks. */
  lines = 0
  readonly #folder: string
  readonly #perChunk: number
  #inChunk = 0
  #bytesInChunk = 0
  #file: FileHandle | undefined
  #pending: string[] = []
  #pendingSize = 0

  constructor(folder: string, perChunk: number) {
    this.#folder = folder
    this.#perChunk = perChunk
  }

  /** How many records the open chunk still takes. */
  get room(): number {
    return this.#perChunk - this.#inChunk
  }

  /** The last chunk is full, and the next not begun. */
  get isBetweenChunks(): boolean {
    return this.#file === undefined && this.lines > 0
  }

  /** Bytes that hold `records` whole records, not more than there is room for. */
  async write(bytes: Uint8Array, records: number): Promise<void> {
    if (records === 0) return
    this.#file ??= await this.#openNext()
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, at)
      at += bytesWritten
    }
    this.lines += records
    this.#inChunk += records
    this.#bytesInChunk += bytes.length
    const isHeavy = this.#bytesInChunk > Math.max(MAX_CHUNK_BYTES_OF_LONG_LINES, LONG_LINE * this.#inChunk)
    if (this.#inChunk >= this.#perChunk || isHeavy) await this.#closeFile()
  }

  /** One record's line, gathered with others before it is written. */
  async add(line: string): Promise<void> {
    this.#pending.push(line)
    this.#pendingSize += line.length
    if (this.#pendingSize > BLOCK_CHARACTERS || this.#pending.length >= this.room) await this.#writePending()
  }

  async close(): Promise<void> {
    await this.#writePending()
    await this.#closeFile()
  }

  /** After a failure: nothing stays open. What was written goes with its folder. */
  async abandon(): Promise<void> {
    this.#pending = []
    await this.#closeFile()
  }

  async #writePending(): Promise<void> {
    const lines = this.#pending
    this.#pending = []
    this.#pendingSize = 0
    await this.write(Buffer.from(lines.join('')), lines.length)
  }

  async #openNext(): Promise<FileHandle> {
    const path = join(this.#folder, `chunk-${String(this.chunks.length + 1).padStart(5, '0')}.csv`)
    this.chunks.push(path)
    this.#inChunk = 0
    return open(path, 'w')
  }

  async #closeFile(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#inChunk = 0
    this.#bytesInChunk = 0
    await file?.close()
  }
}

// The cells of a line as they came, as JSON. DuckDB makes it out of its columns, but holds a document for every line of a
// vector: from about 130 columns on that did not fit into its memory. For files that wide we write it into the chunks,
// and DuckDB reads only the columns that mean something.

const MAX_COLUMNS_IN_DUCKDB = 100

/** Chunks with so many columns have the payload as a column of its own, `raw`, before the first cell. */
export function hasRawColumn(columnCount: number): boolean {
  return columnCount > MAX_COLUMNS_IN_DUCKDB
}

/** The names of the cells: a repeated header gets ' (2)'. */
export function rawKeys(headers: readonly string[]): string[] {
  const seen = new Map<string, number>()
  const taken = new Set(headers)
  return headers.map((header) => {
    let count = (seen.get(header) ?? 0) + 1
    let key = count === 1 ? header : `${header} (${count})`
    while (count > 1 && taken.has(key)) key = `${header} (${++count})`
    seen.set(header, count)
    taken.add(key)
    return key
  })
}

function rawText(keys: readonly string[], values: readonly string[]): string {
  return `{${keys.map((key, column) => `${JSON.stringify(key)}:${JSON.stringify(values[column] ?? '')}`).join(',')}}`
}

export async function addRawColumn(chunks: readonly string[], headers: readonly string[]): Promise<void> {
  if (!hasRawColumn(headers.length)) return
  // Within a chunk a quote is doubled.
  const names = rawKeys(headers).map((key) => doubleQuotes(`${JSON.stringify(key)}:`))
  for (const chunk of chunks) {
    const wider = `${chunk}.wide`
    const text = createReadStream(chunk, { encoding: 'utf8', highWaterMark: 1 << 18 })
    await pipeline(widened(text, names), createWriteStream(wider))
    await rename(wider, chunk)
  }
}

async function* widened(blocks: AsyncIterable<string>, names: string[]): AsyncGenerator<string> {
  let unread = ''
  for await (const block of blocks) {
    unread += block
    let at = 0
    let out = ''
    for (;;) {
      const cells = cellsAt(unread, at, names.length)
      if (!cells) break
      out += `${unread.slice(at, cells.from)}"{${cells.values.map((cell, column) => names[column]! + jsonCell(cell)).join(',')}}",${unread.slice(cells.from, cells.next)}`
      at = cells.next
    }
    unread = unread.slice(at)
    if (out !== '') yield out
  }
  if (unread !== '') throw unreadable('a part of it was lost while it was read')
}

/** Line, flaw and extra come before the cells. */
const COLUMNS_BEFORE = 3

interface Cells {
  /** Quotes in them are doubled. */
  values: string[]
  from: number
  next: number
}

function cellsAt(text: string, start: number, count: number): Cells | undefined {
  const fields = fieldsAt(text, start, COLUMNS_BEFORE + count)
  if (!fields) return undefined
  const { values, starts, next } = fields
  return { values: values.slice(COLUMNS_BEFORE), from: starts[COLUMNS_BEFORE]!, next }
}

/** Every field of a chunk stands in quotes, a comma or a line's end behind it. Quotes in the values are doubled. */
function fieldsAt(
  text: string,
  start: number,
  count: number,
): { values: string[]; starts: number[]; next: number } | undefined {
  const values: string[] = []
  const starts: number[] = []
  let at = start
  for (let field = 0; field < count; field++) {
    let end = text.indexOf('"', at + 1)
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
    // At the very end the next character may be the quote's other half.
    if (end < 0 || end + 1 >= text.length) return undefined
    starts.push(at)
    values.push(text.slice(at + 1, end))
    at = end + 2
  }
  return { values, starts, next: at }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const NOT_PLAIN = /["\\\x00-\x1f]/

function jsonCell(cell: string): string {
  return doubleQuotes(jsonField(cell))
}

function jsonField(field: string): string {
  return NOT_PLAIN.test(field) ? JSON.stringify(field.replaceAll('""', '"')) : `"${field}"`
}

function doubleQuotes(text: string): string {
  return text.replaceAll('"', '""')
}
