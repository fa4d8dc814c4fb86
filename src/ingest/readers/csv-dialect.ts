/**
 * How a CSV is written: its delimiter, and which line is the header. Found by reading the first records in every way
 * that may be meant and taking the reading that fits best.
 */
import { type CsvRecord, readCsvRecord } from './csv-record.ts'
import { findHeader, headerNames, looksLikeHeader, trailingBlanks, usualWidth } from './header.ts'

export interface Dialect {
  delimiter: string
  headerLine: number
  /** As written, outer blanks trimmed. */
  headers: string[]
  surplusBlanks: number
  preamble: { line: number; text: string }[]
  /** Where the first record below the header begins, in bytes of UTF-8 and in lines. */
  dataFrom: number
  dataLine: number
}

interface DialectOptions {
  delimiter?: string | undefined
  knowsHeader?: ((name: string) => boolean) | undefined
}

interface Placed extends CsvRecord {
  line: number
  from: number
}

interface Reading {
  delimiter: string
  records: Placed[]
  header: number
  score: number[]
}

const DELIMITERS = ['\t', ';', '|', ',']
const RECORDS_LOOKED_AT = 200

/** `undefined`: nothing in the file could be a header. */
export function findDialect(sample: Buffer, whole: boolean, options: DialectOptions): Dialect | undefined {
  const named = separatorLine(sample)
  const asked = options.delimiter ?? named?.delimiter
  const start = named ? { from: named.next, line: 2 } : { from: 0, line: 1 }
  const knows = options.knowsHeader ?? (() => false)
  const readings = (asked ? [asked] : DELIMITERS).map((delimiter) =>
    rated(delimiter, readRecords(sample, whole, delimiter, start), knows),
  )
  const best = readings.reduce((a, b) => (compare(b.score, a.score) > 0 ? b : a))
  const header = best.records[best.header]
  return header && dialectOf(best, header, sample)
}

/** Excel's own way to name the delimiter, in the first line. */
function separatorLine(sample: Buffer): { delimiter: string; next: number } | undefined {
  const found = /^"?sep=([^\r\n"])"?(\r\n|\n|\r)/i.exec(sample.toString('latin1', 0, 16))
  return found ? { delimiter: found[1]!, next: found[0].length } : undefined
}

function readRecords(
  bytes: Buffer,
  last: boolean,
  delimiter: string,
  start: { from: number; line: number },
): Placed[] {
  const records: Placed[] = []
  let { from, line } = start
  while (from < bytes.length && records.length < RECORDS_LOOKED_AT) {
    const record = readCsvRecord({ bytes, from, end: bytes.length, last, delimiter: delimiter.charCodeAt(0) })
    if (!record) break
    const blank = record.bare && record.fields.every((field) => field.trim() === '')
    if (!blank) records.push({ ...record, line, from })
    if (record.unfinished) break
    from = record.next
    line += record.lines
  }
  return records
}

/** Better readings know more headers, have a header that looks like one, and records of one width, a large one. */
function rated(delimiter: string, records: Placed[], knows: (name: string) => boolean): Reading {
  const { header, known } = findHeader(records, knows)
  const width = usualWidth(records)
  const fit = records.filter((record) => record.fields.length === width).length / Math.max(records.length, 1)
  const looksRight = header >= 0 && looksLikeHeader(records[header]!) ? 1 : 0
  return { delimiter, records, header, score: [known, width > 1 ? looksRight : 0, fit * Math.log2(width)] }
}

function dialectOf(reading: Reading, header: Placed, sample: Buffer): Dialect {
  const rows = reading.records.slice(reading.header + 1)
  const headers = header.fields.map((field) => field.trim())
  // A delimiter at the end of every line is a habit of some exports, not a column.
  const columns = Math.max(1, headers.length - trailingBlanks(headers))
  const widest = Math.max(headers.length, usualWidth(rows))
  const habit = rows.every(({ fields }) => fields.slice(columns, widest).every((field) => field === ''))
  const surplusBlanks = habit ? widest - columns : 0
  if (surplusBlanks > 0) headers.length = columns
  return {
    delimiter: reading.delimiter,
    headerLine: header.line,
    headers: headerNames(headers),
    surplusBlanks,
    preamble: reading.records.slice(0, reading.header).map((record) => ({
      line: record.line,
      text: sample.toString('utf8', record.from, record.next).trim().slice(0, 1000),
    })),
    dataFrom: header.next,
    dataLine: header.line + header.lines,
  }
}

function compare(a: number[], b: number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - b[index]!
  return 0
}
