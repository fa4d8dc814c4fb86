/** What to do next with an upload, and why it is not promoted, each with the exact command. */
import type { AppRole } from '../access/members.ts'
import { OWN_TOTALS_DISAGREE, OWN_TOTALS_HINT } from '../ingest/plan.ts'
import type { Snapshot, Upload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { formatDate, joinWords } from './format.ts'
import type { SessionOptions } from './session.ts'
import type { NextStep } from './terminal.ts'
import { refusedByTable, refusedText } from './upload-totals.ts'

/** Who uses the command line. */
export type UploadActor = Pick<SessionOptions, 'as' | 'user'>

interface UploadContext {
  readonly upload: Upload
  /** A database of the user's own, where people decide with their own tokens. */
  readonly external: boolean
}

export function uploadNextSteps({ upload, external }: UploadContext, actor: UploadActor): NextStep[] {
  const { upload_id: id, status, undo_until, invalid_count } = upload
  /** `verb` of the upload: what everybody may read. */
  const read = (what: string, verb: string, options = ''): NextStep => [
    what,
    `stagedoor upload ${verb} ${id}${options}`,
  ]
  const change = (what: string, verb: string, options = ''): NextStep =>
    read(what, verb, options + actorFlag(actor, external))
  const plan = change('Plan what it would change', 'plan')
  const changes = read('See every change', 'plan', ' --rows')
  switch (status) {
    case 'reading':
      return [read('It is still being read; see how far it is', 'show')]
    case 'staged':
      return invalid_count ? [read('See what is wrong', 'problems'), plan] : [plan]
    case 'planned':
      return upload.plan_refusal === null ? afterPlan() : afterRefusal()
    case 'promoted':
      return afterPromotion()
    case 'failed':
      return [change('Remove it from the list', 'discard')]
    default:
      return []
  }

  function afterPromotion(): NextStep[] {
    const refused = refusedByTable(upload)
    const problems = refused > 0 ? [read(`${refusedText(refused)}; see why`, 'problems')] : []
    if (!undo_until || undo_until <= new Date()) return problems
    const undo = read(`Undo it, until ${formatDate(undo_until)}`, 'undo', external ? '' : ' --as reviewer')
    return [...problems, undo]
  }

  function afterPlan(): NextStep[] {
    const stale = read('See what somebody changed since it was planned', 'plan', ' --stale')
    if (upload.outdated === 'outdated')
      return [stale, upload.proposal ? again() : change('Plan it again', 'plan', ' --again')]
    return upload.outdated ? [stale, ...decisions()] : decisions()
  }

  function again(): NextStep {
    return ['Propose it again', `stagedoor propose --again ${id}${actorFlag(actor, external)}`]
  }

  function decisions(): NextStep[] {
    switch (upload.review_status) {
      case 'not_submitted':
        return [changes, change('Submit it for approval', 'submit')]
      case 'pending':
        return [['A colleague reviews it and decides', approvalCommand({ upload, external })]]
      case 'rejected':
        return [
          ...(upload.proposal ? [] : [change('Correct a line', 'repair', ' --line N --set "Header=value"')]),
          change('Or submit it once more', 'submit'),
        ]
      case 'expired':
        return [
          change(
            `${upload.approved_at ? 'It was approved and not promoted' : 'Nobody decided'} in time; submit it once more`,
            'submit',
          ),
        ]
      default:
        return [
          changes,
          change(
            lastFailure(upload) ? 'Try again to bring it into the tables' : 'Bring it into the tables',
            'promote',
          ),
        ]
    }
  }

  function afterRefusal(): NextStep[] {
    if (upload.run_mode === 'FULL_DRY_RUN')
      return [read('See every change that it would make', 'plan', ' --rows')]
    const { plan_snapshot: snapshot } = upload
    if (!invalid_count && snapshot && (snapshot.deleted > 0 || snapshot.too_short))
      return [
        ...(snapshot.deleted > 0
          ? [read('See which rows the file lacks', 'plan', ' --rows --action delete')]
          : []),
        ...allowDeletes(snapshot),
      ]
    if (!invalid_count)
      return [read('See which rows are refused, and why', 'plan', ' --rows --action refused')]
    const steps = [
      read('See all that is wrong', 'problems', ' --all'),
      read('Export the invalid lines and correct them', 'export', ' -o wrong-lines.csv'),
      change('Bring the corrections in', 'repair', ' --file wrong-lines.csv'),
    ]
    if (!upload.valid_count) return steps
    const skip = ` --on-invalid skip${skipThreshold(upload)}`
    return [...steps, change('Or leave the invalid lines out', 'plan', skip)]
  }

  /** Nothing to allow where only foreign keys forbid it. */
  function allowDeletes({ needed_max_deleted: needed, too_short }: Snapshot): NextStep[] {
    const options = [needed != null && `--max-deleted ${needed}`, too_short && '--allow-short-file']
    const given = joinWords(options, ' ')
    if (given === '') return []
    const what = needed != null ? 'let them be deleted' : 'take it although it is short'
    return [change(`If the file is complete, ${what}`, 'plan', ` ${given}`)]
  }
}

const DEFAULT_THRESHOLD = 0.9

/** The option without which leaving the wrong lines out would be refused again; empty where the default share is enough. */
function skipThreshold(upload: Upload): string {
  const valid = upload.valid_count ?? 0
  const lines = valid + (upload.invalid_count ?? 0)
  const share = (valid - refusedLines(upload)) / (lines || 1)
  return share >= DEFAULT_THRESHOLD ? '' : ` --threshold ${Math.floor(share * 100) / 100}`
}

/** Valid lines that cannot be taken, because nobody can tell which row they are. */
function refusedLines({ gate_mode, plan_totals, reading }: Upload): number {
  if (gate_mode !== 'LENIENT' || !reading) return 0
  return plan_totals?.[reading.layout.leaf]?.refused ?? 0
}

const STAGING_ROLES: readonly AppRole[] = ['operator', 'reviewer', 'admin', 'agent']

/** Without a name the back end acts, and the audit names no person. */
export function actorFlag({ as, user }: UploadActor, external: boolean): string {
  if (user !== undefined) return ` --user ${user}`
  if (as !== undefined && STAGING_ROLES.includes(as)) return ` --as ${as}`
  return external ? '' : ' --as operator'
}

function approvalCommand({ upload, external }: UploadContext): string {
  const { upload_id: id } = upload
  return external
    ? `in the console, or POST ${API_PREFIX}/uploads/${id}/approve with the reviewer’s token`
    : `stagedoor upload approve ${id} --as reviewer`
}

/** Why the plan that is there was not promoted, although somebody tried; undefined: nobody did. */
export function lastFailure({ status, plan_digest, promotion_failures: [last] }: Upload) {
  return status === 'planned' && last?.plan_digest === plan_digest ? last : undefined
}

// Why an upload is not promoted, with the command that helps.

/** The reason that the database gives where nothing else is wrong. */
export const DRY_RUN = 'this is a dry run'

export function planRefused(upload: Upload): StagedoorError {
  const { upload_id, plan_refusal, valid_count, invalid_count, plan_snapshot } = upload
  const hint = `Correct the lines that are wrong, or leave them out: --on-invalid skip${skipThreshold(upload)}.`
  const details = { upload: upload_id, reason: plan_refusal ?? '' }
  if (plan_refusal === DRY_RUN)
    return new StagedoorError('plan_refused', details, {
      hint: 'Bring the file in with `stagedoor ingest FILE`.',
    })
  if (plan_refusal?.startsWith(OWN_TOTALS_DISAGREE))
    return new StagedoorError('plan_refused', details, { hint: OWN_TOTALS_HINT })
  if (!invalid_count && plan_snapshot?.deleted) {
    const lacking = `\`stagedoor upload plan ${upload_id} --rows --action delete\` shows the rows that the file lacks.`
    return new StagedoorError('plan_refused', details, { hint: lacking })
  }
  return new StagedoorError('plan_refused', details, valid_count && invalid_count ? { hint } : {})
}

/** The usual path of an upload: nothing went wrong, a colleague is next. */
export function awaitsApproval(context: UploadContext): StagedoorError {
  return new StagedoorError(
    'approval_missing',
    { upload: context.upload.upload_id, reason: 'nobody has decided yet' },
    { hint: `Somebody else decides: ${approvalCommand(context)}.` },
  )
}
