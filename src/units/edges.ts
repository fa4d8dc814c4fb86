/** Edges from units to units, or to whatever else a reference names. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { ActingFor } from './units.ts'

export interface AddedEdge {
  readonly edge_id: string
  /** Unverified: what it names is not there (yet). The checker looks again. */
  readonly edge_status: 'verified' | 'unverified'
  /** False: there was this very edge. */
  readonly created: boolean
}

export interface Edge {
  readonly edge_id: string
  readonly edge_type: string
  readonly from_unit_id: string
  readonly from_address: string
  readonly target_ref: string
  readonly to_unit_id: string | null
  readonly to_address: string | null
  readonly edge_status: 'verified' | 'unverified'
  readonly created_by: string
  readonly created_at: Date
}

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

export async function removeEdge(db: Queryable, edge: string): Promise<void> {
  await db.query('select iu_core.fn_unit_edge_remove($1)', [edge])
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
  /** Where the next page goes on; null: nothing is left. */
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
