/** Formats: the interface of all readers, the format of a file by its bytes, the records in a JSON answer, the header's line. */

import { StagedoorError } from '../../kernel/errors.ts'
import type { Flaw } from './chunks.ts'
import { type Encoding, findEncoding } from './encoding.ts'

/** A TSV is a CSV with a tab. */
export type Format = 'csv' | 'jsonl' | 'json' | 'parquet' | 'xlsx'

export interface ReadOptions {
  /** Else by content, never by the name alone. */
  format?: Format
  encoding?: Encoding
  delimiter?: string
  /** Names of the columns of a CSV that has no header. */
  columns?: readonly string[]
  /** The line of the header; else it is found. */
  headerLine?: number
  /** Of an xlsx; else the first one with data. */
  sheet?: string
  /** True for a header name the dataset knows: finds the header under title lines. */
  knowsHeader?: (name: string) => boolean
  /** True for a name whose value in JSON or Parquet stays JSON as it is written: its objects are not taken apart. */
  keepsJson?: (name: string) => boolean
  maxLines?: number
  chunkLines?: number
  signal?: AbortSignal
  onProgress?: (progress: ReadProgress) => void
}

interface ReadProgress {
  bytes: number
  total: number
  lines: number
}

/** About the whole file. */
export interface FileNote {
  rule: string
  message: string
  line?: number
  count?: number
}

export interface NormalisedFile {
  format: Format
  /** As found, for people. */
  encoding: string
  delimiter: string | null
  /** Of a workbook: the sheet that was read, and all that it has. */
  sheet?: string
  sheets?: readonly string[]
  /** Title and date lines above the header. */
  preamble: { line: number; text: string }[]
  headerLine: number
  /** Duplicates are kept; an empty name becomes its column's number. */
  headers: string[]
  /** Data records. */
  lines: number
  /** Paths, in order. */
  chunks: string[]
  /** So many bytes from the file's start are its header and the lines of its first chunk; absent where it cannot be cut there. */
  head?: { bytes: number; lines: number }
  notes: FileNote[]
}

// The format, by the bytes of a file: names lie. A file that is no table is refused with the name of what it is.

/** First bytes, as latin1, and what they mean for the person who uploaded them. */
const REFUSED: [start: string, reason: string][] = [
  ['BZh', 'it is a bzip2 archive: unpack it first'],
  ['\x28\xb5\x2f\xfd', 'it is a zstd archive: unpack it first'],
  ['7z\xbc\xaf\x27\x1c', 'it is a 7z archive: unpack it first'],
  ['Rar!', 'it is a RAR archive: unpack it first'],
  ['PK\x05\x06', 'it is an empty zip archive'],
  ['\xfd7zXZ', 'it is an xz archive: unpack it first'],
  ['%PDF', 'it is a PDF document: export the table itself as CSV or .xlsx'],
  ['\x89PNG', 'it is an image (PNG)'],
  ['GIF8', 'it is an image (GIF)'],
  ['\xff\xd8\xff', 'it is an image (JPEG)'],
  ['RIFF', 'it is an image, a sound or a film (RIFF)'],
  ['\x7fELF', 'it is a program'],
  ['MZ\x90', 'it is a program'],
  ['SQLite format 3', 'it is a SQLite database'],
  [
    '\xd0\xcf\x11\xe0',
    'it is an old Excel workbook (.xls) or one with a password: save it as .xlsx without a password',
  ],
]

export function findFormat(start: Buffer, encoding?: Encoding): Format {
  if (start.length === 0) throw unreadable('it is empty')
  const magic = start.toString('latin1', 0, 16)
  const refused = REFUSED.find(([bytes]) => magic.startsWith(bytes))
  if (refused) throw unreadable(refused[1])
  if (magic.startsWith('PK\x03\x04')) return 'xlsx'
  if (magic.startsWith('PAR1')) return 'parquet'
  return formatOfText(start, encoding)
}

