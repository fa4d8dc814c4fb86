/**
 * Ids on the command line. People may type the beginning of one as long as only one thing of that kind has it; what begins
 * so is looked up before the command runs; `last` is the newest. An id of another kind of thing is answered with what it is.
 */
import type { Command } from 'commander'
import { withClient } from '../db/connection.ts'
import { UUID } from '../db/uuid.ts'
import { StagedoorError } from '../errors.ts'
import { type GlobalOptions, withDatabase } from './context.ts'

/** What each kind is called, which command lists its ids, and which shows one. */
const KINDS = {
  upload: { what: 'an upload', list: 'upload list', show: 'upload show' },
  record: { what: 'a staging record', list: 'staging list', show: 'staging show' },
  job: { what: 'a job', list: 'job list', show: 'job show' },
  event: { what: 'an event', list: 'events list', show: 'trace' },
  execution: { what: 'an execution', list: 'executions list', show: 'executions show' },
  unit: { what: 'a unit', list: 'unit list', show: 'unit show' },
  edge: { what: 'an edge between units', list: 'unit show UNIT', show: undefined },
  issue: { what: 'a system issue', list: 'issue list', show: undefined },
  outbox: { what: 'a row of the search outbox', list: 'search dead', show: undefined },
  topic: { what: 'a topic', list: 'topic list', show: undefined },
} as const

export type IdKind = keyof typeof KINDS

interface Found {
  readonly kind: IdKind
  readonly id: string
}

/** A parser that commander calls; the kinds are read again by `resolveIds`. */
export interface IdParser {
  (given: string): string
  readonly kinds: readonly IdKind[]
}

/** Stands for the newest thing of its kind. */
const NEWEST = 'last'
const MIN_PREFIX = 4
const PREFIX = /^[0-9a-f][0-9a-f-]*$/i
const DIGITS = /^\d{1,19}$/
/** Whole, or a beginning that is more than a word of eight letters. */
const ID_IN_TEXT = /\b([0-9a-f]{8}-[0-9a-f-]{1,27}|\d{15,19})\b/i
const MAX_BIGINT = 9_223_372_036_854_775_807n

/** The id of one of these kinds, whole or its beginning. */
export function idOf(...kinds: [IdKind, ...IdKind[]]): IdParser {
  const parse = (given: string): string => {
    if (UUID.test(given)) return given.toLowerCase()
    if (given === NEWEST) return given
    const hasNumbers = kinds.includes('execution')
    if (hasNumbers && DIGITS.test(given) && BigInt(given) <= MAX_BIGINT) return String(BigInt(given))
    const hasUuids = kinds.some((kind) => kind !== 'execution')
    if (hasUuids && given.length >= MIN_PREFIX && given.length < 36 && PREFIX.test(given))
      return given.toLowerCase()
    throw new StagedoorError(
      'argument_invalid',
      { reason: `${given} is not the id of ${names(kinds)}` },
      {
        hint: `\`${listCommand(kinds)}\` shows the ids. The first characters of one are enough, and \`last\` is the newest.`,
      },
    )
  }
  return Object.assign(parse, { kinds })
}

/** The same for an argument that may be given several times. */
export function idsOf(
  kind: IdKind,
): ((given: string, before?: string[]) => string[]) & Pick<IdParser, 'kinds'> {
  const parse = idOf(kind)
  const all = (given: string, before: string[] = []): string[] => [...before, parse(given)]
  return Object.assign(all, { kinds: parse.kinds })
}

/** Marks a parser whose value may be something else than an id, such as a unit's address: it stays what it is unless an id begins so. */
export function perhapsIdOf(
  kind: IdKind,
  parse: (given: string) => string,
): IdParser & { readonly perhaps: true } {
  return Object.assign((given: string) => parse(given), { kinds: [kind], perhaps: true as const })
}

/** Run before every command: beginnings of ids among its arguments and options become whole ids. */
export async function resolveIds(command: Command): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>()
  for (const [index, argument] of command.registeredArguments.entries()) {
    const whole = await wholeIds(argument.parseArg, command.processedArgs[index], options)
    if (whole !== undefined) command.processedArgs[index] = whole
  }
  for (const option of command.options) {
    const name = option.attributeName()
    const whole = await wholeIds(option.parseArg, command.getOptionValue(name), options)
    if (whole !== undefined) command.setOptionValue(name, whole)
  }
}

