import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { completeDataset, type DatasetDeclaration } from '../../../src/ingest/datasets/dataset.ts'
import { checkDataset, datasetJsonSchema } from '../../../src/ingest/datasets/declare.ts'
import { differences, shortForm } from '../../../src/ingest/datasets/short-form.ts'

const PRODUCTS: DatasetDeclaration = {
  name: 'products',
  fields: {
    sku: { type: 'text', required: true, aliases: ['Artikelnummer'] },
    price: { type: 'money', scale: 2, precision: 10, aliases: ['Preis'] },
    category_id: { type: 'text', lookup: 'categories' },
  },
  lookups: { categories: { table: 'public.categories', by: 'name', value: 'id' } },
  rows: [
    {
      name: 'product',
      target: 'public.products',
      key: ['sku'],
      columns: { sku: 'sku', price: 'price', category_id: 'category_id' },
    },
  ],
}

it('a short declaration that was filled in is the same when it is exported', () => {
  expect(shortForm(completeDataset(PRODUCTS))).toEqual(PRODUCTS)
  const long = { ...PRODUCTS, title: 'Our products', version: 3, platforms: { erp: { title: 'ERP' } } }
  expect(shortForm(completeDataset(long))).toEqual(long)
})

it('differences name what is new, dropped and changed', () => {
  const { price: _, ...fields } = PRODUCTS.fields
  const after = {
    ...PRODUCTS,
    fields: { ...fields, sku: { ...fields.sku, type: 'id' }, name: { type: 'text' } },
  }
  expect(differences(PRODUCTS, after)).toEqual([
    { path: 'fields.sku.type', change: 'changed', before: 'text', after: 'id' },
    { path: 'fields.price', change: 'dropped', before: PRODUCTS.fields.price },
    { path: 'fields.name', change: 'new', after: { type: 'text' } },
  ])
  expect(differences(PRODUCTS, structuredClone(PRODUCTS))).toEqual([])
})

it('errors of a declaration list what is allowed', () => {
  const wrong = structuredClone(PRODUCTS) as unknown as {
    fields: Record<string, unknown>
    rows: { mode?: string }[]
  }
  wrong.fields.price = { type: 'number', digits: 2 }
  wrong.rows[0]!.mode = 'merge'
  const problems = checkDataset(wrong as unknown as DatasetDeclaration)
  expect(problems).toEqual([
    expect.stringMatching(/^fields\.price\.digits: is not known here; known are: type, aliases, title, /),
    expect.stringMatching(/^fields\.price\.type: must be one of: text, id, integer, decimal, money, /),
    'rows.0.mode: must be one of: upsert, insert, update, snapshot',
  ])
})

it('the JSON Schema in docs/reference is the current one and describes every part', () => {
  const path = new URL('../../../docs/reference/dataset.schema.json', import.meta.url)
  const schema = JSON.parse(readFileSync(path, 'utf8'))
  expect(schema).toEqual(datasetJsonSchema())
  expect(schema.properties.fields.patternProperties['^[a-z][a-z0-9_]{0,62}$'].properties.type.enum).toContain(
    'timestamptz',
  )
  expect(
    Object.values(schema.properties as Record<string, { description?: string }>).every(
      ({ description }) => description,
    ),
  ).toBe(true)
})
