import { Command, Option } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../errors.ts'
import { knowCheck } from '../../ingest/datasets/registry.ts'
import type { IngestOptions } from '../../ingest/ingest.ts'
import { columnNames } from '../../ingest/readers/header.ts'
import { type ActingOptions, asOption, userOption } from '../acting.ts'
import { outputOf } from '../context.ts'
import type { Output } from '../output.ts'
import { progressBars } from '../progress-bar.ts'
import { isDeclarationFile, loadDataset } from './dataset/declaration.ts'
import { type FileToIngest, type Ingested, ingestFile } from './upload/ingest-file.ts'
import { lines } from './upload/layout.ts'
import { look, printUpload, type Shown } from './upload/look.ts'
import { nextSteps, printNext } from './upload/next-step.ts'
import { onInvalidOption, repeatedKeysOption, thresholdOption } from './upload/plan.ts'
import { kindsOf, type LineProblem, problemsOf, problemTable } from './upload/problem-table.ts'
import { withSession } from './upload/session.ts'

interface Options extends ActingOptions {
  readonly dataset: string
  readonly platform?: string
  readonly workspace?: string
  readonly client?: string
  readonly name?: string
  readonly onInvalid?: 'refuse' | 'skip'
  readonly threshold?: number
  readonly repeatedKeys?: IngestOptions['repeated_keys']
  readonly until?: 'staged' | 'planned' | 'promoted'
  readonly dryRun?: boolean
  readonly encoding?: string
  readonly delimiter?: string
  readonly columns?: readonly string[]
  readonly sheet?: string
  readonly decimal?: 'dot' | 'comma'
  readonly dates?: 'dmy' | 'mdy'
  readonly without?: string[]
  readonly cursor?: { name: string; value: unknown }
}

/** Lines that a summary looks at, and the kinds of problems that it shows of them. */
const FIRST_LINES = 100
const MOST_KINDS = 5

