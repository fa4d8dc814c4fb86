/** The life of a record through the functions alone, and the triggers that hold it also for the owner of the tables. */
import { beforeAll, describe, expect, it } from 'vitest'
import { STAGEABLE_KINDS, STAGEABLE_TYPES } from '../../src/staging/records.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Workplace, workplace } from './people.ts'
import { eventsOf, INTERMEDIATE, PACKAGE, passExpiry, passRetention, stage, startRun } from './staged.ts'

const db = useDatabase()
let place: Workplace
let run: string

beforeAll(async () => {
  place = await workplace(db)
  run = await startRun(place.service.session, place.workspace)
})

const recordOf = async (id: string) =>
  (await db.owner(`select * from iu_core.iu_staging_record where staging_record_id = $1`, [id]))[0]!
const approve = (who: { session: typeof place.intruder }, id: string, digest: string) =>
  who.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [id, digest])
const reject = (id: string, reason = 'wrong week') =>
  place.reviewer.session.query('select iu_core.fn_iu_staging_reject($1, $2)', [id, reason])
const consume = (id: string) =>
  place.operator.session.query('select iu_core.fn_iu_staging_consume($1, $2)', [id, run])
const expire = () => place.worker.session.query('select iu_core.fn_iu_staging_expire()')
const cleanup = async (scope = '{}') =>
  (await place.worker.session.query('select iu_core.fn_iu_staging_cleanup($1) as done', [scope])).rows[0].done

it('goes the whole way: staged by an agent, ticked, approved by another, consumed, cleaned', async () => {
  const { agent, reviewer, operator } = place
  const made = await stage(agent.session, { workspace: place.workspace, ...PACKAGE, sourceKind: 'agent' })
  const id = made.staging_record_id
  expect(await sqlstateOf(approve(reviewer, id, made.content_hash))).toBe('SD509')
  for (const item of ['1', 'totals']) {
    await reviewer.session.query('select iu_core.fn_iu_staging_tick($1, $2)', [id, item])
  }
  await approve(reviewer, id, made.content_hash)
  await consume(id)
  expect(await cleanup()).toMatchObject({ cleaned: 0 })
  await passRetention(place.intruder, id)
  const held = await recordOf(id)
  expect(await cleanup('{"dry_run": true}')).toEqual({
    cleaned: 1,
    parts: 3,
    bytes: Number(held.byte_len),
    dry_run: true,
  })
  expect(await recordOf(id)).toEqual(held)
  expect(await cleanup()).toEqual({ cleaned: 1, parts: 3, bytes: Number(held.byte_len), dry_run: false })

  // The tombstone: nothing is gone but the bytes.
  const tombstone = await recordOf(id)
  expect(tombstone).toEqual({ ...held, lifecycle_status: 'cleaned', cleaned_at: tombstone.cleaned_at })
  expect(tombstone).toMatchObject({
    content_hash: made.content_hash,
    part_count: 3,
    owner_actor: agent.actor,
    approved_by: reviewer.actor,
    consumed_by_run_id: run,
  })
  expect(tombstone.part_digests.map((part: { part_name: string }) => part.part_name)).toEqual([
    'manifest',
    'commentary',
    'checklist',
  ])
  const stamps = [tombstone.created_at, tombstone.approved_at, tombstone.consumed_at, tombstone.cleaned_at]
  expect(stamps).toEqual([...stamps].sort((a, b) => a - b))
  expect(await db.owner('select from iu_core.iu_staging_payload where staging_record_id = $1', [id])).toEqual(
    [],
  )

  const events = await eventsOf(db.pool('postgres'), id)
  expect(events.map(({ event_type, actor }) => [event_type, actor])).toEqual([
    ['record_created', agent.actor],
    ['record_approved', reviewer.actor],
    ['record_consumed', operator.actor],
    ['record_cleaned', 'stagedoor_worker'],
  ])
  // References only: nothing of the payload, the purpose or the metadata.
  expect(Object.keys(events[2]!.safe_payload).sort()).toEqual([
    ...[
      'content_hash',
      'lifecycle_status',
      'part_count',
      'payload_type',
      'run_id',
      'staging_kind',
      'staging_record_id',
    ],
  ])
})

