/** `stagedoor upload list` and `show`: the status of an upload, its steps, its totals, and why it went no further. */
import pc from 'picocolors'
import type { AppRole } from '../access/members.ts'
import type { Dataset } from '../ingest/datasets/dataset.ts'
import { listClients, listDatasets } from '../ingest/datasets/registry.ts'
import { OWN_TOTALS_DISAGREE, OWN_TOTALS_HINT } from '../ingest/plan.ts'
import { leftOutText, SUMMING_RULES } from '../ingest/staged-rows.ts'
import {
  type ControlTotal,
  listUploads,
  requireUpload,
  type Snapshot,
  type Totals,
  UPLOAD_PROBLEMS,
  UPLOAD_STATUSES,
  type Upload,
} from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { command } from './command.ts'
import { approversText, formatAge, formatCount, formatDate, joinWords, plural } from './format.ts'
import { realUploadId, uploadId } from './ids.ts'
import { printOwnTotals } from './own-totals.ts'
import { type MemberNames, type Session, type SessionOptions, workspaceIfNamed } from './session.ts'
import { type Column, type Fact, formatRecords, type NextStep, type Output, painter } from './terminal.ts'
import { hanging, printableLine, screenWidth, wrapText } from './text.ts'

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
  yellow: ['in review', 'reading', 'staged', 'planned'],
  red: ['refused', 'rejected', 'failed', 'promotion failed'],
})

export const outdatedText = (outdated: Upload['outdated']) => outdated?.replace('_', ' ') ?? ''
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
        : `${formatCount(upload.line_count)}${upload.invalid_count ? ` (${wrongText(upload)})` : ''}`,
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
  printSteps(output, view)
  printNotes(output, upload)
  printTotals(output, upload, dataset?.definition)
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
  if (review === 'pending') return 'in review'
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
    invalid_count && wrongText(upload),
    warning_count && `${formatCount(warning_count)} with a warning`,
    skipped_count && leftOutText(left_out),
  ])
}

/** Wrong lines stop an upload until they are corrected or left out; then they are only a fact. */
function wrongText(upload: Upload): string {
  return `${formatCount(upload.invalid_count)} ${skipsInvalid(upload) ? 'wrong and left out' : 'wrong'}`
}

function skipsInvalid({ gate_mode, plan_refusal, promoted_at }: Upload): boolean {
  return promoted_at !== null || (gate_mode === 'LENIENT' && plan_refusal === null)
}

/** The reason that the database gives where nothing else is wrong. */
const DRY_RUN = 'this is a dry run'

function planStep(upload: Upload, names: MemberNames): Step {
  if (upload.promoted_at === null && upload.plan_digest === null) return ['now', 'Plan', 'not planned yet']
  if (upload.plan_refusal !== null && upload.run_mode === 'FULL_DRY_RUN' && upload.plan_refusal === DRY_RUN)
    return ['done', 'Plan', 'a dry run, which is never promoted']
  if (upload.plan_refusal !== null) return ['wrong', 'Plan', upload.plan_refusal]
  const mode = upload.gate_mode === 'LENIENT' ? ', wrong lines are left out' : ''
  const plan = upload.planned_by ? `by ${names(upload.planned_by)}${mode}` : mode.slice(2)
  if (upload.outdated === 'outdated')
    return ['wrong', 'Plan', joinWords([plan, 'outdated: production has moved on since'])]
  if (upload.outdated === 'maybe_outdated')
    return ['now', 'Plan', joinWords([plan, 'maybe outdated: its tables were written since'])]
  return ['done', 'Plan', plan]
}

