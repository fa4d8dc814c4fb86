/** `stagedoor ingest`: a file or standard input into the tables, as far as --until says. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import pc from 'picocolors'
import type { RepeatedKeys } from '../ingest/datasets/dataset.ts'
import { isDeclarationFile, loadDataset } from '../ingest/datasets/declaration-file.ts'
import { readMappedHeaders } from '../ingest/datasets/mapping.ts'
import {
  listDatasets,
  registerCustomRule,
  resolveDatasetTarget,
  takesFiles,
} from '../ingest/datasets/registry.ts'
import { type IngestResult, type IngestSource, ingest, UNTIL, type Until } from '../ingest/pipeline.ts'
import type { OnInvalid } from '../ingest/plan.ts'
import type { FileOptions } from '../ingest/stage.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import { argumentInvalid, DELIMITER, HEADER_LINE, parseList, rethrowUnreadable } from './arguments.ts'
import { command } from './command.ts'
import { IGNORE_HEADER, type MappingFlags, mappingOfFlags, SET_HEADER, SET_VALUE } from './dataset-map.ts'
import { plural, shellWord } from './format.ts'
import type { ReadFlags } from './profile.ts'
import { createIngestProgress } from './progress.ts'
import { type Session, withFlag, workspaceOf } from './session.ts'
import type { Output } from './terminal.ts'
import { awaitsApproval, planRefused, uploadNextSteps } from './upload-next-steps.ts'
import { ALLOW_SHORT_FILE, MAX_DELETED, ON_INVALID, REPEATED, THRESHOLD } from './upload-plan.ts'
import { kindsOf, type LineProblem, problemsOf, problemTable } from './upload-problems.ts'
import { loadUploadView, printUpload, type UploadView } from './upload-show.ts'

/** Lines that a summary looks at, and the kinds of problems that it shows of them. */
const MAX_PROBLEM_LINES = 100
const MAX_PROBLEM_KINDS = 5

export const ingestCommand = () =>
  command('ingest', 'bring a file into your tables: read, check, plan, have it approved, promote')
    .argument('<file>', 'CSV, TSV, JSON lines, JSON, Parquet or xlsx; - reads standard input')
    .option(
      '--dataset <name>',
      'what the file means, as `dataset list` shows it; default: the only one, or the one whose headers fit',
    )
    .option('--platform <name>', 'whose export it is; default: the only one of the dataset')
    .option('--workspace <id or name>', 'default: the only one there is')
    .option('--client <id or name>', 'whose data it is; default: the only one of the workspace')
    .option(...ON_INVALID, 'refuse')
    .option(...THRESHOLD)
    .option(...REPEATED)
    .option(...MAX_DELETED)
    .option(...ALLOW_SHORT_FILE)
    .option('--until <stage>', 'how far to go', UNTIL, 'promoted')
    .option('--dry-run', 'read, check and plan, never to be promoted')
    .option('--name <file name>', 'what to call it; for standard input')
    .option('--encoding <name>', 'where it is not UTF-8: shift_jis, gbk, windows-1251, …')
    .option(...DELIMITER)
    .option('--columns <names>', 'of a file without a header, in order: name,name,…')
    .option(...HEADER_LINE)
    .option('--sheet <name>', 'of an xlsx; default: the first one with data')
    .option('--decimal <dot|comma>', 'of its numbers, where it cannot be detected', ['dot', 'comma'])
    .option('--dates <dmy|mdy>', 'which comes first, where it cannot be detected', ['dmy', 'mdy'])
    .option(
      '--remember-options',
      'remember --encoding, --delimiter, --header-line, --decimal and --dates for your next files with the same columns',
    )
    .option(
      '--without <fields>',
      'what the dataset expects and this file has no column for, separated by commas',
      parseList,
    )
    .option(...SET_HEADER)
    .option(...IGNORE_HEADER)
    .option(...SET_VALUE)
    .option(
      '--cursor <name=json>',
      'where the next pull begins; kept together with the promotion',
      parseCursor,
    )
    .actor({ backEndRole: 'service_role' })
    .examples(
      `  $ stagedoor ingest week-45.csv --dataset ads --platform meta
  $ stagedoor ingest report.xlsx --dataset ads --platform google --client "Northwind" --dry-run
  $ curl -s https://example.com/rows.jsonl | stagedoor ingest - --dataset orders --name rows.jsonl

Where the dataset asks for approval, the plan is submitted and the command ends with 5: a second person decides.
The same bytes again are recognised, and nothing is done; the exit code says how far their upload is.`,
    )
    .run(async (session, file) => {
      const { options, output } = session
      const dataset = await datasetOf(session, file, options)
      const { result, view, problems } = await ingestFile(session, file, { ...options, dataset })
      const steps = uploadNextSteps(view, options)
      const next = steps.map(([what, command]) => ({ what, command }))
      output.result(
        { created: result.created, upload: result.upload, problems, next },
        () => printIngested(output, result, view, problems),
        ...steps,
      )
      reportStopped(output, result, view)
    })

