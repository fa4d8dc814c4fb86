/** Units, topics and documents for programs. */
import type { Client } from '../kernel/postgres/connection.ts'
import * as cuts from './cut.ts'
import * as edges from './edges.ts'
import * as history from './history.ts'
import * as lifecycle from './lifecycle.ts'
import * as units from './units.ts'
import { requireUnitId, requireWorkspaceId, type Transaction, withConflictDiff } from './units.ts'

/** `client`: your own transaction, whose role must have the right. If you roll back, nothing is written. */
interface Within {
  readonly client?: Client
}

type Decided = lifecycle.Decision & { readonly decidedBy: string }

/** Acts as the back end (dot_executor; service_role where it names who decided). People act through the API, under their own role. */
export interface Units {
  create(workspace: string, unit: units.NewUnit, options?: Within): Promise<units.CreatedUnit>
  /** All or none, in one statement; at most 10,000. */
  createMany(
    workspace: string,
    given: readonly units.NewUnitOfBatch[],
    options?: Within,
  ): Promise<{ unit_id: string; canonical_address: string }[]>
  /** A conflict (`unit_version_conflict`) has both hashes in its details, and `diff` unless a client was given. */
  edit(unit: string, edit: units.UnitEdit, options?: Within): Promise<units.EditedUnit>
  /** The same for a part of the text. */
  editSlice(unit: string, edit: units.SliceEdit, options?: Within): Promise<units.EditedUnit>
  /** Merged at the top level; null removes a key. Returns the whole profile. */
  profile(
    unit: string,
    patch: Readonly<Record<string, unknown>>,
    options?: Within,
  ): Promise<Record<string, unknown>>
  addEdge(
    unit: string,
    edge: { edge_type: string; target: string },
    options?: Within,
  ): Promise<edges.AddedEdge>
  deleteEdge(edge: string, options?: Within): Promise<void>
  /** In pages. Throws unit_unknown. */
  edges(unit: string, page?: edges.EdgePage): Promise<edges.UnitEdges>
  /** Into another container; null: out of its container. */
  move(unit: string, container: string | null, options?: Within & { position?: number }): Promise<void>
  reorder(container: string, order: readonly string[], options?: Within): Promise<void>
  /** A person decides: `decidedBy` names them. The same applies to the next two. */
  enact(unit: string, approval: Decided & { expected_version: number }, options?: Within): Promise<void>
  supersede(unit: string, by: Decided & { successor: string }, options?: Within): Promise<void>
  /** U3, under an approval of its own. */
  changeKind(unit: string, change: Decided & { unit_kind: string }, options?: Within): Promise<void>
  /** Retires the unit and creates its parts. A person decides: `decidedBy` names them. */
  split(
    unit: string,
    into: Parameters<typeof lifecycle.splitUnit>[2] & { decidedBy: string },
    options?: Within,
  ): Promise<lifecycle.ExchangedUnit[]>
  /** Retires the units and creates one with their texts. */
  merge(merge: lifecycle.Merge & { decidedBy: string }, options?: Within): Promise<lifecycle.ExchangedUnit>
  retire(unit: string, options?: Within & { reason?: string }): Promise<void>
  delete(unit: string, options?: Within & { reason?: string }): Promise<void>
  restore(unit: string, options?: Within): Promise<void>
  /** As it is, in a version, or as of a time. Throws unit_unknown. */
  read(name: string | units.UnitName, moment?: units.UnitMoment & Within): Promise<units.UnitDetail>
  list(filter?: units.UnitFilter): Promise<units.UnitRecord[]>
  history(unit: string, page?: history.HistoryPage): Promise<history.UnitHistory>
  /** Without versions: what the current one changed. */
  diff(unit: string, versions?: { from?: number; to?: number }): Promise<history.UnitDiff>
  /** Runs the checker on these units, or on all due units of the workspace. */
  check(which: readonly string[] | { workspace_id: string; limit?: number }): Promise<lifecycle.CheckedUnit[]>
}

export interface Topics {
  /** Those of the workspace and those of all. */
  list(workspace?: string, page?: edges.TopicPage): Promise<edges.Topic[]>
  /** `null`: for every workspace. A retired topic comes back. */
  create(workspace: string | null, label: string, description?: string): Promise<void>
  /** Units that have it keep it; no other unit can get it. */
  retire(workspace: string | null, label: string): Promise<void>
}

export interface Documents {
  list(filter?: cuts.DocumentFilter): Promise<cuts.KnownDocument[]>
  /** With its text, and which unit holds which piece. Throws document_unknown. */
  get(document: string, page?: cuts.MapPage): Promise<cuts.DocumentDetail>
}

