/** Review policies of a workspace, and the groups of members that they ask for. Thin over the SQL functions, which hold every rule. */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import {
  BigCount,
  columnsOf,
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  Type,
  Uuid,
} from '../kernel/schema.ts'

export const POLICY_KINDS = ['upload', 'record', 'cut', 'sql'] as const
export type PolicyKind = (typeof POLICY_KINDS)[number]

const Approvals = Type.Integer({ minimum: 0, maximum: 20 })
const Groups = Type.Array(Type.String({ maxLength: 63 }), {
  maxItems: 20,
  description: 'at least one approval of each',
})

export const ReviewConditions = shape(
  'ReviewConditions',
  {
    rows_over: Type.Optional(Type.Integer({ minimum: 0, description: 'rows that are written or deleted' })),
    share_changed_over: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'of the existing rows that change, 0 to 1' }),
    ),
    deletes_over: Type.Optional(Type.Integer({ minimum: 0 })),
    columns: Type.Optional(
      Type.Array(Type.String({ maxLength: 63 }), {
        minItems: 1,
        maxItems: 100,
        description: 'one of these is changed',
      }),
    ),
    amount_over: Type.Optional(
      Type.Object(
        { column: Type.String({ maxLength: 63 }), limit: Type.Number({ minimum: 0 }) },
        { description: 'the sum of all differences of a column, whatever their sign' },
      ),
    ),
    outside_hours: Type.Optional(
      Type.Object(
        {
          time_zone: Type.String({ maxLength: 64, examples: ['Europe/Berlin'] }),
          from: Type.String({ maxLength: 5, examples: ['08:00'] }),
          to: Type.String({ maxLength: 5, examples: ['18:00'] }),
          days: Type.Optional(
            Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
              maxItems: 7,
              description: 'working days, 1 is Monday; default 1 to 5',
            }),
          ),
        },
        { description: 'when it is approved or promoted' },
      ),
    ),
    first_upload_of_source: Type.Optional(
      Type.Boolean({ description: 'nothing of this dataset, platform and client was promoted before' }),
    ),
  },
  { description: 'all of them hold' },
)

export const ReviewRules = shape('ReviewRules', {
  base: Type.Object(
    {
      approvals: Approvals,
      roles: Type.Optional(
        Type.Array(Type.String({ maxLength: 63 }), {
          maxItems: 10,
          description: 'only approvals of these roles count; default: of everybody who may review',
        }),
      ),
      groups: Type.Optional(Groups),
    },
    { description: 'what every change needs' },
  ),
  raise: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.Optional(Type.String({ maxLength: 100 })),
        when: ReviewConditions,
        approvals: Type.Optional(Approvals),
        groups: Type.Optional(Groups),
      }),
      { maxItems: 50, description: 'what it needs besides, where the conditions hold' },
    ),
  ),
  keep_approvals_when_unchanged: Type.Optional(
    Type.Boolean({ description: 'a plan that is made again and writes the same keeps its approvals' }),
  ),
  trust_back_end: Type.Optional(
    Type.Boolean({
      description:
        'approvals that back-end code gives for members count as theirs; default: back-end code is one party. Only a person turns it on',
    }),
  ),
})
export type ReviewRules = Row<typeof ReviewRules>

export const ReviewPolicy = shape('ReviewPolicy', {
  policy_id: Uuid,
  workspace_id: Uuid,
  dataset: nullable(Type.String({ description: 'null: of all' })),
  kind: nullable(Type.Enum([...POLICY_KINDS], { description: 'null: of all' })),
  rules: ReviewRules,
  revision: Type.Integer(),
  set_by: Text,
  set_at: Timestamp,
  warnings: Type.Array(Text, { description: 'what is wrong with it since: a column that it names is gone' }),
})
export type ReviewPolicy = Row<typeof ReviewPolicy>

/** What a policy is for: a dataset, a kind of change, both or everything in the workspace. */
export interface PolicyScope {
  readonly workspaceId: string
  readonly dataset?: string | undefined
  readonly kind?: PolicyKind | undefined
}

/** The most specific first, as they apply. */
export async function listReviewPolicies(db: Queryable, workspaceId?: string): Promise<ReviewPolicy[]> {
  const { rows } = await db.query<ReviewPolicy>(
    `select ${columnsOf(ReviewPolicy, { as: { warnings: 'iu_core.fn_review_policy_warnings(policy_id)' } })}
       from iu_core.review_policy where $1::uuid is null or workspace_id = $1
      order by workspace_id, dataset nulls last, kind nulls last`,
    [workspaceId ?? null],
  )
  return rows
}

export async function requireReviewPolicy(
  db: Queryable,
  { workspaceId, dataset, kind }: PolicyScope,
): Promise<ReviewPolicy> {
  const found = (await listReviewPolicies(db, workspaceId)).find(
    (one) => one.dataset === (dataset ?? null) && one.kind === (kind ?? null),
  )
  if (found) return found
  throw new StagedoorError('review_policy_not_found', {
    what: `review policy ${scopeText({ dataset, kind })}`,
  })
}

/** `for the dataset ads`, `for changes of the kind record`, `for the workspace`. */
export function scopeText({
  dataset,
  kind,
}: {
  readonly dataset?: string | null | undefined
  readonly kind?: string | null | undefined
}): string {
  if (dataset != null) return `for the dataset ${dataset}`
  return kind == null ? 'for the workspace' : `for changes of the kind ${kind}`
}

export interface PolicyEdit {
  /** For the audit. */
  readonly reason?: string | undefined
  /** The revision that was read, 0 for none: another one is refused (`review_policy_changed`). Without it nothing is compared. */
  readonly revision?: number | undefined
}

