/**
 * A command of the CLI: commander's, with the options that many commands share, run with one session. The types of options and
 * arguments follow from how they are declared: `--dry-run` is a boolean, `--topic <label>` a string, with a parser its result.
 */
import { Command, Option } from 'commander'
import { APP_ROLES, type AppRole } from '../access/members.ts'
import { integerBetween } from './arguments.ts'
import {
  createSession,
  type GlobalOptions,
  type Session,
  type SessionOptions,
  type SessionSettings,
} from './session.ts'

/** `stagedoor <noun> <verb>`; what it does is given with `run`. */
export function command(name: string, description: string): CliCommand {
  return new CommandWithSession(name).description(description) as unknown as CliCommand
}

/** `stagedoor <noun>`: its verbs, in the order of the help. */
export function commandGroup(
  name: string,
  description: string,
  verbs: readonly Command[],
  help?: string,
): Command {
  const group = new Command(name).description(description)
  for (const verb of verbs) group.addCommand(verb)
  return help === undefined ? group : group.addHelpText('after', help)
}

/** A command that is being declared; `run` ends the declaration. */
export interface CliCommand<Options extends object = GlobalOptions, Args extends unknown[] = []> {
  argument<F extends string>(flags: F, description?: string): CliCommand<Options, [...Args, Argument<F>]>
  /** Of `<several...>` the parser is given what it made of those before, or `fallback`. */
  argument<T>(
    flags: `[${string}`,
    description: string,
    parse: (given: string, before: T) => T,
    fallback: T,
  ): CliCommand<Options, [...Args, T]>
  argument<F extends string, T>(
    flags: F,
    description: string,
    parse: Parse<T>,
  ): CliCommand<
    Options,
    [...Args, F extends `[${string}...]` ? T : F extends `[${string}` ? T | undefined : T]
  >

  option<F extends string>(flags: F, description: string): CliCommand<Options & Optional<F>, Args>
  option<F extends string>(
    flags: F,
    description: string,
    fallback: string,
  ): CliCommand<Options & Required<Optional<F>>, Args>
  option<F extends string, const T>(
    flags: F,
    description: string,
    values: Values<T>,
  ): CliCommand<Options & Optional<F, T>, Args>
  option<F extends string, const T>(
    flags: F,
    description: string,
    values: Values<T>,
    fallback: NoInfer<T>,
  ): CliCommand<Options & Required<Optional<F, T>>, Args>

  requiredOption<F extends string>(
    flags: F,
    description: string,
  ): CliCommand<Options & Required<Optional<F>>, Args>
  requiredOption<F extends string, const T>(
    flags: F,
    description: string,
    values: Values<T>,
  ): CliCommand<Options & Required<Optional<F, T>>, Args>

  /** The option before this one cannot be given together with those. */
  conflicts(...options: string[]): CliCommand<Options, Args>
  /** Adds --as and --user, behind the other options: the command acts as a member instead of as the back end. */
  actor(
    settings?: SessionSettings,
  ): CliCommand<Options & { readonly as?: AppRole; readonly user?: string }, Args>
  /** The first argument is the id of an upload, a staging record or a change: a member is looked for in its workspace. */
  about(kind: Subject): CliCommand<Options, Args>
  workspace(description?: string): CliCommand<Options & { readonly workspace?: string }, Args>
  limit(
    fallback?: number,
    max?: number,
    description?: string,
  ): CliCommand<Options & { readonly limit: number }, Args>
  /** Commands that people can paste, or a paragraph, below the options. */
  examples(...lines: string[]): CliCommand<Options, Args>
  /** The session is closed when `work` has ended, well or not. */
  run(
    work: (session: Session<Options>, ...args: Args) => Promise<unknown> | unknown,
    settings?: SessionSettings | ((options: Options) => SessionSettings),
  ): Command
}

/** What a command is about. */
type Subject = 'upload' | 'record' | 'change' | 'comment'
type Parse<T> = (given: string, before?: T) => T
/** What an option may be: what a parser makes of it, or one of a list. */
type Values<T> = Parse<T> | readonly T[]

type CamelCase<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S
type NameOf<F extends string> = F extends `${string}--no-${infer N}`
  ? CamelCase<N>
  : F extends `${string}--${infer N} ${string}`
    ? CamelCase<N>
    : F extends `${string}--${infer N}`
      ? CamelCase<N>
      : never

/** `--name <value...>` is a list, `--name <value>` one value, `--name [value]` a value or true, `--name` a boolean, `--no-name` true where it is not given. */
type Optional<F extends string, T = string> = F extends `${string}--no-${string}`
  ? { readonly [K in NameOf<F>]: boolean }
  : F extends `${string}...>`
    ? { readonly [K in NameOf<F>]?: T extends readonly unknown[] ? T : T[] }
    : F extends `${string}<${string}`
      ? { readonly [K in NameOf<F>]?: T }
      : F extends `${string}[${string}`
        ? { readonly [K in NameOf<F>]?: T | true }
        : { readonly [K in NameOf<F>]?: boolean }

type Argument<F extends string> = F extends `${string}...${string}`
  ? string[]
  : F extends `[${string}`
    ? string | undefined
    : string

class CommandWithSession extends Command {
  private settings: SessionSettings = {}
  private hasActor = false
  private subject: Subject | undefined

  override option(flags: string, description?: string, values?: unknown, fallback?: unknown): this {
    return this.addOption(optionWith(flags, description, values, fallback))
  }

  override requiredOption(flags: string, description?: string, values?: unknown, fallback?: unknown): this {
    return this.addOption(optionWith(flags, description, values, fallback).makeOptionMandatory())
  }

  conflicts(...options: string[]): this {
    this.options.at(-1)!.conflicts(options)
    return this
  }

  actor(settings: SessionSettings = {}): this {
    this.settings = { ...this.settings, ...settings }
    this.hasActor = true
    return this
  }

  about(kind: Subject): this {
    this.subject = kind
    return this
  }

  workspace(description = 'id or name; default: the only one there is'): this {
    return this.option('--workspace <id or name>', description)
  }

  limit(fallback = 20, max = 1000, description = 'how many'): this {
    return this.option('--limit <n>', description, integerBetween(1, max), fallback)
  }

  examples(...lines: string[]): this {
    return this.addHelpText('after', `\n${lines.join('\n')}`)
  }

  run(
    work: (session: Session<SessionOptions>, ...args: unknown[]) => unknown,
    settings: SessionSettings | ((options: SessionOptions) => SessionSettings) = {},
  ): this {
    if (this.hasActor)
      this.option('--as <role>', 'act as the member with this role, not as the back end', APP_ROLES).option(
        '--user <id>',
        'act as this member; on the embedded server only',
      )
    return this.action(async (...given: unknown[]) => {
      // Commander gives the arguments, then the options, then the command.
      const command = given.at(-1) as Command
      const options = command.optsWithGlobals<SessionOptions & { workspace?: string }>()
      const scope = this.subject ? { [this.subject]: given[0] } : { workspace: options.workspace }
      const own = typeof settings === 'function' ? settings(options) : settings
      const session = createSession(options, { ...this.settings, scope, ...own })
      try {
        await work(session, ...given.slice(0, -2))
      } finally {
        await session.close()
      }
    })
  }
}

function optionWith(
  flags: string,
  description: string | undefined,
  values: unknown,
  fallback: unknown,
): Option {
  const option = new Option(flags, description)
  if (Array.isArray(values)) option.choices(values)
  else if (typeof values === 'function') option.argParser(values as Parse<unknown>)
  else if (values !== undefined) option.default(values)
  return fallback === undefined ? option : option.default(fallback)
}
