/** Changes: what is reviewed, by its number. Look, discuss, ask for a review; its decisions are made where its subject is. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { actorNames } from '../access/members.ts'
import {
  CHANGE_NUMBER,
  editChange,
  listChangeHistory,
  listChanges,
  requireChange,
  setReviewers,
} from '../changes/changes.ts'
import {
  createComment,
  deleteComment,
  listCommentEdits,
  listComments,
  requireComment,
  resolveThread,
  updateComment,
} from '../changes/comments.ts'
import { ChangePermissions, changePermissions } from '../changes/permissions.ts'
import {
  ChangeReview,
  dismissReview,
  listReviews,
  ReviewStanding,
  readStanding,
  requireReview,
  reviewChange,
  VERDICTS,
  type Verdict,
} from '../changes/reviews.ts'
import {
  CHANGE_KINDS,
  CHANGE_STATUSES,
  Change,
  ChangeComment,
  ChangeHistoryEntry,
  type ChangeKind,
  type ChangeStatus,
  ChangeSummary,
  CommentEdit,
} from '../changes/shapes.ts'
import { declineUndo, requestUndo } from '../changes/undo-requests.ts'
import { readCallerRights } from '../gates/caller-rights.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { Digest, shape, Type, Uuid } from '../kernel/schema.ts'
import { ActorNames } from './responses.ts'
import { After, Limit, limit, listPage, page, type Routes, routes } from './routes.ts'

const ChangeName = Type.String({
  pattern: '^(#?[1-9][0-9]{0,8}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
  description: 'its number, `128` or `%23128`; its id; or the id of its upload or record',
  examples: ['128'],
})
const ofChange = { change: ChangeName }
const ofComment = { change: ChangeName, id: Uuid }
/** Where several workspaces of the caller have a change with this number. */
const inWorkspace = { workspace_id: Type.Optional(Uuid) }
const Body = Type.String({
  minLength: 1,
  maxLength: 10_000,
  description: 'Markdown; @name mentions a member',
})

const ChangeDetail = shape('ChangeDetail', {
  ...Change.properties,
  may: ChangePermissions,
  people: ActorNames,
})
const CommentWithNames = shape('CommentWithNames', { ...ChangeComment.properties, people: ActorNames })
const answersDetail = { answer: ChangeDetail, problems: [403, 404, 409] } as const
/** Whoever reads may comment. */
const answersComment = {
  answer: CommentWithNames,
  problems: [403, 404, 409],
  config: { right: 'read' },
} as const

export const changeRoutes = routes('changes', (api) => {
  readRoutes(api)
  editRoutes(api)
  commentRoutes(api)
  threadRoutes(api)
  reviewRoutes(api)
  undoRequestRoutes(api)
})

function readRoutes(api: Routes): void {
  api.get('/', {
    operationId: 'listChanges',
    replica: true,
    summary: 'Changes that you may see, newest first; without their descriptions',
    query: {
      ...inWorkspace,
      status: Type.Optional(
        Type.String({ description: 'one or several', examples: ['open,changes_requested'], maxLength: 200 }),
      ),
      kind: Type.Optional(Type.Enum([...CHANGE_KINDS])),
      author: Type.Optional(Type.String({ maxLength: 255, description: 'a user id, or `me`' })),
      reviewer: Type.Optional(
        Type.String({
          maxLength: 255,
          description: 'whose review is requested, also by a group of theirs: a user id, or `me`',
        }),
      ),
      label: Type.Optional(Type.String({ maxLength: 50 })),
      dataset: Type.Optional(Type.String({ maxLength: 63 })),
      limit: Limit,
      after: After,
    },
    answer: page('changes', ChangeSummary, { people: ActorNames }),
    handle: (request) =>
      request.transaction(async (client) => {
        const list = await listPage(
          request.query,
          'changes',
          'change_id',
          ({ workspace_id: workspaceId, status, ...filter }) =>
            listChanges(client, {
              ...filter,
              workspaceId,
              ...(status !== undefined && { status: statuses(status) }),
            }),
        )
        const actors = list.changes.flatMap(peopleOfChange)
        return { ...list, people: await actorNames(client, actors) }
      }),
  })

  api.get('/:change', {
    operationId: 'getChange',
    replica: true,
    summary: 'One change: title, description, status, reviewers, and what you may do with it',
    params: ofChange,
    query: inWorkspace,
    ...answersDetail,
    handle: (request) => request.transaction((client) => readDetail(client, request)),
  })

  api.get('/:change/history', {
    operationId: 'listChangeHistory',
    replica: true,
    summary: 'What happened to a change, oldest first',
    params: ofChange,
    query: {
      ...inWorkspace,
      limit: limit(1000, 100),
      after: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    },
    answer: page('history', ChangeHistoryEntry, { people: ActorNames }),
    problems: [404, 409],
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        const list = await listPage(request.query, 'history', 'seq', ({ limit, after }) =>
          listChangeHistory(client, change_id, { limit, after }),
        )
        return {
          ...list,
          people: await actorNames(
            client,
            list.history.map(({ actor }) => actor),
          ),
        }
      }),
  })
}

