/**
 * How a CSV is written: its delimiter, its quotes, and which line is the header. Found by reading the first records in
 * every way that may be meant and taking the reading that fits best. Where the header itself is in doubt, the file is
 * refused: every value below would stand under a wrong name.
 */
import { StagedoorError } from '../../kernel/errors.ts'
import type { Flaw } from './chunks.ts'
import { BACKSLASH, type CsvRecord, type Marks, QUOTE, readCsvRecord } from './csv-record.ts'
import {
  type FileNote,
  findHeader,
  headerNames,
  headerPlace,
  looksLikeHeader,
  trailingBlanks,
  unreadable,
  usualWidth,
  withoutHeader,
} from './format.ts'

export interface Dialect extends Marks {
  /** 0: the file has no header, and the uploader named its columns. */
  headerLine: number
  /** As written, outer blanks trimmed. */
  headers: string[]
  surplusBlanks: number
  preamble: { line: number; text: string }[]
  /** Where the first record below the header begins, in bytes of UTF-8 and in lines. */
  dataFrom: number
  dataLine: number
  evidence: CsvEvidence
  notes: FileNote[]
}

interface DialectOptions {
  delimiter?: string | undefined
  columns?: readonly string[] | undefined
  headerLine?: number | undefined
  knowsHeader?: ((name: string) => boolean) | undefined
}

interface Placed extends PlacedRecord {
  from: number
}

interface DialectCandidate extends Marks {
  records: Placed[]
  header: number
  known: number
  score: number[]
}

const APOSTROPHE = 39
const RECORDS_LOOKED_AT = 200

export function findDialect(sample: Buffer, whole: boolean, options: DialectOptions): Dialect {
  const named = separatorLine(sample)
  const asked = options.delimiter ?? named?.delimiter
  const start = named ? { from: named.next, line: 2 } : { from: 0, line: 1 }
  const knows = options.knowsHeader ?? (() => false)
  const best = (marks: Omit<Marks, 'delimiter'>): DialectCandidate =>
    (asked ? [asked] : DELIMITERS)
      .map((delimiter) => ({ ...marks, delimiter: delimiter.charCodeAt(0) }))
      .map((tried) => rate(tried, readRecords(sample, whole, tried, start), knows, options.headerLine))
      .reduce((a, b) => (compare(b.score, a.score) > 0 ? b : a))
  let reading = best({ quote: QUOTE, escapedBy: QUOTE })
  const flawed = (records: Placed[]) => records.some(({ flaw }) => isQuoteFlaw(flaw))
  if (flawed(reading.records) && sample.includes('\\"')) {
    const escaped = best({ quote: QUOTE, escapedBy: BACKSLASH })
    if (!flawed(escaped.records) && isEven(escaped)) reading = escaped
  } else if (!reading.records.some(({ bare }) => !bare) && sample.includes("'")) {
    const apostrophes = best({ quote: APOSTROPHE, escapedBy: APOSTROPHE })
    if (!flawed(apostrophes.records) && isEven(apostrophes) && hasQuotedColumn(apostrophes))
      reading = apostrophes
  }
  return options.columns === undefined
    ? dialectOf(reading, sample, knows, options.headerLine !== undefined)
    : namedDialect(reading, options.columns, start)
}

/** Excel's own way to name the delimiter, in the first line. */
function separatorLine(sample: Buffer): { delimiter: string; next: number } | undefined {
  const found = /^"?sep=([^\r\n"])"?(\r\n|\n|\r)/i.exec(sample.toString('latin1', 0, 16))
  return found ? { delimiter: found[1]!, next: found[0].length } : undefined
}

