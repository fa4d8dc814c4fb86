/** Approvals that programs ask for: request, wait, decide with a form, use once; and the kinds of what they show. */

import type { JsonObject } from '../kernel/json.ts'
import { JsonObject as AnyObject, Digest, shape, Text, Type, Uuid } from '../kernel/schema.ts'
import {
  deleteApprovalKind,
  listApprovalKinds,
  requireApprovalKind,
  setApprovalKind,
} from '../staging/approval-kinds.ts'
import {
  APPROVAL_STATUSES,
  Approval,
  ApprovalKind,
  FormField,
  RequestPolicy,
} from '../staging/approval-shapes.ts'
import {
  approveApproval,
  finishApproval,
  followApprovals,
  getApproval,
  listApprovals,
  requestApproval,
  useApproval,
  waitForApproval,
} from '../staging/approvals.ts'
import { workspaceOf } from './access.ts'
import { limitStreams } from './event-stream.ts'
import { After, Limit, listPage, page, routes, Workspace } from './routes.ts'
import type { ApiContext } from './server.ts'

const KindName = Type.String({ pattern: '^[a-z][a-z0-9_.:-]{0,62}$', examples: ['refund'] })
const MAX_WAIT_SECONDS = 60
const MAX_WAITS = 50
const answersApproval = { answer: Approval, problems: [403, 404, 409] } as const
const RequestedApproval = shape('RequestedApproval', {
  ...Approval.properties,
  created: Type.Boolean({ description: 'false: the key found this request' }),
})

export const approvalRoutes = ({ wakeups }: ApiContext) =>
  routes('approvals', (api) => {
    const signals = wakeups && followApprovals(wakeups)
    const waits = limitStreams(MAX_WAITS, 'requests for approval')
    const stopped = new AbortController()
    // A server that stops answers whoever waits: the client asks the next one.
    api.fastify.addHook('preClose', async () => stopped.abort())

    api.post('/', {
      operationId: 'requestApproval',
      summary: 'Ask people for an approval; the same key with the same content finds the request again',
      description:
        'What is shown becomes a staging record with a change. Reviewers decide in the console; whoever asked cannot. Wait with GET /approvals/{id}?wait=60.',
      body: {
        workspace_id: Workspace,
        key: Type.String({
          minLength: 1,
          maxLength: 500,
          description:
            'finds the request again, also after a crash; with other content 409 `staging_key_taken`',
        }),
        title: Type.String({ minLength: 1, maxLength: 200 }),
        show: Type.Unknown({ description: 'Markdown as a text, or JSON; numbers beyond 2^53 as texts' }),
        kind: Type.Optional(KindName),
        reviewers: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 20 })),
        groups: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 20 })),
        policy: Type.Optional(RequestPolicy),
        form: Type.Optional(Type.Array(FormField, { maxItems: 30 })),
        timeout: Type.Optional(
          Type.String({ maxLength: 20, examples: ['2d'], description: 'default 14 days' }),
        ),
      },
      example: { key: 'refund-1871', title: 'Refund of order 1871', show: { order: 1871, amount: '120.00' } },
      answer: RequestedApproval,
      status: 201,
      problems: [403, 404, 409],
      handle: (request) => {
        const { workspace_id, ...asked } = request.body
        return request.transaction(async (client) =>
          requestApproval(client, asked, { workspace: await workspaceOf(client, workspace_id) }),
        )
      },
    })

    api.get('/', {
      operationId: 'listApprovals',
      replica: true,
      summary: 'Requests for approval that you may see, newest first',
      query: {
        status: Type.Optional(Type.Enum([...APPROVAL_STATUSES])),
        kind: Type.Optional(KindName),
        key: Type.Optional(Type.String({ maxLength: 500 })),
        workspace_id: Type.Optional(Uuid),
        limit: Limit,
        after: After,
      },
      answer: page('approvals', Approval),
      handle: (request) =>
        listPage(request.query, 'approvals', 'approval_id', ({ workspace_id: workspace, ...filter }) =>
          request.transaction((client) => listApprovals(client, { ...filter, workspace })),
        ),
    })

    api.get('/:id', {
      operationId: 'getApproval',
      summary:
        'A request and what came of it; with `wait` it is answered when it is decided, or after so many seconds',
      query: {
        wait: Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0, description: 'seconds' }),
      },
      answer: Approval,
      problems: [404, 429],
      handle: async (request) => {
        const { id } = request.params
        const read = () => request.transaction((client) => getApproval(client, id))
        if (request.query.wait === 0) return read()
        const leave = waits.enter(request.principal!.subject)
        const gone = new AbortController()
        request.raw.once('close', () => gone.abort())
        const until = AbortSignal.any([
          gone.signal,
          stopped.signal,
          AbortSignal.timeout(request.query.wait * 1000),
        ])
        try {
          return await waitForApproval(id, { read, signals }, until)
        } finally {
          leave()
        }
      },
    })

    api.post('/:id/approve', {
      operationId: 'approveApproval',
      summary: 'Approve exactly what you saw, with the answers to its form',
      description:
        'Two people who approve give the same answers. To reject: POST /staging/{id}/reject; to request changes: POST /changes/{change}/review.',
      body: {
        digest: Digest,
        answers: Type.Optional(AnyObject),
        comment: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
      },
      ...answersApproval,
      handle: (request) =>
        request.decide((client) => approveApproval(client, request.params.id, request.body)),
    })

    api.post('/:id/use', {
      operationId: 'useApproval',
      summary: 'Use an approval, once: of two who try one gets the run, and then does what was approved',
      optionalBody: { digest: Type.Optional(Digest) },
      answer: Type.Object({ run_id: Uuid }),
      problems: [403, 404, 409],
      handle: async (request) => ({
        run_id: await request.transaction((client) =>
          useApproval(client, request.params.id, { digest: request.body?.digest }),
        ),
      }),
    })

    api.post('/:id/finish', {
      operationId: 'finishApproval',
      summary: 'Say how what was approved ended',
      optionalBody: {
        error: Type.Optional(Type.String({ minLength: 1, maxLength: 2000, description: 'it failed' })),
      },
      ...answersApproval,
      handle: (request) =>
        request.transaction(async (client) => {
          await finishApproval(client, request.params.id, { error: request.body?.error })
          return getApproval(client, request.params.id)
        }),
    })
  })

