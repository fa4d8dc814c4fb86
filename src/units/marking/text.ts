/** The document as it is marked: one form, whatever editor wrote it. */
import { toUSVString } from 'node:util'
import { StagedoorError } from '../../errors.ts'

/** In bytes: what a part of a staging record holds. */
export const LARGEST_DOCUMENT = 10 * 1024 ** 2

/** Without a byte order mark, lines ending in \n. */
export function readText(source: string | Buffer, name: string): string {
  const unreadable = (reason: string) => new StagedoorError('document_unreadable', { source: name, reason })
  const text = (typeof source === 'string' ? source : decode(source, unreadable))
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
  if (text.includes('\0')) throw unreadable('it has a NUL character')
  if (toUSVString(text) !== text) throw unreadable('it has half a surrogate pair, which is no character')
  if (!/\S/.test(text)) throw unreadable('it is empty')
  const bytes = Buffer.byteLength(text)
  if (bytes > LARGEST_DOCUMENT) throw tooLarge(name, `it has ${bytes} bytes; at most 10 MiB are marked`)
  return text
}

function decode(bytes: Buffer, unreadable: (reason: string) => StagedoorError): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unreadable('it is not UTF-8')
  }
}

export function tooLarge(source: string, reason: string): StagedoorError {
  const hint =
    'Divide it into several documents; each is marked under a source_ref (--source-ref) of its own.'
  return new StagedoorError('document_unreadable', { source, reason }, { hint })
}
