import { Command } from 'commander'
import pc from 'picocolors'
import type { Gate } from '../../gates/gates.ts'
import { type GlobalOptions, outputOf, withStagedoor } from '../context.ts'
import { table } from '../output.ts'

export function gateCommand(): Command {
  const gate = new Command('gate').description('configuration gates: the shared switches between the rooms')
  gate
    .command('list')
    .description('all gates, open or closed')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const gates = await withStagedoor(options, (stagedoor) => stagedoor.gates.list())
      output.result(gates, () => output.line(gateTable(gates)))
    })
  gate.addCommand(change('open', true))
  gate.addCommand(change('close', false))
  gate
    .command('history')
    .argument('[gate]', 'only this gate')
    .description('who changed which gate when, and why')
    .action(async (name: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const changes = await withStagedoor(options, (stagedoor) => stagedoor.gates.history(name))
      output.result(changes, () => {
        if (changes.length === 0)
          return output.line('No gate was ever changed. `stagedoor gate open <gate>` opens one.')
        output.line(
          table(
            changes.map((entry) => [
              entry.changed_at.toISOString(),
              entry.gate,
              `${word(entry.old_value)} → ${word(entry.new_value)}${entry.change === 'override' ? ' (one transaction)' : ''}`,
              entry.actor,
              entry.reason ?? '',
            ]),
          ),
        )
      })
    })
  return gate
}

function change(name: 'open' | 'close', open: boolean): Command {
  return new Command(name)
    .argument('<gate>', 'as `stagedoor gate list` shows it')
    .option('--reason <text>', 'kept in the audit')
    .description(`${name} a gate for everybody; audited`)
    .action(async (gate: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { reason?: string }>()
      const output = outputOf(options)
      const changed = await withStagedoor(options, ({ gates }) =>
        open ? gates.open(gate, options.reason) : gates.close(gate, options.reason),
      )
      output.result({ gate, open, changed }, () => {
        const state = open ? 'open' : 'closed'
        output.line(
          changed
            ? `${pc.green('✔')} ${gate} is ${state} now.`
            : `${gate} was ${state} already. Nothing changed.`,
        )
      })
    })
}

function gateTable(gates: readonly Gate[]): string {
  const rows = gates.map((gate) => [gate.open ? '● open' : '○ closed', gate.gate, gate.description])
  return table(rows, (cell, column, row) => {
    if (column === 0) return gates[row]!.open ? pc.green(cell) : pc.yellow(cell)
    return column === 2 ? pc.dim(cell) : cell
  })
}

function word(value: string | null): string {
  return value === null ? '–' : value === 'true' ? 'open' : 'closed'
}
