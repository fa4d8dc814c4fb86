/**
 * Tools run steps: a tool takes rendered arguments and returns JSON. What a tool is, the signature of each, its arguments, and the
 * tool `handler` with the handlers of a user's file.
 */
import type { Logger } from 'pino'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { importUserModule } from '../../runtime/user-module.ts'
import type { ToolName } from '../playbook/definition.ts'

export interface ToolContext {
  readonly execution_id: string
  /** The same for every run of one attempt: pass it on as an idempotency key. */
  readonly command_id: string
  readonly playbook: string
  readonly step: string
  readonly attempt: number
  /** Of the item, in a loop. */
  readonly index?: number
  readonly workspace_id: string | null
  /** On whose behalf. */
  readonly started_by: string
  /** The event that the execution follows from. */
  readonly cause: string | null
  /** Aborted when the time of the attempt is up, the execution was cancelled, the lease was lost or the process stops. */
  readonly signal: AbortSignal
  /** When the time of the attempt is up; absent: it has no limit. */
  readonly deadline?: Date
  readonly log: Logger
}

export type Tool = (
  call: string | undefined,
  args: JsonObject,
  context: ToolContext,
) => Promise<Json | undefined>
/** The tool `handler`, and what it can be called for: steps that call another are run by a process that has it. */
export interface HandlerTool extends Tool {
  readonly names: readonly string[]
}
/** `playbook` is not among them: the engine starts executions itself. */
export type Tools = Readonly<Partial<Record<Exclude<ToolName, 'playbook' | 'handler'>, Tool>>> & {
  readonly handler?: HandlerTool
}

/** Thrown by tools. Everything else that a tool throws counts as retryable. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly retryable: boolean
  constructor(message: string, { retryable = false, cause }: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryable = retryable
  }
}

/**
 * A function of the user's, called by name with `tool: handler`. What it is given is JSON that the playbook wrote, and what
 * type that has only its author knows: any, so that a handler may name the type of its arguments.
 */
// biome-ignore lint/suspicious/noExplicitAny: a parameter of any other type refuses handlers that say what they take
export type PlaybookHandler = (args: any, context: ToolContext) => Promise<unknown> | unknown
export type PlaybookHandlers = Readonly<Record<string, PlaybookHandler>>

/** Gives the handlers their types; they are returned as they are. */
export function definePlaybookHandlers<Handlers extends PlaybookHandlers>(handlers: Handlers): Handlers {
  return handlers
}

/** What the tool `staging` does, and what it leaves to people: known when a playbook is checked, and when it runs. */
export const STAGING_ACTIONS = ['create', 'read', 'consume', 'withdraw'] as const

const DECIDED_BY_PEOPLE =
  'a person decides, not a playbook. Stage the record, and let a step wait for its approval'

export const REFUSED_STAGING_ACTIONS: ReadonlyMap<string, string> = new Map([
  ['approve', `The tool staging approves nothing: ${DECIDED_BY_PEOPLE}`],
  ['reject', `The tool staging rejects nothing: ${DECIDED_BY_PEOPLE}`],
])

/** What the tool `unit` does, and what it leaves to people: known when a playbook is checked, and when it runs. */
export const UNIT_ACTIONS = ['create', 'edit', 'profile', 'edge', 'read', 'cut'] as const

const UNITS_DECIDED_BY_PEOPLE =
  'a person decides, not a playbook. Let a step wait for the approval of a record, and a person do it'

export const REFUSED_UNIT_ACTIONS: ReadonlyMap<string, string> = new Map([
  ['enact', `The tool unit enacts nothing: ${UNITS_DECIDED_BY_PEOPLE}`],
  ['supersede', `The tool unit supersedes nothing: ${UNITS_DECIDED_BY_PEOPLE}`],
  ['retire', `The tool unit retires nothing: ${UNITS_DECIDED_BY_PEOPLE}`],
  ['change_kind', `The tool unit changes no kind: ${UNITS_DECIDED_BY_PEOPLE}`],
  ['delete', `The tool unit deletes nothing: ${UNITS_DECIDED_BY_PEOPLE}`],
])

export type ArgumentKind = 'text' | 'list' | 'map' | 'number' | 'boolean' | 'any'

