/** What many routes answer. */

import pg from 'pg'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { Type } from '../kernel/schema.ts'
import type { ByteRange } from '../runtime/stores/blob-store.ts'

// JSON columns that go from the database to the caller as they are: parsed here, numbers beyond 2^53 would be rounded.

/** JSON text in the place of a value. */
class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const JSON_TYPES: readonly number[] = [pg.types.builtins.JSON, pg.types.builtins.JSONB]
const RAW_JSON_TYPES = {
  getTypeParser: ((oid: number, format?: 'text') =>
    JSON_TYPES.includes(oid)
      ? (text: string) => new RawJson(text)
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** What is read through it can be answered with exactJson; its JSON columns cannot be looked into. */
export function withRawJson(client: Client): Queryable {
  const query = (text: string, values?: unknown[]) =>
    client.query({ text, values: values ?? [], types: RAW_JSON_TYPES })
  return { query } as unknown as Queryable
}

export function stringifyRawJson(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(stringifyRawJson).join(',')}]`
  if (value === null || typeof value !== 'object' || value instanceof Date)
    return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringifyRawJson(member)}`).join(',')}}`
}

/** A string is sent as it is. */
export const JSON_TEXT = 'application/json; charset=utf-8'

// What people are called: a list has the ids of whoever acted, and only those say the same thing for ever.

export const ActorNames = Type.Record(Type.String(), Type.String(), {
  description: 'the names of those who are in it and whom you may see, by their ids',
})

/** A name for old clients in ASCII, and the name itself (RFC 6266). Always a download. */
export function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

// Range requests (RFC 9110, 14): one range of bytes.

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
