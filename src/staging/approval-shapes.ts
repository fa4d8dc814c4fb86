/** Requests for approval and their kinds, as they are answered everywhere: each shape stated once. */
import {
  Digest,
  IntegerOrNull,
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

export const APPROVAL_STATUSES = [
  'waiting',
  'approved',
  'rejected',
  'changes_requested',
  'expired',
  'withdrawn',
] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

export const FIELD_TYPES = ['text', 'number', 'boolean', 'choice', 'date'] as const

const When = Type.String({ format: 'date-time' })
const WhenOrNull = nullable(When)

/** One field that a reviewer fills in. */
export const FormField = shape(
  'FormField',
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }),
    type: Type.Enum([...FIELD_TYPES]),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    required: Type.Optional(Type.Boolean()),
    choices: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description: 'of a choice',
      }),
    ),
    min: Type.Optional(Type.Number({ description: 'of a number, or of the length of a text' })),
    max: Type.Optional(Type.Number()),
  },
  { additionalProperties: false },
)
export type FormField = Row<typeof FormField>

/** It only adds to the review policy of the workspace. */
export const RequestPolicy = shape(
  'RequestPolicy',
  {
    approvals: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    groups: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
        maxItems: 10,
        description: 'each must have approved',
      }),
    ),
  },
  { additionalProperties: false },
)
export type RequestPolicy = Row<typeof RequestPolicy>

export const ApprovalDecision = shape('ApprovalDecision', {
  verdict: Type.Enum(['approve', 'request_changes', 'reject', 'withdraw']),
  by: Text,
  via: TextOrNull,
  at: When,
  comment: TextOrNull,
})

export const Approval = shape('Approval', {
  approval_id: Uuid,
  workspace_id: Uuid,
  change: nullable(Type.Integer({ description: 'number of its change: #128' })),
  key: Text,
  title: Text,
  kind: TextOrNull,
  kind_revision: IntegerOrNull,
  form: Type.Array(FormField),
  policy: RequestPolicy,
  digest: Digest,
  status: Type.Enum([...APPROVAL_STATUSES], {
    description: 'only approved is consent: a request that nobody answered has expired',
  }),
  decided: Type.Boolean({ description: 'false: it waits' }),
  requested_by: Text,
  requested_via: TextOrNull,
  requested_at: When,
  expires_at: When,
  approved_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'by everybody whom it needed; one that is expired was approved then, and not used in time',
    }),
  ),
  decided_at: WhenOrNull,
  decisions: Type.Array(ApprovalDecision, { description: 'who decided what, when and why' }),
  answers: nullable(Type.Record(Text, Type.Unknown(), { description: 'what was filled in' })),
  run: nullable(
    shape('ApprovalRun', {
      run_id: Uuid,
      by: Text,
      status: Type.Enum(['running', 'applied', 'failed'], {
        description: 'running and nothing more: it runs, or its process has died',
      }),
      started_at: When,
      finished_at: WhenOrNull,
      error: TextOrNull,
    }),
  ),
  summary: nullable(Type.String({ description: 'while it waits: what is missing' })),
})
export type Approval = Row<typeof Approval>

export const ApprovalKind = shape('ApprovalKind', {
  workspace_id: Uuid,
  kind: Text,
  revision: Type.Integer(),
  description: TextOrNull,
  schema: JsonObject,
  template: TextOrNull,
  created_by: Text,
  created_via: TextOrNull,
  created_at: Timestamp,
})
export type ApprovalKind = Row<typeof ApprovalKind>
