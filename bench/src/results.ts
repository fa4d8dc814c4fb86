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

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
