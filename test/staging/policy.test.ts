/** Policies of the kinds: four-eyes, checklists, time to live, retention; who changes them, and for which records. */
import { beforeAll, describe, expect, it } from 'vitest'
import { STAGEABLE_KINDS } from '../../src/staging/records.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Workplace, workplace } from './people.ts'
import { eventsOf, jsonPart, PACKAGE, type Staging, stage, startRun } from './staged.ts'

const db = useDatabase()
let place: Workplace
let run: string

beforeAll(async () => {
  place = await workplace(db)
  run = await startRun(place.service.session, place.workspace)
})

const setPolicy = (kind: string, changes: object, reason = 'I work alone') =>
  db.owner('select iu_core.fn_iu_staging_set_policy($1, $2, $3)', [kind, JSON.stringify(changes), reason])
const approve = (who: 'owner' | 'reviewer', made: { staging_record_id: string; content_hash: string }) =>
  sqlstateOf(
    place[who].session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
      made.staging_record_id,
      made.content_hash,
    ]),
  )
const own = (what: Partial<Staging> = {}) =>
  stage(place.owner.session, { workspace: place.workspace, ...what })

/** A type that each kind takes. */
const TYPE: Record<(typeof STAGEABLE_KINDS)[number], string> = {
  mark_manifest: 'mark_report',
  review_package: 'review_bundle',
  cut_preview: 'import_preview',
  sql_snapshot: 'sql_result_snapshot',
  nosql_payload: 'nosql_payload',
  draft_iu_composition: 'composition_draft',
  agent_intermediate: 'mark_report',
  event_working_state: 'event_working_state',
}

const CHECKLIST = jsonPart('["the figures match"]', 'checklist')

describe.each(STAGEABLE_KINDS)('%s', (kind) => {
  const required = ['mark_manifest', 'review_package', 'cut_preview'].includes(kind)

  it(
    required ? 'is consumed after approval only' : 'may be consumed without approval, and after it, too',
    async () => {
      const consume = (id: string) =>
        sqlstateOf(place.operator.session.query('select iu_core.fn_iu_staging_consume($1, $2)', [id, run]))
      const parts = [jsonPart('{}'), ...(kind === 'review_package' ? [CHECKLIST] : [])]
      const first = await stage(place.agent.session, {
        workspace: place.workspace,
        kind,
        type: TYPE[kind],
        parts,
      })
      expect(await consume(first.staging_record_id)).toBe(required ? 'SD510' : 'not refused')
      const second = await stage(place.agent.session, {
        workspace: place.workspace,
        kind,
        type: TYPE[kind],
        parts,
      })
      if (kind === 'review_package') {
        await place.reviewer.session.query(`select iu_core.fn_iu_staging_tick($1, '1')`, [
          second.staging_record_id,
        ])
      }
      expect(await approve('reviewer', second)).toBe('not refused')
      expect(await consume(second.staging_record_id)).toBe('not refused')
      const events = (await eventsOf(db.pool('postgres'), first.staging_record_id)).map(
        (event) => event.event_type,
      )
      expect(events).toEqual(required ? ['record_created'] : ['record_created', 'record_consumed'])
    },
  )

  it('expires and is kept as its policy says', async () => {
    const made = await own({
      kind,
      type: TYPE[kind],
      parts: [jsonPart('{}'), ...(kind === 'review_package' ? [CHECKLIST] : [])],
    })
    await place.reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [
      made.staging_record_id,
    ])
    const [row] = await db.owner(
      `select r.expires_at - r.created_at = p.time_to_live as lives,
              r.retain_until between r.rejected_at + p.retention and r.rejected_at + p.retention + interval '10 seconds' as kept
         from iu_core.iu_staging_record r join iu_core.iu_staging_kind_policy p using (staging_kind)
        where staging_record_id = $1`,
      [made.staging_record_id],
    )
    expect(row).toEqual({ lives: true, kept: true })
  })
})

it('lets the caller name another expiry', async () => {
  const made = await own({ expires: '2040-01-01T00:00:00Z' })
  const [row] = await db.owner(
    'select expires_at from iu_core.iu_staging_record where staging_record_id = $1',
    [made.staging_record_id],
  )
  expect(row).toEqual({ expires_at: new Date('2040-01-01T00:00:00Z') })
})

it('switches four-eyes off for a kind from then on, audited with the reason; what is held keeps its own', async () => {
  const before = await own()
  await setPolicy('mark_manifest', { four_eyes: false })
  const after = await own()
  expect(await approve('owner', before)).toBe('SD508')
  expect(await approve('owner', after)).toBe('not refused')
  // Only that kind.
  expect(await approve('owner', await own({ kind: 'cut_preview', type: 'import_preview' }))).toBe('SD508')

  await setPolicy('mark_manifest', { four_eyes: true }, 'a colleague came')
  expect(await approve('owner', await own())).toBe('SD508')
  const audit = await db.owner(
    `select staging_kind, old_policy ->> 'four_eyes' as old, new_policy ->> 'four_eyes' as new, reason, actor
       from iu_core.iu_staging_kind_policy_audit order by audit_id`,
  )
  const change = { staging_kind: 'mark_manifest', actor: 'stagedoor_migrator' }
  expect(audit).toEqual([
    { ...change, old: 'true', new: 'false', reason: 'I work alone' },
    { ...change, old: 'false', new: 'true', reason: 'a colleague came' },
  ])
})

