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

describe('by general rules', () => {
  it('knows the forms and the order of words, plurals and units', () => {
    const candidates: Candidate[] = [
      { name: 'given_name' },
      { name: 'first_name' },
      { name: 'shipment_total', type: 'decimal' },
      { name: 'weight_lb', type: 'integer' },
      { name: 'issue' },
    ]
    expect(
      pairs(['nameGiven', 'nameFirst', 'Shipping total', 'Weight', 'Issues'], candidates, ''),
    ).toMatchObject({
      nameGiven: ['given_name', 'sure'],
      nameFirst: ['first_name', 'sure'],
      'Shipping total': ['shipment_total', 'likely'],
      Weight: ['weight_lb', 'likely'],
      Issues: ['issue', 'likely'],
    })
  })

  it('expands initials and abbreviations', () => {
    const candidates: Candidate[] = [
      { name: 'max_hr', type: 'integer' },
      { name: 'avg_hr', type: 'integer' },
      { name: 'fname' },
      { name: 'lng', type: 'decimal' },
    ]
    const coordinates = { header: 'Longitude', values: ['8.54', '7.43', '-22.6'] }
    const found = pairs(['Max Heart Rate', 'Average Heart Rate', 'First Name', coordinates], candidates, '')
    expect(Object.values(found).map(([candidate]) => candidate)).toEqual(candidates.map(({ name }) => name))
    expect(Object.values(found).map(([, certainty]) => certainty)).not.toContain('uncertain')
    expect(pairs(['L. Name'], [{ name: 'first_name' }, { name: 'last_name' }], '')).toEqual({
      'L. Name': ['last_name', 'likely'],
    })
  })

  it('leaves out words with which many names begin, unless they tell names apart', () => {
    const headers = ['stop_id', 'stop_name', 'stop_desc', 'stop_url']
    const stops: Candidate[] = [
      { name: 'gtfs_id', unique: true },
      { name: 'name' },
      { name: 'description' },
      { name: 'url' },
    ]
    const columns = headers.map((header) => ({ header, unique: true, values: ['a:1', 'b:2', 'c:3'] }))
    expect(Object.values(pairs(columns, stops, '')).map(([candidate]) => candidate)).toEqual(
      stops.map(({ name }) => name),
    )
    const addresses = [
      'Billing City',
      'Billing Street',
      'Billing Zip',
      'Shipping City',
      'Shipping Street',
      'Shipping Zip',
    ]
    const found = pairs(addresses, [{ name: 'city' }, { name: 'street' }, { name: 'zip' }], '')
    for (const [candidate, certainty] of Object.values(found))
      if (candidate) expect(certainty).toBe('uncertain')
  })

  it('takes a word that only one name of each side has, unless another word makes it another thing', () => {
    const candidates: Candidate[] = [
      { name: 'primary_address_city' },
      { name: 'shelf' },
      { name: 'heart_rate', type: 'integer' },
    ]
    expect(pairs(['City', 'Exclusive shelf', 'Max heart rate'], candidates, '')).toMatchObject({
      City: ['primary_address_city', 'likely'],
      'Exclusive shelf': ['shelf', 'likely'],
      'Max heart rate': ['heart_rate', 'uncertain'],
    })
  })

  it('reads what stands before and behind a slash, and in brackets', () => {
    const candidates: Candidate[] = [
      { name: 'region' },
      { name: 'story_points' },
      { name: 'own_iban' },
      { name: 'other_iban' },
    ]
    const found = pairs(['State/Region', 'Custom field (Story Points)', 'Account/IBAN'], candidates, '')
    expect(found['State/Region']).toEqual(['region', 'sure'])
    expect(found['Custom field (Story Points)']).toEqual(['story_points', 'likely'])
    expect(found['Account/IBAN']![1]).toBe('uncertain')
  })

  it('takes the id of another system for the key that people know, never for the number of the database', () => {
    const id: Candidate = {
      name: 'id',
      type: 'integer',
      unique: true,
      surrogate: true,
      samples: ['1', '2'],
      allSampled: true,
    }
    const record = { header: 'Record ID', unique: true, values: ['7431', '7432', '7433'] }
    expect(pairs([record], [id, { name: 'hubspot_id', type: 'integer', unique: true }], 'contacts')).toEqual({
      'Record ID': ['hubspot_id', 'likely'],
    })
    expect(pairs([{ ...record, header: 'ID' }], [id], 'contacts')).toEqual({ ID: [null, 'none'] })
    const known = { header: 'ID', unique: true, values: ['1', '2', '3'] }
    expect(pairs([known], [id], 'contacts')).toEqual({ ID: ['id', 'sure'] })
    const number = { header: 'Number', unique: true, values: ['101', '102', '7'] }
    expect(pairs([number], [{ ...id, samples: [] }], '').Number![1]).not.toBe('likely')
  })

  it('finds a key by the values that rows have', () => {
    const number: Candidate = {
      name: 'number',
      type: 'text',
      unique: true,
      samples: ['#1001', '#1002'],
      allSampled: true,
    }
    const columns = [
      { header: 'Name', unique: true, values: ['#1001', '#1002', '#1003'] },
      { header: 'Id', unique: true, values: ['5501', '5502', '5503'] },
    ]
    expect(pairs(columns, [number], 'orders')).toEqual({ Name: ['number', 'likely'], Id: [null, 'none'] })
  })

  it('takes names that are in the list of one reference only, and no names that are in none', () => {
    const candidates: Candidate[] = [
      {
        name: 'tracker_id',
        aliases: ['tracker'],
        accepts: ['Bug', 'Task'],
        acceptsNoOther: true,
        ids: 'integer',
      },
      {
        name: 'user_id',
        aliases: ['user'],
        accepts: ['kim@example.com', 'lee@example.com'],
        acceptsNoOther: true,
        ids: 'integer',
      },
    ]
    const columns = [
      { header: 'Kind', values: ['Bug', 'Task'] },
      { header: 'User', values: ['Kim', 'Lee'] },
      { header: 'Mail', values: ['kim@example.com', 'lee@example.com'] },
    ]
    expect(pairs(columns, candidates, 'issues')).toEqual({
      Kind: ['tracker_id', 'likely'],
      User: [null, 'none'],
      Mail: ['user_id', 'likely'],
    })
    expect(pairs([{ header: 'Previous kind', values: ['Bug', 'Task'] }], candidates, 'issues')).toEqual({
      'Previous kind': ['tracker_id', 'uncertain'],
    })
    expect(pairs([{ header: 'User', values: ['1', '2'] }], candidates, 'issues').User![0]).toBe('user_id')
  })
})
