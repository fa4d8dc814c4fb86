/** JSON Schema in SQL means what a validator of its own says: random schemas and values, compared with TypeBox's. */
import fc from 'fast-check'
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'

const db = useDatabase()

const scalar = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'AB-1', 'x y', '2026-02-28', '2026-02-30'),
  fc.integer({ min: -3, max: 5 }),
  fc.constantFrom(0.5, 1.25, -2.5),
  fc.boolean(),
  fc.constant(null),
)
const KEY = fc.constantFrom('a', 'b', 'c')
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(KEY, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

const small = fc.integer({ min: 0, max: 3 })
const number = fc.constantFrom(-1, 0, 0.5, 2)
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const type = fc.constantFrom(...TYPES)
const words = {
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
  const: scalar,
  enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
  minLength: small,
  maxLength: small,
  pattern: fc.constantFrom('^[A-Z]{2}-[0-9]+$', 'a', '^$', '[ab]+'),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: fc.constantFrom(0.5, 1, 2),
  required: fc.uniqueArray(KEY, { maxLength: 2 }),
  minProperties: small,
  maxProperties: small,
  minItems: small,
  maxItems: small,
  uniqueItems: fc.boolean(),
}
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const schemas = fc.array(tie('schema'), { minLength: 1, maxLength: 2 })
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record(words, { requiredKeys: [] }).map(fewOf),
      fc.boolean(),
      fc
        .record(
          {
            ...words,
            properties: fc.dictionary(KEY, tie('schema'), { maxKeys: 2, noNullPrototype: true }),
            additionalProperties: tie('schema'),
            items: tie('schema'),
            prefixItems: schemas,
            allOf: schemas,
            anyOf: schemas,
            oneOf: schemas,
            not: tie('schema'),
            $ref: fc.constantFrom('#/$defs/one', '#/$defs/two'),
          },
          { requiredKeys: [] },
        )
        .map(fewOf),
    ),
  }
})

/** Of many words nothing is met: two or three at a time say more. Which ones follows from the values, so that a case repeats. */
function fewOf(words: object): object {
  const all = Object.entries(words)
  const from = all.length === 0 ? 0 : JSON.stringify(all).length % all.length
  return Object.fromEntries([...all, ...all].slice(from, from + Math.min(3, all.length)))
}

const problems = async (given: unknown, payload: unknown): Promise<string[]> =>
  (
    await db.owner<{ problems: string[] }>('select iu_core.fn_json_schema_problems($1, $2) as problems', [
      JSON.stringify(given),
      JSON.stringify(payload),
    ])
  )[0]!.problems

describe('a schema', () => {
  it('is met by the same values as elsewhere', { tags: 'property', timeout: 600_000 }, async () => {
    const met = { yes: 0, no: 0 }
    const one = fc.record({ root: schema, one: schema, payload: value })
    await fc.assert(
      fc.asyncProperty(one, async ({ root, one: first, payload }) => {
        if (typeof root === 'boolean') return
        const whole = {
          ...(root as object),
          $defs: { one: withoutReferences(first), two: { type: ['string', 'array'] } },
        }
        await db.owner('select iu_core.fn_json_schema_require($1)', [JSON.stringify(whole)])
        const expected = Check(whole as never, payload)
        met[expected ? 'yes' : 'no']++
        const found = await problems(whole, payload)
        expect(found.length === 0, JSON.stringify({ whole, payload, found })).toBe(expected)
      }),
      { numRuns: cases(400, 6000) },
    )
    // Both answers were asked for.
    expect(Math.min(met.yes, met.no)).toBeGreaterThan(cases(400, 6000) / 20)
  })

  it('knows its formats', async () => {
    for (const [format, good, bad] of [
      ['date', '2024-02-29', '2026-02-29'],
      ['date-time', '2026-11-18T20:00:00Z', '2026-11-18 20:00'],
      ['date-time', '2026-11-18T20:00:00.5+10:00', '2026-11-18T25:00:00Z'],
      ['email', 'a@example.com', 'example.com'],
      ['uuid', '0198c2de-0000-7000-8000-000000000001', '0198c2de'],
      ['uri', 'https://example.com/x', 'no uri'],
    ]) {
      expect(await problems({ format }, good)).toEqual([])
      expect(await problems({ format }, bad)).toHaveLength(1)
    }
  })

  it('compares numbers exactly', async () => {
    const [row] = await db.owner<{ problems: string[] }>(
      `select iu_core.fn_json_schema_problems('{"const": 9007199254740993}', '9007199254740992') as problems`,
    )
    expect(row!.problems).toEqual(['/ must be 9007199254740993'])
  })
})

/** The definitions refer to nothing, so that no schema is endless. */
function withoutReferences(given: unknown): unknown {
  return JSON.parse(JSON.stringify(given, (key, inner) => (key === '$ref' ? undefined : inner)))
}
