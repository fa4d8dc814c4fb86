import { Command } from 'commander'
import pc from 'picocolors'
import { readTrace } from '../../stagedoor/trace.ts'
import { type ActingOptions, acting, asOption, userOption } from '../acting.ts'
import { outputOf } from '../context.ts'
import { idOf } from '../ids.ts'
import { traceLines } from './trace/tree.ts'

export function traceCommand(): Command {
  return new Command('trace')
    .description('from a change to what came of it: events, jobs and executions as one tree, with times')
    .argument(
      '<id>',
      'of an event, a job, an execution or the whole trace',
      idOf('event', 'job', 'execution'),
    )
    .option('--ids', 'with the id of everything')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { ids?: boolean }>()
      const output = outputOf(options)
      const trace = await acting(options, (client) => readTrace(client, id))
      output.result(trace, () => {
        for (const line of traceLines(trace, id, options.ids === true)) output.line(line)
        if (trace.cut)
          output.line(pc.dim('There is more than the first thousand events, jobs or executions.'))
      })
    })
}
