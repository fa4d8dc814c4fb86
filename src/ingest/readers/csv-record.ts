/**
 * One record of a CSV, read with care: the reader for the first lines, where nothing is known yet, and for every
 * record that `csv.ts` finds irregular. It says what is wrong and shows as much as can be shown.
 */
import { isUtf8 } from 'node:buffer'
import type { Flaw } from './chunks.ts'

export const LF = 10
export const CR = 13
export const QUOTE = 34
export const BACKSLASH = 92
const BLANK = 32
const TAB = 9

/** A longer record is not held. */
export const MAX_RECORD_BYTES = 1024 * 1024
/** A quoted field of more lines is taken for a quote that someone forgot to close. */
const MAX_QUOTED_LINES = 100

export interface CsvRecord {
  fields: string[]
  flaw?: Flaw
  /** Where the next record begins. */
  next: number
  /** Physical lines that the record takes. */
  lines: number
  /** Had no field in quotes: an empty line is blank, a line of `""` is not. */
  bare: boolean
  /** Which fields stood in quotes. */
  inQuotes: boolean[]
  /** Fields whose opening quote stood behind blanks: `a, "b"`. */
  spacedQuotes: number
  /** Too long to be held: what follows up to the line's end is still of this record. */
  unfinished?: true
}

/** The characters that a file's structure is made of. */
export interface Marks {
  delimiter: number
  quote: number
  /** Before a quote within quotes: the quote itself, or a backslash. */
  escapedBy: number
}

interface Place extends Marks {
  bytes: Buffer
  from: number
  /** Behind the last byte that is there; whether more may come is `last`. */
  end: number
  last: boolean
}

/** `undefined`: the record does not end within these bytes, and more are to come. */
export function readCsvRecord(window: Place): CsvRecord | undefined {
  // What a record is must not depend on how much of the file happens to be at hand.
  const tooLong = window.end - window.from > MAX_RECORD_BYTES
  const place = tooLong ? { ...window, end: window.from + MAX_RECORD_BYTES, last: false } : window
  const { bytes, from, end, last } = place
  const record = readFields(place)
  if (record === 'more') return tooLong ? readTooLong(place) : undefined
  if (typeof record === 'object') return withFlawsOfText(record, bytes.subarray(from, record.next))

  // One bad quote must not swallow the lines below it: the record is its physical line, and only the bad field's
  // quote is text.
  const lineEnd = endOfLine(bytes, from, end)
  const next = behindLineEnd(bytes, lineEnd, end)
  if (next === end && !last && bytes[end - 1] !== LF) {
    return tooLong ? readTooLong(place) : undefined
  }
  const line = readFields({ ...place, end: lineEnd, last: true }, true) as CsvRecord
  return { ...withFlawsOfText(line, bytes.subarray(from, lineEnd)), flaw: record, next }
}

type QuoteFlaw = 'unterminated_quote' | 'stray_quote'

function readFields(place: Place, badQuotesAreText = false): CsvRecord | 'more' | QuoteFlaw {
  const { bytes, from, end, last, delimiter, quote } = place
  const fields: string[] = []
  const inQuotes: boolean[] = []
  let at = from
  let lines = 1
  let spacedQuotes = 0
  for (;;) {
    // Blanks before a quote belong to neither: a value that begins with a quote must be quoted itself.
    let opening = at
    while (opening < end && isBlank(bytes[opening]!, delimiter)) opening++
    if (opening >= end && !last) return 'more'
    const quoted = opening < end && bytes[opening] === quote ? readQuoted(place, opening) : undefined
    inQuotes.push(typeof quoted === 'object')
    if (typeof quoted === 'object') {
      if (opening > at) spacedQuotes++
      fields.push(quoted.text)
      lines += quoted.lineEnds
      at = quoted.next
    } else {
      if (quoted && !badQuotesAreText) return quoted
      const start = at
      while (at < end && bytes[at] !== delimiter && bytes[at] !== LF && bytes[at] !== CR) at++
      fields.push(bytes.toString('utf8', start, at))
    }
    if (at < end && bytes[at] === delimiter) {
      at++
      continue
    }
    if (at >= end && !last) return 'more'
    const next = behindLineEnd(bytes, at, end)
    // A CR at the very end may be the first half of a CRLF.
    if (next === end && !last && bytes[end - 1] === CR) return 'more'
    return { fields, next, lines, bare: !inQuotes.includes(true), inQuotes, spacedQuotes }
  }
}

