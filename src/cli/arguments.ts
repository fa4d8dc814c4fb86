import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import { StagedoorError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import { decodeUtf8 } from '../staging/records.ts'

/** Parses a whole number within bounds. */
export function integerBetween(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^-?\d+$/.test(value) || number < least || number > most) {
      throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`)
    }
    return number
  }
}

/** The largest integer of PostgreSQL. */
const MAX_INTEGER = 2_147_483_647

export function integerFrom(least: number): (value: string) => number {
  return integerBetween(least, MAX_INTEGER)
}

/** A JSON object on the command line. */
export function parseJsonObject(given: string): Record<string, unknown> {
  try {
    const value = JSON.parse(given)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  } catch {}
  throw new InvalidArgumentError(`A JSON object, as '{"report_id": "r1"}'.`)
}

/** JSON where it is JSON, else the text itself: 10000 is a number, weekly a text, "10000" in quotes a text. */
export function jsonOrText(given: string): Json {
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** a,b, c → a b c */
export function parseList(given: string): string[] {
  const list = given.split(',').map((one) => one.trim())
  if (list.includes('')) throw new InvalidArgumentError('Names, separated by commas.')
  return list
}

/** staging.record_created → domain staging, type record_created; a type may have dots of its own. */
export function parseEventName(given: string): { domain: string; type: string } {
  const [, domain, type] = /^([a-z_]+)\.([a-z][a-z0-9_.]*)$/.exec(given) ?? []
  if (domain !== undefined && type !== undefined) return { domain, type }
  throw new InvalidArgumentError('An event as domain.type, like staging.record_created.')
}

// The text that a command is given: in a file, on standard input, or as words.

/** Undefined where nobody gave any: neither a file nor a pipe. */
export async function readTextInput(file: string | undefined): Promise<string | undefined> {
  const bytes = await readBytesInput(file)
  return bytes === undefined ? undefined : decodeUtf8(bytes, file ?? 'The text')
}

export async function readBytesInput(file: string | undefined): Promise<Buffer | undefined> {
  if (file !== undefined && file !== '-') return readFile(file).catch(rethrowUnreadable(file))
  if (file === undefined && process.stdin.isTTY) return undefined
  const bytes = Buffer.concat(await process.stdin.toArray())
  return bytes.length === 0 && file === undefined ? undefined : bytes
}

/** For `catch`: that a file cannot be read is the fault of who named it. */
export function rethrowUnreadable(file: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error instanceof StagedoorError) throw error
    const reason =
      error.code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read: ${error.message}`
    throw new StagedoorError('argument_invalid', { reason }, { cause: error })
  }
}

export function textMissing(command: string): StagedoorError {
  return argumentInvalid(
    'There is no text',
    `Give it in a file, \`${command} --file text.md\`, or pipe it in.`,
  )
}

// Points in time, as people say and read them.

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 }

/** 30s, 5m, 2h, 1d from now; or a time as 2026-11-16T08:00:00Z */
export function parseFutureTime(given: string): Date {
  return parseTime(given, 1, 'from now')
}

/** The same, ago. */
export function parsePastTime(given: string): Date {
  return parseTime(given, -1, 'ago')
}

function parseTime(given: string, direction: 1 | -1, words: string): Date {
  const span = spanOf(given)
  if (span !== undefined) return new Date(Date.now() + direction * span)
  const time = new Date(given)
  if (/^\d{4}-\d\d-\d\d/.test(given) && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError(`A time like 2026-11-16T08:00:00Z, or 30s, 5m, 2h or 1d ${words}.`)
}

/** 30s, 5m, 2h, 1d as milliseconds */
export function parseDuration(given: string): number {
  const span = spanOf(given)
  if (span) return span
  throw new InvalidArgumentError('A span like 30s, 5m, 2h or 1d.')
}

function spanOf(given: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})\s?(s|m|min|h|d)$/.exec(given) ?? []
  return amount === undefined ? undefined : Number(amount) * UNIT_SECONDS[unit!]! * 1000
}

/** Enough of a digest that nobody types it by accident. */
export const MIN_DIGEST_LENGTH = 12

/** A digest or its beginning, as `command` prints it. */
export function parseDigest(command: string): (given: string) => string {
  return (given) => {
    if (given.length >= MIN_DIGEST_LENGTH) return given
    throw argumentInvalid(
      `--digest ${given} is too short: give at least ${MIN_DIGEST_LENGTH} characters`,
      `\`stagedoor ${command} ID\` prints it, with what it stands for.`,
    )
  }
}

/** What the user gave cannot be used; the hint says what can. */
export function argumentInvalid(reason: string, hint?: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason }, hint === undefined ? {} : { hint })
}

/** A tab cannot be typed in every shell. */
function parseDelimiter(given: string): string {
  return given === 'tab' || given === '\\t' ? '\t' : given
}

export const DELIMITER = [
  '--delimiter <character>',
  'between the cells, where it cannot be detected; tab for a tab',
  parseDelimiter,
] as const

/** What the groups of `pattern` match. It splits at the last sign: a header may contain one, a field never does. */
export function parseSetting(pattern: RegExp, option: string, form: string): (given: string) => string[] {
  return (given) => {
    const [, ...parts] = pattern.exec(given) ?? []
    if (parts.length > 0) return parts.map((part) => part.trim())
    throw argumentInvalid(`${option} ${given}: write it as ${form}`)
  }
}

/** Of options that may be given several times. */
export function collect<T>(parse: (given: string) => T): (given: string, before?: T[]) => T[] {
  return (given, before = []) => [...before, parse(given)]
}

export const HEADER_LINE = [
  '--header-line <n>',
  'the line with the names of the columns, where it is not found',
  integerFrom(1),
] as const
