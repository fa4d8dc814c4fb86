/** Review policies and groups of a workspace: members read them, its administrators change them. */
import { actorNames } from '../access/members.ts'
import {
  addToGroup,
  listGroups,
  listPolicyHistory,
  listReviewPolicies,
  MAX_PREVIEW_CHANGES,
  MemberGroup,
  POLICY_KINDS,
  PolicyAuditEntry,
  type PolicyKind,
  PolicyPreview,
  PREVIEW_CHANGES,
  previewReviewPolicy,
  ReviewPolicy,
  ReviewRules,
  removeFromGroup,
  removeReviewPolicy,
  setReviewPolicy,
} from '../changes/policies.ts'
import { Type } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { ActorNames } from './responses.ts'
import { Limit, listPage, page, Reason, routes, Workspace } from './routes.ts'

const scope = {
  workspace_id: Workspace,
  dataset: Type.Optional(Type.String({ maxLength: 63, description: 'default: of all' })),
  kind: Type.Optional(Type.Enum([...POLICY_KINDS], { description: 'default: of all' })),
}

const Revision = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    description:
      'of the policy that was read, 0 for none: if it is another one by now, 409 `review_policy_changed`, and nothing is changed',
  }),
)

export const reviewPolicyRoutes = routes('review policies', (api) => {
  api.get('/', {
    operationId: 'listReviewPolicies',
    replica: true,
    summary: 'The review policies of a workspace, the most specific first, as they apply',
    query: { workspace_id: Workspace },
    answer: Type.Object({ policies: Type.Array(ReviewPolicy), people: ActorNames }),
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => {
        const policies = await listReviewPolicies(
          client,
          await workspaceOf(client, request.query.workspace_id),
        )
        const setters = policies.map(({ set_by }) => set_by)
        return { policies, people: await actorNames(client, setters) }
      }),
  })

  api.put('/', {
    operationId: 'setReviewPolicy',
    summary: 'Set the policy of a workspace, for a dataset or a kind of change',
    description:
      'For administrators. What was approved, and under this policy is not, waits for approval again. Audited.',
    body: { ...scope, rules: ReviewRules, reason: Reason, revision: Revision },
    example: {
      dataset: 'ads',
      rules: {
        base: { approvals: 1 },
        raise: [{ name: 'large', when: { rows_over: 10_000 }, approvals: 2, groups: ['Finance'] }],
      },
    },
    answer: ReviewPolicy,
    problems: [403, 409],
    handle: (request) => {
      const { workspace_id, dataset, kind, rules, reason, revision } = request.body
      return request.decide(async (client) => {
        const workspaceId = await workspaceOf(client, workspace_id)
        const edit = { reason, revision }
        return setReviewPolicy(client, { workspaceId, dataset, kind: kind as PolicyKind }, rules, edit)
      })
    },
  })

  api.post('/preview', {
    operationId: 'previewReviewPolicy',
    summary: 'What the last changes would have needed under these rules; nothing is changed',
    description:
      'For administrators. A change that was promoted is judged as of that moment. Changes that a more specific policy decides on are counted, not judged.',
    body: {
      ...scope,
      rules: ReviewRules,
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: MAX_PREVIEW_CHANGES, default: PREVIEW_CHANGES }),
      ),
    },
    example: {
      dataset: 'ads',
      rules: { base: { approvals: 1 }, raise: [{ when: { deletes_over: 0 }, approvals: 2 }] },
    },
    answer: PolicyPreview,
    problems: [403],
    handle: (request) => {
      const { workspace_id, dataset, kind, rules, limit } = request.body
      return request.transaction(async (client) => {
        const workspaceId = await workspaceOf(client, workspace_id)
        return previewReviewPolicy(client, { workspaceId, dataset, kind: kind as PolicyKind }, rules, {
          limit,
        })
      })
    },
  })

  api.delete('/', {
    operationId: 'removeReviewPolicy',
    summary: 'Remove a policy; the next less specific one applies. For administrators',
    query: { ...scope, reason: Reason, revision: Revision },
    problems: [403, 404, 409],
    handle: (request) => {
      const { workspace_id, dataset, kind, reason, revision } = request.query
      return request.decide(async (client) => {
        const workspaceId = await workspaceOf(client, workspace_id)
        const edit = { reason, revision }
        await removeReviewPolicy(client, { workspaceId, dataset, kind: kind as PolicyKind }, edit)
      })
    },
  })

  api.get('/history', {
    operationId: 'listReviewPolicyHistory',
    replica: true,
    summary: 'Who changed which policy or group, from what to what; newest first',
    query: {
      workspace_id: Workspace,
      limit: Limit,
      after: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,18}$', description: 'the `next` of the page before' }),
      ),
    },
    answer: page('entries', PolicyAuditEntry, { people: ActorNames }),
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => {
        const workspaceId = await workspaceOf(client, request.query.workspace_id)
        const list = await listPage(request.query, 'entries', 'audit_id', ({ limit, after }) =>
          listPolicyHistory(client, workspaceId, { limit, after }),
        )
        const actors = list.entries.map(({ actor }) => actor)
        return { ...list, people: await actorNames(client, actors) }
      }),
  })
})

const GroupName = Type.String({ minLength: 1, maxLength: 63, examples: ['Finance'] })
const ofGroup = { group: GroupName }
const ofMember = { group: GroupName, member: Type.String({ minLength: 1, maxLength: 255 }) }

export const groupRoutes = routes('groups', (api) => {
  api.get('/', {
    operationId: 'listGroups',
    replica: true,
    summary: 'The groups of a workspace and their members',
    query: { workspace_id: Workspace },
    answer: Type.Object({ groups: Type.Array(MemberGroup), people: ActorNames }),
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => {
        const groups = await listGroups(client, await workspaceOf(client, request.query.workspace_id))
        const members = groups.flatMap((group) => group.members)
        return { groups, people: await actorNames(client, members) }
      }),
  })

  api.put('/:group', {
    operationId: 'addGroup',
    summary: 'Add a group, without members; for administrators',
    params: ofGroup,
    query: { workspace_id: Workspace },
    answer: MemberGroup,
    problems: [403],
    handle: (request) =>
      request.decide(async (client) =>
        addToGroup(client, await workspaceOf(client, request.query.workspace_id), request.params.group),
      ),
  })

  api.put('/:group/members/:member', {
    operationId: 'addGroupMember',
    summary: 'Add a member to a group, which is added where it is missing; for administrators',
    params: ofMember,
    query: { workspace_id: Workspace },
    answer: MemberGroup,
    problems: [403],
    handle: (request) =>
      request.decide(async (client) => {
        const workspace = await workspaceOf(client, request.query.workspace_id)
        return addToGroup(client, workspace, request.params.group, request.params.member)
      }),
  })

  api.delete('/:group', {
    operationId: 'removeGroup',
    summary: 'Remove a group that no policy asks for; for administrators',
    params: ofGroup,
    query: { workspace_id: Workspace },
    problems: [403, 404],
    handle: (request) =>
      request.decide(async (client) =>
        removeFromGroup(client, await workspaceOf(client, request.query.workspace_id), request.params.group),
      ),
  })

  api.delete('/:group/members/:member', {
    operationId: 'removeGroupMember',
    summary: 'Remove a member from a group; approvals that counted for it no longer do. For administrators',
    params: ofMember,
    query: { workspace_id: Workspace },
    problems: [403, 404],
    handle: (request) =>
      request.decide(async (client) => {
        const workspace = await workspaceOf(client, request.query.workspace_id)
        await removeFromGroup(client, workspace, request.params.group, request.params.member)
      }),
  })
})
