import { useDeferredValue, useState } from 'react'
import { ApiProblem } from '../api/failure.ts'
import type { Schedule } from '../api/jobs.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { type Column, Filters, ListTable, useFilters } from '../parts/list.tsx'
import { RowButtons } from '../parts/row-buttons.tsx'
import { mayEverywhere } from '../session/rights.ts'
import { useSession } from '../session/session.tsx'
import { JobLinks } from './job-links.tsx'
import { inOwnZone } from './job-text.tsx'
import './jobs.css'

type Asked =
  | { readonly what: 'edit'; readonly schedule: Schedule | undefined }
  | { readonly what: 'switch' | 'delete'; readonly schedule: Schedule }

export default function SchedulesPage() {
  const { me } = useSession()
  const [asked, ask] = useState<Asked>()
  const { state, text } = useFilters(['state', 'text'])
  const schedules = useLiveQuery(['jobs', 'schedules'], (api) => api.queue.schedules())
  const all = schedules.data?.schedules ?? []
  const shown = all.filter(
    ({ enabled, schedule, job_kind }) =>
      (state === undefined || enabled === (state === 'on')) &&
      (text === undefined || `${schedule} ${job_kind}`.toLowerCase().includes(text.toLowerCase())),
  )
  const may = mayEverywhere(me, 'administer')
  const close = () => ask(undefined)
  return (
    <>
      <PageHead title="Schedules" />
      <JobLinks />
      <Filters
        filters={[
          {
            name: 'state',
            label: 'State',
            options: [
              ['on', 'on'],
              ['paused', 'paused'],
            ],
          },
          { name: 'text', label: 'Name or kind', kind: 'text', isSearch: true },
        ]}
      >
        <button
          type="button"
          className="button"
          disabled={!may}
          title={may ? undefined : 'For administrators of every workspace'}
          onClick={() => ask({ what: 'edit', schedule: undefined })}
        >
          Add a schedule
        </button>
      </Filters>
      <section className="card" aria-label="Schedules">
        <FailureNote failure={schedules.failure} />
        {shown.length > 0 && (
          <ListTable
            label="Schedules"
            columns={columnsOf(may, ask)}
            rows={shown}
            keyOf={({ schedule }) => schedule}
          />
        )}
        {schedules.data && shown.length === 0 && (
          <EmptyState
            title={all.length === 0 ? 'No schedule yet.' : 'No schedule meets the filters.'}
            {...(all.length === 0 && {
              command:
                'npm run -s stagedoor -- schedule set nightly_report --cron "0 6 * * *" --kind send_report',
            })}
          >
            {all.length === 0 && 'A schedule enqueues a job at every time that its cron line names.'}
          </EmptyState>
        )}
      </section>
      {asked?.what === 'edit' && (
        <EditDialog schedule={asked.schedule} close={close} done={schedules.refresh} />
      )}
      {asked?.what === 'switch' && (
        <SwitchDialog schedule={asked.schedule} close={close} done={schedules.refresh} />
      )}
      {asked?.what === 'delete' && (
        <DeleteDialog schedule={asked.schedule} close={close} done={schedules.refresh} />
      )}
    </>
  )
}

function columnsOf(may: boolean, ask: (asked: Asked) => void): Column<Schedule>[] {
  return [
    {
      title: 'Schedule',
      cell: ({ schedule, job_kind }) => (
        <>
          <b>
            <Breakable name={schedule} />
          </b>
          <div className="tiny">
            enqueues <a href={`/jobs?kind=${encodeURIComponent(job_kind)}`}>{job_kind}</a>
          </div>
        </>
      ),
    },
    {
      title: 'Cron line',
      wideOnly: true,
      cell: ({ cron, time_zone }) => (
        <>
          <code>{cron}</code>
          <div className="tiny">{time_zone}</div>
        </>
      ),
    },
    {
      title: 'Next runs, in your time zone',
      cell: ({ next_runs, enabled }) =>
        enabled ? (
          <ol className="next-runs">
            {next_runs.map((at) => (
              <li key={at}>{inOwnZone(at)}</li>
            ))}
          </ol>
        ) : (
          <Chip tone="held">paused</Chip>
        ),
    },
    {
      title: 'Last run',
      wideOnly: true,
      tight: true,
      cell: ({ last_due, last_job_id }) =>
        last_due === null ? (
          <span className="tiny">never</span>
        ) : (
          <a href={`/jobs/${last_job_id}`}>
            <Ago at={last_due} />
          </a>
        ),
    },
    {
      title: 'Change',
      figures: true,
      cell: (schedule) => (
        <RowButtons
          of={schedule.schedule}
          buttons={[
            [schedule.enabled ? 'Pause' : 'Resume', 'switch'],
            ['Edit', 'edit'],
            ['Delete', 'delete'],
          ]}
          disabled={!may}
          ask={(what) => ask({ what, schedule })}
        />
      ),
    },
  ]
}

