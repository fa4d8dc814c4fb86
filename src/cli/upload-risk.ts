/** `stagedoor upload risk` and `distribution`: what is unusual about a plan, and how its numbers are distributed. */
import pc from 'picocolors'
import { planDistribution } from '../ingest/plan.ts'
import type { Distribution } from '../ingest/plan-shapes.ts'
import { type RiskFact, readRisk } from '../ingest/risk.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { formatCount, plural } from './format.ts'
import { type Column, commandLine } from './terminal.ts'
import { barText, printableLine } from './text.ts'
import { uploadVerb } from './upload-show.ts'

const TITLES: Readonly<Record<string, string>> = {
  rows_insert: 'new rows',
  rows_update: 'changed rows',
  rows_unchanged: 'unchanged rows',
  rows_delete: 'deleted rows',
  rows_skipped: 'rows left out',
  rows_refused: 'refused rows',
  share_changed: 'share of the existing rows that change',
  empty: 'share of empty values',
  sum: 'sum',
  min: 'smallest',
  max: 'greatest',
  tenfold: 'changes of more than tenfold',
  outliers: 'changes far beyond what the rows hold',
  new_values: 'values that the table does not have',
  missing_days: 'missing days',
}

export const riskCommand = () =>
  uploadVerb('risk', 'what is unusual about its plan, against the last promoted uploads of the same source')
    .option('--all', 'what is as usual, too')
    .run(async ({ options, output, transaction }, id) => {
      const risk = await transaction((client) => readRisk(client, id))
      const shown = risk.facts.filter(({ level }) => options.all || level !== 'ok')
      output.result(risk, () => {
        output.line(
          risk.compared_uploads === 0
            ? 'Nothing of this source was promoted before, so that there is nothing to compare it with.'
            : `Compared with the last ${plural(risk.compared_uploads, 'promoted upload')} of this source.`,
        )
        if (shown.length === 0) output.done('Nothing unusual.')
        for (const fact of shown) output.line(factText(id, fact))
        for (const left of risk.not_computed)
          output.dim(
            `  Not looked at: ${[left.row_type, left.column].filter(Boolean).join('.')} ${left.reason}`,
          )
      })
    })

const MARK = { ok: pc.green('●'), notice: pc.yellow('▲'), high: pc.red('■') }

function factText(
  id: string,
  { fact, row_type, column, value, usual, level, reason, filter, values, days }: RiskFact,
): string {
  const of = column === null ? row_type : `${row_type}.${column}`
  const more = [...(values ?? []), ...(days ?? [])].map(printableLine)
  const lines = [
    `  ${MARK[level]} ${level.padEnd(6)} ${pc.bold(of)}  ${TITLES[fact] ?? fact}: ${value}${usual === null ? '' : pc.dim(` (usually ${usual})`)}${more.length === 0 ? '' : `: ${more.join(', ')}`}`,
    ...(reason === undefined ? [] : [pc.dim(`           ${reason}`)]),
  ]
  if (filter !== null) {
    const {
      row_type: type,
      action,
      column: changed,
      by_more_than,
      by_amount,
      value: wanted,
      empty,
    } = filter as Record<string, string>
    const given = {
      type,
      action,
      column: changed,
      'by-more-than': by_more_than,
      'by-amount': by_amount,
      value: wanted,
      empty,
    }
    lines.push(pc.dim(`           ${commandLine(`stagedoor upload plan ${id} --rows`, given)}`))
  }
  return lines.join('\n')
}

export const distributionCommand = () =>
  uploadVerb('distribution', 'how the numbers of a column are distributed before and after the plan')
    .requiredOption('--type <row type>', 'as `dataset show` lists them')
    .requiredOption('--column <column>', 'of numbers')
    .run(async ({ options, output, transaction }, id) => {
      const { type: rowType, column } = options
      const found = await transaction(async (client) => {
        const { upload_id } = await requireUpload(client, id)
        return planDistribution(client, upload_id, { rowType, column })
      })
      output.result(found, () => {
        if (found.buckets.length === 0)
          return output.line(`The plan has no numbers in ${column} of ${rowType}.`)
        output.records(found.buckets, bucketColumns(found))
      })
    })

const BAR_WIDTH = 20

function bucketColumns({ buckets }: Distribution): Column<Distribution['buckets'][number]>[] {
  const most = Math.max(1, ...buckets.flatMap(({ before, after }) => [before, after]))
  const bar = (count: number) => barText(count / most, BAR_WIDTH)
  return [
    { title: 'from', value: ({ from }) => from, align: 'right' },
    { title: 'to', value: ({ to }) => to, align: 'right' },
    { title: 'before', value: ({ before }) => formatCount(before), align: 'right' },
    { title: '', value: ({ before }) => bar(before), dim: true },
    { title: 'after', value: ({ after }) => formatCount(after), align: 'right' },
    { title: '', value: ({ after }) => bar(after) },
  ]
}