export interface ToolArgument {
  readonly kind: ArgumentKind
  readonly required?: boolean
  readonly about: string
  readonly choices?: readonly string[]
  /** A whole number from 1 to this. */
  readonly max?: number
  /** Why one that seems a choice is none. */
  readonly refused?: ReadonlyMap<string, string>
  /** It goes with these values of `action` only. */
  readonly actions?: readonly string[]
}

export interface ToolSignature {
  readonly about: string
  /** What `call` names; absent: the tool has no call. */
  readonly call?: string
  /** Absent: any, handed on as they are. */
  readonly args?: Readonly<Record<string, ToolArgument>>
}

/** Of the tools sql and duckdb. */
export const MAX_ROWS = 10_000

const CREATE_ACTION = ['create']
const RECORD_ACTIONS = ['read', 'consume', 'withdraw']
const EXISTING_UNIT_ACTIONS = ['edit', 'profile', 'edge', 'read']
const TEXT_ACTIONS = ['create', 'edit']

/** What each tool takes: the same names as the tools themselves read, so that a misspelt one is found before it runs. */
export const TOOL_SIGNATURES: Readonly<Record<ToolName, ToolSignature>> = {
  sql: {
    about: 'One SQL statement in a transaction of its own, as the login stagedoor_playbook.',
    args: {
      query: { kind: 'text', required: true, about: 'The statement, with $1, $2 … for params.' },
      params: { kind: 'list', about: 'Values for $1, $2 …; never put data into the text.' },
      rows: {
        kind: 'text',
        about: 'What is given back: all rows unless said, exactly one, or their number.',
        choices: ['all', 'one', 'none'],
      },
      limit: {
        kind: 'number',
        max: MAX_ROWS,
        about: `More rows than this are an error; at most ${MAX_ROWS}.`,
      },
    },
  },
  http: {
    about: 'One request to a host that STAGEDOOR_HTTP_HOSTS allows.',
    args: {
      url: { kind: 'text', required: true, about: 'Where to.' },
      method: {
        kind: 'text',
        about: 'GET unless said.',
        choices: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      },
      headers: { kind: 'map', about: `Headers; secrets as \${secret.NAME}.` },
      query: { kind: 'map', about: 'Appended to the url.' },
      body: { kind: 'any', about: 'Text as it is, anything else as JSON.' },
      expect: { kind: 'list', about: 'Statuses that are no failure; 200 to 299 unless said.' },
    },
  },
  handler: {
    about: 'A TypeScript function that the process has registered.',
    call: 'The name of the handler.',
  },
  staging: {
    about: 'A staging record: made for people to decide on, read, consumed or withdrawn.',
    args: {
      action: {
        kind: 'text',
        required: true,
        about: 'What to do.',
        choices: STAGING_ACTIONS,
        refused: REFUSED_STAGING_ACTIONS,
      },
      record: { kind: 'text', required: true, about: 'The id of the record.', actions: RECORD_ACTIONS },
      digest: { kind: 'text', about: 'Consumed only with this digest.', actions: ['consume'] },
      staging_kind: { kind: 'text', required: true, about: 'Which kind of record.', actions: CREATE_ACTION },
      payload_type: { kind: 'text', required: true, about: 'What its parts are.', actions: CREATE_ACTION },
      purpose: { kind: 'text', required: true, about: 'What it is for.', actions: CREATE_ACTION },
      parts: { kind: 'list', required: true, about: 'What it holds.', actions: CREATE_ACTION },
      source_kind: { kind: 'text', about: 'system unless said.', actions: CREATE_ACTION },
      source_ref: { kind: 'text', about: 'The execution unless said.', actions: CREATE_ACTION },
      expires_at: { kind: 'text', about: 'When it is no longer decided on.', actions: CREATE_ACTION },
      metadata: { kind: 'map', about: 'Anything else about it.', actions: CREATE_ACTION },
      referenced_iu_ids: { kind: 'list', about: 'Units that it is about.', actions: CREATE_ACTION },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.', actions: CREATE_ACTION },
      idempotency_key: { kind: 'text', about: 'The command unless said.', actions: CREATE_ACTION },
    },
  },
  approval: {
    about: 'Asks people for an approval; as `approval:` of a step it also waits for the decision.',
    args: {
      title: { kind: 'text', required: true, about: 'One line for the reviewer.' },
      show: { kind: 'any', required: true, about: 'What the reviewer looks at: Markdown or JSON.' },
      kind: { kind: 'text', about: 'A kind of the workspace: its schema and its template.' },
      reviewers: { kind: 'list', about: 'Who is asked: user ids.' },
      groups: { kind: 'list', about: 'Groups that are asked.' },
      policy: { kind: 'map', about: 'More than the review policy asks for: approvals, groups.' },
      form: {
        kind: 'list',
        about: 'Fields that the reviewer fills in: name, type, label, required, choices, min, max.',
      },
      timeout: { kind: 'text', about: 'Then it expires, such as 2d; 14 days unless said.' },
      key: { kind: 'text', about: 'The step of this execution unless said.' },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.' },
    },
  },
  ingest: {
    about: 'A file into a dataset, as far as `until` says.',
    args: {
      file: { kind: 'text', required: true, about: 'A path below STAGEDOOR_FILES.' },
      dataset: { kind: 'text', required: true, about: 'Which dataset.' },
      platform: { kind: 'text', about: 'Where the file is from, if the dataset has several.' },
      client: { kind: 'text', about: 'Whose it is.' },
      until: {
        kind: 'text',
        about: 'How far: planned unless said.',
        choices: ['staged', 'planned', 'submitted', 'promoted'],
      },
      on_invalid: {
        kind: 'text',
        about: 'What becomes of lines that are wrong.',
        choices: ['refuse', 'skip'],
      },
      threshold: { kind: 'number', about: 'Which share of the lines may be wrong, from 0 to 1.' },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.' },
    },
  },
  duckdb: {
    about: 'One SELECT of DuckDB over files.',
    args: {
      query: { kind: 'text', required: true, about: 'The query.' },
      files: { kind: 'map', about: 'Paths below STAGEDOOR_FILES, by the name that the query gives them.' },
      params: { kind: 'list', about: 'Values for $1, $2 …' },
      limit: {
        kind: 'number',
        max: MAX_ROWS,
        about: `More rows than this are an error; at most ${MAX_ROWS}.`,
      },
    },
  },
  playbook: { about: 'Another playbook, as an execution of its own.', call: 'The name of the playbook.' },
  unit: {
    about:
      'An information unit: made, edited, described, connected or read; or units cut from an approved manifest.',
    args: {
      action: {
        kind: 'text',
        required: true,
        about: 'What to do.',
        choices: UNIT_ACTIONS,
        refused: REFUSED_UNIT_ACTIONS,
      },
      unit: { kind: 'text', required: true, about: 'Its id or its address.', actions: EXISTING_UNIT_ACTIONS },
      address: { kind: 'text', required: true, about: 'Its address, for good.', actions: CREATE_ACTION },
      body: { kind: 'text', about: 'Its text; a new unit needs one.', actions: TEXT_ACTIONS },
      title: { kind: 'text', about: 'The first line of the text unless said.', actions: TEXT_ACTIONS },
      language: { kind: 'text', about: 'en unless said.', actions: TEXT_ACTIONS },
      unit_kind: { kind: 'text', about: 'note unless said.', actions: CREATE_ACTION },
      container: { kind: 'text', about: 'The id or the address of what holds it.', actions: CREATE_ACTION },
      source_ref: { kind: 'text', about: 'The execution unless said.', actions: CREATE_ACTION },
      profile: { kind: 'map', about: 'What is known of it, topic_labels among it.', actions: CREATE_ACTION },
      expected_version: {
        kind: 'number',
        required: true,
        about: 'The version that the edit is made from; if it is no longer current, nothing is written.',
        actions: ['edit'],
      },
      patch: { kind: 'map', required: true, about: 'Merged; null takes a key out.', actions: ['profile'] },
      edge_type: { kind: 'text', required: true, about: 'A word such as refers_to.', actions: ['edge'] },
      target: { kind: 'text', required: true, about: 'A unit, or any reference.', actions: ['edge'] },
      version: { kind: 'number', about: 'An earlier one; the current one unless said.', actions: ['read'] },
      record: { kind: 'text', required: true, about: 'The approved mark_manifest.', actions: ['cut'] },
      digest: { kind: 'text', required: true, about: 'The digest that was approved.', actions: ['cut'] },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.' },
    },
  },
}

