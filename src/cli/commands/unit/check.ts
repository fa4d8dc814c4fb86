/** The checker, by hand. Jobs run it as well. */
import { Command } from 'commander'
import pc from 'picocolors'
import { type CheckedUnit, checkUnits, type UnitFinding, unitsToCheck } from '../../../units/checks.ts'
import { acting, workspaceOf } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { type Output, table } from '../../output.ts'
import { findUnit, unitNames } from './named.ts'
import { fitted } from './screen.ts'

interface CheckOptions extends GlobalOptions {
  readonly workspace?: string
  readonly limit: number
}

export function checkCommand(): Command {
  return new Command('check')
    .description('the checker looks: edges, profile, topics, and the document behind a unit')
    .argument('[unit...]', 'address or id; default: all that are due', unitNames, [])
    .option('--workspace <id or name>', 'whose; default: the only one there is')
    .option('--limit <n>', 'how many at most', whole(1, 10_000), 1000)
    .action(async (names: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<CheckOptions>()
      const output = outputOf(options)
      const checked = await acting(options, async (client) => {
        if (names.length === 0) {
          const workspace = await workspaceOf(client, options.workspace)
          return checkUnits(client, await unitsToCheck(client, workspace, options.limit))
        }
        const units: string[] = []
        for (const name of names) units.push((await findUnit(client, name, options.workspace)).unit_id)
        return checkUnits(client, units)
      })
      output.result(checked, () => {
        if (checked.length > 0) print(output, checked)
        else output.line('Nothing is due: all units were checked as they are.')
      })
    })
}

function print(output: Output, checked: readonly CheckedUnit[]): void {
  const found = checked.filter(({ findings }) => findings.length > 0)
  if (found.length > 0) {
    const rows = found.flatMap(({ canonical_address, findings }) =>
      findings.map((finding) => [canonical_address, finding.code, referencesOf(finding)]),
    )
    output.line(
      table(fitted(rows), (cell, column) =>
        column === 1 ? pc.yellow(cell) : column === 2 ? pc.dim(cell) : cell,
      ),
    )
  }
  const fine = checked.length - found.length
  const counts = `${checked.length === 1 ? 'One unit' : `${checked.length} units`} checked, ${fine} without a finding`
  output.line(`${found.length > 0 ? `\n${pc.yellow('●')}` : pc.green('✔')} ${counts}`)
}

/** What a person would look for first: where an edge leads, else the references as they are. */
function referencesOf({ code: _, ...references }: UnitFinding): string {
  if (typeof references.target_ref === 'string') return `— ${references.edge_type} → ${references.target_ref}`
  return Object.entries(references)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
