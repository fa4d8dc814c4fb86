/** Ready-made records: 4 KiB of JSON each, shaped like an export of an ad platform. */
import { createHash } from 'node:crypto'

export interface ReadyRecord {
  /** Canonical as it stands, so that its digest can be taken without the database. */
  readonly payload: string
  readonly partHash: string
  readonly recordHash: string
  readonly partDigests: string
  readonly key: string
}

const BYTES = 4096

/** Digests are made here, before anything is timed: the floor stores what somebody else has worked out. */
export function readyRecord(index: number): ReadyRecord {
  const rows: string[] = []
  for (let length = 0; length < BYTES - 40; length += rows.at(-1)!.length + 2)
    rows.push(row(index * 100 + rows.length))
  const payload = `{"rows": [${rows.join(', ')}], "source": "export ${index}"}`
  const partHash = sha256(payload)
  return {
    payload,
    partHash,
    recordHash: sha256(`8:manifest:json:${partHash}`),
    partDigests: JSON.stringify([
      {
        part_index: 0,
        part_name: 'manifest',
        payload_kind: 'json',
        byte_len: payload.length,
        content_hash: partHash,
      },
    ]),
    key: sha256(`key ${index}`),
  }
}

function row(n: number): string {
  return `{"ad": "${n}", "date": "2026-01-${10 + (n % 20)}", "spend": ${n % 97}.${10 + (n % 90)}, "clicks": ${n % 1000}}`
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
