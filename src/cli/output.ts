/** What the CLI prints: tables and sentences for people, one JSON value for machines. */
import pc from 'picocolors'
import stringWidth from 'string-width'
import { UUID } from '../db/uuid.ts'
import { asStagedoorError, type StagedoorError } from '../errors.ts'
import type { ManifestProblem } from '../units/manifest.ts'

export interface Output {
  readonly json: boolean
  /** One JSON value in --json mode, else what `forPeople` prints. */
  result(value: unknown, forPeople: () => void): void
  line(text?: string): void
  /** Progress and side remarks: stderr, so that stdout stays clean. */
  note(text: string): void
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result(value, forPeople) {
      if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
      else forPeople()
    },
    line: (text = '') => {
      if (!json) process.stdout.write(`${text}\n`)
    },
    note: (text) => {
      if (!json) process.stderr.write(`${text}\n`)
    },
  }
}

/** Controls, and what takes no room or turns the direction of writing. The emoji form of a sign is left as it is. */
const HIDDEN = /(?!\n|\t|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * What others wrote, so that it cannot move the cursor, colour, hide or reorder what stands around it: every
 * character that one would not see is shown by a picture or its number. Newlines and tabs stay.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, shown)
}

/** The same for what must stay on its line: a newline in a purpose must not begin a line that looks like ours. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\n\t]/g, shown)
}

function shown(character: string): string {
  const code = character.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '␡'
  const hex = code.toString(16)
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

/** Columns that a text takes in a terminal: two for a Chinese character or an emoji, none for a combining mark. */
export function widthOf(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(text)
}

/** Nearly all text is, and is measured at once. */
function isNarrow(text: string): boolean {
  return /^[\x20-\x7e\xa0-\u02ff]*$/.test(text)
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** At most that many columns, and a mark where there was more. */
export function cut(text: string, columns: number): string {
  const [first, rest] = splitAt(text, columns)
  return rest === '' ? text : `${first}…`
}

/** The beginning that fits into so many columns, never inside of a character, and the rest. */
export function splitAt(text: string, columns: number): [string, string] {
  if (text.length <= columns && isNarrow(text)) return [text, '']
  let taken = 0
  let at = 0
  // Of a line of megabytes only the beginning is taken apart.
  for (const { segment } of graphemes.segment(text.slice(0, 20 * columns + 100))) {
    const width = widthOf(segment)
    if (taken + width > columns) return [text.slice(0, at), text.slice(at)]
    taken += width
    at += segment.length
  }
  return [text.slice(0, at), text.slice(at)]
}

/** Less than this is no column to read a sentence in. */
const NARROWEST_TEXT = 20
/** Of an id of ours the first 48 bits, which are its time in milliseconds. */
const SHORT_ID = 13

/** Piped, nobody's window is too narrow. */
export function windowWidth(stream: NodeJS.WriteStream = process.stdout): number {
  return stream.isTTY ? stream.columns || Number.POSITIVE_INFINITY : Number.POSITIVE_INFINITY
}

/**
 * Columns as wide as their widest cell, each made visible. Colours are added by `paint` after measuring. In a window that is too
 * narrow ids are shown by their beginning and times by their age; then the last column is wrapped.
 */
export function table(
  given: readonly (readonly string[])[],
  paint: (cell: string, column: number, row: number) => string = (cell) => cell,
  window = windowWidth(),
): string {
  const whole = given.map((row) => row.map(visibleLine))
  const rows = tableWidth(whole) > window ? shorter(whole) : whole
  const widths = columnWidths(rows)
  const left = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  return rows
    .map((row, r) => {
      const last = row.length - 1
      const cells = row.slice(0, -1).map((cell, c) => paint(padEnd(cell, widths[c]!), c, r))
      const [first, ...more] = fitted(row[last] ?? '', left, window).map((line) => paint(line, last, r))
      const indent = ' '.repeat(window - left < NARROWEST_TEXT ? 4 : left)
      return [[...cells, first].join('  ').trimEnd(), ...more.map((line) => indent + line)].join('\n')
    })
    .join('\n')
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]!)))) ?? []
}

function tableWidth(rows: readonly (readonly string[])[]): number {
  const widths = columnWidths(rows)
  return widths.reduce((sum, width) => sum + width, 2 * Math.max(0, widths.length - 1))
}

