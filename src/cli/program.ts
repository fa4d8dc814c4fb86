/** The command line: a file a noun, each loaded when it is called. */
import { Argument, Command, CommanderError } from 'commander'
import { CATALOGUE } from '../kernel/catalogue.ts'
import { readConfig } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { VERSION } from '../kernel/version.ts'
import type { GlobalOptions } from './session.ts'
import { reportError } from './terminal.ts'

const AFTER_HELP = `
Without DATABASE_URL everything runs on an embedded PostgreSQL in STAGEDOOR_HOME (default .stagedoor).
With DATABASE_URL nothing is created, opened or loaded without a command that says so.

Start here:
  $ stagedoor start                      run API, workers and console
  $ stagedoor init public.products products.xlsx  see what a file would change in a table of yours
  $ stagedoor ingest FILE --dataset ads --platform meta
  $ stagedoor propose "update products set …"  have a change in SQL reviewed
  $ stagedoor change list --waiting       see what waits for a review
  $ stagedoor status                     see what waits, runs and failed in every room
  $ stagedoor route register orders --on insert,update --columns id,status
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

type Load = (program: () => Command) => Promise<Command>

/**
 * The groups of the help, and the commands of each. A command is loaded when it is called for: all of them together take a third
 * of a second.
 */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Changes to your tables:': {
    init: async () => (await import('./init.ts')).initCommand(),
    profile: async () => (await import('./profile.ts')).profileCommand(),
    ingest: async () => (await import('./ingest.ts')).ingestCommand(),
    check: async () => (await import('./check.ts')).checkCommand(),
    propose: async () => (await import('./proposal.ts')).proposeCommand(),
    proposal: async () => (await import('./proposal.ts')).proposalCommand(),
    upload: async () => (await import('./upload.ts')).uploadCommand(),
    change: async () => (await import('./change.ts')).changeCommand(),
    promotion: async () => (await import('./promotion.ts')).promotionCommand(),
    lineage: async () => (await import('./lineage.ts')).lineageCommand(),
    dataset: async () => (await import('./dataset.ts')).datasetCommand(),
    client: async () => (await import('./dataset.ts')).clientCommand(),
    staging: async () => (await import('./staging.ts')).stagingCommand(),
    approval: async () => (await import('./approval.ts')).approvalCommand(),
    kind: async () => (await import('./approval.ts')).kindCommand(),
  },
  'Events and jobs:': {
    event: async () => (await import('./event.ts')).eventCommand(),
    route: async () => (await import('./route.ts')).routeCommand(),
    consumer: async () => (await import('./consumer.ts')).consumerCommand(),
    job: async () => (await import('./job.ts')).jobCommand(),
    schedule: async () => (await import('./schedule.ts')).scheduleCommand(),
    webhook: async () => (await import('./webhook.ts')).webhookCommand(),
    issue: async () => (await import('./event.ts')).issueCommand(),
    trace: async () => (await import('./trace.ts')).traceCommand(),
  },
  'Playbooks:': {
    run: async () => (await import('./run.ts')).runCommand(),
    playbook: async () => (await import('./playbook.ts')).playbookCommand(),
    execution: async () => (await import('./execution.ts')).executionCommand(),
  },
  'Knowledge and search:': {
    find: async () => (await import('./find.ts')).findCommand(),
    search: async () => (await import('./search.ts')).searchCommand(),
    mark: async () => (await import('./mark-folder.ts')).markCommand(),
    cut: async () => (await import('./mark.ts')).cutCommand(),
    unit: async () => (await import('./unit.ts')).unitCommand(),
    topic: async () => (await import('./topic.ts')).topicCommand(),
  },
  'Running and administration:': {
    start: async () => (await import('./start.ts')).startCommand(),
    status: async () => (await import('./status.ts')).statusCommand(),
    worker: async () => (await import('./worker.ts')).workerCommand(),
    mcp: async () => (await import('./mcp.ts')).mcpCommand(),
    pool: async () => (await import('./pool.ts')).poolCommand(),
    process: async () => (await import('./process-list.ts')).processCommand(),
    migrate: async () => (await import('./database.ts')).migrateCommand(),
    doctor: async () => (await import('./database.ts')).doctorCommand(),
    config: async () => (await import('./database.ts')).configCommand(),
    health: async () => (await import('./health.ts')).healthCommand(),
    gate: async () => (await import('./gate.ts')).gateCommand(),
    workspace: async () => (await import('./access.ts')).workspaceCommand(),
    member: async () => (await import('./access.ts')).memberCommand(),
    group: async () => (await import('./policy.ts')).groupCommand(),
    policy: async () => (await import('./policy.ts')).policyCommand(),
    invitation: async () => (await import('./access.ts')).invitationCommand(),
    session: async () => (await import('./access.ts')).sessionCommand(),
    token: async () => (await import('./token.ts')).tokenCommand(),
    login: async () => (await import('./database.ts')).loginCommand(),
    sql: async () => (await import('./database.ts')).sqlCommand(),
    completion: async (program) => completionCommand(program),
  },
}

const COMMANDS: Readonly<Record<string, Load>> = Object.assign({}, ...Object.values(GROUPS))

/** What is asked of the program itself needs none of its commands. */
const PROGRAM_FLAGS = ['-V', '--version']

/** With one command of this name, or with all of them. */
export async function createProgram(only?: string): Promise<Command> {
  const program = new Command('stagedoor')
    .description(
      'Pull requests for production data: staged, diffed, approved, promoted, undone. On your Postgres.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .option('--json', 'print one JSON value for machines; errors as JSON on stderr')
    .option('--home <folder>', 'folder of the embedded server (STAGEDOOR_HOME)')
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError()
    .enablePositionalOptions()
  const one = only !== undefined && only !== 'completion' && Object.hasOwn(COMMANDS, only)
  const wanted = PROGRAM_FLAGS.includes(only ?? '') ? [] : one ? [COMMANDS[only]!] : Object.values(COMMANDS)
  for (const command of await Promise.all(wanted.map((load) => load(() => program)))) {
    program.addCommand(withGlobals(command).helpGroup(groupOf(command.name())))
  }
  // Commander's own knows one name only: `help upload repair` would show the help of upload.
  program.helpCommand(false).addCommand(helpCommand(() => program).helpGroup('Running and administration:'))
  return program
}

function groupOf(name: string): string {
  return Object.entries(GROUPS).find(([, commands]) => Object.hasOwn(commands, name))![0]
}

function helpCommand(program: () => Command): Command {
  return new Command('help')
    .description('display help for command')
    .argument('[command...]', 'such as upload repair')
    .action((names: string[]) => {
      let found = program()
      for (const name of names) {
        const next = found.commands.find((command) => command.name() === name)
        if (!next)
          throw new StagedoorError('argument_invalid', { reason: `There is no command ${names.join(' ')}` })
        found = next
      }
      found.help()
    })
}

/** --json and --home may stand before or after the command's name. */
function withGlobals(command: Command): Command {
  for (const child of command.commands) withGlobals(child)
  // `token` has verbs and does something by itself, too.
  if (command.commands.length === 0 || command.name() === 'token') {
    command.option('--json', 'print one JSON value for machines')
    command.option('--home <folder>', 'folder of the embedded server (STAGEDOOR_HOME)')
  }
  return command
}

/** The first word that is neither an option nor the value of one. */
function commandNamed(argv: readonly string[]): string | undefined {
  const words = argv.slice(2)
  const at = words.findIndex((word, index) => !word.startsWith('-') && words[index - 1] !== '--home')
  return words[at] ?? words.find((word) => PROGRAM_FLAGS.includes(word))
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
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) {
      const error = withUsage(await withIdHint(thrown, options), program, argv)
      return reportError(error, { json, stack: isDebugging() })
    }
    if (thrown.exitCode === 0) return 0
    // No command at all: commander has printed the help.
    if (thrown.code === 'commander.help') return 2
    const error = new StagedoorError('argument_invalid', { reason: thrown.message.replace(/^error: /, '') })
    const said = thrown.code === 'commander.unknownOption' ? withExclusionHint(error, program, argv) : error
    return reportError(withUsage(said, program, argv), { json, stack: false })
  }
}

/** Commander takes a -word of a question, which leaves the word out, for an option. */
function withExclusionHint(
  error: StagedoorError,
  program: Command | undefined,
  argv: readonly string[],
): StagedoorError {
  const [, word] = /unknown option '-([^-'][^']*)'/.exec(error.message) ?? []
  const search = program?.commands.find((command) => command.name() === 'search')
  const asks = argv[3] === 'find' || !search?.commands.some((command) => command.name() === argv[3])
  if (word === undefined || argv[2] !== 'search' || !asks) return error
  return withHint(
    error,
    `\`--without ${word}\` leaves out what has this word; so does -${word} in a question that stands behind \`--\`.`,
  )
}

