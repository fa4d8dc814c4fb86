/** `stagedoor upload rows`, `distribution`, `downstream` and `history`: what the page of an upload shows beside its plan. */
import pc from 'picocolors'
import { readDownstream } from '../app/trace.ts'
import { listEventsAbout } from '../events/outbox.ts'
import { planDistribution } from '../ingest/plan.ts'
import { type Distribution, type StagedRow, VALIDATION_STATUSES } from '../ingest/shapes.ts'
import { listRows } from '../ingest/staged-rows.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import { integerFrom } from './arguments.ts'
import { eventColumns } from './event.ts'
import { formatCount, joinWords, plural } from './format.ts'
import { type Column, nextPage, painter } from './terminal.ts'
import { barText } from './text.ts'
import { uploadVerb } from './upload-show.ts'

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

export const downstreamCommand = () =>
  uploadVerb(
    'downstream',
    'jobs and executions that follow from its promotion, and who is told of an undo',
  ).run(async ({ output, transaction }, id) => {
    const found = await transaction(async (client) => {
      const { upload_id } = await requireUpload(client, id)
      return readDownstream(client, upload_id)
    })
    const { jobs, executions, told_of_undo, cut } = found
    output.result(found, () => {
      if (jobs.length + executions.length === 0) output.line('Nothing follows from it so far.')
      for (const { job_kind, status, count } of jobs)
        output.line(`${plural(count, 'job')} ${pc.bold(job_kind)}: ${status}`)
      for (const { execution_id, playbook, status } of executions)
        output.line(`execution ${execution_id} of ${pc.bold(playbook ?? '?')}: ${status.toLowerCase()}`)
      if (cut) output.dim('  … and more.')
      for (const { consumer_id, job_kind } of told_of_undo)
        output.line(`An undo makes a job ${pc.bold(job_kind)} (consumer ${consumer_id}).`)
      if (told_of_undo.length === 0) output.dim('No consumer is told of an undo.')
    })
  })

/** More than any upload has: one for each thing that was done to it. */
const MAX_EVENTS = 1000

export const historyCommand = () =>
  uploadVerb('history', 'what happened to an upload, oldest first').run(
    async ({ output, transaction, memberNames }, id) => {
      const events = await transaction(async (client) => {
        const { upload_id: subject } = await requireUpload(client, id)
        return listEventsAbout(client, { domain: 'staging', subject, limit: MAX_EVENTS })
      })
      output.list(
        events,
        eventColumns(await memberNames()),
        'No event about it is left: they go after their retention.',
      )
    },
  )
