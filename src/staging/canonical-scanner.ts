/**
 * Reads JSON once, from the first byte to the last, and writes its canonical form as it goes. An object is put into
 * order when it closes. No recursion: the depth of the source is not ours to choose.
 *
 * PostgreSQL looks at depth and digits after it has dropped the values of repeated keys, so a value that is refused
 * for them counts only if it stays: its problem travels upwards beside it.
 */
import { Members } from './canonical-members.ts'
import {
  MOST_DIGITS_AFTER_POINT,
  MOST_DIGITS_BEFORE_POINT,
  type NumberPlace,
  writeNumber,
} from './canonical-number.ts'
import { CanonicalOutput } from './canonical-output.ts'
import { notJson, notTaken } from './canonical-problem.ts'
import { copyString } from './canonical-string.ts'

const DEEPEST = 100

const TOO_DEEP = 1
const TOO_LONG = 2
const PROBLEMS: Record<number, string> = {
  [TOO_DEEP]: `JSON nested more than ${DEEPEST} deep is refused`,
  [TOO_LONG]: `A number has more than ${MOST_DIGITS_BEFORE_POINT} digits before the point or ${MOST_DIGITS_AFTER_POINT} after it`,
}

/** Of an open container: an array, or the place where the members of an object begin. */
const ARRAY = -1

const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]))

export class CanonicalScanner {
  /** With a 0 behind its end, which no JSON can contain: it stops every loop. */
  readonly #source: Uint8Array
  readonly #output: CanonicalOutput
  readonly #members = new Members()
  /** Containers that are open, the innermost last: where an object's members begin, or ARRAY; and its problem. */
  readonly #open: number[] = []
  readonly #problems: number[] = []
  #at = 0

  constructor(sourceAndZero: Uint8Array) {
    this.#source = sourceAndZero
    this.#output = new CanonicalOutput(sourceAndZero.length + (sourceAndZero.length >> 2) + 64)
  }

  scan(): Buffer {
    for (;;) {
      let problem = this.#value()
      // Opened a container that is not empty: its first value is next.
      if (problem === undefined) continue
      for (;;) {
        if (this.#open.length === 0) return this.#end(problem)
        const closed = this.#afterValue(problem)
        if (closed === undefined) break
        problem = closed
      }
    }
  }

  /** One value, up to its end: gives its problem or 0. Of a container only what opens it: gives undefined. */
  #value(): number | undefined {
    const byte = this.#next()
    const tooDeep = this.#open.length > DEEPEST ? TOO_DEEP : 0
    this.#reserve()
    if (byte === 0x22) {
      this.#at = copyString(this.#source, this.#at, this.#output)
      return tooDeep
    }
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return this.#number() || tooDeep
    if (byte === 0x7b) return this.#openObject(tooDeep)
    if (byte === 0x5b) return this.#openArray(tooDeep)
    this.#literal(byte)
    return tooDeep
  }