/** Replaces the policy of this scope. What was approved under the old one and is not under this waits for approval again. */
export async function setReviewPolicy(
  db: Queryable,
  scope: PolicyScope,
  rules: unknown,
  { reason, revision }: PolicyEdit = {},
): Promise<ReviewPolicy> {
  await db.query('select iu_core.fn_review_policy_set($1, $2, $3, $4, $5, $6)', [
    ...scopeValues(scope),
    JSON.stringify(rules),
    reason ?? null,
    revision ?? null,
  ])
  return requireReviewPolicy(db, scope)
}

export async function removeReviewPolicy(
  db: Queryable,
  scope: PolicyScope,
  { reason, revision }: PolicyEdit = {},
): Promise<void> {
  await db.query('select iu_core.fn_review_policy_remove($1, $2, $3, $4, $5)', [
    ...scopeValues(scope),
    reason ?? null,
    revision ?? null,
  ])
}

function scopeValues({ workspaceId, dataset, kind }: PolicyScope) {
  return [workspaceId, dataset ?? null, kind ?? null]
}

export const ReviewNeeds = shape('ReviewNeeds', {
  approvals: Approvals,
  roles: Type.Array(Text, {
    description: 'only approvals of these count; empty: of everybody who may review',
  }),
  groups: Type.Array(Text),
  rules: Type.Array(Type.Object({ name: TextOrNull, why: Text }), {
    description: 'rules that apply, and why',
  }),
})
export type ReviewNeeds = Row<typeof ReviewNeeds>

export const PolicyPreview = shape('PolicyPreview', {
  revision: Type.Integer({ description: 'of the policy that is set; 0: none is' }),
  changes: Type.Array(
    Type.Object({
      number: Type.Integer(),
      title: Text,
      kind: Type.Enum([...POLICY_KINDS]),
      dataset: TextOrNull,
      status: Text,
      opened_at: Timestamp,
      needs: ReviewNeeds,
      would_need: ReviewNeeds,
      rows_known: Type.Boolean({
        description:
          'false: the rows of its plan are no longer kept, so conditions on columns and amounts cannot hold',
      }),
    }),
    { description: 'the newest first, with what each needs now and what these rules would ask for' },
  ),
  other_policy: Type.Integer({
    description:
      'how many of the last changes a more specific policy decides on, which these rules leave alone',
  }),
})
export type PolicyPreview = Row<typeof PolicyPreview>

export const MAX_PREVIEW_CHANGES = 100
export const PREVIEW_CHANGES = 20

/** What the last changes would have needed under these rules. Writes nothing. */
export async function previewReviewPolicy(
  db: Queryable,
  scope: PolicyScope,
  rules: unknown,
  { limit = PREVIEW_CHANGES }: { readonly limit?: number | undefined } = {},
): Promise<PolicyPreview> {
  const { rows } = await db.query<{ preview: PolicyPreview }>(
    'select iu_core.fn_review_policy_preview($1, $2, $3, $4, $5) as preview',
    [...scopeValues(scope), JSON.stringify(rules), limit],
  )
  return rows[0]!.preview
}

export const PolicyAuditEntry = shape('PolicyAuditEntry', {
  audit_id: BigCount,
  what: Type.Enum(['policy', 'group', 'member']),
  old_row: nullable(JsonObject),
  new_row: nullable(JsonObject),
  actor: Text,
  reason: TextOrNull,
  changed_at: Timestamp,
})
export type PolicyAuditEntry = Row<typeof PolicyAuditEntry>

/** Who changed which policy or group, from what to what; newest first. */
export async function listPolicyHistory(
  db: Queryable,
  workspaceId: string,
  page: { readonly limit: number; readonly after?: string | undefined },
): Promise<PolicyAuditEntry[]> {
  const { rows } = await db.query<PolicyAuditEntry>(
    `select ${columnsOf(PolicyAuditEntry)} from iu_core.review_policy_audit
      where workspace_id = $1 and ($2::bigint is null or audit_id < $2) order by audit_id desc limit $3`,
    [workspaceId, page.after ?? null, page.limit],
  )
  return rows
}

// Groups.

export const MemberGroup = shape('MemberGroup', {
  group_name: Text,
  members: Type.Array(Text, { description: 'user ids' }),
  created_by: Text,
  created_at: Timestamp,
})
export type MemberGroup = Row<typeof MemberGroup>

export async function listGroups(db: Queryable, workspaceId: string): Promise<MemberGroup[]> {
  const members = `array(select m.member from iu_core.member_group_member m
    where (m.workspace_id, m.group_name) = (g.workspace_id, g.group_name) order by m.added_at, m.member)`
  const { rows } = await db.query<MemberGroup>(
    `select ${columnsOf(MemberGroup, { from: 'g', as: { members } })} from iu_core.member_group g
      where g.workspace_id = $1 order by lower(g.group_name)`,
    [workspaceId],
  )
  return rows
}

/** Adds the group where it is missing, and the member where one is named. */
export async function addToGroup(
  db: Queryable,
  workspaceId: string,
  group: string,
  member?: string,
): Promise<MemberGroup> {
  const { rows } = await db.query<{ name: string }>('select iu_core.fn_group_add($1, $2, $3) as name', [
    workspaceId,
    group,
    member ?? null,
  ])
  return (await listGroups(db, workspaceId)).find(({ group_name }) => group_name === rows[0]!.name)!
}

/** Removes a member, or the whole group where none is named. */
export async function removeFromGroup(
  db: Queryable,
  workspaceId: string,
  group: string,
  member?: string,
): Promise<void> {
  await db.query('select iu_core.fn_group_remove($1, $2, $3)', [workspaceId, group, member ?? null])
}
