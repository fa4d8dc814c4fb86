/** What happens to a cell before it is read, and fields without a column of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Dataset, DatasetDeclaration, Field } from '../../../src/ingest/datasets/dataset.ts'
import { defineDataset } from '../../../src/ingest/datasets/declare.ts'
import { mapHeaders } from '../../../src/ingest/datasets/headers.ts'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { checkedAlone } from './checked-alone.ts'
import { type FileShape, judge } from './judge.ts'
import { judgeFile } from './judge-file.ts'
import { valuesOf } from './one-column.ts'

afterAll(closeDuck)

const read = (field: Omit<Field, 'aliases'>, cells: string[], shape: FileShape = {}) =>
  valuesOf(field, cells, shape)

describe('a cell', () => {
  it('is split, counted from the front or the back', async () => {
    const split = (part: number) => ({ type: 'text' as const, split: { separator: ' - ', part } })
    expect(await read(split(1), ['DE - Berlin - 10', 'DE', ''])).toEqual(['DE', 'DE', null])
    expect(await read(split(-1), ['DE - Berlin - 10', 'DE'])).toEqual(['10', 'DE'])
    expect(await read(split(2), ['DE - Berlin - 10', 'DE'])).toEqual(['Berlin', null])
  })

  it('has patterns replaced everywhere, one after the other', async () => {
    const replace = [
      { pattern: '^SKU[-_ ]*', with: '' },
      { pattern: '([a-z])([0-9])', with: '\\1-\\2' },
    ]
    expect(await read({ type: 'text', replace }, ['SKU- a1b2', "it's"])).toEqual(['a-1b-2', "it's"])
  })

  it('is put into one case, mapped, and filled in where it is empty', async () => {
    const field = {
      type: 'text' as const,
      case: 'upper' as const,
      map: { ENGLAND: 'GB', 'N.N.': null },
      default: 'ZZ',
    }
    expect(await read(field, ['england', ' de', 'n.n.', '', '--'])).toEqual(['GB', 'DE', 'ZZ', 'ZZ', 'ZZ'])
  })

  it('is transformed in the declared order before it is read', async () => {
    const field = {
      type: 'money' as const,
      split: { separator: '/', part: 2 },
      replace: [{ pattern: 'k$', with: '000' }],
      map: { free: '0' },
      default: '7',
      min: 0,
    }
    expect(await read(field, ['x / 3k', 'x/free', 'x/', 'x/-1', 'x/much'])).toEqual([
      3000,
      0,
      7,
      'number.min',
      'number.invalid',
    ])
  })

  it('shows how numbers and dates are written in the file after it was transformed', async () => {
    const number = { type: 'decimal' as const, split: { separator: '|', part: 1 } }
    expect(await read(number, ['12,50|1.25', '1.234|0.5'])).toEqual([12.5, 1234])
    const day = { type: 'date' as const, replace: [{ pattern: '^due ', with: '' }] }
    expect(await read(day, ['due 31/01/2026', 'due 01/02/2026'])).toEqual(['2026-01-31', '2026-02-01'])
  })

  it('is first what the workspace has taught of it', async () => {
    const field = { type: 'text' as const, case: 'upper' as const }
    const shape = { values: { value: { 'the usual': 'tea' } } }
    expect(await read(field, ['the usual', 'beer'], shape)).toEqual(['TEA', 'BEER'])
  })
})

const people = (over: Partial<DatasetDeclaration> = {}, fields: DatasetDeclaration['fields'] = {}): Dataset =>
  defineDataset({
    name: 'people',
    fields: {
      code: { type: 'text', required: true },
      first: { type: 'text', aliases: ['First name'] },
      last: { type: 'text', aliases: ['Last name'] },
      quantity: { type: 'integer' },
      price: { type: 'money' },
      full: {
        type: 'text',
        join: { fields: ['first', 'last'], separator: ' ' },
        case: 'upper',
        required: true,
      },
      total: { type: 'money', compute: 'price * quantity', max: 100 },
      ...fields,
    },
    rows: [
      {
        name: 'person',
        target: 'public.people',
        key: ['code'],
        columns: { code: 'code', full: 'full', total: 'total' },
      },
    ],
    ...over,
  })

describe('a field without a column of its own', () => {
  const HEADERS = ['code', 'First name', 'Last name', 'price', 'quantity']

  it('is joined from other cells, without those that are empty', async () => {
    const rows = await judge(people(), HEADERS, [
      ['1', ' Ann', 'Lee', '', ''],
      ['2', '', 'Lee', '', ''],
      ['3', '-', '', '', ''],
    ])
    expect(rows.map(({ values, rules }) => [values.full, rules])).toEqual([
      ['ANN LEE', ['compute.failed']],
      ['LEE', ['compute.failed']],
      [null, ['required.missing', 'compute.failed']],
    ])
    expect(rows[2]!.errors[0]).toMatchObject({ column: 'First name + Last name', field: 'full' })
  })

  it('is computed from other values, judged by the rules of its own', async () => {
    const rows = await judge(people(), HEADERS, [
      ['1', 'a', 'b', '0.10', '3'],
      ['2', 'a', 'b', '60', '2'],
      ['3', 'a', 'b', 'much', '2'],
    ])
    expect(rows.map(({ values, rules }) => [values.total, rules])).toEqual([
      [0.3, []],
      [120, ['number.max']],
      [null, ['number.invalid']],
    ])
  })

  it('is neither missing nor unknown, and what it is made of is', () => {
    const { missing, unknown, fields } = mapHeaders(people(), 'file', ['code', 'First name', 'full', 'total'])
    expect(missing).toEqual([])
    expect(Object.keys(fields)).toEqual(['code', 'first'])
    expect(unknown.map(({ header }) => header)).toEqual(['full', 'total'])
    const none = mapHeaders(people(), 'file', ['code', 'Lst name'])
    expect(none.missing).toEqual([
      { field: 'first', title: 'first or last', nearest: 'Lst name', means: 'last' },
    ])
  })

  it('is left alone where the file has not all that it is computed from', async () => {
    const [row] = await judge(people(), ['code', 'First name', 'price'], [['1', 'a', '3']])
    expect(row!.values).toEqual({ code: '1', first: 'a', price: 3, full: 'A' })
  })

  it('may be the identity of a row', async () => {
    const dataset = defineDataset({
      name: 'places',
      fields: {
        country: { type: 'text' },
        number: { type: 'text' },
        place_id: { type: 'id', join: { fields: ['country', 'number'], separator: ':' } },
      },
      rows: [
        {
          name: 'place',
          target: 'public.places',
          id: 'id',
          key: ['code'],
          requires: ['place_id'],
          identity: { id: 'place_id' },
          columns: { code: '$identity' },
        },
      ],
    })
    const [row] = await judge(dataset, ['country', 'number'], [['DE', '7']])
    expect(row!.values['@place']).toBe('DE:7')
  })

  it('has the same value in a line that is checked alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stagedoor-transforms-'))
    try {
      const path = join(folder, 'file.csv')
      writeFileSync(path, `${HEADERS.join(',')}\n1,Ann,Lee,2.50,4\n2,,,60,2\n3,Bo,,9,\n`)
      const dataset = people({
        rules: [{ name: 'cheap', severity: 'warning', check: 'total < 50', message: 'Dear.' }],
      })
      const judged = await judgeFile(dataset, 'file', path)
      const alone = await checkedAlone(dataset, 'file', judged, judged.rows)
      const verdict = ({ text, errors, warnings }: (typeof alone)[number]) => ({ text, errors, warnings })
      expect(alone.map(verdict)).toEqual(judged.rows.map(verdict as never))
      expect(judged.rows.map(({ rules }) => rules)).toEqual([
        [],
        ['required.missing', 'number.max', 'cheap'],
        ['compute.failed'],
      ])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
