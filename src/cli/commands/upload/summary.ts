/** An upload in a few lines: where it stands, what its plan would do. */
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import { listClients, listDatasets, type RegisteredDataset } from '../../../ingest/datasets/registry.ts'
import { leftOutSaid } from '../../../ingest/rows.ts'
import type { Upload } from '../../../ingest/uploads.ts'
import { age, type Output, visibleLine } from '../../output.ts'
import { count, lines, screenWidth, wrap } from './layout.ts'
import { day } from './next-step.ts'
import type { Names } from './session.ts'
import { controlTable, totalsTable } from './totals.ts'

export interface Surroundings {
  readonly dataset: RegisteredDataset | undefined
  /** Null where the dataset has no clients. */
  readonly client: string | null
}

/** What an upload's ids stand for. */
export async function surroundingsOf(client: Client, upload: Upload): Promise<Surroundings> {
  const dataset = (await listDatasets(client)).find((candidate) => candidate.dataset === upload.dataset)
  const clients = dataset ? await listClients(client, dataset.definition, upload.workspace_id) : []
  return { dataset, client: clients.find(({ id }) => id === upload.client_id)?.name ?? null }
}

export function heading(upload: Upload, { dataset, client }: Surroundings): string {
  const platform = dataset?.definition.platforms[upload.platform]?.title ?? upload.platform
  const what = [client, dataset?.title ?? upload.dataset, platform].filter((word) => word !== null)
  return `${pc.bold(visibleLine(upload.file_name))}  ${pc.dim(visibleLine(what.join(' · ')))}`
}

export function stateOf(upload: Upload): string {
  if (upload.status !== 'planned') return upload.status
  if (upload.plan_refusal !== null) return upload.run_mode === 'FULL_DRY_RUN' ? 'dry run' : 'refused'
  return upload.review_status === null || upload.review_status === 'not_submitted'
    ? 'planned'
    : upload.review_status === 'pending'
      ? 'waits'
      : upload.review_status
}

export function paintState(state: string): string {
  const name = state.trim()
  if (['promoted', 'approved'].includes(name)) return pc.green(state)
  if (['waits', 'reading', 'staged', 'planned'].includes(name)) return pc.yellow(state)
  return ['refused', 'rejected', 'failed'].includes(name) ? pc.red(state) : pc.dim(state)
}

const MARKS = { done: pc.green('✔'), now: pc.yellow('●'), wrong: pc.red('✖'), later: pc.dim('○') } as const

type Step = readonly [keyof typeof MARKS, name: string, words: string]

/** Read, Check, Plan, Approve, Promote: what is done, where it waits, what is still to come. */
export function stepLines(upload: Upload, names: Names): string[] {
  return stepsOf(upload, names).map(([mark, name, words]) => {
    const [first, ...rest] = wrap(words, screenWidth() - 14)
    const head = `  ${MARKS[mark]} ${mark === 'later' ? pc.dim(name) : name.padEnd(9)}${first}`
    return [head, ...rest.map((line) => `             ${line}`)].join('\n')
  })
}

function stepsOf(upload: Upload, names: Names): Step[] {
  if (upload.staged_at === null) return [unread(upload)]
  const steps: Step[] = [
    ['done', 'Read', howRead(upload)],
    [upload.invalid_count && !leavesOut(upload) ? 'wrong' : 'done', 'Check', checked(upload)],
  ]
  if (['discarded', 'expired'].includes(upload.status)) return [...steps, ['later', upload.status, '']]
  steps.push(planStep(upload, names))
  if (upload.approval_required) steps.push(approvalStep(upload, names))
  steps.push(
    upload.promoted_at
      ? ['done', 'Promote', `by ${names(upload.promoted_by!)}, ${age(upload.promoted_at)} ago`]
      : [isReady(upload) ? 'now' : 'later', 'Promote', isReady(upload) ? 'can be promoted' : ''],
  )
  if (upload.undone_at)
    steps.push(['done', 'Undo', `by ${names(upload.undone_by!)}, ${age(upload.undone_at)} ago`])
  return steps
}

function unread({ status, error, progress }: Upload): Step {
  if (status === 'reading') {
    const share =
      progress && progress.total > 0 ? ` ${Math.floor((100 * progress.done) / progress.total)} %` : ''
    return ['now', 'Read', `${progress?.stage ?? 'read'}${share}`]
  }
  return ['wrong', 'Read', error ? `${error.message}. ${error.hint}` : status]
}

function howRead({ line_count, reading }: Upload): string {
  const how = reading ? [reading.format?.toUpperCase(), reading.encoding].filter(Boolean).join(', ') : ''
  return [lines(line_count), how].filter(Boolean).join(', ')
}