function editRoutes(api: Routes): void {
  api.patch('/:change', {
    operationId: 'updateChange',
    summary: 'Edit title, description or labels; for its author and for reviewers',
    params: ofChange,
    query: inWorkspace,
    body: {
      title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      description: Type.Optional(Type.String({ maxLength: 20_000, description: 'why: Markdown' })),
      labels: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 20 })),
    },
    example: { description: 'Week 45 again, with the corrected spend of Meta.', labels: ['finance'] },
    ...answersDetail,
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        await editChange(client, change_id, request.body)
        return readDetail(client, request)
      }),
  })

  api.put('/:change/reviewers', {
    operationId: 'setChangeReviewers',
    summary: 'Ask exactly these people and groups for a review; for its author and for reviewers',
    params: ofChange,
    query: inWorkspace,
    body: {
      reviewers: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 20,
        default: [],
        description: 'user ids',
      }),
      groups: Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 20, default: [] }),
    },
    ...answersDetail,
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        await setReviewers(client, change_id, request.body)
        return readDetail(client, request)
      }),
  })
}

function commentRoutes(api: Routes): void {
  api.get('/:change/comments', {
    operationId: 'listChangeComments',
    replica: true,
    summary: 'The conversation of a change, oldest first; thread_id says what belongs together',
    params: ofChange,
    query: {
      ...inWorkspace,
      thread: Type.Optional(Uuid),
      unresolved: Type.Optional(Type.Boolean({ description: 'only of threads that are not resolved' })),
      limit: limit(500, 100),
      after: After,
    },
    answer: page('comments', ChangeComment, { people: ActorNames }),
    problems: [404, 409],
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        const list = await listPage(request.query, 'comments', 'comment_id', (filter) =>
          listComments(client, change_id, filter),
        )
        return { ...list, people: await actorNames(client, list.comments.flatMap(peopleOf)) }
      }),
  })

  api.post('/:change/comments', {
    operationId: 'createChangeComment',
    summary: 'Comment on a change, on a row of it (row_type and line) or on a cell (column), or reply',
    description: 'Every member who sees the change may; an agent needs the right to stage.',
    params: ofChange,
    query: inWorkspace,
    body: {
      body: Body,
      reply_to: Type.Optional(Type.String({ format: 'uuid', description: 'any comment of the thread' })),
      row_type: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
      line: Type.Optional(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
      column: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    },
    example: { body: '@Rita is this spend right?', row_type: 'daily_metric', line: 12, column: 'spend' },
    status: 201,
    ...answersComment,
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        const { reply_to: replyTo, row_type: rowType, ...comment } = request.body
        return withNames(client, await createComment(client, change_id, { ...comment, replyTo, rowType }))
      }),
  })

  api.patch('/:change/comments/:id', {
    operationId: 'updateChangeComment',
    summary: 'Edit a comment of your own; what it said before stays readable',
    params: ofComment,
    query: inWorkspace,
    body: { body: Body },
    ...answersComment,
    handle: (request) =>
      onComment(request, async (client, id) =>
        withNames(client, await updateComment(client, id, request.body.body)),
      ),
  })

  api.delete('/:change/comments/:id', {
    operationId: 'deleteChangeComment',
    summary: 'Delete a comment of your own: its text goes, that there was one stays',
    params: ofComment,
    query: inWorkspace,
    problems: [403, 404, 409],
    handle: (request, reply) =>
      onComment(request, async (client, id) => {
        await deleteComment(client, id)
        return reply.send()
      }),
  })

  api.get('/:change/comments/:id/edits', {
    operationId: 'listCommentEdits',
    replica: true,
    summary: 'What a comment said before it was edited, oldest first',
    params: ofComment,
    query: inWorkspace,
    answer: Type.Object({ edits: Type.Array(CommentEdit) }),
    problems: [404, 409],
    handle: (request) =>
      onComment(request, async (client, id) => ({ edits: await listCommentEdits(client, id) })),
  })
}

