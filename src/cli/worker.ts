/**
 * `stagedoor worker`: jobs, playbooks and the projection of search in a process without the API; with NATS_URL and without DATABASE_URL a
 * remote worker, which runs handlers for gateways and has no database.
 */
import { hostname } from 'node:os'
import pc from 'picocolors'
import type { Composition } from '../app/compose.ts'
import type { PlaybookHandlers } from '../executions/tools/tool.ts'
import type { MetricsPort } from '../http/metrics-port.ts'
import { READING_KIND } from '../ingest/reading.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { EXECUTORS } from '../jobs/queue.ts'
import type { Config } from '../kernel/config.ts'
import { argumentInvalid, integerBetween, parseList } from './arguments.ts'
import { command } from './command.ts'
import { onCrash, startUntilStopped, untilStopped, untilStoppedOrLost } from './process.ts'
import { LOG_OPTION } from './session.ts'
import type { Output } from './terminal.ts'
import { workerListCommand } from './worker-list.ts'

/** The default of an engine. */
const DEFAULT_STEP_CONCURRENCY = 50

export const workerCommand = () =>
  command('worker', 'run jobs and playbooks and project units into search, in a process without the API')
    .option(
      '--handlers <file>',
      'default export: defineJobs({ your_kind: async (job) => … }); export playbookHandlers: handlers of playbooks',
    )
    .option(
      '--kinds <kinds>',
      'only these kinds, separated by commas; default: all that have a handler',
      parseList,
    )
    .option(
      '--concurrency <n>',
      'jobs at once (STAGEDOOR_WORKER_CONCURRENCY, else 10), and as many steps and items of playbooks (else 50); a remote worker: all of them together',
      integerBetween(1, 1000),
    )
    .option('--executor <name>', 'whose jobs it runs', EXECUTORS, 'PG_worker')
    .option('--dispatch', 'also turn events into jobs (run the dispatcher)')
    .option('--no-playbooks', 'run no executions and no steps here')
    .option('--no-search', 'project nothing into search here')
    .option(...LOG_OPTION)
    .option(
      '--metrics-port <n>',
      'serve the metrics of this process for Prometheus at /metrics, and /health for probes',
      integerBetween(0, 65_535),
    )
    .option('--metrics-host <address>', 'address of that port; it asks for no token', '127.0.0.1')
    .examples(
      `jobs.ts:
  import { defineJobs } from 'stagedoor'
  export default defineJobs({
    async send_report(job, { signal, log }) {
      log.info(job.payload)
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

The built-in kinds of jobs run here and in \`stagedoor start\`, unless --kinds leaves them out; upload_read reads the files of uploads. Every worker also runs all maintenance.
A process that drives an execution and lacks a handler hands the step to a process that has it.
With NATS_URL and without DATABASE_URL it is a remote worker: it runs only your handlers, for the gateways in \`stagedoor start\`, and needs
no database. A handler that uses transaction or complete is declared as { needs: ['database'], run } and stays with the other workers.
A handler that throws is retried. Ctrl-C waits for running handlers. The jobs of a killed worker go to others within seconds.`,
    )
    .run(
      async ({ options, output, config, database: open }) => {
        const { concurrency, executor, playbooks, search } = options
        if (config.natsUrl !== undefined && config.databaseUrl === undefined)
          return runRemote(options, output, config)
        // Loaded here, because the other commands run no jobs.
        const { builtInJobs, compose } = await import('../app/compose.ts')
        const { createLog, throttleOutageLog } = await import('../app/log.ts')
        const { createMetrics } = await import('../app/metrics.ts')
        const { openMetricsPort } = await import('../http/metrics-port.ts')
        const own = await loadHandlerFile(options.handlers)
        const kindsOfJobs = options.kinds?.filter((kind) => kind !== READING_KIND)
        const handlers = selectHandlers({ ...builtInJobs(config), ...own.handlers }, kindsOfJobs)
        const log = throttleOutageLog(createLog(config))
        const metrics = createMetrics()
        const database = await open()
        let port: MetricsPort | undefined
        let composition: Composition | undefined
        try {
          const stopped = untilStopped()
          if (options.metricsPort !== undefined)
            port = await openMetricsPort(metrics, options.metricsPort, options.metricsHost)
          const roles = {
            ...(Object.keys(handlers).length > 0 && { jobs: { handlers, executor } }),
            uploads: executor === 'PG_worker' && (options.kinds?.includes(READING_KIND) ?? true),
            dispatcher: options.dispatch === true,
            ...(playbooks && {
              playbooks: {
                handlers: own.playbookHandlers,
                ...(concurrency !== undefined && { concurrency }),
              },
            }),
            ...(search && { search: {} }),
          }
          composition = await startUntilStopped(
            stopped,
            compose(config, database, { log, metrics, onCrash, roles }),
          )
          const kinds = Object.keys(handlers)
          const names = Object.keys(own.playbookHandlers)
          const jobs = config.workerConcurrency
          const started = { executor, kinds, concurrency: jobs, playbooks: playbooks ? names : null, search }
          output.result({ ...started, metrics_url: port?.url }, () => {
            const atOnce = jobs === 1 ? 'one job at once' : `${jobs} jobs at once`
            output.line(`${pc.green('●')} ${pc.bold('Working')} as ${executor}, ${atOnce}`)
            output.records(kinds, [
              { value: (kind) => `    ${kind}` },
              { value: (kind) => (kind in own.handlers ? '' : 'built in'), dim: true },
            ])
            if (!kinds.includes('webhook_deliver') && options.kinds === undefined)
              output.dim('  Webhooks wait for a worker with STAGEDOOR_WEBHOOK_HOSTS.')
            const brought = names.join(', ') || 'no playbook handlers of yours'
            const steps = concurrency ?? DEFAULT_STEP_CONCURRENCY
            if (playbooks)
              output.line(
                `  ${pc.dim('playbooks')} driven and run, with ${brought}; ${steps} steps and items at once`,
              )
            if (port) output.line(`  ${pc.dim('metrics')} ${port.url}`)
            output.dim('  Ctrl-C stops it and waits for running handlers.')
          })
          await untilStoppedOrLost(stopped, database)
          output.note(pc.dim('\n  stopping…'))
        } finally {
          await composition?.stop()
          await port?.close()
        }
      },
      { announce: true, settingsFrom: { workerConcurrency: 'concurrency', logFormat: 'log' } },
    )
    .addCommand(workerListCommand())

