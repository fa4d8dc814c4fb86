/**
 * Refuses JSON that would cost far more than its length while it arrives, before anything parses it: JSON.parse takes half
 * a minute for 80 MB of brackets, a million values hold up everybody else, and `1e131071` is six characters here and
 * 131,072 digits in the database. One pass over the bytes, chunk by chunk. Whether it is JSON at all is left to the
 * parser.
 */
import { type ErrorCode, StagedoorError } from '../kernel/errors.ts'
import { MAX_PARTS, MAX_TOTAL_BYTES } from './records.ts'

/** 100 for a payload, and those around it: the record, its parts, the part. One more would be refused anyway. */
const MAX_DEPTH = 104
/** Of a body: each costs a piece of memory and a turn of every check after it (3,000,000 took 6.5 s). */
export const MAX_VALUES = 1_000_000
/** What an exponent may add to the digits that are written out (those of canonical-number). */
const MAX_ZEROS = 400
/** All zeros together: no more than the parts of a record may be long. */
const MAX_ZEROS_TOTAL = MAX_TOTAL_BYTES

const QUOTE = 0x22
const BACKSLASH = 0x5c
const PARTS = '"parts"'

export class JsonLimits {
  private depth = 0
  private values = 0
  private zeros = 0
  /** Of the array `parts` of the record, while inside of it. */
  private parts = 0
  private inParts = false
  private inString = false
  private escaped = false
  /** The last string of the outermost object, as far as it could be the key of the parts. */
  private key = ''
  /** Characters of a number so far that an exponent need not fill up with zeros. */
  private mantissa = 0
  /** Of the number that is being read; undefined before its e. */
  private exponent: number | undefined
  private readonly code: ErrorCode

  /** `code`: what a refusal is called. */
  constructor(code: ErrorCode = 'request_invalid') {
    this.code = code
  }

  /** Throws as soon as a limit is passed. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.inString) this.string(byte)
      else if (!this.number(byte)) this.sign(byte)
    }
  }

  /** The text may end with a number. */
  end(): void {
    this.endNumber()
  }

  private string(byte: number): void {
    if (this.depth === 1 && this.key.length <= PARTS.length) this.key += String.fromCharCode(byte)
    if (this.escaped) this.escaped = false
    else if (byte === BACKSLASH) this.escaped = true
    else if (byte === QUOTE) this.inString = false
  }

  /** Whether the byte belongs to a number. */
  private number(byte: number): boolean {
    const isDigit = byte >= 0x30 && byte <= 0x39
    if (this.exponent !== undefined) {
      if (isDigit) this.exponent = Math.min(1e9, this.exponent * 10 + byte - 0x30)
      else if (byte !== 0x2b && byte !== 0x2d) this.endNumber()
      if (isDigit || byte === 0x2b || byte === 0x2d) return true
    } else if (isDigit || byte === 0x2e) {
      this.mantissa++
      return true
    } else if ((byte === 0x45 || byte === 0x65) && this.mantissa > 0) {
      this.exponent = 0
      return true
    }
    this.mantissa = 0
    return false
  }

  private endNumber(): void {
    const { exponent, mantissa } = this
    this.exponent = undefined
    this.mantissa = 0
    if (exponent === undefined) return
    // Digits that are given need no zeros: 0.001e402 is 1e399.
    if (exponent > MAX_ZEROS + mantissa) {
      throw this.costly(`A number has an exponent beyond ${MAX_ZEROS}; write it as a string`)
    }
    this.zeros += exponent
    if (this.zeros > MAX_ZEROS_TOTAL)
      throw this.costly('The numbers with exponents are longer than a record may be')
  }

  private sign(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.inString = true
        if (this.depth === 1) this.key = '"'
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++this.depth > MAX_DEPTH) throw this.costly('JSON nested more than 100 deep is refused')
        this.count()
        if (this.depth === 2) {
          this.inParts = this.key === PARTS
          this.parts = 1
        }
        break
      case 0x5d: // ]
      case 0x7d: // }
        this.depth--
        break
      case 0x2c: // ,
        this.count()
        if (this.depth === 2 && this.inParts && ++this.parts > MAX_PARTS) throw tooManyPartsError()
        break
    }
  }

  private costly(reason: string): StagedoorError {
    return new StagedoorError(this.code, { reason }, { message: reason })
  }

  /** Every bracket and every comma is one value more. */
  private count(): void {
    if (++this.values <= MAX_VALUES) return
    throw this.costly(
      `JSON with more than ${MAX_VALUES.toLocaleString('en')} values is refused; send what is large as text or as a file`,
    )
  }
}

export function refuseCostlyJson(bytes: Uint8Array): void {
  const limits = new JsonLimits('staging_part_invalid')
  limits.write(bytes)
  limits.end()
}

export function tooManyPartsError(): StagedoorError {
  return new StagedoorError(
    'staging_part_invalid',
    { part: MAX_PARTS },
    { message: `A record holds at most ${MAX_PARTS} parts` },
  )
}
