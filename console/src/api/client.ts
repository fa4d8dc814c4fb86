import { learnNames } from '../people.ts'
import { createJobsApi, type JobsApi } from './jobs.ts'
import { type LiveListener, readLive } from './live.ts'
import { query } from './query.ts'
import { createRecordsApi, type RecordsApi } from './records.ts'
import { createRequest } from './request.ts'
import { createSystemApi, type SystemApi } from './system.ts'
import type {
  DeadProjection,
  EventPage,
  Executions,
  Gates,
  Health,
  Jobs,
  Me,
  Ready,
  SearchWaiting,
} from './types.ts'
import { createUploadsApi, type UploadsApi } from './uploads.ts'

export interface Api {
  health(): Promise<Health>
  ready(): Promise<Ready>
  me(): Promise<Me>
  gates(): Promise<Gates>
  events(page: { limit: number; after?: string }): Promise<EventPage>
  jobs(asked: { status?: Jobs['jobs'][number]['status']; limit: number }): Promise<Jobs>
  executions(asked: {
    status?: Executions['executions'][number]['status']
    limit: number
  }): Promise<Executions>
  searchWaiting(): Promise<SearchWaiting>
  deadProjections(limit: number): Promise<{ dead_letters: DeadProjection[] }>
  /** Follows what changes until the signal aborts or the server ends the stream. */
  live(listener: LiveListener, signal: AbortSignal): Promise<void>
  /** Jobs, their kinds, dead letters, schedules and workers. */
  readonly queue: JobsApi
  readonly records: RecordsApi
  /** Health and settings. */
  readonly system: SystemApi
  readonly uploads: UploadsApi
}

/** Every list says what those in it are called; from then on they are shown by name everywhere. */
async function named<T extends { readonly people: Readonly<Record<string, string>> }>(
  answer: Promise<T>,
): Promise<T> {
  const list = await answer
  learnNames(list.people)
  return list
}

export function createApi(token?: string): Api {
  const request = createRequest(token)
  return {
    health: () => request('/api/health'),
    // Not being ready is an answer, not a failure.
    ready: () => request('/api/ready', { alsoGood: [503] }),
    me: () => request('/me'),
    gates: () => request('/gates'),
    events: (page) => named(request(`/events?${query(page)}`)),
    jobs: (asked) => request(`/jobs?${query(asked)}`),
    executions: (asked) => request(`/executions?${query(asked)}`),
    searchWaiting: () => request('/search/waiting'),
    deadProjections: (limit) => request(`/search/dead-letters?${query({ limit })}`),
    live: (listener, signal) => readLive(token, listener, signal),
    queue: createJobsApi(request),
    records: createRecordsApi(request, token),
    system: createSystemApi(request),
    uploads: createUploadsApi(request, token),
  }
}
