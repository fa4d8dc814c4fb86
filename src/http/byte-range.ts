/** Range requests (RFC 9110, 14): one range of bytes. */

import type { ByteRange } from '../staging/blobs/store.ts'

/**
 * Undefined: send everything. So are several ranges and units that we do not know, as the standard allows.
 * `size` 0 has no range that could be satisfied.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const start = Number(match[1])
  const last = match[2] === '' ? Number.POSITIVE_INFINITY : Number(match[2])
  if (last < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(last, size - 1) }
}