export const kindRoutes = routes('approvals', (api) => {
  const ofKind = { kind: KindName }
  const inWorkspace = { workspace_id: Workspace }

  api.get('/', {
    operationId: 'listApprovalKinds',
    replica: true,
    summary: 'What programs of a workspace may show for approval',
    query: inWorkspace,
    answer: Type.Object({ kinds: Type.Array(ApprovalKind) }),
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => ({
        kinds: await listApprovalKinds(client, await workspaceOf(client, request.query.workspace_id)),
      })),
  })

  api.post('/', {
    operationId: 'createApprovalKind',
    summary: 'Create a kind, or with `replace` its next revision; for administrators',
    body: {
      workspace_id: Workspace,
      kind: KindName,
      schema: Type.Record(Text, Type.Unknown(), { description: 'JSON Schema 2020-12' }),
      template: Type.Optional(
        Type.String({ minLength: 1, maxLength: 65_536, description: 'Markdown with {{path}}' }),
      ),
      description: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
      replace: Type.Boolean({ default: false }),
    },
    example: {
      kind: 'refund',
      schema: { required: ['order'], maxProperties: 10 },
      template: '## Refund of order {{order}}',
    },
    answer: ApprovalKind,
    status: 201,
    problems: [403, 409],
    handle: (request) => {
      const { workspace_id, schema, ...kind } = request.body
      return request.decide(async (client) =>
        setApprovalKind(client, await workspaceOf(client, workspace_id), {
          ...kind,
          schema: schema as JsonObject,
        }),
      )
    },
  })

  api.get('/:kind', {
    operationId: 'getApprovalKind',
    replica: true,
    summary: 'A kind with its schema and its template',
    params: ofKind,
    query: inWorkspace,
    answer: ApprovalKind,
    problems: [403, 404],
    handle: (request) =>
      request.transaction(async (client) =>
        requireApprovalKind(
          client,
          await workspaceOf(client, request.query.workspace_id),
          request.params.kind,
        ),
      ),
  })

  api.delete('/:kind', {
    operationId: 'deleteApprovalKind',
    summary: 'Delete a kind: no new requests of it; for administrators',
    params: ofKind,
    query: inWorkspace,
    problems: [403, 404],
    handle: (request, reply) =>
      request.decide(async (client) => {
        const workspace = await workspaceOf(client, request.query.workspace_id)
        await deleteApprovalKind(client, workspace, request.params.kind)
        return reply.send()
      }),
  })
})
