import { learnNames } from '../people.ts'
import { query } from './query.ts'
import { createRequest } from './request.ts'
import type { EventPage, Gates, Health, Me, Ready, StagingRecord, StagingRecords } from './types.ts'
import { createUploadsApi, type UploadsApi } from './uploads.ts'

export interface Api {
  health(): Promise<Health>
  ready(): Promise<Ready>
  me(): Promise<Me>
  gates(): Promise<Gates>
  events(page: { limit: number; after?: string }): Promise<EventPage>
  /** Review packages that wait for a decision. */
  reviewPackages(page: { limit: number; after?: string }): Promise<StagingRecords>
  stagingRecord(id: string): Promise<StagingRecord>
  readonly uploads: UploadsApi
}

/** Every list says what those in it are called; once told, they are named wherever they stand. */
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
    health: () => request('/health'),
    // Not being ready is an answer, not a failure.
    ready: () => request('/ready', { alsoGood: [503] }),
    me: () => request('/me'),
    gates: () => request('/gates'),
    events: (page) => named(request(`/events?${query(page)}`)),
    reviewPackages: (page) =>
      named(request(`/staging?${query({ ...page, kind: 'review_package', status: 'pending' })}`)),
    stagingRecord: (id) => request(`/staging/${id}`),
    uploads: createUploadsApi(request, token),
  }
}
