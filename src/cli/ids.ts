/**
 * Ids on the command line. People may type the beginning of one as long as only one thing of that kind has it; what begins
 * so is looked up before the command runs; `last` is the newest. An id of another kind of thing is answered with what it is.
 */
import type { Command } from 'commander'
import { type FoundId, findIds } from '../access/ids.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import { argumentInvalid } from './arguments.ts'
import { createSession, type GlobalOptions } from './session.ts'

/** What each kind is called, which command lists its ids, and which shows one. */
const KINDS = {
  change: { what: 'a change', list: 'change list', show: 'change show' },
  upload: { what: 'an upload', list: 'upload list', show: 'upload show' },
  record: { what: 'a staging record', list: 'staging list', show: 'staging show' },
  job: { what: 'a job', list: 'job list', show: 'job show' },
  event: { what: 'an event', list: 'event list', show: 'event show' },
  execution: { what: 'an execution', list: 'execution list', show: 'execution show' },
  unit: { what: 'a unit', list: 'unit list', show: 'unit show' },
  edge: { what: 'an edge between units', list: 'unit show UNIT', show: undefined },
  issue: { what: 'a system issue', list: 'issue list', show: undefined },
  outbox: { what: 'a row of the search outbox', list: 'search dead-letters', show: undefined },
  topic: { what: 'a topic', list: 'topic list', show: undefined },
  comment: { what: 'a comment', list: 'change comments CHANGE', show: undefined },
} as const

type IdKind = keyof typeof KINDS

interface Found extends FoundId {
  readonly kind: IdKind | NewestKind
}

/** Found for `last` only: an upload that is no dry run. */
type NewestKind = 'real_upload'

/** A parser that commander calls; the kinds are read again by `resolveIds`. */
export interface IdParser {
  (given: string): string
  readonly kinds: readonly IdKind[]
  /** The value may be something else than an id, such as a unit's address: it stays what it is unless an id begins so. */
  readonly perhaps?: boolean
  /** What `last` stands for, where that is not the newest of all. */
  readonly newest?: NewestKind | undefined
}

/** Stands for the newest thing of its kind. */
const NEWEST = 'last'
const MIN_PREFIX = 4
const PREFIX = /^[0-9a-f][0-9a-f-]*$/i
const DIGITS = /^\d{1,19}$/
/** Of a change: it names its upload or record, too. Four digits or more may also begin an id. */
const NUMBER = /^#?[1-9]\d{0,8}$/
const NUMBERED: readonly IdKind[] = ['change', 'upload', 'record']
/** Whole, or a beginning that is more than a word of eight letters. */
const ID_IN_TEXT = /\b([0-9a-f]{8}-[0-9a-f-]{1,27}|\d{15,19})\b/i
const MAX_BIGINT = 9_223_372_036_854_775_807n

/** The one id of a short list that begins so. */
export function byPrefix(ids: readonly string[], given: string, what: string): string {
  const found = ids.filter((id) => id.startsWith(given.toLowerCase()))
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw argumentInvalid(`${found.length} ids begin with ${given}: type more of it`)
  throw new StagedoorError('access_not_found', { what: `${what} ${given}` })
}

/** The id of one of these kinds, whole or its beginning. */
export function idOf(...kinds: [IdKind, ...IdKind[]]): IdParser {
  const parse = (given: string): string => {
    if (UUID.test(given)) return given.toLowerCase()
    if (given === NEWEST) return given
    if (NUMBER.test(given) && kinds.some((kind) => NUMBERED.includes(kind))) return given
    const hasNumbers = kinds.includes('execution')
    if (hasNumbers && DIGITS.test(given) && BigInt(given) <= MAX_BIGINT) return String(BigInt(given))
    const hasUuids = kinds.some((kind) => kind !== 'execution')
    if (hasUuids && given.length >= MIN_PREFIX && given.length < 36 && PREFIX.test(given))
      return given.toLowerCase()
    throw argumentInvalid(
      `${given} is not the id of ${kindNames(kinds)}`,
      `\`${listCommand(kinds)}\` shows the ids. The first characters of one are enough, and \`last\` is the newest.`,
    )
  }
  return Object.assign(parse, { kinds })
}

/** The same for an argument that may be given several times. */
export function idsOf(kind: IdKind) {
  return several(idOf(kind))
}

function several<P extends IdParser>(parse: P) {
  const all = (given: string, before: string[] = []): string[] => [...before, parse(given)]
  return Object.assign(all, { kinds: parse.kinds, perhaps: parse.perhaps })
}

/** Run before every command: beginnings of ids among its arguments and options become whole ids. */
export async function resolveIds(command: Command): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>()
  for (const [index, argument] of command.registeredArguments.entries()) {
    const whole = await expandIds(argument.parseArg, command.processedArgs[index], options)
    if (whole !== undefined) command.processedArgs[index] = whole
  }
  for (const option of command.options) {
    const name = option.attributeName()
    const whole = await expandIds(option.parseArg, command.getOptionValue(name), options)
    if (whole !== undefined) command.setOptionValue(name, whole)
  }
}

/** Undefined where there is no id. A whole id stays as it is, which is the rule: then no database is asked. */
async function expandIds(
  parser: unknown,
  value: unknown,
  options: GlobalOptions,
): Promise<string | string[] | undefined> {
  const { kinds, perhaps = false, newest } = (parser ?? {}) as Partial<IdParser>
  if (!kinds) return undefined
  const expand = async (given: string): Promise<string> =>
    isIdPrefix(given, kinds, perhaps) ? expandId(given, { kinds, perhaps, newest }, options) : given
  if (typeof value === 'string') return expand(value)
  return Array.isArray(value) ? Promise.all(value.map(expand)) : undefined
}

