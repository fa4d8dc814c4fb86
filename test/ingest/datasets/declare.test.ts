import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { orders } from '../../../examples/orders/dataset.ts'
import type { Dataset } from '../../../src/ingest/datasets/dataset.ts'
import {
  checkDataset,
  checkPatterns,
  defineDataset,
  parseDataset,
} from '../../../src/ingest/datasets/declare.ts'
import { queryDuck } from '../../../src/ingest/duckdb.ts'
import { ads } from '../../../src/ingest/packs.ts'
import { judge } from './judge.ts'
import { datasetOf } from './one-column.ts'

const json = () => JSON.parse(readFileSync('examples/orders/dataset.json', 'utf8'))

describe('a declaration', () => {
  it('means the same in TypeScript and in JSON', () => {
    expect(parseDataset(json())).toEqual(orders)
    expect(checkDataset(ads)).toEqual([])
  })

  it('is told what could stand there, and where a zone or a pattern is not one', async () => {
    const wrong = json()
    wrong.fields.sku.type = 'string'
    expect(() => parseDataset(wrong)).toThrow(/fields\.sku\.type: must be one of: text, id, integer, .*url/)
    const zoned = (zone: string) => () => datasetOf({ type: 'timestamptz', zone })
    expect(zoned('Mars/Base')).toThrow('fields.value.zone: Mars/Base is not a time zone')
    expect(zoned('Europe/Berlin')).not.toThrow()
    expect(zoned('+05:30')).not.toThrow()
    const replaced = datasetOf({ type: 'text', replace: [{ pattern: '(a', with: '' }] })
    expect(await checkPatterns(replaced, queryDuck)).toEqual([
      expect.stringContaining('fields.value.replace.0: not a regular expression of RE2'),
    ])
    const lists = () => datasetOf({ type: 'array', items: 'enum', pattern: 'x' })
    expect(lists).toThrow(/fields\.value\.values: an enum needs its values.*fields\.value\.pattern/s)
  })

  it('of the wrong form is refused with the path of every problem', () => {
    const wrong = json()
    wrong.fields.sku.type = 'string'
    wrong.rows[0].target = 'customers; drop table x'
    wrong.unexpected = true
    expect(() => parseDataset(wrong)).toThrow(
      /unexpected: is not known here.*fields\.sku\.type.*rows\.0\.target/s,
    )
    expect(() => parseDataset('orders')).toThrow(/The dataset cannot be used/)
  })

  it('whose parts contradict each other is refused', () => {
    const wrong: Dataset = {
      ...orders,
      rules: [{ name: 'r', severity: 'error', compare: ['nowhere', '<', 1], message: 'm' }],
      rows: [{ ...orders.rows[1]!, key: ['elsewhere'] }],
      fields: { ...orders.fields, bad: { type: 'enum', aliases: { nobody: ['x'] }, min: 1 } },
    }
    const problems = checkDataset(wrong)
    expect(problems).toEqual([
      'fields.bad.aliases.nobody: there is no such platform',
      'fields.bad.values: an enum needs its values',
      'fields.bad.min: only numbers have one',
      'rows.0.key: elsewhere is not among its columns',
      'rows.0.columns.customer_id: no row type customer comes before this one',
      'rules.0.compare: there is no field nowhere',
    ])
    expect(() => defineDataset(wrong)).toThrow(/there is no such platform/)
  })

  it('with a pattern that is not RE2 is found when it is registered', async () => {
    expect(await checkPatterns(orders, queryDuck)).toEqual([])
    const [problem] = await checkPatterns(datasetOf({ type: 'text', pattern: '(?=x)' }), queryDuck)
    expect(problem).toMatch(/^fields\.value\.pattern: not a regular expression of RE2/)
  })

  it('is data: nothing in it, in a header or in a value becomes SQL', async () => {
    const nasty = `'; DROP TABLE x; -- "\\`
    const dataset = datasetOf({ type: 'enum', title: nasty, values: { ok: [nasty] }, severity: 'warning' })
    const [row] = await judge(dataset, ['key', 'Value', nasty], [[nasty, nasty, nasty]], {
      values: { key: { [nasty]: nasty } },
    })
    expect(row).toMatchObject({
      status: 'valid',
      values: { key: nasty, value: 'ok' },
      raw: { [nasty]: nasty },
    })
  })
})

describe('orders', () => {
  it('are read from a file in German with names for identity', async () => {
    const headers = [
      'Kunde',
      'Bestellnummer',
      'Bestelldatum',
      'Pos.',
      'Artikel',
      'Menge',
      'Einzelpreis (EUR)',
      'Rabatt',
      'Order status',
    ]
    const [row, bad] = await judge(
      orders,
      headers,
      [
        ['Müller', '1001', '31.01.2024', '1', 'A-1', '2', '1.234,50', '10 %', 'versandt'],
        ['Müller', '1001', '31.01.2024', '0', '', '1,5', '12,00', '150 %', 'versandt'],
      ],
      { delimiter: ';' },
    )
    expect(row).toMatchObject({
      status: 'valid',
      rules: [],
      row: { row_type: 'order_line' },
      values: {
        placed_on: '2024-01-31',
        unit_price: 1234.5,
        discount: 0.1,
        currency: 'EUR',
        status: 'shipped',
        '@order': '1001',
      },
    })
    expect(bad?.rules.sort()).toEqual(['integer.fraction', 'number.max', 'number.min', 'required.missing'])
  })
})
