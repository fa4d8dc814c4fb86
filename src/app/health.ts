/** The checks of this installation in the words of whoever operates it: a title, and what to do where one is not ok. */
import type { HealthCheck } from '../kernel/postgres/health.ts'

const PARTITIONS_REMEDY =
  'Maintenance creates them ahead of time. Look whether `stagedoor start` or a worker runs, and at its log.'

const CHECK_TEXTS: Readonly<Record<string, readonly [title: string, remedy: string]>> = {
  embedded_postgres: ['Embedded PostgreSQL', 'Look at the log of `stagedoor start`, which starts it again.'],
  search: [
    'Worker of search',
    'Look at Search for what could not be indexed, and at the log of this process.',
  ],
  database: ['Database', 'Look whether PostgreSQL runs and takes connections: `stagedoor doctor`.'],
  draining: ['Drain', 'Nothing: the server was told to stop, and ends when what is open is answered.'],
  replica: [
    'Replica',
    'Look whether the standby of DATABASE_READ_URL runs and receives the log: `select * from pg_stat_replication` on the primary. Until then the primary answers.',
  ],
  nats: [
    'NATS',
    'Look whether the server of NATS_URL runs and takes the credentials: `nats-server` writes who it refuses. Until then the database carries wake-ups, and workers without a database wait.',
  ],
  migrations: ['Schema of the database', 'Apply what is missing: `stagedoor migrate`.'],
  event_partitions: ['Room for events', PARTITIONS_REMEDY],
  job_partitions: ['Room for the job history', PARTITIONS_REMEDY],
  execution_partitions: ['Room for executions', PARTITIONS_REMEDY],
  workers: [
    'Maintenance',
    'Look at the log of `stagedoor start`: a task that cleans up or creates partitions fails.',
  ],
  gateway: [
    'Gateway of remote workers',
    'Look whether NATS runs, and whether another installation uses the same STAGEDOOR_CELL: the guide of remote workers.',
  ],
  gateway_jobs: ['Jobs of remote workers', 'Look at the log of this process: it cannot claim jobs for them.'],
  gateway_executions: [
    'Playbook steps of remote workers',
    'Look at the log of this process: it cannot claim steps for them.',
  ],
  jobs: ['Job worker', 'Look at the log of this process, and at Jobs for what runs too long.'],
  dispatcher: [
    'Dispatcher of events',
    'Look at the log of the process that runs it: `stagedoor worker --dispatch`.',
  ],
  executions: [
    'Engine of executions',
    'Look at the log of this process, and at Executions for what is stuck.',
  ],
  projection: ['Projection of executions', 'Rebuild it if it stays behind: `stagedoor execution rebuild`.'],
  review_policies: [
    'Review policies',
    'Set the policy again with a column that exists: Settings › Policies, or `stagedoor policy set`.',
  ],
  store: [
    'Store of blobs',
    'The code at the beginning is in the guide of troubleshooting, with what to do. The check is repeated every 15 seconds.',
  ],
  blobs: ['Files of staged parts', 'Look whether the folder of the blobs is there and can be written.'],
}

/** What goes on without it, slower. */
const WARNINGS = new Set(['replica', 'nats'])

interface DescribedCheck extends HealthCheck {
  readonly title: string
  readonly severity: 'ok' | 'warning' | 'error'
  /** What to do if it is not ok. */
  readonly remedy: string
}

export function describeCheck(check: HealthCheck): DescribedCheck {
  const [title, remedy] = CHECK_TEXTS[check.name] ?? [check.name, 'Compare with `stagedoor doctor`.']
  const severity = check.ok ? 'ok' : WARNINGS.has(check.name) ? 'warning' : 'error'
  return { ...check, title, severity, remedy }
}
