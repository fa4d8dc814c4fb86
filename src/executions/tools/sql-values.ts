/** What PostgreSQL answers, as JSON without loss: what a number of JavaScript cannot hold is a text, times are ISO 8601. */
import pg from 'pg'
import type { Json } from '../playbook/definition.ts'

const {
  BOOL,
  INT2,
  INT4,
  OID,
  FLOAT4,
  FLOAT8,
  JSON: JSON_TYPE,
  JSONB,
  TIMESTAMP,
  TIMESTAMPTZ,
} = pg.types.builtins

type Parse = (text: string) => Json

/** NaN and the infinities stay texts. */
const float: Parse = (text) => (Number.isFinite(Number(text)) ? Number(text) : text)
const time: Parse = (text) =>
  /^\d{4}-\d\d-\d\d \d\d:/.test(text) && !text.endsWith('BC')
    ? text.replace(' ', 'T').replace(/\+00$/, 'Z')
    : text

const SCALARS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [BOOL, (text) => text === 't'],
  [INT2, Number],
  [INT4, Number],
  [OID, Number],
  [FLOAT4, float],
  [FLOAT8, float],
  [JSON_TYPE, (text) => JSON.parse(text) as Json],
  [JSONB, (text) => JSON.parse(text) as Json],
  [TIMESTAMP, time],
  [TIMESTAMPTZ, time],
])

/** Arrays of the types above, and of those whose text is their value. */
const ARRAYS: ReadonlyMap<number, number | undefined> = new Map([
  [1000, BOOL],
  [1005, INT2],
  [1007, INT4],
  [1028, OID],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [199, JSON_TYPE],
  [3807, JSONB],
  [1115, TIMESTAMP],
  [1185, TIMESTAMPTZ],
  ...[1001, 1002, 1003, 1009, 1014, 1015, 1016, 1182, 1183, 1187, 1231, 2951].map(
    (oid) => [oid, undefined] as const,
  ),
])

const TEXT_ARRAY = 1009
const texts = pg.types.getTypeParser(TEXT_ARRAY as never, 'text') as (text: string) => Nested
type Nested = readonly (string | null | Nested)[]

const asText: Parse = (text) => text

export const sqlTypes = {
  getTypeParser(oid: number): Parse {
    if (!ARRAYS.has(oid)) return SCALARS.get(oid) ?? asText
    const parse = SCALARS.get(ARRAYS.get(oid) ?? 0) ?? asText
    return (text) => each(texts(text), parse)
  },
} as unknown as pg.CustomTypesConfig

function each(values: Nested, parse: Parse): Json {
  return values.map((value) =>
    value === null ? null : typeof value === 'string' ? parse(value) : each(value, parse),
  )
}
