import { useMemo, useRef } from 'react'
import type { JobStatistics, Pool } from '../api/jobs.ts'
import type { Job } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { type LiveQuery, useLivePages, useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, duration } from '../parts/format.ts'
import { type Column, Filters, ListTable, PagedList, useFilters } from '../parts/list.tsx'
import { shortId } from '../people.ts'
import { useParameter } from '../route.ts'
import { mayAnywhere } from '../session/rights.ts'
import { useSession } from '../session/session.tsx'
import { JobLinks } from './job-links.tsx'
import { JobPlots } from './job-plots.tsx'
import { JobChip, JobRemark, KindName, STATUS_OPTIONS } from './job-text.tsx'
import { kindName } from './kind-name.ts'
import { type KindRow, KindsTable } from './kinds-table.tsx'
import './jobs.css'

const PAGE = 50
const WINDOWS = [
  ['1h', 'last hour'],
  ['24h', 'last 24 hours'],
  ['7d', 'last 7 days'],
] as const

export default function JobsPage() {
  const { me } = useSession()
  const [asked, choose] = useParameter('window')
  const window = WINDOWS.some(([id]) => id === asked) ? asked! : '1h'
  const { kind, status } = useFilters(['kind', 'status'])
  const statistics = useStatistics(window, kind)
  const kinds = useLiveQuery(['jobs', 'kinds'], (api) => api.queue.kinds())
  const jobs = useLivePages<Job>(['jobs', 'list', kind, status], async (api, after) => {
    const { jobs: rows, next } = await api.queue.list({ limit: PAGE, after, kind, status })
    return { rows, next }
  })
  const rows = useMemo<KindRow[]>(() => {
    const settings = new Map(kinds.data?.kinds.map((one) => [one.job_kind, one]))
    return (statistics.data?.kinds ?? []).map((counts) => ({
      ...counts,
      settings: settings.get(counts.job_kind),
    }))
  }, [statistics.data, kinds.data])
  const names = (kinds.data?.kinds ?? []).map(({ job_kind }) => [job_kind, kindName(job_kind)] as const)
  return (
    <>
      <PageHead title="Jobs" />
      <JobLinks />
      <Filters
        filters={[
          { name: 'kind', label: 'Kind', options: names },
          { name: 'status', label: 'Status', options: STATUS_OPTIONS },
        ]}
      >
        <Choice
          label="Plots and counts of"
          value={window}
          options={WINDOWS}
          choose={(value) => choose(value === '1h' ? undefined : value)}
        />
      </Filters>
      <div className="stack">
        <FailureNote failure={statistics.failure ?? kinds.failure} />
        {statistics.data && <JobPlots statistics={statistics.data} />}
        <section className="card" aria-labelledby="kinds-title">
          <header className="card-head">
            <h2 id="kinds-title">By kind</h2>
            <span className="tiny">of the jobs that you may see</span>
          </header>
          {rows.length > 0 ? (
            <KindsTable rows={rows} done={() => Promise.all([kinds.refresh(), statistics.refresh()])} />
          ) : statistics.data === undefined ? (
            <p className="empty">Loading…</p>
          ) : (
            <EmptyState title="No job waits, runs or has ended in this time.">
              A consumer makes jobs of events, and a schedule enqueues them at its times.
            </EmptyState>
          )}
        </section>
        {mayAnywhere(me, 'operate') && <Pools />}
        <PagedList
          label="Jobs"
          pages={jobs}
          columns={COLUMNS}
          keyOf={({ job_id }) => job_id}
          empty={
            kind || status ? (
              <EmptyState title="No job meets the filters." />
            ) : (
              <EmptyState
                title="No job yet."
                command={'npm run -s stagedoor -- job enqueue send_report --workspace Default'}
              >
                Jobs are work that a committed change asked for. Promote an upload whose events a consumer
                dispatches, or enqueue one:
              </EmptyState>
            )
          }
        />
      </div>
    </>
  )
}

