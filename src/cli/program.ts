/** The command line: every command is a thin adapter in commands/. */
import { Command, CommanderError } from 'commander'
import { readConfig } from '../config.ts'
import { StagedoorError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { clientCommand } from './commands/client.ts'
import { completionCommand } from './commands/completion.ts'
import { configCommand } from './commands/config.ts'
import { consumerCommand } from './commands/consumer.ts'
import { datasetCommand } from './commands/dataset.ts'
import { doctorCommand } from './commands/doctor.ts'
import { eventsCommand } from './commands/events.ts'
import { executionsCommand } from './commands/executions.ts'
import { gateCommand } from './commands/gate.ts'
import { ingestCommand } from './commands/ingest.ts'
import { issueCommand } from './commands/issue.ts'
import { jobCommand } from './commands/job.ts'
import { lineageCommand } from './commands/lineage.ts'
import { loginCommand } from './commands/login.ts'
import { memberCommand, workspaceCommand } from './commands/member.ts'
import { migrateCommand } from './commands/migrate.ts'
import { playbookCommand } from './commands/playbook.ts'
import { restoredCommand } from './commands/restored.ts'
import { routeCommand } from './commands/route.ts'
import { runCommand } from './commands/run.ts'
import { scheduleCommand } from './commands/schedule.ts'
import { stagingCommand } from './commands/staging/index.ts'
import { startCommand } from './commands/start.ts'
import { tokenCommand } from './commands/token.ts'
import { traceCommand } from './commands/trace.ts'
import { uploadCommand } from './commands/upload.ts'
import { webhookCommand } from './commands/webhook.ts'
import { workerCommand } from './commands/worker.ts'
import { reportError } from './output.ts'

const AFTER_HELP = `
Without DATABASE_URL everything runs on an embedded PostgreSQL in STAGEDOOR_HOME (default .stagedoor).
With DATABASE_URL nothing is created, opened or loaded without a command that says so.

Start here:
  $ stagedoor start                      run API, workers and console
  $ stagedoor ingest FILE --dataset ads --platform meta
  $ stagedoor route add orders --on insert,update --keep id,status
  $ stagedoor worker --handlers ./jobs.ts  run jobs with handlers of yours
  $ stagedoor run playbook.yaml --set n=10 run a playbook and watch it
  $ stagedoor config                     see every setting and where it came from
  $ stagedoor migrate --plan             see what a migration would do to your database
  $ stagedoor doctor                     compare the database with what this version expects
  $ stagedoor gate open iu_core.staging_writes_enabled --reason "go live"

Exit codes: 0 done · 1 unexpected · 2 bad input · 3 configuration · 4 database · 5 refused · 6 conflict ·
            7 drift · 8 not found · 9 port, folder or program of this machine`

export function createProgram(): Command {
  const program = new Command('stagedoor')
    .description(
      'Pull requests for production data: held, diffed, approved, promoted, undone. On your Postgres.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .option('--json', 'print one JSON value for machines; errors as JSON on stderr')
    .option('--home <folder>', 'folder of the embedded server (STAGEDOOR_HOME)')
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError()
    .enablePositionalOptions()
  const commands = [
    startCommand(),
    migrateCommand(),
    doctorCommand(),
    configCommand(),
    gateCommand(),
    ingestCommand(),
    uploadCommand(),
    lineageCommand(),
    datasetCommand(),
    clientCommand(),
    stagingCommand(),
    eventsCommand(),
    routeCommand(),
    consumerCommand(),
    jobCommand(),
    workerCommand(),
    scheduleCommand(),
    runCommand(),
    playbookCommand(),
    executionsCommand(),
    traceCommand(),
    issueCommand(),
    webhookCommand(),
    restoredCommand(),
    workspaceCommand(),
    memberCommand(),
    tokenCommand(),
    loginCommand(),
    completionCommand(() => program),
  ]
  for (const command of commands) program.addCommand(withGlobals(command))
  // Commander's own knows one name only: `help upload fix` would show the help of upload.
  program.helpCommand(false).addCommand(helpCommand(() => program))
  return program
}

function helpCommand(program: () => Command): Command {
  return new Command('help')
    .description('display help for command')
    .argument('[command...]', 'such as upload fix')
    .action((names: string[]) => {
      let found = program()
      for (const name of names) {
        const next = found.commands.find((command) => command.name() === name)
        if (next) found = next
        else
          throw new StagedoorError('argument_invalid', { reason: `There is no command ${names.join(' ')}` })
      }
      found.help()
    })
}

/** --json and --home may stand before or after the command's name. */
function withGlobals(command: Command): Command {
  for (const child of command.commands) withGlobals(child)
  if (command.commands.length === 0) {
    command.option('--json', 'print one JSON value for machines')
    command.option('--home <folder>', 'folder of the embedded server (STAGEDOOR_HOME)')
  }
  return command
}

/** Returns the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json')
  try {
    const program = createProgram()
    exitByException(program)
    await program.parseAsync(argv)
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return usage(error, json)
    return reportError(error, { json, stack: isDebugging() })
  }
}

function exitByException(command: Command): void {
  command.exitOverride()
  // Commander's own words come through reportError, so that --json and the exit code hold for them, too.
  command.configureOutput({ outputError: () => {} })
  for (const child of command.commands) exitByException(child)
}

function usage(error: CommanderError, json: boolean): number {
  if (error.exitCode === 0) return 0
  // No command at all: commander has printed the help.
  if (error.code === 'commander.help') return 2
  const reason = error.message.replace(/^error: /, '')
  return reportError(new StagedoorError('argument_invalid', { reason }), { json, stack: false })
}

/** Asked after an error, which may be that the configuration cannot be read. */
function isDebugging(): boolean {
  try {
    return ['debug', 'trace'].includes(readConfig().logLevel)
  } catch {
    return false
  }
}