/** Of a unit only what nobody would call an address: eight characters of a uuid or more. */
function isIdPrefix(given: string, kinds: readonly IdKind[], perhaps: boolean): boolean {
  if (perhaps) return /^[0-9a-f]{8}(-[0-9a-f-]*)?$/.test(given) && !UUID.test(given)
  // No execution has a uuid: it is looked up to say what it belongs to.
  if (kinds.length === 1 && kinds[0] === 'execution' && UUID.test(given)) return true
  // An execution's id has 15 digits or more from its first day on.
  if (DIGITS.test(given) && kinds.includes('execution')) return given.length < 15
  return !UUID.test(given)
}

async function expandId(
  given: string,
  { kinds, perhaps, newest }: Pick<IdParser, 'kinds' | 'perhaps' | 'newest'>,
  options: GlobalOptions,
): Promise<string> {
  const found = await lookUp(given, options)
  const wanted: readonly Found['kind'][] = given === NEWEST && newest ? [newest] : kinds
  const fitting = preferChanges(
    given,
    found.filter(({ kind }) => wanted.includes(kind)),
  )
  if (fitting.length === 1) return fitting[0]!.id
  if (perhaps && fitting.length === 0) return given
  if (given === NEWEST && fitting.length > 0) return fitting[0]!.id
  if (fitting.length > 1 && given.startsWith('#')) {
    throw argumentInvalid(
      `Several workspaces have a change ${given}: ${fitting.map(({ id }) => id).join(', ')}`,
      'Give the id of the one that you mean.',
    )
  }
  if (fitting.length > 1) {
    const shown = fitting.slice(0, 5).map(({ id }) => id)
    throw argumentInvalid(
      `${given} is the beginning of several ids: ${shown.join(', ')}`,
      'Type more characters of the one that you mean.',
    )
  }
  if (given === NEWEST)
    throw new StagedoorError('not_found', {
      what: `${kindNames(kinds).replace(/^an? /, '')} yet${newest ? ' that is not a dry run' : ''}`,
    })
  if (given.startsWith('#')) throw new StagedoorError('change_not_found', { change: given })
  throw new StagedoorError(
    'id_not_found',
    { given, what: kindNames(kinds) },
    { hint: otherKindHint(found) ?? `\`${listCommand(kinds)}\` shows the ids.` },
  )
}

/** Where a change is asked for, its number is the change and not its upload; `last` is the newest change. */
function preferChanges(given: string, fitting: Found[]): Found[] {
  const isChange = ({ kind }: Found) => kind === 'change'
  return (NUMBER.test(given) || given === NEWEST) && fitting.some(isChange)
    ? fitting.filter(isChange)
    : fitting
}

/** After "there is no …": what the id belongs to, if it belongs to anything. */
export async function hintForOtherKind(
  error: StagedoorError,
  options: GlobalOptions,
): Promise<string | undefined> {
  const [id] = ID_IN_TEXT.exec(error.message) ?? []
  if (id === undefined) return undefined
  return otherKindHint(await lookUp(id, options).catch(() => []))
}

function otherKindHint(found: readonly Found[]): string | undefined {
  if (found.length !== 1) return undefined
  const { kind, id } = found[0]!
  if (kind === 'real_upload') return undefined
  const { what, show } = KINDS[kind]
  return show === undefined
    ? `That is ${what}: \`${listCommand([kind])}\` shows it.`
    : `That is ${what}: \`stagedoor ${show} ${id}\``
}

async function lookUp(given: string, options: GlobalOptions): Promise<Found[]> {
  const session = createSession(options)
  try {
    return (await session.backEnd((client) => findIds(client, given))) as Found[]
  } finally {
    await session.close()
  }
}

function kindNames(kinds: readonly IdKind[]): string {
  return kinds.map((kind) => KINDS[kind].what).join(' or ')
}

function listCommand(kinds: readonly IdKind[]): string {
  return `stagedoor ${KINDS[kinds[0]!].list}`
}

/** A change by its number or id, or by the id of its upload or record. */
export const changeId = idOf('change', 'upload', 'record')
export const commentId = idOf('comment')
export const uploadId = idOf('upload')
/** For what a dry run never comes to: `last` is the newest upload that is none. */
export const realUploadId: IdParser = Object.assign(idOf('upload'), { newest: 'real_upload' as const })
export const recordId = idOf('record')
export const executionId = idOf('execution')
export const executionIds = idsOf('execution')

// Units are named by their address or their id.

const ADDRESS = /^[a-z0-9][a-z0-9_.~-]*(\/[a-z0-9][a-z0-9_.~-]*)*$/

/** Checked before a database is asked: its message would speak of a uuid. */
export const unitName: IdParser = Object.assign(parseAddressOrId, { kinds: ['unit'] as const, perhaps: true })
export const unitNames = several(unitName)

function parseAddressOrId(given: string): string {
  if (UUID.test(given)) return given.toLowerCase()
  if (ADDRESS.test(given)) return given
  throw argumentInvalid(
    `${given} is neither the address nor the id of a unit`,
    'An address is like handbook/leave; `stagedoor unit list` shows them.',
  )
}

/** Of a new unit: an id is no address to people. */
export function parseNewAddress(given: string): string {
  if (ADDRESS.test(given) && given.length <= 400) return given
  throw argumentInvalid(
    `${given} is not an address`,
    'An address is a path such as handbook/leave: parts of a–z, 0–9 and _.~- between slashes, each beginning with a letter or digit, at most 400 characters.',
  )
}
