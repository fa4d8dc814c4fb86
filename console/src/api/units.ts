import { learnNames } from '../people.ts'
import { query } from './query.ts'
import type { Request } from './request.ts'
import type { operations } from './types.generated.ts'
import type {
  Cut,
  CutDocument,
  CutDocumentDetail,
  ListedUnit,
  Marking,
  StagedMark,
  Topic,
  UnitContext,
  UnitDetail,
  UnitDiff,
  UnitEdges,
  UnitHistory,
  UnitKind,
} from './types.ts'

export interface UnitFilter {
  readonly text?: string | undefined
  readonly kind?: string | undefined
  readonly status?: string | undefined
  readonly topic?: string | undefined
  readonly conformance?: string | undefined
  readonly drift?: string | undefined
  readonly deleted?: boolean | undefined
  readonly top?: boolean | undefined
  readonly container_id?: string | undefined
  readonly workspace_id?: string | undefined
  readonly limit: number
  readonly after?: string | undefined
}

export interface NewUnit {
  readonly canonical_address: string
  readonly body: string
  readonly title?: string
  readonly unit_kind?: string
  readonly workspace_id?: string
}

type SplitUnit = operations['splitUnit']['requestBody']['content']['application/json']
type MergedUnits = operations['mergeUnits']['requestBody']['content']['application/json']

export interface UnitsApi {
  list(filter: UnitFilter): Promise<{ units: ListedUnit[]; next: string | null }>
  kinds(): Promise<{ kinds: UnitKind[] }>
  topics(): Promise<{ topics: Topic[] }>
  find(id: string, version?: number): Promise<UnitDetail>
  /** What it is in, where it comes from, and what one may do with it. */
  context(id: string): Promise<UnitContext>
  history(id: string): Promise<UnitHistory>
  diff(id: string, from: number, to: number): Promise<UnitDiff>
  edges(id: string): Promise<UnitEdges>

  create(unit: NewUnit): Promise<{ unit_id: string }>
  edit(
    id: string,
    edit: { expected_version: number; body: string; title: string; note?: string },
  ): Promise<{ version_no: number; changed: boolean }>
  setTopics(id: string, topics: readonly string[]): Promise<unknown>
  addEdge(id: string, edge: { edge_type: string; target: string }): Promise<unknown>
  deleteEdge(edge: string): Promise<void>
  enact(id: string, approval: { expected_version: number; apr_ref: string }): Promise<UnitDetail>
  supersede(id: string, by: { successor: string; apr_ref: string }): Promise<UnitDetail>
  retire(id: string, reason: string): Promise<UnitDetail>
  delete(id: string, reason: string): Promise<UnitDetail>
  restore(id: string): Promise<UnitDetail>
  /** Into another container, or out of all. */
  move(id: string, to: { container_id: string | null; position?: number }): Promise<unknown>
  split(id: string, into: SplitUnit): Promise<{ units: { unit_id: string }[] }>
  merge(units: MergedUnits): Promise<{ unit_id: string }>
  changeKind(id: string, change: { unit_kind: string; apr_ref: string }): Promise<UnitDetail>

  documents(page: { limit: number; after?: string | undefined }): Promise<{
    documents: CutDocument[]
    next: string | null
  }>
  document(id: string): Promise<CutDocumentDetail>
  /** Proposes how a document is cut, and stages the proposal for review. */
  mark(document: { text: string; source_ref: string; workspace_id?: string }): Promise<StagedMark>
  marking(record: string): Promise<Marking>
  cut(record: string, digest: string): Promise<Cut>
}

export function createUnitsApi(request: Request): UnitsApi {
  const post = <T>(path: string, body: object = {}) => request<T>(path, { method: 'POST', body })
  const withReason = (reason: string) => (reason === '' ? {} : { reason })
  return {
    list: (filter) => request(`/units?${query(filter)}`),
    kinds: () => request('/units/kinds'),
    topics: () => request('/topics?limit=1000'),
    find: (id, version) => request(`/units/${id}?${query({ version })}`),
    context: async (id) => {
      const context = await request<UnitContext>(`/units/${id}/context`)
      learnNames(context.people)
      return context
    },
    history: (id) => request(`/units/${id}/history?limit=1000`),
    diff: (id, from, to) => request(`/units/${id}/diff?${query({ from, to })}`),
    edges: (id) => request(`/units/${id}/edges?limit=200`),

    create: (unit) => post('/units', unit),
    edit: (id, edit) => request(`/units/${id}`, { method: 'PATCH', body: edit }),
    setTopics: (id, topics) =>
      request(`/units/${id}/profile`, { method: 'PATCH', body: { topic_labels: topics } }),
    addEdge: (id, edge) => post(`/units/${id}/edges`, edge),
    deleteEdge: (edge) => request(`/units/edges/${edge}`, { method: 'DELETE' }),
    enact: (id, approval) => post(`/units/${id}/enact`, approval),
    supersede: (id, by) => post(`/units/${id}/supersede`, by),
    retire: (id, reason) => post(`/units/${id}/retire`, withReason(reason)),
    delete: (id, reason) => request(`/units/${id}?${query({ reason })}`, { method: 'DELETE' }),
    restore: (id) => request(`/units/${id}/restore`, { method: 'POST' }),
    move: (id, to) => post(`/units/${id}/move`, to),
    split: (id, into) => post(`/units/${id}/split`, into),
    merge: (units) => post('/units/merge', units),
    changeKind: (id, change) => post(`/units/${id}/change-kind`, change),

    documents: (page) => request(`/documents?${query(page)}`),
    document: (id) => request(`/documents/${id}`),
    mark: (document) => post('/marks', document),
    marking: (record) => request(`/marks/${record}`),
    cut: (record, digest) => post(`/marks/${record}/cut`, { digest }),
  }
}
