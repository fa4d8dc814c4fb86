/** Units, edges and containers as the tests of them need them. */
import { beforeAll } from 'vitest'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import type { TestDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

export interface Made {
  kind?: string
  body?: string
  container?: string
  profile?: object
  workspace?: string
}

export interface UnitEvent {
  type: string
  event_subject_ref: string
  canonical_address: string
  workspace_id: string
  actor: string
  safe_payload: Record<string, unknown>
}

interface Cast {
  readonly workspace: string
  readonly other: string
  readonly operator: Member
  readonly reviewer: Member
  readonly admin: Member
  /** Administrator of the other workspace. */
  readonly outsider: Member
}

export interface Graph extends Cast {
  /** A unit with this address. Returns its id. */
  unit(address: string, made?: Made): Promise<string>
  /** One function, as the operator or somebody else; its row. */
  call<R extends object>(sql: string, values: readonly unknown[], caller?: Caller): Promise<R>
  move(unit: string, container: string | null, position?: number): Promise<unknown>
  edge(
    from: string,
    target: string,
    type?: string,
  ): Promise<{ edge_id: string; edge_status: string; created: boolean }>
  retire(unit: string): Promise<unknown>
  enact(unit: string): Promise<unknown>
  check(
    ...units: string[]
  ): Promise<{ unit_id: string; conformance: string; drift: string; findings: object[] }[]>
  /** Addresses in a container, in their order. */
  inside(container: string): Promise<string[]>
  row(unit: string): Promise<Record<string, unknown>>
  events(...types: string[]): Promise<UnitEvent[]>
}

export function useGraph(db: TestDatabase): Graph {
  let cast: Cast
  beforeAll(async () => {
    const workspace = await createWorkspace(db)
    const other = await createWorkspace(db, 'Other')
    cast = {
      workspace,
      other,
      operator: await createMember(db, workspace, 'operator'),
      reviewer: await createMember(db, workspace, 'reviewer'),
      admin: await createMember(db, workspace, 'admin'),
      outsider: await createMember(db, other, 'admin'),
    }
  })
  const checker = db.pool.bind(db, 'stagedoor_worker')
  const graph: Graph = {
    get workspace() {
      return cast.workspace
    },
    get other() {
      return cast.other
    },
    get operator() {
      return cast.operator
    },
    get reviewer() {
      return cast.reviewer
    },
    get admin() {
      return cast.admin
    },
    get outsider() {
      return cast.outsider
    },
    async unit(address: string, { kind, body, container, profile, workspace }: Made = {}) {
      const { rows } = await checker().query<{ unit_id: string }>(
        `select unit_id from iu_core.fn_unit_create($1, $2, $3, null, $4, p_container_id => $5, p_profile => $6)`,
        [
          workspace ?? graph.workspace,
          address,
          body ?? `# ${address}`,
          kind ?? 'note',
          container ?? null,
          JSON.stringify(profile ?? {}),
        ],
      )
      return rows[0]!.unit_id
    },
    call: <R extends object>(sql: string, values: readonly unknown[], caller: Caller = graph.operator) =>
      db.as(caller, async (client: Client) => (await client.query(sql, [...values])).rows[0] as R),
    move: (unit: string, container: string | null, position?: number) =>
      graph.call('select iu_core.fn_unit_move($1, $2, $3)', [unit, container, position ?? null]),
    edge: (from: string, target: string, type = 'refers_to') =>
      graph.call<{ edge_id: string; edge_status: string; created: boolean }>(
        'select * from iu_core.fn_unit_edge_add($1, $2, $3)',
        [from, type, target],
      ),
    retire: (unit: string) => graph.call('select iu_core.fn_unit_retire($1)', [unit], graph.reviewer),
    enact: (unit: string) =>
      graph.call(
        `select iu_core.fn_unit_enact($1, (select version_no from iu_core.information_unit where unit_id = $1), 'apr-1')`,
        [unit],
        graph.reviewer,
      ),
    check: async (...units: string[]) =>
      (await checker().query('select * from iu_core.fn_unit_check($1)', [units])).rows,
    inside: async (container: string) =>
      (
        await db.owner<{ canonical_address: string }>(
          `select canonical_address from iu_core.information_unit
            where container_id = $1 and deleted_at is null and lifecycle_status in ('draft', 'enacted')
            order by position, unit_id`,
          [container],
        )
      ).map((unit) => unit.canonical_address),
    row: async (unit: string) =>
      (await db.owner('select * from iu_core.information_unit where unit_id = $1', [unit]))[0]!,
    events: (...types: string[]) =>
      db.owner<UnitEvent & Record<string, unknown>>(
        `select event_domain || '.' || event_type as type, event_subject_ref, canonical_address, workspace_id, actor, safe_payload
           from iu_core.event_outbox where event_domain || '.' || event_type = any ($1) order by seq`,
        [types],
      ),
  }
  return graph
}
