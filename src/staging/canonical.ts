/**
 * The one form of a JSON value over which its digest is taken: the bytes of PostgreSQL's `('…'::jsonb)::text` in
 * UTF-8. fn_iu_staging_json_digest takes the same digest in the database, and refuses the same values.
 *
 * It reads text, not a parsed value: JSON.parse would round numbers beyond 2^53 and lose their scale.
 */
import { createHash } from 'node:crypto'
import { toUSVString } from 'node:util'
import { StagedoorError } from '../errors.ts'
import { CanonicalScanner } from './canonical-scanner.ts'
import type { PartDigest } from './records.ts'

export interface Digest {
  /** sha-256, in hex. */
  readonly content_hash: string
  readonly byte_len: number
}

export function canonicalJson(text: string): Buffer {
  return new CanonicalScanner(utf8(`${text}\0`)).scan()
}

/** As fn_iu_staging_json_digest. */
export function digestJson(text: string): Digest {
  return digestBytes(canonicalJson(text))
}

/** A text part: its own bytes in UTF-8. */
export function digestText(text: string): Digest {
  if (text.includes('\0')) throw new StagedoorError('text_invalid', { reason: 'it has a NUL character' })
  return digestBytes(utf8(text))
}

/** As fn_iu_staging_record_digest: over the parts in their order. */
export function digestRecord(
  parts: readonly Pick<PartDigest, 'part_name' | 'payload_kind' | 'content_hash'>[],
): string {
  const lines = parts.map(
    ({ part_name, payload_kind, content_hash }) =>
      `${Buffer.byteLength(part_name)}:${part_name}:${payload_kind}:${content_hash}`,
  )
  return digestBytes(utf8(lines.join('\n'))).content_hash
}

function digestBytes(bytes: Buffer): Digest {
  return { content_hash: createHash('sha256').update(bytes).digest('hex'), byte_len: bytes.length }
}

/** Node would write U+FFFD for half a surrogate pair, and the digest would be that of another text. */
function utf8(text: string): Buffer {
  if (toUSVString(text) !== text) {
    throw new StagedoorError('text_invalid', {
      reason: 'it has half a surrogate pair, which is no character',
    })
  }
  return Buffer.from(text, 'utf8')
}
