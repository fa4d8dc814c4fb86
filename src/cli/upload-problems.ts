/** `stagedoor upload rows`, `problems`, `export` and `repair`: the lines as they were read, what is wrong with them, and how they are corrected. */
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import type { Problem } from '../ingest/datasets/dataset.ts'
import { loadDataset } from '../ingest/datasets/declaration-file.ts'
import { registerCustomRule, requireDataset } from '../ingest/datasets/registry.ts'
import type { Correction } from '../ingest/repair.ts'
import { type StagedRow, VALIDATION_STATUSES } from '../ingest/shapes.ts'
import {
  exportProblems,
  type LeftOutLine,
  type LineFilter,
  leftOutText,
  listLeftOut,
  listRows,
} from '../ingest/staged-rows.ts'
import { requireUpload, type Upload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { argumentInvalid, collect, integerFrom } from './arguments.ts'
import { formatCount, joinWords, plural, shellWord } from './format.ts'
import type { Transaction } from './session.ts'
import { type Column, nextPage, type Output, painter, printChunks } from './terminal.ts'
import { hanging, padEnd, printableLine, screenWidth, textWidth, truncateLine, wrapText } from './text.ts'
import { actorFlag } from './upload-next-steps.ts'
import { loadUploadView, printChange, uploadVerb } from './upload-show.ts'

const DEFAULT_PROBLEM_LINES = 20
const PAGE = 1000

export const rowsCommand = () =>
  uploadVerb('rows', 'the lines of an upload as they were read, in the order of the file')
    .option('--type <row type>', 'default: the one with a row for each line')
    .option('--status <status>', 'only these', VALIDATION_STATUSES)
    .option('--problems', 'only lines with an error or a warning')
    .limit(50)
    .option('--after <line>', 'the page after this line', integerFrom(0))
    .run(async ({ options, output, transaction }, id) => {
      const { type, status, problems, limit, after } = options
      const rows = await transaction(async (client) => {
        const { upload_id, reading } = await requireUpload(client, id)
        const rowType = type ?? reading?.layout.leaf
        return rowType === undefined
          ? []
          : listRows(client, upload_id, omitUndefined({ rowType, status, problems, limit, after }))
      })
      output.list(
        rows,
        ROW_COLUMNS,
        'No such line is staged. Lines go when an upload is promoted or discarded, or after their retention.',
        nextPage(rows, limit, ({ row_number }) => String(row_number)),
      )
    })

const ROW_COLUMNS: Column<StagedRow>[] = [
  { title: 'line', value: ({ row_number }) => row_number, align: 'right' },
  {
    title: 'status',
    value: ({ validation_status }) => validation_status,
    paint: painter({ green: ['valid'], red: ['invalid'] }),
  },
  {
    title: 'cells',
    value: ({ raw_payload }) =>
      joinWords(
        Object.entries(raw_payload).map(([header, text]) => `${header} ${text ?? '–'}`),
        ' · ',
      ),
    shrinkTo: 20,
  },
]

export const problemsCommand = () =>
  uploadVerb('problems', 'what is wrong with which line, and what to do about it')
    .option('--all', `all of them, not only those of the first ${DEFAULT_PROBLEM_LINES} lines`)
    .option('--left-out', 'the lines that are left out instead, each with its reason and its figures')
    .option('--rule <rule>', 'only lines with a problem by this rule')
    .option('--column <header>', 'only lines with a problem in this column')
    .run(async ({ options: { all, leftOut, rule, column }, output, transaction }, id) => {
      const max = all ? Number.MAX_SAFE_INTEGER : DEFAULT_PROBLEM_LINES
      await transaction(async (client) => {
        const upload = await requireUpload(client, id)
        if (leftOut) {
          const lines = await listLeftOut(client, id, { limit: max })
          return output.result({ left_out: upload.left_out, lines }, () =>
            printLeftOut(output, upload, lines),
          )
        }
        const problems = await problemsOf(client, upload, max, { rule, column })
        output.result(problems, () => printProblems(output, upload, problems, all))
      })
    })

function printProblems(output: Output, upload: Upload, problems: readonly LineProblem[], all = false) {
  const { status, invalid_count, warning_count, skipped_count } = upload
  if (problems.length === 0) {
    if (['reading', 'failed'].includes(status))
      return output.line(`The upload is ${status}: no line was checked.`)
    return output.done('Nothing is wrong with any line that is still staged.')
  }
  const shown = new Set(problems.map(({ line }) => line)).size
  const counts = `${plural(invalid_count, 'invalid line')}, ${formatCount(warning_count)} with a warning`
  output.line(problemTable(problems))
  output.dim(`\n  ${counts}; ${plural(shown, 'line')} shown`)
  if (shown >= DEFAULT_PROBLEM_LINES && !all) output.dim('  --all shows all of them')
  if (skipped_count) output.dim(`  ${leftOutText(upload.left_out)}: --left-out lists them`)
}

function printLeftOut(output: Output, upload: Upload, lines: readonly LeftOutLine[]): void {
  for (const { line, message, values } of lines) {
    output.line(`  ${String(line).padStart(8)}  ${printableLine(message)}`)
    const cells = Object.entries(values).map(([name, value]) => `${name} ${value}`)
    output.dim(hanging(' '.repeat(12), cells.join(' · '), 12))
  }
  if (lines.length === 0) output.done('No line is left out.')
  else output.dim(`\n  ${leftOutText(upload.left_out)}; ${plural(lines.length, 'line')} shown`)
  if (lines.length < (upload.skipped_count ?? 0)) output.dim('  --all shows all of them')
}

/** What is wrong with the whole line, such as a key that repeats, names no column and no value. */
export interface LineProblem extends Omit<Problem, 'column' | 'value'> {
  readonly column?: string | null
  readonly value?: string | null
  readonly severity: 'error' | 'warning'
}

/** Of at most `max` lines: the wrong ones first, then those with a warning only. Lines that are left out have none. */
export async function problemsOf(
  client: Client,
  { upload_id, reading }: Upload,
  max: number,
  only: LineFilter = {},
): Promise<LineProblem[]> {
  if (!reading) return []
  const filter = { ...only, rowType: reading.layout.leaf, problems: true }
  const wrong = await listRows(client, upload_id, { ...filter, status: 'invalid', limit: max })
  const warned = await listRows(client, upload_id, { ...filter, status: 'valid', limit: max - wrong.length })
  return [...wrong, ...warned].flatMap((row) => [
    ...row.validation_errors.map((problem) => ({ ...problem, severity: 'error' as const })),
    ...row.validation_warnings.map((problem) => ({ ...problem, severity: 'warning' as const })),
  ])
}

/** The first of each kind: a wrong column is wrong in every line. Warnings only where nothing is wrong. */
export function kindsOf(problems: readonly LineProblem[], max: number): LineProblem[] {
  const worst = problems.some(({ severity }) => severity === 'error') ? 'error' : 'warning'
  const kindOf = ({ rule, column }: LineProblem) => JSON.stringify([rule, column])
  const those = problems.filter(({ severity }) => severity === worst)
  const first = those.filter((one, at) => those.findIndex((other) => kindOf(other) === kindOf(one)) === at)
  return first.slice(0, max)
}

/** Line, column and value beside what is wrong; below it in its column what to do. */
export function problemTable(problems: readonly LineProblem[], width = screenWidth()): string {
  const half = Math.floor((width - 40) / 2)
  const number = Math.max(4, ...problems.map(({ line }) => String(line).length))
  const cellWidth = (cells: string[], min: number, max: number) =>
    Math.max(min, ...cells.map((cell) => textWidth(truncateLine(cell, max))))
  const column = cellWidth(problems.map(columnOf), 6, Math.min(24, half + 4))
  const value = cellWidth(problems.map(cellOf), 5, Math.min(24, half))
  const words = Math.max(20, width - number - column - value - 10)
  const below = ' '.repeat(number + column + value + 10)
  const head = `  ${'line'.padStart(number + 2)}  ${'column'.padEnd(column)}  ${'value'.padEnd(value)}  what is wrong`
  const rows = problems.flatMap((problem) => {
    const { severity, line, message, suggestion } = problem
    const mark = severity === 'error' ? pc.red('✖') : pc.yellow('!')
    const cells = [
      `  ${mark} ${String(line).padStart(number)}`,
      padEnd(truncateLine(columnOf(problem), column + 1), column),
      padEnd(truncateLine(cellOf(problem), value + 1), value),
    ]
    const hint = suggestion ? wrapText(suggestion, words - 2) : []
    return [
      ...wrapText(message, words).map((text, row) =>
        row === 0 ? [...cells, text].join('  ') : below + text,
      ),
      ...hint.map((text, row) => below + pc.dim(`${row === 0 ? '→' : ' '} ${text}`)),
    ]
  })
  return [pc.dim(head), ...rows].join('\n')
}

function columnOf({ column }: LineProblem): string {
  return column ?? 'whole line'
}

function cellOf({ column, value }: LineProblem): string {
  return column === undefined || column === null ? '–' : value || '(empty)'
}

export const exportCommand = () =>
  uploadVerb('export', 'the invalid lines as a CSV file, with what is wrong beside each')
    .option('-o, --output <file>', 'where to; default: standard output')
    .option('--left-out', 'the lines that are left out instead, with the reason beside each')
    .examples(
      'Correct the cells in a spreadsheet and bring them in: stagedoor upload repair <id> --file <file>.',
      'The column "Stagedoor: line" says which line a correction belongs to; leave it as it is.',
    )
    .run(async ({ options, output, transaction, isExternal }, id) => {
      const { output: file, leftOut } = options
      const lines = await exportTo(transaction, id, file, leftOut ? 'skipped' : 'invalid')
      if (file === undefined) return
      const flag = actorFlag(options, await isExternal())
      output.result({ upload_id: id, file, lines }, `${plural(lines, 'line')} written to ${file}`, [
        'Correct the cells, save it, and bring it in',
        `stagedoor upload repair ${id} --file ${shellWord(file)}${flag}`,
      ])
    })

/** Returns how many lines were exported. */
async function exportTo(
  transaction: Transaction,
  id: string,
  file: string | undefined,
  status: 'invalid' | 'skipped',
): Promise<number> {
  const upload = await transaction((client) => requireUpload(client, id))
  const { reading } = upload
  if (!reading)
    throw new StagedoorError('upload_state', { upload: id, status: upload.status, action: 'exported' })
  // Loaded here, like everything that loads DuckDB: the other commands start without it.
  const { rawKeys } = await import('../ingest/readers/chunks.ts')
  let exported = 0
  // A page a transaction: a reader like `less` may take hours.
  const page = async (after: number) => {
    const rows = await transaction((client) =>
      listRows(client, id, { rowType: reading.layout.leaf, status, limit: PAGE, after }),
    )
    exported += rows.length
    return rows
  }
  const texts = exportProblems(page, rawKeys(reading.headers))
  if (file === undefined) await printChunks(texts)
  else
    await pipeline(texts, createWriteStream(file)).catch((cause: NodeJS.ErrnoException) => {
      if (!['open', 'write', 'close'].includes(cause.syscall ?? '')) throw cause
      const reason = `${file} cannot be written: ${cause.message}`
      throw new StagedoorError('argument_invalid', { reason }, { cause })
    })
  return exported
}

export const repairCommand = () =>
  uploadVerb(
    'repair',
    'correct lines; they are checked by the same rules, and what was planned is planned again',
  )
    .option('--line <n>', 'the line of the file', integerFrom(0))
    .option('--set <header=value>', 'a cell of it; may be repeated', collect(String))
    .option('--leave-out', 'make nothing of the line; corrected later, it is taken in again')
    .option('--file <file>', 'the exported file with its cells corrected, or the whole file, corrected')
    .option('--column <header>', 'the column in which --replace replaces')
    .option(
      '--replace <old=new>',
      'cells with exactly this text get another one; may be repeated',
      collect(String),
    )
    .option('--part', 'replace the text also where it is a part of a cell')
    .option(
      '--fill <header=value>',
      'the cells of a column, with --where-empty or --lines; may be repeated',
      collect(String),
    )
    .option('--where-empty', 'fill empty cells only')
    .option('--lines <from-to>', 'replace or fill in these lines only', parseLineRange)
    .option('--dry-run', 'only say how many lines would change')
    .option('--dataset <file>', 'that declares it, where it has a rule in TypeScript')
    .examples(
      'One cell:              stagedoor upload repair <id> --line 16 --set "Ad ID=120253400000060001"',
      'A value of a column:   stagedoor upload repair <id> --column Country --replace "UK=GB" --replace "Eire=IE"',
      'Empty cells:           stagedoor upload repair <id> --fill "Currency=EUR" --where-empty',
    )
    .run(async (session, id) => {
      const { options, output, transaction } = session
      requireOneWay(options)
      const declared = options.dataset !== undefined && (await loadDataset(options.dataset))
      if (declared) registerCustomRule(declared.name, declared.check)
      const { repairUpload } = await import('../ingest/repair.ts')
      const corrections = (client: Client, upload: Upload) => correctionsOf(client, upload, options)
      const result = await repairUpload(
        await session.pool(),
        { transaction },
        { upload: id, corrections, dryRun: options.dryRun },
      )
      const view = await loadUploadView(session, id)
      const problems = await transaction((client) => problemsOf(client, view.upload, 5))
      output.result({ ...result, upload: view.upload, problems }, () => {
        const { lines, cells, replanned, reason } = result
        if (lines === 0)
          return output.line('Nothing differs from the lines that are staged. Nothing changed.')
        if (options.dryRun)
          return output.line(
            `${plural(cells, 'cell')} of ${plural(lines, 'line')} would be corrected. Nothing changed.`,
          )
        const done = options.leaveOut ? 'left out' : 'corrected and checked again'
        output.done(`${plural(lines, 'line')} ${done}`)
        if (replanned === 'lines') output.dim('  Plan updated: what these lines touch was planned again')
        if (replanned === 'whole')
          output.dim(
            `  Plan updated: everything was planned again${reason === null ? '' : `, because ${reason}`}`,
          )
        printChange(session, view)
        const wrong = problems.filter(({ severity }) => severity === 'error')
        if (wrong.length > 0) output.line(`\nStill wrong\n${problemTable(wrong)}`)
      })
    })

interface RepairOptions {
  readonly line?: number
  readonly set?: string[]
  readonly leaveOut?: boolean
  readonly file?: string
  readonly column?: string
  readonly replace?: string[]
  readonly part?: boolean
  readonly fill?: string[]
  readonly whereEmpty?: boolean
  readonly lines?: readonly [number, number]
}

function requireOneWay(options: RepairOptions): void {
  const { line, set, leaveOut = false, file, column, replace, part, fill, whereEmpty, lines } = options
  const hasLine = line !== undefined && (set !== undefined) !== leaveOut
  const partly = [line, set, leaveOut || undefined].some((one) => one !== undefined)
  const ways = [hasLine, file !== undefined, replace !== undefined, fill !== undefined].filter(Boolean)
  if (ways.length !== 1 || (partly && !hasLine))
    throw argumentInvalid(
      'Give one of: --line N with --set "Header=value" or with --leave-out; --file with the corrected file; --column with --replace "old=new"; --fill "Header=value"',
    )
  if ((replace !== undefined) !== (column !== undefined))
    throw argumentInvalid('--replace needs --column: the column in which it replaces')
  if (fill !== undefined && !whereEmpty && lines === undefined)
    throw argumentInvalid(
      '--fill needs --where-empty, or --lines: it would overwrite the whole column',
      'To overwrite every cell, name all lines: --lines 1-1000000',
    )
  if (part && replace === undefined) throw argumentInvalid('--part belongs to --replace')
  if (fill === undefined && whereEmpty) throw argumentInvalid('--where-empty belongs to --fill')
  if (fill === undefined && replace === undefined && lines !== undefined)
    throw argumentInvalid('--lines belongs to --replace or --fill')
}

/** 1-20, or 7. */
function parseLineRange(given: string): readonly [number, number] {
  const [, from, to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(given) ?? []
  if (from !== undefined && Number(from) <= Number(to)) return [Number(from), Number(to)]
  throw new InvalidArgumentError('Lines as 1-20.')
}

async function correctionsOf(
  client: Client,
  upload: Upload,
  { line, set = [], leaveOut, file, column, replace, part, fill, whereEmpty, lines }: RepairOptions,
): Promise<readonly Correction[]> {
  // Without the rule a line would be right here that was wrong when the file was read.
  const { check } = await requireDataset(client, upload.dataset, upload.platform)
  if (!check && upload.notes.some(({ rule }) => rule === 'dataset.custom_rule'))
    throw argumentInvalid(
      'The file was checked by a rule in TypeScript, too: give the file that declares it with --dataset',
    )
  if (leaveOut) return [{ line: line!, leaveOut: true }]
  const { headersOf, readCorrections } = await import('../ingest/corrections.ts')
  if (file !== undefined) return readCorrections(client, upload, file)
  const headers = headersOf(upload)
  const { findEdited } = await import('../ingest/column-edits.ts')
  if (replace) {
    const match = part ? ('part' as const) : undefined
    const edits = replace
      .map(parseReplacement)
      .map((change) => ({ column: column!, ...change, match, lines }))
    return findEdited(client, upload, edits)
  }
  if (fill) {
    const from = whereEmpty ? null : undefined
    const edits = fill.map((setting) => parseSetting('--fill', setting, headers))
    return findEdited(
      client,
      upload,
      edits.map(([header, to]) => ({ column: header, from, to, lines })),
    )
  }
  const values = set.map((setting) => parseSetting('--set', setting, headers))
  return [{ line: line!, values: Object.fromEntries(values) }]
}

function parseReplacement(given: string): { from: string; to: string } {
  const at = given.indexOf('=')
  if (at < 0) throw argumentInvalid(`--replace ${given}: write it as "old=new"`)
  return { from: given.slice(0, at), to: given.slice(at + 1) }
}

/** "Header=value": a header may itself contain the sign, so the longest one that the file has is taken. */
function parseSetting(option: string, setting: string, headers: readonly string[]): [string, string] {
  const header = headers
    .toSorted((a, b) => b.length - a.length)
    .find((name) => setting.startsWith(`${name}=`))
  if (header !== undefined) return [header, setting.slice(header.length + 1)]
  const [named] = setting.split('=')
  throw argumentInvalid(
    setting.includes('=')
      ? `The file has no column “${named}”`
      : `${option} ${setting}: write it as "Header=value"`,
    `The file has: ${headers.join(', ')}`,
  )
}
