/** bench/RESULTS.md: the last full run of each benchmark, one section each. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Report } from './harness.ts'
import { list, number, roundRows, scaleRows, verdictCells } from './report.ts'

export const RESULTS_FILE = fileURLToPath(new URL('../RESULTS.md', import.meta.url))

const HEAD = `# Results

The last full run of each benchmark, written by \`npm run -s bench -- <name> --record\`. Figures of different
runs or machines cannot be compared; those of one run can: contenders took turns on the same server, with
\`fsync\` and \`synchronous_commit\` on, and every figure is the median of its rounds.
`

/** Replaces or adds the section of this benchmark and leaves the others as they are. */
export function recordResult(report: Report, order: readonly string[], file: string = RESULTS_FILE): void {
  writeFileSync(file, withSection(readIfThere(file), report, order))
}

export function withSection(text: string, report: Report, order: readonly string[]): string {
  const sections = new Map(
    text
      .split(/^(?=## )/m)
      .filter((part) => part.startsWith('## '))
      .map((part) => [/^## (\S+)/.exec(part)![1]!, part.trimEnd()]),
  )
  sections.set(report.benchmark, section(report))
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  const sorted = [...sections].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
  return `${[HEAD.trimEnd(), ...sorted.map(([, part]) => part)].join('\n\n')}\n`
}

function section(report: Report): string {
  const { machine } = report
  return [
    `## ${report.benchmark}`,
    '',
    `${number(report.size)} ${report.unit}, ${report.rounds.length} rounds, ${report.started_at.slice(0, 10)}, took ${number(report.took_s)} s.`,
    '',
    `- Command: \`npm run -s bench -- ${report.command} --record\``,
    `- Machine: ${machine.cores} cores, ${machine.memory_gb} GB, ${machine.cpu}, ${machine.system}`,
    `- Versions: ${list(report.versions)}`,
    `- Settings: ${list(report.settings)}`,
    '',
    ...markdownTable([
      ['figure', 'median'],
      ...Object.entries(report.figures).map(([field, value]) => [`\`${field}\``, number(value)]),
    ]),
    '',
    ...markdownTable([['must hold', 'value', 'bar', 'goal'], ...report.verdicts.map(verdictCells)]),
    '',
    ...markdownTable(roundRows(report.rounds)),
    ...scaleRows(report).flatMap((rows) => ['', ...markdownTable(rows)]),
  ].join('\n')
}

function markdownTable([head, ...body]: string[][]): string[] {
  const row = (cells: string[]): string => `| ${cells.join(' | ')} |`
  return [row(head!), row(head!.map((_, column) => (column === 0 ? '---' : '---:'))), ...body.map(row)]
}

/** A section as far as others use it: plots, texts with figures. */
export interface RecordedResult {
  /** As it is written: "100,000 jobs". */
  readonly amount: string
  readonly size: number
  readonly rounds: number
  readonly date: string
  readonly machine: string
  readonly versions: Readonly<Record<string, string>>
  readonly figures: Readonly<Record<string, number>>
  /** Rows of the raw figures, a value for each round. */
  readonly raw: Readonly<Record<string, readonly number[]>>
}

/** The sections that `--record` wrote, by name; those that a person wrote are left out. */
export function readResults(text: string): ReadonlyMap<string, RecordedResult> {
  return new Map(
    text
      .split(/^(?=## )/m)
      .map((part): [string, RecordedResult] | undefined => {
        const name = /^## (\S+)/.exec(part)?.[1]
        const result = readSection(part)
        return name && result ? [name, result] : undefined
      })
      .filter((entry) => entry !== undefined),
  )
}

function readSection(part: string): RecordedResult | undefined {
  const head = /^(?<amount>(?<size>[\d,]+) [^\n]*?), (?<rounds>\d+) rounds, (?<date>[\d-]{10}), took /m.exec(
    part,
  )?.groups
  if (!head) return undefined
  const rows = [...part.matchAll(/^\| (.+) \|$/gm)].map(([, cells]) => cells!.split(' | '))
  const column = (row: readonly string[]): number[] => row.slice(1).map(readNumber)
  const rawHead = rows.findIndex(([first, second]) => first === 'raw' && second === 'round 1')
  const rawEnd = rows.findIndex(([first], index) => index > rawHead && first === 'raw')
  return {
    amount: head.amount!,
    size: readNumber(head.size!),
    rounds: Number(head.rounds),
    date: head.date!,
    machine: /^- Machine: (.+)$/m.exec(part)?.[1] ?? '',
    versions: Object.fromEntries(
      (/^- Versions: (.+)$/m.exec(part)?.[1] ?? '').split(', ').flatMap((entry) => {
        const [, name, version] = /^(.+) (\d\S*)$/.exec(entry) ?? []
        return name && version ? [[name, version]] : []
      }),
    ),
    figures: Object.fromEntries(
      rows.flatMap(([first, value]) => {
        const field = /^`(.+)`$/.exec(first!)?.[1]
        return field && value ? [[field, readNumber(value)]] : []
      }),
    ),
    raw:
      rawHead < 0
        ? {}
        : Object.fromEntries(
            rows.slice(rawHead + 2, rawEnd < 0 ? undefined : rawEnd).map((row) => [row[0]!, column(row)]),
          ),
  }
}

const readNumber = (cell: string): number => Number(cell.replaceAll(',', ''))

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
