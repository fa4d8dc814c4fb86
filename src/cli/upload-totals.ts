/** How many rows of each table a plan, a promotion or an undo concerns, how much of each measure, and the own totals of the file. */
import pc from 'picocolors'
import type { Dataset } from '../ingest/datasets/dataset.ts'
import type { OwnTotal, OwnTotals } from '../ingest/plan-shapes.ts'
import { SUMMING_RULES } from '../ingest/staged-rows.ts'
import type { ControlTotal, Snapshot, Totals, Upload } from '../ingest/uploads.ts'
import { formatCount, plural } from './format.ts'
import { type Column, formatRecords, type Output } from './terminal.ts'
import { printableLine, screenWidth, wrapText } from './text.ts'

export function printTotals(output: Output, upload: Upload, dataset: Dataset | undefined): void {
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
export function refusedByTable({ plan_totals, promotion_totals, undo_totals }: Upload): number {
  if (!plan_totals || !promotion_totals || undo_totals) return 0
  const refused = (totals: Totals) =>
    Object.values(totals).reduce((sum, outcomes) => sum + (outcomes.refused ?? 0), 0)
  return Math.max(0, refused(promotion_totals) - refused(plan_totals))
}

export function refusedText(rows: number): string {
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

/** 1234567.5 → 1,234,567.50: exact, so never through a number of JavaScript. */
function amount(decimal: string | undefined): string {
  if (decimal === undefined || decimal === '0') return '–'
  const [whole = '', fraction] = decimal.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction.padEnd(2, '0')}`
}

function signed(decimal: string): string {
  const text = amount(decimal)
  return text === '–' || text.startsWith('-') ? text : `+${text}`
}

const MAX_LISTED = 10

/** A file's own totals beside the sums of its lines, as `upload show` and `upload checks` print them. */
export function printOwnTotals(output: Output, own: OwnTotals | null): void {
  if (own === null) return
  output.heading('File’s own totals')
  const write = (text: string, paint: (line: string) => string) => {
    for (const line of wrapText(text, screenWidth() - 2)) output.line(`  ${paint(line)}`)
  }
  write(countsText(own), own.disagree > 0 ? pc.yellow : own.agree > 0 ? pc.green : pc.dim)
  const unlike = own.totals.filter(({ result }) => result !== 'agrees')
  for (const total of unlike.slice(0, MAX_LISTED))
    for (const text of totalTexts(total)) write(text, total.result === 'disagrees' ? pc.yellow : pc.dim)
  const more = own.disagree + own.not_compared - Math.min(unlike.length, MAX_LISTED)
  if (more > 0) write(`${formatCount(more)} more: --json lists up to 100 of them.`, pc.dim)
  if (own.columns.length > 0) write(`Compared: ${own.columns.map(printableLine).join(', ')}.`, pc.dim)
  const excluded = own.excluded.map(({ column, reason }) => `${printableLine(column)} (${reason})`)
  if (own.more_excluded > 0) excluded.push(`${own.more_excluded} more`)
  if (excluded.length > 0) write(`Not compared: ${excluded.join(', ')}.`, pc.dim)
}

function countsText({ lines, agree, disagree, not_compared }: OwnTotals): string {
  const parts = [
    disagree > 0 && `${formatCount(disagree)} ${disagree === 1 ? 'disagrees' : 'disagree'} with the lines`,
    agree > 0 && `${formatCount(agree)} ${agree === 1 ? 'agrees' : 'agree'}`,
    not_compared > 0 && `${formatCount(not_compared)} not compared`,
  ]
  return `${plural(lines, 'line')} of the file ${lines === 1 ? 'sums' : 'sum'} up others: ${parts.filter(Boolean).join(', ')}.`
}

function totalTexts({ line, label, with: compared, lines, reason, figures }: OwnTotal): string[] {
  const name = `line ${line}${label === null ? '' : ` “${printableLine(label)}”`}`
  if (reason !== null) return [`${name}: ${reason}.`]
  return figures
    .filter(({ result }) => result === 'disagrees')
    .map(({ column, file, sum, difference, unread }) => {
      const lacking = unread > 0 ? `, without ${plural(unread, 'cell')} that could not be read` : ''
      return `${name}: ${printableLine(column)} is ${file}, and ${compared} (${formatCount(lines ?? 0)}) sum up to ${sum}: ${difference.startsWith('-') ? difference : `+${difference}`}${lacking}.`
    })
}
