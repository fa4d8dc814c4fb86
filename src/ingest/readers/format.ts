/** What a file is, by its bytes: names lie. What is no table at all is refused in words that say what it is. */
import { StagedoorError } from '../../errors.ts'
import { type Encoding, findEncoding } from './encoding.ts'
import { findEnvelope } from './json-envelope.ts'
import type { Format } from './reading.ts'

/** First bytes, as latin1, and what they mean for the person who uploaded them. */
const REFUSED: [start: string, reason: string][] = [
  ['BZh', 'it is a bzip2 archive: unpack it first'],
  ['\x28\xb5\x2f\xfd', 'it is a zstd archive: unpack it first'],
  ['7z\xbc\xaf\x27\x1c', 'it is a 7z archive: unpack it first'],
  ['Rar!', 'it is a RAR archive: unpack it first'],
  ['PK\x05\x06', 'it is an empty zip archive'],
  ['\xfd7zXZ', 'it is an xz archive: unpack it first'],
  ['%PDF', 'it is a PDF document: export the table itself as CSV or .xlsx'],
  ['\x89PNG', 'it is an image (PNG)'],
  ['GIF8', 'it is an image (GIF)'],
  ['\xff\xd8\xff', 'it is an image (JPEG)'],
  ['RIFF', 'it is an image, a sound or a film (RIFF)'],
  ['\x7fELF', 'it is a program'],
  ['MZ\x90', 'it is a program'],
  ['SQLite format 3', 'it is a SQLite database'],
  [
    '\xd0\xcf\x11\xe0',
    'it is an old Excel workbook (.xls) or one with a password: save it as .xlsx without a password',
  ],
]

export function findFormat(start: Buffer, encoding?: Encoding): Format {
  if (start.length === 0) throw unreadable('it is empty')
  const magic = start.toString('latin1', 0, 16)
  const refused = REFUSED.find(([bytes]) => magic.startsWith(bytes))
  if (refused) throw unreadable(refused[1])
  if (magic.startsWith('PK\x03\x04')) return 'xlsx'
  if (magic.startsWith('PAR1')) return 'parquet'
  return formatOfText(start, encoding)
}

function formatOfText(start: Buffer, asked?: Encoding): Format {
  const { encoding, markLength } = findEncoding(start, asked)
  const bytes = start.subarray(markLength)
  // Markup and JSON begin with ASCII: without its zeros UTF-16 reads the same.
  const text = bytes.toString('latin1').replaceAll('\0', '').trimStart()
  if (text === '') throw unreadable('there is nothing in it but blanks')
  if (/^<(!doctype\s+html|html|head|body|table)\b/i.test(text)) {
    throw unreadable('it is a web page (HTML), whatever its name says: often a page that asks for a login')
  }
  if (/^<\?xml/i.test(text)) throw unreadable('it is an XML document: save it as CSV or .xlsx')
  if (!encoding.startsWith('utf-16') && isBinary(bytes)) throw unreadable('it is not a text file')
  if (/^\[\s*[{\]]/.test(text)) return 'json'
  if (/^\{\s*["}]/.test(text))
    return findEnvelope(Buffer.from(text, 'latin1')) === undefined ? 'jsonl' : 'json'
  return 'csv'
}

/** Text has tabs and line ends, hardly another control; of any other bytes one in nine is one. */
function isBinary(bytes: Buffer): boolean {
  let controls = 0
  for (const byte of bytes) if (byte < 9 || (byte > 13 && byte < 32) || byte === 127) controls++
  return controls > Math.max(8, bytes.length / 50)
}

export function unreadable(reason: string, cause?: unknown): StagedoorError {
  return new StagedoorError('file_unreadable', { reason }, { cause })
}
