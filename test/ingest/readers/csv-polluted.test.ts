/**
 * Polluted files in the manner of the Pollock benchmark: well-formed tables, each spoilt in one way at one place, whose
 * truth is known. None may be read silently wrong: every line is read exactly, or is flagged, or the file is refused.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { normaliseFile } from '../../../src/ingest/readers/normalise.ts'
import { StagedoorError } from '../../../src/kernel/errors.ts'
import { cases } from '../../support/length.ts'
import type { TestOptions } from './read-back.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stagedoor-polluted-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Table {
  name: string
  header: string[]
  rows: string[][]
  quoteAll: boolean
  trailingDelimiter: boolean
}

interface Polluted {
  name: string
  content: string | Buffer
  rows: string[][]
  header: string[]
  /** Rows that the pollution may spoil; all others must be read. */
  touched: number[] | 'all'
  options?: TestOptions
}

const HEADER = ['Order date', 'Item', 'Description', 'Price', 'Quantity', 'Comment']
const ROWS = [
  ['28/01/2026', 'Boots', 'Waterproof, light', '74.69', '2', 'sent'],
  ['29/01/2026', "Men's jacket", 'The next level of protection', '29.81', '0', ''],
  ['30/01/2026', 'Fly rod 8 wt', 'Crisp action, 9" long, for her', '80.08', '1', 'sent, paid'],
  ['31/01/2026', 'Table, round 48"', 'Durable', '78.07', '4', 'paid'],
  ['13/02/2026', 'Pillow', 'Wooden paddles; blue', '48.00', '9', ''],
  ['14/02/2026', 'Socks | two', 'Merino wool', '13.52', '3', 'open'],
  ['15/02/2026', 'Lamp, stripe', '', '65.13', '1', 'sent'],
]
const plain = { header: HEADER, rows: ROWS, quoteAll: false, trailingDelimiter: false }
const TABLES: Table[] = [
  { name: 'quotes where needed', ...plain },
  { name: 'quotes everywhere', ...plain, quoteAll: true },
  {
    name: 'last column empty',
    ...plain,
    rows: ROWS.map((row) => [...row.slice(0, 5), '']),
  },
  { name: 'delimiter at line ends', ...plain, trailingDelimiter: true },
  {
    name: 'without quotes',
    ...plain,
    rows: ROWS.map((row) => row.map((cell) => cell.replace(/[,"]/g, ''))),
  },
  {
    name: 'two columns',
    ...plain,
    header: ['Item', 'Price'],
    rows: ROWS.map((row) => [row[1]!, row[3]!.replace('.', ',')]),
  },
  {
    // No column has numbers or dates that would tell a header from values.
    name: 'texts only',
    ...plain,
    header: ['Name', 'City', 'Remark'],
    rows: ROWS.map((row, index) => [row[1]!, ['Rome', 'Paris, north', 'Oslo'][index % 3]!, row[2]!]),
  },
]

interface Style {
  delimiter: string
  open: string
  close: string
  escape: string
  lineEnd: string
}
const STYLE: Style = { delimiter: ',', open: '"', close: '"', escape: '"', lineEnd: '\n' }

function cellText(cell: string, table: Table, style: Style): string {
  const { delimiter, open, close } = style
  if (!table.quoteAll && !cell.includes(delimiter) && !cell.includes(open) && !/["\r\n]/.test(cell))
    return cell
  return open + cell.replaceAll(close, style.escape + close) + close
}

/** Cells as they are written, by line: the header first. */
function cellsOf(table: Table, style = STYLE): string[][] {
  const lines = [table.header, ...table.rows].map((row) => row.map((cell) => cellText(cell, table, style)))
  return table.trailingDelimiter ? lines.map((line) => [...line, '']) : lines
}

function textOf(lines: string[][], style = STYLE): string {
  return lines.map((line) => line.join(style.delimiter) + style.lineEnd).join('')
}

/** One line, one column: what happened to Pollock's rows. */
const AT_A_PLACE: Record<string, (cells: string[], column: number) => string | undefined> = {
  'a delimiter more': (cells, column) => cells.toSpliced(column, 0, '').join(','),
  'a delimiter less': (cells, column) =>
    column === 0
      ? undefined
      : [...cells.slice(0, column - 1), cells[column - 1]! + cells[column]!, ...cells.slice(column + 1)].join(
          ',',
        ),
  'a quote before the cell': (cells, column) => cells.with(column, `"${cells[column]}`).join(','),
  'a quote behind the cell': (cells, column) => cells.with(column, `${cells[column]}"`).join(','),
  'the opening quote lost': (cells, column) =>
    cells[column]!.startsWith('"') ? cells.with(column, cells[column]!.slice(1)).join(',') : undefined,
  'the closing quote lost': (cells, column) =>
    cells[column]!.endsWith('"') ? cells.with(column, cells[column]!.slice(0, -1)).join(',') : undefined,
  'a quote within the cell': (cells, column) => {
    const cell = cells[column]!
    return cell.length < 4 ? undefined : cells.with(column, `${cell.slice(0, 2)}"${cell.slice(2)}`).join(',')
  },
  'a blank before the cell': (cells, column) => cells.with(column, ` ${cells[column]}`).join(','),
  'cut off here': (cells, column) => (column === 0 ? undefined : cells.slice(0, column).join(',')),
  'cells repeated': (cells, column) => [...cells, ...cells.slice(column)].join(','),
  'the cell in apostrophes': (cells, column) =>
    cells.with(column, `'${cells[column]!.replace(/^"(.*)"$/, '$1').replaceAll('""', '"')}'`).join(','),
  'the delimiter ; from here': (cells, column) =>
    [cells.slice(0, column).join(','), cells.slice(column).join(';')].filter(Boolean).join(','),
}

const AT_A_LINE: Record<string, (cells: string[], header: string[]) => string> = {
  'the delimiter is a blank': (cells) => cells.join(' '),
  'the delimiter is a semicolon': (cells) => cells.join(';'),
  'the delimiter is a tab': (cells) => cells.join('\t'),
  'the delimiter is a bar': (cells) => cells.join('|'),
  'no line end': (cells) => cells.join(','),
  'a carriage return': (cells) => `${cells.join(',')}\r`,
  'two line ends': (cells) => `${cells.join(',')}\n\n`,
  'apostrophes for quotes': (cells) => `${cells.map((cell) => cell.replace(/^"(.*)"$/, "'$1'")).join(',')}\n`,
  empty: () => '\n',
  'delimiters only': (cells) => `${cells.map(() => '').join(',')}\n`,
  'the header again': (_, header) => `${header.join(',')}\n`,
}

function* atPlaces(table: Table): Generator<Polluted> {
  const lines = cellsOf(table)
  const { header, rows } = table
  const whole = lines.map((line) => `${line.join(',')}\n`)
  for (const [index, cells] of lines.entries()) {
    const touched = index === 0 ? ('all' as const) : [index - 1]
    for (const [pollution, pollute] of Object.entries(AT_A_PLACE)) {
      for (const column of cells.keys()) {
        const text = pollute(cells, column)
        if (text === undefined) continue
        const name = `${table.name}: ${pollution}, line ${index + 1}, column ${column + 1}`
        yield { name, content: whole.with(index, `${text}\n`).join(''), header, rows, touched }
      }
    }
    for (const [pollution, pollute] of Object.entries(AT_A_LINE)) {
      let text = pollute(cells, lines[0]!)
      if (pollution.startsWith('the delimiter')) text += '\n'
      const name = `${table.name}: ${pollution}, line ${index + 1}`
      const both = touched === 'all' ? touched : [...touched, index]
      yield { name, content: whole.with(index, text).join(''), header, rows, touched: both }
    }
  }
}

const IN_THE_WHOLE_FILE: Partial<Style>[] = [
  ...[';', '\t', '|', ', ', ' ', ':', '^', '~', '||', '::', '\x1f', '; '].map((delimiter) => ({ delimiter })),
  { open: "'", close: "'", escape: "'" },
  { open: '`', close: '`', escape: '`' },
  { open: '“', close: '”', escape: '”' },
  { open: '«', close: '»', escape: '»' },
  { escape: '\\' },
  { escape: '' },
  ...['\r\n', '\r', '\n\n', '\r\r\n', '\x1e', '\u2028', '\u0085', ''].map((lineEnd) => ({ lineEnd })),
]

function* wholeFiles(table: Table): Generator<Polluted> {
  const { header, rows } = table
  const base = { header, rows, touched: 'all' as const }
  for (const change of IN_THE_WHOLE_FILE) {
    const style = { ...STYLE, ...change }
    const name = `${table.name}: ${JSON.stringify(change)} throughout`
    yield { ...base, name, content: textOf(cellsOf(table, style), style) }
  }
  const lines = cellsOf(table)
  const text = textOf(lines)
  const [first, ...data] = lines as [string[], ...string[][]]
  const named = (name: string, content: string | Buffer, more: Partial<Polluted> = {}): Polluted => ({
    ...base,
    name: `${table.name}: ${name}`,
    content,
    ...more,
  })
  yield named('a BOM', `\ufeff${text}`, { touched: [] })
  yield named('two BOMs', `\ufeff\ufeff${text}`)
  yield named('UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), { touched: [] })
  yield named('no line end at the end', text.slice(0, -1), { touched: [] })
  yield named('blank lines at the end', `${text}\n\n`, { touched: [] })
  yield named('empty', '', { rows: [] })
  yield named('no header', textOf(data))
  yield named('the header only', textOf([first]), { rows: [] })
  yield named('one row', textOf([first, data[0]!]), { rows: rows.slice(0, 1), touched: [] })
  for (const times of [2, 3])
    yield named(`the header ${times} times`, textOf([...Array(times).fill(first), ...data]))
  // Among texts a line of units is one of texts.
  if (table.name !== 'texts only')
    yield named('a line of units', textOf([first, first.map(() => 'unit'), ...data]))
  yield named('row labels without a name', textOf([first, ...data.map((row, at) => [String(at), ...row])]))
  yield named('a delimiter at the ends of rows only', textOf([first, ...data.map((row) => [...row, ''])]))
  yield named('a delimiter at the end of the header only', textOf([[...first, ''], ...data]))
  // An empty column without a name is a delimiter at the end.
  for (const column of first.keys())
    if (rows.some((row) => row[column]))
      yield named(`column ${column + 1} has no name`, textOf([first.with(column, ''), ...data]))
  const title = (delimited: boolean, words: string) =>
    `${delimited ? [words, ...first.slice(1).map(() => '')].join(',') : words}\n`
  for (const delimited of [true, false])
    for (const count of [1, 2, 3])
      for (const gap of ['', '\n', `${first.map(() => '').join(',')}\n`]) {
        const what = `${count} lines${delimited ? ' with delimiters' : ''}${gap === '' ? '' : gap === '\n' ? ' and an empty one' : ' and a blank row'}`
        yield named(`${what} above`, title(delimited, 'Weekly report').repeat(count) + gap + text)
        yield named(`${what} below`, text + gap + title(delimited, 'Made by a program').repeat(count))
      }
  for (const gap of ['', '\n\n']) {
    const other = (width: number) =>
      textOf(lines.map((line) => [...line, 'more', 'more'].slice(0, width)).map((line) => line))
    yield named('a second table, as wide', text + gap + text, { rows: [...rows, ...rows] })
    yield named('a second table, wider', text + gap + other(first.length + 1), { rows: [...rows, ...rows] })
    yield named('a second table, narrower', text + gap + other(first.length - 1), {
      rows: [...rows, ...rows],
    })
  }
}

/** Notes that say of the whole file, or of a line, that it may not mean what it was taken for. */
const DOUBTS = new Set([
  'file.one_column',
  'file.uneven_lines',
  'file.title_like_header',
  'file.other_quotes',
  'file.mixed_line_ends',
  'file.first_column_only',
  'file.text_below_header',
  'file.unnamed_columns',
  'file.quotes_as_text',
  'file.encoding',
])

/** The usual buffers take longer to allocate than a small file to read. */
const SMALL: TestOptions = { bufferBytes: 8192 }

const trimmed = (row: readonly string[]) => JSON.stringify(row.map((cell) => cell.trim()))

/** What is silently wrong in how the file was read; undefined if nothing is. */
async function silentlyWrong(file: Polluted): Promise<string | undefined> {
  const path = join(folder, 'file.csv')
  writeFileSync(path, file.content)
  let read: Awaited<ReturnType<typeof normaliseFile>>
  try {
    read = await normaliseFile(path, folder, file.options ?? SMALL)
  } catch (error) {
    if (!(error instanceof StagedoorError)) throw error
    return file.touched === 'all' ? undefined : `refused: ${error.message}`
  }
  const rows = read.chunks.flatMap((chunk) => parse(readFileSync(chunk)) as string[][])
  const flawed = rows.filter(([, flaw]) => flaw !== '')
  const isDoubted = read.notes.some(({ rule }) => DOUBTS.has(rule))
  if (flawed.length === rows.length) return undefined
  if (trimmed(read.headers) !== trimmed(file.header) && !isDoubted) return `header ${trimmed(read.headers)}`
  // What is read without a flaw is the truth, in its order; what is missing was touched, and something says so.
  const missing: number[] = []
  let at = 0
  for (const row of rows.filter(([, flaw]) => flaw === '').map((cells) => trimmed(cells.slice(3)))) {
    const found = file.rows.findIndex((truth, index) => index >= at && trimmed(truth) === row)
    if (found < 0) {
      if (isDoubted) return undefined
      return `row ${row}`
    }
    for (; at < found; at++) missing.push(at)
    at = found + 1
  }
  for (; at < file.rows.length; at++) missing.push(at)
  const untouched =
    file.touched === 'all' ? [] : missing.filter((row) => !file.touched.includes(row as never))
  if (untouched.length > 0) return `rows ${untouched.map((row) => row + 2)} are missing, which nobody touched`
  return missing.length === 0 || flawed.length > 0 || isDoubted || isBlank(file, missing)
    ? undefined
    : `rows ${missing.map((row) => row + 2)} are missing without a word`
}

/** A row that was emptied is no longer there, and nothing has to be said about it. */
function isBlank({ name }: Polluted, missing: number[]): boolean {
  return missing.length === 1 && /: (empty|delimiters only), line/.test(name)
}

describe('A polluted file is read exactly, flagged or refused, never silently wrong', () => {
  it.each(TABLES.slice(0, cases(1, TABLES.length)))('$name', { tags: 'property' }, async (table) => {
    const wrong: string[] = []
    let count = 0
    for (const file of [...atPlaces(table), ...wholeFiles(table)]) {
      count++
      const found = await silentlyWrong(file)
      if (found) wrong.push(`${file.name}: ${found}`)
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(150)
  })
})
