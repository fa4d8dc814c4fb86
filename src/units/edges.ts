/** Edges from units to units, or to whatever else a reference names. */
import type { Queryable } from '../db/connection.ts'

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
): Promise<AddedEdge> {
  const { rows } = await db.query<AddedEdge>('select * from iu_core.fn_unit_edge_add($1, $2, $3)', [
    unit,
    edge.edge_type,
    edge.target,
  ])
  return rows[0]!
}

export async function removeEdge(db: Queryable, edge: string): Promise<void> {
  await db.query('select iu_core.fn_unit_edge_remove($1)', [edge])
}

/** From it and to it. */
export async function unitEdges(db: Queryable, unit: string): Promise<{ out: Edge[]; in: Edge[] }> {
  const { rows } = await db.query<Edge>(
    `select e.edge_id, e.edge_type, e.from_unit_id, f.canonical_address as from_address, e.target_ref, e.to_unit_id,
            t.canonical_address as to_address, e.edge_status, e.created_by, e.created_at
       from iu_core.universal_edges e
       join iu_core.information_unit f on f.unit_id = e.from_unit_id
       left join iu_core.information_unit t on t.unit_id = e.to_unit_id
      where e.from_unit_id = $1 or e.to_unit_id = $1
      order by e.edge_type, e.target_ref, e.edge_id`,
    [unit],
  )
  return {
    out: rows.filter(({ from_unit_id }) => from_unit_id === unit),
    in: rows.filter(({ to_unit_id }) => to_unit_id === unit),
  }
}
