/** How a file was read, as it is answered. */
import { Type } from 'typebox'

const text = Type.String()
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])

const HeaderMap = Type.Object({
  headers: Type.Array(text),
  fields: Type.Record(
    text,
    Type.Object({
      column: Type.Integer(),
      header: text,
      type: text,
      micros: Type.Optional(Type.Boolean()),
      currency: Type.Optional(text),
      duplicates: Type.Array(Type.Integer()),
    }),
    { description: 'field → the column that it comes from' },
  ),
  unknown: Type.Array(Type.Object({ column: Type.Integer(), header: text })),
  missing: Type.Array(
    Type.Object({ field: text, title: text, nearest: Type.Optional(text), means: Type.Optional(text) }),
  ),
  rowTypes: Type.Array(text),
  leaf: text,
  notes: Type.Array(Type.Object({ rule: text, message: text })),
})

export const Reading = Type.Object({
  format: Type.Enum(['csv', 'jsonl', 'json', 'parquet', 'xlsx', 'rows']),
  definition_digest: Type.String({ description: 'of the dataset that it was read by' }),
  encoding: text,
  delimiter: orNull(text),
  header_line: Type.Integer(),
  headers: Type.Array(text),
  preamble: Type.Array(Type.Object({ line: Type.Integer(), text })),
  styles: Type.Object({
    decimal: Type.Enum(['dot', 'comma', 'mixed', 'unknown']),
    dates: Type.Enum(['dmy', 'mdy', 'mixed', 'unknown']),
  }),
  map: HeaderMap,
  period: orNull(Type.Object({ start: text, end: text })),
  values: Type.Record(text, Type.Record(text, orNull(text))),
  layout: Type.Object({ fields: Type.Array(text), row_types: Type.Array(text), leaf: text }),
})
