/** What the CLI prints: tables and sentences for people, one JSON value for machines. */

import { createInterface } from 'node:readline/promises'
import { pipeline } from 'node:stream/promises'
import pc from 'picocolors'
import { asStagedoorError, type StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { ManifestProblem } from '../units/manifest.ts'
import { formatAge } from './format.ts'
import {
  padEnd,
  padStart,
  printable,
  printableLine,
  prose,
  screenWidth,
  textWidth,
  truncate,
  windowWidth,
  wrapText,
} from './text.ts'

export type Output = ReturnType<typeof createOutput>

/** What to do, and the command that does it. */
export type NextStep = readonly [what: string, command: string]
export type PossibleStep = NextStep | false | null | undefined

export function createOutput(json: boolean, print = (text: string): unknown => process.stdout.write(text)) {
  const line = (text = ''): void => {
    if (!json) print(`${text}\n`)
  }
  /** Progress and side remarks: stderr, so that stdout stays clean. */
  const note = (text: string): void => {
    if (!json) process.stderr.write(`${text}\n`)
  }
  /** ✔ The command did what was asked. */
  const done = (text: string): void => line(`${pc.green('✔')} ${text}`)
  /** ● Something that people should know, though nothing failed. */
  const warn = (text: string): void => line(`${pc.yellow('●')} ${text}`)
  /** ! Something is missing or went wrong, and the command goes on. */
  const caution = (text: string, indent = ''): void => {
    for (const [index, part] of wrapText(text, screenWidth() - indent.length - 2).entries())
      line(`${indent}${index === 0 ? '' : '  '}${pc.yellow(index === 0 ? `! ${part}` : part)}`)
  }
  /** What people may skip: where the rest is, what an id stands for. */
  const dim = (text: string): void => line(pc.dim(text))
  /** A bold line behind an empty one. */
  const heading = (text: string): void => line(`\n${pc.bold(text)}`)
  const facts = (known: readonly Fact[], indent?: string): void => line(formatFacts(known, indent))
  const records = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void =>
    line(formatRecords(rows, columns))
  /** One JSON value in --json mode, else what `forPeople` prints (a sentence is printed by `done`) and the next steps. */
  const result = (value: unknown, forPeople: string | (() => unknown), ...steps: PossibleStep[]): void => {
    if (json) return void print(`${JSON.stringify(value, null, 2)}\n`)
    if (typeof forPeople === 'string') done(forPeople)
    else forPeople()
    next(...steps)
  }
  /** A list as most commands show it: a JSON array, or a table with `below` under it, or what is said where there is none. */
  const list = <Row>(
    rows: readonly Row[],
    columns: readonly Column<Row>[],
    none: string | (() => void),
    below?: string | false,
  ): void =>
    result(rows, () => {
      if (rows.length === 0) return typeof none === 'string' ? line(none) : none()
      records(rows, columns)
      if (below) line(below)
    })
  /** The next commands, ready to be pasted; what is false, null or undefined is left out. */
  const next = (...given: readonly PossibleStep[]): void => {
    const steps = given.filter((step) => step != null && step !== false)
    if (steps.length > 0) heading('Next')
    for (const [what, command] of steps) line(`  ${prose(what, { indent: 2 })}\n    ${pc.cyan(command)}`)
  }
  return { json, line, note, done, warn, caution, dim, heading, facts, records, result, list, next }
}

/** Less than this is no column to read a sentence in. */
const NARROWEST_TEXT = 20
/** Of an id of ours the first 48 bits, which are its time in milliseconds. */
const SHORT_ID = 13

/**
 * Columns as wide as their widest cell, each made visible. Colours are added by `paint` after measuring. In a window that is too
 * narrow ids are shown by their beginning and times by their age; then the last column is wrapped.
 */
export function formatTable(
  given: readonly (readonly string[])[],
  paint: (cell: string, column: number, row: number) => string = (cell) => cell,
  window = windowWidth(),
): string {
  const whole = given.map((row) => row.map(printableLine))
  const rows = tableWidth(whole) > window ? shortenCells(whole) : whole
  const widths = columnWidths(rows)
  const left = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  return rows
    .map((row, r) => {
      const last = row.length - 1
      const cells = row.slice(0, -1).map((cell, c) => paint(padEnd(cell, widths[c]!), c, r))
      const [first, ...more] = fitCell(row[last] ?? '', left, window).map((line) => paint(line, last, r))
      const indent = ' '.repeat(window - left < NARROWEST_TEXT ? 4 : left)
      return [[...cells, first].join('  ').trimEnd(), ...more.map((line) => indent + line)].join('\n')
    })
    .join('\n')
}

export interface Column<Row> {
  /** Without titles there is no line of headings. */
  readonly title?: string
  readonly value: (row: Row) => string | number | null | undefined
  readonly paint?: (cell: string, row: Row) => string
  readonly dim?: boolean
  readonly align?: 'right'
  /** Cut to what the other columns leave of the window, but never below this many columns. */
  readonly shrinkTo?: number
}

/** A table of records: one row each, cells in the order of `columns`. */
export function formatRecords<Row>(
  records: readonly Row[],
  columns: readonly Column<Row>[],
  window = screenWidth(),
): string {
  const titled = columns.some(({ title }) => title !== undefined)
  const cells = records.map((row) => columns.map(({ value }) => printableLine(String(value(row) ?? ''))))
  const whole = titled ? [columns.map(({ title = '' }) => title), ...cells] : cells
  const all = tableWidth(whole) > windowWidth() ? shortenCells(whole) : whole
  const widths = columnWidths(all)
  const left = window - widths.reduce((sum, width) => sum + width + 2, -2)
  const fitting = columns.map(({ shrinkTo }, c) =>
    shrinkTo === undefined || left >= 0 ? widths[c]! : Math.max(shrinkTo, widths[c]! + left),
  )
  const aligned = all.map((row) =>
    row.map((cell, c) => {
      const fitted = textWidth(cell) > fitting[c]! ? truncate(cell, fitting[c]! - 1) : cell
      return columns[c]!.align === 'right' ? padStart(fitted, fitting[c]!) : fitted
    }),
  )
  return formatTable(aligned, (cell, c, r) => {
    const { paint, dim } = columns[c]!
    if (titled && r === 0) return pc.dim(cell)
    return paint ? paint(cell, records[titled ? r - 1 : r]!) : dim ? pc.dim(cell) : cell
  })
}

export type Fact = readonly [name: string, value: string | number | false | null | undefined]

/** What is known of one thing: a dim name and its value, a line each. What is null, undefined, false or empty is left out. */
export function formatFacts(facts: readonly Fact[], indent = ''): string {
  const known = facts.flatMap(([name, value]) =>
    value == null || value === false || value === '' ? [] : [[indent + name, String(value)]],
  )
  return formatTable(known, (cell, column) => (column === 0 ? pc.dim(cell) : cell))
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return rows[0]?.map((_, column) => Math.max(...rows.map((row) => textWidth(row[column]!)))) ?? []
}

function tableWidth(rows: readonly (readonly string[])[]): number {
  const widths = columnWidths(rows)
  return widths.reduce((sum, width) => sum + width, 2 * Math.max(0, widths.length - 1))
}

/** An id stays one that the CLI takes: no two of a table are cut to the same. */
function shortenCells(rows: readonly (readonly string[])[]): string[][] {
  const ids = [...new Set(rows.flat().filter((cell) => UUID.test(cell)))]
  let length = SHORT_ID
  while (length < 36 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1
  return rows.map((row) =>
    row.map((cell) => {
      if (UUID.test(cell)) return cell.slice(0, length)
      return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(cell) ? formatAge(new Date(cell)) : cell
    }),
  )
}

/** The last cell of a row in what is left of the window; below the others where that is too little for a sentence. */
function fitCell(cell: string, left: number, window: number): string[] {
  if (left + textWidth(cell) <= window || textWidth(cell) < NARROWEST_TEXT) return [cell]
  if (window - left >= NARROWEST_TEXT) return wrapText(cell, window - left)
  return ['', ...wrapText(cell, Math.max(NARROWEST_TEXT, window - 4))]
}

/** Paints a cell by the word in it: as `colours` say, else dim. */
export function painter(
  colours: Partial<Record<'green' | 'yellow' | 'red' | 'cyan', readonly string[]>>,
): (cell: string) => string {
  const words = Object.entries(colours).flatMap(([colour, all]) => all.map((word) => [word, colour] as const))
  const colourOf = new Map(words) as ReadonlyMap<string, keyof typeof colours>
  return (cell) => pc[colourOf.get(cell.trim()) ?? 'dim'](cell)
}

/** As `diff -u` is painted everywhere. */
export function paintDiff(diff: string): string {
  return printable(diff)
    .split('\n')
    .map((line) => {
      if (line.startsWith('+++') || line.startsWith('---')) return pc.bold(line)
      if (line.startsWith('+')) return pc.green(line)
      return line.startsWith('-') ? pc.red(line) : line.startsWith('@@') ? pc.cyan(line) : line
    })
    .join('\n')
    .trimEnd()
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
  for (const line of errorDetailLines(error)) process.stderr.write(`${line}\n`)
  if (error.code === 'internal' && stack) {
    process.stderr.write(`${((error.cause as Error) ?? error).stack}\n`)
  }
  return error.exitCode
}

/** What does not fit into a sentence: the diff of a conflict, the problems of a manifest. */
function errorDetailLines({ code, details }: StagedoorError): string[] {
  if (code === 'unit_version_conflict' && typeof details.diff === 'string')
    return ['', paintDiff(details.diff)]
  if (code !== 'manifest_invalid' || !Array.isArray(details.problems)) return []
  return (details.problems as (string | ManifestProblem)[]).map((problem) => {
    if (typeof problem === 'string') return printable(`  ${problem}`)
    return printable(`  ${problem.piece === undefined ? '' : `${problem.piece}: `}${problem.message}`)
  })
}

/** The same command with the options that were given: pasted, it does the same again, or continues where a page ended. */
export function commandLine(
  words: string,
  options: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined || value === false
      ? []
      : value === true
        ? `--${name}`
        : `--${name} ${quoted(String(value))}`,
  )
  return [words, ...given].join(' ')
}

/** As one word of a shell. */
function quoted(value: string): string {
  return /^[\w@%+=:,./#-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`
}

/** Below a list whose page is full. */
export function nextPage<Row>(
  page: readonly Row[],
  limit: number,
  idOf: (last: Row) => string,
): string | false {
  return page.length === limit && pc.dim(`\nThe page after it: --after ${idOf(page.at(-1)!)}`)
}

/** To standard output as it comes, until whoever reads has seen enough. */
export async function printChunks(chunks: AsyncIterable<string | Buffer>): Promise<void> {
  await pipeline(chunks, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}

// Questions to whoever sits at the terminal.

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** A line of text; empty at the end of input. */
export async function ask(question: string): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const gone = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  try {
    return (await Promise.race([asking.question(`${pc.yellow('?')} ${question}: `), gone])).trim()
  } finally {
    asking.close()
  }
}

/** No is the answer to everything that is not a yes, an end of input included. */
export async function confirm(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const gone = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([asking.question(`${pc.yellow('?')} ${question} [y/N] `), gone])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    asking.close()
  }
}

// The way of a route or a consumer: disabled, running dry, reviewed by somebody else, active.

export type Stage = keyof typeof STAGE_LABELS

const STAGE_LABELS = {
  disabled: '○ disabled',
  dry_run: '◐ dry run',
  reviewed: '◑ reviewed',
  active: '● active',
} as const

export function stageLabel(stage: Stage): string {
  return STAGE_LABELS[stage]
}

export function paintStage(cell: string): string {
  if (cell.startsWith('●')) return pc.green(cell)
  return cell.startsWith('○') ? pc.dim(cell) : pc.yellow(cell)
}
