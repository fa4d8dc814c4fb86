/** Running again from a step: told to whoever drives, or with handlers in this process. */
import { Command, InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { createPool, type Pool } from '../../../db/connection.ts'
import { openDatabase } from '../../../db/open.ts'
import { StagedoorError } from '../../../errors.ts'
import { requireExecution } from '../../../executions/shown-executions.ts'
import { type PlaybookDetail, requirePlaybookNamed } from '../../../executions/shown-playbooks.ts'
import { rerunExecution } from '../../../executions/steering.ts'
import { type ActingOptions, acting, asOption, isNamed, userOption } from '../../acting.ts'
import { configOf, outputOf } from '../../context.ts'
import { executionId } from '../../ids.ts'
import type { Output } from '../../output.ts'
import { spanOf } from '../../times.ts'
import { handlersOf, warnOfMissing } from '../run/handlers.ts'
import { runHere } from '../run/here.ts'
import { printNext } from '../upload/next-step.ts'

interface RerunOptions extends ActingOptions {
  readonly from: string
  readonly version?: number | 'latest'
  readonly handlers?: string
  readonly timeout?: number
}

export function rerunCommand(): Command {
  return new Command('rerun')
    .description('a new execution that begins at a step of an old one, with what came before it there')
    .argument('<id>', 'of the old one', executionId)
    .requiredOption('--from <step>', 'that the old one came to')
    .option('--version <n>', 'of the playbook, or `latest`; default: that of the old one', versionOf)
    .option('--handlers <file>', 'run it here and watch it, with the export playbookHandlers of this file')
    .option('--timeout <span>', 'with --handlers: look away after 30s, 5m or 2h', spanOf)
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
  $ stagedoor executions rerun 380612… --from load --handlers handlers.mjs
  $ stagedoor executions rerun 380612… --from report --version latest    after the playbook was mended

It takes the arguments of the old one, and its version of the playbook unless --version says otherwise. The old one stays as it is.
Without --handlers a server or a worker runs it.`,
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<RerunOptions>()
      const output = outputOf(options)
      if (options.handlers !== undefined) return rerunHere(id, options, output)
      const { execution_id, version } = await acting(options, async (client) => {
        const playbook = await playbookOf(client, id, options.version)
        // Members do not see who has which handler.
        if (!isNamed(options) && playbook) await warnOfMissing(output, client, playbook.playbook, [])
        const execution_id = await rerunExecution(client, id, options.from, chosen(options, playbook))
        return { execution_id, version: playbook?.version ?? null }
      })
      output.result({ execution_id, rerun_of: id, from_step: options.from, version }, () => {
        const of = version === null ? '' : pc.dim(`, version ${version}`)
        output.line(`${pc.green('✔')} ${pc.dim(execution_id)} begins at ${pc.bold(options.from)}${of}`)
        printNext(output, [{ what: 'Watch it', command: `stagedoor executions wait ${execution_id}` }])
      })
    })
}

async function rerunHere(id: string, options: RerunOptions, output: Output): Promise<void> {
  if (isNamed(options)) {
    throw new StagedoorError('argument_invalid', {
      reason: '--handlers runs it in this process, which is the back end’s: leave --as and --user out',
    })
  }
  const config = configOf(options)
  const handlers = await handlersOf(output, options.handlers)
  const database = await openDatabase(config, { share: true, announce: true, notice: output.note })
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'cli' })
  try {
    const playbook = await playbookOf(pool, id, options.version)
    if (!playbook) throw new StagedoorError('execution_unknown', { execution: id })
    await warnOfMissing(output, pool, playbook.playbook, Object.keys(handlers))
    const here = { config, database, pool, output, handlers, handlersFile: options.handlers }
    process.exitCode = await runHere({ ...here, timeout: options.timeout }, playbook, async () => ({
      execution_id: await rerunExecution(pool, id, options.from, chosen(options, playbook)),
      is_new: true,
    }))
  } finally {
    await pool.end()
    await database.close()
  }
}

/** Undefined for a member who may not see the playbook: the database then says what is wrong. */
async function playbookOf(
  db: Pick<Pool, 'query'>,
  id: string,
  asked: RerunOptions['version'],
): Promise<PlaybookDetail | undefined> {
  const { playbook, version } = await requireExecution(db, id)
  if (playbook === null) return undefined
  return requirePlaybookNamed(db, playbook, asked === 'latest' ? undefined : (asked ?? version ?? undefined))
}

function chosen({ version }: RerunOptions, playbook: PlaybookDetail | undefined): { version?: number } {
  if (version === undefined) return {}
  const named = version === 'latest' ? playbook?.version : version
  return named === undefined ? {} : { version: named }
}

function versionOf(given: string): number | 'latest' {
  if (given === 'latest') return given
  const version = Number(given)
  if (/^\d+$/.test(given) && version >= 1 && version <= 2_147_483_647) return version
  throw new InvalidArgumentError('A number from 1, or `latest`.')
}
