/**
 * The floor: the same rows in the same tables by plain SQL of their owner, statement by statement in a transaction for each
 * operation. Constraints and guards are there; nobody asks who acts, and hashes and slices are ready-made.
 */
import { createHash, randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Figures, Task } from '../benchmark.ts'
import { work } from './clients.ts'
import { READ } from './functions.ts'

const VERSION = `insert into iu_core.unit_version (unit_version_id, unit_id, version_no, unit_kind, title, body, content_hash, edited_by)
  values ($1, $2, $3, 'note', $4, $5, $6, 'bench')`
const UNIT = `insert into iu_core.information_unit (
    unit_id, workspace_id, canonical_address, unit_kind, source_ref, owner_actor, current_version_id, content_hash, title, content_profile)
  values ($1, $2, $3, 'note', 'bench', 'bench', $4, $5, $6, '{"topic": "bench"}')`
const OUTBOX = `insert into iu_core.vector_outbox as o (unit_id, operation, content_hash, earliest_run_at)
  values ($1, 'upsert', $2, now() + interval '120 seconds')
  on conflict (unit_id) where unit_id is not null do update
     set content_hash = excluded.content_hash, generation = o.generation + 1, earliest_run_at = excluded.earliest_run_at, changed_at = now()`
const EVENT = `insert into iu_core.event_outbox (
    id, event_domain, event_type, event_stream, event_subject_ref, workspace_id, correlation_id, actor, safe_payload)
  select e, $1, $2, 'note', $3, $4, e, 'bench', $5::jsonb from iu_core.fn_time_uuid() as e`
const CURRENT = `update iu_core.information_unit set current_version_id = $2, version_no = $3, content_hash = $4, changed_at = now()
  where unit_id = $1`
const PROFILE = `update iu_core.information_unit set content_profile = content_profile || $2::jsonb, changed_at = now() where unit_id = $1`
const EDGE = `insert into iu_core.universal_edges (workspace_id, from_unit_id, edge_type, target_ref, to_unit_id, edge_status, created_by)
  select $1, $2, 'follows', $3, u.unit_id, case when u.unit_id is null then 'unverified' else 'verified' end, 'bench'
    from (values (1)) as one left join iu_core.information_unit u on u.workspace_id = $1 and u.canonical_address = $3`

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export const byPlainSql = (task: Task): Promise<Figures> =>
  work(
    task,
    (client, workspace) => {
      const event = (query: Query, [domain, type]: [string, string], id: string, payload: object) =>
        query('event', EVENT, [domain, type, id, workspace, JSON.stringify({ unit_id: id, ...payload })])
      return {
        create: ({ address, body }) =>
          transaction(client, async (query) => {
            const [id, version, hash] = [randomUUID(), randomUUID(), hashOf(body)]
            const title = body.slice(0, 100)
            await query('version', VERSION, [version, id, 1, title, body, hash])
            await query('unit', UNIT, [id, workspace, address, version, hash, title])
            await query('outbox', OUTBOX, [id, hash])
            await event(query, ['birth_registry', 'entity_born'], id, { content_hash: hash })
            return id
          }),
        slice: ({ id, body }, text) =>
          transaction(client, async (query) => {
            const now = `${body.slice(0, 10)}${text}${body.slice(20)}`
            const [version, hash] = [randomUUID(), hashOf(now)]
            await query('version', VERSION, [version, id, 2, body.slice(0, 100), now, hash])
            await query('current', CURRENT, [id, version, 2, hash])
            await query('outbox', OUTBOX, [id, hash])
            await event(query, ['iu', 'unit_versioned'], id, { content_hash: hash })
          }),
        profile: ({ id }, profile) =>
          transaction(client, async (query) => {
            await query('profile', PROFILE, [id, JSON.stringify(profile)])
            await event(query, ['iu', 'unit_profile_changed'], id, { keys: Object.keys(profile) })
          }),
        edge: ({ id }, target) =>
          transaction(client, async (query) => {
            await query('edge', EDGE, [workspace, id, target])
            await event(query, ['iu', 'edge_added'], id, { edge_type: 'follows' })
          }),
        read: async ({ id }) => (await client.query({ ...READ, values: [id] })).rows[0].body,
      }
    },
    true,
  )

type Query = (name: string, text: string, values: unknown[]) => Promise<pg.QueryResult>

async function transaction<T>(client: pg.Client, act: (query: Query) => Promise<T>): Promise<T> {
  await client.query('begin')
  const result = await act((name, text, values) => client.query({ name, text, values }))
  await client.query('commit')
  return result
}
