/** What the stores really hold, against what Postgres says they should. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { AuditReport, Finding } from '../../../search/audit.ts'
import { type GlobalOptions, outputOf, withStagedoor } from '../../context.ts'
import { type Output, table } from '../../output.ts'
import { fitted } from '../unit/screen.ts'
import { count } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'
import { printWarning } from './screen.ts'

const MOST = 20

const MEANING: Readonly<Record<Finding, string>> = {
  orphan: 'in the store, and nobody knows of it',
  ghost: 'said to be in the store, and not there',
  payload: 'in the store, saying something else than Postgres',
  staging: 'names staged data, which must never be there',
  missing: 'a unit or document that is not in search as it is',
  left: 'in search, though its unit or document is gone',
}

export function auditCommand(): Command {
  return new Command('audit')
    .description('compare what the vector stores really hold with Postgres')
    .option(
      '--repair',
      'remove what should not be there and bring back what should; never in the old knowledge base',
    )
    .addHelpText(
      'after',
      '\nEnds with 7 when something is wrong and was not repaired, or a store could not be reached.',
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { repair?: boolean }>()
      const output = outputOf(options)
      output.note(pc.dim('Reading every point of every collection …'))
      const report = await withStagedoor(options, ({ search }) =>
        search.audit({ repair: options.repair === true }),
      )
      if (report.findings.some(({ repaired }) => !repaired) || report.collections.some(isUnreached))
        process.exitCode = 7
      output.result(report, () => print(output, report))
    })
}

/** The old knowledge base is not ours, and most have none. */
function isUnreached({ points, state }: AuditReport['collections'][number]): boolean {
  return points === null && state !== 'legacy'
}

function print(output: Output, { collections, findings }: AuditReport): void {
  const rows = collections.map((one) => [
    one.collection,
    one.state,
    one.store,
    one.points === null ? 'not looked at' : `${count(one.points)} points`,
  ])
  output.line(table(rows, (cell, column) => (column === 1 || column === 2 ? pc.dim(cell) : cell)))
  for (const { collection, state, problem } of collections) {
    if (problem === undefined) continue
    if (state === 'legacy') output.line(pc.dim(`  ${collection}: ${problem}`))
    else printWarning(output, `${collection}: ${problem}`)
  }
  output.line()
  if (findings.length === 0 && collections.some(isUnreached))
    output.line('Nothing wrong was found, but not every store could be reached: ask again once it is back.')
  else if (findings.length === 0) output.line(`${pc.green('✔')} What could be looked at is as Postgres says.`)
  else printFindings(output, findings)
}

function printFindings(output: Output, findings: AuditReport['findings']): void {
  const shown = findings.slice(0, MOST)
  output.line(
    table(
      fitted(shown.map((one) => [one.finding, one.collection ?? 'postgres', one.id, one.detail])),
      (cell, column) => (column === 0 ? pc.yellow(cell) : column === 2 ? pc.dim(cell) : cell),
    ),
  )
  if (findings.length > shown.length) output.line(pc.dim(`… ${findings.length - shown.length} more: --json`))
  output.line()
  for (const kind of new Set(findings.map(({ finding }) => finding)))
    output.line(pc.dim(`  ${kind}: ${MEANING[kind]}`))
  const repaired = findings.filter((one) => one.repaired).length
  const left = findings.length - repaired
  if (repaired > 0)
    output.line(`${pc.green('✔')} ${count(repaired)} repaired; what was missing comes back within a minute`)
  if (left > 0 && repaired > 0) output.line(`${count(left)} are not ours to repair.`)
  if (repaired === 0)
    printNext(output, [{ what: 'Repair what is ours', command: 'stagedoor search audit --repair' }])
}
