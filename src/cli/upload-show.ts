/** `stagedoor upload list` and `show`: the status of an upload, its steps, and how its file was read. */
import pc from 'picocolors'
import { listClients, listDatasets } from '../ingest/datasets/registry.ts'
import { checkPlan, MAX_PLAN_CHECK_MS, type PlanCheck } from '../ingest/plan.ts'
import { leftOutText } from '../ingest/staged-rows.ts'
import {
  listUploads,
  requireUpload,
  UPLOAD_PROBLEMS,
  UPLOAD_STATUSES,
  type Upload,
} from '../ingest/uploads.ts'
import { asStagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { command } from './command.ts'
import { approversText, formatAge, formatCount, formatDate, joinWords, plural } from './format.ts'
import { realUploadId, uploadId } from './ids.ts'
import { type MemberNames, type Session, workspaceIfNamed } from './session.ts'
import { type Column, type Fact, formatRecords, type Output, painter } from './terminal.ts'
import { hanging, printableLine } from './text.ts'
import { DRY_RUN, lastFailure, type UploadActor, uploadNextSteps } from './upload-next-steps.ts'
import { printTotals } from './upload-totals.ts'

/** A command about one upload. Where no member is named it acts as service_role, which alone may write staged rows. */
export const uploadVerb = (name: string, description: string, id = uploadId) =>
  command(name, description)
    .argument('<id>', 'of the upload', id)
    .actor({ backEndRole: 'service_role' })
    .about('upload')

/** The same for a decision, which is never about a dry run. */
export const decisionVerb = (name: string, description: string) => uploadVerb(name, description, realUploadId)

export const listCommand = () =>
  command('list', 'uploads, newest first')
    .workspace('only these')
    .option('--status <status...>', 'only these', UPLOAD_STATUSES)
    .option('--waiting', 'only those that await review')
    .option(
      '--problem <problem>',
      'only those whose plan is refused for invalid lines, whose promotion failed, or whose plan is or may be outdated',
      UPLOAD_PROBLEMS,
    )
    .limit()
    .option('--after <id>', 'the page after this upload', uploadId)
    .actor({ backEndRole: 'service_role' })
    .run(async ({ options: { workspace, ...filter }, output, transaction }) => {
      const uploads = await transaction(async (client) =>
        listUploads(client, { ...filter, workspaceId: await workspaceIfNamed(client, workspace) }),
      )
      output.list(
        uploads,
        UPLOAD_COLUMNS,
        'No upload here. `stagedoor ingest FILE --dataset ads --platform meta` brings one.',
      )
    })

const paintUploadStatus = painter({
  green: ['promoted', 'approved'],
  yellow: ['awaiting review', 'reading', 'staged', 'planned'],
  red: ['refused', 'rejected', 'failed', 'promotion failed'],
})

export const outdatedText = (outdated: Upload['outdated']) => outdated?.replace('_', ' ') ?? ''

/** What a comparison with production found; `problem`: why there was none. */
export type PlanChecked = PlanCheck & { readonly problem?: string }

export function planCheckText({ checked_at, rows_differ, problem }: PlanChecked): string {
  if (checked_at === null || rows_differ === null)
    return `not compared with production: ${problem ?? `it takes more than ${MAX_PLAN_CHECK_MS / 1000} seconds`}`
  const found =
    rows_differ === 0
      ? 'no row differs'
      : `${plural(rows_differ, 'row')} ${rows_differ === 1 ? 'differs' : 'differ'}`
  return `compared with production at ${checked_at.toISOString().slice(11, 19)} UTC: ${found}`
}

/** Compares the plan of an upload with its tables, if it has one that could be promoted. What is shown does not depend on it. */
export async function checkIfPlanned(db: Queryable, id: string): Promise<PlanChecked | undefined> {
  const { upload_id, status, plan_refusal } = await requireUpload(db, id)
  if (status !== 'planned' || plan_refusal !== null) return undefined
  return checkPlan(db, upload_id).catch((error) => ({
    checked_at: null,
    rows_differ: null,
    counts: {},
    problem: asStagedoorError(error).message,
  }))
}

export const paintOutdated = painter({ red: ['outdated'], yellow: ['maybe outdated'] })

const UPLOAD_COLUMNS: Column<Upload>[] = [
  { title: 'id', value: ({ upload_id }) => upload_id },
  { title: 'status', value: statusOf, paint: paintUploadStatus },
  { title: 'plan', value: ({ outdated }) => outdatedText(outdated), paint: paintOutdated },
  { title: 'file', value: ({ file_name }) => file_name, shrinkTo: 10 },
  {
    title: 'lines',
    value: (upload) =>
      upload.line_count === null
        ? '–'
        : `${formatCount(upload.line_count)}${upload.invalid_count ? ` (${invalidText(upload)})` : ''}`,
  },
  { title: 'change', value: ({ change }) => (change === null ? '–' : `#${change}`) },
  { title: 'age', value: ({ created_at }) => formatAge(created_at) },
]

export const showCommand = () =>
  uploadVerb('show', 'the steps of an upload, what its plan would change, what to do next').run(
    async (session, id) => {
      const { output, options } = session
      const view = await loadUploadView(session, id)
      const { upload, names } = view
      const { uploaded_via, cursor_name, undo_until } = upload
      const via = uploaded_via ? ` (by ${uploaded_via})` : ''
      const show = () => {
        printUpload(output, view)
        output.line()
        const facts: Fact[] = [
          ['id', upload.upload_id],
          ['change', upload.change !== null && `#${upload.change}`],
          ['uploaded', `by ${names(upload.uploaded_by)}${via}, ${formatAge(upload.created_at)} ago`],
          ['sha-256', upload.file_hash],
          ['digest', upload.plan_digest],
          ['took', upload.steps.map(({ step, ms }) => `${step.replaceAll('_', ' ')} ${ms} ms`).join(', ')],
          ['cursor', cursor_name && `${cursor_name} = ${JSON.stringify(upload.cursor_value)}`],
          ['undo', undo_until && !upload.undone_at && `until ${formatDate(undo_until)}`],
        ]
        output.facts(facts, '  ')
        printReading(output, view)
      }
      output.result({ ...upload, how_read: view.howRead }, show, ...uploadNextSteps(view, options))
    },
  )

export type UploadView = Awaited<ReturnType<typeof loadUploadView>>

/** An upload with what its ids stand for; `client` is null where the dataset has no clients. */
export async function loadUploadView({ transaction, memberNames, isExternal }: Session, id: string) {
  const found = await transaction(
    async (client) => {
      const upload = await requireUpload(client, id)
      const dataset = (await listDatasets(client)).find((candidate) => candidate.dataset === upload.dataset)
      const clients = dataset ? await listClients(client, dataset.definition, upload.workspace_id) : []
      const owner = clients.find((candidate) => candidate.id === upload.client_id)
      const { describeReading } = await import('../ingest/file-reading.ts')
      return { upload, dataset, client: owner?.name ?? null, howRead: await describeReading(client, id) }
    },
    { upload: id },
  )
  const names = await memberNames(found.upload.workspace_id)
  return { ...found, names, external: await isExternal() }
}

export function printUpload(output: Output, view: UploadView): void {
  const { upload, dataset, client } = view
  const platform = dataset?.definition.platforms[upload.platform]?.title ?? upload.platform
  const what = printableLine(joinWords([client, dataset?.title ?? upload.dataset, platform], ' · '))
  const heading = `${pc.bold(printableLine(upload.file_name))}  ${pc.dim(what)}`
  output.line(`${paintUploadStatus(statusOf(upload))}  ${heading}`)
  if (upload.proposal) printStatement(output, upload.proposal.statement)
  printSteps(output, view)
  printNotes(output, upload)
  printTotals(output, upload, dataset?.definition)
}

/** With its lines as they are; whatever could move the cursor is shown, not done. */
function printStatement(output: Output, statement: string): void {
  for (const line of statement.split('\n')) output.line(`  ${pc.cyan(printableLine(line))}`)
}

/** Which column became which field, what was ignored, matched and chosen, and by whom. */
function printReading(output: Output, { howRead, names }: UploadView): void {
  if (howRead === null) return
  const person = (by: string | null) => (by === null ? '' : ` by ${names(by)}`)
  const why = (how: string | null, by: string | null) =>
    how === 'chosen' ? `chosen${person(by)}` : how === 'remembered' ? `remembered, said${person(by)}` : ''
  output.heading('How the file was read')
  output.line(
    formatRecords(howRead.columns, [
      { title: 'column of the file', value: ({ header }) => `  ${printableLine(header)}`, shrinkTo: 12 },
      {
        title: 'field',
        value: ({ field, title, ignored }) => title ?? field ?? (ignored ? 'ignored' : 'not used'),
      },
      { title: '', value: ({ how, by }) => why(how, by) },
    ]),
  )
  const facts = [
    ...howRead.options.map(
      ({ option, value, how, change }) =>
        `${option.replace('_', ' ')}: ${printableLine(value)} (${change ? `${how} from #${change}` : how})`,
    ),
    ...howRead.values.map(
      ({ title, value, meaning, lines, how, by }) =>
        `${title}: “${printableLine(value)}” means ${meaning === null ? 'no value' : `“${printableLine(meaning)}”`} in ${plural(lines, 'line')}, ${why(how, by)}`,
    ),
    ...howRead.defaults.map(
      ({ title, value }) => `${title}: ${printableLine(value)}, the default of the dataset`,
    ),
    ...howRead.without.map((title) => `${title}: the file is said to have none`),
  ]
  for (const fact of facts) output.dim(`  ${fact}`)
}

/** After a command changed something: the same screen, without what has not changed. */
export function printChange(
  { output, options }: { output: Output; options: UploadActor },
  view: UploadView,
): void {
  printSteps(output, view)
  printTotals(output, view.upload, view.dataset?.definition)
  output.next(...uploadNextSteps(view, options))
}

/** The result of a command that changed something. */
export async function showChange(
  session: Session,
  id: string,
  done: string,
  next: UploadActor = session.options,
): Promise<void> {
  const { output } = session
  const view = await loadUploadView(session, id)
  output.result(view.upload, () => {
    output.done(done)
    printChange({ output, options: next }, view)
  })
}

function statusOf(upload: Upload): string {
  if (upload.status !== 'planned') return upload.status
  if (upload.plan_refusal !== null) return upload.run_mode === 'FULL_DRY_RUN' ? 'dry run' : 'refused'
  if (lastFailure(upload)) return 'promotion failed'
  const { review_status: review } = upload
  if (review === 'pending') return 'awaiting review'
  return review === null || review === 'not_submitted' ? 'planned' : review
}

// The steps: read, check, plan, approve, promote, undo.

const STEP_MARKS = {
  done: pc.green('✔'),
  now: pc.yellow('●'),
  wrong: pc.red('✖'),
  later: pc.dim('○'),
} as const

type Step = readonly [keyof typeof STEP_MARKS, name: string, words: string]

/** What is done, what is next, what is still to come. */
function printSteps(output: Output, { upload, names }: UploadView): void {
  output.line()
  for (const [mark, name, words] of stepsOf(upload, names)) {
    const head = `  ${STEP_MARKS[mark]} ${mark === 'later' && words === '' ? pc.dim(name) : name.padEnd(9)}`
    output.line(hanging(head, words, 13))
  }
}

function stepsOf(upload: Upload, names: MemberNames): Step[] {
  const { line_count, reading } = upload
  if (upload.staged_at === null) return [unreadStep(upload)]
  const steps: Step[] = [
    [
      'done',
      'Read',
      joinWords([plural(line_count, 'line'), reading?.format?.toUpperCase(), reading?.encoding]),
    ],
    [upload.invalid_count && !skipsInvalid(upload) ? 'wrong' : 'done', 'Check', checkText(upload)],
  ]
  if (['discarded', 'expired'].includes(upload.status)) return [...steps, ['later', upload.status, '']]
  steps.push(planStep(upload, names))
  if (upload.approval_required) steps.push(approvalStep(upload, names))
  steps.push(promoteStep(upload, names))
  if (upload.undone_at) steps.push(['done', 'Undo', undoText(upload, names)])
  return steps
}

function undoText({ undone_by, undone_at, undo_reason }: Upload, names: MemberNames): string {
  const who = byWhom(names, undone_by, undone_at!)
  return undo_reason === null ? who : `${who}: ${printableLine(undo_reason)}`
}

function byWhom(names: MemberNames, actor: string | null, at: Date): string {
  return `by ${names(actor!)}, ${formatAge(at)} ago`
}

function unreadStep({ status, error, progress }: Upload): Step {
  if (status !== 'reading') return ['wrong', 'Read', error ? `${error.message}. ${error.hint}` : status]
  const share =
    progress && progress.total > 0 ? ` ${Math.floor((100 * progress.done) / progress.total)} %` : ''
  return ['now', 'Read', `${progress?.stage ?? 'read'}${share}`]
}

function checkText(upload: Upload): string {
  const { valid_count, invalid_count, warning_count, skipped_count, left_out } = upload
  return joinWords([
    `${formatCount(valid_count)} valid`,
    invalid_count && invalidText(upload),
    warning_count && `${formatCount(warning_count)} with a warning`,
    skipped_count && leftOutText(left_out),
  ])
}

/** Invalid lines stop an upload until they are corrected or left out; then they are only a fact. */
function invalidText(upload: Upload): string {
  return `${formatCount(upload.invalid_count)} ${skipsInvalid(upload) ? 'invalid and left out' : 'invalid'}`
}

function skipsInvalid({ gate_mode, plan_refusal, promoted_at }: Upload): boolean {
  return promoted_at !== null || (gate_mode === 'LENIENT' && plan_refusal === null)
}

function planStep(upload: Upload, names: MemberNames): Step {
  if (upload.promoted_at === null && upload.plan_digest === null) return ['now', 'Plan', 'not planned yet']
  if (upload.plan_refusal !== null && upload.run_mode === 'FULL_DRY_RUN' && upload.plan_refusal === DRY_RUN)
    return ['done', 'Plan', 'a dry run, which is never promoted']
  if (upload.plan_refusal !== null) return ['wrong', 'Plan', upload.plan_refusal]
  const mode = upload.gate_mode === 'LENIENT' ? ', invalid lines are left out' : ''
  const plan = upload.planned_by ? `by ${names(upload.planned_by)}${mode}` : mode.slice(2)
  if (upload.outdated === 'outdated')
    return ['wrong', 'Plan', joinWords([plan, 'outdated: production has moved on since'])]
  if (upload.outdated === 'maybe_outdated')
    return ['now', 'Plan', joinWords([plan, 'maybe outdated: its tables were written since'])]
  return ['done', 'Plan', plan]
}

function approvalStep(upload: Upload, names: MemberNames): Step {
  const approvers = approversText(upload.approvers, names)
  if (upload.review_status === 'expired' && upload.approved_at)
    return ['wrong', 'Approve', `${approvers}, and not promoted in time`]
  if (upload.approved_at) return ['done', 'Approve', approvers]
  if (upload.promoted_at) return ['done', 'Approve', 'was not required']
  if (upload.plan_digest === null || upload.plan_refusal !== null) return ['later', 'Approve', '']
  const steps = {
    not_submitted: ['now', 'Approve', 'not submitted yet'],
    pending: ['now', 'Approve', 'waits for a second person'],
    approved: ['done', 'Approve', 'approved'],
    rejected: ['wrong', 'Approve', `rejected: ${upload.review_reason ?? ''}`],
    expired: ['wrong', 'Approve', 'nobody decided in time'],
  } satisfies Record<string, Step>
  return steps[upload.review_status ?? 'not_submitted']
}

function promoteStep(upload: Upload, names: MemberNames): Step {
  const { promoted_at, promotion_failure_count: failed, promotion_failures } = upload
  const times = plural(failed, 'attempt')
  if (promoted_at) {
    const before = failed > 0 ? `, after ${times} that failed` : ''
    return ['done', 'Promote', byWhom(names, upload.promoted_by, promoted_at) + before]
  }
  const failure = lastFailure(upload)
  if (failure) {
    const { tried_by, failed_at, error } = failure
    const what = `failed ${formatAge(new Date(failed_at))} ago, by ${names(tried_by)}`
    return [
      'wrong',
      'Promote',
      `${what}${failed > 1 ? ` (${times} in all)` : ''}: ${error.message.replace(/[.]$/, '')}. ${error.hint}`,
    ]
  }
  const earlier = promotion_failures.length > 0 ? `${times} failed with earlier plans` : ''
  if (!isReady(upload)) return ['later', 'Promote', earlier]
  return ['now', 'Promote', joinWords(['can be promoted', earlier])]
}

function isReady(upload: Upload): boolean {
  if (upload.status !== 'planned' || upload.plan_refusal !== null) return false
  return !upload.approval_required || upload.review_status === 'approved'
}

/** About the whole file. */
function printNotes(output: Output, upload: Upload): void {
  const notes = [...upload.notes, ...upload.plan_notes]
  if (notes.length === 0) return
  output.heading('About the file')
  for (const { message, line, count } of notes) {
    const more = joinWords([
      line !== undefined && `line ${line}`,
      count !== undefined && plural(count, 'time'),
    ])
    output.caution(more ? `${message} (${more})` : message, '  ')
  }
}
