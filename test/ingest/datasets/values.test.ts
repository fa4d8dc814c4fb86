/** Times, days with a time, uuids, addresses, JSON and lists: cell → value, or the rule that is broken. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Field } from '../../../src/ingest/datasets/dataset.ts'
import { defineDataset } from '../../../src/ingest/datasets/declare.ts'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { cases } from '../../support/length.ts'
import { judgeFile } from './judge-file.ts'
import { judgeValues, valuesOf } from './one-column.ts'

afterAll(closeDuck)

type Cases = [cell: string, read: unknown][]

async function expectRead(field: Omit<Field, 'aliases'>, expected: Cases) {
  const cells = expected.map(([cell]) => cell)
  const read = await valuesOf(field, cells)
  expect(read.map((value, index) => [cells[index], value])).toEqual(expected)
}

it('a time of day is read with twelve hours or twenty-four, and has no zone', async () => {
  await expectRead({ type: 'time' }, [
    ['08:30', '08:30:00'],
    ['8:30 pm', '20:30:00'],
    ['8:30\u202fPM', '20:30:00'],
    ['12:00 AM', '00:00:00'],
    ['12:00 p.m.', '12:00:00'],
    ['23:59:59.250', '23:59:59.25'],
    ['', null],
    ['N/A', null],
    ['24:00', 'time.impossible'],
    ['13:00 PM', 'time.impossible'],
    ['08:60', 'time.impossible'],
    ['08:30+02', 'time.zone'],
    ['08:30 CET', 'time.zone'],
    ['0.3541666', 'time.fraction_of_day'],
    ['soon', 'time.invalid'],
    ['08:30 or so', 'time.invalid'],
  ])
})

it('a day with a time has no zone, and its day is read as a date is', async () => {
  await expectRead({ type: 'timestamp' }, [
    ['2026-01-31 12:00', '2026-01-31T12:00:00'],
    ['2026-01-31T12:00:00.500', '2026-01-31T12:00:00.5'],
    ['31/01/2026 8:05 PM', '2026-01-31T20:05:00'],
    ['05/02/2026, 20:05', '2026-02-05T20:05:00'],
    ['Oct 1, 2026, 3:04 PM', '2026-10-01T15:04:00'],
    ['31.12.2026 10:00:00', '2026-12-31T10:00:00'],
    ['2026年1月31日 9:00', '2026-01-31T09:00:00'],
    ['2026-01-31', '2026-01-31T00:00:00'],
    ['--', null],
    ['2026-01-31T12:00:00Z', 'timestamp.zone'],
    ['2026-01-31 12:00 CET', 'timestamp.zone'],
    ['45322.5', 'timestamp.excel_serial'],
    ['1767225600', 'timestamp.epoch'],
    ['1767225600000', 'timestamp.epoch'],
    ['2026-02-30 10:00', 'date.impossible'],
    ['2026-01-31 25:00', 'time.impossible'],
    ['2026-01-31 5 o clock', 'timestamp.invalid'],
    ['1899-01-01 00:00', 'date.implausible'],
    ['soon', 'timestamp.invalid'],
  ])
})

it('day and month are told apart by the whole file, or not at all', async () => {
  expect(await valuesOf({ type: 'timestamp' }, ['05/02/2026 10:00'])).toEqual(['date.ambiguous'])
  const field = { type: 'timestamptz', zone: 'UTC' } as const
  expect(await valuesOf(field, ['05/02/2026 10:00', '02/25/2026 10:00'])).toEqual([
    '2026-05-02T10:00:00+00:00',
    '2026-02-25T10:00:00+00:00',
  ])
})

describe('an instant', () => {
  it('takes its zone from the value, and is never given one', async () => {
    await expectRead({ type: 'timestamptz' }, [
      ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00+00:00'],
      ['2026-01-31 12:00:00.250 +0530', '2026-01-31T06:30:00.25+00:00'],
      ['2026-01-31 12:00:00-03', '2026-01-31T15:00:00+00:00'],
      ['2026-01-31 12:00 −02:00', '2026-01-31T14:00:00+00:00'],
      ['2026-01-31 12:00 GMT+1', '2026-01-31T11:00:00+00:00'],
      ['2026-01-31 12:00+01:00[Europe/Berlin]', '2026-01-31T11:00:00+00:00'],
      ['2026-01-31 12:00', 'timestamp.zone_missing'],
      ['2026-01-31', 'timestamp.zone_missing'],
      ['2026-01-31 12:00 CET', 'timestamp.zone_unknown'],
      ['2026-01-31 12:00+17', 'timestamp.invalid'],
    ])
    const [line] = await judgeValues({ type: 'timestamptz' }, ['2026-01-31 12:00'])
    expect(line!.errors[0]!.suggestion).toContain('"zone": "Europe/Berlin"')
  })

  it('of a declared place exists once where clocks change, or is refused', async () => {
    await expectRead({ type: 'timestamptz', zone: 'Europe/Berlin' }, [
      ['2026-01-31 12:00', '2026-01-31T11:00:00+00:00'],
      ['2026-07-31 12:00', '2026-07-31T10:00:00+00:00'],
      ['2026-03-29 01:59:59', '2026-03-29T00:59:59+00:00'],
      ['2026-03-29 02:30', 'timestamp.not_there'],
      ['2026-03-29 03:00', '2026-03-29T01:00:00+00:00'],
      ['2026-10-25 01:59:59', '2026-10-24T23:59:59+00:00'],
      ['2026-10-25 02:30', 'timestamp.twice'],
      ['2026-10-25 02:30+01:00', '2026-10-25T01:30:00+00:00'],
      ['2026-10-25 03:00', '2026-10-25T02:00:00+00:00'],
      ['2026-06-01', '2026-05-31T22:00:00+00:00'],
    ])
    await expectRead({ type: 'timestamptz', zone: 'Australia/Lord_Howe' }, [
      ['2026-04-05 01:45', 'timestamp.twice'],
      ['2026-04-05 01:15', '2026-04-04T14:15:00+00:00'],
      ['2026-10-04 02:15', 'timestamp.not_there'],
    ])
    await expectRead({ type: 'timestamptz', zone: '-03:30' }, [
      ['2026-01-31 12:00', '2026-01-31T15:30:00+00:00'],
    ])
  })

  it('keeps millionths of a second, and says when there are more', async () => {
    const [line] = await judgeValues({ type: 'timestamptz' }, ['2026-01-31T12:00:00.1234567Z'])
    expect([line!.status, line!.rules, line!.values.value]).toEqual([
      'valid',
      ['time.precision'],
      '2026-01-31T12:00:00.123456+00:00',
    ])
  })
})

it('uuids, email and web addresses have their form', async () => {
  const uuid = '0190f3a4-7b1c-7000-8000-000000000001'
  await expectRead({ type: 'uuid' }, [
    [uuid, uuid],
    [uuid.toUpperCase().replaceAll('-', ''), uuid],
    [`{${uuid}}`, uuid],
    ['', null],
    ['12', 'uuid.invalid'],
  ])
  await expectRead({ type: 'email' }, [
    ['ann@example.com', 'ann@example.com'],
    ['ä@bücher.de', 'ä@bücher.de'],
    ['-', null],
    ['a@b', 'email.invalid'],
    ['a b@c.de', 'email.invalid'],
    ['a@b.co,c@d.co', 'email.invalid'],
  ])
  await expectRead({ type: 'url' }, [
    ['https://example.com/a?b=1#c', 'https://example.com/a?b=1#c'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['www.example.com', 'url.invalid'],
    ['javascript://%0aalert(1)', 'url.invalid'],
    ['https://a b', 'url.invalid'],
  ])
  const [mail] = await judgeValues({ type: 'email' }, ['Ann <ann@example.com>'])
  const [link] = await judgeValues({ type: 'url' }, ['www.example.com'])
  expect(mail!.errors[0]!.suggestion).toBe('Write the address alone: ann@example.com.')
  expect(link!.errors[0]!.suggestion).toContain('https://www.example.com')
})

it('JSON is kept as it is written', async () => {
  await expectRead({ type: 'json' }, [
    ['{"b": 1.50,  "a":"NaN, ]"}', '{"b": 1.50,  "a":"NaN, ]"}'],
    ['12', '12'],
    ['"\\\\u0000"', '"\\\\u0000"'],
    ['null', null],
    ['[1,]', 'json.invalid'],
    ['NaN', 'json.invalid'],
    ["{'a': 1}", 'json.invalid'],
    ['"\\u0000"', 'json.nul'],
  ])
})

it('JSON in a file of JSON is one value, and objects of other names are columns', async () => {
  const dataset = defineDataset({
    name: 'nested',
    fields: {
      key: { type: 'text' },
      meta: { type: 'json', aliases: ['Extra'] },
      city: { type: 'text', aliases: ['address.city'] },
    },
    rows: [{ name: 'row', target: 'public.nested', key: ['key'], columns: { key: 'key' } }],
  })
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-json-'))
  try {
    const path = join(folder, 'file.jsonl')
    const lines = [
      '{"key": "1", "Extra": {"b":1.50, "a": {"x": "}"}}, "address": {"city": "Ulm"}}',
      '{"key": "2", "Extra": "text"}',
      '{"key": "3", "Extra": [1, {"a": null}]}',
      '{"key": "4", "Extra": null}',
      '{"key": "5", "Extra": 12345678901234567890.10}',
    ]
    writeFileSync(path, lines.join('\n'))
    const { rows } = await judgeFile(dataset, 'file', path)
    expect(rows.map(({ values, rules }) => [values.meta, values.city, ...rules])).toEqual([
      ['{"b":1.50, "a": {"x": "}"}}', 'Ulm'],
      ['"text"', null],
      ['[1, {"a": null}]', null],
      [null, null],
      ['12345678901234567890.10', null],
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('what is JSON here is JSON elsewhere', { tags: 'property' }, async () => {
  const text = fc.oneof(
    fc.json(),
    fc.json().map((json) => json.slice(1)),
    fc.string({ unit: fc.constantFrom(...'{}[]",:\\1a-.eNu0 '), maxLength: 12 }),
    fc.constantFrom('NaN', '-Infinity', '[1,]', '{"a":1,}', '[inf]', '"\\ud800"', '01', '1.', '+1'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 40 }), async (texts) => {
      const cells = texts.filter(
        (cell) =>
          cell.trim() === cell && !/^(?:|-|--|null)$/.test(cell) && !/\\u(?:0000|d[89a-f])/i.test(cell),
      )
      const rows = await judgeValues({ type: 'json' }, cells)
      expect(rows.map(({ status }, index) => [cells[index], status === 'valid'])).toEqual(
        cells.map((cell) => [cell, isJson(cell)]),
      )
    }),
    { numRuns: cases(5, 50) },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a list', () => {
  it('is read with its separator, as PostgreSQL writes it, or as JSON', async () => {
    await expectRead({ type: 'array' }, [
      ['a, b,c', ['a', 'b', 'c']],
      ['{a,"b,c",NULL,"q\\"x"}', ['a', 'b,c', null, 'q"x']],
      ['["a", "b,c", null, 1.50, "\\u00e9"]', ['a', 'b,c', null, '1.50', 'é']],
      ['x', ['x']],
      ['[]', []],
      ['{}', []],
      ['', null],
      ['[a,b]', 'array.invalid'],
      ['{a,{b}}', 'array.invalid'],
      ['[[1],2]', 'array.nested'],
      ['a,,b', 'array.empty_item'],
      ['a,', 'array.empty_item'],
    ])
  })

  it('has items of one type, each read as a value of that type', async () => {
    await expectRead({ type: 'array', items: 'integer', separator: ';' }, [
      ['1;-2;3', [1, -2, 3]],
      ['{1,NULL}', [1, null]],
      ['1;x', 'number.invalid'],
      ['1.5;2', 'integer.fraction'],
    ])
    await expectRead({ type: 'array', items: 'boolean', separator: '|' }, [
      ['yes|no', [true, false]],
      ['perhaps', 'enum.unknown'],
    ])
    await expectRead({ type: 'array', items: 'enum', values: { red: ['rot'], blue: [] } }, [
      ['Rot, blue', ['red', 'blue']],
      ['green', 'enum.unknown'],
    ])
    await expectRead({ type: 'array', items: 'timestamptz', zone: 'Europe/Berlin' }, [
      ['2026-01-31 12:00,2026-01-31T12:00:00Z', ['2026-01-31T11:00:00+00:00', '2026-01-31T12:00:00+00:00']],
      ['2026-03-29 02:30', 'timestamp.not_there'],
    ])
    await expectRead({ type: 'array', items: 'date' }, [['2026-01-31,2026-02-30', 'date.impossible']])
    await expectRead({ type: 'array', items: 'uuid' }, [['x', 'uuid.invalid']])
    await expectRead({ type: 'array', items: 'id' }, [['c:123,1.2E+17', 'id.not_scientific']])
  })

  it('has a decimal point in JSON, whatever the file writes elsewhere', async () => {
    const field = { type: 'array', items: 'decimal', separator: ';' } as const
    const shape = { styles: { decimal: 'comma', dates: 'unknown' } as const }
    expect(await valuesOf(field, ['1,5;2.000,25', '[1.5, 2]', '{1.5}'], shape)).toEqual([
      [1.5, 2000.25],
      [1.5, 2],
      [1.5],
    ])
  })
})

describe('a column of one type', () => {
  const time = fc
    .tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.constantFrom('', '.5', '.250000', '.123456'))
    .map(([h, m, s, f]) => `${[h, m, s].map((part) => String(part).padStart(2, '0')).join(':')}${f}`)
  const day = fc
    .date({ min: new Date('1901-01-01'), max: new Date('2098-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
  const moment = fc.tuple(day, fc.constantFrom(' ', 'T'), time).map((parts) => parts.join(''))
  const odd = fc.constantFrom(
    '',
    '-',
    ' x',
    '8:30 pm',
    '2026-02-30 10:00',
    '31/01/2026 10:00',
    '{',
    '45000.5',
  )
  const plain: [Omit<Field, 'aliases'>, fc.Arbitrary<string>][] = [
    [{ type: 'time' }, time],
    [{ type: 'timestamp' }, moment],
    [
      { type: 'timestamptz', zone: 'Europe/Berlin' },
      fc.tuple(moment, fc.constantFrom('Z', '+00', '+00:00', '+02:00', '')).map((parts) => parts.join('')),
    ],
    [{ type: 'uuid' }, fc.uuid()],
    [{ type: 'email' }, fc.constantFrom('a@b.co', 'c.d@e.org')],
    [{ type: 'url' }, fc.webUrl({ validSchemes: ['https'] })],
    [{ type: 'json' }, fc.json()],
    [{ type: 'array' }, fc.json()],
  ]

  it.each(plain)(
    '%j is judged by the short way as by the long one',
    { tags: 'property' },
    async (field, cell) => {
      const column = fc.tuple(
        fc.array(cell, { minLength: 10, maxLength: 30 }),
        fc.array(odd, { maxLength: 2 }),
      )
      await fc.assert(
        fc.asyncProperty(column, async ([cells, others]) => {
          const values = [...cells, ...others]
          const [short, long] = [
            await judgeValues(field, values),
            await judgeValues(field, values, { way: 'long' }),
          ]
          const verdicts = (rows: typeof short) =>
            rows.map(({ status, text, errors, warnings }) => ({ status, text, errors, warnings }))
          expect(verdicts(short)).toEqual(verdicts(long))
        }),
        { numRuns: cases(4, 40) },
      )
    },
  )
})
