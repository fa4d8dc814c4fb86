/** `stagedoor upload`: files on their way into the tables, from their plan to the undo. */
import pc from 'picocolors'
import { type AppRole, whoAmI } from '../access/members.ts'
import { findStandingOf } from '../changes/reviews.ts'
import { promotePlan } from '../ingest/pipeline.ts'
import { approvePlan, listPlanRows, rejectPlan, submitPlan } from '../ingest/plan.ts'
import { planUndo, type UndoPlan, undoUpload } from '../ingest/promotion.ts'
import { retryUpload } from '../ingest/reading.ts'
import {
  discardUpload,
  requireUpload,
  setUploadLimits,
  type Upload,
  uploadLimits,
} from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type ChecklistItem, readChecklist } from '../staging/records.ts'
import { argumentInvalid, integerBetween, integerFrom, MIN_DIGEST_LENGTH, parseDigest } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatBytes, formatCount, formatDate, plural } from './format.ts'
import { downstreamCommand, lineageOfUploadCommand } from './lineage.ts'
import { createIngestProgress } from './progress.ts'
import { type Session, workspaceIfNamed } from './session.ts'
import { canAsk, confirm, type Output } from './terminal.ts'
import { printableLine } from './text.ts'
import { conflictsCommand } from './upload-conflicts.ts'
import { checksCommand, historyCommand } from './upload-history.ts'
import { planCommand, planRowLines } from './upload-plan.ts'
import { exportCommand, problemsCommand, repairCommand, rowsCommand } from './upload-problems.ts'
import { distributionCommand, riskCommand } from './upload-risk.ts'
import {
  decisionVerb,
  listCommand,
  loadUploadView,
  printUpload,
  showChange,
  showCommand,
  type UploadView,
  uploadVerb,
} from './upload-show.ts'
import { tableOf, totalsTable } from './upload-totals.ts'

export const uploadCommand = () =>
  commandGroup(
    'upload',
    'files on their way into the tables: checked, planned, approved, promoted, undone',
    [
      listCommand(),
      showCommand(),
      rowsCommand(),
      problemsCommand(),
      exportCommand(),
      repairCommand(),
      planCommand(),
      conflictsCommand(),
      riskCommand(),
      checksCommand(),
      distributionCommand(),
      submitCommand(),
      approveCommand(),
      rejectCommand(),
      promoteCommand(),
      undoCommand(),
      retryCommand(),
      discardCommand(),
      historyCommand(),
      lineageOfUploadCommand(),
      downstreamCommand(),
      limitsCommand(),
    ],
    `
  $ stagedoor ingest week-45.csv --dataset ads --platform meta --as operator
  $ stagedoor upload problems <id>
  $ stagedoor upload export <id> -o wrong-lines.csv
  $ stagedoor upload repair <id> --file wrong-lines.csv --as operator
  $ stagedoor upload plan <id> --rows
  $ stagedoor upload submit <id> --as operator
  $ stagedoor upload approve <id> --as reviewer
  $ stagedoor upload promote <id> --as operator
  $ stagedoor upload undo <id> --as reviewer`,
  )

const submitCommand = () =>
  decisionVerb('submit', 'submit the plan to a second person for approval').run(async (session, id) => {
    await session.transaction(async (client) =>
      submitPlan(client, id, digestOf(await requireUpload(client, id))),
    )
    await showChange(session, id, 'Submitted to a second person')
  })

const approveCommand = () =>
  decisionVerb('approve', 'approve exactly the plan that you saw')
    .option(
      '--digest <digest>',
      `of the plan, as \`upload show\` prints it; its first ${MIN_DIGEST_LENGTH} characters are enough`,
      parseDigest('upload show'),
    )
    .option('--tick <items>', 'what you reviewed, separated by commas: changes, left_out', (given: string) =>
      given
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    )
    .examples(
      'On a terminal it shows the plan and asks. Elsewhere --digest says which plan you saw and --tick what you reviewed.',
    )
    .run(async (session, id) => {
      const { options, output, decide } = session
      await requireReview(session, id)
      const { upload, checklist } = await decide(async (client) => {
        const found = await requireUpload(client, id)
        const review = found.review_record_id
        return { upload: found, checklist: review === null ? [] : await readChecklist(client, review) }
      })
      const mayAsk = canAsk() && !output.json
      const decision =
        decisionFrom(options, upload, checklist, mayAsk) ?? (await askForDecision(session, upload, checklist))
      if (!decision) return output.line('Nothing was decided.')
      const standing = await decide(async (client) => {
        await approvePlan(client, id, decision)
        return findStandingOf(client, id)
      })
      const done = standing?.met === false ? `Your approval is recorded: ${standing.summary}` : 'Approved'
      await showChange(session, id, done, { as: 'operator' })
    })

const REVIEWERS: readonly AppRole[] = ['reviewer', 'admin']

