/**
 * Chunks: the one form in which every file reaches DuckDB. UTF-8 CSV without a header, every field quoted, `\n`
 * line ends; columns line, flaw, extra, c0 … cN-1, and the payload before c0 where they are many.
 */
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { duckText } from '../duckdb.ts'
import { addRawColumn, hasRawColumn, rawKeys, rawText } from './raw-payload.ts'

/** What is wrong with a record before anyone looks at its values. */
export type Flaw =
  | 'too_many_fields'
  | 'too_few_fields'
  | 'unterminated_quote'
  | 'stray_quote'
  | 'other_delimiter'
  | 'repeated_header'
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
const LONGEST_LINE = 8 * 1024 * 1024

/**
 * DuckDB holds what it writes for a chunk, several times over and beside its memory limit: chunks of long lines have
 * fewer of them (20,000 lines of 500 columns in chunks of 16 MB: 700 MB resident, of 2 MB: 300 MB).
 */
const LONG_LINE = 1024
const MOST_BYTES_OF_LONG_LINES = 2 * 1024 * 1024

/** Written at once: a call for every row would cost more than the row. */
const BLOCK_CHARACTERS = 256 * 1024

/** The DuckDB table function over chunks, one or many. */
export function chunkSource(chunks: string[], columnCount: number): string {
  const columns = Object.entries(columnTypes(columnCount)).map(([name, type]) => `${name}: '${type}'`)
  return [
    `read_csv([${chunks.map(duckText).join(', ')}], auto_detect = false, header = false, delim = ',', quote = '"'`,
    `escape = '"', new_line = '\\n', allow_quoted_nulls = false, strict_mode = true, parallel = false`,
    `max_line_size = ${LONGEST_LINE}, buffer_size = ${LONGEST_LINE}, columns = {${columns.join(', ')}})`,
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
  return value
    .replaceAll('\0', '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\r\n?/g, '\n')
}

/** One chunk from rows already held. */
export async function writeChunk(path: string, headers: string[], rows: Iterable<ChunkRow>): Promise<void> {
  await writeFile(path, blocksOf(rows, headers.length))
  await addRawColumn([path], headers)
}

function* blocksOf(rows: Iterable<ChunkRow>, columns: number): Generator<string> {
  let block = ''
  for (const row of rows) {
    block += chunkLine(row, columns)
    if (block.length < BLOCK_CHARACTERS) continue
    yield block
    block = ''
  }
  yield block
}

/** Exactly `columns` values: what is missing is empty. NUL, which no text in PostgreSQL can hold, is left out. */
export function chunkLine(row: ChunkRow, columns: number): string {
  let text = `"${row.line}","${row.flaw ?? ''}",${quoted(row.extra?.length ? JSON.stringify(row.extra) : '')}`
  for (let column = 0; column < columns; column++) text += `,${quoted(row.values[column] ?? '')}`
  return `${text}\n`
}

const TROUBLE = /["\r\0]/

function quoted(text: string): string {
  if (!TROUBLE.test(text)) return `"${text}"`
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
    const isHeavy = this.#bytesInChunk > Math.max(MOST_BYTES_OF_LONG_LINES, LONG_LINE * this.#inChunk)
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
