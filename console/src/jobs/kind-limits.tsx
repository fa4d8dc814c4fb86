import { useState } from 'react'
import type { JobKind } from '../api/jobs.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { useSession } from '../session/session.tsx'

interface Setting {
  readonly name:
    | 'max_attempts'
    | 'concurrency'
    | 'rate'
    | 'rate_period'
    | 'timeout'
    | 'backoff'
    | 'max_backoff'
  readonly label: string
  readonly hint: string
  readonly number: boolean
  /** Left empty there is no limit. */
  readonly optional: boolean
}

const SETTINGS: readonly Setting[] = [
  { name: 'concurrency', label: 'At once', hint: 'empty: no limit', number: true, optional: true },
  { name: 'rate', label: 'Rate', hint: 'jobs per period; empty: no limit', number: true, optional: true },
  { name: 'rate_period', label: 'Period of the rate', hint: 'as 1 minute', number: false, optional: false },
  {
    name: 'max_attempts',
    label: 'Attempts',
    hint: 'then it is a dead letter',
    number: true,
    optional: false,
  },
  {
    name: 'timeout',
    label: 'Time of one attempt',
    hint: 'as 2 minutes; empty: no limit',
    number: false,
    optional: true,
  },
  {
    name: 'backoff',
    label: 'First pause before a retry',
    hint: 'doubles with each',
    number: false,
    optional: false,
  },
  { name: 'max_backoff', label: 'Longest pause', hint: 'as 1 hour', number: false, optional: false },
]

/** The limits that are set, in words; empty where there are none. */
export function limitsText({ concurrency, rate, rate_period, serial_by, fair_by }: JobKind): string {
  return [
    concurrency !== null && `${concurrency} at once`,
    rate !== null && `${rate} per ${periodText(rate_period)}`,
    serial_by !== null && `one at a time by ${serial_by}`,
    fair_by !== null && `takes turns by ${fair_by}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** PostgreSQL writes a minute as 00:01:00. */
function periodText(interval: string): string {
  return (
    { '00:00:01': 'second', '00:01:00': 'minute', '01:00:00': 'hour', '1 day': 'day' }[interval] ?? interval
  )
}

/** Changes what is typed differently; the rest stays. */
export function KindLimits({
  kind,
  close,
  done,
}: {
  kind: JobKind
  close(): void
  done(): Promise<unknown>
}) {
  const { api } = useSession()
  const [draft, setDraft] = useState(() =>
    Object.fromEntries(SETTINGS.map(({ name }) => [name, String(kind[name] ?? '')])),
  )
  const changes = Object.fromEntries(
    SETTINGS.filter(({ name }) => draft[name] !== String(kind[name] ?? '')).map(({ name, number }) => [
      name,
      draft[name] === '' ? null : number ? Number(draft[name]) : draft[name],
    ]),
  )
  const changed = Object.keys(changes).length
  return (
    <ActionDialog
      title={`Limits of ${kind.job_kind}`}
      verb="Save limits"
      close={close}
      act={async () => {
        if (changed > 0) await api.queue.setKind(kind.job_kind, changes)
        await done()
      }}
    >
      <div className="line-cells">
        {SETTINGS.map(({ name, label, hint, number, optional }) => (
          <label key={name} className="choice">
            <span>{label}</span>
            <input
              type={number ? 'number' : 'text'}
              min={1}
              maxLength={100}
              required={!optional}
              value={draft[name]}
              onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
            />
            <small className="tiny">{hint}</small>
          </label>
        ))}
      </div>
      <p>
        {changed === 0
          ? 'Nothing is changed yet.'
          : `Changes ${changed === 1 ? 'one setting' : `${changed} settings`} for this kind in every workspace, from the next job that begins.`}
      </p>
    </ActionDialog>
  )
}
