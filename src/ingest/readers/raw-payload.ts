/**
 * The cells of a line as they came, as JSON. DuckDB makes it out of its columns, but holds a document for every line of a
 * vector: from about 130 columns on that did not fit into its memory. For files that wide we write it into the chunks,
 * and DuckDB reads only the columns that mean something.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { unreadable } from './format.ts'

const MOST_COLUMNS_IN_DUCKDB = 100

/** Chunks with so many columns have the payload as a column of its own, `raw`, before the first cell. */
export function hasRawColumn(columnCount: number): boolean {
  return columnCount > MOST_COLUMNS_IN_DUCKDB
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

export function rawText(keys: readonly string[], values: readonly string[]): string {
  return `{${keys.map((key, column) => `${JSON.stringify(key)}:${JSON.stringify(values[column] ?? '')}`).join(',')}}`
}

export async function addRawColumn(chunks: readonly string[], headers: readonly string[]): Promise<void> {
  if (!hasRawColumn(headers.length)) return
  // Within a chunk a quote is doubled.
  const names = rawKeys(headers).map((key) => doubled(`${JSON.stringify(key)}:`))
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

/** Every field of a chunk stands in quotes, a comma or a line's end behind it. */
function cellsAt(text: string, start: number, count: number): Cells | undefined {
  const values: string[] = []
  let from = start
  let at = start
  for (let field = 0; field < COLUMNS_BEFORE + count; field++) {
    let end = text.indexOf('"', at + 1)
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
    // At the very end the next character may be the quote's other half.
    if (end < 0 || end + 1 >= text.length) return undefined
    if (field === COLUMNS_BEFORE) from = at
    if (field >= COLUMNS_BEFORE) values.push(text.slice(at + 1, end))
    at = end + 2
  }
  return { values, from, next: at }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const NOT_PLAIN = /["\\\x00-\x1f]/

function jsonCell(cell: string): string {
  return NOT_PLAIN.test(cell) ? doubled(JSON.stringify(cell.replaceAll('""', '"'))) : `""${cell}""`
}

function doubled(text: string): string {
  return text.replaceAll('"', '""')
}