it('says who decided, and when, to whoever comes second', async () => {
  const made = await stage(place.agent.session, { workspace: place.workspace })
  await approve(place.reviewer, made.staging_record_id, made.content_hash)
  const { approved_at } = await recordOf(made.staging_record_id)
  const second = approve(place.owner, made.staging_record_id, made.content_hash)
  const year = (approved_at as Date).getUTCFullYear()
  await expect(second).rejects.toThrow(new RegExp(`already approved by ${place.reviewer.actor} at ${year}-`))
  await expect(reject(made.staging_record_id)).rejects.toThrow(/already approved by/)
})

it('takes no decision for a no: what expired can be neither approved nor consumed, approved before or not', async () => {
  const waiting = await stage(place.agent.session, { workspace: place.workspace })
  const approved = await stage(place.agent.session, { workspace: place.workspace })
  await approve(place.reviewer, approved.staging_record_id, approved.content_hash)
  for (const { staging_record_id } of [waiting, approved]) await passExpiry(place.intruder, staging_record_id)
  // Before anybody has run expire, and after.
  for (const _ of ['overdue', 'expired']) {
    expect(await sqlstateOf(approve(place.reviewer, waiting.staging_record_id, waiting.content_hash))).toBe(
      'SD503',
    )
    expect(await sqlstateOf(reject(waiting.staging_record_id))).toBe('SD503')
    expect(await sqlstateOf(consume(approved.staging_record_id))).toBe('SD503')
    await expire()
  }
  expect(await recordOf(approved.staging_record_id)).toMatchObject({
    lifecycle_status: 'expired',
    approved_by: place.reviewer.actor,
  })
  expect(
    (await eventsOf(db.pool('postgres'), waiting.staging_record_id)).map((event) => event.event_type),
  ).toEqual(['record_created', 'record_expired'])
})

it('expires and cleans the oldest first, a batch a call, until nothing is left', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) {
    const { staging_record_id } = await stage(place.agent.session, { workspace: place.workspace })
    ids.push(staging_record_id)
    await passExpiry(place.intruder, staging_record_id)
  }
  const expireTwo = async () =>
    (await place.worker.session.query('select iu_core.fn_iu_staging_expire(2) as n')).rows[0].n
  expect([await expireTwo(), await expireTwo(), await expireTwo(), await expireTwo()]).toEqual([2, 2, 1, 0])
  for (const id of ids) await passRetention(place.intruder, id)
  const cleanTwo = async () => (await cleanup('{"limit": 2}')).cleaned
  expect([await cleanTwo(), await cleanTwo(), await cleanTwo(), await cleanTwo()]).toEqual([2, 2, 1, 0])
})

it('cleans within its scope only, and only what has ended', async () => {
  const make = async (kind: 'package' | 'intermediate') => {
    const what = kind === 'package' ? PACKAGE : INTERMEDIATE
    const made = await stage(place.agent.session, { workspace: place.workspace, ...what })
    await reject(made.staging_record_id)
    await passRetention(place.intruder, made.staging_record_id)
    return made.staging_record_id
  }
  const [first, second] = [await make('package'), await make('intermediate')]
  const open = await stage(place.agent.session, { workspace: place.workspace })
  const approved = await stage(place.agent.session, { workspace: place.workspace })
  await approve(place.reviewer, approved.staging_record_id, approved.content_hash)
  expect(await cleanup('{"workspace_id": "00000000-0000-0000-0000-000000000000"}')).toMatchObject({
    cleaned: 0,
  })
  expect(await cleanup('{"kinds": ["sql_snapshot"]}')).toMatchObject({ cleaned: 0 })
  expect(await cleanup('{"kinds": ["review_package"]}')).toMatchObject({ cleaned: 1, parts: 3 })
  expect((await recordOf(first)).lifecycle_status).toBe('cleaned')
  expect(await cleanup(JSON.stringify({ workspace_id: place.workspace }))).toMatchObject({
    cleaned: 1,
    parts: 2,
  })
  expect((await recordOf(second)).lifecycle_status).toBe('cleaned')
  expect((await recordOf(open.staging_record_id)).lifecycle_status).toBe('pending')
  expect((await recordOf(approved.staging_record_id)).lifecycle_status).toBe('approved')
})

it('gives the record that exists for the same key and content, also when it has ended', async () => {
  const again = () => stage(place.agent.session, { workspace: place.workspace, key: 'week 32' })
  const first = await again()
  const steps = [
    ['pending', async () => {}],
    ['rejected', () => reject(first.staging_record_id)],
    [
      'cleaned',
      async () => {
        await passRetention(place.intruder, first.staging_record_id)
        await cleanup()
      },
    ],
  ] as const
  for (const [status, step] of steps) {
    await step()
    expect(await again()).toEqual({ ...first, lifecycle_status: status, created: false })
  }
  expect(
    (await stage(place.agent.session, { workspace: place.workspace, key: 'week 32, second try' })).created,
  ).toBe(true)
})