function formatOfText(start: Buffer, asked?: Encoding): Format {
  const { encoding, markLength } = findEncoding(start, asked)
  const bytes = start.subarray(markLength)
  // Markup and JSON begin with ASCII: without its zeros UTF-16 reads the same.
  const text = bytes.toString('latin1').replaceAll('\0', '').trimStart()
  if (text === '') throw unreadable('there is nothing in it but blanks')
  if (/^<(!doctype\s+html|html|head|body|table)\b/i.test(text)) {
    throw unreadable('it is a web page (HTML), whatever its name says: often a page that asks for a login')
  }
  if (/^<\?xml/i.test(text)) throw unreadable('it is an XML document: save it as CSV or .xlsx')
  if (!encoding.startsWith('utf-16') && isBinary(bytes)) throw unreadable('it is not a text file')
  if (/^\[\s*[{\]]/.test(text)) return 'json'
  if (/^\{\s*["}]/.test(text))
    return findEnvelope(Buffer.from(text, 'latin1')) === undefined ? 'jsonl' : 'json'
  return 'csv'
}

/** Text has tabs and line ends, hardly another control; of any other bytes one in nine is one. */
function isBinary(bytes: Buffer): boolean {
  let controls = 0
  for (const byte of bytes) if (byte < 9 || (byte > 13 && byte < 32) || byte === 127) controls++
  return controls > Math.max(8, bytes.length / 50)
}

export function unreadable(reason: string, cause?: unknown): StagedoorError {
  return new StagedoorError('file_unreadable', { reason }, { cause })
}

// Answers of an API saved as they came: `{"data": [records], "paging": …}` of Meta, `{"results": […]}` of Google,
// `{"code": 0, "data": {"list": […]}}` of TikTok. The records are what the file is about.

/** Where records are, as the names that lead to them. */
const RECORDS_PATHS = new Set(['data', 'results', 'data.list', 'data.results'])
/** What may stand before them. With any other name before it, `data` is a value of a record. */
const ENVELOPE_MEMBERS = new Set(
  [
    ...['data', 'results', 'paging', 'page_info', 'summary', 'meta', 'metadata', 'fieldMask', 'requestId'],
    ...['code', 'message', 'request_id', 'success', 'status', 'nextPageToken', 'totalResultsCount', 'count'],
  ].map((name) => name.toLowerCase()),
)

const TOKEN = /"((?:[^"\\]|\\.)*)"|[{}[\]:,]|[^\s"{}[\]:,]+/y
const SPACE = /\s*/y

/** The byte at which the array of records begins; `undefined` if the text is no envelope. */
export function findEnvelope(head: Buffer): number | undefined {
  // One character a byte, so that places in the text are places in the file.
  const text = head.toString('latin1')
  const path: string[] = []
  let name: string | undefined
  let at = 0
  for (;;) {
    SPACE.lastIndex = at
    SPACE.test(text)
    TOKEN.lastIndex = SPACE.lastIndex
    const start = SPACE.lastIndex
    const token = TOKEN.exec(text)
    if (!token) return undefined
    at = TOKEN.lastIndex
    if (start === 0 || name === undefined) {
      if (token[0] === '{') path.push('')
      else if (token[1] !== undefined && /^\s*:/.test(text.slice(at))) {
        if (!ENVELOPE_MEMBERS.has(token[1].toLowerCase()) && token[1] !== 'list') return undefined
        name = token[1]
        at = text.indexOf(':', at) + 1
      } else if (token[0] === '}') {
        if (path.pop() === undefined || path.length === 0) return undefined
      } else if (token[0] !== ',') return undefined
      continue
    }
    const place = [...path.slice(1), name].join('.')
    name = undefined
    if (token[0] === '[')
      return RECORDS_PATHS.has(place) && /^\s*[{\]]/.test(text.slice(at)) ? start : undefined
    if (token[0] !== '{') continue
    if (place === 'data') path.push('data')
    else {
      const end = endOfObject(text, start)
      if (end === undefined) return undefined
      at = end
    }
  }
}

function endOfObject(text: string, from: number): number | undefined {
  let open = 0
  TOKEN.lastIndex = from
  for (;;) {
    SPACE.lastIndex = TOKEN.lastIndex
    SPACE.test(text)
    TOKEN.lastIndex = SPACE.lastIndex
    const token = TOKEN.exec(text)
    if (!token) return undefined
    if (token[0] === '{' || token[0] === '[') open++
    if ((token[0] === '}' || token[0] === ']') && --open === 0) return TOKEN.lastIndex
  }
}

// Which record is the header: title and date lines may stand above it, and nothing marks it.

interface HeaderCandidate {
  fields: string[]
  flaw?: Flaw
}

/** More are values that went astray, and more than DuckDB reads in good time. */
export const MAX_COLUMNS = 2000
const MAX_PREAMBLE_LINES = 30

