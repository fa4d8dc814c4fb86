/** What keeps a dataset from being registered, for `init` and `dataset check`. */
import pc from 'picocolors'
import type { DatasetProblem } from '../ingest/datasets/registry.ts'
import type { Output } from './terminal.ts'
import { printableLine } from './text.ts'

/** Everything that is missing as one transaction, for the owner of the tables; null: there is nothing to run. */
export function scriptOf(problems: readonly DatasetProblem[]): string | null {
  const statements = [...new Set(problems.map(({ remedy }) => remedy).filter(isStatement))]
  return statements.length === 0 ? null : ['begin;', ...statements, 'commit;'].join('\n')
}

function isStatement(remedy: string | null): remedy is string {
  return remedy?.trimEnd().endsWith(';') ?? false
}

export function printProblems(output: Output, problems: readonly DatasetProblem[]): void {
  for (const { problem, remedy } of problems) {
    output.line(`${pc.red('✖')} ${printableLine(problem)}`)
    if (remedy !== null && !isStatement(remedy)) output.line(`    ${pc.cyan(printableLine(remedy))}`)
  }
  const script = scriptOf(problems)
  if (script === null) return
  output.heading('As one script')
  for (const statement of script.split('\n')) output.line(`  ${pc.cyan(statement)}`)
}