/** The arguments of a tool, as a playbook gave them. An error names the argument, and no retry helps. */
export class ToolArguments {
  private readonly tool: string
  private readonly args: JsonObject

  /** A name that the tool does not know is an error: a misspelt one must not be without effect. */
  constructor(tool: string, args: JsonObject, known: readonly string[]) {
    this.tool = tool
    this.args = args
    const unknown = Object.keys(args).find((name) => !known.includes(name))
    if (unknown !== undefined) {
      throw new ToolError(`The tool ${tool} takes ${known.join(', ')}, not ${unknown}`)
    }
  }

  text(name: string): string {
    const value = this.optionalText(name)
    if (value === undefined) throw this.wrong(name, 'is missing')
    return value
  }

  optionalText(name: string): string | undefined {
    const value = this.read(name)
    if (value === undefined || (typeof value === 'string' && value !== '')) return value
    throw this.wrong(name, 'must be a text')
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.read(name)
    if (value === undefined) return undefined
    const choice = choices.find((one) => one === value)
    if (choice !== undefined) return choice
    throw this.wrong(name, `must be one of ${choices.join(', ')}`)
  }

  integer(name: string, min: number, max: number): number | undefined {
    const value = this.read(name)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    throw this.wrong(name, `must be a whole number from ${min} to ${max}`)
  }

