/** Rules and computed fields in CEL: what DuckDB makes of them is what cel-js makes of them. */
import { Environment } from '@marcbachmann/cel-js'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { checkCel } from '../../../src/ingest/datasets/cel-sql.ts'
import type { DatasetDeclaration, FieldDeclaration } from '../../../src/ingest/datasets/dataset.ts'
import { checkDataset, checkPatterns, defineDataset } from '../../../src/ingest/datasets/declare.ts'
import { closeDuck, queryDuck } from '../../../src/ingest/duckdb.ts'
import { cases } from '../../support/length.ts'
import { judge } from './judge.ts'

afterAll(closeDuck)

const FIELDS: Record<string, FieldDeclaration> = {
  key: { type: 'text', required: true },
  a: { type: 'integer' },
  b: { type: 'integer' },
  p: { type: 'money' },
  q: { type: 'decimal' },
  s: { type: 'text' },
  t: { type: 'text' },
  f: { type: 'boolean' },
  g: { type: 'boolean' },
  d: { type: 'date' },
  e: { type: 'timestamp' },
  tags: { type: 'array' },
}

function declaration(checks: string[], fields: Record<string, FieldDeclaration> = {}): DatasetDeclaration {
  return {
    name: 'celled',
    fields: { ...FIELDS, ...fields },
    rules: checks.map((check, index) => ({
      name: `rule${index}`,
      severity: 'error',
      check,
      message: 'Broken.',
    })),
    rows: [{ name: 'row', target: 'public.celled', key: ['key'], columns: { key: 'key' } }],
  }
}

const completeFields = defineDataset(declaration([])).fields

type Line = Record<string, string>
type Verdict = boolean | 'failed'

/** Verdicts by rule, of each line. */
async function verdicts(checks: string[], lines: Line[], way?: 'long'): Promise<Verdict[][]> {
  const used = new Set(lines.flatMap((line) => Object.keys(line)))
  const headers = Object.keys(FIELDS).filter((name) => name === 'key' || used.has(name))
  const rows = await judge(
    defineDataset(declaration(checks)),
    headers,
    lines.map((line, index) => headers.map((name) => (name === 'key' ? `k${index}` : (line[name] ?? '')))),
    { styles: { decimal: 'dot', dates: 'unknown' }, ...(way && { way }) },
  )
  return rows.map(({ errors }) =>
    checks.map((_, index) => {
      const found = errors.find(({ rule }) => rule === `rule${index}`)
      return found === undefined ? true : found.message === 'Broken.' ? false : 'failed'
    }),
  )
}

async function verdictsOn(line: Line, expected: [check: string, verdict: Verdict][]) {
  const checks = expected.map(([check]) => check)
  const empty = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, '']))
  const [found] = await verdicts(checks, [{ ...empty, ...line }])
  expect(checks.map((check, index) => [check, found![index]])).toEqual(expected)
}

