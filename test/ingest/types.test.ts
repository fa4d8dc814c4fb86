/** Fields of every type on their way into columns of that type, and what a column cannot hold. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DatasetDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { defineDataset } from '../../src/ingest/datasets/declare.ts'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { recheckLines } from '../../src/ingest/repair.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ingest = useIngest(db)
afterAll(closeDuck)

const declared = (name: string, fields: DatasetDeclaration['fields'], key = 'sku') =>
  defineDataset({
    name,
    fields,
    rows: [
      {
        name: 'thing',
        target: `public.${name}`,
        key: ['workspace_id', key],
        columns: {
          workspace_id: '$workspace',
          ...Object.fromEntries(Object.keys(fields).map((field) => [field, field])),
        },
      },
    ],
  })

const csv = (lines: string[][]) =>
  lines.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n')

const load = (dataset: string, lines: string[][], until: 'planned' | 'promoted' = 'promoted') =>
  ingest.file(`${csv(lines)}\n`, { dataset, platform: 'file', clientId: undefined as never, until })

const findings = (upload: Upload) =>
  ingest.service<{ line: number; status: string; rules: string[]; messages: string; payload: unknown }>(
    `select row_number as line, validation_status as status, normalized_payload as payload,
            (select coalesce(json_agg(e ->> 'rule'), '[]') from jsonb_array_elements(validation_errors || validation_warnings) e) as rules,
            (validation_errors || validation_warnings)::text as messages
       from public.staging_rows where upload_id = $1 and row_type = 'thing' order by 1`,
    [upload.upload_id],
  )

describe('a value of each type', () => {
  const HEADER = [
    'sku',
    'at',
    'local',
    'stamp',
    'uid',
    'meta',
    'plain_json',
    'tags',
    'sizes',
    'days',
    'mail',
    'link',
    'price',
    'state',
  ]
  const types = declared('every_type', {
    sku: { type: 'text', required: true },
    at: { type: 'time' },
    local: { type: 'timestamp' },
    stamp: { type: 'timestamptz', zone: 'Europe/Berlin' },
    uid: { type: 'uuid' },
    meta: { type: 'json' },
    plain_json: { type: 'json' },
    tags: { type: 'array' },
    sizes: { type: 'array', items: 'integer', separator: ';' },
    days: { type: 'array', items: 'date', separator: ' ' },
    mail: { type: 'email' },
    link: { type: 'url' },
    price: { type: 'money' },
    state: { type: 'text' },
  })
  beforeAll(async () => {
    await db.owner(`create type public.every_state as enum ('new', 'it''s "old"')`)
    await db.owner(`create table public.every_type (
      workspace_id uuid not null, sku text not null, at time, local timestamp, stamp timestamptz, uid uuid, meta jsonb,
      plain_json json, tags text[], sizes integer[], days date[], mail text, link text, price numeric(10, 2),
      state public.every_state, unique (workspace_id, sku))`)
    await ingest.register(types, { approvalRequired: false })
  })

  const LINES = [
    [
      'a1',
      '8:30 PM',
      '31/12/2026 10:00:00.25',
      '2026-07-01 12:00',
      '0190F3A47B1C70008000000000000001',
      '{"b": [1.50, null], "a": "x \\"y\\" \\\\ é"}',
      '{"z": 1,  "a": 12345678901234567890.1}',
      '{plain,"with, comma",NULL,"q\\"\\\\"}',
      '1;-2;3',
      '2026-01-31 2026-02-28',
      'ann@example.com',
      'https://example.com/a?b=1&c=%20',
      '1.234,50 €',
      `it's "old"`,
    ],
    ['a2', '', '', '', '', '', '', '', '', '', '', '', '', ''],
    [
      'a3',
      '00:00',
      '2026-02-28',
      '2026-10-25 02:30:00+02:00',
      '0190f3a4-7b1c-7000-8000-000000000002',
      '[]',
      '"text"',
      '[]',
      '{}',
      '[]',
      '',
      '',
      '-0,5',
      'new',
    ],
  ]
  const stored = () =>
    db.owner(
      `select sku, at::text, local::text, (stamp at time zone 'UTC')::text as stamp, uid::text, meta::text, plain_json::text,
              tags, sizes, days::text[], mail, link, price::text, state::text from public.every_type order by sku`,
    )

  it('arrives in its column exactly, and is unchanged when the file comes again', async () => {
    const upload = await load('every_type', [HEADER, ...LINES])
    expect(await findings(upload)).toMatchObject([{ rules: [] }, { rules: [] }, { rules: [] }])
    expect(upload.status).toBe('promoted')
    expect(await stored()).toEqual([
      {
        sku: 'a1',
        at: '20:30:00',
        local: '2026-12-31 10:00:00.25',
        stamp: '2026-07-01 10:00:00',
        uid: '0190f3a4-7b1c-7000-8000-000000000001',
        meta: '{"a": "x \\"y\\" \\\\ é", "b": [1.50, null]}',
        plain_json: expect.stringContaining('12345678901234567890.1'),
        tags: ['plain', 'with, comma', null, 'q"\\'],
        sizes: [1, -2, 3],
        days: ['2026-01-31', '2026-02-28'],
        mail: 'ann@example.com',
        link: 'https://example.com/a?b=1&c=%20',
        price: '1234.50',
        state: `it's "old"`,
      },
      { ...Object.fromEntries(HEADER.map((name) => [name, null])), sku: 'a2' },
      {
        sku: 'a3',
        at: '00:00:00',
        local: '2026-02-28 00:00:00',
        stamp: '2026-10-25 00:30:00',
        uid: '0190f3a4-7b1c-7000-8000-000000000002',
        meta: '[]',
        plain_json: '"text"',
        tags: [],
        sizes: [],
        days: [],
        mail: null,
        link: null,
        price: '-0.50',
        state: 'new',
      },
    ])
    const again = await load('every_type', [HEADER, ...LINES.toReversed()], 'planned')
    const [plan] = await ingest.service<{ totals: unknown }>(
      'select totals from iu_core.ingest_plan where upload_id = $1',
      [again.upload_id],
    )
    expect(plan!.totals).toEqual({ thing: { unchanged: 3 } })
  })

  it('changes alone where another one is written differently but is the same', async () => {
    const other = [...LINES[0]!]
    other[HEADER.indexOf('meta')] = '{"a":"x \\"y\\" \\\\ \\u00e9","b":[1.5,null]}'
    other[HEADER.indexOf('stamp')] = '2026-07-01T10:00:00Z'
    other[HEADER.indexOf('tags')] = '["plain", "with, comma", null, "q\\"\\\\", "new"]'
    const upload = await load('every_type', [HEADER, other], 'planned')
    const rows = await ingest.service<{ action: string; changed: string[] }>(
      'select action, changed from iu_core.ingest_plan_row where upload_id = $1',
      [upload.upload_id],
    )
    expect(rows).toEqual([{ action: 'update', changed: ['tags'] }])
  })

  it('is refused with a remedy, in the file and in a corrected line alike', async () => {
    const wrong = ['w', '25:00', '2026-01-31T10:00:00Z', '2026-03-29 02:30', 'x', '{', 'NaN', '[a', '1;x']
    const upload = await load(
      'every_type',
      [HEADER, [...wrong, '2026-02-30', 'a@', 'b', 'much', 'gone']],
      'planned',
    )
    const [line] = await findings(upload)
    expect(line!.rules).toEqual([
      'time.impossible',
      'timestamp.zone',
      'timestamp.not_there',
      'uuid.invalid',
      'json.invalid',
      'json.invalid',
      'number.invalid',
      'date.impossible',
      'email.invalid',
      'url.invalid',
      'number.invalid',
      'enum.column',
    ])
    expect(line!.messages).toContain("It takes: new, it's")
  })
})

describe('what a column cannot hold', () => {
  const HEADER = ['sku', 'name', 'small', 'whole', 'big', 'price', 'rate', 'code', 'ref', 'codes', 'part']
  beforeAll(async () => {
    await db.owner(`create domain public.limit_name as varchar(5)`)
    await db.owner(`create table public.limited (
      workspace_id uuid not null, sku varchar(8) not null, name public.limit_name not null, small smallint, whole integer, big bigint,
      price numeric(5, 2), rate numeric, code bigint, ref uuid, codes varchar(3)[], part integer not null default 7,
      unique (workspace_id, sku))`)
    await ingest.register(
      declared('limited', {
        sku: { type: 'text', required: true },
        name: { type: 'text' },
        small: { type: 'integer' },
        whole: { type: 'decimal' },
        big: { type: 'integer' },
        price: { type: 'money' },
        rate: { type: 'decimal' },
        code: { type: 'id' },
        ref: { type: 'text' },
        codes: { type: 'array' },
        part: { type: 'integer' },
      }),
      { approvalRequired: false },
    )
  })
  const GOOD = ['s', 'n', '1', '2', '3', '4.50', '5.123456789', '6', '', 'a,b', '7']
  const withCell = (name: string, cell: string) =>
    GOOD.map((good, index) => (HEADER[index] === name ? cell : index === 0 ? `s-${cell.length}` : good))

  it.each<[column: string, cell: string, rules: string[], says: string]>([
    ['sku', 'too-long-a-sku', ['text.too_long'], 'the 8 characters of public.limited.sku'],
    ['name', 'longer', ['text.too_long'], 'the 5 characters of public.limited.name'],
    ['name', '', ['required.missing'], 'public.limited.name must have a value'],
    ['small', '32768', ['number.range'], 'public.limited.small takes whole numbers from -32768 to 32767'],
    ['small', '-32768', [], ''],
    ['whole', '2147483648', ['number.range'], 'from -2147483648 to 2147483647'],
    ['whole', '2147483647', [], ''],
    ['whole', '1.5', ['number.scale'], 'public.limited.whole keeps no digits after the decimal point'],
    ['price', '1000', ['number.precision'], 'public.limited.price takes at most 3 digits before'],
    ['price', '999.995', ['number.precision', 'number.scale'], 'keeps 2 digits'],
    ['price', '-999.99', [], ''],
    ['price', '0.005', ['number.scale'], 'will be rounded'],
    ['code', 'abc', ['column.type'], 'public.limited.code takes whole numbers'],
    ['code', '9223372036854775808', ['column.type'], 'to 9223372036854775807'],
    ['ref', 'abc', ['column.type'], 'public.limited.ref takes uuids only'],
    ['codes', 'abc,abcd', ['text.too_long'], 'the 3 characters of public.limited.codes'],
  ])('is found when checked: %s %s', async (column, cell, rules, says) => {
    const upload = await load('limited', [HEADER, GOOD, withCell(column, cell)], 'planned')
    const [good, line] = await findings(upload)
    expect([good!.rules, line!.rules]).toEqual([[], rules])
    expect(line!.messages).toContain(says)
    expect(line!.messages).not.toContain('plan.refused')
    const dataset = await inTransaction(
      db.pool('stagedoor_worker'),
      (client) => requireDataset(client, 'limited', 'file'),
      { role: 'service_role' },
    )
    const raw = Object.fromEntries(HEADER.map((name, index) => [name, withCell(column, cell)[index]!]))
    const [alone] = await recheckLines(await ingest.find(upload.upload_id), dataset, [
      { row_number: 3, raw_payload: raw },
    ])
    const found = [...JSON.parse(alone!.validation_errors), ...JSON.parse(alone!.validation_warnings)]
    expect(found.map(({ rule }) => rule)).toEqual(rules)
  })

  it('is a time without its zone, or a zone without its place', async () => {
    await db.owner(`create table public.zoned (
      workspace_id uuid not null, sku text not null, stamp timestamptz, day_stamp timestamptz, local timestamp, day date,
      unique (workspace_id, sku))`)
    await ingest.register(
      declared('zoned', {
        sku: { type: 'text' },
        stamp: { type: 'timestamp' },
        day_stamp: { type: 'date' },
        local: { type: 'timestamptz' },
        day: { type: 'timestamp' },
      }),
      { approvalRequired: false },
    )
    const upload = await load(
      'zoned',
      [
        ['sku', 'stamp', 'day_stamp', 'local', 'day'],
        ['a', '2026-01-31 10:00', '2026-01-31', '2026-01-31T10:00:00Z', '2026-01-31 10:00'],
        ['b', '', '', '', '2026-01-31'],
      ],
      'planned',
    )
    expect((await findings(upload)).map(({ rules }) => rules)).toEqual([
      ['timestamp.zone_missing', 'timestamp.zone_missing', 'timestamp.zone', 'date.time_lost'],
      [],
    ])
  })

  it('is judged by the limits of then when a line is corrected, and by the plan where the table changed since', async () => {
    const upload = await load('limited', [HEADER, withCell('whole', '40000')], 'planned')
    await db.owner('alter table public.limited alter column whole type smallint')
    const { reading } = await ingest.find(upload.upload_id)
    expect(reading?.limits?.whole).toEqual([{ column: 'public.limited.whole', kind: 'integer', bytes: 4 }])
    expect((await findings(upload))[0]!.rules).toEqual([])
    await ingest.plan(upload.upload_id)
    const [line] = await findings(upload)
    expect(line).toMatchObject({ status: 'invalid', rules: ['plan.refused'] })
    expect(line!.messages).toContain('public.limited.whole cannot hold 40000')
  })
})
