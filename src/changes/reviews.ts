/** Reviews of a change: who approved or asked for changes, what the policy asks for, and what is missing. */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import {
  columnsOf,
  IntegerOrNull,
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  Uuid,
  UuidOrNull,
} from '../kernel/schema.ts'

export const VERDICTS = ['approve', 'request_changes', 'comment', 'withdraw'] as const
export type Verdict = (typeof VERDICTS)[number]

const When = Type.String({ format: 'date-time' })

export const ReviewStanding = shape('ReviewStanding', {
  change: Type.Integer({ description: 'number of the change' }),
  digest: TextOrNull,
  policy: nullable(
    shape('AppliedPolicy', {
      policy_id: Uuid,
      revision: Type.Integer(),
      dataset: TextOrNull,
      kind: TextOrNull,
    }),
  ),
  approvals: Type.Integer({ description: 'how many it needs now' }),
  roles: Type.Array(Text, { description: 'whose approvals count; empty: of everybody who may review' }),
  groups: Type.Array(Text, { description: 'each must have approved' }),
  rules: Type.Array(
    shape('AppliedRule', {
      name: TextOrNull,
      why: Text,
      approvals: IntegerOrNull,
      groups: Type.Array(Text),
    }),
    { description: 'the rules of the policy that raised it, and why' },
  ),
  keep_approvals_when_unchanged: Type.Boolean(),
  counted: Type.Integer({ description: 'how many approvals count' }),
  reviews: Type.Array(
    shape('StandingApproval', {
      review_id: UuidOrNull,
      reviewer: Text,
      role: TextOrNull,
      at: When,
      counts: Type.Boolean(),
      groups: Type.Array(Text),
      reason: nullable(Type.String({ description: 'why it does not count' })),
    }),
  ),
  missing: Type.Object({ approvals: Type.Integer(), groups: Type.Array(Text) }),
  blocked_by: Type.Array(shape('RequestedChanges', { review_id: Uuid, reviewer: Text, at: When }), {
    description: 'requested changes that stand',
  }),
  met: Type.Boolean(),
  summary: Type.String({ examples: ['1 of 2 approvals; still needed: group Finance'] }),
})
export type ReviewStanding = Row<typeof ReviewStanding>

export const ChangeReview = shape('ChangeReview', {
  review_id: Uuid,
  digest: Type.String({ description: 'what the reviewer saw' }),
  stands_for: Type.String({ description: 'what it counts for' }),
  verdict: Type.Enum(['approve', 'request_changes', 'comment']),
  reviewer: Text,
  via: TextOrNull,
  role: TextOrNull,
  body_comment_id: UuidOrNull,
  requirement: nullable(JsonObject),
  at: Timestamp,
  dismissed_at: TimestampOrNull,
  dismissed_by: TextOrNull,
  dismissed_reason: TextOrNull,
})
export type ChangeReview = Row<typeof ChangeReview>

export interface NewReview {
  readonly verdict: Verdict
  /** Of what the reviewer saw; not needed to comment or withdraw. */
  readonly digest?: string | undefined
  /** A comment. Needed to request changes. */
  readonly body?: string | undefined
  /** Items of the checklist that were looked at. */
  readonly ticked?: readonly string[] | undefined
  /** For the back end, which reviews for somebody. */
  readonly by?: string | undefined
}

/** Returns how the change stands after it. */
export async function reviewChange(
  db: Queryable,
  changeId: string,
  review: NewReview,
): Promise<ReviewStanding> {
  const { rows } = await db.query<{ standing: ReviewStanding }>(
    'select iu_core.fn_change_review($1, $2, $3, $4, $5, $6) as standing',
    [
      changeId,
      review.verdict,
      review.digest ?? null,
      review.body ?? null,
      review.ticked ?? [],
      review.by ?? null,
    ],
  )
  return rows[0]!.standing
}

/** For administrators of the workspace. */
export async function dismissReview(
  db: Queryable,
  reviewId: string,
  reason: string,
  by?: string,
): Promise<ReviewStanding> {
  const { rows } = await db.query<{ standing: ReviewStanding }>(
    'select iu_core.fn_change_review_dismiss($1, $2, $3) as standing',
    [reviewId, reason, by ?? null],
  )
  return rows[0]!.standing
}

/** Oldest first, dismissed ones too. */
export async function listReviews(db: Queryable, changeId: string): Promise<ChangeReview[]> {
  const { rows } = await db.query<ChangeReview>(
    `select ${columnsOf(ChangeReview)} from iu_core.change_review where change_id = $1 order by review_id limit 1000`,
    [changeId],
  )
  return rows
}

/** Everybody who approved one of these uploads or records, for their names. */
export async function listApprovers(db: Queryable, subjects: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ reviewer: string }>(
    `select distinct a ->> 'reviewer' as reviewer
       from unnest($1::uuid[]) s, jsonb_array_elements(iu_core.fn_change_approvers(s)) a`,
    [[...new Set(subjects)]],
  )
  return rows.map(({ reviewer }) => reviewer)
}

export async function readStanding(db: Queryable, changeId: string): Promise<ReviewStanding> {
  const { rows } = await db.query<{ standing: ReviewStanding }>(
    'select iu_core.fn_review_requirement($1) as standing',
    [changeId],
  )
  return rows[0]!.standing
}

/** Of the change of an upload, of its review package or of a record; undefined: it has none. */
export async function findStandingOf(db: Queryable, subjectId: string): Promise<ReviewStanding | undefined> {
  const { rows } = await db.query<{ standing: ReviewStanding }>(
    `select iu_core.fn_review_requirement(change_id) as standing from iu_core.change
      where subject_id in ($1, (select s.upload_id from iu_core.ingest_submission s where s.staging_record_id = $1))`,
    [subjectId],
  )
  return rows[0]?.standing
}

export async function requireReview(
  db: Queryable,
  changeId: string,
  reviewId: string,
): Promise<ChangeReview> {
  const found = (await listReviews(db, changeId)).find(({ review_id }) => review_id === reviewId)
  if (found) return found
  throw new StagedoorError('not_found', { what: `review ${reviewId} of this change` })
}
