/** What a preview says about the columns, fields and values of a file: nothing is written, and only what is sure is taken for granted. */
import { afterAll, describe, expect, it } from 'vitest'
import { completeDataset } from '../../src/ingest/datasets/dataset.ts'
import type { Mapping } from '../../src/ingest/datasets/mapping.ts'
import { previewMapping } from '../../src/ingest/datasets/mapping-preview.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { spool } from '../../src/ingest/spool.ts'
import type { FileOptions } from '../../src/ingest/stage.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const home = temporaryHome('mapping-preview')
afterAll(closeDuck)

const PRODUCTS = completeDataset({
  name: 'products',
  fields: {
    sku: { type: 'text', required: true, aliases: ['SKU', 'Artikelnummer'] },
    name: { type: 'text', aliases: ['Product name'] },
    price: { type: 'money', aliases: ['Unit price'] },
    status: { type: 'enum', values: { active: ['aktiv'], retired: ['eingestellt'] } },
    stock: { type: 'integer', expected: true },
    total: { type: 'decimal', compute: 'price * stock' },
    contact: { type: 'email' },
  },
  rows: [
    {
      name: 'product',
      target: 'public.products',
      key: ['sku'],
      columns: {
        sku: 'sku',
        name: 'name',
        price: 'price',
        status: 'status',
        stock: 'stock',
        contact: 'contact',
      },
    },
  ],
})

const NOTHING: Mapping = { headers: {}, field_values: {} }

async function preview(
  lines: string[],
  given: { remembered?: Partial<Mapping>; options?: FileOptions; head?: boolean } = {},
) {
  const file = await spool(home, [Buffer.from(lines.join('\n'))] as never)
  try {
    return await previewMapping({
      dataset: PRODUCTS,
      platform: 'file',
      file,
      remembered: { ...NOTHING, ...given.remembered },
      options: given.options,
      head: given.head,
    })
  } finally {
    await file.remove()
  }
}

const columnOf = (found: Awaited<ReturnType<typeof preview>>, header: string) =>
  found.columns.find((column) => column.header === header)!

describe('columns', () => {
  it('by name are sure, and the file needs no question', async () => {
    const found = await preview([
      'SKU,Product name,Unit price,stock',
      'A-1,Boots,"12.50",4',
      'A-2,Shoes,9.00,1',
    ])
    expect(found).toMatchObject({ complete: true, lines: 2, sampled: 2, header_line: 1, proposed: {} })
    expect(columnOf(found, 'SKU')).toMatchObject({
      field: 'sku',
      certainty: 'sure',
      by: 'name',
      examples: ['A-1', 'A-2'],
      type: 'text',
      filled: 1,
    })
    expect(columnOf(found, 'stock').type).toBe('integer')
    expect(found.fields.find(({ field }) => field === 'total')).toMatchObject({
      from: 'compute',
      missing: false,
    })
  })

  it('that only look like a field are proposed, with the reasons, and have to be passed with the upload', async () => {
    const found = await preview(['SKU,Unit prize,Stok,Colour', 'A-1,12.50,4,red', 'A-2,9.00,1,blue'])
    expect(columnOf(found, 'Unit prize')).toMatchObject({ field: 'price', by: 'likeness' })
    expect(columnOf(found, 'Unit prize').reasons.length).toBeGreaterThan(0)
    expect(columnOf(found, 'Stok')).toMatchObject({ field: 'stock' })
    expect(columnOf(found, 'Colour')).toMatchObject({ field: null, certainty: 'none' })
    expect(found.proposed).toEqual({ 'Unit prize': 'price', Stok: 'stock' })
    // With the proposals nothing is missing; without them the upload would be refused.
    expect(found.fields.filter(({ missing }) => missing)).toEqual([])
  })

  it('are found by their values where the header says nothing', async () => {
    const lines = [
      'SKU,stock,X1',
      ...['aktiv', 'active', 'retired', 'eingestellt'].map((v, i) => `A-${i},1,${v}`),
    ]
    expect(columnOf(await preview(lines), 'X1')).toMatchObject({ field: 'status', by: 'content' })
  })

  it('that somebody has mapped or left out before are sure by memory; what is chosen now goes before it', async () => {
    const lines = ['Nr,stock,Farbe,Preis', 'A-1,1,red,3']
    const remembered = { headers: { Nr: 'sku', Farbe: null, Preis: 'price' } }
    const found = await preview(lines, { remembered })
    expect(found.complete).toBe(true)
    expect(columnOf(found, 'Nr')).toMatchObject({ field: 'sku', by: 'memory', certainty: 'sure' })
    expect(columnOf(found, 'Farbe')).toMatchObject({ field: null, ignored: true, by: 'memory' })
    const chosen = await preview(lines, { remembered, options: { headers: { Preis: null } } })
    expect(columnOf(chosen, 'Preis')).toMatchObject({ field: null, ignored: true, by: 'chosen' })
  })

  it('with one header are one: the second is shown as the same', async () => {
    const found = await preview(['SKU,Note,Note,stock', 'A,x,y,1'])
    expect(found.columns.map(({ same_as }) => same_as)).toEqual([null, null, 1, null])
  })

  it('may be called as every object’s own properties are', async () => {
    const found = await preview(['SKU,constructor,__proto__,stock', 'A,x,y,1'])
    expect(found.columns.map(({ header, ignored }) => [header, ignored])).toEqual([
      ['SKU', false],
      ['constructor', false],
      ['__proto__', false],
      ['stock', false],
    ])
  })

  it('show at most five different examples, empty cells left out, long ones cut', async () => {
    const lines = ['SKU,stock,name', ...[1, 1, 2, 3, 4, 5, 6].map((n) => `A-${n},-,${'x'.repeat(200)}${n}`)]
    const found = await preview(lines)
    expect(columnOf(found, 'SKU').examples).toEqual(['A-1', 'A-2', 'A-3', 'A-4', 'A-5'])
    expect(columnOf(found, 'stock')).toMatchObject({ examples: [], type: 'empty', filled: 0 })
    expect(columnOf(found, 'name').examples).toEqual([`${'x'.repeat(120)}…`])
  })
})

