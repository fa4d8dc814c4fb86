import { Command } from 'commander'
import pc from 'picocolors'
import { createPool } from '../../../db/connection.ts'
import { createResults } from '../../../executions/results/tiers.ts'
import { isSomebodyDriving } from '../../../executions/shown-engines.ts'
import { requireExecution } from '../../../executions/shown-executions.ts'
import { findPlaybook } from '../../../executions/shown-playbooks.ts'
import { resultsHome } from '../../../stagedoor/playbook-equipment.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../../context.ts'
import { executionId } from '../../ids.ts'
import { spanOf } from '../../times.ts'
import { showEnd, showLeft } from '../run/end.ts'
import { interruptions } from '../run/interruptions.ts'
import { runProgress } from '../run/progress.ts'
import { watchExecution } from '../run/watch.ts'

export function waitCommand(): Command {
  return new Command('wait')
    .description('watch an execution until it has ended; others drive it')
    .argument('<id>', 'of the execution', executionId)
    .option('--timeout <span>', 'look away after 30s, 5m or 2h', spanOf)
    .addHelpText(
      'after',
      '\nExit codes: 0 completed · 1 failed, or not ended when --timeout was over · 6 cancelled · 130 looked away',
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { timeout?: number }>()
      const output = outputOf(options)
      await withDatabase(options, async (database, config) => {
        const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'cli' })
        const stops = interruptions(options.timeout)
        try {
          const { playbook, version, end_time } = await requireExecution(pool, id)
          output.note(`${pc.bold(playbook ?? '?')} ${pc.dim(`version ${version}  ${id}`)}`)
          if (end_time === null && !(await isSomebodyDriving(pool)))
            output.note(
              pc.yellow('  No engine runs: it stands still until `stagedoor start` or a worker does.'),
            )
          const found =
            playbook === null ? undefined : await findPlaybook(pool, playbook, version ?? undefined)
          const width = Math.max(8, ...(found?.playbook.steps ?? []).map(({ step }) => step.length))
          const progress = runProgress(output, Math.min(32, width))
          const last = await watchExecution(pool, id, progress, stops.signal).finally(() => progress.stop())
          if (last.end_time !== null) {
            const home = resultsHome(config, database)
            const results = createResults({ pool, ...(home !== undefined && { home }) })
            process.exitCode = await showEnd(output, pool, results, last)
          } else {
            await showLeft(output, pool, last)
            process.exitCode = stops.why() === 'timeout' ? 1 : 130
          }
        } finally {
          stops.close()
          await pool.end()
        }
      })
    })
}