/** An id stays one that the CLI takes: no two of a table are cut to the same. */
function shorter(rows: readonly (readonly string[])[]): string[][] {
  const ids = [...new Set(rows.flat().filter((cell) => UUID.test(cell)))]
  let length = SHORT_ID
  while (length < 36 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1
  return rows.map((row) =>
    row.map((cell) => {
      if (UUID.test(cell)) return cell.slice(0, length)
      return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(cell) ? age(new Date(cell)) : cell
    }),
  )
}

/** The last cell of a row in what is left of the window; below the others where that is too little for a sentence. */
function fitted(cell: string, left: number, window: number): string[] {
  if (left + widthOf(cell) <= window || widthOf(cell) < NARROWEST_TEXT) return [cell]
  if (window - left >= NARROWEST_TEXT) return wrap(cell, window - left)
  return ['', ...wrap(cell, Math.max(NARROWEST_TEXT, window - 4))]
}

/** Lines of at most `width`, broken at blanks where there are any. What others wrote is made visible first. */
export function wrap(text: string, width: number): string[] {
  const words = visibleLine(text).split(' ')
  return filled(
    words.flatMap((word) => pieces(word, width)),
    width,
  )
}

/** A command stays on one line where it fits, and whole where it does not: cut by a newline it could not be pasted. */
const WORDS = /`[^`\n]+`[^\s`]*|\S+/g

/**
 * Sentences of ours for a window, the lines behind the first indented. Unlike `wrap` it breaks no word: an address or a digest
 * is left to the terminal.
 */
export function prose(text: string, { window = windowWidth(), indent = 0 } = {}): string {
  const blanks = ' '.repeat(indent)
  return visible(text)
    .split('\n')
    .flatMap((line) =>
      indent + widthOf(line) <= window ? [line] : filled(line.match(WORDS) ?? [], window - indent),
    )
    .join(`\n${blanks}`)
}

function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

function pieces(word: string, width: number): string[] {
  const [first, rest] = splitAt(word, Math.max(2, width))
  return rest === '' ? [first] : [first, ...pieces(rest, width)]
}

/** As `diff -u` is painted everywhere. */
export function paintDiff(diff: string): string {
  return visible(diff)
    .split('\n')
    .map((line) => {
      if (line.startsWith('+++') || line.startsWith('---')) return pc.bold(line)
      if (line.startsWith('+')) return pc.green(line)
      return line.startsWith('-') ? pc.red(line) : line.startsWith('@@') ? pc.cyan(line) : line
    })
    .join('\n')
    .trimEnd()
}

/** 5 s, 38 min, 3 h, 2 d */
export function age(since: Date, now = new Date()): string {
  const seconds = Math.max(0, Math.round((now.getTime() - since.getTime()) / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  return count < 1_048_576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`
}

/** Message and hint on stderr, with `stack` also where a bug is; returns the exit code of the catalogue. */
export function reportError(thrown: unknown, { json, stack }: { json: boolean; stack: boolean }): number {
  const error = asStagedoorError(thrown)
  if (json) {
    const { code, message, hint, retryable, details } = error
    process.stderr.write(
      `${JSON.stringify({ error: { code, message, hint, retryable, details } }, null, 2)}\n`,
    )
    return error.exitCode
  }
  // The database's words may quote what others staged.
  const room = { window: windowWidth(process.stderr), indent: 2 }
  process.stderr.write(`${pc.red('✖')} ${prose(error.message, room)}\n`)
  process.stderr.write(`  ${pc.dim(prose(error.hint, room))}\n`)
  const statements = error.details.statements
  if (Array.isArray(statements)) process.stderr.write(`\n${statements.join('\n')}\n`)
  for (const line of linesOf(error)) process.stderr.write(`${line}\n`)
  if (error.code === 'internal' && stack) {
    process.stderr.write(`${((error.cause as Error) ?? error).stack}\n`)
  }
  return error.exitCode
}

/** What does not fit into a sentence: the diff of a conflict, the problems of a manifest. */
function linesOf({ code, details }: StagedoorError): string[] {
  if (code === 'unit_version_conflict' && typeof details.diff === 'string') {
    return ['', paintDiff(details.diff)]
  }
  if (code !== 'manifest_invalid' || !Array.isArray(details.problems)) return []
  const problems = details.problems as readonly unknown[] as readonly (string | ManifestProblem)[]
  return problems.map((problem) =>
    visible(
      typeof problem === 'string'
        ? `  ${problem}`
        : `  ${problem.piece === undefined ? '' : `${problem.piece}: `}${problem.message}`,
    ),
  )
}
