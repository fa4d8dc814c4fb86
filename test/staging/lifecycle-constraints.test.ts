/** What the tables refuse on their own, tried by direct SQL as their owner: no function stands in between. */
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Workplace, workplace } from './people.ts'
import { PACKAGE, stage, startRun } from './staged.ts'

const db = useDatabase()
let place: Workplace
let run: string

beforeAll(async () => {
  place = await workplace(db)
  run = await startRun(place.service.session, place.workspace)
})

const HASH = `repeat('a', 64)`
/** A sound record; a case replaces columns by SQL expressions. */
const RECORD: Record<string, string> = {
  staging_kind: `'sql_snapshot'`,
  payload_type: `'sql_result_snapshot'`,
  purpose: `'a test'`,
  owner_actor: `'ada'`,
  source_kind: `'user'`,
  idempotency_key: `gen_random_uuid()::text`,
  content_hash: HASH,
  byte_len: '2',
  part_count: '1',
  part_digests: `'[]'`,
  approval_required: 'true',
  four_eyes: 'true',
  checklist_required: 'false',
  expires_at: `now() + interval '1 day'`,
}
const PAYLOAD: Record<string, string> = {
  part_index: '0',
  part_name: `'rows'`,
  payload_kind: `'json'`,
  payload_json: `'{}'`,
  byte_len: '2',
  content_hash: HASH,
}

