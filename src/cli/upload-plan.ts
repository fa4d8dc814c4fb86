/** `stagedoor upload plan`: what an upload would change, row by row, from what to what. */
import { InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import type { Reading } from '../ingest/datasets/compile.ts'
import { type Dataset, REPEATED_KEYS } from '../ingest/datasets/dataset.ts'
import {
  canBeSubmitted,
  listPlanRows,
  listStaleRows,
  PLAN_FILTERS,
  type PlanRequest,
  type PlanRow,
  planRequestOf,
  planUpload,
  type StaleRow,
  submitPlan,
} from '../ingest/plan.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { UUID } from '../kernel/ids.ts'
import { argumentInvalid } from './arguments.ts'
import type { Session, SessionOptions } from './session.ts'
import { commandLine, type Output } from './terminal.ts'
import { printableLine, screenWidth, truncateLine, wrapText } from './text.ts'
import { answerOf, ON_CONFLICT, planOrAsk } from './upload-conflicts.ts'
import { planRefused } from './upload-next-steps.ts'
import {
  checkIfPlanned,
  loadUploadView,
  planCheckText,
  printChange,
  type UploadView,
  uploadVerb,
} from './upload-show.ts'
import { dependentsText, tableOf } from './upload-totals.ts'

export const ON_INVALID = [
  '--on-invalid <refuse|skip>',
  'invalid lines: refuse the whole file, or leave them out',
  ['refuse', 'skip'],
] as const

export const THRESHOLD = [
  '--threshold <share>',
  'with skip: the share of valid lines that is enough (0.9)',
  parseShare(1, 'A share from 0 to 1.'),
] as const

export const REPEATED = [
  '--repeated-keys <how>',
  'lines with the same key: refuse them, add them up, or take the last or the first (default: as the dataset says)',
  REPEATED_KEYS,
] as const

export const MAX_DELETED = [
  '--max-deleted <share>',
  'of a snapshot: the share of the rows in its scope that may be deleted (default: as the dataset says)',
  parseShare(1, 'A share from 0 to 1.'),
] as const

export const ALLOW_SHORT_FILE = [
  '--allow-short-file',
  'of a snapshot: the file is complete, although it is far shorter than the last ones',
] as const

function parseShare(max: number, form: string): (given: string) => number {
  return (given) => {
    const share = Number(given)
    if (given.trim() === '' || !(share >= 0 && share <= max)) throw new InvalidArgumentError(form)
    return share
  }
}

const PAGE = 50

export const planCommand = () =>
  uploadVerb('plan', 'what an upload would change; nothing in the tables is written or locked')
    .option(...ON_INVALID)
    .option(...THRESHOLD)
    .option(...REPEATED)
    .option(...MAX_DELETED)
    .option(...ALLOW_SHORT_FILE)
    .option(...ON_CONFLICT)
    .option(
      '--conflicts-digest <digest>',
      'with --on-conflict: of the conflicts that you saw (`upload conflicts --json`); if there are others by now, nothing is planned',
    )
    .option('--again', 'plan it once more, though there is a plan; it must then be submitted once more')
    .option(
      '--submit',
      'with a new plan: also submit it; title, description and reviewers stay, and those whose approval fell are asked again',
    )
    .option('--rows', 'row by row, old → new')
    .option(
      '--stale',
      'the rows that somebody changed since it was planned: before, planned, now, and whether both changed the same cell',
    )
    .option('--conflicts', 'with --stale: without rows in which both changes can live')
    .option(
      '--since <digest>',
      'with --rows: only what is not as in the plan with this digest, which somebody approved',
    )
    .option(
      '--action <action>',
      'with --rows: only these; changes: new, changed and deleted ones',
      PLAN_FILTERS,
    )
    .option('--type <row type>', 'with --rows: only these, as `dataset show` lists them')
    .option('--column <column>', 'with --rows: only changes of this column')
    .option(
      '--by-more-than <share>',
      'with --column: only where it changes by more than this share',
      parseShare(Number.POSITIVE_INFINITY, 'A share, such as 0.2 for 20 %.'),
    )
    .option(
      '--by-amount <amount>',
      'with --column: only where it changes by more than this',
      parseShare(Number.POSITIVE_INFINITY, 'An amount, such as 1000.'),
    )
    .option('--value <text>', 'with --column: instead, rows that are written with this value')
    .option('--empty', 'with --column: instead, rows that are written without a value')
    .limit(PAGE, 1000, 'with --rows or --stale: how many')
    .option('--after <row>', 'with --rows or --stale: the page after this row')
    .run(async (session, id) => {
      const { options, output, transaction } = session
      const { onInvalid, threshold, repeatedKeys, maxDeleted, allowShortFile } = options
      const { again, byMoreThan, column, limit } = options
      if (byMoreThan !== undefined && column === undefined)
        throw argumentInvalid('--by-more-than needs --column')
      if ((options.byAmount ?? options.value ?? options.empty) !== undefined && column === undefined)
        throw argumentInvalid('--by-amount, --value and --empty need --column')
      if (options.stale) {
        const { after, conflicts } = options
        const found = await transaction((client) => listStaleRows(client, id, { limit, after, conflicts }))
        return output.result(found, () => printStale(output, id, found))
      }
      const onConflict = answerOf(options.onConflict)
      const makePlan = (answer: Pick<PlanRequest, 'onConflict' | 'conflictsDigest'>) =>
        transaction(async (client) => {
          const upload = await requireUpload(client, id)
          // A plan that is there may be in review: another one is made only where an option asks for it.
          const given = [onInvalid, threshold, repeatedKeys, maxDeleted, allowShortFile, onConflict]
          const isAsked = again || options.submit || given.some((option) => option !== undefined)
          if (!isAsked && upload.status !== 'staged') return false
          const before = planRequestOf(upload)
          const plan = await planUpload(client, id, {
            onInvalid: onInvalid ?? before.onInvalid,
            threshold: threshold ?? before.threshold,
            repeatedKeys,
            maxDeleted,
            allowShortFile,
            onConflict,
            conflictsDigest: options.conflictsDigest,
            ...answer,
          })
          if (options.submit && canBeSubmitted(plan)) await submitPlan(client, id, plan.digest)
          return true
        })
      const isNew = await (onConflict === undefined ? planOrAsk(session, id, makePlan) : makePlan({}))
      const check = isNew ? undefined : await transaction((client) => checkIfPlanned(client, id))
      const view = await loadUploadView(session, id)
      const { upload } = view
      const isRefused = isNew && upload.plan_refusal !== null && upload.run_mode !== 'FULL_DRY_RUN'
      if (options.rows) await printRows(session, view)
      else
        output.result(check ? { ...upload, plan_check: check } : upload, () => {
          output[isRefused ? 'warn' : 'done'](isNew ? 'Planned' : 'This is its plan')
          if (check) output[check.rows_differ === 0 ? 'line' : 'warn'](`  ${planCheckText(check)}`)
          printChange(session, view)
        })
      // Whoever asked for a plan asked for one that can be promoted.
      if (isRefused) throw planRefused(upload)
    })

function printStale(
  output: Output,
  id: string,
  { items, total, counts, next }: Awaited<ReturnType<typeof listStaleRows>>,
) {
  if (total === 0) return output.line('Nothing has changed since it was planned.')
  for (const row of items) output.line(staleRowText(row))
  output.dim(
    `\n  ${Object.entries(counts)
      .map(([kind, rows]) => `${rows} ${CONFLICT_WORDS[kind] ?? kind}`)
      .join(' · ')}`,
  )
  if (next !== null)
    output.dim(`\n  ${total} in all. More: stagedoor upload plan ${id} --stale --after ${next}`)
  output.dim(`\n  Plan it again and ask its reviewers again: stagedoor upload plan ${id} --again --submit`)
}

const CONFLICT_WORDS: Readonly<Record<string, string>> = {
  same_cell: 'changed in the same cell',
  old_value: 'for which the file has the old value: the next plan asks before it takes their change back',
  deleted: 'deleted there',
  created: 'created there',
  to_delete: 'to delete, and changed there',
  other_cells: 'changed in other cells: both can live',
}

/** Column by column what the plan was made on, what it would write, and what is there now; only where they differ. */
function staleRowText(row: StaleRow): string {
  const { target_table, line, key, before, planned, now, action, conflict, names } = row
  const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const show = (value: unknown) => (value === undefined ? pc.dim('–') : printableLine(plain(value)))
  const from = line < 0 ? 'to delete' : `line ${line}`
  const word =
    conflict === 'other_cells' ? pc.dim(CONFLICT_WORDS[conflict]) : pc.red(CONFLICT_WORDS[conflict])
  const head = `${pc.bold(target_table)}  ${from}  ${printableLine(Object.values(key).map(plain).join(' / '))}  ${word}`
  const called = (column: string, image: 'before' | 'planned' | 'now') => {
    const name = names?.[column]?.[image]
    return name === undefined ? show(row[image]?.[column]) : printableLine(name)
  }
  if (now === null) return `${head}\n    ${pc.red('somebody deleted it')}`
  const columns = new Set([before, planned, now].flatMap((image) => Object.keys(image ?? {})))
  const changed = [...columns].filter(
    (column) =>
      !(column in key) && JSON.stringify((before ?? planned)?.[column]) !== JSON.stringify(now[column]),
  )
  const changes = changed.map(
    (column) =>
      `    ${printableLine(column)}: before ${called(column, 'before')} · planned ${called(column, 'planned')} · now ${called(column, 'now')}`,
  )
  if (action === 'delete' && changes.length === 0)
    changes.push(`    ${pc.red('rows that depend on it have changed')}`)
  return [head, ...changes].join('\n')
}

type RowFilter = Parameters<typeof listPlanRows>[2] & { readonly type?: string; readonly limit: number }

async function printRows(
  { options, output, transaction }: Session<SessionOptions & Omit<RowFilter, 'rowType'>>,
  view: UploadView,
): Promise<void> {
  const { upload_id: id } = view.upload
  const { as, user, type, action, column, byMoreThan, byAmount, value, empty, since, limit, after } = options
  const rows = await transaction((client) =>
    listPlanRows(client, id, {
      rowType: type,
      action,
      column,
      byMoreThan,
      byAmount,
      value,
      empty,
      since,
      limit,
      after,
    }),
  )
  const last = rows.at(-1)
  const next = last && rows.length === limit ? `${last.type_order}.${last.row_number}` : null
  output.result({ rows, next }, () => {
    if (rows.length === 0) return output.line('No such rows in the plan.')
    output.line(planRowLines(rows, view))
    if (next === null) return
    const size = limit === PAGE ? undefined : limit
    const asked = { 'by-more-than': byMoreThan, 'by-amount': byAmount, value, empty, since }
    const given = { as, user, action, type, column, ...asked, limit: size, after: next }
    output.dim(`\n  More: ${commandLine(`stagedoor upload plan ${id} --rows`, given)}`)
  })
}

// The rows of a plan: what each is called, and what changes from what to what.

const ACTIONS: Record<PlanRow['action'], readonly [mark: string, word: string]> = {
  insert: [pc.green('+'), 'new'],
  update: [pc.yellow('~'), 'changed'],
  unchanged: [pc.dim('='), 'unchanged'],
  delete: [pc.red('-'), 'delete'],
  skipped: [pc.dim('○'), 'left out'],
  refused: [pc.red('✖'), 'refused'],
}

export function planRowLines(rows: readonly PlanRow[], { upload, dataset }: UploadView): string {
  const { reading } = upload
  const definition = dataset?.definition
  const width = screenWidth()
  const number = Math.max(4, ...rows.map((row) => lineOf(row).length))
  const below = ' '.repeat(number + 6)
  return rows
    .flatMap((row, index) => {
      const isNewType = row.row_type !== rows[index - 1]?.row_type
      const [mark, word] = ACTIONS[row.action]
      const name = truncateLine(labelOf(row, definition), width - number - 18)
      return [
        ...(isNewType ? [`${index === 0 ? '' : '\n'}${pc.bold(tableOf(row.row_type, definition))}`] : []),
        `  ${mark} ${lineOf(row).padStart(number)}  ${name || pc.dim('–')}  ${row.action === 'delete' ? pc.red(word) : pc.dim(word)}`,
        ...changeLines(row, definition, reading, width - number - 8).map((text) => below + text),
      ]
    })
    .join('\n')
}

/** A row that the file lacks has no line. */
function lineOf({ row_number }: PlanRow): string {
  return row_number < 0 ? '' : String(row_number)
}

/** The names on the way to the row, and the parts of its key that the file gives. */
export function labelOf(
  row: Pick<PlanRow, 'row_type' | 'label' | 'before' | 'row_key'>,
  dataset: Dataset | undefined,
): string {
  const types = dataset?.rows ?? []
  const label = row.label ?? fieldsOf(row, types.find(({ name }) => name === row.row_type)?.columns)
  const at = types.findIndex((type) => type.name === row.row_type)
  // An id only where there is no name.
  const names = types.slice(0, at + 1).flatMap(({ identity: { name, id } = {} }) => {
    const isNamed = name !== undefined && label[name] !== undefined
    return isNamed ? [name] : id !== undefined ? [id] : []
  })
  const key = row.row_key.map(({ value }) => value)
  const words = [...new Set([...names.map((field) => label[field]), ...key])]
  return words.filter((word) => word !== null && word !== undefined && word !== '').join(' / ')
}

/** Of a row without a line: the fields that its columns are filled from. */
function fieldsOf(
  { before }: Pick<PlanRow, 'before'>,
  columns: Record<string, string> = {},
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).map(([column, field]) => [field, before?.[column]]))
}