describe('fields', () => {
  it('that the file must have and has not are missing, unless it is said to have none', async () => {
    const lines = ['SKU,name', 'A-1,Boots']
    const found = await preview(lines)
    expect(found.complete).toBe(false)
    expect(found.fields.filter(({ missing }) => missing)).toMatchObject([{ field: 'stock', expected: true }])
    expect((await preview(lines, { options: { without: ['stock'] } })).complete).toBe(true)
  })

  it('that an answer names and the dataset has not are refused, with those it has', async () => {
    const refused = preview(['SKU', 'A'], { options: { headers: { SKU: 'nonsense' } } })
    await expect(refused).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringMatching(/no field nonsense; it has sku, name/),
    })
  })
})

describe('values', () => {
  const lines = ['SKU,stock,status', 'A,1,aktiv', 'B,1,actve', 'C,1,actve', 'D,1,kaputt', 'E,1,']

  it('that the list of a field has not are counted, with the nearest known one', async () => {
    const found = await preview(lines)
    expect(found.complete).toBe(false)
    expect(found.values).toEqual([
      {
        field: 'status',
        title: 'status',
        header: 'status',
        choices: ['active', 'retired'],
        unknown: [
          { value: 'actve', lines: 2, proposal: 'active' },
          { value: 'kaputt', lines: 1, proposal: null },
        ],
        more: 0,
        severity: 'error',
      },
    ])
  })

  it('that are remembered or chosen are known', async () => {
    const found = await preview(lines, {
      remembered: { field_values: { status: { kaputt: 'retired' } } },
      options: { values: { status: { actve: 'active' } } },
    })
    expect(found.values).toEqual([])
    expect(found.complete).toBe(true)
  })
})

it('of the beginning of a file the last line, which may be cut, is left out', async () => {
  const found = await preview(['SKU,stock,status', 'A,1,aktiv', 'B,2,akt'], { head: true })
  expect(found.values).toEqual([])
  expect(columnOf(found, 'SKU').examples).toEqual(['A'])
})

it('a file without lines is refused, as it is when it is uploaded', async () => {
  await expect(preview(['SKU,stock'])).rejects.toMatchObject({ code: 'file_has_no_rows' })
})
