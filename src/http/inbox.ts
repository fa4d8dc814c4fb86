/** The inbox of whoever asks: what is to be done, and news of changes. */
import { actorNames } from '../access/members.ts'
import {
  InboxMatter,
  MAX_INBOX,
  markRead,
  NEWS_MATTERS,
  readInbox,
  type SeenMatter,
} from '../changes/inbox.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { ActorNames } from './responses.ts'
import { limit, routes } from './routes.ts'

export const inboxRoutes = routes('changes', (api) => {
  api.get('/', {
    operationId: 'getInbox',
    summary: 'What concerns you: what is to be done, the oldest first, then news, the newest first',
    description:
      'To be done: a review that is asked of you, changes requested on a change of yours, an undo that you may decide on, an outdated plan of yours. News, of the last 30 days: mentions, replies, and what became of your changes.',
    query: {
      workspace_id: Type.Optional(Uuid),
      all: Type.Optional(Type.Boolean({ description: 'with news that you have read' })),
      limit: limit(MAX_INBOX, 100),
    },
    answer: Type.Object({
      matters: Type.Array(InboxMatter),
      to_do: Type.Integer({ description: 'how many are to be done, also after the limit' }),
      unread: Type.Integer({ description: 'how much news is unread, also after the limit' }),
      people: ActorNames,
    }),
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => {
        const { workspace_id: workspaceId, ...filter } = request.query
        const inbox = await readInbox(client, { ...filter, workspaceId })
        const actors = inbox.matters.map(({ actor }) => actor)
        return { ...inbox, people: await actorNames(client, actors) }
      }),
  })

  api.post('/read', {
    operationId: 'markInboxRead',
    summary: 'Mark news as read, as it was listed; what came later stays unread',
    description: 'What is to be done is refused: it leaves the inbox when it is done.',
    body: {
      matters: Type.Array(
        Type.Object({
          change_id: Uuid,
          matter: Type.Enum([...NEWS_MATTERS]),
          seen: Type.Integer({ minimum: 1 }),
        }),
        { minItems: 1, maxItems: MAX_INBOX },
      ),
    },
    answer: Type.Object({ marked: Type.Integer({ description: 'how many marks are new' }) }),
    problems: [403, 409],
    config: { right: 'read' },
    handle: (request) =>
      request.transaction(async (client) => ({
        marked: await markRead(client, request.body.matters as SeenMatter[]),
      })),
  })
})