function changeLines(
  row: PlanRow,
  dataset: Dataset | undefined,
  reading: Reading | null,
  width: number,
): string[] {
  if (row.reason !== null) return wrapText(row.reason, width).map((line) => pc.dim(line))
  const dependents = row.dependents?.length ? `with it: ${dependentsText(row.dependents)}` : ''
  const { columns } = dataset?.rows.find(({ name }) => name === row.row_type) ?? {}
  const fieldOf = (column: string) => columns?.[column] ?? column
  const fields = reading?.layout.fields ?? []
  /** Columns in the order in which the file has what they hold; those that it does not have behind the others. */
  const inOrder = (names: readonly string[]) => {
    const place = (column: string) => fields.indexOf(fieldOf(column)) + 1 || fields.length + 1
    return names.toSorted((left, right) => place(left) - place(right))
  }
  const textOf = (image: PlanRow['after'], column: string) => {
    const value = image?.[column]
    const field = fieldOf(column)
    if (value === null || value === undefined) return '(empty)'
    // What it refers to, with the id as a detail.
    const name = row.names?.[column]?.[image === row.before ? 'before' : 'after']
    if (name !== null && name !== undefined) return `${name} (${value})`
    if (typeof value === 'number' && dataset?.fields[field]?.type === 'money')
      return money(value, reading?.map.fields[field]?.currency)
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  }
  const { before, after } = row
  if (row.action === 'update')
    return inOrder(row.changed ?? []).map((column) => {
      const from = truncateLine(textOf(before, column), width / 2 - column.length)
      const to = truncateLine(textOf(after, column), width / 2)
      return `${pc.dim(`${printableLine(column)}:`)} ${from} ${pc.dim('→')} ${to}`
    })
  if (row.action !== 'insert' && row.action !== 'delete') return []
  const image = row.action === 'delete' ? before : after
  const written = Object.entries(image ?? {}).filter(
    ([column, value]) => value !== null && (row.names?.[column] !== undefined || !isId(column, value)),
  )
  const words = inOrder(written.map(([column]) => column)).map(
    (column) => `${column} ${textOf(image, column)}`,
  )
  const values = wrapText(words.join(', '), width)
  if (row.action === 'insert') return values.map((line) => pc.dim(line))
  return [
    ...values.map((line) => pc.strikethrough(pc.red(line))),
    ...wrapText(dependents, width)
      .filter((line) => line !== '')
      .map((line) => pc.red(line)),
  ]
}

/** Ids of ours and of parents say nothing to people; the label names them. */
function isId(column: string, value: unknown): boolean {
  return /(^|_)id$/.test(column) && typeof value === 'string' && UUID.test(value)
}

/** With the decimals of its currency, and never fewer digits than there are: what is written is what is shown. */
function money(value: number, currency = ''): string {
  if (/e/.test(String(value))) return String(value)
  const written = String(value).split('.')[1]?.length ?? 0
  // One that is not known has two, as nearly all have.
  const known = /^[A-Z]{3}$/.test(currency) ? currency : 'EUR'
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: known })
  return value.toFixed(Math.max(written, format.resolvedOptions().maximumFractionDigits ?? 2))
}