/** Refuses whoever may not decide before anything is shown or asked, by the name that people know. */
async function requireReview({ decide }: Session, id: string): Promise<void> {
  await decide(async (client) => {
    const { workspace_id } = await requireUpload(client, id)
    const { actor, name, workspaces } = await whoAmI(client)
    const role = workspaces.find((workspace) => workspace.id === workspace_id)?.role
    // The database itself refuses whom it does not know as a member.
    if (role === undefined || REVIEWERS.includes(role)) return
    const message = `${name ?? `A member with the role ${role}`} may not review; a reviewer decides`
    const hint = 'Say who does: --as reviewer, or --user <id> with an id of `stagedoor member list`.'
    throw new StagedoorError('right_missing', { actor, role, right: 'review' }, { message, hint })
  })
}

/** What the options say by themselves; undefined: the person at the terminal is asked. */
function decisionFrom(
  { digest, tick }: { digest?: string; tick?: string[] },
  upload: Upload,
  checklist: readonly ChecklistItem[],
  mayAsk: boolean,
) {
  const isSame = digest !== undefined && upload.plan_digest?.startsWith(digest)
  if (digest !== undefined && tick !== undefined)
    return { digest: isSame ? upload.plan_digest! : digest, ticked: tick }
  if (mayAsk) {
    if (digest === undefined || isSame) return undefined
    const reason = 'the digest is that of another plan'
    throw new StagedoorError('plan_stale', { upload: upload.upload_id, reason })
  }
  const boxes = checklist.filter(({ required }) => required).map(({ item_id }) => item_id)
  throw argumentInvalid(
    'Here nobody can be asked: say what you reviewed with --tick, and which plan you saw with --digest',
    `\`stagedoor upload show ${upload.upload_id}\` prints the digest; then: --digest <as shown> --tick ${boxes.join(',') || 'changes'}`,
  )
}

const MAX_SHOWN_CHANGES = 10

async function askForDecision(session: Session, upload: Upload, checklist: readonly ChecklistItem[]) {
  const { output, transaction } = session
  const { upload_id: id } = upload
  const digest = digestOf(upload)
  const view = await loadUploadView(session, id)
  printUpload(output, view)
  for (const [action, what] of [
    ['delete', 'rows to delete'],
    ['update', 'changes'],
  ] as const) {
    const rows = await transaction((client) => listPlanRows(client, id, { action, limit: MAX_SHOWN_CHANGES }))
    if (rows.length === 0) continue
    output.heading(`The first ${rows.length} ${what}`)
    output.line(planRowLines(rows, view))
  }
  output.dim(`\n  All of it: stagedoor upload plan ${id} --rows\n`)
  const ticked: string[] = []
  for (const item of checklist.filter(({ required, ticked_at }) => required && ticked_at === null)) {
    if (!(await confirm(printableLine(item.label)))) return undefined
    ticked.push(item.item_id)
  }
  const question = `Approve exactly this plan, ${digest.slice(0, MIN_DIGEST_LENGTH)}`
  return (await confirm(question)) ? { digest, ticked } : undefined
}

function digestOf({ upload_id: upload, plan_digest, status }: Upload): string {
  if (plan_digest !== null) return plan_digest
  const message = `Upload ${upload} is ${status} and has no plan`
  const hint = `\`stagedoor upload plan ${upload}\` makes one.`
  throw new StagedoorError('upload_state', { upload, status, action: 'decided on' }, { message, hint })
}

const rejectCommand = () =>
  decisionVerb('reject', 'reject a plan; it can be corrected and submitted again')
    .requiredOption('--reason <text>', 'for the person who uploaded it')
    .run(async (session, id) => {
      const { options, output, decide } = session
      await requireReview(session, id)
      await decide((client) => rejectPlan(client, id, options.reason))
      const { upload } = await loadUploadView(session, id)
      output.result(upload, `Rejected ${id}`)
    })

const promoteCommand = () =>
  decisionVerb('promote', 'bring a plan into the tables, in one transaction')
    .option('--digest <digest>', 'refuse if the plan is another one', parseDigest('upload show'))
    .run(async (session, id) => {
      const { options, output, transaction } = session
      const planned = digestOf(await transaction((client) => requireUpload(client, id)))
      const seen = options.digest ?? planned
      const bars = createIngestProgress(output)
      bars.report({ stage: 'promote', done: 0, total: 1 })
      try {
        const digest = planned.startsWith(seen) ? planned : seen
        await promotePlan({ pool: await session.pool() }, { transaction }, id, digest)
        bars.report({ stage: 'promote', done: 1, total: 1 })
      } finally {
        bars.stop()
      }
      await showChange(session, id, 'Promoted')
    })