describe('a rule', () => {
  it('counts decimals exactly, and mixes them with whole numbers', async () => {
    await verdictsOn({ a: '3', p: '0.10', q: '0.20' }, [
      ['p + q == 0.3', true],
      ['p * a == 0.3', true],
      ['p * 3 == q + 0.1', true],
      ['1 / 3 == 0', true],
      ['double(1) / 3 == 0.333333333', true],
      ['double(2) / -3 == -0.666666667', true],
      ['a / 2 == 1 && a % 2 == 1', true],
      ['int(p) == 0 && int(double(7) / 2) == 3', true],
      ['string(p) == "0.1" && string(a) == "3"', true],
      ['int("12") + double("1.5") > 13.4', true],
    ])
  })

  it('fails where it cannot be worked out, and is never true then', async () => {
    await verdictsOn({ a: '0', b: '9223372036854775807', s: 'x', q: '0.1234567891' }, [
      ['1 / a > 0', 'failed'],
      ['1 % a == 0', 'failed'],
      ['1.5 / a > 0.0', 'failed'],
      ['b + 1 > 0', 'failed'],
      ['b * b > 0', 'failed'],
      ['int(s) > 0', 'failed'],
      ['q > 0.0', 'failed'],
      ['p > 1.0', 'failed'],
      ['f', 'failed'],
      ['!f', 'failed'],
      ['f || a == 0', true],
      ['a == 0 || f', true],
      ['f && a == 1', false],
      ['f || a == 1', 'failed'],
      ['1 / a > 0 ? true : true', 'failed'],
    ])
    const [row] = await judge(defineDataset(declaration(['p > 1.0'])), ['key', 'p'], [['k', '']])
    expect(row!.errors).toMatchObject([
      { rule: 'rule0', field: 'p', column: 'p', suggestion: expect.stringContaining('== null ||') },
    ])
  })

  it('knows empty values, and fields that the file does not have, as null', async () => {
    await verdictsOn({ a: '1' }, [
      ['p == null', true],
      ['p != null', false],
      ['a == b', false],
      ['p == null || p > 1.0', true],
      ['s in ["x", null]', true],
      ['s in ["x"]', false],
      ['(a == 1 ? null : 2) == null', true],
    ])
    const [row] = await judge(defineDataset(declaration(['s == null && a == 1'])), ['key', 'a'], [['k', '1']])
    expect(row!.rules).toEqual([])
  })

  it('compares texts, lists and days', async () => {
    await verdictsOn({ s: 'Äpfel 12', d: '2026-01-31', e: '2026-02-01 10:00', tags: 'red, blue', a: '2' }, [
      ['s.startsWith("Äp") && s.endsWith("12") && s.contains("el")', true],
      ['s.matches("[0-9]+$")', true],
      ['s.matches("^[0-9]+$")', false],
      ['size(s) == 8 && s.size() == 8', true],
      ['s.upperAscii() == "ÄPFEL 12" && s.lowerAscii() != s', true],
      ['"red" in tags && !("green" in tags) && size(tags) == a', true],
      ['d < e && d > timestamp("2026-01-30T23:59:59Z")', true],
      ['d.getFullYear() == 2026 && d.getMonth() == 0 && d.getDate() == 31 && d.getDayOfWeek() == 6', true],
      ['s + "!" == "Äpfel 12!" && "a" < "b"', true],
    ])
  })

  it('says nothing of a line whose values are refused already', async () => {
    const [row] = await judge(defineDataset(declaration(['a > 1'])), ['key', 'a'], [['k', 'many']])
    expect(row!.rules).toEqual(['number.invalid'])
  })

  it('is refused when it is declared, with its place and what could be used', async () => {
    const problem = (check: string) => checkDataset(declaration([check]))[0]
    expect(problem('a + 1')).toBe('rules.0.check: it gives a whole number, and a rule is true or false')
    expect(problem('a > "x"')).toContain('a whole number and a text do not go together')
    expect(problem('a >')).toContain('at character 4')
    expect(problem('price > 1')).toContain('there is no field price that can be used (at character 1)')
    expect(problem('price > 1')).toContain('there are the fields key, a, b')
    expect(problem('[1].all(x, x > 0)')).toContain('what can be used: fields, literals')
    expect(problem(`a > ${'1 + '.repeat(600)}1`)).toContain('longer than 2000 characters')
    expect(problem(`a > ${'('.repeat(200)}1${')'.repeat(200)}`)).toContain('rules.0.check')
    expect(problem(Array.from({ length: 30 }, () => '(f == g)').join(' == '))).toContain('too long')
    expect(problem('a > 1e3')).toContain('is no decimal')
    const dataset = defineDataset(declaration(['s.matches("(")']))
    expect(await checkPatterns(dataset, queryDuck)).toEqual([expect.stringContaining('rules.0.check')])
  })
})

it('a computed field takes what its type takes', async () => {
  const computed = (fields: Record<string, FieldDeclaration>) => checkDataset(declaration([], fields))
  expect(computed({ x: { type: 'text', compute: 'a + 1' } })[0]).toContain('takes a text')
  expect(computed({ x: { type: 'json', compute: 's' } })[0]).toContain('cannot be computed; these can: text')
  expect(computed({ x: { type: 'money', compute: 'p', default: '1' } })[0]).toContain('no cell')
  const dataset = defineDataset(
    declaration([], {
      net: { type: 'money', compute: 'p / 1.19' },
      label: { type: 'text', compute: 's + " (" + string(a) + ")"' },
      size: { type: 'enum', values: { small: [], large: [] }, compute: 'a > 10 ? "large" : "tiny"' },
      due: { type: 'date', compute: 'd' },
      cheap: { type: 'boolean', compute: 'p == null ? null : p < 1.0' },
    }),
  )
  const rows = await judge(
    dataset,
    ['key', 'a', 'p', 's', 'd'],
    [
      ['1', '11', '119', 'He said "x"', '2026-01-31'],
      ['2', '1', '', 'y', ''],
    ],
  )
  expect(rows[0]!.values).toMatchObject({
    net: 100,
    label: 'He said "x" (11)',
    size: 'large',
    due: '2026-01-31',
    cheap: false,
  })
  expect(rows[1]!.values).toMatchObject({ net: null, label: 'y (1)', due: null, cheap: null })
  expect(rows.map(({ rules }) => rules)).toEqual([[], ['compute.failed', 'enum.unknown']])
})