it('unregisters what nobody approved or consumed, with an event, and nothing else', async () => {
  const unregister = (id: string) =>
    place.worker.session.query('select iu_core.fn_iu_staging_unregister($1)', [id])
  const pending = await stage(place.agent.session, { workspace: place.workspace, ...PACKAGE })
  await unregister(pending.staging_record_id)
  expect(
    await db.owner('select from iu_core.iu_staging_record where staging_record_id = $1', [
      pending.staging_record_id,
    ]),
  ).toEqual([])
  expect(
    (await eventsOf(db.pool('postgres'), pending.staging_record_id)).map((event) => event.event_type),
  ).toEqual(['record_created', 'record_unregistered'])
  const approved = await stage(place.agent.session, { workspace: place.workspace })
  await approve(place.reviewer, approved.staging_record_id, approved.content_hash)
  expect(await sqlstateOf(unregister(approved.staging_record_id))).toBe('SD512')
  await passExpiry(place.intruder, approved.staging_record_id)
  await expire()
  expect(await sqlstateOf(unregister(approved.staging_record_id))).toBe('SD512')
  const consumed = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE })
  await consume(consumed.staging_record_id)
  await passRetention(place.intruder, consumed.staging_record_id)
  await cleanup()
  expect(await sqlstateOf(unregister(consumed.staging_record_id))).toBe('SD512')
})

describe('the owner of the tables cannot', () => {
  const STATUSES = ['pending', 'approved', 'consumed', 'rejected', 'expired', 'cleaned']
  const ALLOWED = [
    'pending approved',
    'pending rejected',
    'pending expired',
    'pending consumed',
    'approved consumed',
    'approved expired',
  ]
  const CLEANED = ['consumed cleaned', 'rejected cleaned', 'expired cleaned']
  const CASES = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const))

  /** A record that has really gone to the status. */
  async function recordThatIs(status: string): Promise<string> {
    const made = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE })
    const id = made.staging_record_id
    if (status === 'approved') await approve(place.reviewer, id, made.content_hash)
    if (status === 'consumed') await consume(id)
    if (status === 'rejected' || status === 'cleaned') await reject(id)
    if (status === 'expired') {
      await passExpiry(place.intruder, id)
      await expire()
    }
    if (status === 'cleaned') {
      await passRetention(place.intruder, id)
      await cleanup()
    }
    return id
  }
  const refusedWhenOwnerSets = (id: string, changes: string) =>
    sqlstateOf(db.owner(`update iu_core.iu_staging_record set ${changes} where staging_record_id = $1`, [id]))

  it.each(CASES.filter(([from, to]) => ![...ALLOWED, ...CLEANED].includes(`${from} ${to}`)))(
    'move a record from %s to %s',
    async (from, to) => {
      expect(await refusedWhenOwnerSets(await recordThatIs(from), `lifecycle_status = '${to}'`)).toBe('SD502')
    },
  )

  it.each([...ALLOWED, ...CLEANED].map((pair) => pair.split(' ') as [string, string]))(
    'move a record from %s to %s without the stamps',
    async (from, to) => {
      expect(await refusedWhenOwnerSets(await recordThatIs(from), `lifecycle_status = '${to}'`)).toBe('23514')
    },
  )

  it.each([
    `purpose = 'another'`,
    `owner_actor = 'somebody'`,
    `content_hash = repeat('0', 64)`,
    `part_digests = '[]'`,
    `byte_len = 0`,
    `metadata = '{"a": 1}'`,
    `workspace_id = null`,
    `expires_at = expires_at + interval '1 year'`,
    `created_at = created_at - interval '1 year'`,
    `approval_required = true`,
    `four_eyes = true`,
    `idempotency_key = 'another'`,
    `staging_kind = 'nosql_payload'`,
    `source_ref = 'another'`,
    `referenced_iu_ids = '{}'`,
  ])('change what was staged: %s', async (change) => {
    const to = `lifecycle_status = 'approved', approved_at = now(), approved_by = 'x'`
    expect(await refusedWhenOwnerSets(await recordThatIs('pending'), `${to}, ${change}`)).toBe('SD002')
  })

  it.each([
    [
      'approved',
      'expired',
      `expired_at = now(), retain_until = now(), approved_at = null, approved_by = null`,
    ],
    ['approved', 'expired', `expired_at = now(), retain_until = now(), approved_by = 'somebody'`],
    ['approved', 'expired', `expired_at = now(), retain_until = now(), approval_doc_id = 'another'`],
    ['rejected', 'cleaned', `cleaned_at = now(), rejected_reason = 'another'`],
    [
      'rejected',
      'cleaned',
      `cleaned_at = now(), rejected_at = null, rejected_by = null, rejected_reason = null, expired_at = now()`,
    ],
    ['consumed', 'cleaned', `cleaned_at = now(), consumed_at = now()`],
    ['expired', 'cleaned', `cleaned_at = now(), expired_at = now()`],
    ['expired', 'cleaned', `cleaned_at = now(), retain_until = now()`],
  ])('erase or change a stamp from %s to %s: %s', async (from, to, change) => {
    expect(
      await refusedWhenOwnerSets(await recordThatIs(from), `lifecycle_status = '${to}', ${change}`),
    ).toBe('SD002')
  })

  it.each([
    `payload_json = '{"draft": 2}'`,
    `part_name = 'x'`,
    `content_hash = repeat('0', 64)`,
    'byte_len = byte_len',
  ])('change a part: %s', async (change) => {
    const id = await recordThatIs('pending')
    expect(
      await sqlstateOf(
        db.owner(`update iu_core.iu_staging_payload set ${change} where staging_record_id = $1`, [id]),
      ),
    ).toBe('SD002')
  })
})

