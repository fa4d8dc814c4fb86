/** `stagedoor profile`: what is in a file, before anything is declared. It needs no database. */
import { stat } from 'node:fs/promises'
import pc from 'picocolors'
import type { ColumnProfile, FileProfile, ProfileOptions, SampledProfile } from '../ingest/profile-file.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import { argumentInvalid, DELIMITER, HEADER_LINE, rethrowUnreadable } from './arguments.ts'
import { command } from './command.ts'
import { formatBytes, formatCount, joinWords, plural, shellWord } from './format.ts'
import { startProgressBar } from './progress.ts'
import type { Column, Output } from './terminal.ts'
import { printableLine } from './text.ts'

export const profileCommand = () =>
  command(
    'profile',
    'what is in a file: how it is written, its columns, their types, the likely keys. Writes nothing',
  )
    .argument('<file>', 'CSV, TSV, JSON lines, JSON, Parquet or xlsx')
    .option('--encoding <name>', 'where it is not UTF-8: shift_jis, gbk, windows-1251, …')
    .option(...DELIMITER)
    .option('--columns <names>', 'of a file without a header, in order: name,name,…')
    .option(...HEADER_LINE)
    .option('--sheet <name>', 'of an xlsx; default: the first one with data')
    .examples('  $ stagedoor profile products.xlsx\n  $ stagedoor profile export.csv --json')
    .run(async ({ options, output }, file) => {
      const { samples: _, head: __, ...profile } = await profileWithProgress(output, file, options)
      output.result(profile, () => printProfile(output, profile), [
        'Bring it into a table of yours',
        `stagedoor init SCHEMA.TABLE ${shellWord(file)}`,
      ])
    })

export interface ReadFlags {
  readonly encoding?: string
  readonly delimiter?: string
  readonly columns?: string
  readonly headerLine?: number
  readonly sheet?: string
}

/** Reads the file with a bar, which appears where that takes longer than a second. */
export async function profileWithProgress(
  output: Output,
  file: string,
  { encoding, delimiter, columns, headerLine, sheet }: ReadFlags,
  more: Pick<ProfileOptions, 'knowsHeader'> = {},
): Promise<SampledProfile> {
  const found = await stat(file).catch(rethrowUnreadable(file))
  if (found.isDirectory()) throw argumentInvalid(`${file} is a folder; give one file`)
  // Loaded here, like everything that reads files.
  const [{ profileFile }, { columnNames }, { closeDuck }] = await Promise.all([
    import('../ingest/profile-file.ts'),
    import('../ingest/readers/format.ts'),
    import('../ingest/duckdb.ts'),
  ])
  const began = performance.now()
  let bar: ReturnType<typeof startProgressBar> | undefined
  try {
    return await profileFile(file, {
      ...omitUndefined({
        encoding,
        sheet,
        delimiter,
        headerLine,
        columns: columns === undefined ? undefined : columnNames(columns),
      }),
      ...more,
      onProgress: ({ bytes, total }) => {
        if (!bar && performance.now() - began < 1000) return
        bar ??= startProgressBar(output, 'Read', total)
        bar.update(bytes, total)
      },
    })
  } finally {
    bar?.stop()
    await closeDuck()
  }
}

const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'bar',
}

/** CSV, UTF-8, semicolon, header in line 3, decimal comma */
export function dialectText(profile: FileProfile): string {
  const { format, encoding, delimiter, headerLine, decimal, dates } = profile
  return joinWords([
    format === 'csv' ? 'CSV' : format,
    encoding,
    delimiter !== null && `${DELIMITER_NAMES[delimiter] ?? JSON.stringify(delimiter)} between the cells`,
    headerLine === 0 ? 'no header' : `header in line ${headerLine}`,
    decimal === 'comma' && 'decimal comma',
    decimal === 'mixed' && pc.yellow('decimal points and commas mixed'),
    dates === 'dmy' && 'day before month',
    dates === 'mdy' && 'month before day',
    dates === 'mixed' && pc.yellow('dates of both orders'),
  ])
}

/** What was inferred from a part of the lines; undefined where all were read for everything. */
export function inferredText({ lines, sampled, columns }: FileProfile): string | undefined {
  if (sampled.types >= lines && sampled.styles >= lines) return undefined
  const isEstimated = columns.some(({ distinctIsEstimate }) => distinctIsEstimate)
  return joinWords([
    `Types and examples are from ${plural(sampled.types, 'line')}`,
    `decimal sign and order of dates from ${formatCount(sampled.styles)}`,
    `everything else was found in all ${formatCount(lines)}${isEstimated ? ' (≈ is an estimate)' : ''}`,
  ])
}

function printProfile(output: Output, profile: FileProfile): void {
  const { file, bytes, lines, brokenLines, columns, keys, notes } = profile
  output.line(
    `${pc.bold(printableLine(file))}  ${plural(lines, 'line')}, ${plural(columns.length, 'column')}, ${formatBytes(bytes)}`,
  )
  output.dim(`  ${dialectText(profile)}`)
  output.line()
  output.records(columns, COLUMNS)
  output.line()
  if (keys.length === 0)
    output.line(`No column, and no two or three together, tell every line from the others.`)
  else
    output.line(
      `Likely keys: ${keys
        .slice(0, 5)
        .map((key) => printableLine(key.join(' + ')))
        .join(' · ')}`,
    )
  const inferred = inferredText(profile)
  if (inferred) output.dim(inferred)
  if (brokenLines > 0) output.caution(`${plural(brokenLines, 'line')} cannot be read as a line of cells`)
  for (const { message, line } of notes)
    output.caution(line === undefined ? message : `${message} (line ${line})`)
}

const COLUMNS: Column<ColumnProfile>[] = [
  { title: 'column', value: ({ header }) => header, shrinkTo: 12 },
  {
    title: 'type',
    value: ({ type, misfits }) => (misfits > 0 ? `${type} (${formatCount(misfits)} not)` : type),
  },
  { title: 'empty', value: ({ nulls }) => (nulls === 0 ? '' : formatCount(nulls)), align: 'right' },
  {
    title: 'distinct',
    value: ({ distinct, distinctIsEstimate, unique }) =>
      unique ? 'all' : `${distinctIsEstimate ? '≈ ' : ''}${formatCount(distinct)}`,
    align: 'right',
  },
  { title: 'from', value: ({ min }) => min?.slice(0, 24) },
  { title: 'to', value: ({ max }) => max?.slice(0, 24) },
  { title: 'examples', value: ({ examples }) => examples.join(' · '), dim: true, shrinkTo: 16 },
]
