/**
 * Statements by chance over columns of every kind: what is promoted is what the statement does when it is run directly, and the undo brings
 * back the state before, both to the last byte.
 */
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { useProposals } from '../support/proposals.ts'
import { SEED } from '../support/seed.ts'

const db = useDatabase()
const proposals = useProposals(db)

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const anyText = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'))
const text = fc
  .oneof(
    anyText,
    fc.constantFrom(
      '',
      ' ',
      '\\',
      '\\x',
      '"',
      "'",
      '{}',
      '(,)',
      '\n\t\r',
      'null',
      'NULL',
      '–ß漢字🙂',
      ':funcid 1',
    ),
  )
  .map(quoted)

/** Literals of each column. */
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  c_text: text,
  c_char: text.map((value) => `left(${value}, 5)`),
  c_varchar: text.map((value) => `left(${value}, 20)`),
  c_int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(String),
  c_bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => `'${n}'`),
  c_numeric: fc.constantFrom(
    '0',
    '1.0',
    '1.00',
    '-0.000001',
    '12345678901234567890.123456789',
    "'NaN'",
    "'Infinity'",
    '1e-20',
  ),
  c_money: fc.integer({ min: -9999999, max: 9999999 }).map((n) => `${n / 100}`),
  c_float: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => `'${n}'`),
    fc.constantFrom("'NaN'", "'-0'", "'Infinity'", "'-Infinity'", "'1e-300'", '0.1'),
  ),
  c_real: fc.constantFrom("'NaN'", "'-0'", '0.1', "'3.4e38'", '1'),
  c_bool: fc.constantFrom('true', 'false'),
  c_time: fc.constantFrom(
    "'2026-11-18 20:00:00.123456+00'",
    "'infinity'",
    "'-infinity'",
    "'1883-11-18 12:03:57-04:56:02'",
    "'0044-03-15 12:00:00 BC'",
    "'2026-03-29 01:30:00+00'",
  ),
  c_stamp: fc.constantFrom("'2026-11-18 20:00:00.5'", "'infinity'", "'0001-01-01 00:00:00'"),
  c_date: fc.constantFrom("'2026-11-18'", "'infinity'", "'4713-01-01 BC'"),
  c_interval: fc.constantFrom("'1 mon'", "'30 days'", "'720 hours'", "'-1 year 2 days -03:04:05.6'"),
  c_uuid: fc.uuid().map(quoted),
  c_json: fc.constantFrom(
    `'{"a" : 1,  "a":2}'`,
    `'null'`,
    `'[1, 2.00]'`,
    `' "x" '`,
    `'{"n": 12345678901234567890}'`,
  ),
  c_jsonb: fc.oneof(
    fc.constantFrom(`'null'`, `'{"a": 1.00, "b": null}'`, `'[]'`, `'"x"'`, `'12345678901234567890.10'`),
    fc
      .json({ maxDepth: 2 })
      .filter((value) => !value.includes('\\u0000') && !/\\ud[89a-f]/i.test(value))
      .map(quoted),
  ),
  c_bytea: fc.uint8Array({ maxLength: 10 }).map((bytes) => `'\\x${Buffer.from(bytes).toString('hex')}'`),
  c_ints: fc.constantFrom(`'{}'`, `'{1,NULL,3}'`, `'[2:3]={1,2}'`, `'{{1,2},{3,4}}'`),
  c_texts: fc
    .array(anyText, { maxLength: 3 })
    .map((list) => (list.length === 0 ? `'{}'` : `array[${list.map(quoted).join(', ')}]`)),
  c_mood: fc.constantFrom(`'happy'`, `'very "sad"'`),
  c_pair: fc
    .constantFrom(`row(1, 'x')`, `row(null, '')`, `row(null, null)`, `row(2, '(",\\')`)
    .map((row) => `${row}::pair`),
  c_pairs: fc.constantFrom(`array[row(1, 'x')::pair, null]`, `'{}'`),
  c_range: fc.constantFrom(`'[1,5)'`, `'empty'`, `'(,)'`),
  c_inet: fc.constantFrom(`'10.0.0.1/8'`, `'::1'`),
  c_words: fc.constantFrom(`'a fat cat'`, `'''x'':1A'`),
  c_bits: fc.constantFrom(`b'101'`, `b''`),
  c_xml: fc.constantFrom(`'<a b="c">x &amp; y</a>'`),
  c_name: fc.constantFrom(`'n'`, `'N "x"'`),
  c_positive: fc.integer({ min: 1, max: 99 }).map(String),
}
const COLUMNS = Object.keys(VALUES)
const ROWS = 8
const CASES = cases(20, 100)

