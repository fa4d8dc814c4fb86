/**
 * Promotions: what was written into the tables, by whom, and until when it can be undone; and which promotions wrote a row (lineage). Promoting
 * and undoing are routes of uploads.
 */
import { actorNames } from '../access/members.ts'
import { listApprovers } from '../changes/reviews.ts'
import { TABLE_PATTERN } from '../ingest/datasets/declare.ts'
import { listPromotions, type PromotionState, rowLineage } from '../ingest/promotion.ts'
import { LineageEntry, PROMOTION_STATES, PromotionSummary } from '../ingest/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { ActorNames, withRawJson } from './responses.ts'
import { After, Limit, listPage, page, routes, Workspace } from './routes.ts'
import { readExactly } from './upload-create.ts'

export const promotionRoutes = routes('uploads', (api) => {
  api.get('/', {
    operationId: 'listPromotions',
    replica: true,
    summary:
      'Promotions that you may see, newest first: what, by whom, undoable until, undone by whom and why',
    query: {
      workspace_id: Type.Optional(Uuid),
      dataset: Type.Optional(Type.String({ maxLength: 63 })),
      state: Type.Optional(Type.Enum([...PROMOTION_STATES])),
      person: Type.Optional(
        Type.String({
          maxLength: 255,
          description: 'who uploaded, approved, promoted or undid it: a user id, or `me`',
        }),
      ),
      limit: Limit,
      after: After,
    },
    answer: page('promotions', PromotionSummary, { people: ActorNames }),
    handle: (request) =>
      request.transaction(async (client) => {
        const list = await listPage(
          request.query,
          'promotions',
          'upload_id',
          ({ workspace_id: workspaceId, state, ...filter }) =>
            listPromotions(client, { ...filter, workspaceId, state: state as PromotionState | undefined }),
        )
        const actors = list.promotions.flatMap(({ uploaded_by, approvers, promoted_by, undone_by }) => [
          uploaded_by,
          ...approvers.map(({ reviewer }) => reviewer),
          promoted_by,
          undone_by,
        ])
        return { ...list, people: await actorNames(client, actors) }
      }),
  })
})

export const lineageRoutes = routes('uploads', (api) => {
  api.get('/lineage', {
    operationId: 'getRowLineage',
    replica: true,
    summary: 'Every promotion that wrote a production row, newest first: which file, which line, who',
    query: {
      workspace_id: Workspace,
      target: Type.String({
        pattern: TABLE_PATTERN,
        examples: ['public.daily_metrics'],
      }),
      id: Type.Optional(Type.String({ format: 'uuid', description: 'of the row' })),
      key: Type.Optional(
        Type.String({
          maxLength: 10_000,
          description: 'the whole natural key of the row, as a JSON object; instead of id',
          examples: ['{"order_id":"0198c5e0-7c1e-7000-8000-000000000001","position":3}'],
        }),
      ),
    },
    answer: Type.Object({ entries: Type.Array(LineageEntry), people: ActorNames }),
    problems: [403],
    raw: true,
    handle: async (request) => {
      const { workspace_id, target, id, key } = request.query
      const row = rowOf(id, key)
      return request.transaction(async (client) => {
        const workspace = await workspaceOf(client, workspace_id)
        const entries = await rowLineage(withRawJson(client), workspace, target, row)
        const approvers = await listApprovers(
          client,
          entries.map(({ upload_id }) => upload_id),
        )
        const actors = entries.flatMap((entry) => [entry.uploaded_by, entry.promoted_by, entry.undone_by])
        return { entries, people: await actorNames(client, [...approvers, ...actors]) }
      })
    },
  })
})

function rowOf(id: string | undefined, key: string | undefined) {
  if (id !== undefined && key === undefined) return { id }
  const named = id === undefined && key !== undefined ? readExactly(key, 'key') : undefined
  if (named !== null && typeof named === 'object' && !Array.isArray(named)) {
    return { key: named as Record<string, unknown> }
  }
  throw new StagedoorError('request_invalid', {
    reason: 'name the row by its id, or by its key as a JSON object',
  })
}
