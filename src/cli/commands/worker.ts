import { Command, Option } from 'commander'
import pc from 'picocolors'
import { openDatabase } from '../../db/open.ts'
import { refuseTransactionPooler } from '../../db/pooler.ts'
import { StagedoorError } from '../../errors.ts'
import type { PlaybookHandlers } from '../../executions/tool.ts'
import { EXECUTORS } from '../../jobs/executors.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { configOf, type GlobalOptions, logOption, outputOf } from '../context.ts'
import { commaList } from '../json-argument.ts'
import type { MetricsPort } from '../metrics-port.ts'
import { whole } from '../numbers.ts'
import { table } from '../output.ts'
import type { RunningPlaybooks } from '../running-playbooks.ts'
import { handlersFrom } from './worker/handlers-from.ts'

/** What an engine takes unless it is told. */
const STEPS_AT_ONCE = 50

interface WorkerOptions extends GlobalOptions {
  readonly handlers?: string
  readonly kinds?: string[]
  readonly concurrency?: number
  readonly executor?: string
  readonly dispatch?: boolean
  readonly playbooks: boolean
  readonly search: boolean
  readonly log?: string
  readonly metricsPort?: number
  readonly metricsHost: string
}

export function workerCommand(): Command {
  return new Command('worker')
    .description(
      'run jobs and playbooks, and put units into search, in a process of its own, with handlers of yours',
    )
    .option(
      '--handlers <file>',
      'its default export is defineJobs({ your_kind: async (job) => … }), its export playbookHandlers those of playbooks',
    )
    .option(
      '--kinds <kinds>',
      'only these, separated by commas; default: all that it has handlers for',
      commaList,
    )
    .option(
      '--concurrency <n>',
      'jobs at once (STAGEDOOR_WORKER_CONCURRENCY, else 10), and as many steps and items of playbooks (else 50)',
      whole(1, 1000),
    )
    .addOption(new Option('--executor <name>', 'whose jobs it runs').choices(EXECUTORS).default('PG_worker'))
    .option('--dispatch', 'also turn events into jobs, where no `stagedoor start` does')
    .option('--no-playbooks', 'run jobs only: no executions are driven here, and no steps of theirs run')
    .option('--no-search', 'put nothing into search here')
    .addOption(logOption())
    .option('--metrics-port <n>', 'figures of this process for Prometheus, at /metrics', whole(0, 65_535))
    .option('--metrics-host <address>', 'where the port is open; there is no token', '127.0.0.1')
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
  export const playbookHandlers = {
    async geocode({ address }, { command_id, signal }) {
      return { lat: 0, lon: 0 }
    },
  }

  $ stagedoor worker --handlers ./jobs.ts
  $ stagedoor job enqueue send_report

\`stagedoor start\` runs the jobs that Stagedoor brings itself. Here they run, too, unless --kinds says otherwise.
A process that drives without a handler hands the step to one that has it; steps cost least where both are.
Throwing means: again later. Ctrl-C lets what runs come to its end. Killed, its jobs go to others within seconds.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<WorkerOptions>()
      const output = outputOf(options)
      const { concurrency } = options
      const config = configOf(options, {
        ...(concurrency !== undefined && { workerConcurrency: String(concurrency) }),
        ...(options.log !== undefined && { logFormat: options.log }),
      })
      // Loaded here, because the other commands run no jobs.
      const { createLog } = await import('../log.ts')
      const { runPlaybooks } = await import('../running-playbooks.ts')
      const { ownHandlers, runJobs } = await import('../running-jobs.ts')
      const { createMeasures } = await import('../../http/measures.ts')
      const { runSearch } = await import('../running-search.ts')
      const { openMetricsPort } = await import('../metrics-port.ts')
      const { onCrash, startUntilStopped, untilStopped, untilStoppedOrLost } = await import('../serve.ts')
      const { outageLog } = await import('../outage-log.ts')
      const { handlers: theirs, playbookHandlers } = await handlersFrom(options.handlers)
      const handlers = chosen({ ...ownHandlers(config), ...theirs }, options.kinds)
      const log = outageLog(createLog(config))
      const database = await openDatabase(config, { share: true, announce: true, notice: output.note })
      const measures = createMeasures()
      const stopped = untilStopped()
      // Whatever was started is stopped, in reverse order: a worker runs all of its parts or none.
      const parts: { stop(): Promise<unknown> }[] = [{ stop: () => database.close() }]
      const begin = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
        const part = await startUntilStopped(stopped, starting)
        parts.push(part)
        return part
      }
      try {
        let metrics: MetricsPort | undefined
        if (options.metricsPort !== undefined) {
          const port = await openMetricsPort(measures, options.metricsPort, options.metricsHost)
          metrics = port
          parts.push({ stop: () => port.close() })
        }
        await refuseTransactionPooler(database.workerUrl)
        const jobs = await begin(
          runJobs(config, database, {
            log,
            handlers,
            dispatches: options.dispatch === true,
            hooks: measures.worker,
            dispatched: measures.dispatched,
            ...(options.executor !== undefined && { executor: options.executor }),
          }),
        )
        let playbooks: RunningPlaybooks | undefined
        onCrash((error) => Promise.all([jobs.crash(error), playbooks?.crash(error)]))
        if (options.playbooks)
          playbooks = await begin(
            runPlaybooks(config, database, {
              log,
              handlers: playbookHandlers,
              hooks: measures.engine,
              ...(concurrency !== undefined && { concurrency }),
            }),
          )
        if (options.search) await begin(runSearch(config, database, { log, hooks: measures.search }))
        const kinds = Object.keys(handlers)
        const summary = {
          executor: options.executor,
          kinds,
          concurrency: config.workerConcurrency,
          playbooks: options.playbooks ? Object.keys(playbookHandlers) : null,
          search: options.search,
        }
        output.result({ ...summary, ...(metrics && { metrics_url: metrics.url }) }, () => {
          output.line(
            `${pc.green('●')} ${pc.bold('Working')} as ${options.executor}, ${jobsAtOnce(config.workerConcurrency)}`,
          )
          const lines = kinds.map((kind) => [`    ${kind}`, kind in theirs ? '' : 'built in'])
          output.line(table(lines, (cell, column) => (column === 1 ? pc.dim(cell) : cell)))
          if (!('webhook_deliver' in handlers) && options.kinds === undefined)
            output.line(pc.dim('  Webhooks wait for a worker with STAGEDOOR_WEBHOOK_HOSTS.'))
          if (options.playbooks)
            output.line(
              `  ${pc.dim('playbooks')} ${handlersText(playbookHandlers, concurrency ?? STEPS_AT_ONCE)}`,
            )
          if (metrics) output.line(`  ${pc.dim('metrics')} ${metrics.url}`)
          output.line(pc.dim('  Ctrl-C stops it, and lets what runs come to its end.'))
        })
        await untilStoppedOrLost(stopped, database)
        output.note(pc.dim('\n  stopping…'))
      } finally {
        for (const part of parts.reverse())
          await part.stop().catch((error: unknown) => log.error({ err: error }, 'on stop'))
      }
    })
}

function jobsAtOnce(concurrency: number): string {
  return concurrency === 1 ? 'one job at once' : `${concurrency} jobs at once`
}

function handlersText(handlers: PlaybookHandlers, concurrency: number): string {
  const names = Object.keys(handlers).join(', ') || 'no playbook handlers of yours'
  return `driven and run, with ${names}; ${concurrency} steps and items at once`
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
