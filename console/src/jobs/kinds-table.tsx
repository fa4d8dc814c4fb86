import { useState } from 'react'
import type { JobKind, KindCounts } from '../api/jobs.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Chip } from '../parts/chip.tsx'
import { count, counted, duration } from '../parts/format.ts'
import { type Column, ListTable } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { mayEverywhere } from '../session/rights.ts'
import { useSession } from '../session/session.tsx'
import { KindName } from './job-text.tsx'
import { KindLimits, limitsText } from './kind-limits.tsx'
import { kindName } from './kind-name.ts'

export type KindRow = KindCounts & { readonly settings: JobKind | undefined }

type Asked = { readonly what: 'pause' | 'resume' | 'limits'; readonly kind: KindRow }

/** Kinds with how many jobs of each are where, and what can be done with a kind as a whole. */
export function KindsTable({ rows, done }: { rows: readonly KindRow[]; done(): Promise<unknown> }) {
  const [asked, ask] = useState<Asked>()
  const close = () => ask(undefined)
  return (
    <>
      <ListTable
        label="Kinds of jobs"
        columns={columnsOf(ask)}
        rows={rows}
        keyOf={({ job_kind }) => job_kind}
      />
      {asked?.what === 'limits' && asked.kind.settings && (
        <KindLimits kind={asked.kind.settings} close={close} done={done} />
      )}
      {(asked?.what === 'pause' || asked?.what === 'resume') && (
        <SwitchDialog what={asked.what} kind={asked.kind} close={close} done={done} />
      )}
    </>
  )
}

function columnsOf(ask: (asked: Asked) => void): Column<KindRow>[] {
  return [
    {
      title: 'Kind',
      cell: ({ job_kind, settings }) => (
        <>
          <a href={`/jobs?kind=${encodeURIComponent(job_kind)}`}>
            <KindName kind={job_kind} />
          </a>{' '}
          {settings?.paused_at && (
            <>
              <Chip tone="held">paused</Chip>{' '}
              <span className="tiny">
                by <Person id={settings.paused_by ?? ''} />
              </span>
            </>
          )}
          {settings && limitsText(settings) !== '' && <div className="tiny">{limitsText(settings)}</div>}
        </>
      ),
    },
    { title: 'Waiting', figures: true, cell: ({ waiting }) => count(waiting) },
    { title: 'Later', figures: true, wideOnly: true, cell: ({ later }) => count(later) },
    { title: 'Running', figures: true, wideOnly: true, cell: ({ running }) => count(running) },
    { title: 'Completed', figures: true, wideOnly: true, cell: ({ completed }) => count(completed) },
    {
      title: 'Dead letters',
      figures: true,
      cell: ({ dead, job_kind }) =>
        dead === 0 ? '0' : <a href={`/dead-letters?kind=${encodeURIComponent(job_kind)}`}>{count(dead)}</a>,
    },
    {
      title: 'Ran (95 %)',
      figures: true,
      wideOnly: true,
      cell: ({ run_p95_ms }) => (run_p95_ms === null ? '–' : duration(Math.round(run_p95_ms))),
    },
    { title: 'Change', figures: true, cell: (kind) => <KindButtons kind={kind} ask={ask} /> },
  ]
}

function KindButtons({ kind, ask }: { kind: KindRow; ask(asked: Asked): void }) {
  const { me } = useSession()
  const { job_kind, settings } = kind
  if (settings === undefined) return null
  const what = settings.paused_at === null ? 'pause' : 'resume'
  return (
    <span className="row-buttons">
      <button
        type="button"
        className="button is-small"
        disabled={!mayEverywhere(me, 'operate')}
        onClick={() => ask({ what, kind })}
      >
        {what === 'pause' ? 'Pause' : 'Resume'}
        <span className="unseen"> {job_kind}</span>
      </button>
      <button
        type="button"
        className="button is-small"
        disabled={!mayEverywhere(me, 'administer')}
        title={mayEverywhere(me, 'administer') ? undefined : 'For administrators of every workspace'}
        onClick={() => ask({ what: 'limits', kind })}
      >
        Limits<span className="unseen"> of {job_kind}</span>
      </button>
    </span>
  )
}

function SwitchDialog({
  what,
  kind,
  close,
  done,
}: {
  what: 'pause' | 'resume'
  kind: KindRow
  close(): void
  done(): Promise<unknown>
}) {
  const { api } = useSession()
  const { job_kind, waiting, later, running } = kind
  const pauses = what === 'pause'
  return (
    <ActionDialog
      title={`${pauses ? 'Pause' : 'Resume'} ${kindName(job_kind)}`}
      verb={pauses ? 'Pause' : 'Resume'}
      close={close}
      act={async () => {
        await (pauses ? api.queue.pause(job_kind) : api.queue.resume(job_kind))
        await done()
      }}
    >
      {pauses ? (
        <p>
          No job of this kind begins until somebody resumes it, in any workspace.{' '}
          {counted(waiting + later, 'job')} of yours {waiting + later === 1 ? 'waits' : 'wait'} and stay in
          the queue;{' '}
          {running === 0 ? 'none is running' : `${counted(running, 'running job')} will end as usual`}. New
          ones are still enqueued.
        </p>
      ) : (
        <p>
          Jobs of this kind begin again, in every workspace. {counted(waiting, 'job')} of yours{' '}
          {waiting === 1 ? 'is' : 'are'} due now.
        </p>
      )}
    </ActionDialog>
  )
}
