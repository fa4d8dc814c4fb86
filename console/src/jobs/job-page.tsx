import { type ReactNode, useState } from 'react'
import type { JobDetail } from '../api/jobs.ts'
import type { Job } from '../api/types.ts'
import { TraceTree } from '../events/trace-tree.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { Detail } from '../parts/detail.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted, duration } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { Person } from '../parts/person.tsx'
import { shortId } from '../people.ts'
import { mayAnywhere } from '../session/rights.ts'
import { useSession } from '../session/session.tsx'
import { inOwnZone, JobChip, took } from './job-text.tsx'
import { kindName } from './kind-name.ts'
import './jobs.css'

export default function JobPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const id = params.id!
  const job = useLiveQuery(['jobs', 'job', id], (api) => api.queue.find(id))
  const kinds = useLiveQuery(['jobs', 'kinds'], (api) => api.queue.kinds())
  const trace = useLiveQuery(['jobs', 'trace', id], (api) => api.trace(id))
  if (job.data === undefined) {
    return (
      <>
        <FailureNote failure={job.failure} />
        {job.failure ? (
          <EmptyState title="This job cannot be shown.">
            <a href="/jobs">All jobs</a>
          </EmptyState>
        ) : (
          <p className="empty">Loading…</p>
        )}
      </>
    )
  }
  const most = kinds.data?.kinds.find(({ job_kind }) => job_kind === job.data?.job_kind)?.max_attempts
  return (
    <Detail
      title={kindName(job.data.job_kind)}
      back={['Jobs', '/jobs']}
      chips={<JobChip status={job.data.status} />}
      actions={<JobActions job={job.data} refresh={job.refresh} />}
      aside={<JobFacts job={job.data} />}
      tabs={[
        { id: 'attempts', title: 'Attempts', content: <Attempts job={job.data} most={most} /> },
        {
          id: 'trace',
          title: 'Trace',
          content: trace.data ? (
            <section className="card" aria-label="Trace">
              <TraceTree trace={trace.data} marked={id} />
            </section>
          ) : (
            <>
              <FailureNote failure={trace.failure} />
              <p className="empty">Nothing is known of what it came from.</p>
            </>
          ),
        },
        { id: 'data', title: 'Payload and result', content: <JobData job={job.data} /> },
      ]}
    />
  )
}

function JobFacts({ job }: { job: Job }) {
  return (
    <section className="card" aria-label="Facts">
      <Facts
        facts={[
          ['Id', <code key="id">{job.job_id}</code>],
          ['Enqueued', <Ago key="enqueued" at={job.enqueued_at} />],
          ['By', <Person key="by" id={job.actor} />],
          ['Due', job.process_after ? inOwnZone(job.process_after) : undefined],
          ['Ended', job.finished_at ? <Ago key="ended" at={job.finished_at} /> : undefined],
          ['Ran for', job.status === 'completed' ? took(job) : undefined],
          ['Executor', job.executor === 'PG_worker' ? undefined : job.executor],
          ['Worker', job.worker_id ? <code key="worker">{shortId(job.worker_id)}</code> : undefined],
          ['Priority', job.priority === 0 ? undefined : job.priority],
          ['Key', job.idempotency_key ?? undefined],
          ['Source', job.source_ref ?? undefined],
          ['Target', job.target_ref ?? undefined],
          ['Data at', job.payload_ref ?? undefined],
        ]}
      />
    </section>
  )
}

/** Their number, the start of the last one, and what each that failed said. */
function Attempts({ job, most }: { job: JobDetail; most: number | undefined }) {
  const lines: [string, ReactNode][] = [['Enqueued', <Ago key="at" at={job.enqueued_at} />]]
  if (job.replays > 0) lines.push(['Replayed', counted(job.replays, 'time')])
  if (job.attempts > 0)
    lines.push([
      `Attempt ${job.attempts}${most === undefined ? '' : ` of ${most}`}`,
      job.started_at ? (
        <>
          begun <Ago at={job.started_at} />
        </>
      ) : (
        'not begun'
      ),
    ])
  if (job.crashes > 0) lines.push(['Crashes', `its worker died ${counted(job.crashes, 'time')} while it ran`])
  if (job.status === 'waiting' && job.attempts > 0 && job.process_after)
    lines.push(['Next attempt', inOwnZone(job.process_after)])
  if (job.finished_at) lines.push([ENDS[job.status] ?? 'Ended', <Ago key="end" at={job.finished_at} />])
  return (
    <section className="card" aria-label="Attempts">
      <ol className="steps-list">
        {lines.map(([name, value]) => (
          <li key={name}>
            <b>{name}</b>
            <span>{value}</span>
          </li>
        ))}
      </ol>
      <AttemptErrors job={job} />
    </section>
  )
}

