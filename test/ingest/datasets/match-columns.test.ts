import { describe, expect, it } from 'vitest'
import { type Candidate, type FileColumn, matchColumns } from '../../../src/ingest/datasets/match-columns.ts'

const PRODUCTS: Candidate[] = [
  { name: 'id', type: 'integer', unique: true },
  { name: 'sku', type: 'text', unique: true },
  { name: 'name', type: 'text' },
  { name: 'price', type: 'decimal' },
  { name: 'stock', type: 'integer' },
  { name: 'category_id', aliases: ['category'], type: 'text', accepts: ['Tools', 'Garden', 'Office'] },
  { name: 'updated_at', type: 'timestamptz' },
]

function matched(columns: (string | FileColumn)[], candidates = PRODUCTS, context = 'products') {
  const given = columns.map((column) => (typeof column === 'string' ? { header: column } : column))
  return matchColumns(given, candidates, { context })
}

function pairs(columns: (string | FileColumn)[], candidates = PRODUCTS, context = 'products') {
  return Object.fromEntries(
    matched(columns, candidates, context).map(({ header, candidate, certainty }) => [
      header,
      [candidate, certainty],
    ]),
  )
}

describe('by name', () => {
  it('takes the same name as sure, whatever its case, blanks and underscores', () => {
    expect(pairs(['SKU', 'Updated At'])).toEqual({
      SKU: ['sku', 'sure'],
      'Updated At': ['updated_at', 'sure'],
    })
  })

  it('knows words of German, French and Spanish exports', () => {
    for (const [sku, name, price, stock] of [
      ['Artikelnummer', 'Bezeichnung', 'Preis', 'Lagerbestand'],
      ['Référence article', 'Nom du produit', 'Prix', 'Stock'],
      ['Código de producto', 'Nombre', 'Precio', 'Existencias'],
      ['Item no.', 'Product name', 'Price (EUR)', 'Qty in stock'],
    ]) {
      const found = matched([sku!, name!, { header: price!, values: ['12,50', '3,10', '99,00'] }, stock!])
      expect(found.map(({ candidate }) => candidate)).toEqual(['sku', 'name', 'price', 'stock'])
      expect(found.every(({ certainty }) => certainty === 'sure' || certainty === 'likely')).toBe(true)
    }
  })

  it('leaves a column alone that is like none', () => {
    expect(pairs(['Colour of the box', 'Internal remark'])).toEqual({
      'Colour of the box': [null, 'none'],
      'Internal remark': [null, 'none'],
    })
  })

  it('gives each candidate to one column only, so that the total is best', () => {
    const candidates: Candidate[] = [{ name: 'customer_name' }, { name: 'customer_number' }, { name: 'name' }]
    const found = pairs(['Name', 'Kundennummer', 'Kundenname'], candidates, '')
    expect(found).toMatchObject({ Name: ['name', 'sure'] })
    expect(found.Kundennummer![0]).toBe('customer_number')
    expect(found.Kundenname![0]).toBe('customer_name')
  })
})

describe('it asks rather than guesses', () => {
  it('is uncertain where two candidates are as near', () => {
    const dates: Candidate[] = [
      { name: 'order_date', type: 'date' },
      { name: 'ship_date', type: 'date' },
    ]
    const [date] = matched([{ header: 'Date', values: ['2026-01-01'] }], dates, '')
    expect(date).toMatchObject({ certainty: 'uncertain' })
    expect(date!.others).toHaveLength(1)
    expect(date!.reasons).toContain('another column is as near')
  })

  it('is uncertain where two columns of the file are as near to one candidate', () => {
    const found = matched(['Preis', 'Prix'])
    expect(found.filter(({ candidate }) => candidate === 'price')).toMatchObject([{ certainty: 'uncertain' }])
  })

  it('does not trust a name whose values are of another type', () => {
    const [stock] = matched([{ header: 'Stock', values: ['Main hall', 'Shelf 3', 'Cellar'] }])
    expect(stock).toMatchObject({ candidate: 'stock', certainty: 'uncertain' })
    expect(stock!.reasons).toContain('values do not fit the type')
  })
})

describe('by content', () => {
  it('finds the column whose lookup has the values', () => {
    const [group] = matched([{ header: 'Sortiment', values: ['Tools', 'garden', 'Office'] }])
    expect(group).toMatchObject({ candidate: 'category_id', reasons: ['values found in the table'] })
    expect(group!.certainty).not.toBe('sure')
  })

  it('finds the column that has the same values now', () => {
    const candidates: Candidate[] = [
      { name: 'ref', type: 'text', unique: true, samples: ['A-1', 'A-2', 'A-3', 'A-4'] },
      { name: 'label', type: 'text', samples: ['Saw', 'Hammer', 'Drill'] },
    ]
    const [code] = matched([{ header: 'Kode', values: ['A-1', 'A-2', 'A-4'], unique: true }], candidates)
    expect(code).toMatchObject({ candidate: 'ref' })
  })
})

it('matches 1,600 columns in no more than a few seconds', () => {
  const candidates = Array.from(
    { length: 1600 },
    (_, index): Candidate => ({ name: `measure_${index}`, type: 'decimal' }),
  )
  const columns = candidates.map(({ name }) => ({ header: name.toUpperCase(), values: ['1.5'] }))
  const began = performance.now()
  const found = matchColumns(columns, candidates)
  expect(found.every(({ candidate, column }) => candidate === `measure_${column}`)).toBe(true)
  expect(performance.now() - began).toBeLessThan(30_000)
})