const valueFor = (column: string) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant('null') }, { weight: 5, arbitrary: VALUES[column]! })
const assignment = fc
  .constantFrom(...COLUMNS)
  .chain((column) => valueFor(column).map((value) => `${column} = ${value}`))
const assignments = fc
  .uniqueArray(assignment, { minLength: 1, maxLength: 4, selector: (text) => text.split(' ')[0] })
  .map((list) => list.join(', '))
const ids = fc
  .uniqueArray(fc.integer({ min: 1, max: ROWS }), { minLength: 1, maxLength: 4 })
  .map((list) => list.join(', '))
const rowOf = (id: number) =>
  fc.tuple(...COLUMNS.map(valueFor)).map((values) => `(${id}, 'part', ${values.join(', ')})`)
const rowsFrom = (first: number) =>
  fc
    .integer({ min: 1, max: 3 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => rowOf(first + at))))
const insertInto = `insert into every (id, part, ${COLUMNS.join(', ')}) values`

const statement = fc.oneof(
  fc.tuple(assignments, ids).map(([sets, list]) => `update every set ${sets} where id in (${list})`),
  assignments.map(
    (sets) =>
      `update every as e set ${sets} from (values (1), (2)) as v (id) where v.id = e.id and e.part = 'part'`,
  ),
  ids.map(
    (list) =>
      `update every set c_text = c_text || coalesce(c_int::text, ''), c_float = c_float * 3, c_time = c_time + interval '1 day' where id in (${list}) and isfinite(c_time)`,
  ),
  rowsFrom(20).map((rows) => `${insertInto} ${rows.join(', ')}`),
  fc
    .tuple(rowsFrom(ROWS - 1), assignments)
    .map(([rows, sets]) => `${insertInto} ${rows.join(', ')} on conflict (id, part) do update set ${sets}`),
  rowsFrom(ROWS - 1).map((rows) => `${insertInto} ${rows.join(', ')} on conflict do nothing`),
  ids.map((list) => `delete from every where id in (${list})`),
  ids.map(
    (list) =>
      `delete from every using (select max(id) as id from every) m where every.id in (${list}) and every.id < m.id`,
  ),
)

beforeAll(async () => {
  await proposals.sql(`
    create type public.mood as enum ('happy', 'very "sad"');
    create type public.pair as (n integer, t text);
    create domain public.positive as integer check (value > 0);
    create table public.every (
      id integer, part text default 'part', c_text text, c_char char(5), c_varchar varchar(20), dropped text, c_int integer, c_bigint bigint, c_numeric numeric,
      c_money numeric(12, 2), c_float float8, c_real float4, c_bool boolean, c_time timestamptz, c_stamp timestamp, c_date date, c_interval interval,
      c_uuid uuid, c_json json, c_jsonb jsonb, c_bytea bytea, c_ints integer[], c_texts text[], c_mood mood, c_pair pair, c_pairs pair[], c_range int4range,
      c_inet inet, c_words tsvector, c_bits varbit, c_xml xml, c_name name, c_positive positive,
      made text generated always as (id || part) stored, primary key (id, part));
    alter table public.every drop column dropped`)
  await proposals.open('public.every')
})

it('is promoted as if it was run, and undone as if it never was', { tags: 'property' }, async () => {
  const seen = { promoted: 0, rows: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...Array.from({ length: ROWS }, (_, at) => rowOf(at + 1))),
      statement,
      async (rows, sql) => {
        await proposals.sql(`truncate every; ${insertInto} ${rows.join(', ')}`)
        const before = await proposals.image('public.every')
        const direct = await db.session('postgres')
        let expected: string[]
        try {
          await direct.query(`begin; ${sql}`)
          const { rows: found } = await direct.query<{ row: string }>(
            'select t::text as row from every t order by 1',
          )
          expected = found.map(({ row }) => row)
        } catch {
          // What PostgreSQL refuses (a text for an interval that overflows) is refused as a proposal as well.
          await expect(proposals.propose(sql)).rejects.toMatchObject({ code: 'proposal_fails' })
          return
        } finally {
          await direct.query('rollback')
          await direct.end()
        }
        const upload = await proposals.propose(sql).catch((error) => {
          if (/changes no row/.test(error.message) && JSON.stringify(before) === JSON.stringify(expected))
            return undefined
          throw error
        })
        if (upload === undefined) return
        expect(await proposals.image('public.every')).toEqual(before)
        await proposals.promote(upload)
        expect(await proposals.image('public.every')).toEqual(expected)
        await proposals.undo(upload)
        expect(await proposals.image('public.every')).toEqual(before)
        seen.promoted++
        seen.rows += Object.values(upload.plan_totals!.every!).reduce((sum, n) => sum + n, 0)
      },
    ),
    { numRuns: CASES, seed: SEED },
  )
  expect(seen.promoted).toBeGreaterThan(CASES / 3)
})
