import { query } from './query.ts'
import type { Request } from './request.ts'
import type { DeadProjection, SearchAnswer, SearchTable, SearchWaiting } from './types.ts'

export interface SearchQuestion {
  readonly q: string
  readonly workspace_id?: string | undefined
  readonly limit?: number
  readonly topic?: string | undefined
  readonly kind?: string | undefined
  readonly status?: string | undefined
  readonly language?: string | undefined
  readonly container?: string | undefined
  readonly source?: string | undefined
}

export interface SearchApi {
  /** Every hit says why it is there. */
  ask(question: SearchQuestion): Promise<SearchAnswer>
  waiting(): Promise<SearchWaiting>
  deadLetters(limit: number): Promise<{ dead_letters: DeadProjection[] }>
  /** Brings in what waits for the quiet window. Answers how many. */
  flush(workspace: string | undefined): Promise<{ count: number }>
  replay(workspace: string | undefined, outbox: readonly string[]): Promise<{ count: number }>
  /** Your own tables in search. */
  tables(): Promise<{ tables: SearchTable[] }>
  reviewTable(table: string): Promise<SearchTable>
  activateTable(table: string): Promise<SearchTable>
}

export function createSearchApi(request: Request): SearchApi {
  return {
    ask: (question) => request(`/search?${query({ ...question, explain: true })}`),
    waiting: () => request('/search/waiting'),
    deadLetters: (limit) => request(`/search/dead-letters?${query({ limit })}`),
    flush: (workspace_id) =>
      request('/search/flush', { method: 'POST', body: { ...(workspace_id && { workspace_id }) } }),
    replay: (workspace_id, outbox) =>
      request('/search/dead-letters/replay', {
        method: 'POST',
        body: { outbox, ...(workspace_id && { workspace_id }) },
      }),
    tables: () => request('/search/tables'),
    reviewTable: (table) =>
      request(`/search/tables/${encodeURIComponent(table)}/review`, { method: 'POST', body: {} }),
    activateTable: (table) =>
      request(`/search/tables/${encodeURIComponent(table)}/activate`, { method: 'POST' }),
  }
}
