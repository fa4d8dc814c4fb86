/** A report for a program (one JSON line) and for a person (tables). */
import type { Figures, Round } from './benchmark.ts'
import type { Verdict } from './criteria.ts'
import type { Report } from './harness.ts'

/** One object on one line. The figures of BENCHMARKS.md stand at its top level. */
export function jsonLine({ figures, ...rest }: Report): string {
  const { benchmark, quick, unit, size, data: _, ...more } = rest
  return JSON.stringify({ benchmark, quick, unit, size, ...figures, ...more })
}

export function tableFor(report: Report): string {
  const { machine, versions, settings } = report
  return [
    `${report.benchmark}: ${number(report.size)} ${report.unit}, median of ${report.rounds.length} rounds${report.quick ? ' (quick)' : ''}`,
    '',
    ...columns([['figure', 'value'], ...Object.entries(report.figures).map(cells)]),
    '',
    ...columns([['must hold', 'value', 'bar', 'goal'], ...report.verdicts.map(verdictCells)]),
    '',
    ...columns(roundRows(report.rounds)),
    '',
    ...scaleRows(report).flatMap((rows) => [...columns(rows), '']),
    `${machine.cores} cores, ${machine.memory_gb} GB, ${machine.cpu}`,
    list(versions),
    list(settings),
  ].join('\n')
}

export function verdictCells({ field, value, bar, bar_met, goal, goal_met }: Verdict): string[] {
  return [
    field,
    number(value),
    `${bar} ${bar_met ? 'met' : 'NOT MET'}`,
    goal === undefined ? '' : `${goal} ${goal_met ? 'met' : 'not met'}`,
  ]
}

/** A row for each raw figure, a column for each round. */
export function roundRows(rounds: readonly Round[]): string[][] {
  const heads = ['raw', ...rounds.map((_, index) => `round ${index + 1}`)]
  const body = Object.entries(rounds[0] ?? {}).flatMap(([contender, figures]) =>
    Object.keys(figures).map((field) => [
      `${contender} ${field}`,
      ...rounds.map((round) => number(round[contender]?.[field] ?? Number.NaN)),
    ]),
  )
  return [heads, ...body]
}

/** The pass at a size of its own as a table; none if there was none. */
export function scaleRows({ at_scale, unit }: Pick<Report, 'at_scale' | 'unit'>): string[][][] {
  if (!at_scale) return []
  const { size, contender, figures } = at_scale
  const body = Object.entries(figures).map(([field, value]) => [`${contender} ${field}`, number(value)])
  return [[['raw', `${number(size)} ${unit}, once`], ...body]]
}

export function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

export function list(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function cells([name, value]: [string, Figures[string]]): string[] {
  return [name, number(value!)]
}

/** Names to the left, everything else to the right. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}
