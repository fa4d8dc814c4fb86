/** Column types with what a file may write for them: cells, what PostgreSQL stores for each, and cells that are wrong. */
import type { FieldDeclaration } from '../../../src/ingest/datasets/dataset.ts'

export interface Kind {
  /** PostgreSQL's type; `%s` is the quoted schema. */
  readonly sql: string
  readonly field: FieldDeclaration
  /** A cell, and the text that PostgreSQL gives for what is stored. */
  readonly cells: readonly (readonly [cell: string, stored: string])[]
  readonly wrong: readonly string[]
}

const same = (...texts: string[]) => texts.map((text) => [text, text] as const)

export const KEY_KINDS = {
  text: {
    sql: 'text',
    field: { type: 'text' },
    cells: same('a1', 'A1', 'ü-2', "o'b", 'with, comma', 'x "y"', '007', 'zz'),
    wrong: [],
  },
  integer: {
    sql: 'integer',
    field: { type: 'integer' },
    cells: same('0', '1', '-7', '2147483647', '10', '11', '12', '13'),
    wrong: ['seven', '1.5'],
  },
  bigint: {
    sql: 'bigint',
    field: { type: 'integer' },
    // Two that are one as a double.
    cells: same('9007199254740992', '9007199254740993', '-4', '5', '6', '7', '8', '9223372036854775807'),
    wrong: ['seven', '9223372036854775808'],
  },
  uuid: {
    sql: 'uuid',
    field: { type: 'uuid' },
    cells: [
      ...same(...[1, 2, 3, 4, 5, 6, 7].map((digit) => `0b7c2f0e-9a53-4d6c-8b1f-00000000000${digit}`)),
      ['0B7C2F0E-9A53-4D6C-8B1F-00000000000A', '0b7c2f0e-9a53-4d6c-8b1f-00000000000a'] as const,
    ],
    wrong: ['not-a-uuid'],
  },
  date: {
    sql: 'date',
    field: { type: 'date' },
    cells: same(
      ...['2024-02-29', '2026-01-31', '2026-11-01', '2026-11-02'],
      ...['1999-12-31', '2026-11-17', '2026-12-24', '2030-06-15'],
    ),
    wrong: ['2026-13-45', 'tomorrow'],
  },
} as const satisfies Record<string, Kind>
export type KeyKind = keyof typeof KEY_KINDS

