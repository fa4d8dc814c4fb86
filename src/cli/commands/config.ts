import { Command } from 'commander'
import pc from 'picocolors'
import { describeConfig, readConfig } from '../../config.ts'
import { StagedoorError } from '../../errors.ts'
import { type GlobalOptions, outputOf } from '../context.ts'
import { table } from '../output.ts'

export function configCommand(): Command {
  return new Command('config')
    .description('print the settings in force and where they came from, secrets masked')
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      // Not through `configOf`, which only warns.
      const config = readConfig(process.env, options.home === undefined ? {} : { home: options.home })
      const [unknown] = config.unknown
      if (unknown) throw new StagedoorError('config_unknown', { ...unknown })
      const lines = describeConfig(config)
      output.result(lines, () => {
        const rows = lines.map((line) => [line.setting, line.value || '(unset)', line.source, line.about])
        output.line(
          table([['setting', 'value', 'from', 'what it is'], ...rows], (cell, column, row) => {
            if (row === 0 || column === 3) return pc.dim(cell)
            return column === 0 ? pc.bold(cell) : cell
          }),
        )
      })
    })
}