function isBlank(byte: number, delimiter: number): boolean {
  return (byte === BLANK || byte === TAB) && byte !== delimiter
}

interface QuotedField {
  text: string
  next: number
  lineEnds: number
}

/**
 * A closing quote may be followed by blanks, then by a delimiter or a line end. One that is followed by anything else
 * is stray; if its field began on an earlier line, the quote that began it was never meant to reach this far.
 */
function readQuoted(place: Place, from: number): QuotedField | 'more' | QuoteFlaw {
  const { bytes, end, last, delimiter, quote, escapedBy } = place
  const backslash = escapedBy === BACKSLASH ? BACKSLASH : quote
  let at = from + 1
  let lineEnds = 0
  for (;;) {
    while (at < end && bytes[at] !== quote && bytes[at] !== LF && bytes[at] !== CR && bytes[at] !== backslash)
      at++
    if (at >= end) return last ? 'unterminated_quote' : overlong(place, lineEnds)
    if (bytes[at] === backslash && backslash !== quote) {
      if (at + 1 >= end && !last) return overlong(place, lineEnds)
      at += bytes[at + 1] === quote || bytes[at + 1] === backslash ? 2 : 1
      continue
    }
    if (bytes[at] !== quote) {
      if (at + 1 >= end && !last) return overlong(place, lineEnds)
      at = behindLineEnd(bytes, at, end)
      if (++lineEnds > MAX_QUOTED_LINES) return 'unterminated_quote'
      continue
    }
    if (at + 1 >= end && !last) return overlong(place, lineEnds)
    if (at + 1 < end && bytes[at + 1] === quote) {
      at += 2
      continue
    }
    let next = at + 1
    while (next < end && isBlank(bytes[next]!, delimiter)) next++
    if (next >= end && !last) return overlong(place, lineEnds)
    const closes = next >= end || bytes[next] === delimiter || bytes[next] === LF || bytes[next] === CR
    if (!closes) return lineEnds > 0 ? 'unterminated_quote' : 'stray_quote'
    const text = unescapeQuotes(bytes.toString('utf8', from + 1, at), quote, escapedBy)
    return { text: lineEnds > 0 ? text.replace(/\r\n?/g, '\n') : text, next, lineEnds }
  }
}

function unescapeQuotes(text: string, quote: number, escapedBy: number): string {
  const mark = String.fromCharCode(quote)
  if (escapedBy !== BACKSLASH) return text.replaceAll(mark + mark, mark)
  return text.replace(quote === QUOTE ? /\\(["\\])|"(")/g : /\\(['\\])|'(')/g, '$1$2')
}

function overlong(place: Place, lineEnds: number): 'more' | 'unterminated_quote' {
  return lineEnds > 0 && place.end - place.from >= MAX_RECORD_BYTES ? 'unterminated_quote' : 'more'
}

/** Values of a record that nobody can hold are cut for showing. */
export const MAX_SHOWN_CHARACTERS = 1000
const MAX_SHOWN_FIELDS = 2000

function readTooLong({ bytes, from, end, delimiter }: Place): CsvRecord {
  const fields: string[] = []
  let lines = 0
  for (let at = from; at < end; at++)
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) lines++
  for (let at = from; at < end && fields.length < MAX_SHOWN_FIELDS; ) {
    const found = bytes.indexOf(delimiter, at)
    const fieldEnd = found === -1 || found > end ? end : found
    const shownEnd = Math.min(fieldEnd, at + 4 * MAX_SHOWN_CHARACTERS)
    fields.push(bytes.toString('utf8', at, shownEnd).slice(0, MAX_SHOWN_CHARACTERS))
    at = fieldEnd + 1
  }
  const inQuotes = fields.map(() => false)
  return {
    fields,
    flaw: 'line_too_long',
    next: end,
    lines,
    bare: false,
    inQuotes,
    spacedQuotes: 0,
    unfinished: true,
  }
}

function withFlawsOfText(record: CsvRecord, bytes: Buffer): CsvRecord {
  if (bytes.includes(0)) {
    return {
      ...record,
      flaw: 'nul_character',
      fields: record.fields.map((field) => field.replaceAll('\0', '')),
    }
  }
  return isUtf8(bytes) ? record : { ...record, flaw: 'invalid_utf8' }
}

function endOfLine(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++
  return at
}

function behindLineEnd(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return end
  if (bytes[at] === CR && at + 1 < end && bytes[at + 1] === LF) return at + 2
  return at + 1
}
