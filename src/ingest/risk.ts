/** What is unusual about a plan, against the last promoted uploads of the same source. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import {
  Digest,
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Type,
  Uuid,
} from '../kernel/schema.ts'

const RISK_LEVELS = ['ok', 'notice', 'high'] as const
const NumberOrNull = nullable(Type.Number())

export const RiskFact = shape('RiskFact', {
  fact: Type.String({
    description:
      'rows_insert, rows_update, …, share_changed · of a column: empty, sum, min, max, tenfold, outliers, new_values, missing_days',
  }),
  row_type: Text,
  column: TextOrNull,
  value: Type.Number(),
  usual: nullable(
    Type.Number({
      description:
        'the median of the uploads before; of the sum of a partial upload: what as many rows usually sum up to; null: fewer than three',
    }),
  ),
  spread: NumberOrNull,
  level: Type.Enum([...RISK_LEVELS]),
  reason: Type.Optional(
    Type.String({
      description: 'why it was judged otherwise: a correction, a part of an upload, a short file',
    }),
  ),
  filter: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'the query of GET /uploads/{id}/plan/rows that lists its rows',
    }),
  ),
  values: Type.Optional(Type.Array(Text, { description: 'new values, at most five' })),
  days: Type.Optional(Type.Array(Text, { description: 'missing days, at most ten' })),
})
export type RiskFact = Row<typeof RiskFact>

export const UploadRisk = shape('UploadRisk', {
  upload_id: Uuid,
  plan_digest: Digest,
  compared_uploads: Type.Integer({ description: 'how many it was compared with, at most 8' }),
  facts: Type.Array(RiskFact, { description: 'the furthest from the usual first' }),
  not_computed: Type.Array(JsonObject, { description: 'columns that were left out, and why' }),
})
export type UploadRisk = Row<typeof UploadRisk>

export async function readRisk(db: Queryable, upload: string): Promise<UploadRisk> {
  const { rows } = await db.query<{ risk: UploadRisk }>('select iu_core.fn_ingest_risk($1) as risk', [upload])
  return rows[0]!.risk
}
