/** Records for tests, made with the SQL functions alone, and ways to let time pass. */
import type pg from 'pg'
import type { Queryable } from '../../src/kernel/postgres/connection.ts'

export type Json = string

export interface Staging {
  readonly workspace: string | null
  readonly kind?: string | null
  readonly type?: string | null
  readonly purpose?: string | null
  /** Each is the text of a JSON object. */
  readonly parts?: readonly (Json | null)[] | null
  readonly owner?: string | null
  readonly sourceKind?: string | null
  readonly key?: string | null
  readonly expires?: string | null
  readonly metadata?: Json | null
}

export interface Staged {
  readonly staging_record_id: string
  readonly lifecycle_status: string
  readonly content_hash: string
  readonly created: boolean
}

export const jsonPart = (json: Json, name = 'manifest'): Json =>
  `{"part_name": ${JSON.stringify(name)}, "payload_kind": "json", "payload_json": ${json}}`

export const textPart = (text: string, name = 'commentary'): Json =>
  JSON.stringify({ part_name: name, payload_kind: 'text', payload_text: text })

/** By default a mark_manifest with one JSON part: a report, since a manifest itself must be one. */
export async function stage(client: Queryable, what: Staging): Promise<Staged> {
  const { rows } = await client.query<Staged>(
    `select * from iu_core.fn_iu_staging_create(
       p_staging_kind => $1, p_payload_type => $2, p_purpose => $3, p_parts => $4, p_workspace_id => $5,
       p_owner_actor => $6, p_source_kind => $7, p_idempotency_key => $8, p_expires_at => $9, p_metadata => $10)`,
    [
      or(what.kind, 'mark_manifest'),
      or(what.type, 'mark_report'),
      or(what.purpose, 'for a test'),
      or(what.parts, [jsonPart('{"rows": 3}')]),
      what.workspace,
      what.owner,
      what.sourceKind,
      what.key,
      what.expires,
      what.metadata,
    ],
  )
  return rows[0]!
}

/** A given null stays null. */
const or = <T>(given: T | undefined, otherwise: T): T => (given === undefined ? otherwise : given)

/** A review package of three parts, whose checklist has two required items, sources and totals. */
export const PACKAGE = {
  kind: 'review_package',
  type: 'review_bundle',
  parts: [
    jsonPart('{"rows": 3, "spend": 12.50}'),
    textPart('Spend jumped on Tuesday.'),
    jsonPart(
      '{"items": ["sources", {"id": "totals", "text": "Totals agree"}, {"id": "nice", "required": false}]}',
      'checklist',
    ),
  ],
} as const

/** A kind that needs no approval, with a checklist that may be ticked all the same. */
export const INTERMEDIATE = {
  kind: 'agent_intermediate',
  type: 'nosql_payload',
  parts: [jsonPart('{"draft": 1}', 'draft'), jsonPart('["read"]', 'checklist')],
} as const

export async function startRun(client: Queryable, workspace: string | null): Promise<string> {
  const { rows } = await client.query<{ run: string }>(
    `select iu_core.fn_command_run_start('a test', p_workspace_id => $1) as run`,
    [workspace],
  )
  return rows[0]!.run
}

/** Two hours past its expiry, though nobody changes a record's expiry. */
export async function passExpiry(intruder: pg.Client, id: string): Promise<void> {
  await intruder.query(
    `update iu_core.iu_staging_record
        set created_at = least(created_at, clock_timestamp() - interval '3 hours'),
            expires_at = clock_timestamp() - interval '2 hours'
      where staging_record_id = $1`,
    [id],
  )
}

export async function passRetention(intruder: pg.Client, id: string): Promise<void> {
  await intruder.query(
    `update iu_core.iu_staging_record set retain_until = clock_timestamp() - interval '1 second'
      where staging_record_id = $1 and retain_until is not null`,
    [id],
  )
}

export interface StagingEvent {
  readonly event_type: string
  readonly actor: string
  readonly actor_via: string | null
  readonly safe_payload: Record<string, unknown>
}

/** The events of a record in the order in which they were written. */
export async function eventsOf(client: Queryable, id: string): Promise<StagingEvent[]> {
  const { rows } = await client.query<StagingEvent>(
    `select event_type, actor, actor_via, safe_payload from iu_core.event_outbox
      where event_domain = 'staging' and event_subject_ref = $1 order by seq`,
    [id],
  )
  return rows
}
