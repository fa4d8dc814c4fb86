/**
 * The floor: the same rows in the same tables, in as many transactions, by plain INSERT and UPDATE of the owner. Their
 * constraints, indexes, and the trigger that guards the lifecycle are there; digests and decisions are ready-made;
 * nobody asks who acts, whether the gate is open, or whether the bytes are still those that were staged.
 */
import type pg from 'pg'
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { type ReadyRecord, readyRecord } from './records.ts'
import { inParallel, openSessions, type Sessions } from './sessions.ts'

const RECORD = `insert into iu_core.iu_staging_record (
    staging_kind, payload_type, purpose, owner_actor, source_kind, idempotency_key, content_hash, byte_len, part_count,
    part_digests, approval_required, four_eyes, checklist_required, expires_at)
  values ('cut_preview', 'sql_result_snapshot', 'weekly export', 'owner', 'import', $1, $2, $3, 1, $4, true, true, false,
          now() + interval '14 days')
  returning staging_record_id as id`
const APPROVED = `update iu_core.iu_staging_record
    set lifecycle_status = 'approved', approved_at = clock_timestamp(), approved_by = 'reviewer'
  where staging_record_id = $1`
const CONSUMED = `update iu_core.iu_staging_record
    set lifecycle_status = 'consumed', consumed_at = clock_timestamp(), consumed_by_run_id = $2,
        retain_until = clock_timestamp() + interval '30 days'
  where staging_record_id = $1`
const EVENT_COLUMNS = 'id, event_domain, event_type, event_subject_ref, correlation_id, actor, safe_payload'
const payloadRow = (id: string, json: string, bytes: string, hash: string): string =>
  `insert into iu_core.iu_staging_payload (
     staging_record_id, part_index, part_name, payload_kind, payload_json, byte_len, content_hash)
   select ${id}, 0, 'manifest', 'json', ${json}::jsonb, ${bytes}::bigint, ${hash}`
const eventRow = (type: string, id: string, safePayload: string): string =>
  `insert into iu_core.event_outbox (${EVENT_COLUMNS})
   select e, 'staging', '${type}', ${id}::text, e, 'owner', ${safePayload}::jsonb from iu_core.fn_time_uuid() as e`

/** Statement by statement between begin and commit, as people write it. */
const SINGLE = {
  record: RECORD,
  payload: payloadRow('$1::uuid', '$2', '$3', '$4'),
  event: (type: string): string => eventRow(type, '$1', '$2'),
}

/** Each transaction as one statement: nothing is left to save but the rows themselves. */
const WHOLE = {
  create: `with r as (${RECORD}), p as (${payloadRow('id', '$5', '$3', '$6')} from r)
    insert into iu_core.event_outbox (${EVENT_COLUMNS})
    select e, 'staging', 'record_created', id::text, e, 'owner', $7::jsonb
      from r, iu_core.fn_time_uuid() as e
    returning event_subject_ref as id`,
  approve: `with u as (${APPROVED}) ${eventRow('record_approved', '$1::uuid', '$2')}`,
  consume: `with u as (${CONSUMED}) ${eventRow('record_consumed', '$1::uuid', '$3')}`,
}

export const inStatements = (task: Task): Promise<Figures> =>
  floor(task, async (record, { plain, run }) => {
    const rows = await transaction(plain, async (query) => {
      const made = await query('record', SINGLE.record, [
        record.key,
        record.recordHash,
        record.payload.length,
        record.partDigests,
      ])
      const { id } = made.rows[0]
      await query('payload', SINGLE.payload, [id, record.payload, record.payload.length, record.partHash])
      await query('created', SINGLE.event('record_created'), [id, safePayload(record, 'pending')])
      return id as string
    })
    await transaction(plain, async (query) => {
      await query('approve', APPROVED, [rows])
      await query('approved', SINGLE.event('record_approved'), [rows, safePayload(record, 'approved')])
    })
    await transaction(plain, async (query) => {
      await query('consume', CONSUMED, [rows, run])
      await query('consumed', SINGLE.event('record_consumed'), [rows, safePayload(record, 'consumed')])
    })
  })

export const inOneStatement = (task: Task): Promise<Figures> =>
  floor(task, async (record, { plain, run }) => {
    const { rows } = await plain.query({
      name: 'create',
      text: WHOLE.create,
      values: [
        record.key,
        record.recordHash,
        record.payload.length,
        record.partDigests,
        record.payload,
        record.partHash,
        safePayload(record, 'pending'),
      ],
    })
    const { id } = rows[0]
    await plain.query({ name: 'approve', text: WHOLE.approve, values: [id, safePayload(record, 'approved')] })
    await plain.query({
      name: 'consume',
      text: WHOLE.consume,
      values: [id, run, safePayload(record, 'consumed')],
    })
  })

async function floor(
  { database, size }: Task,
  work: (record: ReadyRecord, sessions: Sessions) => Promise<void>,
): Promise<Figures> {
  const records = Array.from({ length: size }, (_, index) => readyRecord(index))
  const sets = await openSessions(database)
  const started = performance.now()
  await inParallel(records, sets, work)
  const elapsed = performance.now() - started
  return { records_per_s: perSecond(size, elapsed), ms: elapsed }
}

type Query = (name: string, text: string, values: unknown[]) => Promise<pg.QueryResult>

async function transaction<T>(client: pg.Client, work: (query: Query) => Promise<T>): Promise<T> {
  await client.query('begin')
  const result = await work((name, text, values) => client.query({ name, text, values }))
  await client.query('commit')
  return result
}

/** What our events carry. */
function safePayload(record: ReadyRecord, status: string): string {
  return JSON.stringify({
    staging_record_id: '00000000-0000-0000-0000-000000000000',
    staging_kind: 'cut_preview',
    payload_type: 'sql_result_snapshot',
    lifecycle_status: status,
    content_hash: record.recordHash,
    part_count: 1,
  })
}