describe('is pinned: adding one is a migration and a change of this test', () => {
  const KINDS_AND_TYPES = {
    agent_intermediate: ['composition_draft', 'mark_report', 'nosql_payload', 'source_excerpt'],
    cut_preview: ['import_preview', 'sql_result_snapshot'],
    draft_iu_composition: ['composition_draft'],
    event_working_state: ['event_working_state'],
    mark_manifest: ['manifest_json', 'mark_report'],
    nosql_payload: ['import_preview', 'nosql_payload', 'source_excerpt'],
    review_package: ['review_bundle'],
    sql_snapshot: ['sql_result_snapshot'],
  }

  it('which kinds take which types', async () => {
    const rows = await db.owner<{ staging_kind: string; types: string[] }>(
      'select staging_kind, array_agg(payload_type order by payload_type) as types from iu_core.iu_staging_kind_type group by 1',
    )
    // The ninth is what a request for approval makes; what it shows is of a kind of the workspace (approval_kind).
    expect(Object.fromEntries(rows.map((row) => [row.staging_kind, row.types]))).toEqual({
      ...KINDS_AND_TYPES,
      approval: ['approval_request'],
    })
    expect(Object.keys(KINDS_AND_TYPES)).toEqual([...STAGEABLE_KINDS].sort())
    expect([...new Set(Object.values(KINDS_AND_TYPES).flat())].sort()).toEqual([...STAGEABLE_TYPES].sort())
    expect([STAGEABLE_KINDS.length, STAGEABLE_TYPES.length]).toEqual([8, 9])
  })

  it('the policy of each kind', async () => {
    const rows = await db.owner(
      `select concat_ws(' ', staging_kind, approval_required, four_eyes, checklist_required, time_to_live, '/', retention) as policy
         from iu_core.iu_staging_kind_policy order by staging_kind`,
    )
    expect(rows.map((row) => row.policy)).toEqual([
      'agent_intermediate f f f 3 days / 1 day',
      'approval t t f 14 days / 30 days',
      'cut_preview t t f 7 days / 30 days',
      'draft_iu_composition f f f 30 days / 7 days',
      'event_working_state f f f 1 day / 1 day',
      'mark_manifest t t f 14 days / 30 days',
      'nosql_payload f f f 30 days / 7 days',
      'review_package t t t 14 days / 30 days',
      'sql_snapshot f f f 7 days / 7 days',
    ])
  })

  it('an unknown kind or type, which the tables refuse from anybody', async () => {
    const kind = `insert into iu_core.iu_staging_kind_policy values ('misc', false, false, false, '1 day', '1 day', 'why not')`
    const type = `insert into iu_core.iu_staging_kind_type values ('sql_snapshot', 'misc')`
    expect(await sqlstateOf(db.owner(kind))).toBe('23514')
    expect(await sqlstateOf(db.owner(type))).toBe('23514')
  })
})
