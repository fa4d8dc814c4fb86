/** How search is, over HTTP. */
import { type Static, Type } from 'typebox'
import type { SearchStatus } from '../../../search/status.ts'
import { nullable } from '../../responses.ts'

const Count = Type.Integer({ minimum: 0 })
const CountOrNull = Type.Union([Type.Integer(), Type.Null()])

export const CollectionShape = Type.Object({ collection: Type.String(), state: Type.String() })

export const StatusShape = Type.Object({
  collections: Type.Array(
    Type.Object({
      collection: Type.String(),
      state: Type.String(),
      embedder: Type.String(),
      model: nullable(Type.String()),
      dimension: CountOrNull,
      store: Type.String(),
      points: Count,
      writing: Count,
      refused: Count,
    }),
  ),
  chunks: Type.Object({ units: Count, documents: Count }),
  outbox: Type.Object({
    pending: Count,
    processing: Count,
    done: Count,
    dead_letter: Count,
    due: Count,
    oldest_due_s: CountOrNull,
  }),
  outage: Type.Union([Type.Object({ rows: Count, reason: Type.String() }), Type.Null()]),
  retrying: Type.Union([Type.Object({ rows: Count, reason: Type.String() }), Type.Null()], {
    description: 'what failed and is tried again',
  }),
  window: Type.Object(
    { quiet_s: Type.Number(), delete_s: Type.Number() },
    { description: 'seconds that search waits after an edit, and before it takes out what was deleted' },
  ),
  gates: Type.Object({
    excluded: Type.Boolean({ description: 'what is staged is kept out; closed, nothing is embedded' }),
    phase_1: Type.Boolean(),
    phase_2: Type.Boolean(),
    phase_3: Type.Boolean(),
  }),
  cost: Type.Array(
    Type.Object({
      day: Type.String(),
      embedder: Type.String(),
      model: Type.String(),
      requests: Count,
      tokens: Count,
    }),
    { description: 'of embedders that are paid for, a day, of the last month' },
  ),
})

export function presentStatus(status: SearchStatus): Static<typeof StatusShape> {
  return { ...status, collections: [...status.collections], cost: [...status.cost] }
}

export const AuditShape = Type.Object({
  ok: Type.Boolean(),
  collections: Type.Array(
    Type.Object({
      collection: Type.String(),
      state: Type.String(),
      store: Type.String(),
      points: CountOrNull,
      problem: Type.Optional(Type.String()),
    }),
  ),
  findings: Type.Array(
    Type.Object({
      finding: Type.Enum(['orphan', 'ghost', 'payload', 'staging', 'missing', 'left']),
      collection: nullable(Type.String()),
      id: Type.String(),
      detail: Type.String(),
      repaired: Type.Boolean(),
    }),
  ),
})
