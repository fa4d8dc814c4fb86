// @module-tag property
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { cases } from '../../support/length.ts'
import { readBack, type TestOptions } from './read-back.ts'

afterAll(closeDuck)

const DELIMITERS = [',', ';', '\t', '|']
const LINE_ENDS = ['\n', '\r\n', '\r']
const ENCODINGS = [
  'utf-8',
  'utf-8 marked',
  'utf-16le',
  'utf-16le marked',
  'utf-16be',
  'utf-16be marked',
] as const

const character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'é', 'ế', '漢', '👍', '1', '.', ' ', 'b\ufeff') },
  { weight: 2, arbitrary: fc.constantFrom('"', ',', ';', '\t', '|', '\n', '\r', '\r\n', "'", '\\') },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => text !== '\0'),
  },
)
/** DuckDB's client drops a byte order mark at the start of any text that it hands over; its SQL does not. */
const text = fc
  .array(character, { maxLength: 8 })
  .map((characters) => characters.join('').replace(/^\ufeff+/, ''))

interface Written {
  delimiter: string
  title: string[]
  rows: { cells: { text: string; quoted: boolean }[]; lineEnd: string }[]
  lastLineEnds: boolean
  encoding: (typeof ENCODINGS)[number]
  bufferBytes: number
}

