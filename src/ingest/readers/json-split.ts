/** Cuts JSON lines, or the elements of a JSON array, out of buffers as they come; holds one record at most. */
import { CR, LF, LONGEST_RECORD, QUOTE } from './csv-record.ts'
import { unreadable } from './format.ts'
import type { FileNote } from './reading.ts'

export interface RawRecord {
  /** The physical line where it begins; of several on one line each has the next number, so that none is there twice. */
  line: number
  bytes: Buffer
  /** More than can be held: only its beginning is there. */
  tooLong: boolean
}

export interface JsonSplitter {
  push(bytes: Buffer): RawRecord[]
  end(): RawRecord[]
  /** At the file's end: is the rest of it missing? */
  isCutOff(): boolean
  /** Of the whole file, at its end: is it as it should be? */
  problem(): FileNote | undefined
}

/** The bytes of one record, gathered over buffers. */
class Gathered {
  #parts: Buffer[] = []
  #length = 0
  line = 0

  add(bytes: Buffer): void {
    this.#length += bytes.length
    if (this.#length <= LONGEST_RECORD || this.#parts.length === 0)
      this.#parts.push(Buffer.from(bytes.subarray(0, LONGEST_RECORD)))
  }

  take(): RawRecord {
    const record = {
      line: this.line,
      bytes: Buffer.concat(this.#parts),
      tooLong: this.#length > LONGEST_RECORD,
    }
    this.#parts = []
    this.#length = 0
    return record
  }
}

export class LineSplitter implements JsonSplitter {
  readonly #gathered = new Gathered()
  #line = 1
  #afterCr = false

  push(bytes: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let start = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte !== LF && byte !== CR) {
        if (this.#afterCr) this.#afterCr = false
        continue
      }
      if (byte === LF && this.#afterCr) {
        this.#afterCr = false
        start = at + 1
        continue
      }
      this.#gathered.add(bytes.subarray(start, at))
      records.push(this.#take())
      this.#afterCr = byte === CR
      start = at + 1
    }
    this.#gathered.add(bytes.subarray(start))
    return records
  }

  end(): RawRecord[] {
    return [this.#take()]
  }

  /** A cut line is a flaw of its own. */
  isCutOff(): boolean {
    return false
  }

  problem(): undefined {
    return undefined
  }

  #take(): RawRecord {
    this.#gathered.line = this.#line++
    return this.#gathered.take()
  }
}

const BACKSLASH = 92
const COMMA = 44
const OPENING = new Set([91, 123])
const CLOSING = new Set([93, 125])

/** What stands behind the array tells whether an envelope is whole and whether there are more pages. */
const TAIL_BYTES = 64 * 1024

/**
 * An element ends at a comma or bracket of the array's own level, well-formed or not: what it is, is seen later.
 * `envelope` is the byte at which an array within an object begins; what stands before it is passed over.
 */
export class ElementSplitter implements JsonSplitter {
  readonly #gathered = new Gathered()
  #line = 1
  #depth = 0
  #inString = false
  #escaped = false
  #begun = false
  #closed = false
  #tail = ''
  #previous = 0
  #passOver: number
  readonly #inEnvelope: boolean

  constructor(envelope?: number) {
    this.#passOver = envelope ?? 0
    this.#inEnvelope = envelope !== undefined
  }

  push(bytes: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let start = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte === CR || (byte === LF && this.#previous !== CR)) this.#line++
      this.#previous = byte
      if (this.#passOver > 0) {
        this.#passOver--
        continue
      }
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inString = false
        continue
      }
      if (byte <= 32) continue
      if (this.#closed) {
        const room = TAIL_BYTES - this.#tail.length
        if (room > 0) this.#tail += bytes.toString('latin1', at, Math.min(bytes.length, at + room))
        break
      }
      const closes = CLOSING.has(byte)
      if (this.#depth === 1 && (byte === COMMA || closes)) {
        if (this.#begun) this.#gathered.add(bytes.subarray(start, at))
        if (this.#begun) records.push(this.#gathered.take())
        this.#begun = false
        this.#closed = closes
        continue
      }
      if (this.#depth > 0 && !this.#begun) {
        this.#begun = true
        this.#gathered.line = Math.max(this.#line, this.#gathered.line + 1)
        start = at
      }
      if (byte === QUOTE) this.#inString = true
      else if (OPENING.has(byte)) this.#depth++
      else if (closes) this.#depth--
    }
    if (this.#begun) this.#gathered.add(bytes.subarray(start))
    return records
  }

  end(): RawRecord[] {
    return this.#begun ? [this.#gathered.take()] : []
  }

  isCutOff(): boolean {
    return !this.#closed || (this.#inEnvelope && !/\}\s*$/.test(this.#tail))
  }

  problem(): FileNote | undefined {
    if (this.#tail === '') return undefined
    if (!this.#inEnvelope) {
      return {
        rule: 'file.json_array',
        message: 'There is more behind the end of the array; it was passed over',
      }
    }
    if (/^[^{]*\}\s*\{|\}\s*\}\s*\{/.test(this.#tail)) {
      throw unreadable('it holds several answers of an API, one behind the other: upload each by itself')
    }
    if (!MORE_PAGES.test(this.#tail)) return undefined
    return {
      rule: 'file.one_page',
      message:
        'The file is one page of an API’s answer and says that there is another: that one is not in it',
    }
  }
}

const MORE_PAGES = /"(?:next|nextPageToken)"\s*:\s*"[^"]/
