import { Command, Option } from 'commander'
import pc from 'picocolors'
import { openDatabase } from '../../db/open.ts'
import { refuseTransactionPooler } from '../../db/pooler.ts'
import { StagedoorError } from '../../errors.ts'
import { EXECUTORS } from '../../jobs/executors.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { configOf, type GlobalOptions, outputOf } from '../context.ts'
import { commaList } from '../json-argument.ts'
import { whole } from '../numbers.ts'
import { table } from '../output.ts'

interface WorkerOptions extends GlobalOptions {
  readonly handlers?: string
  readonly kinds?: string[]
  readonly concurrency?: number
  readonly executor?: string
  readonly dispatch?: boolean
}

export function workerCommand(): Command {
  return new Command('worker')
    .description('run jobs in a process of its own, with handlers of yours')
    .option('--handlers <file>', 'its default export is defineJobs({ your_kind: async (job) => … })')
    .option(
      '--kinds <kinds>',
      'only these, separated by commas; default: all that it has handlers for',
      commaList,
    )
    .option('--concurrency <n>', 'handlers at once (STAGEDOOR_WORKER_CONCURRENCY)', whole(1, 1000))
    .addOption(new Option('--executor <name>', 'whose jobs it runs').choices(EXECUTORS).default('PG_worker'))
    .option('--dispatch', 'also turn events into jobs, where no `stagedoor start` does')
    .addHelpText(
      'after',
      `
jobs.ts:
  import { defineJobs } from 'stagedoor'
  export default defineJobs({
    async send_report(job, { signal, log }) {
      log.info(job.safe_payload)
      return { report_ref: 'r1' }
    },
  })

  $ stagedoor worker --handlers ./jobs.ts
  $ stagedoor job enqueue send_report

\`stagedoor start\` runs the jobs that Stagedoor brings itself. Here they run, too, unless --kinds says otherwise.
Throwing means: again later. Ctrl-C lets what runs come to its end. Killed, its jobs go to others within seconds.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<WorkerOptions>()
      const output = outputOf(options)
      const { concurrency } = options
      const config = configOf(
        options,
        concurrency === undefined ? {} : { workerConcurrency: String(concurrency) },
      )
      // Loaded here, because the other commands run no jobs.
      const { default: pino } = await import('pino')
      const { loadHandlers } = await import('../../jobs/handlers-file.ts')
      const { ownHandlers, runJobs } = await import('../running-jobs.ts')
      const { untilStopped } = await import('../serve.ts')
      const theirs = options.handlers === undefined ? {} : await loadHandlers(options.handlers)
      const handlers = chosen({ ...ownHandlers(config), ...theirs }, options.kinds)
      const log = pino({ level: config.logLevel }, pino.destination(2))
      const database = await openDatabase(config, { share: true, announce: true, notice: output.note })
      try {
        await refuseTransactionPooler(database.workerUrl)
        const stopped = untilStopped()
        const jobs = await runJobs(config, database, {
          log,
          handlers,
          dispatches: options.dispatch === true,
          ...(options.executor !== undefined && { executor: options.executor }),
        })
        const kinds = Object.keys(handlers)
        output.result({ executor: options.executor, kinds, concurrency: config.workerConcurrency }, () => {
          output.line(
            `${pc.green('●')} ${pc.bold('Working')} as ${options.executor}, ${config.workerConcurrency} at once`,
          )
          const lines = kinds.map((kind) => [`    ${kind}`, kind in theirs ? '' : 'built in'])
          output.line(table(lines, (cell, column) => (column === 1 ? pc.dim(cell) : cell)))
          output.line(pc.dim('  Ctrl-C stops it, and lets what runs come to its end.'))
        })
        await stopped
        output.note(pc.dim('\n  stopping…'))
        await jobs.stop()
      } finally {
        await database.close()
      }
    })
}

function chosen(handlers: JobHandlers, kinds: readonly string[] | undefined): JobHandlers {
  if (kinds === undefined) return handlers
  const unknown = kinds.find((kind) => !(kind in handlers))
  if (unknown !== undefined) {
    throw new StagedoorError(
      'argument_invalid',
      { reason: `There is no handler of ${unknown}` },
      { hint: `There are handlers of ${Object.keys(handlers).join(', ')}. --handlers brings your own.` },
    )
  }
  return Object.fromEntries(kinds.map((kind) => [kind, handlers[kind]!]))
}