/** The header's index among the first records, or -1, and how many names of it the dataset knows. */
export function findHeader(
  records: HeaderCandidate[],
  knows: (name: string) => boolean = () => false,
  place?: number,
): { header: number; known: number } {
  if (place !== undefined) {
    const fields = records[place]?.fields ?? []
    return { header: place, known: fields.filter((field) => knows(field.trim())).length }
  }
  const first = records.slice(0, MAX_PREAMBLE_LINES + 1)
  const known = first.map(({ fields }) => fields.filter((field) => knows(field.trim())).length)
  const most = Math.max(0, ...known)
  const best = known.indexOf(most)
  if (most >= 2 || (most === 1 && first[best]!.fields.length === 1)) return { header: best, known: most }

  const width = usualWidth(records) - habitualBlanks(records)
  // A title with delimiters behind it is as wide as the header; it is not as full.
  const filled = (record: HeaderCandidate) => record.fields.filter((field) => field.trim() !== '').length
  const fullest = Math.max(...first.map(filled))
  const wide = (record: HeaderCandidate) => record.fields.length >= width && filled(record) >= fullest / 2
  const named = first.findIndex((record) => wide(record) && looksLikeHeader(record))
  if (named >= 0) return { header: named, known: most }
  return { header: first.findIndex((record) => wide(record) && isReadable(record)), known: most }
}

/** The place of the line that somebody says is the header. */
export function headerPlace(
  records: readonly { line: number }[],
  line: number | undefined,
): number | undefined {
  if (line === undefined) return undefined
  const place = records.findIndex((record) => record.line === line)
  if (place >= 0) return place
  throw new StagedoorError('argument_invalid', {
    reason: `Line ${line} cannot be the header: it is empty, or further down than the first ${records.length} lines`,
  })
}

/** Of the records that have several fields, most have this many. */
export function usualWidth(records: HeaderCandidate[]): number {
  const counts = new Map<number, number>()
  for (const { fields } of records) counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1)
  const wide = [...counts].filter(([width]) => width > 1).sort((a, b) => b[1] - a[1] || b[0] - a[0])
  return wide[0]?.[0] ?? 1
}

/** Title lines have dates in them, data has numbers; the names of columns have neither. */
export function looksLikeHeader(record: HeaderCandidate): boolean {
  const names = record.fields.filter((field) => /\p{L}/u.test(field) && !/\d{4}|\d[/.-]\d/.test(field))
  const filled = record.fields.length - trailingBlanks(record.fields)
  return isReadable(record) && names.length >= 0.7 * filled
}

export function trailingBlanks(fields: string[]): number {
  let count = 0
  while (count < fields.length && fields[fields.length - 1 - count]!.trim() === '') count++
  return count
}

/** Trimmed; an empty one is called after its column. */
export function headerNames(fields: string[]): string[] {
  if (fields.length > MAX_COLUMNS) throw unreadable(`it has more than ${MAX_COLUMNS} columns`)
  return fields.map((field, index) => field.trim() || `Column ${index + 1}`)
}

export function withoutHeader(line: number, fields: readonly string[]): StagedoorError {
  const shown = fields.slice(0, 4).map((field) => `“${field.trim().slice(0, 40)}”`)
  return new StagedoorError('file_has_no_header', {
    line,
    values: `${shown.join(', ')}${fields.length > 4 ? ', …' : ''}`,
    columns: fields.length,
  })
}

/** The names that somebody gives to the columns of a file without a header: `name,name,…` or a JSON array. */
export function columnNames(given: string): string[] {
  let names: unknown = given.split(',')
  if (/^\s*\[/.test(given)) {
    try {
      names = JSON.parse(given)
    } catch {
      names = undefined
    }
  }
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name.trim() !== ''))
    return names.map((name: string) => name.trim())
  const reason =
    'columns must be names with commas between them, or a JSON array of strings; none may be empty'
  throw new StagedoorError('argument_invalid', { reason })
}

/** Delimiters at the end of every line of the usual width. */
function habitualBlanks(records: HeaderCandidate[]): number {
  const width = usualWidth(records)
  const usual = records.filter(({ fields }) => fields.length === width)
  return Math.min(width - 1, ...usual.map(({ fields }) => trailingBlanks(fields)))
}

function isReadable({ flaw }: HeaderCandidate): boolean {
  return flaw === undefined || flaw === 'invalid_utf8' || flaw === 'nul_character'
}