export function checked(upload: Upload): string {
  const parts = [`${count(upload.valid_count)} valid`]
  if (upload.invalid_count) parts.push(wrongSaid(upload))
  if (upload.warning_count) parts.push(`${count(upload.warning_count)} with a warning`)
  if (upload.skipped_count) parts.push(leftOutSaid(upload.left_out))
  return parts.join(', ')
}

/** Wrong lines stand in the way until they are corrected or left out; then they are only a fact. */
export function wrongSaid(upload: Upload): string {
  return `${count(upload.invalid_count)} ${leavesOut(upload) ? 'wrong and left out' : 'wrong'}`
}

function leavesOut({ gate_mode, plan_refusal, promoted_at }: Upload): boolean {
  return promoted_at !== null || (gate_mode === 'LENIENT' && plan_refusal === null)
}

function planStep(upload: Upload, names: Names): Step {
  if (upload.promoted_at === null && upload.plan_digest === null) return ['now', 'Plan', 'not planned yet']
  if (upload.plan_refusal !== null) return ['wrong', 'Plan', upload.plan_refusal]
  const mode = upload.gate_mode === 'LENIENT' ? ', wrong lines are left out' : ''
  return ['done', 'Plan', upload.planned_by ? `by ${names(upload.planned_by)}${mode}` : mode.slice(2)]
}

function approvalStep(upload: Upload, names: Names): Step {
  if (upload.approved_at) {
    return ['done', 'Approve', `by ${names(upload.approved_by!)}, ${age(upload.approved_at)} ago`]
  }
  if (upload.promoted_at) return ['done', 'Approve', 'was not asked for']
  if (upload.plan_digest === null || upload.plan_refusal !== null) return ['later', 'Approve', '']
  switch (upload.review_status) {
    case 'pending':
      return ['now', 'Approve', 'waits for a second person']
    case 'approved':
      return ['done', 'Approve', 'approved']
    case 'rejected':
      return ['wrong', 'Approve', `rejected: ${upload.review_reason ?? ''}`]
    case 'expired':
      return ['wrong', 'Approve', 'nobody decided in time']
    default:
      return ['now', 'Approve', 'not submitted yet']
  }
}

function isReady(upload: Upload): boolean {
  if (upload.status !== 'planned' || upload.plan_refusal !== null) return false
  return !upload.approval_required || upload.review_status === 'approved'
}

export function printTotals(output: Output, upload: Upload, dataset: Dataset | undefined): void {
  const [title, totals] = upload.undo_totals
    ? ['What was taken back', upload.undo_totals]
    : upload.promotion_totals
      ? ['What was written', upload.promotion_totals]
      : ['What would change', upload.plan_totals]
  if (totals) {
    output.line(`\n${pc.bold(title)}`)
    output.line(totalsTable(totals, dataset))
  }
  printControl(output, upload)
}

function printControl(output: Output, { control, repeated_keys, undo_totals }: Upload): void {
  if (control.length === 0 || undo_totals) return
  output.line(`\n${pc.bold('Control totals')}`)
  output.line(controlTable(control))
  if (repeated_keys && repeated_keys !== 'refuse') {
    output.line(pc.dim(`  Lines with the same key: ${REPEATED_WORDS[repeated_keys]}.`))
  }
}

const REPEATED_WORDS = {
  sum: 'added up',
  last: 'the last one is taken, the others are left out',
  first: 'the first one is taken, the others are left out',
}

/** About the whole file. */
export function printNotes(output: Output, upload: Upload): void {
  const notes = [...upload.notes, ...upload.plan_notes]
  if (notes.length === 0) return
  output.line(`\n${pc.bold('About the file')}`)
  for (const { message, line, count: times } of notes) {
    const where = [
      line === undefined ? '' : `line ${line}`,
      times === undefined ? '' : `${count(times)} times`,
    ]
    const more = where.filter(Boolean).join(', ')
    const [first, ...rest] = wrap(more ? `${message} (${more})` : message, screenWidth() - 4)
    output.line([`  ${pc.yellow('!')} ${first}`, ...rest.map((text) => `    ${text}`)].join('\n'))
  }
}

export function factsOf(upload: Upload, names: Names): [string, string][] {
  const facts: [string, string][] = [
    ['id', upload.upload_id],
    [
      'uploaded',
      `by ${names(upload.uploaded_by)}${upload.uploaded_via ? ` (by ${upload.uploaded_via})` : ''}, ${age(upload.created_at)} ago`,
    ],
    ['sha-256', upload.file_hash],
  ]
  if (upload.plan_digest) facts.push(['digest', upload.plan_digest])
  if (upload.cursor_name)
    facts.push(['cursor', `${upload.cursor_name} = ${JSON.stringify(upload.cursor_value)}`])
  if (upload.undo_until && !upload.undone_at) facts.push(['undo', `until ${day(upload.undo_until)}`])
  return facts
}