const Resolution = Type.Object({ changed: Type.Boolean({ description: 'false: it was so already' }) })

function threadRoutes(api: Routes): void {
  api.post('/:change/comments/:id/resolve', {
    operationId: 'resolveThread',
    summary: 'Resolve the thread of a comment: whoever began it, the author of the change, a reviewer',
    params: ofComment,
    query: inWorkspace,
    answer: Resolution,
    problems: [403, 404, 409],
    handle: (request) =>
      onComment(request, async (client, id) => ({ changed: await resolveThread(client, id, true) })),
  })

  api.post('/:change/comments/:id/reopen', {
    operationId: 'reopenThread',
    summary: 'Reopen a resolved thread',
    params: ofComment,
    query: inWorkspace,
    answer: Resolution,
    problems: [403, 404, 409],
    handle: (request) =>
      onComment(request, async (client, id) => ({ changed: await resolveThread(client, id, false) })),
  })
}

const answersStanding = { answer: ReviewStanding, problems: [403, 404, 409] } as const

function reviewRoutes(api: Routes): void {
  api.get('/:change/reviews', {
    operationId: 'listChangeReviews',
    replica: true,
    summary: 'What a change needs, which rules of the policy ask for it, who reviewed, and what is missing',
    params: ofChange,
    query: inWorkspace,
    answer: Type.Object({ standing: ReviewStanding, reviews: Type.Array(ChangeReview), people: ActorNames }),
    problems: [404, 409],
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        const reviews = await listReviews(client, change_id)
        const standing = await readStanding(client, change_id)
        const actors = [...reviews, ...standing.reviews].flatMap((one) => [
          one.reviewer,
          'dismissed_by' in one ? one.dismissed_by : null,
        ])
        return { standing, reviews, people: await actorNames(client, actors) }
      }),
  })

  api.post('/:change/review', {
    operationId: 'reviewChange',
    summary: 'Approve exactly what you saw, request changes, comment, or withdraw your review',
    description:
      'The change is approved with the last approval that its policy asks for; the answer says what is missing. Requested changes block until you approve or withdraw.',
    params: ofChange,
    query: inWorkspace,
    body: {
      verdict: Type.Enum([...VERDICTS]),
      digest: Type.Optional(Digest),
      body: Type.Optional(Body),
      ticked: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, default: [] }),
    },
    example: { verdict: 'request_changes', digest: 'a'.repeat(64), body: 'The spend of week 27 is doubled.' },
    ...answersStanding,
    handle: (request) =>
      request.decide(async (client) => {
        const { change_id } = await changeOf(client, request)
        const { verdict, ...given } = request.body
        return reviewChange(client, change_id, { verdict: verdict as Verdict, ...given })
      }),
  })

  api.post('/:change/reviews/:review/dismiss', {
    operationId: 'dismissChangeReview',
    summary: 'Dismiss a review, with a reason: it counts and blocks no longer. For administrators',
    params: { change: ChangeName, review: Uuid },
    query: inWorkspace,
    body: { reason: Type.String({ minLength: 1, maxLength: 2000 }) },
    ...answersStanding,
    handle: (request) =>
      request.decide(async (client) => {
        const { change_id } = await changeOf(client, request)
        await requireReview(client, change_id, request.params.review)
        return dismissReview(client, request.params.review, request.body.reason)
      }),
  })
}