it('keeps the audit: not even the owner changes or deletes a line of it', async () => {
  await setPolicy('sql_snapshot', { retention: '8 days' })
  expect(await sqlstateOf(db.owner(`update iu_core.iu_staging_kind_policy_audit set reason = 'x'`))).toBe(
    'SD002',
  )
  expect(await sqlstateOf(db.owner('delete from iu_core.iu_staging_kind_policy_audit'))).toBe('SD002')
  expect(await sqlstateOf(db.owner('truncate iu_core.iu_staging_kind_policy_audit'))).toBe('SD002')
})

it('audits a change made by hand, too, without a reason', async () => {
  await setPolicy('nosql_payload', { retention: '8 days' }, 'through the function')
  await db.owner(
    `update iu_core.iu_staging_kind_policy set retention = '9 days' where staging_kind = 'nosql_payload'`,
  )
  const audit = await db.owner(
    `select old_policy ->> 'retention' as old, new_policy ->> 'retention' as new, reason, actor
       from iu_core.iu_staging_kind_policy_audit where staging_kind = 'nosql_payload' order by audit_id`,
  )
  const actor = 'stagedoor_migrator'
  expect(audit).toEqual([
    { old: '7 days', new: '8 days', reason: 'through the function', actor },
    { old: '8 days', new: '9 days', reason: null, actor },
  ])
})

it('asks for the required items of a checklist, until the policy no longer does', async () => {
  const strict = await own(PACKAGE)
  const tick = (id: string, item: string, ticked = true) =>
    place.reviewer.session.query('select iu_core.fn_iu_staging_tick($1, $2, $3, $4)', [
      id,
      item,
      ticked,
      'looked at it',
    ])
  const open = place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
    strict.staging_record_id,
    strict.content_hash,
  ])
  await expect(open).rejects.toThrow(/open items: 1, totals$/)
  await tick(strict.staging_record_id, '1')
  await tick(strict.staging_record_id, 'totals')
  await tick(strict.staging_record_id, '1', false)
  expect(await approve('reviewer', strict)).toBe('SD509')
  await tick(strict.staging_record_id, '1')
  const { rows } = await place.owner.session.query(
    'select item_id, label, required, ticked_by, note from iu_core.fn_iu_staging_checklist($1)',
    [strict.staging_record_id],
  )
  const ticked = { ticked_by: place.reviewer.actor, note: 'looked at it' }
  expect(rows).toEqual([
    { item_id: '1', label: 'sources', required: true, ...ticked },
    { item_id: 'totals', label: 'Totals agree', required: true, ...ticked },
    { item_id: 'nice', label: 'nice', required: false, ticked_by: null, note: null },
  ])
  // The first stamp stays: whoever ticks it again has not looked first.
  await place.service.session.query('select iu_core.fn_iu_staging_tick($1, $2, true, $3)', [
    strict.staging_record_id,
    '1',
    'me, too',
  ])
  const { rows: again } = await place.owner.session.query(
    'select ticked_by, note from iu_core.iu_staging_check where staging_record_id = $1 and item_id = $2',
    [strict.staging_record_id, '1'],
  )
  expect(again).toEqual([ticked])
  // Ticking is no transition: it changes neither the bytes nor the digest, and tells nobody.
  expect(await approve('reviewer', strict)).toBe('not refused')
  expect(await eventsOf(db.pool('postgres'), strict.staging_record_id)).toHaveLength(2)

  await setPolicy('review_package', { checklist_required: false })
  expect(await approve('reviewer', await own(PACKAGE))).toBe('not refused')
})

it('applies another time to live to new records, and another retention to those that end from then on', async () => {
  await setPolicy('event_working_state', { time_to_live: '2 hours', retention: '3 hours' }, 'tighter')
  const made = await own({ kind: 'event_working_state', type: 'event_working_state' })
  await place.owner.session.query('select iu_core.fn_iu_staging_withdraw($1)', [made.staging_record_id])
  const [row] = await db.owner(
    `select (expires_at - created_at)::text as lives, date_trunc('hour', retain_until - rejected_at)::text as kept, rejected_reason
       from iu_core.iu_staging_record where staging_record_id = $1`,
    [made.staging_record_id],
  )
  expect(row).toEqual({ lives: '02:00:00', kept: '03:00:00', rejected_reason: 'withdrawn' })
})

it('is changed by the owner role only', async () => {
  for (const who of ['owner', 'reviewer', 'operator', 'agent', 'service', 'worker'] as const) {
    const tried = place[who].session.query(
      `select iu_core.fn_iu_staging_set_policy('cut_preview', '{"four_eyes": false}', 'x')`,
    )
    expect(await sqlstateOf(tried), who).toBe('42501')
  }
})
