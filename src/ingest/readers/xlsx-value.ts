/** What a number in a workbook means: its cell's format says whether it is a date, a share or just a number. */

export type NumberKind = 'plain' | 'percent' | 'date'

const DATE_FORMATS = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])
for (const [first, last] of [
  [27, 36],
  [50, 58],
] as const)
  for (let id = first; id <= last; id++) DATE_FORMATS.add(id)
const PERCENT_FORMATS = new Set([9, 10])

export function kindOfFormat(id: number, code: string | undefined): NumberKind {
  if (code === undefined) return DATE_FORMATS.has(id) ? 'date' : PERCENT_FORMATS.has(id) ? 'percent' : 'plain'
  const bare = code
    .split(';')[0]!
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
  if (/general/i.test(bare)) return 'plain'
  if (bare.includes('%')) return 'percent'
  return /[dmyhs]/i.test(bare) ? 'date' : 'plain'
}

export function numberText(written: string, kind: NumberKind, from1904: boolean): string {
  const number = Number(written)
  if (written.trim() === '' || !Number.isFinite(number)) return written
  if (kind === 'date') return dateText(number, from1904) ?? plainText(written, number)
  if (kind === 'percent') return `${Number((number * 100).toPrecision(15))}%`
  return plainText(written, number)
}

/**
 * A spreadsheet keeps 15 digits. A longer number whose further digits are all zero has most likely lost them: it stays
 * in scientific form, so that nobody takes it for an id. One with other digits was written by a program, exactly.
 */
function plainText(written: string, number: number): string {
  if (written.length <= 15 && PLAIN_DECIMAL.test(written)) return written
  if (Math.abs(number) < 1e15) return String(Number(number.toPrecision(15)))
  const exact = /^-?\d{16,}$/.test(written) && !/^-?\d{15}0+$/.test(written)
  return exact ? written : number.toExponential().replace('e', 'E')
}

const PLAIN_DECIMAL = /^-?\d+(\.\d+)?$/

const DAY = 86_400_000

/** Days since 1899-12-30, because Excel believes in a 29th of February 1900; a Mac's workbook counts from 1904. */
function dateText(serial: number, from1904: boolean): string | undefined {
  const days = from1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  if (serial < 0 || days >= 2_958_466) return undefined
  const milliseconds = Math.round((days * DAY) / 1000) * 1000
  const iso = new Date(Date.UTC(1899, 11, 30) + milliseconds).toISOString()
  if (serial < 1 && !from1904) return iso.slice(11, 19)
  return milliseconds % DAY === 0 ? iso.slice(0, 10) : iso.slice(0, 19)
}

/** `_x000D_`: how a workbook writes characters that XML cannot hold. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