const undoCommand = () =>
  decisionVerb('undo', 'revert a promotion: shows what it would do, then asks')
    .option('--plan', 'only show what it would do')
    .option('--reason <text>', 'why; kept with the upload and shown to everybody who sees it')
    .option('--yes', 'do not ask')
    .run(async (session, id) => {
      const { options, output } = session
      // A person decides, as with an approval; on a database of the user's own the back end may undo what it promoted.
      const decides = session.isMember || (!(await session.isExternal()) && !options.plan)
      const act = decides ? session.decide : session.transaction
      if (decides && !options.plan) await requireReview(session, id)
      const before = await loadUploadView(session, id)
      const plan = await act((client) => planUndo(client, id))
      if (options.plan) return output.result(plan, () => printUndoPlan(output, plan, before))
      printUndoPlan(output, plan, before)
      if (!options.yes) {
        if (!canAsk() || output.json)
          throw argumentInvalid(
            `Here nobody can be asked: say --yes to undo upload ${id}, or --plan to see what that would do`,
          )
        output.line()
        if (!(await confirm('Undo it'))) return output.line('Nothing was undone.')
      }
      await act((client) => undoUpload(client, id, { digest: plan.digest, reason: options.reason }))
      const { upload } = await loadUploadView(session, id)
      output.line()
      output.result(upload, 'Undone')
    })

const MAX_SHOWN_STAYS = 20

function printUndoPlan(output: Output, plan: UndoPlan, { upload, dataset }: UploadView): void {
  output.line(pc.bold(`What an undo of ${printableLine(upload.file_name)} does`))
  output.line(totalsTable(plan.totals, dataset?.definition))
  if (plan.stays.length > 0) output.heading('What stays, and why')
  for (const { row_type, line, reason, target_key } of plan.stays.slice(0, MAX_SHOWN_STAYS)) {
    // What was deleted has no line.
    const row = line < 0 ? printableLine(JSON.stringify(target_key)) : `line ${line}`
    output.caution(`${tableOf(row_type, dataset?.definition)}, ${row}: ${reason}`, '  ')
  }
  const more = plan.stays.length - MAX_SHOWN_STAYS
  if (more > 0) output.dim(`    … ${formatCount(more)} more: --json --plan`)
  if (plan.stays.length > 0) {
    output.line()
    output.caution('An upload is undone once: rows that are kept now cannot be undone later.', '  ')
    for (const later of laterUploads(plan))
      output.caution(
        `A later upload changed rows of this one. Stop here and undo that upload first: \`stagedoor upload undo ${later}\``,
        '  ',
      )
  }
  output.dim(`\n  It can be undone until ${formatDate(plan.undo_until)}.`)
}

/** Uploads that changed rows since, of which the reasons speak. */
function laterUploads({ stays }: UndoPlan): string[] {
  const ids = stays.map(({ reason }) => /^upload (\S+) .*: undo that first$/s.exec(reason)?.[1])
  return [...new Set(ids.filter((id) => id !== undefined))]
}

const retryCommand = () =>
  uploadVerb('retry', 'read the kept file of an upload that failed again')
    .examples(
      `Where a file could not be read for a reason that may pass (a store that did not answer, a process that died again and again), it is
kept for a week. A job reads it again, in any process that shares its store: \`stagedoor upload show ID\` says how far it is.`,
    )
    .run(async ({ output, transaction }, id) => {
      const upload = await transaction(async (client) => {
        await retryUpload(client, id)
        return requireUpload(client, id)
      })
      output.result(upload, `${id} waits to be read again`)
    })

const discardCommand = () =>
  uploadVerb(
    'discard',
    'delete the lines of an upload that was not promoted, or cancel one that is being read; it stays in the list',
  ).run(async ({ output, transaction }, id) => {
    const upload = await transaction(async (client) => {
      await discardUpload(client, id)
      return requireUpload(client, id)
    })
    output.result(upload, `Discarded ${id}: ${plural(upload.line_count, 'line')} deleted`)
  })

const limitsCommand = () =>
  command(
    'limits',
    'how large an upload may be and how many are read at once; or change it, as the administrator',
  )
    .workspace('of this one; default: of all that have none of their own')
    .option('--bytes <n>', 'the largest file', integerBetween(1, Number.MAX_SAFE_INTEGER))
    .option('--lines <n>', 'the most lines', integerFrom(1))
    .option('--at-once <n>', 'how many are read at the same time', integerFrom(1))
    .run(async ({ options, output, administrator }) => {
      const changes = { max_bytes: options.bytes, max_lines: options.lines, max_at_once: options.atOnce }
      const isChange = Object.values(changes).some((limit) => limit !== undefined)
      const limits = await administrator(async (client) => {
        const workspace = (await workspaceIfNamed(client, options.workspace)) ?? null
        if (isChange) await setUploadLimits(client, workspace, changes)
        return uploadLimits(client, workspace)
      })
      const { workspace_id, max_bytes, max_lines, max_at_once } = limits
      const everywhere = 'every workspace without limits of its own'
      output.result(limits, () => {
        if (isChange) output.done('Changed')
        output.facts([
          ['for', workspace_id === null ? everywhere : (options.workspace ?? workspace_id)],
          ['a file', `${formatBytes(Number(max_bytes))} (${formatCount(Number(max_bytes))} bytes)`],
          ['lines', formatCount(max_lines)],
          ['at once', formatCount(max_at_once)],
        ])
      })
    })
