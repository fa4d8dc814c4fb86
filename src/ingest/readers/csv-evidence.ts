/**
 * What the first records say about all of them, and which later records contradict it. A quote or a delimiter that is
 * not where it should be can leave the right number of fields behind: lenience needs evidence from the whole file, so a
 * record that can be read in two ways is flagged unless the others show which way is meant.
 */
import type { Flaw } from './chunks.ts'
import type { CsvRecord } from './csv-record.ts'

export const DELIMITERS = ['\t', ';', '|', ',']

export type Kind = 'blank' | 'year' | 'number' | 'date' | 'time' | 'text'

export interface CsvEvidence {
  /** Some field of the file stands in quotes: whoever wrote it knows them, and a bare value has none by accident. */
  quotes: boolean
  /** By column: most of its values stand in quotes. */
  quotedColumns: boolean[]
  /** By column: what most of its values are. */
  kinds: Kind[]
  /** Delimiters of other files that do not stand in this file's values by habit. */
  otherDelimiters: string[]
  /** Lines below the header that go on with it: units, or a second row of names. */
  headerLines: number[]
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
export function columnKinds(rows: readonly { fields: string[] }[], columns: number): Kind[] {
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

/** Names or units: text in every column whose other values are numbers or dates, and at least in one such. */
function goesOnWithHeader(fields: readonly string[], kinds: readonly Kind[]): boolean {
  const typed = kinds.flatMap((kind, column) => (isTyped(kind) ? [column] : []))
  const cells = typed.map((column) => (fields[column] ?? '').trim())
  const isName = (cell: string) => kindOf(cell) === 'text' && /\p{L}/u.test(cell) && !NO_VALUE.test(cell)
  return cells.some(isName) && cells.every((cell) => cell === '' || isName(cell))
}

export interface PlacedRecord extends CsvRecord {
  line: number
}

export function evidenceOf(
  rows: readonly PlacedRecord[],
  header: CsvRecord | undefined,
  columns: number,
  delimiter: string,
): CsvEvidence {
  const whole = rows.filter(({ flaw, fields }) => !flaw && fields.length >= columns)
  const lead = leadingLines(whole, columns)
  const data = whole.slice(lead.length)
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
    headerLines: lead,
    filled:
      (columns > 2 || isTyped(kinds[1] ?? 'text')) &&
      share(data.filter(({ fields }) => onlyFirst(fields)).length) < 0.5,
  }
}

/** One value tells nothing about its column: at least two of the lines below have one in each typed column. */
function leadingLines(rows: readonly PlacedRecord[], columns: number): number[] {
  const lines: number[] = []
  for (const [index, { fields, line }] of rows.slice(0, 3).entries()) {
    const below = rows.slice(index + 1)
    const kinds = columnKinds(below, columns).map((kind, column) => {
      const isSettled = below.filter((row) => (row.fields[column] ?? '').trim() !== '').length > 1
      return isSettled ? kind : 'text'
    })
    if (!goesOnWithHeader(fields, kinds)) break
    lines.push(line)
  }
  return lines
}

export function onlyFirst(fields: readonly string[]): boolean {
  return fields[0]!.trim() !== '' && fields.slice(1).every((field) => field.trim() === '')
}

/** The record as another delimiter would have cut it. */
function otherFields(fields: readonly string[], delimiter: string, other: string): string[] {
  return fields.join(delimiter).split(other)
}

/** What a record's quotes and delimiters contradict, where its number of fields is right. */
export function contradiction(
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
export function enclosedOtherwise(
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
    return cells.every((cell, column) => cell === cell.trim() && fits(cell, evidence.kinds[column]!))
  })
}

function fits(value: string, kind: Kind): boolean {
  const found = kindOf(value)
  if (!isTyped(kind)) return !isTyped(found)
  return found === 'blank' || found === kind || (kind === 'number' && found === 'year')
}