function undoRequestRoutes(api: Routes): void {
  api.post('/:change/undo-request', {
    operationId: 'requestChangeUndo',
    summary: 'Ask for the undo of a promotion: it waits in the inbox of everybody who may undo',
    params: ofChange,
    query: inWorkspace,
    body: { reason: Type.String({ minLength: 1, maxLength: 2000 }) },
    example: { reason: 'The spend of week 27 was doubled.' },
    status: 201,
    ...answersComment,
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        return withNames(client, await requestUndo(client, change_id, request.body.reason))
      }),
  })

  api.post('/:change/undo-request/decline', {
    operationId: 'declineChangeUndo',
    summary: 'Decline the open request to undo, or withdraw your own; a reason answers it',
    params: ofChange,
    query: inWorkspace,
    body: { reason: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })) },
    ...answersDetail,
    config: { right: 'read' },
    handle: (request) =>
      request.transaction(async (client) => {
        const { change_id } = await changeOf(client, request)
        await declineUndo(client, change_id, request.body.reason)
        return readDetail(client, request)
      }),
  })
}

type OfChange = FastifyRequest<{ Params: { change: string }; Querystring: { workspace_id?: string } }>
type OfComment = FastifyRequest<{
  Params: { change: string; id: string }
  Querystring: { workspace_id?: string }
}>

const changeOf = (client: Client, { params, query }: Pick<OfChange, 'params' | 'query'>) =>
  requireChange(client, params.change, query.workspace_id)

async function readDetail(client: Client, request: OfChange) {
  const change = await changeOf(client, request)
  const caller = await readCallerRights(client, change.workspace_id, request.principal!)
  return {
    ...change,
    may: changePermissions(change, caller),
    people: await actorNames(client, peopleOfChange(change)),
  }
}

const peopleOfChange = ({ author, reviewers, approvers, undo_request }: ChangeSummary) => [
  author,
  ...reviewers.flatMap((one) => [one.reviewer, one.requested_by]),
  ...approvers.map(({ reviewer }) => reviewer),
  undo_request?.requested_by ?? null,
]

/** A comment of the change that the path names. */
function onComment<T>(request: OfComment, work: (client: Client, id: string) => Promise<T>): Promise<T> {
  return request.transaction(async (client) => {
    const { change_id } = await changeOf(client, request)
    const { id } = request.params
    await requireComment(client, id, change_id)
    return work(client, id)
  })
}

const peopleOf = ({ author, resolved_by, mentions }: ChangeComment) => [author, resolved_by, ...mentions]

async function withNames(client: Client, comment: ChangeComment) {
  return { ...comment, people: await actorNames(client, peopleOf(comment)) }
}

function statuses(list: string): ChangeStatus[] {
  const asked = list.split(',').map((status) => status.trim())
  const unknown = asked.find((status) => !CHANGE_STATUSES.includes(status as ChangeStatus))
  if (unknown === undefined) return asked as ChangeStatus[]
  const reason = `querystring/status must be of ${CHANGE_STATUSES.join(', ')}, and ${unknown || 'an empty one'} is not`
  throw new StagedoorError('request_invalid', { reason })
}

/** Routes with `:id` of an upload or a record: the number of its change (`128`, `%23128`) will do. Called before they are registered. */
export function acceptChangeNumbers(fastify: FastifyInstance, ...kinds: readonly ChangeKind[]): void {
  fastify.addHook('preValidation', async (request) => {
    const params = request.params as { id?: string } | null
    if (params?.id === undefined || !CHANGE_NUMBER.test(params.id)) return
    const { number, kind, subject_id } = await request.transaction((client) =>
      requireChange(client, params.id!),
    )
    if (!kinds.includes(kind))
      throw new StagedoorError('not_found', {
        what: `${kinds[0]} #${number}: it is a change of kind ${kind}`,
      })
    params.id = subject_id
  })
}
