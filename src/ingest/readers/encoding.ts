/**
 * Which bytes are characters. Everything behind this file sees UTF-8: other encodings are turned into it buffer by
 * buffer, and what is damaged in them becomes a byte that is no UTF-8, so that one check finds it later. Nothing is
 * decoded by a guess: in most single-byte encodings any bytes are "valid", also those of another script.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import { analyse } from 'chardet'
import { distance } from 'fastest-levenshtein'
import iconv from 'iconv-lite'
import { StagedoorError } from '../../kernel/errors.ts'

/** A name that iconv-lite knows; the Unicode ones are written as `utf-8`, `utf-16le`, `utf-16be`. */
export type Encoding = string

export interface FoundEncoding {
  encoding: Encoding
  /** Bytes of the byte order mark, to be passed over. */
  markLength: number
  /** Somebody said so, or the file does: what does not fit is damage, not another encoding. */
  isCertain: boolean
  /** For people. */
  name: string
}

const UNICODE: Record<string, string> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16LE',
  'utf-16be': 'UTF-16BE',
}
/** What iconv-lite knows besides and is no encoding of a text file. */
const NO_TEXT = /^(?:base64|hex|binary|internal|cesu-?8|utf-?7(?:-?imap)?)$/i

/** What people may want: for the message about an unknown name. */
const COMMON = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253'],
  ...['windows-1254', 'windows-1255', 'windows-1256', 'windows-1257', 'windows-1258', 'windows-874'],
  ...[
    'iso-8859-1',
    'iso-8859-2',
    'iso-8859-5',
    'iso-8859-7',
    'iso-8859-9',
    'iso-8859-15',
    'koi8-r',
    'koi8-u',
  ],
  ...[
    'shift_jis',
    'euc-jp',
    'gbk',
    'gb18030',
    'big5',
    'euc-kr',
    'macintosh',
    'cp437',
    'cp850',
    'cp866',
    'tis-620',
  ],
]

/** The encoding that somebody named; refused with the nearest names where there is no such. */
export function encodingNamed(given: string): Encoding {
  const name = given.trim().toLowerCase().replace(/_/g, '-')
  const unicode = /^utf-?(8|16-?le|16-?be)$/.exec(name)?.[1]?.replace('-', '')
  if (unicode) return `utf-${unicode}`
  if (!NO_TEXT.test(name) && /^[a-z0-9:.()-]{2,40}$/.test(name) && iconv.encodingExists(given.trim()))
    return given.trim()
  const near = COMMON.filter((known) => distance(known.replace(/_/g, '-'), name) <= 2)
  throw new StagedoorError('argument_invalid', {
    reason: `There is no encoding “${given.slice(0, 60)}”. ${near.length > 0 ? `Is it ${near.join(' or ')}?` : `Known are ${COMMON.join(', ')} and others`}`,
  })
}

export function findEncoding(start: Uint8Array, asked?: Encoding): FoundEncoding {
  const marked = byMark(start)
  if (asked && marked?.encoding !== asked)
    return { encoding: asked, markLength: 0, isCertain: true, name: UNICODE[asked] ?? asked }
  if (marked) return marked
  const encoding = byZeros(start) ?? 'utf-8'
  return { encoding, markLength: 0, isCertain: false, name: UNICODE[encoding]! }
}

function byMark(start: Uint8Array): FoundEncoding | undefined {
  const [a, b, c] = start
  if (a === 0xef && b === 0xbb && c === 0xbf) return withMark('utf-8', 3)
  if (a === 0xff && b === 0xfe) return withMark('utf-16le', 2)
  if (a === 0xfe && b === 0xff) return withMark('utf-16be', 2)
  return undefined
}

