import { Command } from 'commander'
import pc from 'picocolors'
import { examine } from '../../db/doctor/doctor.ts'
import { StagedoorError } from '../../errors.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../context.ts'

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
          output.line(`${pc.red('✖')} ${pc.bold(finding.object)}: ${finding.problem}`)
          output.line(`  ${pc.dim(finding.remedy)}`)
        }
        for (const note of report.notes) output.line(`${pc.dim('·')} ${note}`)
        const counts = Object.entries(report.checked).map(
          ([what, count]) => `${count} ${count === 1 ? what : plural(what)}`,
        )
        if (report.ok) {
          output.line(`${pc.green('✔')} All is as expected: ${counts.join(', ')}.`)
          output.line(pc.dim(`  PostgreSQL ${report.server_version}, Stagedoor ${report.stagedoor_version}`))
        }
      })
      if (!report.ok) throw new StagedoorError('drift', { count: report.findings.length })
    })
}

/** index → indexes, policy → policies */
function plural(what: string): string {
  return what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}${what.endsWith('x') ? 'es' : 's'}`
}
