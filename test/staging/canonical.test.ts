/** The canonical form of JSON: the same bytes, the same digests and the same refusals in SQL and in TypeScript. */
import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson, digestJson, digestRecord, digestText } from '../../src/staging/canonical.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { databaseVerdicts, ourVerdict, prepareVerdicts } from './canonical-verdict.ts'
import { brokenText, jsonText, numberText } from './json-texts.ts'

const db = useDatabase()
const BATCH = 500
const seed = Number(process.env.STAGEDOOR_TEST_SEED ?? Date.now() % 2 ** 31)

let session: pg.Client
beforeAll(async () => {
  session = await db.session()
  await prepareVerdicts(session)
})

/** Puts the beginning of a text before it, for the test's name. */
function titled<T extends [string, ...string[]]>(cases: T[]): [string, ...T][] {
  return cases.map((one) => [
    one[0].length > 60 ? `${one[0].slice(0, 40)}… (${one[0].length})` : one[0],
    ...one,
  ])
}

const canonical = (text: string): string => canonicalJson(text).toString('utf8')

/** Hundreds of texts a statement; a counterexample is shrunk to the one text that matters. */
async function agree(
  texts: fc.Arbitrary<string>,
  total: number,
): Promise<{ taken: number; refused: number }> {
  console.log(`seed ${seed} (STAGEDOOR_TEST_SEED runs it again)`)
  const counts = { taken: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: BATCH, maxLength: BATCH }), async (batch) => {
      const theirs = await databaseVerdicts(session, batch)
      batch.forEach((text, index) => {
        const ours = ourVerdict(text)
        counts[ours === 'refused' ? 'refused' : 'taken']++
        expect({ text, verdict: ours }).toEqual({ text, verdict: theirs[index] })
      })
    }),
    { numRuns: total / BATCH, seed },
  )
  return counts
}

