import { learnNames } from '../people.ts'
import { type AccessApi, createAccessApi } from './access.ts'
import { type ChangesApi, createChangesApi } from './changes.ts'
import { type ConsumersApi, createConsumersApi } from './consumers.ts'
import { createDocsApi, type DocsApi } from './docs.ts'
import { createExecutionsApi, type ExecutionsApi } from './executions.ts'
import { createJobsApi, type JobsApi } from './jobs.ts'
import { type LiveListener, readLive } from './live.ts'
import { createPlaybooksApi, type PlaybooksApi } from './playbooks.ts'
import { query } from './query.ts'
import { createRecordsApi, type RecordsApi } from './records.ts'
import { createRequest } from './request.ts'
import { createSearchApi, type SearchApi } from './search.ts'
import { createSystemApi, type SystemApi } from './system.ts'
import type { EventPage, Found, Gates, Health, Me, Overview, Ready, RecordedEvent, Trace } from './types.ts'
import { createUnitsApi, type UnitsApi } from './units.ts'
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
  overview(): Promise<Overview>
  /** Follows what changes until the signal aborts or the server ends the stream. */
  live(listener: LiveListener, signal: AbortSignal): Promise<void>
  readonly changes: ChangesApi
  readonly consumers: ConsumersApi
  readonly executions: ExecutionsApi
  readonly playbooks: PlaybooksApi
  readonly access: AccessApi
  readonly docs: DocsApi
  readonly records: RecordsApi
  readonly search: SearchApi
  readonly units: UnitsApi
  /** Jobs, their kinds, dead letters, schedules and workers. */
  readonly queue: JobsApi
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

/** Without a token: as whoever is signed in in this browser. */
export function createApi(token?: string): Api {
  const request = createRequest(token)
  return {
    health: () => request('/api/health'),
    // Not being ready is an answer, not a failure.
    ready: () => request('/api/ready', { alsoGood: [503] }),
    me: () => request('/me'),
    gates: () => request('/gates'),
    events: async (asked) => {
      const page = await named<EventPage>(request(`/events?${query(asked)}`))
      learnNames(page.subjects)
      return page
    },
    event: (id) => request(`/events/${encodeURIComponent(id)}`),
    trace: (id) => request(`/traces/${encodeURIComponent(id)}`),
    find: (text) => request(`/find?${query({ q: text })}`),
    overview: () => request('/overview'),
    live: (listener, signal) => readLive(token, listener, signal),
    changes: createChangesApi(request),
    consumers: createConsumersApi(request),
    executions: createExecutionsApi(request),
    playbooks: createPlaybooksApi(request),
    access: createAccessApi(request),
    docs: createDocsApi(request),
    records: createRecordsApi(request, token),
    search: createSearchApi(request),
    units: createUnitsApi(request),
    queue: createJobsApi(request),
    system: createSystemApi(request),
    uploads: createUploadsApi(request, token),
  }
}