const written: fc.Arbitrary<Written> = fc.integer({ min: 2, max: 5 }).chain((columns) =>
  fc.record({
    delimiter: fc.constantFrom(...DELIMITERS),
    title: fc.array(fc.constantFrom('Report', '"May 1, 2024; x"', ''), { maxLength: 3 }),
    rows: fc.array(
      fc.record({
        cells: fc.array(fc.record({ text, quoted: fc.boolean() }), {
          minLength: columns,
          maxLength: columns,
        }),
        lineEnd: fc.constantFrom(...LINE_ENDS),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    lastLineEnds: fc.boolean(),
    encoding: fc.constantFrom(...ENCODINGS),
    bufferBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(256 * 1024)),
  }),
)

/** As RFC 4180 has it. Quotes of another kind around a value would be a doubt, so those are quoted, too. */
function mustQuote(cell: string, delimiter: string): boolean {
  return cell.includes(delimiter) || /["\r\n]|^\s*['`“„‘«]|^[ \t]/.test(cell)
}

/** The file, and what must come back: a row's first physical line and its values. */
function write(table: Written): { content: string; expected: [number, ...string[]][] } {
  const { delimiter, title, rows, lastLineEnds } = table
  const names = rows[0]!.cells.map((_, column) => `h${column}`)
  let content = [...title, names.join(delimiter), ''].join('\n')
  let line = title.length + 2
  const expected: [number, ...string[]][] = []
  for (const [index, { cells, lineEnd }] of rows.entries()) {
    const quoted = cells.map((cell) => cell.quoted || mustQuote(cell.text, delimiter))
    const fields = cells.map(({ text }, column) =>
      quoted[column] ? `"${text.replaceAll('"', '""')}"` : text,
    )
    const record = fields.join(delimiter)
    content += record + (index < rows.length - 1 || lastLineEnds ? lineEnd : '')
    const blank = cells.every((cell) => cell.text === '') && !quoted.includes(true)
    if (!blank) expected.push([line, ...cells.map((cell) => cell.text.replace(/\r\n?/g, '\n'))])
    line += record.split(/\r\n|\r|\n/).length
  }
  return { content, expected }
}

/** A second opinion: what a widely used parser makes of the same text. */
function asCsvParseReads(content: string, { delimiter, title }: Written): string[][] {
  const text = content.split('\n').slice(title.length).join('\n')
  const records = parse(text, {
    delimiter,
    relax_column_count: true,
    record_delimiter: LINE_ENDS.toReversed().toSorted((a, b) => b.length - a.length),
    info: true,
    raw: true,
  }) as unknown as { record: string[]; raw: string }[]
  return records
    .slice(1)
    .filter(({ record, raw }) => record.some((cell) => cell !== '') || raw.includes('"'))
    .map(({ record }) => record.map((cell) => cell.replace(/\r\n?/g, '\n')))
}

function encode(content: string, encoding: Written['encoding']): { bytes: Buffer; options: TestOptions } {
  const marked = encoding.endsWith(' marked')
  const name = encoding.replace(' marked', '') as 'utf-8' | 'utf-16le' | 'utf-16be'
  const all = marked ? `\ufeff${content}` : content
  const bytes = name === 'utf-8' ? Buffer.from(all) : Buffer.from(all, 'utf16le')
  return { bytes: name === 'utf-16be' ? bytes.swap16() : bytes, options: marked ? {} : { encoding: name } }
}

describe('Any table that is written as CSV', () => {
  it('comes back through the reader and DuckDB, field by field, with its physical lines', async () => {
    await fc.assert(
      fc.asyncProperty(written, async (table) => {
        const { content, expected } = write(table)
        if (expected.length === 0) return
        const { bytes, options } = encode(content, table.encoding)
        const file = await readBack(bytes, {
          ...options,
          format: 'csv',
          bufferBytes: table.bufferBytes,
          knowsHeader: (name) => /^h\d$/.test(name),
        })
        expect(file.delimiter).toBe(table.delimiter)
        // Text in several columns of numbers in the first lines is flagged as more of the header, and read all the same.
        const flaws = file.rows.map((row, index) =>
          index < 3 && row.flaw === 'continued_header' ? '' : row.flaw,
        )
        expect(flaws.filter(Boolean)).toEqual([])
        expect(file.rows.map((row) => [row.line, ...row.values])).toEqual(expected)
        expect(file.rows.map((row) => row.values)).toEqual(asCsvParseReads(content, table))
      }),
      { numRuns: cases(40, 300) },
    )
  })
})

describe('One wrong value in a column of numbers or dates', () => {
  const wrong = fc.constantFrom('abc', 'n.v.', 'zwölf', '1O0', '12 EUR/kg', 'price', '#REF!')
  it('is data like every other line, wherever it stands', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 3, maxLength: 20 }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        fc.nat(),
        wrong,
        async (numbers, columns, at, column, value) => {
          const names = ['price', 'qty', 'weight'].slice(0, columns)
          const lines = numbers.map((number, index) => [`A-${index}`, ...names.map(() => String(number))])
          lines[at % lines.length]![1 + (column % columns)] = value
          const { rows } = await readBack(`${[['sku', ...names], ...lines].map(String).join('\n')}\n`)
          expect(rows.map(({ flaw, values }) => [flaw, ...values])).toEqual(
            lines.map((line) => ['', ...line]),
          )
        },
      ),
      { numRuns: cases(40, 300) },
    )
  })
})

describe('Any bytes at all', () => {
  const byte = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...Buffer.from('",\r\na 1')) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
  )

  it('give the same records wherever the buffers end, and DuckDB counts as many as we did', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 120 }),
        fc.integer({ min: 1, max: 30 }),
        async (body, size) => {
          const bytes = Buffer.concat([Buffer.from(`x,y\n${'1,2\n'.repeat(30)}`), Buffer.from(body)])
          const read = (bufferBytes: number) =>
            readBack(bytes, { format: 'csv', encoding: 'utf-8', delimiter: ',', bufferBytes })
          const [small, large] = [await read(size), await read(4096)]
          expect(small.rows).toEqual(large.rows)
          expect(large.rows).toHaveLength(large.lines)
          const physical = body.length === 0 ? 31 : bytes.toString('latin1').split(/\r\n|\r|\n/).length
          expect(
            large.rows.every(
              ({ line }, index, rows) => line > (rows[index - 1]?.line ?? 1) && line <= physical,
            ),
          ).toBe(true)
        },
      ),
      { numRuns: cases(40, 300) },
    )
  })
})
