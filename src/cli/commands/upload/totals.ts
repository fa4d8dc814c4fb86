/** How many rows of each table a plan, a promotion or an undo concerns, and how much of each measure. */
import pc from 'picocolors'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import type { ControlTotal, Totals } from '../../../ingest/uploads.ts'
import { padStart, table, widthOf } from '../../output.ts'
import { count, screenWidth, wrap } from './layout.ts'

const OUTCOMES: Readonly<Record<string, string>> = {
  insert: 'new',
  update: 'changed',
  unchanged: 'unchanged',
  skipped: 'left out',
  refused: 'refused',
  reversed: 'taken back',
  kept: 'kept',
}

export function totalsTable(totals: Totals, dataset: Pick<Dataset, 'rows'> | undefined): string {
  const types = typesIn(totals, dataset)
  if (types.length === 0) return pc.dim('  nothing')
  const outcomes = Object.keys(OUTCOMES).filter((outcome) => types.some((type) => totals[type]![outcome]))
  const cells = [
    outcomes.map((outcome) => OUTCOMES[outcome]!),
    ...types.map((type) =>
      outcomes.map((outcome) => (totals[type]![outcome] ? count(totals[type]![outcome]!) : '–')),
    ),
  ]
  const widths = outcomes.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column]!))))
  const names = ['', ...types.map((type) => tableOf(type, dataset))]
  return table(
    names.map((name, row) => [
      `  ${name}`,
      ...cells[row]!.map((cell, column) => padStart(cell, widths[column]!)),
    ]),
    (cell, column, row) => {
      if (row === 0 || cell.trim() === '–') return pc.dim(cell)
      return column > 0 && outcomes[column - 1] === 'refused' ? pc.red(cell) : cell
    },
  )
}

/** In the order in which they are written. */
function typesIn(totals: Totals, dataset: Pick<Dataset, 'rows'> | undefined): string[] {
  const order = dataset?.rows.map((row) => row.name) ?? []
  return Object.keys(totals).sort((a, b) => order.indexOf(a) - order.indexOf(b))
}

export function tableOf(type: string, dataset: Pick<Dataset, 'rows'> | undefined): string {
  const target = dataset?.rows.find((row) => row.name === type)?.target ?? type
  return target.replace(/^public\./, '')
}

/** Measure by measure: read, valid, left out, refused, written, and what the rows held and will hold. */
export function controlTable(control: readonly ControlTotal[]): string {
  const planned = control.some(({ written }) => written !== undefined)
  const head = [
    '',
    'read',
    'valid',
    'left out',
    'refused',
    ...(planned ? ['written', 'now', 'then', 'change'] : []),
  ]
  const rows = control
    .filter(countsAnything)
    .map((total) => [
      `  ${nameOf(total)}`,
      ...[total.read, total.valid, total.left_out, total.refused].map(amount),
      ...(planned
        ? [...[total.written, total.before, total.after].map(amount), signed(total.difference ?? '0')]
        : []),
    ])
  const cells = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const aligned = cells.map((row) =>
    row.map((cell, column) => (column === 0 ? cell : cell.padStart(widths[column]!))),
  )
  const lost = new Set(['left out', 'refused'].map((name) => head.indexOf(name)))
  const unread = control.filter(({ unread }) => unread > 0)
  return [
    table(aligned, (cell, column, row) => {
      if (row === 0 || cell.trim() === '–') return pc.dim(cell)
      return lost.has(column) ? pc.yellow(cell) : cell
    }),
    ...unread.map(({ title, unread }) =>
      pc.yellow(
        `  ${count(unread)} ${unread === 1 ? 'value' : 'values'} of ${title} could not be read as a number`,
      ),
    ),
    ...totalsLines(control).map((text) => pc.dim(text)),
  ].join('\n')
}

const SUMMING: Readonly<Record<string, string>> = {
  'row.total': 'Totals lines',
  'row.subtotal': 'Subtotal lines',
  'row.sum': 'Lines that are the sum of others',
}

/** What lines that sum up others say: apart, since the lines that they sum up are counted. */
function totalsLines(control: readonly ControlTotal[]): string[] {
  const apart = control.filter(({ totals_lines }) => totals_lines !== undefined)
  return Object.entries(SUMMING).flatMap(([rule, name]) => {
    const figures = apart
      .filter(({ reasons }) => (reasons[rule] ?? '0') !== '0')
      .map((total) => `${nameOf(total)} ${amount(total.reasons[rule])}`)
    if (figures.length === 0) return []
    return wrap(`${name}, not counted: ${figures.join('; ')}`, screenWidth() - 2).map((line) => `  ${line}`)
  })
}

/** A totals line without a currency is a measure of its own, of which nothing else is to be said. */
function countsAnything({ totals_lines = '0', unread, ...total }: ControlTotal): boolean {
  const { valid, left_out, refused, written, before, after } = total
  const figures = [valid, left_out, refused, written, before, after]
  return totals_lines === '0' || unread > 0 || figures.some((figure = '0') => figure !== '0')
}

function nameOf({ title, currency }: ControlTotal): string {
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
