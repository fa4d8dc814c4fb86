import type { Api } from '../api/client.ts'
import type { DeadProjection, Execution, Job, SearchWaiting } from '../api/types.ts'

/** The API pages and does not count: a full page is "that many or more". */
const COUNTED = 50
const NEWEST = 5

export interface Counted<Row> {
  readonly rows: readonly Row[]
  readonly more: boolean
}

/** Jobs, executions and search as far as one may see them: what is in hand, and what failed. */
export interface Work {
  readonly waiting: Counted<Job>
  readonly running: Counted<Job>
  readonly dead: Counted<Job>
  readonly newest: readonly Execution[]
  readonly executing: Counted<Execution>
  readonly failed: Counted<Execution>
  readonly search: SearchWaiting
  readonly unsearchable: readonly DeadProjection[]
}

export async function readWork(api: Api): Promise<Work> {
  const jobs = async (status: Job['status']): Promise<Counted<Job>> => {
    const page = await api.jobs({ status, limit: COUNTED })
    return { rows: page.jobs, more: page.next !== null }
  }
  const executions = async (status: Execution['status']): Promise<Counted<Execution>> => {
    const page = await api.executions.list({ status, limit: COUNTED })
    return { rows: page.executions, more: page.next !== null }
  }
  const [waiting, running, dead, newest, executing, failed, search, unsearchable] = await Promise.all([
    jobs('waiting'),
    jobs('running'),
    jobs('dead'),
    api.executions.list({ limit: NEWEST }),
    executions('RUNNING'),
    executions('FAILED'),
    api.searchWaiting(),
    api.deadProjections(NEWEST),
  ])
  return {
    waiting,
    running,
    dead,
    newest: newest.executions,
    executing,
    failed,
    search,
    unsearchable: unsearchable.dead_letters,
  }
}

/** "3", or "50+" where there are more than were read. */
export function countOf({ rows, more }: Counted<unknown>): string {
  return `${rows.length}${more ? '+' : ''}`
}

export interface DeadKind {
  readonly kind: string
  readonly jobs: readonly Job[]
  readonly newest: Job
}

/** Dead letters by what they are; the same fault usually ends many of one kind. */
export function deadKinds({ rows }: Counted<Job>): DeadKind[] {
  const kinds = new Map<string, Job[]>()
  for (const job of rows) kinds.set(job.job_kind, [...(kinds.get(job.job_kind) ?? []), job])
  return [...kinds].map(([kind, jobs]) => ({ kind, jobs, newest: jobs[0]! }))
}
