/** Digests of staged data: over PostgreSQL's own jsonb text, over the bytes of a text, and over the parts of a record. */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

let session: pg.Client
beforeAll(async () => {
  session = await db.session()
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const digestOf = (json: string): Promise<pg.QueryResult> =>
  session.query('select content_hash, byte_len::integer from iu_core.fn_iu_staging_json_digest($1)', [json])

/** Long texts are shortened in the name of a test. */
function titled<T extends [string, ...string[]]>(cases: T[]): [string, ...T][] {
  return cases.map((one) => [
    one[0].length > 60 ? `${one[0].slice(0, 40)}… (${one[0].length})` : one[0],
    ...one,
  ])
}

describe('the digest of a JSON value', () => {
  it.each(
    titled([
      // Zeros, signs, scales.
      ['1e3', '1000'],
      ['1.50', '1.50'],
      ['0.1e-2', '0.001'],
      ['-0', '0'],
      ['-0.0', '0.0'],
      ['1.500e2', '150.0'],
      ['9007199254740993', '9007199254740993'],
      // Sorted by length, then by bytes; the last of equal keys, whatever its spelling.
      ['{"b":1,"a":2,"aa":3,"é":4,"b":6}', '{"a": 2, "b": 6, "aa": 3, "é": 4}'],
      ['{"\\u0061":1,"a":2}', '{"a": 2}'],
      // Bytes of UTF-8, not units of UTF-16.
      ['{"𐀀!":1,"\uffff!!":2}', '{"\uffff!!": 2, "𐀀!": 1}'],
      ['"\\u001f\\u007f\\/\\ud83d\\ude00"', '"\\u001f\u007f/😀"'],
      [' [ ] ', '[]'],
      // A value that a later key replaces is not checked.
      ['{"a":1e500,"a":1}', '{"a": 1}'],
      ['1e400', `1${'0'.repeat(400)}`],
      ['1e-400', `0.${'0'.repeat(399)}1`],
      [`${'['.repeat(100)}1${']'.repeat(100)}`, `${'['.repeat(100)}1${']'.repeat(100)}`],
    ]),
  )('is that of its canonical text: %s', async (_, given, canonical) => {
    const { rows } = await digestOf(given)
    expect(rows).toEqual([{ content_hash: sha256(canonical), byte_len: Buffer.byteLength(canonical) }])
  })

  it.each(
    titled([
      ['"\\u0000"', '22P05'],
      ['"\\ud800"', '22P02'],
      ['1e500', 'SD506'],
      ['1e-401', 'SD506'],
      ['[1e131072]', '22003'],
      [`${'['.repeat(101)}1${']'.repeat(101)}`, 'SD506'],
    ]),
  )('is refused for %s', async (_, given, sqlstate) => {
    expect(await sqlstateOf(digestOf(given))).toBe(sqlstate)
  })

  it.each(['1e131071', '-1e131071', '1e-16383', '0e-16383'])(
    'is refused for 20,000 times %s before it becomes gigabytes of text',
    async (number) => {
      const started = performance.now()
      const digest = digestOf(`[${Array(20_000).fill(number).join()}]`)
      expect(await sqlstateOf(digest)).toBe('SD506')
      expect(performance.now() - started).toBeLessThan(2000)
    },
  )
})

it('the digest of a record covers name, kind and digest of each part, in order', async () => {
  const part = (part_name: string, payload_kind: string, content: string) => ({
    part_name,
    payload_kind,
    content_hash: sha256(content),
  })
  const a = part('a', 'json', '1')
  const b = part('b', 'text', 'two')
  const records = [
    [a],
    [a, b],
    [b, a],
    [{ ...a, part_name: 'A' }],
    [{ ...a, payload_kind: 'text' }],
    [part('a', 'json', '2')],
    // The same characters, moved from one field to the next.
    [{ ...a, part_name: 'a json' }],
  ]
  const { rows } = await session.query<{ digest: string }>(
    `select iu_core.fn_iu_staging_record_digest(parts) as digest
       from jsonb_array_elements($1::jsonb) with ordinality as t (parts, position) order by position`,
    [JSON.stringify(records)],
  )
  const expected = records.map((parts) =>
    sha256(
      parts
        .map(
          (one) =>
            `${Buffer.byteLength(one.part_name)}:${one.part_name}:${one.payload_kind}:${one.content_hash}`,
        )
        .join('\n'),
    ),
  )
  expect(rows.map(({ digest }) => digest)).toEqual(expected)
  expect(new Set(expected).size).toBe(records.length)
})