// The same expressions in cel-js, whose decimals are counts of 10^-9.

class Dec {
  readonly units: bigint
  constructor(units: bigint) {
    this.units = units
  }
}
const ONE = 1_000_000_000n
const LARGEST = 10n ** 38n

function decOf(text: string): Dec {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole!) * ONE + BigInt(fraction.padEnd(9, '0'))
  return new Dec(text.startsWith('-') ? -units : units)
}

function toDec(value: Dec | bigint | number): Dec {
  return value instanceof Dec ? value : decOf(String(value))
}

function rounded(numerator: bigint, denominator: bigint): bigint {
  const positive = (n: bigint) => (n < 0n ? -n : n)
  const size = (2n * positive(numerator) + positive(denominator)) / (2n * positive(denominator))
  return numerator < 0n === denominator < 0n ? size : -size
}

function held(units: bigint): Dec {
  if (units >= LARGEST || units <= -LARGEST) throw new Error('too large')
  return new Dec(units)
}

const oracle = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false })
oracle.registerType('Dec', Dec as never)
for (const [left, right] of [
  ['Dec', 'Dec'],
  ['Dec', 'int'],
  ['int', 'Dec'],
  ['Dec', 'double'],
  ['double', 'Dec'],
]) {
  const on = (sign: string, type: string, compute: (left: bigint, right: bigint) => unknown) =>
    oracle.registerOperator(`${left} ${sign} ${right}: ${type}`, (one, other) =>
      compute(toDec(one).units, toDec(other).units),
    )
  on('+', 'Dec', (one, other) => held(one + other))
  on('-', 'Dec', (one, other) => held(one - other))
  // With 38 digits in all, 18 of them after the point, before it is rounded.
  on('*', 'Dec', (one, other) => held(rounded(held(one * other).units, ONE)))
  on('/', 'Dec', (one, other) => {
    if (other === 0n) throw new Error('division by zero')
    for (const operand of [one, other]) held(operand * ONE)
    if (2n * (one < 0n ? -one : one) * ONE + other >= 2n ** 127n) throw new Error('too large')
    return held(rounded(one * ONE, other))
  })
  if (left === 'Dec') on('==', 'bool', (one, other) => one === other)
  on('<', 'bool', (one, other) => one < other)
  on('<=', 'bool', (one, other) => one <= other)
  on('>', 'bool', (one, other) => one > other)
  on('>=', 'bool', (one, other) => one >= other)
}

function ofOracle(check: string, line: Line): Verdict {
  const scope: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(FIELDS)) {
    const cell = line[name] ?? ''
    scope[name] =
      cell === ''
        ? null
        : type === 'integer'
          ? BigInt(cell)
          : type === 'money' || type === 'decimal'
            ? decOf(cell)
            : type === 'boolean'
              ? cell === 'true'
              : type === 'date' || type === 'timestamp'
                ? new Date(`${cell.length === 10 ? `${cell}T00:00:00` : cell}Z`)
                : cell
  }
  try {
    const found: unknown = oracle.parse(check)(scope)
    return typeof found === 'boolean' ? found : 'failed'
  } catch {
    return 'failed'
  }
}

