/**
 * Numbers as PostgreSQL's numeric prints them: without an exponent, with every digit that was given behind the
 * point, and zero without a sign. 1e3 → 1000, 1.50 → 1.50, 1.50e1 → 15.0, -0.0 → 0.0.
 */
import type { CanonicalOutput } from './canonical-output.ts'

/** Beyond these, a few bytes would become megabytes of zeros: refused, as by fn_iu_staging_json_digest. */
export const MOST_DIGITS_BEFORE_POINT = 401
export const MOST_DIGITS_AFTER_POINT = 400

/** Beyond these, numeric itself gives up. */
const NUMERIC_BEFORE_POINT = 131_072
const NUMERIC_AFTER_POINT = 16_383
const NUMERIC_EXPONENT = 1_073_741_823

/** Where the parts of a number are in the source: the digits, the point (or end), the exponent (or end), the end. */
export interface NumberPlace {
  readonly negative: boolean
  readonly digits: number
  readonly point: number
  readonly exponent: number
  readonly end: number
}

export type NumberSize = 'fits' | 'too long' | 'overflow'

/** Writes the number, unless it is too long or numeric would overflow: then nothing useful is written. */
export function writeNumber(source: Uint8Array, place: NumberPlace, output: CanonicalOutput): NumberSize {
  const { digits, point, exponent } = place
  const before = point - digits
  const after = Math.max(exponent - point - 1, 0)
  const shift = exponent === place.end ? 0 : readExponent(source, exponent + 1, place.end)
  if (Math.abs(shift) >= NUMERIC_EXPONENT) return 'overflow'
  const first = firstSignificant(source, digits, exponent, point)
  const zero = first === exponent
  // Of the digits without the point: where the first that counts is, and where the point moves to.
  const leading = zero ? 0 : first - digits - (first > point ? 1 : 0)
  const whole = before + shift
  const wholeDigits = zero ? 1 : Math.max(whole - leading, 1)
  const scale = Math.max(after - shift, 0)
  if (scale > NUMERIC_AFTER_POINT || wholeDigits > NUMERIC_BEFORE_POINT) return 'overflow'
  if (scale > MOST_DIGITS_AFTER_POINT || wholeDigits > MOST_DIGITS_BEFORE_POINT) return 'too long'

  output.reserve(wholeDigits + scale + 2)
  const { bytes } = output
  let at = output.length
  if (place.negative && !zero) bytes[at++] = 0x2d
  /** The digit at a place counted from the first one, and zero where none was given. */
  const digit = (index: number): number => {
    if (index < 0 || index >= before + after) return 0x30
    return source[index < before ? digits + index : point + 1 + index - before]!
  }
  const firstWhole = zero || whole <= leading ? whole - 1 : leading
  if (zero) bytes[at++] = 0x30
  else for (let index = firstWhole; index < whole; index++) bytes[at++] = digit(index)
  if (scale > 0) {
    bytes[at++] = 0x2e
    for (let index = whole; index < whole + scale; index++) bytes[at++] = digit(index)
  }
  output.length = at
  return 'fits'
}

/** Index of the first digit that is not 0, or `end`. */
function firstSignificant(source: Uint8Array, digits: number, end: number, point: number): number {
  let at = digits
  while (at < end && (source[at] === 0x30 || at === point)) at++
  return at
}

function readExponent(source: Uint8Array, from: number, end: number): number {
  let at = from
  const negative = source[at] === 0x2d
  if (negative || source[at] === 0x2b) at++
  let value = 0
  for (; at < end && value < NUMERIC_EXPONENT; at++) value = value * 10 + source[at]! - 0x30
  return negative ? -value : value
}
