import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Field } from '../../../src/ingest/datasets/dataset.ts'
import type { Styles } from '../../../src/ingest/datasets/profile.ts'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { cases } from '../../support/length.ts'
import { allTypes } from './all-types.ts'
import { checkedAlone } from './checked-alone.ts'
import { type FileShape, type Judged, judge } from './judge.ts'
import { judgeFile } from './judge-file.ts'
import { datasetOf } from './one-column.ts'

afterAll(closeDuck)

const FIELDS = Object.keys(allTypes.fields)

const digits = fc.integer({ min: 0, max: 99_999_999 }).map(String)
const grouped = (mark: string) => digits.map((value) => value.replace(/\B(?=(\d{3})+$)/g, mark))
const fraction = fc.stringMatching(/^[0-9]{1,6}$/)
const day = fc
  .date({ min: new Date('1901-01-01'), max: new Date('2098-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
  .filter((date) => !date.endsWith('02-29'))
const word = fc
  .string({ unit: fc.constantFrom(...'abcXYZ19 "\\/–é名\u0001'), minLength: 1, maxLength: 24 })
  .map((text) => `w${text}z`)

/** Cells that the short way reads, by the field's type. */
function plainCell(type: Field['type'], decimal: Styles['decimal']): fc.Arbitrary<string> {
  const [mark, group] = decimal === 'comma' ? [',', '.'] : ['.', ',']
  const settled = decimal === 'dot' || decimal === 'comma'
  const whole = settled ? fc.oneof(digits, grouped(group)) : digits
  const number = settled ? fc.tuple(whole, fraction).map((parts) => parts.join(mark)) : digits
  switch (type) {
    case 'id':
      return fc.oneof(digits, fc.stringMatching(/^[1-9][0-9]{17}[1-9]$/))
    case 'date':
      return day
    case 'integer':
      return whole
    case 'decimal':
    case 'money':
      return fc.oneof(whole, number)
    case 'percent':
      return fc
        .oneof(number, fc.integer({ min: 0, max: 300 }).map(String))
        .chain((value) => fc.constantFrom(value, `${value}%`))
    case 'boolean':
      return fc.constantFrom('true', 'false', 'Ja', 'NO')
    case 'enum':
      return fc.constantFrom('on', 'Läuft', 'paused')
    case 'currency':
      return fc.constantFrom('AUD', 'eur', '€')
    default:
      return word
  }
}

function cellOf(name: string, decimal: Styles['decimal']): fc.Arbitrary<string> {
  const { micros } = (allTypes.fields[name]!.aliases.any?.[0] ?? {}) as { micros?: boolean }
  if (micros) return digits
  if (name === 'level') return fc.constantFrom('low', 'H')
  return plainCell(allTypes.fields[name]!.type, decimal)
}

const ODD = [
  '$5',
  '(3)',
  '--',
  ' x',
  'x ',
  '1,2,3',
  '31/01/2026',
  '1.2E+17',
  'Total',
  '\u00a0',
  '\ufffd',
  '12 %',
]

const file = fc.constantFrom<Styles['decimal']>('dot', 'comma', 'unknown').chain((decimal) => {
  const line = fc.tuple(
    ...FIELDS.map((name) => fc.oneof({ weight: 8, arbitrary: cellOf(name, decimal) }, fc.constant(''))),
  )
  return fc.record({
    decimal: fc.constant(decimal),
    lines: fc.array(line, { minLength: 40, maxLength: 120 }),
    odd: fc.array(fc.tuple(fc.nat(FIELDS.length - 1), fc.nat(39), fc.constantFrom(...ODD)), { maxLength: 2 }),
  })
})

async function bothWays(lines: string[][], shape: FileShape) {
  let plain: string[] = []
  const short = await judge(allTypes, FIELDS, lines, { ...shape, onPlain: (fields) => (plain = fields) })
  const long = await judge(allTypes, FIELDS, lines, { ...shape, way: 'long' })
  return { plain, short: short.map(verdict), long: long.map(verdict) }
}

function verdict({ status, raw, text, errors, warnings }: Judged) {
  return { status, raw, text, errors, warnings }
}

describe('columns that are plain throughout', () => {
  it('are judged by the short way as they are by the long one', {
    tags: 'property',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ decimal, lines }) => {
        const { plain, short, long } = await bothWays(lines, { styles: { decimal, dates: 'unknown' } })
        expect(plain).toEqual(FIELDS)
        expect(short).toEqual(long)
      }),
      { numRuns: cases(6, 65) },
    )
  })

  it('are judged alike beside columns that are not', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ decimal, lines, odd }) => {
        for (const [field, line, value] of odd) lines[line]![field] = value
        const { short, long } = await bothWays(lines, { styles: { decimal, dates: 'unknown' } })
        expect(short).toEqual(long)
      }),
      { numRuns: cases(6, 65) },
    )
  })

  it('leave a contradicting sign to the column that has it', async () => {
    const [{ lines } = { lines: [] }] = fc.sample(
      file.filter(({ decimal }) => decimal === 'unknown'),
      { numRuns: 1, seed: 1 },
    )
    const put = (name: string, cell: string) => (lines[3]![FIELDS.indexOf(name)] = cell)
    put('cost', '$5')
    put('currency', 'eur')
    const { plain, short, long } = await bothWays(lines, { styles: { decimal: 'unknown', dates: 'unknown' } })
    expect(plain).toContain('price')
    expect(short).toEqual(long)
    const ofCost = { rule: 'currency.contradicts', field: 'cost', column: 'cost' }
    expect(short[3]!.errors).toContainEqual(expect.objectContaining(ofCost))
  })

  it('may have empty cells, which are missing where they are required', async () => {
    const dataset = datasetOf({ type: 'integer', required: true })
    let plain: string[] = []
    const shape = { onPlain: (fields: string[]) => (plain = fields) }
    const rows = await judge(
      dataset,
      ['key', 'Value'],
      ['1', '', '3'].map((value) => ['k', value]),
      shape,
    )
    expect(plain).toContain('value')
    expect(rows.map(({ rules }) => rules)).toEqual([[], ['required.missing'], []])
  })

  it('are none where a file has no lines', async () => {
    const { plain, short } = await bothWays([], {})
    expect([plain, short]).toEqual([[], []])
  })
})