export function ingestCommand(): Command {
  return new Command('ingest')
    .description('bring a file into your tables: read, check, plan, have it approved, promote')
    .argument('<file>', 'CSV, TSV, JSON lines, JSON, Parquet or xlsx; - reads standard input')
    .requiredOption('--dataset <name>', 'what the file means, as `dataset list` shows it')
    .option('--platform <name>', 'whose export it is; default: the only one of the dataset')
    .option('--workspace <id or name>', 'default: the only one there is')
    .option('--client <id or name>', 'whose data it is; default: the only one of the workspace')
    .addOption(onInvalidOption().default('refuse'))
    .addOption(thresholdOption())
    .addOption(repeatedKeysOption())
    .addOption(
      new Option('--until <stage>', 'how far to go')
        .choices(['staged', 'planned', 'promoted'])
        .default('promoted'),
    )
    .option('--dry-run', 'read, check and plan, never to be promoted')
    .option('--name <file name>', 'what to call it; for standard input')
    .option('--encoding <name>', 'where it is not UTF-8: shift_jis, gbk, windows-1251, …')
    .option('--delimiter <character>', 'between the cells, where it cannot be told; tab for a tab')
    .addOption(
      new Option('--columns <names>', 'of a file without a header, in order: name,name,…').argParser(
        columnNames,
      ),
    )
    .option('--sheet <name>', 'of an xlsx; default: the first one with data')
    .addOption(
      new Option('--decimal <dot|comma>', 'of its numbers, where it cannot be told').choices([
        'dot',
        'comma',
      ]),
    )
    .addOption(
      new Option('--dates <dmy|mdy>', 'which comes first, where it cannot be told').choices(['dmy', 'mdy']),
    )
    .addOption(
      new Option(
        '--without <fields>',
        'what the dataset expects and this file has no column for, separated by commas',
      ).argParser((given) => given.split(',').map((field) => field.trim())),
    )
    .addOption(
      new Option(
        '--cursor <name=json>',
        'where the next pull begins; kept together with the promotion',
      ).argParser(cursor),
    )
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
  $ stagedoor ingest week-45.csv --dataset ads --platform meta
  $ stagedoor ingest report.xlsx --dataset ads --platform google --client "Northwind" --dry-run
  $ curl -s https://example.com/rows.jsonl | stagedoor ingest - --dataset orders --name rows.jsonl

Where the dataset asks for approval it is handed in, and the command ends with 5: a colleague decides.
The same bytes again are recognised, and nothing is done; the exit code says how far they are.`,
    )
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const output = outputOf(options)
      const dataset = await datasetOf(options.dataset)
      const abort = new AbortController()
      const interrupted = (): void => abort.abort()
      process.once('SIGINT', interrupted)
      const bars = progressBars(output)
      try {
        await withSession(
          options,
          options.workspace === undefined ? {} : { workspace: options.workspace },
          async (session) => {
            const ingested = await ingestFile(
              session,
              { ...options, file, dataset, further: furtherOf(options) },
              { report: bars.report, signal: abort.signal },
            ).finally(bars.stop)
            const shown = await look(session, ingested.upload.upload_id)
            const problems = await session.act((client) => problemsOf(client, ingested.upload, FIRST_LINES))
            const next = nextSteps(shown.upload, { ...options, external: shown.external })
            output.result({ created: ingested.created, upload: ingested.upload, problems, next }, () => {
              printIngested(options, ingested, shown, problems)
              printNext(output, next)
            })
            if (ingested.stopped) stop(output, ingested.stopped)
          },
        )
      } finally {
        process.removeListener('SIGINT', interrupted)
      }
    })
}

/** Handed to a colleague is no failure, though the exit code says that the rows are not in the tables yet. */
function stop(output: Output, stopped: StagedoorError): void {
  if (output.json || stopped.code !== 'approval_missing') throw stopped
  output.note(`${pc.yellow('●')} ${stopped.message}\n  ${pc.dim(stopped.hint)}`)
  process.exitCode = stopped.exitCode
}

/** A file that declares it brings its rule in TypeScript along, which the database cannot hold. */
async function datasetOf(given: string): Promise<string> {
  if (!isDeclarationFile(given)) return given
  const dataset = await loadDataset(given)
  knowCheck(dataset.name, dataset.check)
  return dataset.name
}

function furtherOf(options: Options): FileToIngest['further'] {
  const { encoding, columns, sheet, decimal, dates, without } = options
  const delimiter = /^(tab|\\t)$/.test(options.delimiter ?? '') ? '\t' : options.delimiter
  const how = { encoding, delimiter, columns, sheet, decimal, dates, without }
  return {
    on_invalid: options.onInvalid,
    threshold: options.threshold,
    repeated_keys: options.repeatedKeys,
    until: options.until,
    dry_run: options.dryRun,
    cursor: options.cursor,
    how: Object.fromEntries(Object.entries(how).filter(([, value]) => value !== undefined)),
  }
}

function cursor(given: string): { name: string; value: unknown } {
  const at = given.indexOf('=')
  try {
    if (at > 0) return { name: given.slice(0, at), value: JSON.parse(given.slice(at + 1)) }
  } catch {
    // Said below.
  }
  throw new StagedoorError('argument_invalid', {
    reason: `--cursor ${given}: write it as name=JSON, such as since='"2026-11-09"'`,
  })
}

function printIngested(
  options: Options,
  { created }: Ingested,
  shown: Shown,
  problems: readonly LineProblem[],
): void {
  const output = outputOf(options)
  output.line()
  if (!created) {
    output.line(
      `${pc.yellow('●')} These very bytes are there already, as upload ${shown.upload.upload_id}. Nothing was done.\n`,
    )
  }
  printUpload(output, shown)
  const kinds = kindsOf(problems, MOST_KINDS)
  if (kinds.length === 0) return
  const { invalid_count: wrong } = shown.upload
  output.line(
    `\n${pc.bold(wrong ? `${lines(wrong)} wrong, one of each kind` : 'Warnings, one of each kind')}`,
  )
  output.line(problemTable(kinds))
}