export const VALUE_KINDS = {
  text: {
    sql: 'text',
    field: { type: 'text' },
    cells: same('alpha', 'Ünï', 'a, b', '"quoted"', "it's", '100 %', '{}', '\\N'),
    wrong: [],
  },
  varchar: {
    sql: 'varchar(5)',
    field: { type: 'text' },
    cells: same('abcde', 'ü', '12345', 'x y'),
    wrong: ['abcdef', '123456789'],
  },
  numeric: {
    sql: 'numeric(10, 2)',
    field: { type: 'decimal' },
    cells: [
      ['0', '0.00'],
      ['1.5', '1.50'],
      ['-3.25', '-3.25'],
      ['99999999.99', '99999999.99'],
      ['12', '12.00'],
    ],
    wrong: ['abc', '123456789.5'],
  },
  integer: {
    sql: 'integer',
    field: { type: 'integer' },
    cells: same('0', '7', '-12', '2147483647'),
    wrong: ['seven', '2147483648', '1.5'],
  },
  smallint: {
    sql: 'smallint',
    field: { type: 'integer' },
    cells: same('0', '32767', '-32768'),
    wrong: ['32768', 'x'],
  },
  double: {
    sql: 'double precision',
    field: { type: 'decimal' },
    cells: [...same('0.1', '-2.5', '1000000'), ['3.1415926', '3.1415926']],
    wrong: ['pi'],
  },
  // A table's own rule about its values.
  domain: {
    sql: '%s."Percent of"',
    field: { type: 'integer' },
    cells: same('0', '100', '55'),
    wrong: ['101', '-1'],
  },
  char: {
    sql: 'char(3)',
    field: { type: 'text' },
    cells: [
      ['EUR', 'EUR'],
      ['x', 'x'],
    ],
    wrong: ['EURO'],
  },
  boolean: {
    sql: 'boolean',
    field: { type: 'boolean' },
    cells: [...same('true', 'false'), ['yes', 'true'], ['no', 'false']],
    wrong: ['perhaps'],
  },
  date: {
    sql: 'date',
    field: { type: 'date' },
    cells: same('2024-02-29', '2026-11-17', '1970-01-01'),
    wrong: ['2026-02-30', 'soon'],
  },
  time: {
    sql: 'time',
    field: { type: 'time' },
    cells: [
      ['10:30', '10:30:00'],
      ['23:59:59', '23:59:59'],
    ],
    wrong: ['25:00', 'noon'],
  },
  timestamp: {
    sql: 'timestamp',
    field: { type: 'timestamp' },
    cells: [
      ['2026-11-17 10:30:00', '2026-11-17 10:30:00'],
      ['2024-02-29T23:59:59.5', '2024-02-29 23:59:59.5'],
    ],
    wrong: ['2026-02-30 10:00:00', 'noon'],
  },
  timestamptz: {
    sql: 'timestamptz',
    field: { type: 'timestamptz' },
    cells: [
      ['2026-11-17T10:30:00Z', '2026-11-17 10:30:00+00'],
      ['2026-11-17T10:30:00+02:00', '2026-11-17 08:30:00+00'],
      ['2024-02-29 23:59:59.123456+00:00', '2024-02-29 23:59:59.123456+00'],
    ],
    // Without a zone, and none is declared.
    wrong: ['2026-11-17 10:30:00', 'noon'],
  },
  timestamptzOfZone: {
    sql: 'timestamptz',
    field: { type: 'timestamptz', zone: 'Europe/Berlin' },
    cells: [
      ['2026-11-17 10:30:00', '2026-11-17 09:30:00+00'],
      ['2026-07-01 10:30:00', '2026-07-01 08:30:00+00'],
    ],
    wrong: ['noon'],
  },
  array: {
    sql: 'text[]',
    field: { type: 'array', separator: '|' },
    cells: [
      ['a|b', '{a,b}'],
      ['one', '{one}'],
      ['x y|"q"|a,b', '{"x y","\\"q\\"","a,b"}'],
    ],
    wrong: [],
  },
  integers: {
    sql: 'integer[]',
    field: { type: 'array', items: 'integer' },
    cells: [
      ['1,2,3', '{1,2,3}'],
      ['-7', '{-7}'],
    ],
    wrong: ['1,two'],
  },
  jsonb: {
    sql: 'jsonb',
    field: { type: 'json' },
    cells: [
      ['{"b": 1, "a": [true, null]}', '{"a": [true, null], "b": 1}'],
      ['[1.50]', '[1.50]'],
      ['"text"', '"text"'],
    ],
    wrong: ['{"a":'],
  },
  enum: {
    sql: '%s."Colour of"',
    field: { type: 'enum', values: { red: ['rouge'], 'light blue': [], "gr'ün": ['green'] } },
    cells: [
      ['red', 'red'],
      ['rouge', 'red'],
      ['light blue', 'light blue'],
      ['green', "gr'ün"],
    ],
    wrong: ['purple'],
  },
} as const satisfies Record<string, Kind>
export type ValueKind = keyof typeof VALUE_KINDS

export const TYPES_DDL = [
  `create type %s."Colour of" as enum ('red', 'light blue', 'gr''ün')`,
  `create domain %s."Percent of" as smallint check (value between 0 and 100)`,
]

/** Columns of types that no file writes: type, the default, and a value whose text an image of the row could lose. */
export const KEPT_KINDS: readonly (readonly [sql: string, byDefault: string, stored: string])[] = [
  ['json', '[]', '{"b":1,  "a":2, "a":3}'],
  ['json', '[]', 'null'],
  ['jsonb', '[]', 'null'],
  ['text[]', '{}', '[2:3]={a,NULL}'],
  ['double precision', '0', '-0'],
  ['text', 'by default', 'kept'],
  ['jsonb', '{}', '1.50'],
  ['integer[]', '{}', '{{1,2},{3,4}}'],
  ['double precision', '0', 'NaN'],
  ['real', '0', '0.1'],
  ['numeric', '0', 'NaN'],
  ['numeric', '0', '1.500'],
  ['timestamptz', 'epoch', 'infinity'],
  ['date', 'epoch', '-infinity'],
  ['interval', '0', '1 mon 30 days 24:00:00'],
  ['bytea', '', '\\x00ff27'],
  ['int4range', 'empty', '[1,10)'],
  ['bit(3)', '000', '101'],
  ['point', '(0,0)', '(1.5,-2)'],
  ['inet', '::1', '10.0.0.1/8'],
  ['char(4)', 'a', 'b'],
  ['tsvector', '', "'fat':2 'rat':3"],
  ['money', '0', '12.50'],
]