/** Undefined where there is nothing to look up, which is the rule: then no database is asked. */
async function wholeIds(
  parser: unknown,
  value: unknown,
  options: GlobalOptions,
): Promise<string | string[] | undefined> {
  const { kinds, perhaps = false } = (parser ?? {}) as Partial<IdParser> & { perhaps?: boolean }
  if (!kinds) return undefined
  const whole = (given: string): Promise<string> => wholeId(given, kinds, perhaps, options)
  if (typeof value === 'string' && isBeginning(value, kinds, perhaps)) return whole(value)
  if (!Array.isArray(value) || !value.some((one) => isBeginning(String(one), kinds, perhaps)))
    return undefined
  return Promise.all(value.map((one) => (isBeginning(one, kinds, perhaps) ? whole(one) : one)))
}

/** Of a unit only what nobody would call an address: eight characters of a uuid or more. */
function isBeginning(given: string, kinds: readonly IdKind[], perhaps: boolean): boolean {
  if (perhaps) return /^[0-9a-f]{8}(-[0-9a-f-]*)?$/.test(given) && !UUID.test(given)
  // No execution has a uuid: it is looked up to say what it belongs to.
  if (kinds.length === 1 && kinds[0] === 'execution' && UUID.test(given)) return true
  // An execution's id has 15 digits or more from its first day on.
  if (DIGITS.test(given) && kinds.includes('execution')) return given.length < 15
  return !UUID.test(given)
}

async function wholeId(
  given: string,
  kinds: readonly IdKind[],
  perhaps: boolean,
  options: GlobalOptions,
): Promise<string> {
  const found = await findIds(given, options)
  const fitting = found.filter(({ kind }) => kinds.includes(kind))
  if (fitting.length === 1) return fitting[0]!.id
  if (perhaps && fitting.length === 0) return given
  if (given === NEWEST && fitting.length > 0) return fitting[0]!.id
  if (fitting.length > 1) {
    const shown = fitting.slice(0, 5).map(({ id }) => id)
    throw new StagedoorError(
      'argument_invalid',
      { reason: `${given} is the beginning of several ids: ${shown.join(', ')}` },
      { hint: 'Type more characters of the one that you mean.' },
    )
  }
  if (given === NEWEST)
    throw new StagedoorError('not_found', { what: `${names(kinds).replace(/^an? /, '')} yet` })
  throw new StagedoorError(
    'id_not_found',
    { given, what: names(kinds) },
    { hint: anotherKind(found) ?? `\`${listCommand(kinds)}\` shows the ids.` },
  )
}

/** After "there is no …": what the id belongs to, if it belongs to anything. */
export async function hintForOtherKind(
  error: StagedoorError,
  options: GlobalOptions,
): Promise<string | undefined> {
  const [id] = ID_IN_TEXT.exec(error.message) ?? []
  if (id === undefined) return undefined
  return anotherKind(await findIds(id, options).catch(() => []))
}

function anotherKind(found: readonly Found[]): string | undefined {
  if (found.length !== 1) return undefined
  const { kind, id } = found[0]!
  const { what, show } = KINDS[kind]
  return show === undefined
    ? `That is ${what}: \`${listCommand([kind])}\` shows it.`
    : `That is ${what}: \`stagedoor ${show} ${id}\``
}

async function findIds(given: string, options: GlobalOptions): Promise<Found[]> {
  return withDatabase(options, (database) =>
    withClient(
      database.workerUrl,
      async (client) =>
        (await client.query<Found>('select kind, id from iu_core.fn_id_find($1)', [given])).rows,
      { role: 'dot_executor' },
    ),
  )
}

function names(kinds: readonly IdKind[]): string {
  return kinds.map((kind) => KINDS[kind].what).join(' or ')
}

function listCommand(kinds: readonly IdKind[]): string {
  return `stagedoor ${KINDS[kinds[0]!].list}`
}

export const uploadId = idOf('upload')
export const recordId = idOf('record')
export const executionId = idOf('execution')
export const executionIds = idsOf('execution')
