import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { writeGoogleApiLines, writeMetaExport, writeOrders } from '../support/exports.ts'
import { temporaryHome } from '../support/temporary-home.ts'

interface Expectation {
  format: string | null
  lines: number
  skipped: number
  skippedLines?: number[]
  invalid: { line: number; header: string | null }[]
  warnings?: { line: number }[]
  values?: { line: number }[]
  headerLine?: number
  delimiter?: string
  encoding?: string
  error?: string
}

const FOLDER = fileURLToPath(new URL('../fixtures/exports', import.meta.url))
const bytesOf = (file: string): Buffer => readFileSync(join(FOLDER, file))
const expected: Record<string, Expectation> = JSON.parse(bytesOf('expected.json').toString())
const readable = Object.entries(expected).filter(([, { error }]) => error === undefined)

const DECODERS: Record<string, (bytes: Buffer) => string> = {
  'utf-8': (bytes) => bytes.toString('utf8'),
  'utf-16le': (bytes) => bytes.toString('utf16le'),
  'utf-16be': (bytes) => Buffer.from(bytes).swap16().toString('utf16le'),
  'windows-1252': (bytes) => new TextDecoder('windows-1252').decode(bytes),
}

function textOf(file: string): string {
  const encoding = expected[file]!.encoding!.split(' ')[0]!
  return DECODERS[encoding]!(bytesOf(file)).replace(/^\ufeff/, '')
}

/** Records with the physical line where each begins, by the letter of RFC 4180: a second opinion on our own reader. */
function recordsOf(text: string, delimiter: string): { line: number; text: string }[] {
  const records: { line: number; text: string }[] = []
  let line = 1
  let begin = 0
  let beginLine = 1
  let inQuotes = false
  for (let at = 0; at <= text.length; at++) {
    const character = text[at]
    const opens = at === begin || text[at - 1] === delimiter
    if (character === '"' && (inQuotes || opens)) inQuotes = !inQuotes
    if (character !== '\n' && character !== '\r' && at < text.length) continue
    const end = character === '\r' && text[at + 1] === '\n' ? at + 1 : at
    line++
    if (!inQuotes || at >= text.length) {
      records.push({ line: beginLine, text: text.slice(begin, at) })
      begin = end + 1
      beginLine = line
    }
    at = end
  }
  return records.filter((record) => record.text.trim() !== '')
}

function dataOf(file: string): { line: number; text: string }[] {
  const { format, delimiter, headerLine = 0 } = expected[file]!
  if (format === 'csv') return recordsOf(textOf(file), delimiter!).filter(({ line }) => line > headerLine)
  return textOf(file)
    .split('\n')
    .map((text, index) => ({ line: index + 1, text }))
    .filter(({ text }) => text.trim() !== '')
}