interface DialogProps {
  readonly schedule: Schedule
  close(): void
  done(): Promise<unknown>
}

function SwitchDialog({ schedule, close, done }: DialogProps) {
  const { api } = useSession()
  const { enabled, next_runs, next_at } = schedule
  return (
    <ActionDialog
      title={`${enabled ? 'Pause' : 'Resume'} ${schedule.schedule}`}
      verb={enabled ? 'Pause' : 'Resume'}
      close={close}
      act={async () => {
        const { cron, time_zone, job_kind, payload } = schedule
        await api.queue.setSchedule(schedule.schedule, {
          cron,
          time_zone,
          job_kind,
          payload,
          enabled: !enabled,
        })
        await done()
      }}
    >
      <p>
        {enabled
          ? `Nothing more is enqueued; the run of ${inOwnZone(next_runs[0] ?? next_at)} does not happen. The schedule is kept, and jobs that it enqueued go on.`
          : 'Jobs are enqueued again from the next time of its cron line on. Times that passed meanwhile are not made up for.'}
      </p>
    </ActionDialog>
  )
}

function DeleteDialog({ schedule, close, done }: DialogProps) {
  const { api } = useSession()
  return (
    <ActionDialog
      title={`Delete ${schedule.schedule}`}
      verb="Delete the schedule"
      close={close}
      act={async () => {
        await api.queue.deleteSchedule(schedule.schedule)
        await done()
      }}
    >
      <p>The schedule is deleted, and nothing more is enqueued by it. Jobs that it enqueued stay.</p>
    </ActionDialog>
  )
}

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
const NAME = '[a-z][a-z0-9_.:\\-]{0,62}'

function EditDialog({
  schedule,
  close,
  done,
}: Omit<DialogProps, 'schedule'> & { schedule: Schedule | undefined }) {
  const { api } = useSession()
  const [draft, setDraft] = useState({
    name: schedule?.schedule ?? '',
    job_kind: schedule?.job_kind ?? '',
    cron: schedule?.cron ?? '0 6 * * 1-5',
    time_zone: schedule?.time_zone ?? OWN_ZONE,
    payload: JSON.stringify(schedule?.payload ?? {}),
  })
  const kinds = useLiveQuery(['jobs', 'kinds'], (own) => own.queue.kinds())
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value }),
  })
  const payload = parseObject(draft.payload)
  return (
    <ActionDialog
      title={schedule ? `Edit ${schedule.schedule}` : 'Add a schedule'}
      verb={schedule ? 'Save' : 'Add the schedule'}
      close={close}
      act={async () => {
        if (payload === undefined) throw new ApiProblem({ detail: 'The payload is not a JSON object.' }, 400)
        const { name, cron, time_zone, job_kind } = draft
        await api.queue.setSchedule(name, {
          cron,
          time_zone,
          job_kind,
          payload,
          enabled: schedule?.enabled ?? true,
        })
        await done()
      }}
    >
      <div className="line-cells">
        <label className="choice">
          <span>Name</span>
          <input
            {...field('name')}
            required
            pattern={NAME}
            maxLength={63}
            readOnly={schedule !== undefined}
          />
          <small className="tiny">lowercase letters, digits and _.:-</small>
        </label>
        <label className="choice">
          <span>Kind of job</span>
          <input {...field('job_kind')} required pattern={NAME} maxLength={63} list="schedule-kinds" />
          <datalist id="schedule-kinds">
            {kinds.data?.kinds.map(({ job_kind }) => (
              <option key={job_kind} value={job_kind} />
            ))}
          </datalist>
        </label>
        <label className="choice">
          <span>Cron line</span>
          <input {...field('cron')} required maxLength={200} />
          <small className="tiny">minute hour day month weekday</small>
        </label>
        <label className="choice">
          <span>Time zone</span>
          <input {...field('time_zone')} required maxLength={100} />
        </label>
        <label className="choice">
          <span>Payload</span>
          <input {...field('payload')} maxLength={8192} aria-invalid={payload === undefined} />
          <small className="tiny">a JSON object of references</small>
        </label>
      </div>
      <NextRuns cron={draft.cron} timeZone={draft.time_zone} />
    </ActionDialog>
  )
}

/** What the line means, while it is typed. */
function NextRuns({ cron, timeZone }: { cron: string; timeZone: string }) {
  const line = useDeferredValue(cron.trim())
  const zone = useDeferredValue(timeZone.trim())
  const runs = useLiveQuery(['jobs', 'next-runs', line, zone], (api) => api.queue.nextRuns(line, zone), {
    enabled: line !== '' && zone !== '',
  })
  if (runs.failure) return <FailureNote failure={runs.failure} />
  if (runs.data === undefined) return null
  return (
    <div>
      <b>It would run, in your time zone:</b>
      <ol className="next-runs">
        {runs.data.next_runs.map((at) => (
          <li key={at}>{inOwnZone(at)}</li>
        ))}
      </ol>
    </div>
  )
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
