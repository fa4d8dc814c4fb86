/** The rows of a plan: what each is called, and what changes from what to what. */
import pc from 'picocolors'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import type { PlanRow, StaleRow } from '../../../ingest/plan.ts'
import type { Reading } from '../../../ingest/reading.ts'
import { visibleLine } from '../../output.ts'
import { screenWidth, shortened, wrap } from './layout.ts'
import { type PlanValues, planValues } from './plan-values.ts'
import { tableOf } from './totals.ts'

const ACTIONS: Record<PlanRow['action'], { word: string; mark: string }> = {
  insert: { word: 'new', mark: pc.green('+') },
  update: { word: 'changed', mark: pc.yellow('~') },
  unchanged: { word: 'unchanged', mark: pc.dim('=') },
  skipped: { word: 'left out', mark: pc.dim('○') },
  refused: { word: 'refused', mark: pc.red('✖') },
}

export function planRowLines(
  rows: readonly PlanRow[],
  dataset: Dataset | undefined,
  reading: Reading | null,
): string {
  const values = planValues(dataset, reading)
  const width = screenWidth()
  const number = Math.max(4, ...rows.map((row) => String(row.row_number).length))
  const below = ' '.repeat(number + 6)
  let type = ''
  return rows
    .flatMap((row) => {
      const head =
        row.row_type === type ? [] : [`${type === '' ? '' : '\n'}${pc.bold(tableOf(row.row_type, dataset))}`]
      type = row.row_type
      const { word, mark } = ACTIONS[row.action]
      const name = shortened(labelOf(row, dataset), width - number - 18)
      return [
        ...head,
        `  ${mark} ${String(row.row_number).padStart(number)}  ${name || pc.dim('–')}  ${pc.dim(word)}`,
        ...changes(row, values, width - number - 8).map((text) => below + text),
      ]
    })
    .join('\n')
}

/** Column by column what the plan was made on, what it would write, and what is there now; only where they differ. */
export function staleRowLines(rows: readonly StaleRow[]): string {
  const show = (value: unknown) =>
    value === undefined ? pc.dim('–') : visibleLine(typeof value === 'string' ? value : JSON.stringify(value))
  return rows
    .flatMap(({ target_table, line, key, before, planned, now }) => {
      const where = Object.values(key).map((value) =>
        typeof value === 'string' ? value : JSON.stringify(value),
      )
      const columns = [
        ...new Set([before, planned, now].flatMap((image) => Object.keys(image ?? {}))),
      ].filter(
        (column) =>
          now !== null &&
          !(column in key) &&
          JSON.stringify((before ?? planned)?.[column]) !== JSON.stringify(now[column]),
      )
      return [
        `${pc.bold(target_table)}  line ${line}  ${visibleLine(where.join(' / '))}`,
        ...(now === null ? [`    ${pc.red('somebody deleted it')}`] : []),
        ...columns.map(
          (column) =>
            `    ${visibleLine(column)}: before ${show(before?.[column])} · planned ${show(planned?.[column])} · now ${show(now?.[column])}`,
        ),
      ]
    })
    .join('\n')
}

/** The names on the way to the row, and the parts of its key that the file gives. */
function labelOf(row: PlanRow, dataset: Dataset | undefined): string {
  const label = row.label ?? {}
  const types = dataset?.rows ?? []
  const at = types.findIndex((type) => type.name === row.row_type)
  const names = types
    .slice(0, at + 1)
    .flatMap(({ identity }) => [identity?.name, identity?.id])
    .filter((field): field is string => field !== undefined && label[field] !== undefined)
  const own = types[at]
  const key = own
    ? own.key.map((column) => own.columns[column]!).filter((source) => !source.startsWith('$'))
    : []
  const words = [...new Set([...namesOnce(names, types), ...key])].map((field) => label[field])
  return words.filter((word) => word !== null && word !== undefined && word !== '').join(' / ')
}

/** An id only where there is no name. */
function namesOnce(fields: readonly string[], types: Dataset['rows']): string[] {
  return fields.filter((field) => {
    const identity = types.find((type) => type.identity?.id === field)?.identity
    return identity?.name === undefined || !fields.includes(identity.name)
  })
}

function changes(row: PlanRow, { inOrder, text }: PlanValues, width: number): string[] {
  const type = row.row_type
  if (row.reason !== null) return wrap(row.reason, width).map((text) => pc.dim(text))
  if (row.action === 'update') {
    return inOrder(row.changed ?? [], type).map((column) => {
      const before = shortened(text(row.before?.[column], column, type), width / 2 - column.length)
      const after = shortened(text(row.after?.[column], column, type), width / 2)
      return `${pc.dim(`${visibleLine(column)}:`)} ${before} ${pc.dim('→')} ${after}`
    })
  }
  if (row.action !== 'insert') return []
  const after = row.after ?? {}
  const written = Object.keys(after).filter(
    (column) => after[column] !== null && !isId(column, after[column]),
  )
  const words = inOrder(written, type).map((column) => `${column} ${text(after[column], column, type)}`)
  return wrap(words.join(', '), width).map((line) => pc.dim(line))
}

/** Ids of ours and of parents say nothing to people; the label names them. */
function isId(column: string, value: unknown): boolean {
  return /(^|_)id$/.test(column) && typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value)
}
