import type { Job } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { counted, duration } from '../parts/format.ts'
import { kindName } from './kind-name.ts'

const TONES: Record<Job['status'], Tone> = {
  waiting: 'stale',
  running: 'work',
  completed: 'ok',
  cancelled: 'stale',
  dead: 'bad',
}

export function JobChip({ status }: { status: Job['status'] }) {
  return <Chip tone={TONES[status]}>{status === 'dead' ? 'dead letter' : status}</Chip>
}

export function KindName({ kind }: { kind: string }) {
  const name = kindName(kind)
  if (name === kind) return <Breakable name={kind} />
  return (
    <span title={kind}>
      <Breakable name={name} />
    </span>
  )
}

export const STATUS_OPTIONS = [
  ['waiting', 'waiting'],
  ['running', 'running'],
  ['completed', 'completed'],
  ['cancelled', 'cancelled'],
  ['dead', 'dead letters'],
] as const

/** What one would ask of it next: when it runs, how long it took, why it failed. */
export function JobRemark({ job }: { job: Job }) {
  switch (job.status) {
    case 'waiting':
      return job.attempts > 0 ? (
        <>
          {counted(job.attempts, 'attempt')} failed: {job.last_error}
        </>
      ) : (
        <>due {job.process_after && <Ago at={job.process_after} />}</>
      )
    case 'running':
      return (
        <>
          attempt {job.attempts}, begun {job.started_at && <Ago at={job.started_at} />}
        </>
      )
    case 'completed':
      return <>took {took(job)}</>
    default:
      return <>{job.last_error ?? ''}</>
  }
}

export function took({ started_at, finished_at }: Job): string {
  if (started_at === null || finished_at === null) return 'an unknown time'
  return duration(new Date(finished_at).getTime() - new Date(started_at).getTime())
}

const moment = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** A time to come, in the zone of whoever looks. */
export function inOwnZone(at: string): string {
  return moment.format(new Date(at))
}
