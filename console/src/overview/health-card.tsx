import type { ReadyCheck } from '../api/types.ts'
import type { System } from '../live/system.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'

const NAMES: Record<string, string> = {
  embedded_postgres: 'Embedded PostgreSQL',
  database: 'Database',
  migrations: 'Migrations',
  workers: 'Maintenance',
  event_partitions: 'Event partitions',
  job_partitions: 'Job partitions',
  execution_partitions: 'Execution partitions',
  dispatcher: 'Event dispatcher',
  jobs: 'Jobs',
  executions: 'Executions',
  projection: 'Execution view',
  search: 'Search',
}

/** Drawn before the first answer, so that nothing moves when it comes. */
const EXPECTED = ['database', 'migrations', 'workers', 'event_partitions']

export function HealthCard({ system }: { system: System }) {
  const { data, lost } = system
  const version = data && <span className="tiny">version {data.version}</span>
  return (
    <Card id="health" title="Health" aside={version}>
      <FailureNote failure={system.failure} />
      <ul className="lines">
        {data === undefined
          ? EXPECTED.map((name) => (
              <Line key={name} name={name} detail="" tone="stale" word={lost ? 'unknown' : 'loading…'} />
            ))
          : data.ready.checks.map((check) => <CheckLine key={check.name} check={check} lost={lost} />)}
      </ul>
    </Card>
  )
}

function CheckLine({ check, lost }: { check: ReadyCheck; lost: boolean }) {
  if (lost) return <Line {...check} tone="stale" word={check.ok ? 'was OK' : 'was failing'} />
  return <Line {...check} tone={check.ok ? 'ok' : 'bad'} word={check.ok ? 'OK' : 'failing'} />
}

interface LineProps {
  readonly name: string
  readonly detail: string
  readonly tone: 'ok' | 'bad' | 'stale'
  readonly word: string
}

function Line({ name, detail, tone, word }: LineProps) {
  return (
    <li>
      <span className="line-state">
        <Chip tone={tone}>{word}</Chip>
      </span>
      <span className="line-text">
        <b>{NAMES[name] ?? name}</b>
        <span className="muted">{detail === '' ? '\u00a0' : detail}</span>
      </span>
    </li>
  )
}