  list(name: string): readonly Json[] {
    const value = this.read(name)
    if (value === undefined) return []
    if (Array.isArray(value)) return value as readonly Json[]
    throw this.wrong(name, 'must be a list')
  }

  map(name: string): JsonObject {
    const value = this.read(name)
    if (value === undefined) return {}
    if (typeof value === 'object' && !Array.isArray(value)) return value as JsonObject
    throw this.wrong(name, 'must be a map')
  }

  any(name: string): Json | undefined {
    return this.args[name]
  }

  wrong(name: string, reason: string): ToolError {
    return new ToolError(`The argument ${name} of the tool ${this.tool} ${reason}`)
  }

  /** null is how a template says that there is none. */
  private read(name: string): Exclude<Json, null> | undefined {
    return this.args[name] ?? undefined
  }
}

/** The tool `handler`: a function of the user's, by its name. */
export function handlerTool(handlers: PlaybookHandlers): HandlerTool {
  const byName = new Map(Object.entries(handlers))
  const tool: Tool = async (call, args, context) => {
    const handler = call === undefined ? undefined : byName.get(call)
    if (handler === undefined) throw unknownHandler(call, [...byName.keys()])
    // Whatever it is: runCommand refuses what is not JSON.
    return (await handler(args, context)) as Json | undefined
  }
  return Object.assign(tool, { names: [...byName.keys()] })
}

export function unknownHandler(call: string | undefined, names: readonly string[]): ToolError {
  const there = names.length > 0 ? `there are ${names.join(', ')}` : 'this process was given none'
  return new ToolError(
    call === undefined
      ? `The tool handler needs call: the name of one; ${there}`
      : `There is no handler ${call}; ${there}`,
  )
}

/** The export of a user's file that holds the handlers of playbooks. */
export const HANDLERS_EXPORT = 'playbookHandlers'

/** Undefined where the file exports none: it may be there for jobs alone. */
export async function loadPlaybookHandlers(path: string): Promise<PlaybookHandlers | undefined> {
  const module = await importUserModule(path)
  return module[HANDLERS_EXPORT] === undefined ? undefined : requireHandlers(module[HANDLERS_EXPORT], path)
}

function requireHandlers(given: unknown, path: string): PlaybookHandlers {
  if (typeof given !== 'object' || given === null) {
    throw invalidHandlers(`${HANDLERS_EXPORT} in ${path} is not an object of functions by name`)
  }
  const wrong = Object.entries(given).find(([, handler]) => typeof handler !== 'function')
  if (wrong) throw invalidHandlers(`The handler ${wrong[0]} in ${path} is not a function`)
  return given as PlaybookHandlers
}

function invalidHandlers(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}