function approvalStep(upload: Upload, names: MemberNames): Step {
  if (upload.approved_at) return ['done', 'Approve', approversText(upload.approvers, names)]
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

/** Why the plan that is there was not promoted, although somebody tried; undefined: nobody did. */
function lastFailure({ status, plan_digest, promotion_failures: [last] }: Upload) {
  return status === 'planned' && last?.plan_digest === plan_digest ? last : undefined
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

// How many rows of each table a plan, a promotion or an undo concerns, and how much of each measure.

function printTotals(output: Output, upload: Upload, dataset: Dataset | undefined): void {
  const { undo_totals, promotion_totals, plan_totals, control, repeated_keys } = upload
  const totals = undo_totals ?? promotion_totals ?? plan_totals
  if (totals) {
    output.heading(
      undo_totals ? 'What was reverted' : promotion_totals ? 'What was written' : 'What would change',
    )
    output.line(totalsTable(totals, dataset))
    if (!undo_totals) printSnapshot(output, upload)
    const refused = refusedByTable(upload)
    if (refused > 0)
      output.caution(
        `${refusedText(refused)} and left out: \`stagedoor upload problems ${upload.upload_id}\` lists ${refused === 1 ? 'it' : 'them'}.`,
        '  ',
      )
  }
  if (control.length === 0 || undo_totals) return
  output.heading('Control totals')
  output.line(controlTable(control))
  if (repeated_keys && repeated_keys !== 'refuse')
    output.dim(`  Lines with the same key: ${REPEATED_KEY_LABELS[repeated_keys]}.`)
  printOwnTotals(output, upload.own_totals)
}

/** Rows that were planned, and that the table refused when they were written (LENIENT). */
function refusedByTable({ plan_totals, promotion_totals, undo_totals }: Upload): number {
  if (!plan_totals || !promotion_totals || undo_totals) return 0
  const refused = (totals: Totals) =>
    Object.values(totals).reduce((sum, outcomes) => sum + (outcomes.refused ?? 0), 0)
  return Math.max(0, refused(promotion_totals) - refused(plan_totals))
}

function refusedText(rows: number): string {
  return `${plural(rows, 'row')} of the plan ${rows === 1 ? 'was' : 'were'} refused by the table`
}

function printSnapshot(output: Output, { plan_snapshot: snapshot, promoted_at }: Upload): void {
  if (!snapshot) return
  for (const text of snapshotTexts(snapshot, promoted_at !== null))
    for (const line of wrapText(text, screenWidth() - 2))
      output.line(snapshot.deleted > 0 ? `  ${pc.red(line)}` : `  ${pc.dim(line)}`)
}

/** `12 rows to delete of 100 in its scope`, what goes with them, and what somebody allowed. */
export function snapshotTexts(snapshot: Snapshot, isPromoted: boolean): string[] {
  const { deleted, in_scope, scope, dependents, max_deleted, confirmed, kept, blocked } = snapshot
  const { lines, usual_lines, short_file_allowed } = snapshot
  const where = scope.length > 0 ? `in its scope (${scope.map(printableLine).join(', ')})` : 'in its scope'
  const rows = `${plural(deleted, 'row')} ${isPromoted ? 'deleted' : 'to delete'} of ${formatCount(in_scope)} ${where}`
  const limit = `at most ${formatShare(max_deleted)} may be${confirmed ? ', allowed for this upload' : ''}`
  const texts = [
    `${rows}; ${limit}.`,
    short_file_allowed === true &&
      lines !== null &&
      usual_lines !== null &&
      lines < usual_lines / 2 &&
      `The file has ${plural(lines, 'line')}, the last ones had ${formatCount(usual_lines)} (median): allowed for this upload.`,
    dependents.length > 0 && `With them: ${dependentsText(dependents)}.`,
    blocked > 0 &&
      `${plural(blocked, 'row')} that the file lacks ${blocked === 1 ? 'stays' : 'stay'}: others refer to ${blocked === 1 ? 'it' : 'them'}.`,
    kept > 0 && `${plural(kept, 'line')} not taken: the row of each stays as it is.`,
  ]
  return texts.filter((text) => text !== false)
}

export function dependentsText(dependents: readonly Snapshot['dependents'][number][]): string {
  const textOf = {
    delete: () => 'deleted',
    'set null': () => 'set to NULL',
    'set default': () => 'set to their default',
    restrict: (rows: number) => (rows === 1 ? 'prevents the delete' : 'prevent the delete'),
  }
  const texts = dependents.map(
    ({ table, effect, rows }) => `${plural(rows, 'row')} of ${printableLine(table)} ${textOf[effect](rows)}`,
  )
  return texts.join(', ')
}

function formatShare(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

const REPEATED_KEY_LABELS = {
  sum: 'added up',
  last: 'the last one is taken, the others are left out',
  first: 'the first one is taken, the others are left out',
}

const OUTCOMES: Readonly<Record<string, string>> = {
  insert: 'new',
  update: 'changed',
  delete: 'delete',
  unchanged: 'unchanged',
  skipped: 'left out',
  refused: 'refused',
  reversed: 'reverted',
  kept: 'kept',
}

export function totalsTable(totals: Totals, dataset: Pick<Dataset, 'rows'> | undefined): string {
  // In the order in which they are written.
  const order = dataset?.rows.map((row) => row.name) ?? []
  const place = (type: string) => order.indexOf(type) + 1 || order.length + 1
  const types = Object.keys(totals).sort((a, b) => place(a) - place(b))
  if (types.length === 0) return pc.dim('  nothing')
  const outcomes = Object.entries(OUTCOMES).filter(([outcome]) =>
    types.some((type) => totals[type]![outcome]),
  )
  return formatRecords(types, [
    { title: '', value: (type) => `  ${tableOf(type, dataset)}` },
    ...outcomes.map(([outcome, title]) =>
      figureColumn<string>(
        title,
        (type) => (totals[type]![outcome] ? formatCount(totals[type]![outcome]!) : '–'),
        outcome === 'refused' || outcome === 'delete' ? pc.red : undefined,
      ),
    ),
  ])
}

function figureColumn<Row>(
  title: string,
  value: (row: Row) => string,
  paint = (cell: string) => cell,
): Column<Row> {
  return { title, value, align: 'right', paint: (cell) => (cell.trim() === '–' ? pc.dim(cell) : paint(cell)) }
}

export function tableOf(type: string, dataset: Pick<Dataset, 'rows'> | undefined): string {
  const target = dataset?.rows.find((row) => row.name === type)?.target ?? type
  return target.replace(/^public\./, '')
}

/** Measure by measure: read, valid, left out, refused, written, and what the rows held and will hold. */
export function controlTable(control: readonly ControlTotal[]): string {
  const isPlanned = control.some(({ written }) => written !== undefined)
  const figure = (
    title: string,
    name: 'read' | 'valid' | 'left_out' | 'refused' | 'written' | 'before' | 'after',
    paint?: (cell: string) => string,
  ) => figureColumn<ControlTotal>(title, (total) => amount(total[name]), paint)
  const table = formatRecords(control.filter(countsAnything), [
    { title: '', value: (total) => `  ${measureName(total)}` },
    figure('read', 'read'),
    figure('valid', 'valid'),
    figure('left out', 'left_out', pc.yellow),
    figure('refused', 'refused', pc.yellow),
    ...(isPlanned
      ? [
          figure('written', 'written'),
          figure('now', 'before'),
          figure('then', 'after'),
          figureColumn<ControlTotal>('change', ({ difference = '0' }) => signed(difference)),
        ]
      : []),
  ])
  const unread = control.filter(({ unread }) => unread > 0)
  return [
    table,
    ...unread.map(({ title, unread }) =>
      pc.yellow(`  ${plural(unread, 'value')} of ${title} could not be read as a number`),
    ),
    ...totalsLines(control).map((text) => pc.dim(text)),
  ].join('\n')
}

/** The figures of lines that sum up others. They are shown apart, since the lines that they sum up are counted. */
function totalsLines(control: readonly ControlTotal[]): string[] {
  const apart = control.filter(({ totals_lines }) => totals_lines !== undefined)
  return Object.entries(SUMMING_RULES).flatMap(([rule, { lines }]) => {
    const figures = apart
      .filter(({ reasons }) => (reasons[rule] ?? '0') !== '0')
      .map((total) => `${measureName(total)} ${amount(total.reasons[rule])}`)
    if (figures.length === 0) return []
    const text = `${lines}, not counted: ${figures.join('; ')}`
    return wrapText(text, screenWidth() - 2).map((line) => `  ${line}`)
  })
}

/** A totals line without a currency is a measure of its own, which has no other figure. */
function countsAnything({ totals_lines = '0', unread, ...total }: ControlTotal): boolean {
  const { valid, left_out, refused, written, before, after } = total
  const figures = [valid, left_out, refused, written, before, after]
  return totals_lines === '0' || unread > 0 || figures.some((figure = '0') => figure !== '0')
}

function measureName({ title, currency }: ControlTotal): string {
  return currency === null ? title : `${title} ${currency}`
}

/** 1234567.5 → 1,234,567.5: exact, so never through a number of JavaScript. */
function amount(decimal: string | undefined): string {
  if (decimal === undefined || decimal === '0') return '–'
  const [whole = '', fraction] = decimal.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

function signed(decimal: string): string {
  const text = amount(decimal)
  return text === '–' || text.startsWith('-') ? text : `+${text}`
}

// Why an upload is not promoted, with the command that helps.

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
export function awaitsApproval(view: UploadView): StagedoorError {
  return new StagedoorError(
    'approval_missing',
    { upload: view.upload.upload_id, reason: 'nobody has decided yet' },
    { hint: `Somebody else decides: ${approvalCommand(view)}.` },
  )
}

// What to do next, with the exact command for it.

/** Who uses the command line. */
type UploadActor = Pick<SessionOptions, 'as' | 'user'>

export function uploadNextSteps({ upload, external }: UploadView, actor: UploadActor): NextStep[] {
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
    if (upload.outdated === 'outdated') return [stale, change('Plan it again', 'plan', ' --again')]
    return upload.outdated ? [stale, ...decisions()] : decisions()
  }

  function decisions(): NextStep[] {
    switch (upload.review_status) {
      case 'not_submitted':
        return [changes, change('Submit it for approval', 'submit')]
      case 'pending':
        return [['A colleague reviews it and decides', approvalCommand({ upload, external })]]
      case 'rejected':
        return [
          change('Correct a line', 'repair', ' --line N --set "Header=value"'),
          change('Or submit it once more', 'submit'),
        ]
      case 'expired':
        return [change('Nobody decided in time; submit it once more', 'submit')]
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
      read('Export the wrong lines and correct them', 'export', ' -o wrong-lines.csv'),
      change('Bring the corrections in', 'repair', ' --file wrong-lines.csv'),
    ]
    if (!upload.valid_count) return steps
    const skip = ` --on-invalid skip${skipThreshold(upload)}`
    return [...steps, change('Or leave the wrong lines out', 'plan', skip)]
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

/** On a database of the user's own people decide with their own tokens. */
function approvalCommand({ upload, external }: Pick<UploadView, 'upload' | 'external'>): string {
  const { upload_id: id } = upload
  return external
    ? `in the console, or POST ${API_PREFIX}/uploads/${id}/approve with the reviewer’s token`
    : `stagedoor upload approve ${id} --as reviewer`
}
