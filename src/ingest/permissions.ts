/** What the caller may do with an upload now, and if not, why and what to do. For buttons: the database decides. */

import type { CallerRights } from '../gates/caller-rights.ts'
import { WRITES_GATE } from '../gates/gates.ts'
import { type Row, shape, Type } from '../kernel/schema.ts'
import type { Upload } from './shapes.ts'

const Permission = shape('UploadPermission', {
  allowed: Type.Boolean(),
  why: Type.Optional(Type.String({ description: 'why not, and what to do' })),
})
type Permission = Row<typeof Permission>

export const UploadPermissions = shape(
  'UploadPermissions',
  {
    repair: Permission,
    plan: Permission,
    submit: Permission,
    approve: Permission,
    reject: Permission,
    promote: Permission,
    undo: Permission,
    discard: Permission,
    retry: Permission,
  },
  { description: 'what you may do with it now' },
)

/** Of the staging record on which a second person decides. */
export interface Review {
  readonly four_eyes: boolean
  readonly owner_actor: string
  readonly owner_via: string | null
  /** What the review policy asks for, and who has approved. */
  readonly standing?:
    | {
        readonly summary: string
        readonly reviews: readonly { readonly reviewer: string }[]
        readonly blocked_by: readonly { readonly reviewer: string }[]
      }
    | undefined
}

/** An undo is decided as an approval is: by a person who may review. */
function undoNeedsReviewer(reviewers: readonly string[]): string {
  const some = reviewers.slice(0, 3)
  if (reviewers.length > some.length) some.push(`${reviewers.length - some.length} more`)
  const who = some.length < 2 ? some.join('') : `${some.slice(0, -1).join(', ')} and ${some.at(-1)}`
  const have = who === '' ? '' : `, which ${who} ${reviewers.length === 1 ? 'has' : 'have'}`
  return `An undo needs the right to review in this workspace${have}. Ask for the undo.`
}

export function uploadPermissions(
  upload: Upload,
  review: Review | undefined,
  caller: CallerRights,
  /** What people call those who may review, for whoever may not. */
  reviewers: readonly string[] = [],
): Row<typeof UploadPermissions> {
  const may = (...reasons: (string | false)[]) =>
    firstOf(caller.readOnly && 'This token can only read. Sign in with one that can write.', ...reasons)
  const right = (name: string) =>
    !caller.rights.includes(name) &&
    `You do not have the right to ${name} in this workspace. Ask an administrator of it.`
  const gate = !caller.gateOpen && `The gate ${WRITES_GATE} is closed. An administrator opens it.`
  const open = notIn(upload, ['staged', 'planned'])
  const planned = notIn(upload, ['planned'])
  const pending =
    upload.review_status !== 'pending' && `${undecidable(upload)} There is nothing to decide until then.`
  return {
    repair: may(right('stage'), open, gate),
    plan: may(right('stage'), open, gate),
    submit: may(right('stage'), planned, refusalReason(upload), submittedReason(upload), gate),
    approve: may(
      right('review'),
      planned,
      refusalReason(upload),
      pending,
      ownWork(upload, review, caller),
      hasApproved(review, caller),
      gate,
    ),
    reject: may(right('review'), planned, pending, gate),
    promote: may(right('operate'), planned, refusalReason(upload), unapprovedReason(upload, review), gate),
    undo: may(
      notIn(upload, ['promoted']),
      undoOver(upload),
      !caller.rights.includes('review') && undoNeedsReviewer(reviewers),
      gate,
    ),
    discard: may(right('stage'), notIn(upload, ['reading', 'staged', 'planned', 'failed'])),
    retry: may(
      right('stage'),
      notIn(upload, ['failed']),
      upload.file_kept_until === null && INSTEAD.failed,
      gate,
    ),
  }
}

/** The first reason counts. */
function firstOf(...reasons: (string | false)[]): Permission {
  const why = reasons.find((reason) => reason !== false)
  return why === undefined ? { allowed: true } : { allowed: false, why }
}

const INSTEAD: Record<Upload['status'], string> = {
  reading: 'The file is still being read. Wait until it is done, or discard it.',
  staged: 'It has no plan yet. Plan it first.',
  planned: 'It was not promoted yet. Discard it, if it is not wanted.',
  promoted: 'It was promoted already. Undo it, or upload a corrected file.',
  undone: 'It was promoted and undone. Upload the file again.',
  failed: 'The file could not be read. Correct it and upload it again.',
  discarded: 'It was discarded. Upload the file again.',
  expired: 'It expired. Upload the file again.',
}

function notIn(upload: Upload, states: readonly Upload['status'][]): string | false {
  return !states.includes(upload.status) && INSTEAD[upload.status]
}

function refusalReason({ plan_refusal, run_mode }: Upload): string | false {
  if (plan_refusal === null) return false
  if (run_mode === 'FULL_DRY_RUN') return 'This is a dry run. Upload the file again without it to promote.'
  return `The plan cannot be promoted: ${plan_refusal}. Correct the lines, or plan it again.`
}

function submittedReason({ approval_required, review_status }: Upload): string | false {
  if (!approval_required) return 'It needs no approval. Promote it.'
  if (review_status === 'pending') return 'It waits for a decision already.'
  return review_status === 'approved' && 'It is approved already. Promote it.'
}

function undecidable({ approval_required, review_status }: Upload): string {
  if (!approval_required) return 'It needs no approval.'
  if (review_status === 'approved') return 'It is approved already. Plan it again to start a new review.'
  if (review_status === 'rejected') return 'It was rejected. Correct it, plan it and submit it again.'
  if (review_status === 'expired') return 'The review has expired. Submit the plan again.'
  return 'The plan was not submitted yet. Submit it first.'
}

function ownWork(upload: Upload, review: Review | undefined, { actor }: CallerRights): string | false {
  if (review?.four_eyes === false) return false
  if (upload.changed_by.includes(actor))
    return 'You put something into it yourself. Somebody else must decide.'
  return (
    [review?.owner_actor, review?.owner_via].includes(actor) &&
    'You submitted it yourself. Somebody else must decide.'
  )
}

function hasApproved(review: Review | undefined, { actor }: CallerRights): string | false {
  const { reviews = [], summary } = review?.standing ?? {}
  return (
    reviews.some(({ reviewer }) => reviewer === actor) &&
    `You have approved it: ${summary}. Somebody else must approve it, too.`
  )
}

function unapprovedReason(
  { approval_required, review_status }: Upload,
  review: Review | undefined,
): string | false {
  if (!approval_required || review_status === 'approved') return false
  const { reviews = [], blocked_by = [], summary } = review?.standing ?? {}
  if (review_status === 'pending' && reviews.length + blocked_by.length > 0)
    return `It is not approved yet: ${summary}.`
  if (review_status === 'pending') return 'Nobody has approved it yet. A second person must.'
  if (review_status === 'rejected') return 'It was rejected. Correct it, plan it and submit it again.'
  if (review_status === 'expired') return 'The review has expired. Submit the plan again.'
  return 'It needs the approval of a second person. Submit it first.'
}

function undoOver({ undo_until }: Upload): string | false {
  return (
    undo_until !== null &&
    undo_until.getTime() <= Date.now() &&
    `It could be undone until ${undo_until.toISOString()}. Upload a corrected file instead.`
  )
}
