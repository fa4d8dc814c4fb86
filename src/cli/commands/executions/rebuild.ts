/** What is shown of executions is folded from their logs: compared with them, or made anew. */
import { Command } from 'commander'
import pc from 'picocolors'
import { createPool } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { type Difference, projectionDifferences, rebuildProjection } from '../../../executions/rebuilding.ts'
import { requireExecution } from '../../../executions/shown-executions.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../../context.ts'
import { executionIds } from '../../ids.ts'
import { table } from '../../output.ts'
import { count } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'

interface RebuildOptions extends GlobalOptions {
  readonly all?: boolean
  readonly verify?: boolean
}

export function rebuildCommand(): Command {
  return new Command('rebuild')
    .description('fold what is shown of executions from their logs anew')
    .argument('[id...]', 'of executions', executionIds)
    .option('--all', 'of every execution')
    .option('--verify', 'change nothing: say where what is shown is not what the log says')
    .addHelpText('after', '\nEngines may go on meanwhile. --verify exits with 7 where something differs.')
    .action(async (ids: string[] | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<RebuildOptions>()
      const output = outputOf(options)
      const named = ids ?? []
      if (named.length === 0 && !options.all)
        throw new StagedoorError('argument_invalid', { reason: 'Name the executions, or say --all' })
      await withDatabase(options, async ({ workerUrl }) => {
        const pool = createPool(workerUrl, { role: 'dot_executor', max: 1, purpose: 'cli' })
        try {
          for (const id of named) await requireExecution(pool, id)
          if (options.verify) {
            const differences: Difference[] = []
            for await (const one of projectionDifferences(pool)) {
              if (options.all || named.includes(one.execution_id)) differences.push(one)
            }
            if (differences.length > 0) process.exitCode = 7
            const compared = options.all ? await countExecutions(pool) : named.length
            return output.result({ compared, differences }, () => {
              if (differences.length === 0)
                return output.line(
                  `${pc.green('✔')} What is shown is what the logs say, of ${compared === 1 ? 'one execution' : `${count(compared)} executions`}.`,
                )
              output.line(
                table(differences.map(({ execution_id, difference }) => [execution_id, difference])),
              )
              printNext(output, [{ what: 'Fold them anew', command: 'stagedoor executions rebuild --all' }])
            })
          }
          const rebuilt = options.all ? await rebuildProjection(pool) : await rebuildEach(pool, named)
          output.result({ rebuilt }, () =>
            output.line(
              `${pc.green('✔')} ${rebuilt === 1 ? 'One execution is' : `${count(rebuilt)} executions are`} folded from ${rebuilt === 1 ? 'its log' : 'their logs'} anew.`,
            ),
          )
        } finally {
          await pool.end()
        }
      })
    })
}

async function rebuildEach(pool: ReturnType<typeof createPool>, ids: readonly string[]): Promise<number> {
  for (const id of ids) await pool.query('select noetl.rebuild_execution_projection($1)', [id])
  return ids.length
}

async function countExecutions(pool: ReturnType<typeof createPool>): Promise<number> {
  const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from noetl.execution')
  return rows[0]!.n
}