describe('one odd value', () => {
  it.each<[Field['type'], string, string, unknown]>([
    ['integer', '7', '1 000', 1000],
    ['money', '7.25', '$5', 5],
    ['decimal', '7.25', '1e3', 1000],
    ['percent', '12%', '12.5 %', 0.125],
    ['date', '2026-01-31', '5 janvier 2026', '2026-01-05'],
    ['id', '12', "'34", '34'],
    ['text', 'a', ' b', 'b'],
    ['text', 'a', 'N/A', null],
    ['boolean', 'yes', ' Ja', true],
    ['currency', 'AUD', 'EUR ', 'EUR'],
  ])('in a column of %s, %s or %s, makes all of it take the long way', async (type, usual, odd, read) => {
    const dataset = datasetOf({ type })
    const values = Array.from({ length: 30 }, () => usual)
    let plain: string[] = []
    const shape = { onPlain: (fields: string[]) => (plain = fields) }
    const lines = (cells: string[]) => cells.map((value, index) => [`k${index}`, value])
    await judge(dataset, ['key', 'Value'], lines(values), shape)
    expect(plain).toEqual(['key', 'value'])
    const rows = await judge(dataset, ['key', 'Value'], lines([...values, odd]), shape)
    expect(plain).toEqual(['key'])
    expect(rows.at(-1)!.values.value).toEqual(read)
  })

  it('is what a mark makes of a number where the file writes decimals otherwise, or does not settle it', async () => {
    const plainIn = async (decimal: Styles['decimal'], value: string) => {
      let plain: string[] = []
      const shape: FileShape = {
        styles: { decimal, dates: 'unknown' },
        onPlain: (fields) => (plain = fields),
      }
      await judge(datasetOf({ type: 'decimal' }), ['key', 'Value'], [['k', value]], shape)
      return plain.includes('value')
    }
    const styles = ['dot', 'comma', 'unknown', 'mixed'] as const
    const found = await Promise.all(
      ['12', '12.5', '12,5', '1,234.5'].map((value) =>
        Promise.all(styles.map((style) => plainIn(style, value))),
      ),
    )
    expect(found).toEqual([
      [true, true, true, true],
      [true, false, false, false],
      [false, true, false, false],
      [true, false, false, false],
    ])
  })
})

it('a corrected line may have an odd value in a column that was plain', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-plain-'))
  try {
    const path = join(folder, 'file.csv')
    writeFileSync(path, 'key,Value\na,1.50\nb,2.50\n')
    const dataset = datasetOf({ type: 'money' })
    const judged = await judgeFile(dataset, 'file', path)
    const raws = ['$1,234.50', 'much'].map((Value) => ({ line: 2, raw: { key: 'a', Value } }))
    const [read, refused] = await checkedAlone(dataset, 'file', judged, raws)
    expect([read!.status, JSON.parse(read!.text).value]).toEqual(['valid', 1234.5])
    expect([refused!.status, refused!.errors[0]?.rule]).toEqual(['invalid', 'number.invalid'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
