import { Command } from 'commander'
import pc from 'picocolors'
import { examine } from '../../db/doctor/doctor.ts'
import { StagedoorError } from '../../errors.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../context.ts'
import { prose } from '../output.ts'

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('compare the database with what this version expects')
    .addHelpText(
      'after',
      '\nChanges nothing. Exits with 7 when something differs; each difference says how to mend it.',
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const report = await withDatabase(
        options,
        (database, config) =>
          examine({
            url: database.directUrl,
            ...((database.kind === 'embedded' || config.databaseDirectUrl !== undefined) && {
              apiUrl: database.apiUrl,
            }),
          }),
        { prepare: false },
      )
      output.result(report, () => {
        for (const finding of report.findings) {
          const [first, ...rest] = prose(`${finding.object}: ${finding.problem}`, { indent: 2 }).split('\n')
          output.line([`${pc.red('✖')} ${bolded(first!, finding.object)}`, ...rest].join('\n'))
          output.line(`  ${pc.dim(prose(finding.remedy, { indent: 2 }))}`)
        }
        for (const note of report.notes) output.line(`${pc.dim('·')} ${prose(note, { indent: 2 })}`)
        const counts = Object.entries(report.checked).map(
          ([what, count]) => `${count} ${count === 1 ? what : plural(what)}`,
        )
        if (report.ok) {
          output.line(`${pc.green('✔')} ${prose(`All is as expected: ${counts.join(', ')}.`, { indent: 2 })}`)
          output.line(pc.dim(`  PostgreSQL ${report.server_version}, Stagedoor ${report.stagedoor_version}`))
        }
      })
      if (!report.ok) throw new StagedoorError('drift', { count: report.findings.length })
    })
}

/** Measured without its colours. */
function bolded(line: string, beginning: string): string {
  return line.startsWith(beginning) ? pc.bold(beginning) + line.slice(beginning.length) : line
}

/** index → indexes, policy → policies */
function plural(what: string): string {
  return what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}${what.endsWith('x') ? 'es' : 's'}`
}
