import { Command } from 'commander'
import pc from 'picocolors'
import { createPool, type Pool } from '../../db/connection.ts'
import { type Database, openDatabase } from '../../db/open.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { JsonObject } from '../../executions/playbook/definition.ts'
import type { PlaybookDetail } from '../../executions/shown-playbooks.ts'
import { type Begun, beginExecution } from '../../executions/steering.ts'
import { type ActingOptions, asOption, callerFor, userOption, workspaceOf } from '../acting.ts'
import { configOf, outputOf } from '../context.ts'
import { whole } from '../numbers.ts'
import type { Output } from '../output.ts'
import { spanOf } from '../times.ts'
import { requireKnown, setArgument } from './run/arguments.ts'
import { handlersOf, warnOfMissing } from './run/handlers.ts'
import { runHere, titleOf } from './run/here.ts'
import { playbookFrom } from './run/playbook-from.ts'
import { workspaceForRun } from './run/workspace.ts'
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
    .option('--workspace <id or name>', 'whose members see it and decide; default: the only one there is')
    .option('--key <text>', 'the same playbook and key again is the same execution, and nothing new runs')
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

It runs in this process, beside a server or a worker that runs already. Ctrl-C looks away: it goes on where a server or a worker
runs that has the handlers, and stands still until one does. What is durable is not done again. A second Ctrl-C ends at once.
Exit codes: 0 completed · 1 failed, or not ended when --timeout was over · 6 cancelled · 130 looked away`,
    )
    .action(async (given: string, _options, command: Command) => {
      const options = command.optsWithGlobals<RunOptions>()
      const output = outputOf(options)
      const config = configOf(options)
      const handlers = await handlersOf(output, options.handlers)
      // Announced: whoever approves what it waits for does so from another terminal.
      const database = await openDatabase(config, { share: true, announce: true, notice: output.note })
      const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'cli' })
      try {
        const playbook = await playbookFrom(pool, given, options.version, Object.keys(handlers))
        requireKnown(playbook.playbook, options.set ?? {})
        await (options.detach
          ? warnOfMissing(output, pool, playbook.playbook, [], 'Start `stagedoor worker --handlers FILE`')
          : warnOfMissing(output, pool, playbook.playbook, Object.keys(handlers)))
        const start = () => begin(database, pool, playbook, options)
        if (options.detach) return showStarted(output, playbook, await start())
        const here = { config, database, pool, output, handlers, handlersFile: options.handlers }
        process.exitCode = await runHere({ ...here, timeout: options.timeout }, playbook, start)
      } finally {
        await pool.end()
        await database.close()
      }
    })
}

function showStarted(output: Output, playbook: PlaybookDetail, { execution_id, is_new }: Begun): void {
  const { name, version } = playbook
  output.result({ execution_id, playbook: name, version, is_new }, () => {
    const said = is_new ? 'is started' : 'was started before with this key; nothing new is started'
    output.line(`${pc.green('✔')} ${titleOf(playbook)} ${pc.dim(execution_id)} ${said}`)
    printNext(output, [
      { what: 'Watch it', command: `stagedoor executions wait ${execution_id}` },
      { what: 'A server or a worker runs it', command: 'stagedoor start' },
    ])
  })
}

/** As the member with --as, else as the back end. */
async function begin(
  database: Database,
  pool: Pool,
  playbook: PlaybookDetail,
  options: RunOptions,
): Promise<Begun> {
  const { workspace, set, key, version } = options
  const caller = await callerFor(database, options, workspace === undefined ? {} : { workspace })
  const requests = caller ? createPool(database.apiUrl, { max: 1, purpose: 'cli' }) : pool
  try {
    return await inTransaction(
      requests,
      async (client) => {
        const workspace_id = caller
          ? await workspaceOf(client, workspace)
          : await workspaceForRun(client, workspace, playbook.playbook)
        return beginExecution(client, playbook.name, set, {
          ...(version !== undefined && { version }),
          ...(key !== undefined && { idempotency_key: key }),
          ...(workspace_id !== undefined && { workspace_id }),
        })
      },
      caller,
    )
  } finally {
    if (requests !== pool) await requests.end()
  }
}
