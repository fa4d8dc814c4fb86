import { useState } from 'react'
import type { Execution } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { count, duration } from '../parts/format.ts'
import { type Column, type Filter, Filters, PagedList, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { useParameters } from '../route.ts'
import { executionStatus, itemsText, STATUS_OPTIONS } from './execution-status.ts'
import { StartDialog } from './start-dialog.tsx'
import { useMayOperate } from './use-may-operate.ts'
import './executions.css'

const PAGE = 50
const HOUR_MS = 3_600_000
/** How far back a choice of `time` reaches. */
const TIMES: Readonly<Record<string, readonly [text: string, ms: number]>> = {
  hour: ['last hour', HOUR_MS],
  day: ['last 24 hours', 24 * HOUR_MS],
  week: ['last 7 days', 7 * 24 * HOUR_MS],
  month: ['last 30 days', 30 * 24 * HOUR_MS],
}

const FILTERS: readonly Filter[] = [
  { name: 'playbook', label: 'Playbook', kind: 'text', placeholder: 'its exact name', isSearch: true },
  { name: 'status', label: 'Status', options: STATUS_OPTIONS },
  { name: 'time', label: 'Started', options: Object.entries(TIMES).map(([key, [text]]) => [key, text]) },
  { name: 'failed', label: 'Failures', options: [['yes', 'failed, or with failed items']] },
]

/** Minutes are exact enough, and the same query is not a new one every second. */
function sinceOf(time: string | undefined): string | undefined {
  const ms = time === undefined ? undefined : TIMES[time]?.[1]
  return ms === undefined
    ? undefined
    : new Date(Math.floor((Date.now() - ms) / 60_000) * 60_000).toISOString()
}

export default function ExecutionsPage() {
  const { playbook, status, time, failed } = useFilters(['playbook', 'status', 'time', 'failed'])
  const [starting, setStarting] = useState(false)
  const mayStart = useMayOperate()
  const pages = useLivePages<Execution>(
    ['executions', 'list', playbook, status, time, failed],
    async (api, after) => {
      const { executions, next } = await api.executions.list({
        playbook,
        status: status as Execution['status'] | undefined,
        since: sinceOf(time),
        ...(failed && { failed: true }),
        limit: PAGE,
        after,
      })
      return { rows: executions, next }
    },
  )
  const filtered = playbook ?? status ?? time ?? failed
  return (
    <>
      <PageHead title="Executions" />
      <Counts playbook={playbook} time={time} />
      <Filters filters={FILTERS}>
        <button
          type="button"
          className="button is-next filters-end"
          disabled={!mayStart}
          onClick={() => setStarting(true)}
        >
          Start a playbook…
        </button>
      </Filters>
      {!mayStart && <p className="tiny">You may look at executions; operators and admins start them.</p>}
      <PagedList
        label="Executions"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ execution_id }) => execution_id}
        empty={
          filtered === undefined ? (
            <EmptyState title="No playbook has run yet." command="npm run -s stagedoor -- run playbook.yaml">
              An execution is one run of a playbook. Start one here, by an event, by a schedule or on the
              command line.
            </EmptyState>
          ) : (
            <EmptyState title="No execution matches these filters." />
          )
        }
      />
      {starting && <StartDialog playbook={playbook} close={() => setStarting(false)} />}
    </>
  )
}

/** How many there are of each status; a click filters. */
function Counts({ playbook, time }: { playbook: string | undefined; time: string | undefined }) {
  const [parameters, set] = useParameters()
  const { data } = useLiveQuery(['executions', 'counts', playbook, time], (api) =>
    api.executions.counts({ playbook, since: sinceOf(time) }),
  )
  if (data === undefined) return null
  const counts = STATUS_OPTIONS.flatMap(([status]) => {
    const many = data.by_status[status] ?? 0
    return many === 0 ? [] : [{ status, many, said: executionStatus({ status }) }]
  })
  return (
    <ul className="count-chips" aria-label="Executions by status">
      {counts.map(({ status, many, said }) => (
        <li key={status}>
          <button
            type="button"
            className="count-chip"
            aria-pressed={parameters.get('status') === status}
            onClick={() => set({ status: parameters.get('status') === status ? undefined : status })}
          >
            <Chip tone={said.tone}>
              {count(many)} {said.text}
            </Chip>
          </button>
        </li>
      ))}
      {data.with_failed_items > 0 && (
        <li>
          <button
            type="button"
            className="count-chip"
            aria-pressed={parameters.get('failed') === 'yes'}
            onClick={() =>
              set({ failed: parameters.get('failed') === 'yes' ? undefined : 'yes', status: undefined })
            }
          >
            <Chip tone="bad">{count(data.with_failed_items)} with failed items</Chip>
          </button>
        </li>
      )}
      {data.more && <li className="tiny">Only the newest 10,000 are counted.</li>}
    </ul>
  )
}

const COLUMNS: readonly Column<Execution>[] = [
  {
    title: 'Status',
    tight: true,
    cell: (row) => {
      const { tone, text } = executionStatus(row)
      return <Chip tone={tone}>{text}</Chip>
    },
  },
  {
    title: 'Execution',
    cell: (row) => (
      <>
        <a href={`/executions/${row.execution_id}`}>
          <b>{row.playbook ?? 'a playbook that is not open to you'}</b>{' '}
          <span className="tiny">run {shortRun(row.execution_id)}</span>
        </a>
        {row.error !== null && <span className="execution-error is-wrong">{row.error}</span>}
      </>
    ),
  },
  { title: 'Items', cell: (row) => itemsText(row), wideOnly: true },
  {
    title: 'Took',
    figures: true,
    tight: true,
    wideOnly: true,
    cell: ({ start_time, end_time }) =>
      start_time !== null && end_time !== null ? duration(Date.parse(end_time) - Date.parse(start_time)) : '',
  },
  {
    title: 'Started',
    tight: true,
    cell: ({ created_at, started_by }) => (
      <>
        <Ago at={created_at} />
        {started_by !== null && (
          <span className="tiny">
            {' '}
            · <Person id={started_by} />
          </span>
        )}
      </>
    ),
  },
]

/** The end of an id differs from run to run, its beginning is the time. */
export function shortRun(id: string): string {
  return `…${id.slice(-6)}`
}