/** Where nothing better is known than that an argument is wrong: what the command takes. */
function withUsage(error: unknown, program: Command | undefined, argv: readonly string[]): unknown {
  if (!(error instanceof StagedoorError) || error.hint !== CATALOGUE.argument_invalid.hint) return error
  return withHint(error, usageLine(program, argv))
}

function withHint(error: StagedoorError, hint: string | undefined): StagedoorError {
  if (hint === undefined) return error
  return new StagedoorError(error.code, error.details, { hint, message: error.message, cause: error })
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
async function withIdHint(error: unknown, options: GlobalOptions): Promise<unknown> {
  if (!(error instanceof StagedoorError) || error.status !== 404 || error.code === 'id_not_found')
    return error
  const { hintForOtherKind } = await import('./ids.ts')
  return withHint(error, await hintForOtherKind(error, options))
}

function exitByException(command: Command): void {
  command.exitOverride()
  // Commander's own messages go through reportError, so that --json and the exit code hold for them, too.
  command.configureOutput({ outputError: () => {} })
  for (const child of command.commands) exitByException(child)
}

/** Asked after an error, which may be that the configuration cannot be read. */
function isDebugging(): boolean {
  try {
    return ['debug', 'trace'].includes(readConfig().logLevel)
  } catch {
    return false
  }
}

/** Words for the shell, made from the commands themselves. */
function completionCommand(program: () => Command): Command {
  return new Command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', '\nExample:\n  $ eval "$(stagedoor completion bash)"')
    .action((shell: string) => {
      const paths = commandWords(program())
      process.stdout.write(shell === 'fish' ? fish(paths) : bash(paths, shell === 'zsh'))
    })
}

/** For each command path ("", "gate", "gate open") the words that may follow. */
function commandWords(command: Command, path = ''): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const options = command.options.map((option) => option.long ?? option.short ?? '').filter(Boolean)
  found.set(path, [...command.commands.map((child) => child.name()), ...options])
  for (const child of command.commands) {
    for (const [key, value] of commandWords(child, `${path} ${child.name()}`.trim())) found.set(key, value)
  }
  return found
}

function bash(paths: Map<string, string[]>, zsh: boolean): string {
  const cases = [...paths].map(([path, next]) => `    "${path}") words="${next.join(' ')}" ;;`).join('\n')
  return `${zsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_stagedoor() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _stagedoor stagedoor
`
}

function fish(paths: Map<string, string[]>): string {
  const lines = [...paths].flatMap(([path, next]) => {
    const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    const condition = path === '' ? '__fish_use_subcommand' : seen.join('; and ')
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c stagedoor -n '${condition}' -l ${word.slice(2)}`
        : `complete -c stagedoor -f -n '${condition}' -a ${word}`,
    )
  })
  return `${lines.join('\n')}\n`
}
