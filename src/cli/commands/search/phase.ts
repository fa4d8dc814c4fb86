/** The migration from the old knowledge base, in switches. */
import { Argument, Command, InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { type GlobalOptions, outputOf, withStagedoor } from '../../context.ts'
import { whole } from '../../numbers.ts'

export function phaseCommand(): Command {
  return new Command('phase')
    .description('open or close a phase of the migration from the old knowledge base, in order')
    .argument('<phase>', '1, 2 or 3', phase)
    .addArgument(new Argument('<state>', 'open or close').choices(['open', 'close']))
    .option('--reason <text>', 'kept in the history of the gate')
    .addHelpText(
      'after',
      `
  0  the mapping of documents to units, which only reads: it needs no switch
  1  units are projected into a collection of their own
  2  units and the old knowledge base are asked together, each thing once
  3  units are divided where their text divides, not every 4,000 characters

  $ stagedoor search phase 2 close --reason "the old search stays on its own for now"`,
    )
    .action(async (number: number, state: 'open' | 'close', _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { reason?: string }>()
      const output = outputOf(options)
      const open = state === 'open'
      const changed = await withStagedoor(options, ({ search }) =>
        search.setPhase(number, open, options.reason),
      )
      output.result({ phase: number, open, changed }, () => {
        if (!changed) return output.line(`Phase ${number} was ${open ? 'open' : 'closed'} already.`)
        output.line(`${pc.green('✔')} Phase ${number} is ${open ? 'open' : 'closed'}`)
        if (number === 3)
          output.line(
            pc.dim(
              '  Units are divided anew: they are pending until then, about two minutes or `stagedoor search now`.',
            ),
          )
      })
    })
}

interface WindowOptions extends GlobalOptions {
  readonly quiet?: number
  readonly delete?: number
  readonly reason?: string
}

export function windowCommand(): Command {
  return new Command('window')
    .description('how long search waits for quiet after an edit, and after a deletion')
    .option('--quiet <seconds>', 'after an edit: 120 to 180', whole(120, 180))
    .option('--delete <seconds>', 'before what was deleted is taken out: 30 to 60', whole(30, 60))
    .option('--reason <text>', 'kept in the history')
    .addHelpText('after', `\n  $ stagedoor search window --quiet 180 --reason "many editors at once"`)
    .action(async (_options, command: Command) => {
      const { quiet, delete: remove, reason, ...options } = command.optsWithGlobals<WindowOptions>()
      const output = outputOf(options)
      const done = await withStagedoor(options, async ({ search }) => {
        const changed =
          quiet === undefined && remove === undefined
            ? false
            : await search.setWindow({
                ...(quiet !== undefined && { quiet_s: quiet }),
                ...(remove !== undefined && { delete_s: remove }),
                ...(reason !== undefined && { reason }),
              })
        return { changed, ...(await search.status()).window }
      })
      output.result(done, () =>
        output.line(
          `${done.changed ? `${pc.green('✔')} ` : ''}${done.quiet_s} seconds of quiet after an edit, ${done.delete_s} after a deletion`,
        ),
      )
    })
}

function phase(given: string): number {
  if (/^[123]$/.test(given)) return Number(given)
  throw new InvalidArgumentError(
    given === '0' ? 'Phase 0 only reads: it needs no switch.' : 'It is 1, 2 or 3.',
  )
}