async function insert(table: string, row: Record<string, string>): Promise<string> {
  const sql = `insert into iu_core.${table} (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
  return sqlstateOf(db.owner(sql))
}

/** The name of the constraint that refused. */
async function refusedBy(table: string, row: Record<string, string>): Promise<string> {
  const columns = Object.keys(row).join(', ')
  try {
    await db.owner(`insert into iu_core.${table} (${columns}) values (${Object.values(row).join(', ')})`)
  } catch (error) {
    return (
      (error as { constraint?: string; column?: string }).constraint ??
      `not null: ${(error as { column: string }).column}`
    )
  }
  return 'not refused'
}

const APPROVED = { approved_at: 'now()', approved_by: `'grace'` }
const REJECTED = { rejected_at: 'now()', rejected_by: `'grace'`, rejected_reason: `'no'` }
const CONSUMED = { consumed_at: 'now()', consumed_by_run_id: '$run' }
const RETAINED = { retain_until: `now() + interval '7 days'` }
const status = (name: string) => ({ lifecycle_status: `'${name}'` })
/** Only a run that exists may be named. */
const withRun = (row: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, value.replace('$run', `'${run}'`)]),
  )

describe('a record that is sound is taken', () => {
  it.each<[string, Record<string, string>]>([
    ['pending', {}],
    ['approved', { ...status('approved'), ...APPROVED }],
    [
      'approved by a service for somebody',
      { ...status('approved'), ...APPROVED, approved_via: `'importer'`, approval_doc_id: `'7'` },
    ],
    ['consumed after approval', { ...status('consumed'), ...APPROVED, ...CONSUMED, ...RETAINED }],
    [
      'consumed without approval where none is required',
      { ...status('consumed'), ...CONSUMED, ...RETAINED, approval_required: 'false' },
    ],
    ['rejected', { ...status('rejected'), ...REJECTED, ...RETAINED }],
    ['expired', { ...status('expired'), expired_at: 'now()', ...RETAINED }],
    ['expired after approval', { ...status('expired'), ...APPROVED, expired_at: 'now()', ...RETAINED }],
    ['cleaned', { ...status('cleaned'), ...APPROVED, ...CONSUMED, ...RETAINED, cleaned_at: 'now()' }],
    [
      'approved by its owner where four-eyes is off',
      { ...status('approved'), ...APPROVED, approved_by: `'ada'`, four_eyes: 'false' },
    ],
    [
      'with metadata and references',
      { metadata: `'{"a": 1}'`, referenced_iu_ids: 'array[gen_random_uuid()]' },
    ],
  ])('%s', async (_, changes) => {
    expect(await insert('iu_staging_record', { ...RECORD, ...withRun(changes) })).toBe('not refused')
  })
})

const IS = 'iu_staging_record'
describe('a record is refused', () => {
  it.each<[string, string, Record<string, string>]>([
    ['not excluded from vectors', `${IS}_never_in_vectors`, { vector_excluded: 'false' }],
    ['of an unknown status', `${IS}_status_known`, status('lost')],
    ['of a kind that does not take its type', `${IS}_kind_takes_type`, { payload_type: `'manifest_json'` }],
    ['of an unknown kind', `${IS}_kind_takes_type`, { staging_kind: `'misc'` }],
    ['with a blank purpose', `${IS}_purpose_not_blank`, { purpose: `'  '` }],
    ['of an unknown source', `${IS}_source_kind_known`, { source_kind: `'rumour'` }],
    ['with a hash that is not sha-256', `${IS}_hash_sha256`, { content_hash: `'abc'` }],
    ['with a hash in capitals', `${IS}_hash_sha256`, { content_hash: `repeat('A', 64)` }],
    ['with a negative length', `${IS}_length_not_negative`, { byte_len: '-1' }],
    ['without parts', `${IS}_parts_some`, { part_count: '0' }],
    ['with 101 parts', `${IS}_parts_some`, { part_count: '101' }],
    ['with metadata that is an array', `${IS}_metadata_object`, { metadata: `'[]'` }],
    [
      'that expires before it was created',
      `${IS}_expires_after_create`,
      { expires_at: `now() - interval '1 s'` },
    ],
    ['that never expires', `${IS}_expires_after_create`, { expires_at: `'infinity'` }],
    ['pending with an approval', `${IS}_pending_is_undecided`, APPROVED],
    ['pending with a rejection', `${IS}_pending_is_undecided`, { ...REJECTED, ...RETAINED }],
    ['pending with a consumption', `${IS}_consumed_was_approved`, { ...CONSUMED, ...RETAINED }],
    [
      'pending with a consumption that needs no approval',
      `${IS}_pending_is_undecided`,
      { ...CONSUMED, ...RETAINED, approval_required: 'false' },
    ],
    ['pending with an expiry stamp', `${IS}_pending_is_undecided`, { expired_at: 'now()', ...RETAINED }],
    ['pending with a document of approval', `${IS}_approval_stamps_together`, { approval_doc_id: `'7'` }],
    ['pending with a reason of rejection', `${IS}_rejection_stamps_together`, { rejected_reason: `'no'` }],
    ['pending with the end of its retention', `${IS}_ended_is_retained`, RETAINED],
    ['approved without stamps', `${IS}_approved_has_stamps`, status('approved')],
    [
      'approved at a time by nobody',
      `${IS}_approval_stamps_together`,
      { ...status('approved'), approved_at: 'now()' },
    ],
    [
      'approved by somebody at no time',
      `${IS}_approval_stamps_together`,
      { ...status('approved'), approved_by: `'grace'` },
    ],
    [
      'approved and consumed already',
      `${IS}_approved_has_stamps`,
      { ...status('approved'), ...APPROVED, ...CONSUMED, ...RETAINED },
    ],
    [
      'approved by its owner',
      `${IS}_four_eyes`,
      { ...status('approved'), ...APPROVED, approved_by: `'ada'` },
    ],
    [
      'approved through its owner',
      `${IS}_four_eyes`,
      { ...status('approved'), ...APPROVED, approved_via: `'ada'` },
    ],
    [
      'approved by whoever staged it for another',
      `${IS}_four_eyes`,
      { ...status('approved'), ...APPROVED, owner_via: `'grace'` },
    ],
    ['rejected without stamps', `${IS}_rejected_has_stamps`, status('rejected')],
    [
      'rejected without a reason',
      `${IS}_rejection_stamps_together`,
      { ...status('rejected'), ...REJECTED, ...RETAINED, rejected_reason: 'null' },
    ],
    [
      'rejected though approved',
      `${IS}_approved_or_rejected`,
      { ...status('rejected'), ...REJECTED, ...APPROVED, ...RETAINED },
    ],
    ['rejected without retention', `${IS}_ended_is_retained`, { ...status('rejected'), ...REJECTED }],
    ['consumed without stamps', `${IS}_consumed_has_stamps`, status('consumed')],
    [
      'consumed by no run',
      `${IS}_consumption_stamps_together`,
      { ...status('consumed'), consumed_at: 'now()', approval_required: 'false', ...RETAINED },
    ],
    ['consumed by a run at no time', `${IS}_consumption_stamps_together`, { consumed_by_run_id: '$run' }],
    [
      'consumed by an unknown run',
      `${IS}_consumed_by_run_id_fkey`,
      {
        ...status('consumed'),
        ...APPROVED,
        consumed_at: 'now()',
        consumed_by_run_id: 'gen_random_uuid()',
        ...RETAINED,
      },
    ],
    [
      'consumed without the approval that it needs',
      `${IS}_consumed_was_approved`,
      { ...status('consumed'), ...CONSUMED, ...RETAINED },
    ],
    [
      'cleaned as if consumed without approval',
      `${IS}_consumed_was_approved`,
      { ...status('cleaned'), ...CONSUMED, ...RETAINED, cleaned_at: 'now()' },
    ],
    ['expired without its stamp', `${IS}_expired_has_stamp`, status('expired')],
    [
      'cleaned without its stamp',
      `${IS}_cleaned_has_stamp`,
      { ...status('cleaned'), ...REJECTED, ...RETAINED },
    ],
    [
      'cleaned though it never ended',
      `${IS}_cleaned_had_ended`,
      { ...status('cleaned'), cleaned_at: 'now()' },
    ],
    [
      'with the stamp of cleaning while it is rejected',
      `${IS}_cleaned_has_stamp`,
      { ...status('rejected'), ...REJECTED, ...RETAINED, cleaned_at: 'now()' },
    ],
    [
      'ended in two ways',
      `${IS}_ends_once`,
      { ...status('expired'), expired_at: 'now()', ...REJECTED, ...RETAINED },
    ],
    ['without an owner', 'not null: owner_actor', { owner_actor: 'null' }],
    ['without an expiry', 'not null: expires_at', { expires_at: 'null' }],
    ['without a key', 'not null: idempotency_key', { idempotency_key: 'null' }],
  ])('%s', async (_, constraint, changes) => {
    expect(await refusedBy('iu_staging_record', { ...RECORD, ...withRun(changes) })).toBe(constraint)
  })

  it('with a key that another record has', async () => {
    await insert('iu_staging_record', { ...RECORD, idempotency_key: `'once'` })
    expect(await refusedBy('iu_staging_record', { ...RECORD, idempotency_key: `'once'` })).toBe(
      'iu_staging_record_key_once',
    )
  })
})

const PAY = 'iu_staging_payload'
describe('a part is refused', () => {
  let record: string
  beforeAll(async () => {
    record = (await stage(place.owner.session, { workspace: place.workspace })).staging_record_id
  })
  const TEXT = { payload_kind: `'text'`, payload_json: 'null', payload_text: `'x'` }

  it.each<[string, string, Record<string, string>]>([
    ['of an unknown kind', `${PAY}_holds_its_kind`, { payload_kind: `'xml'` }],
    ['that holds nothing', `${PAY}_holds_its_kind`, { payload_json: 'null' }],
    ['that holds JSON and text', `${PAY}_holds_its_kind`, { payload_text: `'x'` }],
    ['that holds JSON and a blob', `${PAY}_holds_its_kind`, { blob_ref: `'x'` }],
    ['that says text and holds JSON', `${PAY}_holds_its_kind`, { payload_kind: `'text'` }],
    ['that says text and holds both', `${PAY}_holds_its_kind`, { ...TEXT, payload_json: `'{}'` }],
    ['that says blob and holds text', `${PAY}_holds_its_kind`, { ...TEXT, payload_kind: `'blob_ref'` }],
    [
      'that says blob and holds both',
      `${PAY}_holds_its_kind`,
      { ...TEXT, payload_kind: `'blob_ref'`, blob_ref: `'x'` },
    ],
    [
      'of 10 MiB and a byte of JSON',
      `${PAY}_ten_mebibytes`,
      { payload_json: `to_jsonb(repeat('x', 10485759))`, byte_len: '10485761' },
    ],
    [
      'of 10 MiB and a byte of text',
      `${PAY}_ten_mebibytes`,
      { ...TEXT, payload_text: `repeat('x', 10485761)`, byte_len: '10485761' },
    ],
    [
      'of a negative length',
      `${PAY}_ten_mebibytes`,
      { payload_kind: `'blob_ref'`, payload_json: 'null', blob_ref: `'b'`, byte_len: '-1' },
    ],
    [
      'of 11 MB of text that says it has a byte',
      `${PAY}_length_measured`,
      { ...TEXT, payload_text: `repeat('x', 11000000)`, byte_len: '1' },
    ],
    ['of JSON that says it has another length', `${PAY}_length_measured`, { byte_len: '3' }],
    [
      'of text measured in characters',
      `${PAY}_length_measured`,
      { ...TEXT, payload_text: `'äöü'`, byte_len: '3' },
    ],
    ['at a negative index', `${PAY}_index_not_negative`, { part_index: '-1' }],
    ['at an index that is taken', `${PAY}_one_index_each`, { part_index: '0' }],
    ['with a blank name', `${PAY}_name_not_blank`, { part_name: `' '` }],
    ['with a hash that is not sha-256', `${PAY}_hash_sha256`, { content_hash: `'x'` }],
    ['of no record', `${PAY}_staging_record_id_fkey`, { staging_record_id: 'gen_random_uuid()' }],
  ])('%s', async (_, constraint, changes) => {
    const row = { staging_record_id: `'${record}'`, ...PAYLOAD, part_index: '7', ...changes }
    expect(await refusedBy('iu_staging_payload', row)).toBe(constraint)
  })

  it.each<[string, Record<string, string>]>([
    [
      '10 MiB of JSON',
      { payload_json: `to_jsonb(repeat('x', 10485758))`, byte_len: '10485760', part_index: '1' },
    ],
    [
      'more than 10 MiB in a blob',
      {
        payload_kind: `'blob_ref'`,
        payload_json: 'null',
        blob_ref: `'b'`,
        byte_len: '10485761',
        part_index: '2',
      },
    ],
  ])('unless it is %s', async (_, changes) => {
    expect(
      await insert('iu_staging_payload', { staging_record_id: `'${record}'`, ...PAYLOAD, ...changes }),
    ).toBe('not refused')
  })
})

it('deletes parts and ticks with their record', async () => {
  const { staging_record_id: id } = await stage(place.owner.session, {
    workspace: place.workspace,
    ...PACKAGE,
  })
  await place.reviewer.session.query(`select iu_core.fn_iu_staging_tick($1, 'totals')`, [id])
  const left = () =>
    db.owner(
      `select (select count(*)::int from iu_core.iu_staging_payload where staging_record_id = $1) as parts,
              (select count(*)::int from iu_core.iu_staging_check where staging_record_id = $1) as ticks`,
      [id],
    )
  expect(await left()).toEqual([{ parts: 3, ticks: 1 }])
  await db.owner('delete from iu_core.iu_staging_record where staging_record_id = $1', [id])
  expect(await left()).toEqual([{ parts: 0, ticks: 0 }])
})