interface Surroundings {
  readonly worker: Transaction
  /** For a single statement, without a transaction. */
  readonly statement: Transaction
  /** As service_role, which may act for others. */
  readonly service: Transaction
}

export function unitsLibrary({ worker, statement, service }: Surroundings): Units {
  const within = <T>(client: Client | undefined, work: (own: Client) => Promise<T>): Promise<T> =>
    client ? work(client) : statement(work)
  const editing = <T>(client: Client | undefined, work: (own: Client) => Promise<T>): Promise<T> =>
    client ? work(client) : withConflictDiff(statement, work)
  const deciding = <T>(client: Client | undefined, work: (own: Client) => Promise<T>): Promise<T> =>
    client ? work(client) : withConflictDiff(service, work)
  return {
    create: (workspace, unit, { client } = {}) =>
      within(client, (own) => units.createUnit(own, requireWorkspaceId(workspace), unit)),
    createMany: (workspace, given, { client } = {}) =>
      within(client, (own) => units.createUnits(own, requireWorkspaceId(workspace), given)),
    edit: (unit, edit, { client } = {}) =>
      editing(client, (own) => units.editUnit(own, requireUnitId(unit), edit)),
    editSlice: (unit, edit, { client } = {}) =>
      editing(client, (own) => units.editSlice(own, requireUnitId(unit), edit)),
    profile: (unit, patch, { client } = {}) =>
      within(client, (own) => units.changeProfile(own, requireUnitId(unit), patch)),
    addEdge: (unit, edge, { client } = {}) =>
      within(client, (own) => edges.addEdge(own, requireUnitId(unit), edge)),
    deleteEdge: (edge, { client } = {}) => within(client, (own) => edges.deleteEdge(own, edge)),
    edges: (unit, page) => statement((client) => edges.unitEdges(client, requireUnitId(unit), page)),
    move: (unit, container, { client, position } = {}) =>
      within(client, (own) => units.moveUnit(own, requireUnitId(unit), container, position)),
    reorder: (container, order, { client } = {}) =>
      within(client, (own) => units.reorderUnits(own, container, order)),
    enact: (unit, approval, { client } = {}) =>
      deciding(client, (own) => lifecycle.enactUnit(own, requireUnitId(unit), approval)),
    supersede: (unit, by, { client } = {}) =>
      deciding(client, (own) => lifecycle.supersedeUnit(own, requireUnitId(unit), by)),
    split: (unit, into, { client } = {}) =>
      deciding(client, (own) => lifecycle.splitUnit(own, requireUnitId(unit), into)),
    merge: (merge, { client } = {}) => deciding(client, (own) => lifecycle.mergeUnits(own, merge)),
    retire: (unit, { client, reason } = {}) =>
      within(client, (own) => lifecycle.retireUnit(own, requireUnitId(unit), reason)),
    delete: (unit, { client, reason } = {}) =>
      within(client, (own) => lifecycle.deleteUnit(own, requireUnitId(unit), reason)),
    restore: (unit, { client } = {}) =>
      within(client, (own) => lifecycle.restoreUnit(own, requireUnitId(unit))),
    changeKind: (unit, change, { client } = {}) =>
      deciding(client, (own) => lifecycle.changeKind(own, requireUnitId(unit), change)),
    read: (name, { client, ...moment } = {}) =>
      within(client, (own) =>
        units.readUnit(own, typeof name === 'string' ? { unit_id: name } : name, moment),
      ),
    list: (filter) => statement((client) => units.listUnits(client, filter)),
    history: (unit, page) => worker((client) => history.unitHistory(client, requireUnitId(unit), page)),
    diff: (unit, versions) => statement((client) => history.diffUnit(client, requireUnitId(unit), versions)),
    check: (which) =>
      worker(async (client) => {
        const ids =
          'workspace_id' in which
            ? await lifecycle.unitsToCheck(client, which.workspace_id, which.limit)
            : which
        return lifecycle.checkUnits(client, ids)
      }),
  }
}

export function topicsLibrary({ statement }: Pick<Surroundings, 'statement'>): Topics {
  return {
    list: (workspace, page) => statement((client) => edges.listTopics(client, workspace, page)),
    create: (workspace, label, description) =>
      statement((client) => edges.createTopic(client, workspace, label, description)),
    retire: (workspace, label) => statement((client) => edges.retireTopic(client, workspace, label)),
  }
}

export function documentsLibrary({ worker }: Pick<Surroundings, 'worker'>): Documents {
  return {
    list: (filter) => worker((client) => cuts.listDocuments(client, filter)),
    get: (document, page) => worker((client) => cuts.readDocument(client, document, page)),
  }
}
