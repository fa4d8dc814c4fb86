/** Strings as PostgreSQL writes them: only what must be escaped is, everything else stands for itself in UTF-8. */
import type { CanonicalOutput } from './canonical-output.ts'
import { notJson } from './canonical-problem.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** 1 for bytes that are copied as they are. The 0 behind the end of the source is not one of them. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
)

/** Of the letter behind a backslash: the character. */
const ESCAPED = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, character]) => [letter.charCodeAt(0), character.charCodeAt(0)],
  ),
)
/** Of a character: the letter behind the backslash. */
const SHORT = new Map(
  [...ESCAPED].filter(([letter]) => letter !== 0x2f).map(([letter, code]) => [code, letter]),
)

/** Copies the string whose quote is at `from`; returns where the source goes on. It is never longer than it was. */
export function copyString(source: Uint8Array, from: number, output: CanonicalOutput): number {
  const { bytes } = output
  let to = output.length
  let at = from + 1
  bytes[to++] = QUOTE
  for (;;) {
    let byte = source[at]!
    while (PLAIN[byte] === 1) {
      bytes[to++] = byte
      byte = source[++at]!
    }
    if (byte === QUOTE) break
    if (byte !== BACKSLASH) throw unexpected(source, at, byte)
    const code = readEscape(source, at)
    at += source[at + 1] === 0x75 ? (code > 0xffff ? 12 : 6) : 2
    to = writeCharacter(bytes, to, code)
  }
  bytes[to++] = QUOTE
  output.length = to
  return at + 1
}

/** Writes the bytes that a written string stands for, given without its quotes; returns where they end. */
export function unescapeInto(
  target: Buffer,
  to: number,
  written: Buffer,
  start: number,
  end: number,
): number {
  let next = to
  for (let at = start; at < end; ) {
    const byte = written[at]!
    if (byte !== BACKSLASH) {
      target[next++] = byte
      at++
    } else if (written[at + 1] === 0x75) {
      target[next++] = readHex(written, at + 2)
      at += 6
    } else {
      target[next++] = ESCAPED.get(written[at + 1]!)!
      at += 2
    }
  }
  return next
}

function unexpected(source: Uint8Array, at: number, byte: number): Error {
  if (at === source.length - 1) return notJson(source, at, 'a string has no end')
  return notJson(source, at, `a string has the control character ${byte}; write it as an escape`)
}

/** The character of the escape at `at`; of two escapes when they are a pair of surrogates. */
function readEscape(source: Uint8Array, at: number): number {
  const letter = source[at + 1]!
  if (letter !== 0x75) {
    const code = ESCAPED.get(letter)
    if (code === undefined) throw notJson(source, at, 'there is no such escape')
    return code
  }
  const code = readHex(source, at + 2)
  if (Number.isNaN(code)) throw notJson(source, at, '\\u needs four hexadecimal digits')
  if (code === 0) throw notJson(source, at, 'PostgreSQL cannot hold the NUL character \\u0000')
  if (code < 0xd800 || code > 0xdfff) return code
  const low = source[at + 6] === BACKSLASH && source[at + 7] === 0x75 ? readHex(source, at + 8) : Number.NaN
  if (code > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) {
    throw notJson(source, at, 'half a surrogate pair is no character')
  }
  return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
}

function readHex(source: Uint8Array, from: number): number {
  let value = 0
  for (let at = from; at < from + 4; at++) {
    const byte = source[at]!
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66) value = value * 16 + (byte | 0x20) - 0x57
    else return Number.NaN
  }
  return value
}

/** Returns where to go on. Nothing is longer than the escape that it was read from. */
function writeCharacter(bytes: Buffer, from: number, code: number): number {
  let to = from
  const short = SHORT.get(code)
  if (short !== undefined) {
    bytes[to++] = BACKSLASH
    bytes[to++] = short
  } else if (code < 0x20) {
    to += bytes.write(`\\u00${code.toString(16).padStart(2, '0')}`, to, 'latin1')
  } else if (code < 0x80) {
    bytes[to++] = code
  } else if (code < 0x800) {
    bytes[to++] = 0xc0 | (code >> 6)
    bytes[to++] = 0x80 | (code & 0x3f)
  } else if (code < 0x10000) {
    bytes[to++] = 0xe0 | (code >> 12)
    bytes[to++] = 0x80 | ((code >> 6) & 0x3f)
    bytes[to++] = 0x80 | (code & 0x3f)
  } else {
    bytes[to++] = 0xf0 | (code >> 18)
    bytes[to++] = 0x80 | ((code >> 12) & 0x3f)
    bytes[to++] = 0x80 | ((code >> 6) & 0x3f)
    bytes[to++] = 0x80 | (code & 0x3f)
  }
  return to
}
