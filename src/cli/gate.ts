/** `stagedoor gate`: the shared switches between the rooms. */
import pc from 'picocolors'
import { type Gate, type GateChange, gateHistory, listGates, setGate } from '../gates/gates.ts'
import { command, commandGroup } from './command.ts'
import type { Column } from './terminal.ts'

export const gateCommand = () =>
  commandGroup('gate', 'configuration gates: the shared switches between the rooms', [
    command('list', 'all gates, open or closed').run(async ({ output, backEnd }) => {
      const gates = await backEnd(listGates)
      output.result(gates, () => output.records(gates, GATE_COLUMNS))
    }),
    setCommand('open', true),
    setCommand('close', false),
    command('history', 'who changed which gate when, and why')
      .argument('[gate]', 'only this gate')
      .run(async ({ output, backEnd }, gate) => {
        const changes = await backEnd((client) => gateHistory(client, gate))
        const none = 'No gate was ever changed. `stagedoor gate open <gate>` opens one.'
        output.list(changes, CHANGE_COLUMNS, none)
      }),
  ])

const GATE_COLUMNS: Column<Gate>[] = [
  {
    value: ({ open }) => (open ? '● open' : '○ closed'),
    paint: (cell, { open }) => (open ? pc.green(cell) : pc.yellow(cell)),
  },
  { value: ({ gate }) => gate },
  { value: ({ description }) => description, dim: true },
]

const setCommand = (name: 'open' | 'close', open: boolean) =>
  command(name, `${name} a gate for everybody; audited`)
    .argument('<gate>', 'as `stagedoor gate list` shows it')
    .option('--reason <text>', 'kept in the audit')
    .run(async ({ output, options, administrator }, gate) => {
      const changed = await administrator((client) => setGate(client, gate, open, options.reason))
      output.result({ gate, open, changed }, () => {
        const state = open ? 'open' : 'closed'
        if (changed) output.done(`${gate} is ${state} now.`)
        else output.line(`${gate} was ${state} already. Nothing changed.`)
      })
    })

const CHANGE_COLUMNS: Column<GateChange>[] = [
  { value: ({ changed_at }) => changed_at.toISOString() },
  { value: ({ gate }) => gate },
  {
    value: ({ old_value, new_value, change }) =>
      `${stateOf(old_value)} → ${stateOf(new_value)}${change === 'override' ? ' (one transaction)' : ''}`,
  },
  { value: ({ actor }) => actor },
  { value: ({ reason }) => reason },
]

function stateOf(value: string | null): string {
  return value === null ? '–' : value === 'true' ? 'open' : 'closed'
}