describe('the committed exports', () => {
  it('are all expected, and all that is expected is there', () => {
    const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath !== FOLDER)
      .map((entry) => join(entry.parentPath, entry.name).slice(FOLDER.length + 1))
    expect(files.sort()).toEqual(Object.keys(expected).sort())
  })

  it('are small', () => {
    expect(Object.keys(expected).filter((file) => bytesOf(file).length >= 40_000)).toEqual([])
  })

  it('have the counts that the README shows', () => {
    const shown = bytesOf('README.md').toString()
    const rows = readable.map(([file, { lines, skipped, invalid }]) => {
      const wrong = new Set(invalid.map(({ line }) => line)).size
      return { file, counts: `| ${lines} | ${lines - skipped - wrong} | ${wrong} | ${skipped} |` }
    })
    const row = (file: string) => shown.split('\n').find((line) => line.startsWith(`| \`${file}\` |`)) ?? ''
    expect(rows.filter(({ file, counts }) => !row(file).includes(counts))).toEqual([])
  })

  it.each(readable.filter(([, { format }]) => format === 'csv' || format === 'jsonl'))(
    '%s has its lines, and its problems stand where records begin',
    (file, { lines, invalid, skippedLines = [], warnings = [], values = [] }) => {
      const starts = dataOf(file).map(({ line }) => line)
      expect(starts).toHaveLength(lines)
      const named = [...invalid, ...warnings, ...values].map(({ line }) => line).concat(skippedLines)
      expect(named.filter((line) => !starts.includes(line))).toEqual([])
    },
  )

  it.each(readable.filter(([, { headerLine, format }]) => headerLine && format === 'csv'))(
    '%s has its header where it is said to be, with the columns that are blamed',
    (file, { headerLine, delimiter, invalid }) => {
      const header = recordsOf(textOf(file), delimiter!).find(({ line }) => line === headerLine)
      const names = header!.text.split(delimiter!).map((name) => name.replace(/^"|"$/g, ''))
      expect(names.length).toBeGreaterThan(3)
      expect(invalid.filter((problem) => problem.header && !names.includes(problem.header))).toEqual([])
    },
  )

  it.each(readable.filter(([, { format }]) => format === 'csv' || format === 'jsonl'))(
    '%s begins with the byte order mark of its encoding, or with none',
    (file, { encoding }) => {
      const start = bytesOf(file).subarray(0, 3).toString('hex')
      const found = start === 'efbbbf' ? 'utf-8' : start.startsWith('fffe') ? 'utf-16le' : 'utf-16be'
      const mark = start === 'efbbbf' || /^(fffe|feff)/.test(start) ? `${found} with BOM` : null
      expect(mark).toBe(encoding!.endsWith('with BOM') ? encoding : null)
    },
  )

  it('still have the bytes that an editor or git would repair', () => {
    const has = (file: string, bytes: number[] | string) =>
      bytesOf(file).includes(Buffer.from(bytes as string))
    expect(
      bytesOf('horrors/mixed-line-ends.csv')
        .toString('latin1')
        .match(/\r\n|\r|\n/g),
    ).toEqual(
      ['\n', '\n', '\r\n', '\r', '\r', '\n', '\r\n'], // none at the end
    )
    expect(has('horrors/invalid-utf8.csv', [0xc3, 0x28])).toBe(true)
    expect(has('horrors/nul-character.csv', [0x55, 0x47, 0x00, 0x43])).toBe(true)
    expect(has('meta/french.csv', '1\u202f234,56')).toBe(true)
    expect(has('meta/french.csv', '11\u00a0000')).toBe(true)
    expect(has('meta/vietnamese.csv', 'Tết'.normalize('NFD'))).toBe(true)
    expect(bytesOf('unreadable/empty.csv')).toHaveLength(0)
  })

  it.each([
    ['title line', /^Campaign report$/m],
    ['title in German', /^Kampagnenbericht$/m],
    ['total of the account', /Total: Account/],
    ['total per type', /Total: Performance Max/],
    ['total in German', /Gesamt: Konto/],
    ['total of TikTok', /Total of \d+ results/],
    ['subtotal of a pivot', /;All;All;All;/],
    ['campaign that only sounds like a total', /Total Recall/],
    ['null as two dashes after a blank', /, --,/],
    ['null as two dashes', /,--,/],
    ['null as a dash', /,-,/],
    ['censored share', /,< 10%,/],
    ['thousands with commas', /"12,345,678\.90"/],
    ['thousands with dots', /;1\.234\.567;/],
    ['thousands with apostrophes', /1'234\.50/],
    ['currency in the header', /Amount spent \(AUD\)/],
    ['full-width brackets', /Amount spent（JPY）/],
    ['header twice', /Ad set name,.*,Ad set name,/],
    ['ruined id', /1\.20253E\+17/],
    ['micros beyond a double', /"costMicros":"9007199254740993"/],
  ])('show the trouble “%s”', (_, pattern) => {
    const texts = readable.filter(([, { format }]) => format === 'csv' || format === 'jsonl')
    expect(texts.some(([file]) => pattern.test(textOf(file)))).toBe(true)
  })
})

describe('the generated exports', () => {
  const home = temporaryHome('exports')
  const file = join(home, 'export')
  const write = (seed: number) => {
    const written = writeMetaExport(file, { lines: 500, seed, badLines: { ruined_id: 3, negative: 2 } })
    return { ...written, text: readFileSync(file, 'utf8') }
  }

  it('are the same bytes for the same seed, and the same ads and days for another', () => {
    const keys = (text: string) => text.split('\n').map((line) => /\d{18},\d{4}-\d\d-\d\d/.exec(line)?.[0])
    expect(write(1).text).toBe(write(1).text)
    expect(write(2).text).not.toBe(write(1).text)
    expect(keys(write(2).text)).toEqual(keys(write(1).text))
  })

  it('have their wrong values on the lines and under the headers that are returned', () => {
    const { text, planted, lines, skipped, firstLine } = write(1)
    const all = text.trimEnd().split('\n')
    expect(all).toHaveLength(lines + skipped + 1)
    expect(planted).toHaveLength(5)
    for (const { line, header, value } of planted) {
      const fields = (record: string) =>
        record.match(/("([^"]|"")*"|[^,]*)(,|$)/g)!.map((f) => f.replace(/,$/, ''))
      expect(fields(all[line - 1]!)[fields(all[0]!).indexOf(header!)]).toBe(value)
      expect(line).toBeGreaterThanOrEqual(firstLine)
    }
  })

  it('never give one ad two lines for a day', () => {
    const keys = write(1).text.match(/\d{18},\d{4}-\d\d-\d\d(?=,active)/g)!
    expect(new Set(keys).size).toBe(keys.length)
    expect(() => writeMetaExport(file, { lines: 11, days: 2, campaigns: 1, adSets: 1, ads: 5 })).toThrow(
      'repeat',
    )
  })

  it('are JSON in every line but the ones that are not meant to be', () => {
    const { planted } = writeGoogleApiLines(file, { lines: 50, badLines: { not_json: 2 } })
    const broken = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((text, index) => {
        try {
          JSON.parse(text)
          return []
        } catch {
          return [index + 1]
        }
      })
    expect(broken).toEqual(planted.map(({ line }) => line))
    expect(() => writeOrders(file, { lines: 5, badLines: { not_json: 1 } })).toThrow('cannot hold')
  })
})
