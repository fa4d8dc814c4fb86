/** What search answers over HTTP. */
import { Type } from 'typebox'
import type { SearchAnswer } from '../../../search/query.ts'

const Rank = Type.Optional(Type.Integer({ minimum: 1 }))

export const HitShape = Type.Object({
  source: Type.Enum(['unit', 'document']),
  unit_id: Type.Optional(Type.String()),
  document_id: Type.Optional(
    Type.String({ description: 'of a unit: the document of the old knowledge base that it was cut from' }),
  ),
  canonical_address: Type.Optional(Type.String()),
  source_ref: Type.Optional(Type.String({ description: 'of a document: where it comes from' })),
  title: Type.String(),
  snippet: Type.String(),
  highlights: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
    description: 'from and to, in characters (code points) of the snippet: where words of the question stand',
  }),
  score: Type.Number(),
  legs: Type.Object({ lexical: Rank, dense: Rank }, { description: 'its place by words and by meaning' }),
  freshness: Type.Enum(['current', 'pending', 'stale', 'error']),
  lifecycle_status: Type.Optional(Type.String()),
  unit_kind: Type.Optional(Type.String()),
  version_no: Type.Optional(Type.Integer({ description: 'whose text is shown' })),
  current_version_no: Type.Optional(Type.Integer()),
  warnings: Type.Array(Type.String()),
  explain: Type.Optional(
    Type.Object({ unit: Type.String(), document: Type.String(), chunk_id: Type.Optional(Type.String()) }),
  ),
})

export const AnswerShape = Type.Object({
  hits: Type.Array(HitShape),
  warnings: Type.Array(Type.String(), { description: 'what could not be asked, and what to do' }),
  took_ms: Type.Number(),
  legs: Type.Object({
    lexical: Type.Integer(),
    dense: Type.Union([Type.Integer(), Type.Enum(['off', 'unavailable'])]),
  }),
})

export function presentAnswer({ hits, warnings, ...answer }: SearchAnswer) {
  return {
    ...answer,
    warnings: [...warnings],
    hits: hits.map((hit) => ({
      ...hit,
      highlights: hit.highlights.map((range) => [...range]),
      warnings: [...hit.warnings],
    })),
  }
}
