/** `stagedoor upload checks` and `upload history`: what was checked in which time, and what exactly happened. */
import pc from 'picocolors'
import { readChecks, type UploadCheck } from '../ingest/checks.ts'
import { listUploadHistory, type UploadHistoryEntry } from '../ingest/history.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { formatCount, plural } from './format.ts'
import type { MemberNames } from './session.ts'
import { type Column, nextPage } from './terminal.ts'
import { printableLine } from './text.ts'
import { uploadVerb } from './upload-show.ts'
import { printOwnTotals } from './upload-totals.ts'

const RESULTS: Readonly<
  Record<UploadCheck['result'], readonly [word: string, paint: (text: string) => string]>
> = {
  passed: ['● passed', pc.green],
  warning: ['▲ warning', pc.yellow],
  failed: ['■ failed', pc.red],
  not_run: ['○ not run', pc.dim],
}

export const checksCommand = () =>
  uploadVerb('checks', 'what was checked, what it found, and the time that it took').run(
    async ({ output, transaction }, id) => {
      const found = await transaction(async (client) => {
        await requireUpload(client, id)
        return readChecks(client, id)
      })
      output.result(found, () => {
        output.records(found.checks, CHECK_COLUMNS)
        for (const { own_totals } of found.checks) printOwnTotals(output, own_totals ?? null)
        const times = [
          found.read_ms !== null && `read and checked line by line in ${formatCount(found.read_ms)} ms`,
          found.plan_ms !== null && `planned in ${formatCount(found.plan_ms)} ms`,
        ].filter(Boolean)
        if (times.length > 0) output.dim(`\n  ${times.join(', ')}`)
      })
    },
  )

const CHECK_COLUMNS: Column<UploadCheck>[] = [
  { title: 'check', value: ({ title }) => title },
  {
    title: 'result',
    value: ({ result }) => RESULTS[result][0],
    paint: (cell, { result }) => RESULTS[result][1](cell),
  },
  { title: 'invalid', value: ({ invalid }) => (invalid === 0 ? '' : formatCount(invalid)) },
  { title: 'warnings', value: ({ warnings }) => (warnings === 0 ? '' : formatCount(warnings)) },
  { title: 'ms', align: 'right', value: ({ ms }) => (ms === null ? '' : ms.toFixed(1)) },
  { title: 'rules', value: ({ rules }) => rules.map(({ rule, lines }) => `${rule} ${lines}`).join(', ') },
]

export const historyCommand = () =>
  uploadVerb(
    'history',
    'what exactly happened, oldest first: lines from what to what, plans, reviews, reasons, counts',
  )
    .limit(200, 1000)
    .option('--after <place>', 'the page after this entry')
    .run(async (session, id) => {
      const { output, options, transaction, memberNames } = session
      const { workspace, history } = await transaction(async (client) => {
        const { workspace_id } = await requireUpload(client, id)
        return { workspace: workspace_id, history: await listUploadHistory(client, id, options) }
      })
      const names = await memberNames(workspace)
      output.list(
        history,
        historyColumns(names),
        'Nothing more happened.',
        nextPage(history, options.limit, ({ place }) => place),
      )
    })

const historyColumns = (names: MemberNames): Column<UploadHistoryEntry>[] => [
  { title: 'when', value: ({ at }) => at.toISOString() },
  { title: 'by', value: ({ actor }) => names(actor), shrinkTo: 8 },
  { title: 'what', value: ({ what }) => what.replaceAll('_', ' ') },
  { title: '', value: factText, shrinkTo: 20 },
]

function factText({ line, column, from, to, text, detail, what }: UploadHistoryEntry): string {
  const since = detail.since as Record<string, number> | undefined
  const rows = detail.rows as Record<string, number> | undefined
  const verdict =
    typeof detail.verdict === 'string' && what === 'reviewed' && detail.verdict.replace('_', ' ')
  return [
    line !== null && `line ${line}`,
    column !== null &&
      `${printableLine(column)}: ${printableLine(from ?? '(empty)')} → ${printableLine(to ?? '(empty)')}`,
    verdict,
    what === 'conflicts_answered' &&
      `${String(detail.answer).replace('_', ' ')}: ${plural(Number(detail.cells), 'value')} in ${plural(Number(detail.row_count), 'row')}`,
    rows &&
      Object.entries(rows)
        .map(([action, count]) => `${count} ${action}`)
        .join(', '),
    typeof detail.because === 'string' && detail.because,
    since &&
      Object.entries(since)
        .map(([how, count]) => `${count} ${how.replace('_', ' ')}`)
        .join(', '),
    text !== null && `“${printableLine(text)}”`,
  ]
    .filter(Boolean)
    .join(' · ')
}