describe('SQL and TypeScript agree', () => {
  it('on 10,000 generated JSON texts', async () => {
    const { taken } = await agree(jsonText, 16_000)
    expect(taken).toBeGreaterThan(10_000)
  }, 120_000)

  it('on 5,000 numbers of every size and notation', async () => {
    const { taken, refused } = await agree(numberText, 5000)
    expect(Math.min(taken, refused)).toBeGreaterThan(20)
  }, 60_000)

  it('on what is refused: 2,000 and more texts that are not JSON', async () => {
    const { refused } = await agree(brokenText, 5000)
    expect(refused).toBeGreaterThan(2000)
  }, 60_000)

  it.each(
    titled([
      // Zeros, signs, scales.
      ['1e3', '1000'],
      ['1.50', '1.50'],
      ['0.1e-2', '0.001'],
      ['-0', '0'],
      ['-0.0', '0.0'],
      ['-0e-3', '0.000'],
      ['0e10', '0'],
      ['1.500e2', '150.0'],
      ['12.340e5', '1234000'],
      ['9007199254740993', '9007199254740993'],
      // Sorted by length, then by bytes; the last of equal keys, whatever its spelling.
      ['{"b":1,"a":2,"aa":3,"é":4,"b":6}', '{"a": 2, "b": 6, "aa": 3, "é": 4}'],
      ['{"\\u0061":1,"a":2}', '{"a": 2}'],
      // Compared without their escapes: "\n" has one byte.
      ['{"aa":1,"\\n":2}', '{"\\n": 2, "aa": 1}'],
      // Bytes of UTF-8, not units of UTF-16.
      ['{"𐀀!":1,"\uffff!!":2}', '{"\uffff!!": 2, "𐀀!": 1}'],
      ['"\\u001f\\u007f\\/\\ud83d\\ude00"', '"\\u001f\u007f/😀"'],
      [' [ ] ', '[]'],
      // What a later key replaces is not looked at.
      ['{"a":1e500,"a":1}', '{"a": 1}'],
      [`{"a":${'['.repeat(300)}${']'.repeat(300)},"a":1}`, '{"a": 1}'],
      ['1e400', `1${'0'.repeat(400)}`],
      ['1e-400', `0.${'0'.repeat(399)}1`],
      [`${'['.repeat(100)}1${']'.repeat(100)}`, `${'['.repeat(100)}1${']'.repeat(100)}`],
      [`0.${'0'.repeat(20_000)}1e20001`, '1'],
    ]),
  )('on %s', async (_, given, expected) => {
    expect(canonical(given)).toBe(expected)
    const [theirs] = await databaseVerdicts(session, [given])
    expect(theirs).toEqual({ text: expected, ...digestJson(given) })
  })

  it.each(
    titled([
      ['"\\u0000"', 'text_invalid', 'column 2: PostgreSQL cannot hold the NUL character'],
      ['"\\ud800"', 'text_invalid', 'half a surrogate pair'],
      ['"\\udc00\\ud800"', 'text_invalid', 'half a surrogate pair'],
      ['1e500', 'staging_part_invalid', '401 digits before the point'],
      ['1e-401', 'staging_part_invalid', '400 after it'],
      ['[1e131072]', 'text_invalid', 'too large'],
      ['1e99999999999999999999', 'text_invalid', 'too large'],
      [`${'['.repeat(101)}1${']'.repeat(101)}`, 'staging_part_invalid', '100 deep'],
      ['[1,\n2,\n  x]', 'text_invalid', 'line 3, column 3: expected a value'],
      ['{"a":1', 'text_invalid', 'expected a comma or }, but it ends here'],
      ['[1 2]', 'text_invalid', 'expected a comma or ]'],
      ['{a:1}', 'text_invalid', 'expected a key in double quotes'],
      ['{"a" 1}', 'text_invalid', 'expected a colon'],
      ['"a\tb"', 'text_invalid', 'control character 9'],
      ['"a', 'text_invalid', 'a string has no end'],
      ['"\\x"', 'text_invalid', 'no such escape'],
      ['"\\u12g4"', 'text_invalid', 'four hexadecimal digits'],
      ['01', 'text_invalid', 'begins with 0'],
      ['1.', 'text_invalid', 'expected a digit'],
      ['', 'text_invalid', 'expected a value, but it ends here'],
      ['1 2', 'text_invalid', 'expected the end'],
      ['\u00a01', 'text_invalid', 'expected a value'],
      ['NaN', 'text_invalid', 'expected a value'],
    ]),
  )('that %s is refused', async (_, given, code, words) => {
    expect(() => canonicalJson(given)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    )
    expect(await databaseVerdicts(session, [given])).toEqual(['refused'])
  })

  it.each(['1e131071', '-1e131071', '1e-16383', '0e-16383'])(
    'that 20,000 times %s is refused before it becomes gigabytes of text',
    async (number) => {
      const started = performance.now()
      const digest = session.query('select iu_core.fn_iu_staging_json_digest($1)', [
        `[${Array(20_000).fill(number).join()}]`,
      ])
      expect(await sqlstateOf(digest)).toBe('SD506')
      expect(performance.now() - started).toBeLessThan(2000)
    },
  )

  it('on a million levels, which are refused and not a crash', () => {
    expect(() => canonicalJson('['.repeat(1_000_000))).toThrow(
      expect.objectContaining({ code: 'text_invalid' }),
    )
    expect(() => canonicalJson(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`)).toThrow('100 deep')
  })
})

describe('what cannot be sent to PostgreSQL', () => {
  it.each(['"\ud800"', '"\udc00"', '{"\ud83d": 1}', '"a\0b"', '1\0', '\0'])('is refused: %j', (given) => {
    expect(() => canonicalJson(given)).toThrow(expect.objectContaining({ code: 'text_invalid' }))
  })

  it.each(['\ud800', 'a\0b'])('is refused as text: %j', (given) => {
    expect(() => digestText(given)).toThrow(expect.objectContaining({ code: 'text_invalid' }))
  })
})

describe('digests of texts and records', () => {
  it('of a text are those of its bytes', async () => {
    const text = 'Tiếng Việt\r\n\t😀 "quoted"'
    const [theirs] = await db.owner(
      `select encode(sha256(convert_to($1, 'UTF8')), 'hex') as content_hash, octet_length($1)::int as byte_len`,
      [text],
    )
    expect(digestText(text)).toEqual(theirs)
  })

  it('of a record are those of the database, for any names and order of parts', async () => {
    const part = fc.record({
      part_name: fc.string({ unit: 'binary', minLength: 1 }).filter((name) => !name.includes('\0')),
      payload_kind: fc.constantFrom('json' as const, 'text' as const, 'blob_ref' as const),
      content_hash: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
    })
    const records = fc.sample(fc.array(part, { minLength: 1, maxLength: 5 }), { numRuns: 200, seed })
    const theirs = await db.owner<{ digest: string }>(
      `select iu_core.fn_iu_staging_record_digest(parts) as digest
         from jsonb_array_elements($1::jsonb) with ordinality as t (parts, position) order by position`,
      [JSON.stringify(records)],
    )
    expect(records.map(digestRecord)).toEqual(theirs.map(({ digest }) => digest))
  })
})