interface RemoteOptions {
  readonly handlers?: string
  readonly kinds?: readonly string[]
  readonly executor: string
  readonly dispatch?: boolean
  readonly playbooks: boolean
  readonly metricsPort?: number
  readonly metricsHost: string
}

/** Runs the user's handlers for gateways until it is stopped. */
async function runRemote(options: RemoteOptions, output: Output, config: Config): Promise<void> {
  const { startRemoteWorkerProcess } = await import('../app/remote-worker.ts')
  const { createLog } = await import('../app/log.ts')
  const { createMetrics } = await import('../app/metrics.ts')
  const { openMetricsPort } = await import('../http/metrics-port.ts')
  const { openNats } = await import('../runtime/nats.ts')
  if (options.handlers === undefined)
    throw argumentInvalid(
      'A remote worker needs --handlers: it runs only your own',
      'With DATABASE_URL it would run the built-in kinds of jobs, too.',
    )
  if (options.dispatch)
    throw argumentInvalid(
      'A remote worker has no database, so it cannot dispatch events',
      'Run `stagedoor worker --dispatch` with DATABASE_URL.',
    )
  const own = await loadHandlerFile(options.handlers)
  const handlers = selectHandlers(own.handlers, options.kinds)
  const log = createLog(config)
  const stopped = untilStopped()
  const nats = openNats(config, `stagedoor worker ${hostname()} ${process.pid}`, log)!
  let port: MetricsPort | undefined
  try {
    const metrics = createMetrics()
    if (options.metricsPort !== undefined)
      port = await openMetricsPort(metrics, options.metricsPort, options.metricsHost)
    const { executor } = options
    const concurrency = config.workerConcurrency
    const worker = startRemoteWorkerProcess({
      nats,
      log,
      handlers,
      playbookHandlers: options.playbooks ? own.playbookHandlers : {},
      concurrency,
      executor,
      hooks: metrics.remote,
      onGateway(gateway) {
        if (gateway !== undefined) output.note(pc.dim(`  attached to gateway ${gateway}`))
      },
    })
    metrics.remote.watch(worker)
    const { kinds, leftOut, playbookHandlers } = worker
    const shown = { executor, kinds, playbook_handlers: playbookHandlers, left_out: leftOut, concurrency }
    output.result({ ...shown, remote: true, metrics_url: port?.url }, () => {
      const atOnce = concurrency === 1 ? 'one call at once' : `${concurrency} calls at once`
      output.line(
        `${pc.green('●')} ${pc.bold('Working')} without a database as ${executor}, ${atOnce}, for the gateways at ${hostsOf(config)}`,
      )
      for (const kind of kinds) output.line(`    ${kind}`)
      for (const name of playbookHandlers) output.line(`    ${name} ${pc.dim('(playbooks)')}`)
      if (leftOut.length > 0) output.dim(`  Not offered, because they need a database: ${leftOut.join(', ')}`)
      if (port) output.line(`  ${pc.dim('metrics')} ${port.url}`)
      output.dim('  Ctrl-C stops it: running handlers have 30 s to end, the others run elsewhere.')
    })
    await stopped
    output.note(pc.dim('\n  stopping…'))
    await worker.stop()
  } finally {
    await nats.close()
    await port?.close()
  }
}

function hostsOf({ natsUrl = [] }: Config): string {
  return natsUrl.map((server) => new URL(server).host).join(', ')
}

function selectHandlers(handlers: JobHandlers, kinds: readonly string[] | undefined): JobHandlers {
  if (kinds === undefined) return handlers
  const unknown = kinds.find((kind) => !(kind in handlers))
  if (unknown !== undefined)
    throw argumentInvalid(
      `There is no handler of ${unknown}`,
      `There are handlers of ${Object.keys(handlers).join(', ')}. --handlers brings your own.`,
    )
  return Object.fromEntries(kinds.map((kind) => [kind, handlers[kind]!]))
}

/** What a file of the user's exports: handlers of jobs, of playbooks, or of both. */
export async function loadHandlerFile(
  file: string | undefined,
): Promise<{ handlers: JobHandlers; playbookHandlers: PlaybookHandlers }> {
  if (file === undefined) return { handlers: {}, playbookHandlers: {} }
  // Loaded here, because most commands need neither.
  const { loadPlaybookHandlers } = await import('../executions/tools/tool.ts')
  const { loadHandlers } = await import('../jobs/handlers.ts')
  return {
    handlers: await loadHandlers(file),
    playbookHandlers: (await loadPlaybookHandlers(file)) ?? {},
  }
}
