/** How jobs look on the terminal. */
import pc from 'picocolors'
import { BUILT_IN_KINDS } from '../../../jobs/handlers/built-in.ts'
import type { JobRecord, JobState } from '../../../jobs/queue.ts'
import { age, table, visibleLine } from '../../output.ts'
import { duration, whenIs } from '../../times.ts'
import { screenWidth, shortened } from '../upload/layout.ts'
import type { NextStep } from '../upload/next-step.ts'

const MARKS: Record<JobState, string> = {
  waiting: '○',
  running: '●',
  completed: '✔',
  cancelled: '–',
  dead: '✖',
}

export function stateOf({ state }: Pick<JobRecord, 'state'>): string {
  return `${MARKS[state]} ${state}`
}

export function paintState(cell: string): string {
  const state = cell.trim().split(' ')[1]
  if (state === 'completed') return pc.green(cell)
  if (state === 'dead') return pc.red(cell)
  return state === 'running' ? pc.cyan(cell) : state === 'waiting' ? pc.yellow(cell) : pc.dim(cell)
}

/** What one would ask of it next: when it runs, how long it took, why it failed. */
export function remarkOf(job: JobRecord): string {
  const failed = job.last_error === null ? '' : `: ${job.last_error}`
  switch (job.state) {
    case 'waiting': {
      const due = job.process_after! <= new Date() ? 'due' : `again ${whenIs(job.process_after!)}`
      return job.attempts > 0
        ? `${due}, failed ${times(job.attempts)}${failed}`
        : due.replace('again ', 'due ')
    }
    case 'running':
      return `attempt ${job.attempts}, begun ${whenIs(job.started_at!)}`
    case 'completed':
      return `took ${duration(job.finished_at!.getTime() - job.started_at!.getTime())}${job.attempts > 1 ? `, attempt ${job.attempts}` : ''}`
    case 'cancelled':
      return job.last_error ?? ''
    case 'dead':
      return `failed ${times(job.attempts)}${failed}`
  }
}

export function jobTable(jobs: readonly JobRecord[]): string {
  const rows = jobs.map((job) => [
    job.job_id,
    stateOf(job),
    job.job_kind,
    age(job.enqueued_at),
    visibleLine(remarkOf(job)),
  ])
  const taken = [0, 1, 2, 3].reduce((sum, column) => sum + 2 + widest(rows, column), 0)
  const room = Math.max(20, screenWidth() - taken)
  return table(
    [
      ['id', 'state', 'kind', 'age', ''],
      ...rows.map((row) => row.map((cell, column) => (column === 4 ? shortened(cell, room) : cell))),
    ],
    (cell, column, row) =>
      row === 0 || column === 4 ? pc.dim(cell) : column === 1 ? paintState(cell) : cell,
  )
}

function widest(rows: readonly (readonly string[])[], column: number): number {
  return Math.max(...rows.map((row) => row[column]!.length))
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** Who would run it, by its executor; the kinds that Stagedoor brings are run by the server itself. */
export function runStep(kind: string, executor = 'PG_worker'): NextStep[] {
  if (executor !== 'PG_worker')
    return [
      {
        what: `A worker of ${executor} leases it over HTTP, as examples/jobs/worker.py does`,
        command: `stagedoor token --role stagedoor_executor --executor ${executor}`,
      },
    ]
  if (BUILT_IN_KINDS.includes(kind)) return [{ what: 'The server runs it', command: 'stagedoor start' }]
  return [{ what: 'Run a handler of yours for it', command: 'stagedoor worker --handlers ./jobs.ts' }]
}