interface IngestFlags extends ReadFlags, Partial<MappingFlags> {
  readonly dataset: string
  readonly platform?: string
  readonly workspace?: string
  readonly client?: string
  readonly onInvalid?: OnInvalid
  readonly threshold?: number
  readonly repeatedKeys?: RepeatedKeys
  readonly maxDeleted?: number
  readonly allowShortFile?: boolean
  readonly until: Until
  readonly dryRun?: boolean
  readonly name?: string
  /** Only so many bytes from the file's start. */
  readonly bytes?: number
  readonly decimal?: 'dot' | 'comma'
  readonly dates?: 'dmy' | 'mdy'
  readonly rememberOptions?: boolean
  readonly without?: readonly string[]
  readonly cursor?: { readonly name: string; readonly value: unknown }
}

/** For this file only; `dataset map` remembers it. */
function chosenMapping({
  set = [],
  ignore = [],
  value = [],
}: Partial<MappingFlags>): Pick<FileOptions, 'headers' | 'values'> {
  const { headers, field_values: values } = mappingOfFlags({ set, ignore, value })
  return {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(values).length > 0 && { values }),
  }
}

interface IngestedFile {
  readonly result: IngestResult
  readonly view: UploadView
  readonly problems: readonly LineProblem[]
}

/** One file through the pipeline, with bars, as whoever acts. */
export async function ingestFile(session: Session, file: string, flags: IngestFlags): Promise<IngestedFile> {
  const { output, config, transaction } = session
  const { dataset, encoding, delimiter, headerLine, sheet, decimal, dates, without, rememberOptions } = flags
  // Loaded here, like everything that reads files.
  const { columnNames } = await import('../ingest/readers/format.ts')
  const { openStores } = await import('../app/stores.ts')
  const columns = flags.columns === undefined ? undefined : columnNames(flags.columns)
  const interrupt = new AbortController()
  const onInterrupt = (): void => interrupt.abort()
  process.once('SIGINT', onInterrupt)
  const bars = createIngestProgress(output)
  try {
    const whole = await sourceOf(file)
    const source = flags.bytes === undefined ? whole : createReadStream(file, { end: flags.bytes - 1 })
    // What was left out and can only mean one thing.
    const target = await transaction(async (client) => {
      const workspaceId = await workspaceOf(client, flags.workspace)
      const { platform, client: owner } = flags
      const named = { dataset, platform, client: owner, workspaceId }
      return { workspaceId, ...(await withFlag(resolveDatasetTarget(client, named))) }
    })
    const { until, onInvalid, threshold, repeatedKeys, maxDeleted, allowShortFile, dryRun, cursor } = flags
    const files = openStores(config)
    const deps = { pool: await session.pool(), home: config.home, files: files.uploads }
    const result = await ingest(deps, source, {
      ...target,
      until,
      onInvalid,
      threshold,
      repeatedKeys,
      maxDeleted,
      allowShortFile,
      dryRun,
      cursor,
      file: {
        ...omitUndefined({
          encoding,
          delimiter,
          columns,
          headerLine,
          sheet,
          decimal,
          dates,
          without,
          rememberOptions,
        }),
        ...chosenMapping(flags),
      },
      // The member opens the upload, so that it is theirs; the back end alone writes its rows.
      actor: { transaction },
      fileName: flags.name ?? (file === '-' ? 'standard input' : basename(file)),
      onEvent: bars.onEvent,
      signal: interrupt.signal,
    })
      .finally(bars.stop)
      .finally(() => files.close())
    const view = await loadUploadView(session, result.upload.upload_id)
    const problems = await transaction((client) => problemsOf(client, result.upload, MAX_PROBLEM_LINES))
    return { result, view, problems }
  } finally {
    process.removeListener('SIGINT', onInterrupt)
  }
}

/** A file that declares it brings its rule in TypeScript along, which the database cannot hold. */
async function datasetOf(
  session: Session,
  file: string,
  options: FitFlags & { readonly dataset?: string },
): Promise<string> {
  const { dataset: given } = options
  if (given === undefined) return fittingDataset(session, file, options)
  if (!isDeclarationFile(given)) return given
  const dataset = await loadDataset(given)
  registerCustomRule(dataset.name, dataset.check)
  return dataset.name
}

