/** Promotions: what was written into the tables, by whom, and until when it can be undone. Promoting and undoing are deeds of uploads. */
import { actorNames } from '../access/members.ts'
import { listPromotions, type PromotionState } from '../ingest/promotion.ts'
import { PROMOTION_STATES, PromotionSummary } from '../ingest/shapes.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { ActorNames } from './responses.ts'
import { After, Limit, listPage, page, routes } from './routes.ts'

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
