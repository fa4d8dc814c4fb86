/**
 * One record of a CSV, read with care: the reader for the first lines, where nothing is known yet, and for every
 * record that `csv-scanner.ts` finds irregular. It says what is wrong and shows as much as can be shown.
 */
import { isUtf8 } from 'node:buffer'
import type { Flaw } from './chunks.ts'

export const LF = 10
export const CR = 13
export const QUOTE = 34
const BLANK = 32

/** A longer record is not held. */
export const LONGEST_RECORD = 1024 * 1024
/** A quoted field of more lines is taken for a quote that someone forgot to close. */
export const MOST_LINES_QUOTED = 100

export interface CsvRecord {
  fields: string[]
  flaw?: Flaw
  /** Where the next record begins. */
  next: number
  /** Physical lines that the record takes. */
  lines: number
  /** Had no field in quotes: an empty line is blank, a line of `""` is not. */
  bare: boolean
  /** Too long to be held: what follows up to the line's end is still of this record. */
  unfinished?: true
}

interface Place {
  bytes: Buffer
  from: number
  /** Behind the last byte that is there; whether more may come is `last`. */
  end: number
  last: boolean
  delimiter: number
}

/** `undefined`: the record does not end within these bytes, and more are to come. */
export function readCsvRecord(window: Place): CsvRecord | undefined {
  // What a record is must not depend on how much of the file happens to be at hand.
  const tooLong = window.end - window.from > LONGEST_RECORD
  const place = tooLong ? { ...window, end: window.from + LONGEST_RECORD, last: false } : window
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
  const { bytes, from, end, last, delimiter } = place
  const fields: string[] = []
  let at = from
  let lines = 1
  let bare = true
  for (;;) {
    const quoted = at < end && bytes[at] === QUOTE ? readQuoted(place, at) : undefined
    if (typeof quoted === 'object') {
      fields.push(quoted.text)
      lines += quoted.lineEnds
      at = quoted.next
      bare = false
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
    return { fields, next, lines, bare }
  }
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
  const { bytes, end, last, delimiter } = place
  let at = from + 1
  let lineEnds = 0
  for (;;) {
    while (at < end && bytes[at] !== QUOTE && bytes[at] !== LF && bytes[at] !== CR) at++
    if (at >= end) return last ? 'unterminated_quote' : overlong(place, lineEnds)
    if (bytes[at] !== QUOTE) {
      if (at + 1 >= end && !last) return overlong(place, lineEnds)
      at = behindLineEnd(bytes, at, end)
      if (++lineEnds > MOST_LINES_QUOTED) return 'unterminated_quote'
      continue
    }
    if (at + 1 >= end && !last) return overlong(place, lineEnds)
    if (at + 1 < end && bytes[at + 1] === QUOTE) {
      at += 2
      continue
    }
    let next = at + 1
    if (delimiter !== BLANK) while (next < end && bytes[next] === BLANK) next++
    if (next >= end && !last) return overlong(place, lineEnds)
    const closes = next >= end || bytes[next] === delimiter || bytes[next] === LF || bytes[next] === CR
    if (!closes) return lineEnds > 0 ? 'unterminated_quote' : 'stray_quote'
    const text = bytes.toString('utf8', from + 1, at).replaceAll('""', '"')
    return { text: lineEnds > 0 ? text.replace(/\r\n?/g, '\n') : text, next, lineEnds }
  }
}

function overlong(place: Place, lineEnds: number): 'more' | 'unterminated_quote' {
  return lineEnds > 0 && place.end - place.from >= LONGEST_RECORD ? 'unterminated_quote' : 'more'
}

/** Values of a record that nobody can hold are cut for showing. */
export const SHOWN_CHARACTERS = 1000
const SHOWN_FIELDS = 2000

function readTooLong({ bytes, from, end, delimiter }: Place): CsvRecord {
  const fields: string[] = []
  let lines = 0
  for (let at = from; at < end; at++)
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) lines++
  for (let at = from; at < end && fields.length < SHOWN_FIELDS; ) {
    const found = bytes.indexOf(delimiter, at)
    const fieldEnd = found === -1 || found > end ? end : found
    const shownEnd = Math.min(fieldEnd, at + 4 * SHOWN_CHARACTERS)
    fields.push(bytes.toString('utf8', at, shownEnd).slice(0, SHOWN_CHARACTERS))
    at = fieldEnd + 1
  }
  return { fields, flaw: 'line_too_long', next: end, lines, bare: false, unfinished: true }
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
