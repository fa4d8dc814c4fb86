/** Who drives executions and runs their steps just now. */
import { Command } from 'commander'
import pc from 'picocolors'
import {
  type Lacking,
  lackedHandlers,
  listEngines,
  type ShownEngine,
} from '../../../executions/shown-engines.ts'
import { acting } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { age, table } from '../../output.ts'
import { lackingText } from '../run/step-lines.ts'
import { count } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'

export function enginesCommand(): Command {
  return new Command('engines')
    .description('the processes that drive executions and run their steps, and what waits for a handler')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const { engines, lacking } = await acting(options, async (client) => ({
        engines: await listEngines(client),
        lacking: await lackedHandlers(client),
      }))
      output.result({ engines, lacking }, () => {
        if (engines.length === 0) {
          output.line('No process runs playbooks: executions stand still.')
          printNext(output, [{ what: 'Let one run them', command: 'stagedoor start' }])
        } else output.line(engineTable(engines))
        for (const one of lacking) output.line(pc.yellow(lackingLine(one)))
      })
    })
}

function engineTable(engines: readonly ShownEngine[]): string {
  const rows = engines.map(({ name, engine_id, shards, commands, handlers, started_at }) => [
    name ?? engine_id,
    age(started_at),
    shards === null ? '–' : `${shards} of 16`,
    commands === null ? '–' : count(commands),
    handlers.join(', ') || 'none',
  ])
  return table([['process', 'age', 'shards', 'items', 'handlers'], ...rows], (cell, column, row) =>
    row === 0 || column === 1 ? pc.dim(cell) : cell,
  )
}

function lackingLine(one: Lacking): string {
  return `execution ${one.execution_id}: ${lackingText([one])}`
}
