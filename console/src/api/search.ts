import { query } from './query.ts'
import type { Request } from './request.ts'
import type {
  DeadProjection,
  MissedQuestions,
  SearchAnswer,
  SearchTable,
  SearchWaiting,
  Synonyms,
} from './types.ts'

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
  readonly table?: string | undefined
  readonly sort?: string
  readonly facets?: boolean
  readonly typing?: boolean
  readonly exact?: boolean
  readonly collapse?: boolean
  /** `next` of the page before. */
  readonly after?: string
}

export interface SearchApi {
  /** Every hit says why it is there. */
  ask(question: SearchQuestion): Promise<SearchAnswer>
  waiting(): Promise<SearchWaiting>
  deadLetters(limit: number): Promise<{ dead_letters: DeadProjection[] }>
  /** Brings in what waits for the quiet window. Answers how many. */
  flush(workspace: string | undefined): Promise<{ count: number }>
  synonyms(workspace_id: string | undefined, after?: string): Promise<{ synonyms: Synonyms[] }>
  addSynonyms(
    workspace_id: string | undefined,
    synonyms: { word: string; synonyms: string[]; both: boolean },
  ): Promise<{ count: number }>
  deleteSynonyms(workspace_id: string | undefined, word: string): Promise<{ count: number }>
  missed(workspace_id: string | undefined): Promise<MissedQuestions>
  setMissedLog(workspace_id: string | undefined, on: boolean): Promise<{ changed: boolean }>
  replay(workspace: string | undefined, outbox: readonly string[]): Promise<{ count: number }>
  /** Your own tables in search. */
  tables(): Promise<{ tables: SearchTable[] }>
  reviewTable(table: string): Promise<SearchTable>
  activateTable(table: string): Promise<SearchTable>
}

export function createSearchApi(request: Request): SearchApi {
  return {
    ask: (question) => request(`/search?${query({ ...question, explain: true, context: true })}`),
    synonyms: (workspace_id, after) =>
      request(`/search/synonyms?${query({ workspace_id, limit: 200, after })}`),
    addSynonyms: (workspace_id, synonyms) =>
      request('/search/synonyms', {
        method: 'POST',
        body: { ...synonyms, ...(workspace_id && { workspace_id }) },
      }),
    deleteSynonyms: (workspace_id, word) =>
      request(`/search/synonyms?${query({ workspace_id, word })}`, { method: 'DELETE' }),
    missed: (workspace_id) => request(`/search/missed?${query({ workspace_id })}`),
    setMissedLog: (workspace_id, on) =>
      request('/search/missed', { method: 'PUT', body: { on, ...(workspace_id && { workspace_id }) } }),
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
