/**
 * Which bytes are characters. Everything behind this file sees UTF-8: UTF-16 and windows-1252 are turned into it
 * buffer by buffer, and what is damaged in them becomes a byte that is no UTF-8, so that one check finds it later.
 */
import type { FileHandle } from 'node:fs/promises'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

export interface FoundEncoding {
  encoding: Encoding
  /** Bytes of the byte order mark, to be passed over. */
  markLength: number
  /** For people. */
  name: string
}

const NAMES: Record<Encoding, string> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16LE',
  'utf-16be': 'UTF-16BE',
  'windows-1252': 'windows-1252',
}

export function findEncoding(start: Uint8Array, asked?: Encoding): FoundEncoding {
  const marked = byMark(start)
  if (asked && marked?.encoding !== asked) return { encoding: asked, markLength: 0, name: NAMES[asked] }
  if (marked) return marked
  const encoding = byZeros(start) ?? 'utf-8'
  return { encoding, markLength: 0, name: NAMES[encoding] }
}

function byMark(start: Uint8Array): FoundEncoding | undefined {
  const [a, b, c] = start
  if (a === 0xef && b === 0xbb && c === 0xbf) return withMark('utf-8', 3)
  if (a === 0xff && b === 0xfe) return withMark('utf-16le', 2)
  if (a === 0xfe && b === 0xff) return withMark('utf-16be', 2)
  return undefined
}

function withMark(encoding: Encoding, markLength: number): FoundEncoding {
  return { encoding, markLength, name: `${NAMES[encoding]} with BOM` }
}

/** Every delimiter, digit and line end of UTF-16 has a zero on one side: there are many, and all on that side. */
function byZeros(start: Uint8Array): Encoding | undefined {
  const zeros = [0, 0]
  const units = Math.min(start.length, 4096) >> 1
  for (let at = 0; at < units * 2; at++) if (start[at] === 0) zeros[at & 1]!++
  const [even, odd] = zeros as [number, number]
  if (odd > units / 10 && even <= odd / 10) return 'utf-16le'
  if (even > units / 10 && odd <= even / 10) return 'utf-16be'
  return undefined
}

/** The file's bytes as UTF-8, without a byte order mark. Each buffer is only good until the next is asked for. */
export async function* utf8Buffers(
  file: FileHandle,
  found: FoundEncoding,
  size: number,
): AsyncGenerator<{ bytes: Buffer; position: number }> {
  const decode = decoders[found.encoding]()
  const buffer = Buffer.allocUnsafe(size)
  let position = found.markLength
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, size, position)
    position += bytesRead
    const bytes = decode(buffer.subarray(0, bytesRead), bytesRead === 0)
    if (bytes.length > 0) yield { bytes, position }
    if (bytesRead === 0) return
  }
}

type Decode = (bytes: Buffer, last: boolean) => Buffer

const decoders: Record<Encoding, () => Decode> = {
  'utf-8': () => (bytes) => bytes,
  'utf-16le': () => utf16(false),
  'utf-16be': () => utf16(true),
  'windows-1252': () => windows1252,
}

/** No UTF-8 contains it. */
const DAMAGED = Buffer.from([0xff])

function utf16(bigEndian: boolean): Decode {
  let carried: Buffer = Buffer.alloc(0)
  return (bytes, last) => {
    const all = Buffer.concat([carried, bytes])
    let whole = all.length & ~1
    // A pair of surrogates is decoded together.
    const highest = whole > 0 ? all[whole - (bigEndian ? 2 : 1)]! : 0
    if (!last && highest >= 0xd8 && highest <= 0xdb) whole -= 2
    carried = Buffer.from(all.subarray(whole))
    const units = all.subarray(0, whole)
    if (bigEndian) units.swap16()
    const decoded = encodeText(units.toString('utf16le'))
    return last && carried.length > 0 ? Buffer.concat([decoded, DAMAGED]) : decoded
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u

function encodeText(text: string): Buffer {
  if (!LONE_SURROGATE.test(text)) return Buffer.from(text)
  const parts = text.split(/(\p{Surrogate})/u)
  return Buffer.concat(parts.map((part, index) => (index % 2 === 1 ? DAMAGED : Buffer.from(part))))
}

/** Written out, because TextDecoder takes windows-1252 for latin1 in some versions of Node. */
const UPPER = Array.from('€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ', (character) =>
  Buffer.from(character),
)
for (let code = 0xa0; code <= 0xff; code++) UPPER.push(Buffer.from(String.fromCharCode(code)))

function windows1252(bytes: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length * 3)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte < 0x80) decoded[length++] = byte
    else for (const part of UPPER[byte - 0x80]!) decoded[length++] = part
  }
  return decoded.subarray(0, length)
}