function Pools() {
  const pools = useLiveQuery(['jobs', 'pools'], (api) => api.queue.pools())
  const rows = pools.data?.pools ?? []
  return (
    <Card
      id="pools"
      title="Workers"
      aside={
        <a className="tiny" href="/health#workers">
          who works, and who leads what
        </a>
      }
    >
      <FailureNote failure={pools.failure} />
      {pools.data && rows.length === 0 && (
        <EmptyState title="No worker lives." command="npm run -s stagedoor -- worker --handlers ./jobs.ts">
          Jobs wait until one runs. `npm start` brings one for the built-in kinds, and this one for yours:
        </EmptyState>
      )}
      {rows.length > 0 && (
        <ListTable label="Workers wanted" columns={POOL_COLUMNS} rows={rows} keyOf={({ pool }) => pool} />
      )}
    </Card>
  )
}

const SHOWN_NAMES = 6

const POOL_COLUMNS: readonly Column<Pool>[] = [
  {
    title: 'Workers of',
    cell: ({ executor, kinds, handlers }) => {
      const names = kinds ?? handlers ?? []
      return (
        <>
          {executor !== null && executor !== 'PG_worker' && <b>{executor} </b>}
          {handlers && <b>handlers </b>}
          {names.slice(0, SHOWN_NAMES).join(', ')}
          {names.length > SHOWN_NAMES && (
            <span className="tiny"> and {count(names.length - SHOWN_NAMES)} more</span>
          )}
        </>
      )
    },
  },
  { title: 'Running', figures: true, tight: true, cell: ({ running }) => count(running) },
  { title: 'Due', figures: true, tight: true, cell: ({ due }) => `${count(due)}${due >= 10_000 ? '+' : ''}` },
  {
    title: 'A handler takes',
    figures: true,
    tight: true,
    wideOnly: true,
    cell: ({ mean_seconds }) =>
      mean_seconds === null ? (
        <span className="tiny">not known</span>
      ) : (
        duration(Math.round(mean_seconds * 1000))
      ),
  },
  { title: 'Workers', figures: true, tight: true, cell: ({ workers }) => count(workers) },
  {
    title: 'Wanted',
    figures: true,
    tight: true,
    cell: ({ workers, wanted_workers }) =>
      wanted_workers > workers ? <Chip tone="held">{count(wanted_workers)}</Chip> : count(wanted_workers),
  },
]

/** A long window costs the database more, and changes less: it is not read again with every job that ends. */
const MIN_PAUSE_MS: Record<string, number> = { '24h': 15_000, '7d': 60_000 }

function useStatistics(window: string, kind: string | undefined): LiveQuery<JobStatistics> {
  const last = useRef<{ key: string; at: number; answer: JobStatistics }>(undefined)
  const key = `${window} ${kind}`
  return useLiveQuery(['jobs', 'statistics', window, kind], async (api) => {
    const kept = last.current
    if (kept?.key === key && Date.now() - kept.at < (MIN_PAUSE_MS[window] ?? 0)) return kept.answer
    const answer = await api.queue.statistics({ window, kind })
    last.current = { key, at: Date.now(), answer }
    return answer
  })
}

const COLUMNS: readonly Column<Job>[] = [
  {
    title: 'Job',
    tight: true,
    cell: ({ job_id }) => (
      <a href={`/jobs/${job_id}`} className="mono" title={job_id}>
        {shortId(job_id)}
      </a>
    ),
  },
  { title: 'Status', tight: true, cell: ({ status }) => <JobChip status={status} /> },
  { title: 'Kind', cell: ({ job_kind }) => <KindName kind={job_kind} /> },
  { title: 'What is known', wideOnly: true, cell: (job) => <JobRemark job={job} /> },
  { title: 'Enqueued', tight: true, cell: ({ enqueued_at }) => <Ago at={enqueued_at} /> },
]