function withMark(encoding: Encoding, markLength: number): FoundEncoding {
  return { encoding, markLength, isCertain: true, name: `${UNICODE[encoding]} with BOM` }
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
  const decode = decoderOf(found.encoding)
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

function decoderOf(encoding: Encoding): Decode {
  if (encoding === 'utf-8') return (bytes) => bytes
  return encoding.startsWith('utf-16') ? utf16(encoding === 'utf-16be') : byName(encoding)
}

/** iconv-lite writes U+FFFD where the bytes mean nothing; none of these encodings has that character itself. */
function byName(encoding: Encoding): Decode {
  const decoder = iconv.getDecoder(encoding, { stripBOM: false })
  return (bytes, last) => {
    const text = decoder.write(bytes) + (last ? (decoder.end() ?? '') : '')
    if (!text.includes('\ufffd')) return Buffer.from(text)
    return Buffer.concat(
      text
        .split('\ufffd')
        .flatMap((part, index) => (index === 0 ? [Buffer.from(part)] : [DAMAGED, Buffer.from(part)])),
    )
  }
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

interface GuessedEncoding {
  encoding: Encoding
  /** Values of the file as they would read: what a person can judge by. */
  samples: string[]
}

const MAX_GUESSES = 3
const MAX_SAMPLES = 3
const MAX_SAMPLE_CHARACTERS = 40
/** Characters that hardly any text has: what another encoding's bytes become. */
const STRANGE = /[\p{Cc}\p{Co}\p{Cn}\ufffd]/u

const BEYOND_ASCII = /[\u0080-\uffff]/

/** Likely encodings of bytes that are no UTF-8, most likely first, each with what the file would say in it. */
function guessEncodings(bytes: Buffer): GuessedEncoding[] {
  const guesses: GuessedEncoding[] = []
  for (const { name } of analyse(withoutAscii(bytes))) {
    const encoding = name.toLowerCase()
    if (encoding.startsWith('utf-') || !iconv.encodingExists(encoding)) continue
    const samples = samplesOf(iconv.decode(bytes, encoding))
    const isKnown = guesses.some((guess) => guess.samples.join() === samples.join())
    if (samples.length === 0 || isKnown || samples.some((sample) => STRANGE.test(sample))) continue
    guesses.push({ encoding: name, samples })
    if (guesses.length >= MAX_GUESSES) break
  }
  return guesses
}

/** Lines of plain ASCII say nothing about the encoding and drown those that do. */
function withoutAscii(bytes: Buffer): Buffer {
  const lines = bytes.toString('latin1').split(/\r\n|\r|\n/)
  const nonAscii = lines.filter((line) => BEYOND_ASCII.test(line))
  return Buffer.from(nonAscii.join('\n'), 'latin1')
}

function samplesOf(text: string): string[] {
  const values = text.split(/[\r\n,;\t|"]+/).map((value) => value.trim())
  const nonAscii = new Set(values.filter((value) => BEYOND_ASCII.test(value)))
  return [...nonAscii].slice(0, MAX_SAMPLES).map((value) => value.slice(0, MAX_SAMPLE_CHARACTERS))
}

/** How many records have characters beyond ASCII and are UTF-8, and how many are not. */
export interface Utf8Evidence {
  valid: number
  invalid: number
}

export function utf8Evidence(text: Buffer): Utf8Evidence {
  const evidence = { valid: 0, invalid: 0 }
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(10, from)
    const line = text.subarray(from, end < 0 ? text.length : end)
    // What was read may end within a character.
    if (end >= 0 && !isAscii(line)) evidence[isUtf8(line) ? 'valid' : 'invalid']++
    from = end < 0 ? text.length : end + 1
  }
  return evidence
}

/** In a file of another encoding hardly a line is UTF-8 by accident. */
const MIN_VALID_SHARE = 0.2
const GUESSED_BYTES = 256 * 1024

/** Refuses a file that is not UTF-8 at all, with what it may be; one with a few damaged lines passes. */
export async function requireUtf8(
  file: FileHandle,
  found: FoundEncoding,
  { valid, invalid }: Utf8Evidence,
): Promise<void> {
  if (found.encoding !== 'utf-8' || found.isCertain) return
  if (invalid === 0 || valid >= MIN_VALID_SHARE * (valid + invalid)) return
  const guesses = guessEncodings(await nonAsciiBytes(file))
  const shown = guesses.map(
    ({ encoding, samples }) => `${encoding}: ${samples.map((sample) => `“${sample}”`).join(', ')}`,
  )
  throw new StagedoorError(
    'file_encoding_unknown',
    {
      guesses: shown.length > 0 ? ` It may be ${shown.join('; or ')}` : '',
      encodings: guesses.map(({ encoding }) => encoding),
      likely: guesses,
    },
    guesses[0] && {
      hint: `Export it again as UTF-8. Or, if the values above read right, name the encoding: \`--encoding ${guesses[0].encoding}\` (\`encoding\` in the API).`,
    },
  )
}

/** Whole lines from the first one on that is not ASCII. */
async function nonAsciiBytes(file: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(GUESSED_BYTES)
  for (let position = 0; ; position += GUESSED_BYTES) {
    const { bytesRead } = await file.read(buffer, 0, GUESSED_BYTES, position)
    const bytes = buffer.subarray(0, bytesRead)
    const at = bytes.findIndex((byte) => byte >= 0x80)
    if (at < 0 && bytesRead === GUESSED_BYTES) continue
    const from = Math.max(0, bytes.lastIndexOf(10, Math.max(at, 0)) + 1)
    // A character may be cut at the end of what was read.
    const to = bytesRead < GUESSED_BYTES ? bytesRead : Math.max(from, bytes.lastIndexOf(10))
    return Buffer.from(bytes.subarray(from, to))
  }
}
