import { Command } from 'commander'
import pc from 'picocolors'
import { type TracedResult, traceOf } from '../../../executions/reading.ts'
import { requireExecution } from '../../../executions/shown-executions.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { executionId } from '../../ids.ts'
import { visibleLine } from '../../output.ts'
import { duration } from '../../times.ts'
import { count, screenWidth, shortened } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'
import { resultText } from './screen.ts'

export function traceCommand(): Command {
  return new Command('trace')
    .description('from its end back to its beginning, result by result: what each came from')
    .argument('<id>', 'of the execution', executionId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const { way, cause } = await acting(options, async (client) => {
        await requireExecution(client, id)
        const { rows } = await client.query<{ cause: string | null }>(
          `select meta ->> 'cause' as cause from noetl.event where execution_id = $1 and seq = 1`,
          [id],
        )
        return { way: await traceOf(client, id), cause: rows[0]?.cause ?? null }
      })
      output.result({ execution_id: id, cause, way }, () => {
        const last = way.at(-1)
        if (!last) return output.line('No engine has picked it up yet.')
        for (const line of wayLines(way, last.logged_at)) output.line(line)
        printNext(output, [
          ...(way.some((one) => countsOf(one)?.failed)
            ? [{ what: 'Which items failed, and why', command: `stagedoor executions events ${id} --failed` }]
            : []),
          ...(cause === null
            ? []
            : [{ what: 'What led to it, and what came of it', command: `stagedoor trace ${cause}` }]),
        ])
      })
    })
}

/**
 * Ends say something; that a step was issued is said by its end already. Of a loop its end stands for all items: the one that
 * happened to be the last is not what it came from.
 */
function wayLines(way: readonly TracedResult[], began: Date): string[] {
  const ends = way.filter(
    ({ event_type }, index) =>
      index === 0 || !/\.(issued|enter|item|enqueued|fanin\.completed|shard\.\w+)$/.test(event_type),
  )
  return ends.map((one, index) => {
    const last = index === ends.length - 1
    const failed = one.error !== null
    const counts = countsOf(one)
    const mark = failed
      ? pc.red('✖')
      : counts?.failed
        ? pc.yellow('◐')
        : one.event_type.endsWith('.initialized')
          ? pc.dim('●')
          : pc.green('✔')
    const after = pc.dim(`+${duration(one.logged_at.getTime() - began.getTime())}`)
    const said = shortened(
      one.error ?? (counts ? countsText(counts) : resultText(one.result)),
      Math.max(20, screenWidth() - 50),
    )
    return `${pc.dim(last ? '└─' : '├─')} ${mark} ${pc.bold(one.node_name ?? one.event_type)} ${pc.dim(one.node_name === null ? '' : one.event_type)}  ${after}  ${failed ? pc.red(visibleLine(said)) : pc.dim(visibleLine(said))}`.trimEnd()
  })
}

interface Counts {
  readonly total: number
  readonly completed: number
  readonly failed: number
}

function countsOf({ event_type, result }: TracedResult): Counts | undefined {
  return event_type === 'loop.done' ? (result?.context as unknown as Counts | undefined) : undefined
}

function countsText({ total, completed, failed }: Counts): string {
  return `${count(completed)} done${failed > 0 ? `, ${count(failed)} failed` : ''} of ${count(total)}`
}
