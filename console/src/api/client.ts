import { learnNames } from '../people.ts'
import { type ConsumersApi, createConsumersApi } from './consumers.ts'
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
  Found,
  Gates,
  Health,
  Jobs,
  Me,
  OverviewFacts,
  Ready,
  RecordedEvent,
  SearchWaiting,
  Trace,
} from './types.ts'
import { createUploadsApi, type UploadsApi } from './uploads.ts'

export interface EventFilter {
  readonly limit: number
  readonly after?: string | undefined
  readonly domain?: string | undefined
  readonly type?: string | undefined
  readonly subject?: string | undefined
  /** Date and time with a zone. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface Api {
  health(): Promise<Health>
  ready(): Promise<Ready>
  me(): Promise<Me>
  gates(): Promise<Gates>
  events(asked: EventFilter): Promise<EventPage>
  event(id: string): Promise<RecordedEvent>
  /** What came of an event, a job or an execution. */
  trace(id: string): Promise<Trace>
  /** Anything by a part of its name, or by its id. */
  find(text: string): Promise<{ found: Found[] }>
  overview(): Promise<OverviewFacts>
  jobs(asked: { status?: Jobs['jobs'][number]['status']; limit: number }): Promise<Jobs>
  executions(asked: {
    status?: Executions['executions'][number]['status']
    limit: number
  }): Promise<Executions>
  searchWaiting(): Promise<SearchWaiting>
  deadProjections(limit: number): Promise<{ dead_letters: DeadProjection[] }>
  /** Follows what changes until the signal aborts or the server ends the stream. */
  live(listener: LiveListener, signal: AbortSignal): Promise<void>
  readonly consumers: ConsumersApi
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
    events: (asked) => named(request(`/events?${query(asked)}`)),
    event: (id) => request(`/events/${encodeURIComponent(id)}`),
    trace: (id) => request(`/traces/${encodeURIComponent(id)}`),
    find: (text) => request(`/find?${query({ q: text })}`),
    overview: () => request('/overview'),
    jobs: (asked) => request(`/jobs?${query(asked)}`),
    executions: (asked) => request(`/executions?${query(asked)}`),
    searchWaiting: () => request('/search/waiting'),
    deadProjections: (limit) => request(`/search/dead-letters?${query({ limit })}`),
    live: (listener, signal) => readLive(token, listener, signal),
    consumers: createConsumersApi(request),
    queue: createJobsApi(request),
    records: createRecordsApi(request, token),
    system: createSystemApi(request),
    uploads: createUploadsApi(request, token),
  }
}