const pick = <T extends string>(...values: T[]) => fc.constantFrom(...values)
const { bool: anyBool } = fc.letrec<Record<'int' | 'dec' | 'text' | 'time' | 'bool', string>>((tie) => {
  const depth = { depthSize: 'small' as const, maxDepth: 4 }
  const binary = (left: fc.Arbitrary<string>, signs: string[], right: fc.Arbitrary<string>) =>
    fc.tuple(left, fc.constantFrom(...signs), right).map(([one, sign, other]) => `(${one} ${sign} ${other})`)
  const choice = (kind: fc.Arbitrary<string>) =>
    fc.tuple(tie('bool'), kind, kind).map(([when, one, other]) => `(${when} ? ${one} : ${other})`)
  const wholes = pick('0', '1', '2', '7', '1000', '9223372036854775807')
  const decimals = pick('0.5', '1.25', '100.0', '0.000001', '12345678901234.5')
  const order = ['<', '<=', '>', '>=', '==', '!=']
  const numbers = fc.oneof(tie('int'), tie('dec'))
  return {
    int: fc.oneof(
      depth,
      pick('a', 'b'),
      wholes,
      binary(tie('int'), ['+', '-', '*', '/', '%'], tie('int')),
      pick('-a', '-b'),
      choice(tie('int')),
      tie('text').map((value) => `size(${value})`),
      tie('time').map((value) => `${value}.getFullYear()`),
    ),
    dec: fc.oneof(
      depth,
      pick('p', 'q'),
      binary(tie('dec'), ['+', '-', '*', '/'], fc.oneof(tie('dec'), tie('int'), decimals)),
      binary(fc.oneof(tie('int'), decimals), ['+', '-', '*', '/'], tie('dec')),
      choice(tie('dec')),
    ),
    text: fc.oneof(
      depth,
      pick('s', 't'),
      pick('"x"', '""', '"it\'s é"', '"12"'),
      binary(tie('text'), ['+'], tie('text')),
      tie('int').map((value) => `string(${value})`),
      tie('text').map((value) => `${value}.upperAscii()`),
      choice(tie('text')),
    ),
    time: fc.oneof(depth, pick('d', 'e'), pick('timestamp("2026-01-31T00:00:00Z")'), choice(tie('time'))),
    bool: fc.oneof(
      depth,
      pick('f', 'g', 'true', 'false'),
      binary(tie('bool'), ['&&', '||', '&&', '||', '==', '!='], tie('bool')),
      tie('bool').map((value) => `(!${value})`),
      choice(tie('bool')),
      binary(tie('int'), order, tie('int')),
      binary(tie('dec'), order, numbers),
      binary(tie('text'), order, tie('text')),
      binary(tie('time'), order, tie('time')),
      binary(pick('a', 'p', 's', 'd', 'f'), ['==', '!='], pick('null')),
      binary(tie('int'), ['in'], pick('[1, 2, 7]', '[0]', '[a, b]')),
      binary(tie('text'), ['in'], pick('["x", "12"]', '[s, t]')),
      fc
        .tuple(tie('text'), pick('startsWith', 'endsWith', 'contains'), tie('text'))
        .map(([one, name, other]) => `${one}.${name}(${other})`),
      fc.tuple(tie('text'), pick('"x"', '"^1"', '"[a-z]$"')).map(([one, by]) => `${one}.matches(${by})`),
    ),
  }
})

const anyLine: fc.Arbitrary<Line> = fc.record({
  a: pick('', '0', '1', '2', '7', '-3', '9223372036854775807'),
  b: pick('', '0', '5', '-12', '1000000007'),
  p: pick('', '0', '0.1', '0.25', '-7.5', '1234.56', '99999999999999.99'),
  q: pick('', '0', '0.2', '3', '0.000000001', '-0.333333333'),
  s: pick('', 'x', '12', "it's é", 'X'),
  t: pick('', 'x', 'abc'),
  f: pick('', 'true', 'false'),
  g: pick('', 'true', 'false'),
  d: pick('', '2026-01-31', '2025-12-24'),
  e: pick('', '2026-01-31T00:00:00', '2026-01-31T10:00:00'),
})

const anyRules = fc.array(
  anyBool.filter((text) => text.length < 250 && checkCel(text, completeFields).problem === undefined),
  { minLength: 6, maxLength: 10 },
)
const anyLines = fc.array(anyLine, { minLength: 8, maxLength: 16 })

it('DuckDB and cel-js come to the same verdict', { tags: 'property' }, async () => {
  await fc.assert(
    fc.asyncProperty(anyRules, anyLines, async (checks, lines) => {
      const told = (of: Verdict[][]) =>
        of.flatMap((verdict, line) =>
          verdict.map((one, rule) => `${checks[rule]} on ${JSON.stringify(lines[line])}: ${one}`),
        )
      const expected = told(lines.map((line) => checks.map((check) => ofOracle(check, line))))
      const found = told(await verdicts(checks, lines))
      expect(found.filter((one, place) => one !== expected[place])).toEqual([])
    }),
    { numRuns: cases(3, 150) },
  )
})

it('a line alone has the verdict that it has in a file', { tags: 'property' }, async () => {
  await fc.assert(
    fc.asyncProperty(anyRules, anyLines, async (checks, lines) => {
      expect(await verdicts(checks, lines, 'long')).toEqual(await verdicts(checks, lines))
    }),
    { numRuns: cases(1, 25) },
  )
})
