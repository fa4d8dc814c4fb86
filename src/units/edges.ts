/** Edges from units to units, or to other references; and topics, the labels that units may carry. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import type { AddedEdge, Edge, Topic } from './shapes.ts'
import type { ActingFor } from './units.ts'

export type { AddedEdge, Edge, Topic } from './shapes.ts'

/** `target` is an address in the same workspace, the id of a unit, or any other reference. */
export async function addEdge(
  db: Queryable,
  unit: string,
  edge: { edge_type: string; target: string },
  { actor }: ActingFor = {},
): Promise<AddedEdge> {
  const { rows } = await db.query<AddedEdge>('select * from iu_core.fn_unit_edge_add($1, $2, $3, $4)', [
    unit,
    edge.edge_type,
    edge.target,
    actor ?? null,
  ])
  return rows[0]!
}

export async function deleteEdge(db: Queryable, edge: string): Promise<void> {
  await db.query('select iu_core.fn_unit_edge_delete($1)', [edge])
}

export interface EdgePage {
  /** Of both directions together; default 200. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string
}

export interface UnitEdges {
  readonly out: Edge[]
  readonly in: Edge[]
  /** The start of the next page; null: this is the last one. */
  readonly next: string | null
}

/** From it and to it, by type and target. */
export async function unitEdges(
  db: Queryable,
  unit: string,
  { limit = 200, after }: EdgePage = {},
): Promise<UnitEdges> {
  const { rows } = await db.query<Edge>(
    `select e.edge_id, e.edge_type, e.from_unit_id, f.canonical_address as from_address, e.target_ref, e.to_unit_id,
            t.canonical_address as to_address, e.edge_status, e.created_by, e.created_at
       from iu_core.universal_edges e
       join iu_core.information_unit f on f.unit_id = e.from_unit_id
       left join iu_core.information_unit t on t.unit_id = e.to_unit_id
      where (e.from_unit_id = $1 or e.to_unit_id = $1)
        and ($3::uuid is null or (e.edge_type, e.target_ref, e.edge_id) >
             (select a.edge_type, a.target_ref, a.edge_id from iu_core.universal_edges a where a.edge_id = $3))
      order by e.edge_type, e.target_ref, e.edge_id limit $2`,
    [unit, limit + 1, after ?? null],
  )
  if (rows.length === 0) await requireUnit(db, unit)
  const page = rows.slice(0, limit)
  return {
    out: page.filter(({ from_unit_id }) => from_unit_id === unit),
    in: page.filter(({ to_unit_id }) => to_unit_id === unit),
    next: rows.length > limit ? page.at(-1)!.edge_id : null,
  }
}

async function requireUnit(db: Queryable, unit: string): Promise<void> {
  const { rows } = await db.query('select from iu_core.information_unit where unit_id = $1', [unit])
  if (rows.length === 0) throw new StagedoorError('unit_unknown', { unit })
}

// Topics.

export interface TopicPage {
  /** Default 200. */
  readonly limit?: number | undefined
  /** The id of the last of the page before. */
  readonly after?: string | undefined
}

/** Those of the workspace and those of all, by label; as far as the caller may see. */
export async function listTopics(
  db: Queryable,
  workspace?: string,
  { limit = 200, after }: TopicPage = {},
): Promise<Topic[]> {
  const { rows } = await db.query<Topic>(
    `with page as materialized (
       select * from iu_core.topic_vocabulary t
        where ($1::uuid is null or t.workspace_id is null or t.workspace_id = $1)
          and ($3::uuid is null or (t.topic_label, t.topic_id) >
               (select a.topic_label, a.topic_id from iu_core.topic_vocabulary a where a.topic_id = $3))
        order by t.topic_label, t.topic_id limit $2)
     select t.topic_id, t.workspace_id, t.topic_label, t.description, t.retired_at, t.registered_by, t.registered_at,
            (select count(*)::int from iu_core.information_unit u
              where u.content_profile ? 'topic_labels' and u.content_profile -> 'topic_labels' @> to_jsonb(t.topic_label)
                and u.deleted_at is null and (t.workspace_id is null or u.workspace_id = t.workspace_id)) as units
       from page t order by t.topic_label, t.topic_id`,
    [workspace ?? null, limit, after ?? null],
  )
  return rows
}

/** Registers a topic again if it was retired. `null`: for every workspace, which only the back end may do. */
export async function createTopic(
  db: Queryable,
  workspace: string | null,
  label: string,
  description?: string,
): Promise<void> {
  await db.query('select iu_core.fn_topic_add($1, $2, $3)', [workspace, label, description ?? null])
}

export async function retireTopic(db: Queryable, workspace: string | null, label: string): Promise<void> {
  await db.query('select iu_core.fn_topic_retire($1, $2)', [workspace, label])
}
