/** The command line: every command is a thin adapter in commands/. */
import { Command, CommanderError } from 'commander'
import { CATALOGUE } from '../catalogue.ts'
import { readConfig } from '../config.ts'
import { StagedoorError } from '../errors.ts'
import { VERSION } from '../version.ts'
import type { GlobalOptions } from './context.ts'
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
  $ stagedoor mark handbook.md           propose how a document becomes units
  $ stagedoor search how many days of leave  ask what units and documents say
  $ stagedoor config                     see every setting and where it came from
  $ stagedoor migrate --plan             see what a migration would do to your database
  $ stagedoor doctor                     compare the database with what this version expects
  $ stagedoor gate open iu_core.staging_writes_enabled --reason "go live"

Exit codes: 0 done · 1 unexpected · 2 bad input · 3 configuration · 4 database · 5 refused · 6 conflict ·
            7 drift · 8 not found · 9 port, folder or program of this machine`

/** Each is loaded when it is called for: all of them together take a third of a second. In the order of the help. */
const COMMANDS: Readonly<Record<string, (program: () => Command) => Promise<Command>>> = {
  start: async () => (await import('./commands/start.ts')).startCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  config: async () => (await import('./commands/config.ts')).configCommand(),
  gate: async () => (await import('./commands/gate.ts')).gateCommand(),
  ingest: async () => (await import('./commands/ingest.ts')).ingestCommand(),
  upload: async () => (await import('./commands/upload.ts')).uploadCommand(),
  lineage: async () => (await import('./commands/lineage.ts')).lineageCommand(),
  dataset: async () => (await import('./commands/dataset.ts')).datasetCommand(),
  client: async () => (await import('./commands/client.ts')).clientCommand(),
  staging: async () => (await import('./commands/staging/index.ts')).stagingCommand(),
  mark: async () => (await import('./commands/mark.ts')).markCommand(),
  cut: async () => (await import('./commands/cut.ts')).cutCommand(),
  unit: async () => (await import('./commands/unit.ts')).unitCommand(),
  topic: async () => (await import('./commands/topic.ts')).topicCommand(),
  search: async () => (await import('./commands/search.ts')).searchCommand(),
  events: async () => (await import('./commands/events.ts')).eventsCommand(),
  route: async () => (await import('./commands/route.ts')).routeCommand(),
  consumer: async () => (await import('./commands/consumer.ts')).consumerCommand(),
  job: async () => (await import('./commands/job.ts')).jobCommand(),
  worker: async () => (await import('./commands/worker.ts')).workerCommand(),
  schedule: async () => (await import('./commands/schedule.ts')).scheduleCommand(),
  run: async () => (await import('./commands/run.ts')).runCommand(),
  playbook: async () => (await import('./commands/playbook.ts')).playbookCommand(),
  executions: async () => (await import('./commands/executions.ts')).executionsCommand(),
  trace: async () => (await import('./commands/trace.ts')).traceCommand(),
  issue: async () => (await import('./commands/issue.ts')).issueCommand(),
  webhook: async () => (await import('./commands/webhook.ts')).webhookCommand(),
  restored: async () => (await import('./commands/restored.ts')).restoredCommand(),
  sql: async () => (await import('./commands/sql.ts')).sqlCommand(),
  workspace: async () => (await import('./commands/member.ts')).workspaceCommand(),
  member: async () => (await import('./commands/member.ts')).memberCommand(),
  token: async () => (await import('./commands/token.ts')).tokenCommand(),
  login: async () => (await import('./commands/login.ts')).loginCommand(),
  completion: async (program) => (await import('./commands/completion.ts')).completionCommand(program),
}

/** What is asked of the program itself needs none of its commands. */
const OF_ITSELF = ['-V', '--version']

/** With one command of this name, or with all of them. */
export async function createProgram(only?: string): Promise<Command> {
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
  const one = only !== undefined && only !== 'completion' && Object.hasOwn(COMMANDS, only)
  const wanted = OF_ITSELF.includes(only ?? '') ? [] : one ? [COMMANDS[only]!] : Object.values(COMMANDS)
  for (const command of await Promise.all(wanted.map((load) => load(() => program)))) {
    program.addCommand(withGlobals(command))
  }
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

/** The first word that is neither an option nor the value of one. */
function commandNamed(argv: readonly string[]): string | undefined {
  const words = argv.slice(2)
  const at = words.findIndex((word, index) => !word.startsWith('-') && words[index - 1] !== '--home')
  return words[at] ?? words.find((word) => OF_ITSELF.includes(word))
}

/** Returns the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json')
  let options: GlobalOptions = { json }
  let program: Command | undefined
  try {
    program = await createProgram(commandNamed(argv))
    exitByException(program)
    program.hook('preAction', async (_program, command) => {
      options = command.optsWithGlobals<GlobalOptions>()
      const { resolveIds } = await import('./ids.ts')
      await resolveIds(command)
    })
    await program.parseAsync(argv)
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return usage(error, json, program, argv)
    const told = withUsage(await withKindOfId(error, options), program, argv)
    return reportError(told, { json, stack: isDebugging() })
  }
}

/** Where nothing better is known than that an argument is wrong: what the command takes. */
function withUsage(error: unknown, program: Command | undefined, argv: readonly string[]): unknown {
  if (!(error instanceof StagedoorError) || error.hint !== CATALOGUE.argument_invalid.hint) return error
  const hint = usageLine(program, argv)
  return hint === undefined
    ? error
    : new StagedoorError(error.code, error.details, { hint, message: error.message, cause: error })
}

function usageLine(program: Command | undefined, argv: readonly string[]): string | undefined {
  const names = ['stagedoor']
  let found = program
  for (const word of argv.slice(2)) {
    const next = found?.commands.find((command) => command.name() === word)
    if (next === undefined && names.length > 1 && !word.startsWith('-')) break
    if (next === undefined) continue
    found = next
    names.push(word)
  }
  if (found === undefined || found === program) return undefined
  const path = names.join(' ')
  return `Usage: ${path} ${found.usage()}; \`${path} --help\` says more.`
}

/** "There is no upload 01a1…" becomes more useful where that is the id of something else. */
async function withKindOfId(error: unknown, options: GlobalOptions): Promise<unknown> {
  if (!(error instanceof StagedoorError) || error.status !== 404 || error.code === 'id_not_found')
    return error
  const { hintForOtherKind } = await import('./ids.ts')
  const hint = await hintForOtherKind(error, options)
  return hint === undefined
    ? error
    : new StagedoorError(error.code, error.details, { hint, message: error.message, cause: error })
}

function exitByException(command: Command): void {
  command.exitOverride()
  // Commander's own words come through reportError, so that --json and the exit code hold for them, too.
  command.configureOutput({ outputError: () => {} })
  for (const child of command.commands) exitByException(child)
}

function usage(
  error: CommanderError,
  json: boolean,
  program: Command | undefined,
  argv: readonly string[],
): number {
  if (error.exitCode === 0) return 0
  // No command at all: commander has printed the help.
  if (error.code === 'commander.help') return 2
  const reason = error.message.replace(/^error: /, '')
  const refused = new StagedoorError('argument_invalid', { reason })
  return reportError(withUsage(refused, program, argv), { json, stack: false })
}

/** Asked after an error, which may be that the configuration cannot be read. */
function isDebugging(): boolean {
  try {
    return ['debug', 'trace'].includes(readConfig().logLevel)
  } catch {
    return false
  }
}
