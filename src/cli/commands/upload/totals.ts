/** How many rows of each table a plan, a promotion or an undo concerns. */
import pc from 'picocolors'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import type { Totals } from '../../../ingest/uploads.ts'
import { padStart, table, widthOf } from '../../output.ts'
import { count } from './layout.ts'

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