interface FitFlags extends ReadFlags, Partial<MappingFlags> {
  readonly platform?: string
  readonly workspace?: string
}

/**
 * The only dataset of the workspace, else the only one that knows all headers that it needs in the file, also by what is
 * remembered or set for this file.
 */
async function fittingDataset({ transaction }: Session, file: string, flags: FitFlags): Promise<string> {
  const { workspace, platform, encoding, delimiter, columns, headerLine, sheet } = flags
  const { registered, remembered } = await transaction(async (client) => {
    const workspaceId = await workspaceOf(client, workspace)
    return {
      registered: (await listDatasets(client, workspaceId)).filter(({ definition }) =>
        takesFiles(definition),
      ),
      remembered: await readMappedHeaders(client, workspaceId),
    }
  })
  if (registered.length === 1) return registered[0]!.dataset
  const names = registered.map(({ dataset }) => dataset).join(', ')
  if (registered.length === 0)
    throw argumentInvalid(
      'No dataset is registered that says what the file means',
      `\`stagedoor init SCHEMA.TABLE ${shellWord(file)}\` proposes one for a table of yours.`,
    )
  if (file === '-') throw argumentInvalid(`Say with --dataset what the file means: ${names}`)
  await sourceOf(file)
  const { readHeaders } = await import('../ingest/profile-file.ts')
  const { columnNames } = await import('../ingest/readers/format.ts')
  const headers = await readHeaders(
    file,
    omitUndefined({
      encoding,
      delimiter,
      headerLine,
      sheet,
      columns: columns === undefined ? undefined : columnNames(columns),
    }),
  )
  const { datasetsThatFit } = await import('../ingest/datasets/fit.ts')
  const fitting = datasetsThatFit(
    registered.map(({ definition }) => definition),
    headers,
    { platform, remembered, chosen: chosenMapping(flags) },
  )
  if (fitting.length === 1) return fitting[0]!
  throw argumentInvalid(
    fitting.length === 0
      ? `The headers of ${basename(file)} fit none of the datasets ${names}`
      : `The headers of ${basename(file)} fit several datasets: ${fitting.join(', ')}`,
    `Say which with --dataset, or let \`stagedoor init SCHEMA.TABLE ${shellWord(file)}\` propose one.`,
  )
}

async function sourceOf(file: string): Promise<IngestSource> {
  if (file === '-') {
    if (process.stdin.isTTY)
      throw argumentInvalid('Nothing is piped in: give a file, or pipe one into this command')
    return process.stdin
  }
  const found = await stat(file).catch(rethrowUnreadable(file))
  if (found.isDirectory()) throw argumentInvalid(`${file} is a folder; give one file`)
  return file
}

export function printIngested(
  output: Output,
  { created }: IngestResult,
  view: UploadView,
  problems: readonly LineProblem[],
): void {
  output.line()
  if (!created) {
    output.warn(`This file was already uploaded, as upload ${view.upload.upload_id}. Nothing was done.\n`)
  }
  printUpload(output, view)
  const kinds = kindsOf(problems, MAX_PROBLEM_KINDS)
  if (kinds.length === 0) return
  const { invalid_count: wrong } = view.upload
  output.heading(`${wrong ? `${plural(wrong, 'invalid line')}` : 'Warnings'}, one of each kind`)
  output.line(problemTable(kinds))
}

/** A plan that awaits approval is no failure, though the exit code says that the rows are not in the tables yet. */
function reportStopped(output: Output, { stopped, upload }: IngestResult, view: UploadView): void {
  if (!stopped) return
  if (stopped.code === 'plan_refused') throw planRefused(upload)
  if (stopped.code !== 'approval_missing') throw stopped
  const waits = upload.review_status === 'pending' ? awaitsApproval(view) : stopped
  if (output.json) throw waits
  output.note(`${pc.yellow('●')} ${waits.message}\n  ${pc.dim(waits.hint)}`)
  process.exitCode = waits.exitCode
}

function parseCursor(given: string): { name: string; value: unknown } {
  const at = given.indexOf('=')
  try {
    if (at > 0) return { name: given.slice(0, at), value: JSON.parse(given.slice(at + 1)) }
  } catch {
    // Said below.
  }
  throw argumentInvalid(`--cursor ${given}: write it as name=JSON, such as since='"2026-11-09"'`)
}
