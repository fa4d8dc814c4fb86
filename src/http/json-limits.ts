/**
 * Refuses JSON that would cost far more than its length, before anything parses it: JSON.parse takes half a minute for
 * 80 MB of brackets, and `1e131071` is six characters here and 131,072 digits in the database. One pass over the
 * bytes. Whether it is JSON at all is left to the parser.
 */
import { StagedoorError } from '../errors.ts'
import { LARGEST_TOTAL, MOST_PARTS } from '../staging/limits.ts'

/** 100 for a payload, and those around it: the record, its parts, the part. One more would be refused anyway. */
const DEEPEST = 104
/** What an exponent may add to the digits that are written out (those of canonical-number). */
const MOST_ZEROS = 400
/** All zeros together: no more than the parts of a record may be long. */
const ZEROS_TOTAL = LARGEST_TOTAL

const QUOTE = 0x22
const BACKSLASH = 0x5c
const PARTS = Buffer.from('"parts"')

export function refuseCostlyJson(bytes: Buffer): void {
  let depth = 0
  let zeros = 0
  /** Of the array `parts` of the record, while inside of it. */
  let parts = 0
  let inParts = false
  let key: Buffer | undefined
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfString(bytes, at)
        if (depth === 1) key = bytes.subarray(at, end + 1)
        at = end
        break
      }
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > DEEPEST) throw costly('JSON nested more than 100 deep is refused')
        if (depth === 2) {
          inParts = key?.equals(PARTS) === true
          parts = 1
        }
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
      case 0x2c: // ,
        if (depth === 2 && inParts && ++parts > MOST_PARTS) throw tooManyParts()
        break
      case 0x45: // E
      case 0x65: // e
        if (isDigit(bytes[at - 1])) zeros += zerosOf(bytes, at)
        if (zeros > ZEROS_TOTAL) throw costly('The numbers with exponents are longer than a record may be')
        break
    }
  }
}

export function tooManyParts(): StagedoorError {
  return new StagedoorError(
    'staging_part_invalid',
    { part: MOST_PARTS },
    { message: `A record holds at most ${MOST_PARTS} parts` },
  )
}

/** Where its closing quote is, or the end of the text. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++
    else if (bytes[at] === QUOTE) return at
  }
  return bytes.length
}

/** How far the exponent at `at` moves the point. */
function zerosOf(bytes: Buffer, at: number): number {
  let digit = at + 1
  if (bytes[digit] === 0x2b || bytes[digit] === 0x2d) digit++
  let exponent = 0
  for (; isDigit(bytes[digit]) && exponent < 1e9; digit++) exponent = exponent * 10 + bytes[digit]! - 0x30
  // Digits that are given need no zeros: 0.001e402 is 1e399.
  let mantissa = 0
  while (mantissa <= exponent && isMantissa(bytes[at - 1 - mantissa])) mantissa++
  if (exponent > MOST_ZEROS + mantissa) {
    throw costly(`A number has an exponent beyond ${MOST_ZEROS}; write it as a string`)
  }
  return exponent
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function isMantissa(byte: number | undefined): boolean {
  return byte === 0x2e || isDigit(byte)
}

function costly(message: string): StagedoorError {
  return new StagedoorError('staging_part_invalid', {}, { message })
}