  #openArray(tooDeep: number): number | undefined {
    this.#at++
    this.#write(0x5b)
    if (this.#next() === 0x5d) {
      this.#at++
      this.#write(0x5d)
      return tooDeep
    }
    this.#open.push(ARRAY)
    this.#problems.push(tooDeep)
    return undefined
  }

  #openObject(tooDeep: number): number | undefined {
    this.#at++
    this.#write(0x7b)
    if (this.#next() === 0x7d) {
      this.#at++
      this.#write(0x7d)
      return tooDeep
    }
    this.#open.push(this.#members.count)
    this.#problems.push(tooDeep)
    this.#key()
    return undefined
  }

  /** A comma and what follows up to the next value: undefined. Or the container's end: gives its problem. */
  #afterValue(problem: number): number | undefined {
    const innermost = this.#open.length - 1
    const base = this.#open[innermost]!
    if (problem !== 0) {
      if (base === ARRAY) this.#problems[innermost] ||= problem
      else this.#members.blame(problem)
    }
    const byte = this.#next()
    this.#reserve()
    const closing = base === ARRAY ? 0x5d : 0x7d
    if (byte === 0x2c) {
      this.#at++
      this.#write(0x2c)
      this.#write(0x20)
      if (base !== ARRAY) {
        this.#next()
        this.#key()
      }
      return undefined
    }
    if (byte !== closing) throw this.#expected(`a comma or ${String.fromCharCode(closing)}`)
    this.#at++
    const own = this.#problems.pop()!
    this.#open.pop()
    const inside = base === ARRAY ? 0 : this.#members.close(base, this.#output)
    this.#write(closing)
    return own || inside
  }

  #key(): void {
    if (this.#source[this.#at] !== 0x22) throw this.#expected('a key in double quotes')
    this.#reserve()
    const start = this.#output.length
    this.#at = copyString(this.#source, this.#at, this.#output)
    this.#members.open(start, this.#output)
    if (this.#next() !== 0x3a) throw this.#expected('a colon')
    this.#at++
    this.#write(0x3a)
    this.#write(0x20)
  }

  #number(): number {
    const source = this.#source
    const start = this.#at
    const negative = source[start] === 0x2d
    const digits = negative ? start + 1 : start
    let at = this.#digits(digits)
    if (source[digits] === 0x30 && at > digits + 1) throw notJson(source, digits, 'a number begins with 0')
    const point = at
    if (source[at] === 0x2e) at = this.#digits(at + 1)
    const exponent = at
    if ((source[at]! | 0x20) === 0x65) {
      at++
      if (source[at] === 0x2b || source[at] === 0x2d) at++
      at = this.#digits(at)
    }
    this.#at = at
    if (exponent === at && at - digits <= MOST_DIGITS_AFTER_POINT) {
      this.#copyNumber(negative, digits, at)
      return 0
    }
    return this.#longNumber({ negative, digits, point, exponent, end: at })
  }

  /** Without an exponent a number is written as it is, but zero has no sign. */
  #copyNumber(negative: boolean, digits: number, end: number): void {
    const source = this.#source
    const { bytes } = this.#output
    let to = this.#output.length
    if (negative) bytes[to++] = 0x2d
    let zero = true
    for (let at = digits; at < end; at++) {
      const byte = source[at]!
      if (byte > 0x30) zero = false
      bytes[to++] = byte
    }
    this.#output.length = to
    if (negative && zero) {
      bytes.copyWithin(to - (end - digits) - 1, to - (end - digits), to)
      this.#output.length--
    }
  }

  #longNumber(place: NumberPlace): number {
    const size = writeNumber(this.#source, place, this.#output)
    if (size === 'overflow') throw notJson(this.#source, place.digits, 'a number is too large for PostgreSQL')
    return size === 'too long' ? TOO_LONG : 0
  }

  /** Behind the digits that begin at `from`; there is at least one. */
  #digits(from: number): number {
    const source = this.#source
    let at = from
    while (source[at]! >= 0x30 && source[at]! <= 0x39) at++
    if (at === from) {
      this.#at = at
      throw this.#expected('a digit')
    }
    return at
  }

  #literal(byte: number): void {
    const word = LITERALS.get(byte)
    const end = this.#at + (word?.length ?? 0)
    if (!word || Buffer.compare(this.#source.subarray(this.#at, end), word) !== 0) {
      throw this.#expected('a value')
    }
    word.copy(this.#output.bytes, this.#output.length)
    this.#output.length += word.length
    this.#at = end
  }

  #end(problem: number): Buffer {
    this.#next()
    if (this.#at !== this.#source.length - 1) throw this.#expected('the end')
    if (problem !== 0) throw notTaken(PROBLEMS[problem]!)
    return this.#output.finish()
  }

  /** Skips white space; gives the byte that is next, without taking it. */
  #next(): number {
    const source = this.#source
    let byte = source[this.#at]!
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = source[++this.#at]!
    return byte
  }

  /** Room for all of the source that is left, copied as it is, and a few separators. Numbers ask for more. */
  #reserve(): void {
    this.#output.reserve(this.#source.length - this.#at + 8)
  }

  #write(byte: number): void {
    this.#output.bytes[this.#output.length++] = byte
  }

  #expected(what: string): Error {
    const at = this.#at
    const end = at === this.#source.length - 1
    return notJson(this.#source, at, `expected ${what}${end ? ', but it ends here' : ''}`)
  }
}
