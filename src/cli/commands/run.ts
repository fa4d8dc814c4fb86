import { Command } from 'commander'
import pc from 'picocolors'
import type { Config } from '../../config.ts'
import { createPool, type Pool } from '../../db/connection.ts'
import { type Database, openDatabase } from '../../db/open.ts'
import { refuseTransactionPooler } from '../../db/pooler.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { JsonObject } from '../../executions/playbook/definition.ts'
import type { ExecutionRecord } from '../../executions/shown-executions.ts'
import type { PlaybookDetail } from '../../executions/shown-playbooks.ts'
import { startExecution } from '../../executions/steering.ts'
import type { PlaybookHandlers } from '../../executions/tool.ts'
import { type ActingOptions, asOption, callerFor, userOption, workspaceOf } from '../acting.ts'
import { configOf, outputOf } from '../context.ts'
import { whole } from '../numbers.ts'
import type { Output } from '../output.ts'
import type { RunningPlaybooks } from '../running-playbooks.ts'
import { spanOf } from '../times.ts'
import { requireKnown, setArgument } from './run/arguments.ts'
import { showEnd, showLeft } from './run/end.ts'
import { interruptions } from './run/interruptions.ts'
import { playbookFrom } from './run/playbook-from.ts'
import { runProgress } from './run/progress.ts'
import { watchExecution } from './run/watch.ts'
import { printNext } from './upload/next-step.ts'

interface RunOptions extends ActingOptions {
  readonly set?: JsonObject
  readonly workspace?: string
  readonly key?: string
  readonly version?: number
  readonly handlers?: string
  readonly detach?: boolean
  readonly timeout?: number
}

export function runCommand(): Command {
  return new Command('run')
    .description('run a playbook: from its file or by its name, and watch it step by step')
    .argument('<file or name>', 'a file is registered first, if it says something new')
    .option('--set <name=value>', 'what it is given; value is JSON or text, @file.json is read', setArgument)
    .option(
      '--handlers <file>',
      'whose export playbookHandlers the steps with `tool: handler` call; those of other processes count, too',
    )
    .option('--workspace <id or name>', 'whose members may see it')
    .option('--key <text>', 'the same playbook and key again is the same execution')
    .option('--version <n>', 'of the playbook; default: the newest', whole(1, 2_147_483_647))
    .option('--detach', 'start it, and let a server or a worker run it')
    .option('--timeout <span>', 'look away after 30s, 5m or 2h; it goes on where a server runs', spanOf)
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
  $ stagedoor playbook check playbook.yaml
  $ stagedoor run playbook.yaml --set n=10000 --handlers handlers.mjs
  $ stagedoor run nightly-import --set list=@items.json --key 2026-11-16

It runs in this process, beside a server or a worker that runs already. Ctrl-C looks away: with a server it goes on, without
one it stands still until one runs. What is durable is not done again. A second Ctrl-C ends at once.
Exit codes: 0 completed · 1 failed, or not ended when --timeout was over · 6 cancelled · 130 looked away`,
    )
    .action(async (given: string, _options, command: Command) => {
      const options = command.optsWithGlobals<RunOptions>()
      const output = outputOf(options)
      const config = configOf(options)
      const { loadPlaybookHandlers } = await import('../../executions/handlers-file.ts')
      const handlers =
        options.handlers === undefined ? {} : ((await loadPlaybookHandlers(options.handlers)) ?? {})
      // Announced: whoever approves what it waits for does so from another terminal.
      const database = await openDatabase(config, { share: true, announce: true, notice: output.note })
      const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'cli' })
      try {
        const playbook = await playbookFrom(pool, given, options.version, Object.keys(handlers))
        requireKnown(playbook.playbook, options.set ?? {})
        process.exitCode = await run({ config, database, pool, playbook, handlers, options, output })
      } finally {
        await pool.end()
        await database.close()
      }
    })
}

interface Run {
  readonly config: Config
  readonly database: Database
  readonly pool: Pool
  readonly playbook: PlaybookDetail
  readonly handlers: PlaybookHandlers
  readonly options: RunOptions
  readonly output: Output
}

async function run(about: Run): Promise<number> {
  const { pool, playbook, options, output } = about
  const title = `${pc.bold(playbook.name)} ${pc.dim(`version ${playbook.version}`)}`
  if (options.detach) {
    const execution_id = await begin(about)
    output.result({ execution_id, playbook: playbook.name, version: playbook.version }, () => {
      output.line(`${pc.green('✔')} ${title} ${pc.dim(execution_id)} is started`)
      printNext(output, [
        { what: 'Watch it', command: `stagedoor executions wait ${execution_id}` },
        { what: 'A server or a worker runs it', command: 'stagedoor start' },
      ])
    })
    return 0
  }
  const stops = interruptions(options.timeout)
  const running = await engineOf(about)
  let last: ExecutionRecord
  try {
    const execution_id = await begin(about)
    output.note(`${title} ${pc.dim(execution_id)}`)
    const width = Math.min(32, Math.max(...playbook.playbook.steps.map(({ step }) => step.length)))
    const progress = runProgress(output, width)
    try {
      last = await watchExecution(pool, execution_id, progress, stops.signal)
    } finally {
      progress.stop()
    }
    if (last.end_time !== null) return await showEnd(output, pool, running.results, last)
  } finally {
    if (stops.signal.aborted) output.note(pc.dim('\n  looking away; steps that run come to their end…'))
    await running.stop()
    stops.close()
  }
  await showLeft(output, pool, last)
  return stops.why() === 'timeout' ? 1 : 130
}

async function engineOf({ config, database, handlers }: Run): Promise<RunningPlaybooks> {
  const { default: pino } = await import('pino')
  const { runPlaybooks } = await import('../running-playbooks.ts')
  await refuseTransactionPooler(database.workerUrl)
  // What goes wrong with a step is said in its line; the rest only to those who ask for it.
  const level = config.sources.logLevel === 'default' ? 'silent' : config.logLevel
  return runPlaybooks(config, database, {
    log: pino({ level }, pino.destination(2)),
    handlers,
    shutdownMs: 10_000,
  })
}

/** As the member with --as, else as the back end. */
async function begin({ database, pool, playbook, options }: Run): Promise<string> {
  const { workspace, set, key, version } = options
  const caller = await callerFor(database, options, workspace === undefined ? {} : { workspace })
  const requests = caller ? createPool(database.apiUrl, { max: 1, purpose: 'cli' }) : pool
  try {
    return await inTransaction(
      requests,
      async (client) =>
        startExecution(client, playbook.name, set, {
          ...(version !== undefined && { version }),
          ...(key !== undefined && { idempotency_key: key }),
          ...((caller || workspace !== undefined) && { workspace_id: await workspaceOf(client, workspace) }),
        }),
      caller,
    )
  } finally {
    if (requests !== pool) await requests.end()
  }
}
