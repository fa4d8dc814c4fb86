/** What a program does with units, topics and documents. */
import type { Client } from '../db/connection.ts'
import * as checks from './checks.ts'
import { type Transaction, withConflictDiff } from './conflicts.ts'
import * as documents from './documents.ts'
import * as edges from './edges.ts'
import * as history from './history.ts'
import * as lifecycle from './lifecycle.ts'
import { requireUnitId, requireWorkspaceId } from './names.ts'
import * as reading from './reading.ts'
import * as topics from './topics.ts'
import * as units from './units.ts'

/** In your own transaction: rolled back, nothing was written. Its role must be able to. */
interface Within {
  readonly client?: Client
}

type Decided = lifecycle.Decision & { readonly decidedBy: string }

/** Acts as the back end (dot_executor; service_role where it names who decided). What people do goes through the API, under their own role. */
export interface Units {
  create(workspace: string, unit: units.NewUnit, options?: Within): Promise<units.BornUnit>
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
  /** Merged at the top level; null takes a key away. Returns the whole profile. */
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
  removeEdge(edge: string, options?: Within): Promise<void>
  /** In pages. Throws unit_unknown. */
  edges(unit: string, page?: edges.EdgePage): Promise<edges.UnitEdges>
  /** Into another container, or with null out of all. */
  move(unit: string, container: string | null, options?: Within & { position?: number }): Promise<void>
  reorder(container: string, order: readonly string[], options?: Within): Promise<void>
  /** A person decides: `decidedBy` names them. So it is for the two after it. */
  enact(unit: string, approval: Decided & { expected_version: number }, options?: Within): Promise<void>
  supersede(unit: string, by: Decided & { successor: string }, options?: Within): Promise<void>
  /** U3, under an approval of its own. */
  amendKind(unit: string, amendment: Decided & { unit_kind: string }, options?: Within): Promise<void>
  /** Retired, with its parts in its place. A person decides: `decidedBy` names them. */
  split(
    unit: string,
    into: Parameters<typeof lifecycle.splitUnit>[2] & { decidedBy: string },
    options?: Within,
  ): Promise<lifecycle.ExchangedUnit[]>
  /** Retired, with one in their place. */
  merge(merge: lifecycle.Merge & { decidedBy: string }, options?: Within): Promise<lifecycle.ExchangedUnit>
  retire(unit: string, options?: Within & { reason?: string }): Promise<void>
  delete(unit: string, options?: Within & { reason?: string }): Promise<void>
  restore(unit: string, options?: Within): Promise<void>
  /** As it is, in a version, or as of a time. Throws unit_unknown. */
  read(name: string | reading.UnitName, moment?: reading.UnitMoment & Within): Promise<reading.UnitDetail>
  list(filter?: reading.UnitFilter): Promise<reading.UnitRecord[]>
  history(unit: string, page?: history.HistoryPage): Promise<history.UnitHistory>
  /** Without versions: what the current one changed. */
  diff(unit: string, versions?: { from?: number; to?: number }): Promise<history.UnitDiff>
  /** The checker's word on these, or on all of the workspace that are due. */
  check(which: readonly string[] | { workspace_id: string; limit?: number }): Promise<checks.CheckedUnit[]>
}

export interface Topics {
  /** Those of the workspace and those of all. */
  list(workspace?: string, page?: topics.TopicPage): Promise<topics.Topic[]>
  /** With null for every workspace. A retired one comes back. */
  add(workspace: string | null, label: string, description?: string): Promise<void>
  /** Units that carry it keep it; no other gets it. */
  retire(workspace: string | null, label: string): Promise<void>
}

export interface Documents {
  list(filter?: documents.DocumentFilter): Promise<documents.KnownDocument[]>
  /** With its text, and which unit holds which piece. Throws document_unknown. */
  get(document: string, page?: documents.MapPage): Promise<documents.DocumentDetail>
}

interface Surroundings {
  readonly worker: Transaction
  /** For a single statement, which needs no transaction around it. */
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
    removeEdge: (edge, { client } = {}) => within(client, (own) => edges.removeEdge(own, edge)),
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
    amendKind: (unit, amendment, { client } = {}) =>
      deciding(client, (own) => lifecycle.amendKind(own, requireUnitId(unit), amendment)),
    read: (name, { client, ...moment } = {}) =>
      within(client, (own) =>
        reading.readUnit(own, typeof name === 'string' ? { unit_id: name } : name, moment),
      ),
    list: (filter) => statement((client) => reading.listUnits(client, filter)),
    history: (unit, page) => worker((client) => history.unitHistory(client, requireUnitId(unit), page)),
    diff: (unit, versions) => statement((client) => history.diffUnit(client, requireUnitId(unit), versions)),
    check: (which) =>
      worker(async (client) => {
        const ids =
          'workspace_id' in which ? await checks.unitsToCheck(client, which.workspace_id, which.limit) : which
        return checks.checkUnits(client, ids)
      }),
  }
}

export function topicsLibrary({ statement }: Pick<Surroundings, 'statement'>): Topics {
  return {
    list: (workspace, page) => statement((client) => topics.listTopics(client, workspace, page)),
    add: (workspace, label, description) =>
      statement((client) => topics.addTopic(client, workspace, label, description)),
    retire: (workspace, label) => statement((client) => topics.retireTopic(client, workspace, label)),
  }
}

export function documentsLibrary({ worker }: Pick<Surroundings, 'worker'>): Documents {
  return {
    list: (filter) => worker((client) => documents.listDocuments(client, filter)),
    get: (document, page) => worker((client) => documents.readDocument(client, document, page)),
  }
}
