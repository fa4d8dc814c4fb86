/** Which record is the header: title and date lines may stand above it, and nothing marks it. */
import { StagedoorError } from '../../errors.ts'
import type { Flaw } from './chunks.ts'
import { unreadable } from './format.ts'

export interface Candidate {
  fields: string[]
  flaw?: Flaw
}

/** More are values that went astray, and more than DuckDB reads in good time. */
export const MOST_COLUMNS = 2000
const MOST_PREAMBLE = 30

/** The header's index among the first records, or -1, and how many names of it the dataset knows. */
export function findHeader(
  records: Candidate[],
  knows: (name: string) => boolean = () => false,
): { header: number; known: number } {
  const first = records.slice(0, MOST_PREAMBLE + 1)
  const known = first.map(({ fields }) => fields.filter((field) => knows(field.trim())).length)
  const most = Math.max(0, ...known)
  const best = known.indexOf(most)
  if (most >= 2 || (most === 1 && first[best]!.fields.length === 1)) return { header: best, known: most }

  const width = usualWidth(records) - habitualBlanks(records)
  // A title with delimiters behind it is as wide as the header; it is not as full.
  const filled = (record: Candidate) => record.fields.filter((field) => field.trim() !== '').length
  const fullest = Math.max(...first.map(filled))
  const wide = (record: Candidate) => record.fields.length >= width && filled(record) >= fullest / 2
  const named = first.findIndex((record) => wide(record) && looksLikeHeader(record))
  if (named >= 0) return { header: named, known: most }
  return { header: first.findIndex((record) => wide(record) && isReadable(record)), known: most }
}

/** Of the records that have several fields, most have this many. */
export function usualWidth(records: Candidate[]): number {
  const counts = new Map<number, number>()
  for (const { fields } of records) counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1)
  const wide = [...counts].filter(([width]) => width > 1).sort((a, b) => b[1] - a[1] || b[0] - a[0])
  return wide[0]?.[0] ?? 1
}

/** Title lines have dates in them, data has numbers; the names of columns have neither. */
export function looksLikeHeader(record: Candidate): boolean {
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
  if (fields.length > MOST_COLUMNS) throw unreadable(`it has more than ${MOST_COLUMNS} columns`)
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
function habitualBlanks(records: Candidate[]): number {
  const width = usualWidth(records)
  const usual = records.filter(({ fields }) => fields.length === width)
  return Math.min(width - 1, ...usual.map(({ fields }) => trailingBlanks(fields)))
}

function isReadable({ flaw }: Candidate): boolean {
  return flaw === undefined || flaw === 'invalid_utf8' || flaw === 'nul_character'
}