/** As many as are kept. */
const MAX_ERRORS = 20

function AttemptErrors({ job }: { job: JobDetail }) {
  const errors = job.attempt_errors
  // A reason for its cancellation, or an error from before they were kept one by one.
  const other = job.last_error !== null && errors.at(-1)?.error !== job.last_error ? job.last_error : null
  return (
    <>
      {other !== null && (
        <>
          <header className="card-head">
            <h2>{job.status === 'cancelled' ? 'Why it was cancelled' : 'Error of the last attempt'}</h2>
          </header>
          <pre className="error-text">{other}</pre>
        </>
      )}
      {errors.length > 0 && (
        <>
          <header className="card-head">
            <h2>
              {errors.length < MAX_ERRORS
                ? `${counted(errors.length, 'attempt')} failed`
                : `The last ${MAX_ERRORS} attempts that failed`}
            </h2>
            <span className="tiny">the latest first</span>
          </header>
          <ol className="attempt-errors" aria-label="Attempts that failed">
            {errors.toReversed().map((error) => (
              <AttemptError key={error.failed_at} failed={error} />
            ))}
          </ol>
        </>
      )}
    </>
  )
}

function AttemptError({ failed }: { failed: JobDetail['attempt_errors'][number] }) {
  const { attempt, replay, crashed, error, started_at, failed_at, worker_id } = failed
  const ran =
    started_at === null ? undefined : duration(new Date(failed_at).getTime() - new Date(started_at).getTime())
  return (
    <li>
      <p>
        <Chip tone={crashed ? 'held' : 'bad'}>{crashed ? 'Worker died' : `Attempt ${attempt}`}</Chip>{' '}
        <Ago at={failed_at} />
        <span className="tiny">
          {ran !== undefined && ` after ${ran}`}
          {replay > 0 && ` · after ${counted(replay, 'replay')}`}
          {worker_id !== null && (
            <>
              {' · worker '}
              <code>{shortId(worker_id)}</code>
            </>
          )}
        </span>
      </p>
      <pre className="error-text">{error}</pre>
    </li>
  )
}

const ENDS: Partial<Record<Job['status'], string>> = {
  completed: 'Completed',
  cancelled: 'Cancelled',
  dead: 'Dead letter',
}

function JobData({ job }: { job: Job }) {
  return (
    <section className="card" aria-label="Payload and result">
      <header className="card-head">
        <h2>Payload</h2>
        <span className="tiny">references, never data</span>
      </header>
      <div className="error-text">
        <JsonTree value={job.payload} label="Payload" />
      </div>
      <header className="card-head">
        <h2>Result</h2>
      </header>
      <div className="error-text">
        {job.result === null ? (
          <span className="tiny">none</span>
        ) : (
          <JsonTree value={job.result} label="Result" />
        )}
      </div>
    </section>
  )
}

function JobActions({ job, refresh }: { job: Job; refresh(): Promise<unknown> }) {
  const { api, me } = useSession()
  const [asked, ask] = useState<'cancel' | 'replay'>()
  const close = () => ask(undefined)
  const may = mayAnywhere(me, 'operate')
  const isOpen = job.status === 'waiting' || job.status === 'running'
  return (
    <>
      {isOpen && (
        <button type="button" className="button" disabled={!may} onClick={() => ask('cancel')}>
          Cancel the job
        </button>
      )}
      {job.status === 'dead' && (
        <button type="button" className="button is-next" disabled={!may} onClick={() => ask('replay')}>
          Replay
        </button>
      )}
      {asked === 'cancel' && (
        <ActionDialog
          title="Cancel this job"
          verb="Cancel the job"
          reason="optional"
          close={close}
          act={async (reason) => {
            await api.queue.cancel(job.job_id, reason)
            await refresh()
          }}
        >
          <p>
            {job.status === 'waiting'
              ? 'This one job will not run. Nothing else changes.'
              : 'Its worker is asked to stop this one job. It may still complete before that.'}
          </p>
        </ActionDialog>
      )}
      {asked === 'replay' && (
        <ActionDialog
          title="Replay this job"
          verb="Replay 1 job"
          close={close}
          act={async () => {
            await api.queue.replay({ jobs: [job.job_id], workspace_id: job.workspace_id ?? undefined })
            await refresh()
          }}
        >
          <p>
            This one job goes back into the queue under its id, with all its attempts. Remove the cause first.
          </p>
        </ActionDialog>
      )}
    </>
  )
}
