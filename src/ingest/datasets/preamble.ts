/** The lines above the header: reports name their period there, and a report without days is of one day or none. */
import { StagedoorError } from '../../errors.ts'
import { MONTHS } from './compile/months.ts'
import type { Dataset } from './dataset.ts'
import { type HeaderMap, hasField, requireColumns } from './map-headers.ts'

export interface Period {
  start: string
  end: string
}

const BETWEEN =
  /\s+[-–—]\s+|\s*[–—]\s*|\s+(?:to|bis|au|al|a|à|até|đến|-)\s+|(?<=\d{4})\s*-\s*(?=\d{4}|[^\d\s])|(?<=[./]\d{4})\s*-\s*/iu

/** `1 January 2024 - 31 January 2024`, `Jan 1, 2024 - Jan 1, 2024`, `2024-01-01`: the first line that is one. */
export function periodOf(preamble: readonly { text: string }[]): Period | null {
  for (const { text } of preamble) {
    const line = text.replace(/^["']+|["',;\s]+$/gu, '').trim()
    const period = periodIn(line)
    if (period) return period
  }
  return null
}

/**
 * Refuses a file that lacks columns, and one whose lines cover more than a day where each must be of one day.
 * `without`: expected fields that the file is said not to have. Gives the period of the date line where the day has to come from it.
 */
export function settlePeriod(
  dataset: Dataset,
  platform: string,
  map: HeaderMap,
  preamble: readonly { text: string }[],
  without: readonly string[] = [],
): Period | null {
  const leaf = dataset.rows.find((row) => row.name === map.leaf)
  const day = Object.entries(dataset.fields).find(
    ([name, field]) =>
      field.type === 'date' && field.period && leaf && Object.values(leaf.columns).includes(name),
  )?.[0]
  if (day === undefined || hasField(dataset, map.fields, day)) {
    requireColumns(dataset, platform, map, without)
    return null
  }
  const period = periodOf(preamble)
  requireColumns(dataset, platform, map, [...without, ...(period ? [day] : [])])
  if (!period) return null
  if (period.start !== period.end) {
    throw new StagedoorError('upload_period_too_long', { period: `${period.start} to ${period.end}` })
  }
  return period
}

function periodIn(line: string): Period | undefined {
  const whole = dayIn(line)
  if (whole) return { start: whole, end: whole }
  const colon = line.includes(':') ? line.slice(line.indexOf(':') + 1).trim() : line
  for (const text of [line, colon]) {
    const single = dayIn(text)
    if (single) return { start: single, end: single }
    const parts = text.split(BETWEEN)
    if (parts.length !== 2) continue
    const end = dayIn(parts[1]!.trim())
    // `1 - 31 January 2024` leaves out what both days share.
    const first = parts[0]!.trim()
    const start = dayIn(first) ?? (end ? dayIn(completed(first, parts[1]!.trim())) : undefined)
    if (start && end) return { start, end }
  }
  return undefined
}

function completed(first: string, second: string): string {
  const year = /\d{4}/.exec(second)?.[0] ?? ''
  if (/^\d{1,2}\.?$/.test(first)) return second.replace(/\d{1,2}/, first.replace('.', ''))
  return `${first.replace(/,$/, '')}, ${year}`
}

function dayIn(text: string): string | undefined {
  const plain = text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/đ/g, 'd')
    .replace(/^(?:[a-z]+\.?, )(?=[a-z]|\d)/, '')
    .trim()
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(plain)
  if (iso) return checked(iso[1]!, Number(iso[2]), iso[3]!)
  const compact = /^((?:19|20)\d{2})(\d{2})(\d{2})$/.exec(plain)
  if (compact) return checked(compact[1]!, Number(compact[2]), compact[3]!)
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(plain)
  if (dotted) return checked(dotted[3]!, Number(dotted[2]), dotted[1]!)
  const viet = /^(?:ngay )?(\d{1,2}),? thang (\d{1,2}),?(?: nam)? (\d{4})$/.exec(plain)
  if (viet) return checked(viet[3]!, Number(viet[2]), viet[1]!)
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th|er|\.)?[ -](?:de )?([a-z]{3,})\.?,?[ -](?:de )?(\d{4})$/.exec(
    plain,
  )
  if (dayFirst) return checked(dayFirst[3]!, MONTHS[dayFirst[2]!], dayFirst[1]!)
  const monthFirst = /^([a-z]{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/.exec(plain)
  if (monthFirst) return checked(monthFirst[3]!, MONTHS[monthFirst[1]!], monthFirst[2]!)
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(plain)
  if (slashed) return slashedDay(slashed[3]!, Number(slashed[1]), Number(slashed[2]))
  return undefined
}

/** Only where one reading is possible. */
function slashedDay(year: string, first: number, second: number): string | undefined {
  if (first > 12) return checked(year, second, String(first))
  if (second > 12 || first === second) return checked(year, first, String(second))
  return undefined
}

function checked(year: string, month: number | undefined, day: string): string | undefined {
  if (month === undefined) return undefined
  const date = new Date(Date.UTC(Number(year), month - 1, Number(day)))
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== Number(day)) return undefined
  return date.toISOString().slice(0, 10)
}