function readRecords(
  bytes: Buffer,
  last: boolean,
  marks: Marks,
  start: { from: number; line: number },
): Placed[] {
  const records: Placed[] = []
  let { from, line } = start
  while (from < bytes.length && records.length < RECORDS_LOOKED_AT) {
    const record = readCsvRecord({ bytes, from, end: bytes.length, last, ...marks })
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
function rate(
  marks: Marks,
  records: Placed[],
  knows: (name: string) => boolean,
  line?: number,
): DialectCandidate {
  const { header, known } = findHeader(records, knows, headerPlace(records, line))
  const width = usualWidth(records)
  const fit = records.filter((record) => record.fields.length === width).length / Math.max(records.length, 1)
  const looksRight = header >= 0 && fit > 0.5 && looksLikeHeader(records[header]!) ? 1 : 0
  const score = [known, width > 1 ? looksRight : 0, fit * Math.log2(width)]
  return { ...marks, records, header, known, score }
}

function compare(a: number[], b: number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - b[index]!
  return 0
}

function isQuoteFlaw(flaw: string | undefined): boolean {
  return flaw === 'stray_quote' || flaw === 'unterminated_quote'
}

/** The header and all records below it have the same number of fields. */
function isEven({ records, header }: DialectCandidate): boolean {
  const rows = records.slice(Math.max(header, 0))
  return rows.length > 1 && rows.every(({ fields }) => fields.length === rows[0]!.fields.length)
}

/** Quotes of another kind are quotes where some column has them around nearly all of its values. */
function hasQuotedColumn({ records, header }: DialectCandidate): boolean {
  const rows = records.slice(header + 1)
  const columns = rows[0]?.fields.length ?? 0
  return Array.from({ length: columns }, (_, column) => column).some((column) => {
    const filled = rows.filter(({ fields }) => fields[column]!.trim() !== '')
    const quoted = filled.filter(({ inQuotes }) => inQuotes[column]).length
    return quoted >= 2 && quoted >= 0.8 * filled.length
  })
}

function dialectOf(
  reading: DialectCandidate,
  sample: Buffer,
  knows: (name: string) => boolean,
  isGiven: boolean,
): Dialect {
  const { delimiter, quote, escapedBy, records } = reading
  const header = records[reading.header]
  const above = records.slice(0, Math.max(reading.header, 0))
  const broken = [...(header ? [header] : []), ...above].find(({ flaw }) => isQuoteFlaw(flaw))
  if (broken)
    throw unreadable(`line ${broken.line}, at or above its header, has a quote that is out of place`)
  if (!header) throw unreadable('no line of it could be a header')
  const rows = records.slice(reading.header + 1)
  const sound = rows.filter(({ flaw }) => !flaw)
  const raw = header.fields.map((field) => field.trim())
  const isKnown = reading.known >= 2 || (reading.known === 1 && raw.length === 1)
  if (!isGiven && !isKnown && isData(raw, sound)) {
    const names = above.at(-1)
    if (names && names.fields.length > 1 && names.fields.length === raw.length - 1 && looksLikeHeader(names))
      throw shortHeader(names.line, names.fields.length, raw.length)
    throw withoutHeader(header.line, header.fields)
  }
  if (header.fields.some((field, column) => !header.inQuotes[column] && field.includes('"') && !knows(field)))
    throw unreadable(`its header (line ${header.line}) has a quote inside a name`)

  const { columns, surplusBlanks, notes } = columnsOf(raw, rows, header.line, knows)
  const headers = headerNames(raw.slice(0, columns))
  const evidence = evidenceOf(rows, header, columns, String.fromCharCode(delimiter))
  return {
    delimiter,
    quote,
    escapedBy,
    headerLine: header.line,
    headers,
    surplusBlanks,
    preamble: above.map((record) => ({
      line: record.line,
      text: sample.toString('utf8', record.from, record.next).trim().slice(0, 1000),
    })),
    dataFrom: header.next,
    dataLine: header.line + header.lines,
    evidence,
    notes: [
      ...notes,
      ...unnamedNote(raw.slice(0, columns), header.line),
      ...otherQuotesNote(header, String.fromCharCode(quote)),
      ...(columns === 1 && !knows(headers[0]!) ? oneColumnNote(records) : []),
      ...(columns > 1 && !isKnown ? unevenNote(records, String.fromCharCode(delimiter)) : []),
      ...(isKnown || isGiven ? [] : likeHeaderNote(above, header, columns)),
      ...doubtfulLineNote(evidence),
    ],
  }
}

/** The columns have names from elsewhere: every record is data. */
function namedDialect(
  reading: DialectCandidate,
  names: readonly string[],
  start: { from: number; line: number },
): Dialect {
  const { delimiter, quote, escapedBy, records } = reading
  const width = usualWidth(records)
  if (records.length > 0 && width !== names.length) {
    throw new StagedoorError('argument_invalid', {
      reason: `columns names ${names.length} columns, and the lines of the file have ${width} fields`,
    })
  }
  const same = records[0]?.fields.every((field, column) => field.trim() === names[column])
  const evidence = evidenceOf(records, undefined, names.length, String.fromCharCode(delimiter))
  return {
    delimiter,
    quote,
    escapedBy,
    headerLine: same ? records[0]!.line : 0,
    headers: headerNames([...names]),
    surplusBlanks: 0,
    preamble: [],
    dataFrom: same ? records[0]!.next : start.from,
    dataLine: same ? records[0]!.line + records[0]!.lines : start.line,
    evidence: { ...evidence, headerLines: [], doubtfulLine: undefined },
    notes: [],
  }
}

/** A delimiter at the end of every line is a habit of some exports, not a column: if the header has it, too. */
function columnsOf(
  header: string[],
  rows: Placed[],
  line: number,
  knows: (name: string) => boolean,
): { columns: number; surplusBlanks: number; notes: FileNote[] } {
  const width = usualWidth(rows)
  const usual = rows.filter(({ fields }) => fields.length === width)
  const blankFrom = (from: number) =>
    rows.every(({ fields }) => fields.slice(from, Math.max(width, header.length)).every((f) => f === ''))
  const named = Math.max(1, header.length - trailingBlanks(header))
  if (usual.length >= 2 && usual.length >= 0.8 * rows.length && width > header.length) {
    if (blankFrom(header.length) && header.length === named && header.every(knows)) {
      const message = 'Every line ends with a delimiter that the header does not have; it was passed over'
      const notes = [{ rule: 'file.trailing_delimiter', message, line: line + 1, count: usual.length }]
      return { columns: named, surplusBlanks: width - named, notes }
    }
    throw shortHeader(line, header.length, width)
  }
  if (named === header.length || !blankFrom(named))
    return { columns: header.length, surplusBlanks: 0, notes: [] }
  return { columns: named, surplusBlanks: Math.max(0, width - named), notes: [] }
}

function shortHeader(line: number, names: number, fields: number): StagedoorError {
  return unreadable(
    `its header (line ${line}) has ${names} names, and its lines have ${fields} fields: values would stand under wrong ` +
      'names. Give every column a name (the first one, if it numbers the rows) and remove delimiters at the ends of lines',
  )
}

function unnamedNote(header: string[], line: number): FileNote[] {
  const unnamed = header.flatMap((name, column) => (name === '' ? [column + 1] : []))
  if (unnamed.length === 0) return []
  const message = `The header has no name for column ${unnamed.slice(0, 20).join(', ')}`
  return [{ rule: 'file.unnamed_columns', message, line, count: unnamed.length }]
}

function otherQuotesNote(header: Placed, quote: string): FileNote[] {
  const count = countOtherQuotes(header, quote)
  if (count === 0) return []
  const message = 'Names in the header stand in quotes of another kind, which were kept'
  return [{ rule: 'file.other_quotes', message, line: header.line, count }]
}

const UNUSUAL_DELIMITERS = [':', '^', '~', ' ', '\x1f', '\x01', '#', '!', '¦', '§']

/** Lines of different widths that another delimiter splits evenly: it may be the one that is meant. */
function unevenNote(records: Placed[], delimiter: string): FileNote[] {
  const width = usualWidth(records)
  const most = 0.8 * records.length
  if (records.filter(({ fields }) => fields.length === width).length >= most) return []
  const lines = records.map(({ fields }) => fields.join(delimiter).trim())
  const found = [...DELIMITERS, ...UNUSUAL_DELIMITERS].find((other) => {
    const count = lines[0]!.split(other).length
    return (
      other !== delimiter &&
      count > 1 &&
      lines.filter((line) => line.split(other).length === count).length >= most
    )
  })
  if (found === undefined) return []
  const message = `The lines have different numbers of values. If ${JSON.stringify(found)} separates them, upload the file again with that delimiter`
  return [{ rule: 'file.uneven_lines', message, line: records[0]!.line }]
}

/** A file of one column is often one of several whose delimiter nobody expects. */
function oneColumnNote(records: Placed[]): FileNote[] {
  const lines = records.map(({ fields }) => fields[0]!.replace(/"[^"]*"/g, '').trim())
  const found = UNUSUAL_DELIMITERS.find((delimiter) => {
    const count = lines[0]!.split(delimiter).length
    return (
      count > 1 && lines.filter((line) => line.split(delimiter).length === count).length >= 0.5 * lines.length
    )
  })
  const isAligned = lines.length > 1 && lines.every((line) => /\S(?: {2,}|\t+)\S/.test(line))
  if (found === undefined && !isAligned) return []
  const message = isAligned
    ? 'The file was read as one column, and its lines look like several columns of a fixed width'
    : `The file was read as one column. If ${JSON.stringify(found)} separates its values, upload it again with that delimiter`
  return [{ rule: 'file.one_column', message, line: records[0]!.line }]
}

/**
 * A line above the header may be the header, written otherwise: one with as many words as there are columns, or one with
 * several fields right above it, which lost a delimiter.
 */
function likeHeaderNote(above: Placed[], header: Placed, columns: number): FileNote[] {
  const like = above.find(({ fields, line, lines }) => {
    if (columns < 2) return false
    const text = fields.join(' ').trim()
    if ([...DELIMITERS, ' '].some((other) => text.split(other).length === columns)) return true
    return line + lines === header.line && fields.filter((field) => field.trim() !== '').length > 1
  })
  if (!like) return []
  const message = `Line ${like.line} may be the header and was taken for a title: check that line ${header.line} has the names of the columns`
  return [{ rule: 'file.title_like_header', message, line: like.line }]
}

function doubtfulLineNote({ doubtfulLine }: CsvEvidence): FileNote[] {
  if (doubtfulLine === undefined) return []
  const message =
    'A line right below the header has text where the others have numbers or dates; it was read as data: check that it is none of units or names'
  return [{ rule: 'file.text_below_header', message, line: doubtfulLine }]
}

// What the first records say about all of them, and which later records contradict it. A quote or a delimiter that is
// not where it should be can leave the right number of fields behind: lenience needs evidence from the whole file, so a
// record that can be read in two ways is flagged unless the others show which way is meant.

const DELIMITERS = ['\t', ';', '|', ',']

export type Kind = 'blank' | 'year' | 'number' | 'date' | 'time' | 'text'

export interface CsvEvidence {
  /** Some field of the file is quoted: then its writer quotes values, and a bare value has no quotes by accident. */
  quotes: boolean
  /** By column: most of its values stand in quotes. */
  quotedColumns: boolean[]
  /** By column: what most of its values are. */
  kinds: Kind[]
  /** Delimiters of other files that do not stand in this file's values by habit. */
  otherDelimiters: string[]
  /** Lines below the header that go on with it: units, or a second row of names. */
  headerLines: number[]
  /** The first line that has text in the only column of numbers or dates: a wrong value, or units. It is read as data. */
  doubtfulLine: number | undefined
  /** A record usually has values behind its first column. */
  filled: boolean
}

const NUMBER = /^[-+(]?\s*(?:\p{Sc}|[A-Z]{3}\s)?\s*[-+]?\d[\d.,'’\s]*\s*(?:%|\p{Sc}|[A-Z]{3})?\)?$/u
const DATE = /^\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:[T\s].*)?$/
const TIME = /^\d{1,2}:\d{2}(?::\d{2})?/

export function kindOf(value: string): Kind {
  const text = value.trim()
  if (text === '') return 'blank'
  if (/^(?:19|20)\d\d$/.test(text)) return 'year'
  if (DATE.test(text)) return 'date'
  if (TIME.test(text)) return 'time'
  return NUMBER.test(text) ? 'number' : 'text'
}

/** What at least four of five values of a column are; `text` where nothing is that common. */
function columnKinds(rows: readonly { fields: string[] }[], columns: number): Kind[] {
  return Array.from({ length: columns }, (_, column) => {
    const counts = new Map<Kind, number>()
    for (const { fields } of rows) {
      const kind = kindOf(fields[column] ?? '')
      if (kind !== 'blank') counts.set(kind, (counts.get(kind) ?? 0) + 1)
    }
    const filled = [...counts.values()].reduce((sum, count) => sum + count, 0)
    const [kind, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['blank', 0]
    if (filled > 0 && count >= 0.8 * filled) return kind
    const numbers = (counts.get('number') ?? 0) + (counts.get('year') ?? 0)
    return filled > 0 && numbers >= 0.8 * filled ? 'number' : filled === 0 ? 'blank' : 'text'
  })
}

function isTyped(kind: Kind): boolean {
  return kind !== 'text' && kind !== 'blank'
}

/**
 * The header is a line of values like those below it: the file has none. Either a cell of it is of the kind of its column
 * (`2024` above amounts is a name), or it stands again in its column, which the name of a column does not.
 */
export function isData(header: readonly string[], rows: readonly { fields: string[] }[]): boolean {
  const cells = header.map(kindOf)
  if (cells.every((kind) => kind !== 'text')) return true
  const kinds = columnKinds(rows, header.length)
  if (cells.some((kind, column) => kind !== 'text' && kind !== 'blank' && kind === kinds[column])) return true
  return standsAgain(header, rows) > 1
}

/** How often a cell of the header stands in its own column below, in lines that are not the header again. */
function standsAgain(header: readonly string[], rows: readonly { fields: string[] }[]): number {
  const isAgain = (field: string, column: number) =>
    field.trim() !== '' && field.trim() === header[column]?.trim()
  return rows
    .filter(({ fields }) => !fields.every((field, column) => field.trim() === '' || isAgain(field, column)))
    .reduce((times, { fields }) => times + fields.filter(isAgain).length, 0)
}

const NO_VALUE = /^(?:n\/?a|nan|null|none|nil|unknown|missing|-+|—)$/i

/**
 * In how many columns of numbers or dates the line has a name or a unit; 0 where one of these cells is a value. A wrong value in
 * one column looks the same as a name, so one alone does not say that the line goes on with the header.
 */
function namesAmongValues(fields: readonly string[], kinds: readonly Kind[]): number {
  const typed = kinds.flatMap((kind, column) => (isTyped(kind) ? [column] : []))
  const cells = typed.map((column) => (fields[column] ?? '').trim()).filter((cell) => cell !== '')
  const isName = (cell: string) => kindOf(cell) === 'text' && /\p{L}/u.test(cell) && !NO_VALUE.test(cell)
  return cells.every(isName) ? cells.length : 0
}

interface PlacedRecord extends CsvRecord {
  line: number
}

function evidenceOf(
  rows: readonly PlacedRecord[],
  header: CsvRecord | undefined,
  columns: number,
  delimiter: string,
): CsvEvidence {
  const whole = rows.filter(({ flaw, fields }) => !flaw && fields.length >= columns)
  const { headerLines, doubtfulLine } = leadingLines(whole, columns)
  const data = whole.slice(headerLines.length)
  const kinds = columnKinds(data, columns)
  const share = (count: number) => count / Math.max(data.length, 1)
  return {
    quotes: [...rows, ...(header ? [header] : [])].some(({ inQuotes }) => inQuotes.includes(true)),
    quotedColumns: Array.from({ length: columns }, (_, column) => {
      return share(data.filter(({ inQuotes }) => inQuotes[column]).length) > 0.5
    }),
    kinds,
    otherDelimiters: DELIMITERS.filter((other) => {
      const fits = data.filter(({ fields }) => otherFields(fields, delimiter, other).length === columns)
      return other !== delimiter && columns > 1 && (fits.length <= 2 || share(fits.length) < 0.05)
    }),
    headerLines,
    doubtfulLine,
    filled:
      (columns > 2 || isTyped(kinds[1] ?? 'text')) &&
      share(data.filter(({ fields }) => hasOnlyFirst(fields)).length) < 0.5,
  }
}

/** One value tells nothing about its column: at least two of the lines below have one in each typed column. */
function leadingLines(
  rows: readonly PlacedRecord[],
  columns: number,
): Pick<CsvEvidence, 'headerLines' | 'doubtfulLine'> {
  const headerLines: number[] = []
  for (const [index, { fields, line }] of rows.slice(0, 3).entries()) {
    const below = rows.slice(index + 1)
    const kinds = columnKinds(below, columns).map((kind, column) => {
      const isSettled = below.filter((row) => (row.fields[column] ?? '').trim() !== '').length > 1
      return isSettled ? kind : 'text'
    })
    const names = namesAmongValues(fields, kinds)
    if (names < 2) return { headerLines, doubtfulLine: names === 1 ? line : undefined }
    headerLines.push(line)
  }
  return { headerLines, doubtfulLine: undefined }
}

export function hasOnlyFirst(fields: readonly string[]): boolean {
  return fields[0]!.trim() !== '' && fields.slice(1).every((field) => field.trim() === '')
}

/** The record as another delimiter would have cut it. */
function otherFields(fields: readonly string[], delimiter: string, other: string): string[] {
  return fields.join(delimiter).split(other)
}

/** What a record's quotes and delimiters contradict, where its number of fields is right. */
export function contradictingFlaw(
  record: CsvRecord,
  evidence: CsvEvidence,
  marks: { delimiter: string; quote: string },
): Flaw | undefined {
  if (hasStrayQuote(record, evidence, marks.quote)) return 'stray_quote'
  if (isCutByAnother(record, evidence, marks.delimiter)) return 'other_delimiter'
  return undefined
}

/** `5" screen`: behind a digit, and not before a letter. */
const INCH = /(?<=\d)"(?![\p{L}\d"])/gu

function hasStrayQuote({ fields, inQuotes }: CsvRecord, evidence: CsvEvidence, quote: string): boolean {
  const bare = fields.map((field, column) => (inQuotes[column] ? '' : field))
  if (ENCLOSING.some(([opens, closes]) => opens !== quote && isTornApart(bare, opens, closes))) return true
  // An apostrophe is a letter of many words; only those around a value count where they quote.
  if (quote !== '"') return false
  let isOpen = false
  for (const [column, field] of bare.entries()) {
    if (!field.includes('"')) continue
    // A quote that opened in an earlier value may close here: then the delimiter between them was no delimiter.
    if (isOpen) return true
    const strange = field.replace(INCH, '').split('"').length - 1
    // No number and no date has a quote in it.
    if (isTyped(evidence.kinds[column] ?? 'text')) return true
    // `5"` at the end of a column that is quoted elsewhere may as well have lost its opening quote.
    const lostOpening = evidence.quotedColumns[column] && field.trimEnd().endsWith('"')
    if (evidence.quotes && (strange > 0 || lostOpening)) return true
    isOpen = strange % 2 === 1
  }
  return false
}

const ENCLOSING: [opens: string, closes: string][] = [
  ["'", "'"],
  ['`', '`'],
  ['"', '"'],
  ['“', '”'],
  ['„', '“'],
  ['‘', '’'],
  ['«', '»'],
]

/** `'a`, `b'`: one value in quotes of another kind, cut at the delimiter within it. */
function isTornApart(bare: readonly string[], opens: string, closes: string): boolean {
  const begins = bare.findIndex((field) => {
    const text = field.trim()
    return text.startsWith(opens) && !(text.length > 1 && text.endsWith(closes))
  })
  if (begins < 0) return false
  return bare.slice(begins + 1).some((field) => {
    const text = field.trim()
    return text.endsWith(closes) && !(text.length > 1 && text.startsWith(opens))
  })
}

/** How many values stand in quotes of another kind, which are kept with them. */
export function countOtherQuotes(
  { fields, inQuotes }: Pick<CsvRecord, 'fields' | 'inQuotes'>,
  quote: string,
): number {
  return fields.filter((field, column) => {
    const text = field.trim()
    return (
      !inQuotes[column] &&
      ENCLOSING.some(
        ([opens, closes]) =>
          opens !== quote && text.length > 1 && text.startsWith(opens) && text.endsWith(closes),
      )
    )
  }).length
}

/** One line with another delimiter whose values hold this one: `Ann;1,5` among `Bob,2`. */
function isCutByAnother(record: CsvRecord, evidence: CsvEvidence, delimiter: string): boolean {
  if (!record.bare) return false
  return evidence.otherDelimiters.some((other) => {
    const parts = otherFields(record.fields, delimiter, other)
    const columns = evidence.kinds.length
    if (parts.length < columns || !evidence.kinds.some(isTyped)) return false
    // The first value may hold it, too.
    const cells = [parts.slice(0, parts.length - columns + 1).join(other), ...parts.slice(1 - columns)]
    if (!cells.every((cell, column) => cell === cell.trim() && fits(cell, evidence.kinds[column]!)))
      return false
    return !isAsChosen(record.fields, cells, evidence.kinds, delimiter)
  })
}

/**
 * `R1;1,5` among `R2;2`: the values fit as the file's delimiter cuts them, and with the other one it would stand within a
 * text (`R1;1`). In `Ann;1,5` among `Bob,2` it would stand within a number, where a comma is usual.
 */
function isAsChosen(
  fields: readonly string[],
  cells: readonly string[],
  kinds: readonly Kind[],
  delimiter: string,
): boolean {
  const holders = kinds.filter((_, column) => cells[column]!.includes(delimiter))
  if (holders.length === 0 || holders.some(isTyped)) return false
  return kinds.every((kind, column) => !isTyped(kind) || fits(fields[column] ?? '', kind))
}

function fits(value: string, kind: Kind): boolean {
  const found = kindOf(value)
  if (!isTyped(kind)) return !isTyped(found)
  return found === 'blank' || found === kind || (kind === 'number' && found === 'year')
}
