/** JSON columns that go from the database to the caller as they are: parsed here, numbers beyond 2^53 would be rounded. */
import pg from 'pg'
import type { Client, Queryable } from '../db/connection.ts'

/** JSON text in the place of a value. */
class ExactJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const JSON_TYPES: readonly number[] = [pg.types.builtins.JSON, pg.types.builtins.JSONB]
const EXACT = {
  getTypeParser: ((oid: number, format?: 'text') =>
    JSON_TYPES.includes(oid)
      ? (text: string) => new ExactJson(text)
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** What is read through it can be answered with exactJson; its JSON columns cannot be looked into. */
export function exactly(client: Client): Queryable {
  const query = (text: string, values?: unknown[]) =>
    client.query({ text, values: values ?? [], types: EXACT })
  return { query } as unknown as Queryable
}

export function exactJson(value: unknown): string {
  if (value instanceof ExactJson) return value.text
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`
  if (value === null || typeof value !== 'object' || value instanceof Date)
    return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`).join(',')}}`
}

/** A string is sent as it is. */
export const JSON_TEXT = 'application/json; charset=utf-8'
