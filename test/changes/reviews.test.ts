/** Review policies are enforced in the database: each way around them is tried, in one session and in two. */
import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { listReviewPolicies } from '../../src/changes/policies.ts'
import { listPlanRows, planSince } from '../../src/ingest/plan.ts'
import { examine } from '../../src/kernel/postgres/doctor/doctor.ts'
import { person } from '../staging/people.ts'
import { stage, startRun } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, type Member } from '../support/factories.ts'
import { boxes, type Planned, PRICES, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
let admin: Member
let ann: Member
let ben: Member
let skus = 0

interface Standing {
  readonly met: boolean
  readonly approvals: number
  readonly counted: number
  readonly summary: string
  readonly groups: readonly string[]
  readonly rules: readonly { readonly name: string | null; readonly why: string }[]
  readonly reviews: readonly {
    readonly reviewer: string
    readonly counts: boolean
    readonly reason: string
  }[]
}

beforeAll(async () => {
  admin = await createMember(db, trial.workspace, 'admin')
  ann = await createMember(db, trial.workspace, 'reviewer')
  ben = await createMember(db, trial.workspace, 'reviewer')
})
beforeEach(async () => {
  await db.owner('delete from iu_core.review_policy')
  await db.owner('delete from iu_core.member_group')
})

/** A new price, planned by the operator. */
async function planned(lines = 1, price = 1): Promise<Planned> {
  const sku = `s${++skus}`
  return trial.stagePlanned(
    Array.from({ length: lines }, (_, at) => ({ sku: `${sku}-${at}`, day: '2026-11-01', price, note: 'x' })),
    { dataset: PRICES },
  )
}
const submit = ({ upload_id, digest }: Planned) =>
  trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [upload_id, digest, trial.operator.userId])
async function submitted(lines = 1, price = 1): Promise<Planned> {
  const plan = await planned(lines, price)
  await submit(plan)
  return plan
}
const setPolicy = (rules: object, scope: { dataset?: string; kind?: string } = {}, by = admin) =>
  db.as(by, (client) =>
    client.query('select iu_core.fn_review_policy_set($1, $2, $3, $4)', [
      trial.workspace,
      scope.dataset ?? null,
      scope.kind ?? null,
      JSON.stringify(rules),
    ]),
  )
const group = (verb: 'add' | 'remove', name: string, member?: Member, by = admin) =>
  db.as(by, (client) =>
    client.query(`select iu_core.fn_group_${verb}($1, $2, $3)`, [
      trial.workspace,
      name,
      member?.userId ?? null,
    ]),
  )
async function changeOf({
  upload_id,
}: {
  upload_id: string
}): Promise<{ change_id: string; status: string }> {
  const [row] = await db.owner<{ change_id: string; status: string }>(
    'select change_id, status from iu_core.change where subject_id = $1',
    [upload_id],
  )
  return row!
}
const statusOf = async (plan: Planned) => (await changeOf(plan)).status
async function standingOf(plan: Planned): Promise<Standing> {
  const [row] = await db.owner<{ standing: Standing }>('select iu_core.fn_review_standing($1) as standing', [
    (await changeOf(plan)).change_id,
  ])
  return row!.standing
}
const approve = async (by: Member, plan: Planned) => {
  const ticked = await boxes(db, plan.upload_id)
  return db.as(by, (client) =>
    client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [plan.upload_id, plan.digest, ticked]),
  )
}
/** Back-end code that names somebody. */
const approveFor = async (name: string, plan: Planned, login = 'importer') =>
  (await person(db, 'service_role', login)).session.query(
    'select iu_core.fn_ingest_approve($1, $2, $3, $4)',
    [plan.upload_id, plan.digest, ['changes'], name],
  )
const review = async (by: Member, plan: Planned, verdict: string, body: string | null = 'Why?') => {
  const { change_id } = await changeOf(plan)
  const ticked = verdict === 'approve' ? await boxes(db, plan.upload_id) : []
  return db.as(by, (client) =>
    client.query('select iu_core.fn_change_review($1, $2, $3, $4, $5)', [
      change_id,
      verdict,
      plan.digest,
      body,
      ticked,
    ]),
  )
}
const promote = (plan: Planned) =>
  db.as(trial.operator, (client) =>
    client.query('select iu_core.fn_ingest_promote($1, $2)', [plan.upload_id, plan.digest]),
  )
const setRole = (member: Member, role: string) =>
  db.owner('update public.workspace_members set role = $2 where user_id = $1', [member.userId, role])

describe('an earlier plan', () => {
  it('that was approved cannot be approved again: nobody has seen the plan that stands now', async () => {
    const first = await submitted()
    await approve(ann, first)
    const [package_] = await db.owner<{ id: string; hash: string }>(
      `select r.staging_record_id as id, r.content_hash as hash from iu_core.ingest_plan p
         join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id where p.upload_id = $1`,
      [first.upload_id],
    )
    const second = await trial.planned(first.upload_id, 'STRICT', 0.8)
    for (const reviewer of [ann, ben])
      await expect(
        db.as(reviewer, (client) =>
          client.query('select iu_core.fn_iu_staging_approve($1, $2)', [package_!.id, package_!.hash]),
        ),
      ).rejects.toThrow(/approved|earlier plan/)
    await submit(second)
    expect(await statusOf(second)).toBe('open')
    await expect(promote(second)).rejects.toThrow()
  })

  it('whose review has expired is reviewed again when it is submitted again', async () => {
    const plan = await submitted()
    await approve(ann, plan)
    await db.owner('alter table iu_core.iu_staging_record disable trigger user')
    await db.owner(
      `update iu_core.iu_staging_record set created_at = now() - interval '2 days', expires_at = now() - interval '1 day'
        where staging_record_id = (select review_record_id from iu_core.ingest_plan where upload_id = $1)`,
      [plan.upload_id],
    )
    await db.owner('alter table iu_core.iu_staging_record enable trigger user')
    await submit(plan)
    expect(await standingOf(plan)).toMatchObject({ counted: 0 })
    expect(await statusOf(plan)).toBe('open')
  })

  it('loses its approvals with a rejection', async () => {
    await setPolicy({ base: { approvals: 2 } })
    const plan = await submitted()
    await approve(ann, plan)
    await db.as(ben, (client) => client.query(`select iu_core.fn_ingest_reject($1, 'no')`, [plan.upload_id]))
    await setPolicy({ base: { approvals: 1 } })
    await submit(plan)
    expect(await standingOf(plan)).toMatchObject({ counted: 0, met: false })
    expect(await statusOf(plan)).toBe('open')
  })
})

describe('what a change needs', () => {
  it('is one approval without a policy, and the most specific policy where there are several', async () => {
    const plan = await submitted()
    expect(await standingOf(plan)).toMatchObject({
      policy: null,
      approvals: 1,
      summary: '0 of 1 approval; still needed: 1 more approval',
    })
    await setPolicy({ base: { approvals: 2 } })
    await setPolicy({ base: { approvals: 3 } }, { kind: 'upload' })
    expect(await standingOf(plan)).toMatchObject({ approvals: 3 })
    await setPolicy({ base: { approvals: 4 } }, { dataset: 'prices' })
    expect(await standingOf(plan)).toMatchObject({ approvals: 4, policy: { dataset: 'prices', kind: null } })
    await setPolicy({ base: { approvals: 5 } }, { dataset: 'prices', kind: 'upload' })
    expect(await standingOf(plan)).toMatchObject({ approvals: 5 })
    await setPolicy({ base: { approvals: 20 } }, { dataset: 'trial' })
    expect(await standingOf(plan)).toMatchObject({ approvals: 5 })
  })

  it('rises with what the plan does, and says why', async () => {
    await group('add', 'Finance', ann)
    const raise = [
      { name: 'many', when: { rows_over: 2 }, approvals: 2 },
      { name: 'money', when: { amount_over: { column: 'price', limit: 100 } }, groups: ['finance'] },
      { name: 'new source', when: { first_upload_of_source: true }, approvals: 3 },
      { name: 'named', when: { columns: ['price'] }, approvals: 4 },
      { name: 'share', when: { share_changed_over: 0.4, rows_over: 0 }, approvals: 5 },
      {
        name: 'never',
        when: {
          outside_hours: { time_zone: 'UTC', from: '00:00', to: '24:00', days: [1, 2, 3, 4, 5, 6, 7] },
        },
        approvals: 6,
      },
      {
        name: 'always',
        when: { outside_hours: { time_zone: 'UTC', from: '00:00', to: '24:00', days: [] } },
        approvals: 1,
      },
      { name: 'deletes', when: { deletes_over: 0 }, approvals: 9 },
    ]
    await setPolicy({ base: { approvals: 1 }, raise })
    const applied = async (plan: Planned) => (await standingOf(plan)).rules.map(({ name }) => name)
    const first = await submitted(3, 50)
    expect(await applied(first)).toEqual(['many', 'money', 'new source', 'always'])
    expect(await standingOf(first)).toMatchObject({ approvals: 3, groups: ['Finance'] })
    expect((await standingOf(first)).rules[1]!.why).toBe('price changes by 150 in all, more than 100')
    await setPolicy({ base: { approvals: 1 } })
    await approve(ann, first)
    await promote(first)
    await setPolicy({ base: { approvals: 1 }, raise })
    const sku = `s${skus}`
    const second = await trial.stagePlanned(
      [0, 1].map((at) => ({ sku: `${sku}-${at}`, day: '2026-11-01', price: at === 0 ? 10 : 50, note: 'x' })),
      { dataset: PRICES },
    )
    await submit(second)
    expect(await applied(second)).toEqual(['named', 'share', 'always'])
  })

  it('is asked for by a policy also where the dataset asks for no approval', async () => {
    await db.owner(`update iu_core.ingest_dataset set approval_required = false where dataset = 'prices'`)
    try {
      await setPolicy({ base: { approvals: 0 }, raise: [{ when: { rows_over: 1 }, approvals: 1 }] })
      await promote(await planned(1))
      const large = await planned(2)
      expect(large).toMatchObject({ approval_required: true })
      expect(await sqlstateOf(promote(large))).toBe('SD608')
      await submit(large)
      await approve(ann, large)
      await promote(large)
      // Where nobody has to approve, whoever asked for changes is still waited for.
      const blocked = await submitted(1)
      await review(ann, blocked, 'request_changes')
      expect(await sqlstateOf(promote(blocked))).toBe('SD650')
      await review(ann, blocked, 'withdraw', null)
      await promote(blocked)
      const before = await planned(1)
      await setPolicy({ base: { approvals: 1 } })
      expect(await sqlstateOf(promote(before))).toBe('SD608')
    } finally {
      await db.owner(`update iu_core.ingest_dataset set approval_required = true where dataset = 'prices'`)
    }
  })

  it('rises where a policy names a column that is gone, and says so; a column that never was is refused', async () => {
    const rules = (column: string) => ({
      base: { approvals: 1 },
      raise: [
        { name: 'price', when: { columns: [column] }, approvals: 2 },
        { name: 'sum', when: { amount_over: { column, limit: 1e9 } }, approvals: 3 },
      ],
    })
    for (const scope of [{ dataset: 'prices' }, {}])
      await expect(setPolicy(rules('prise'), scope)).rejects.toThrow(/prise.*price/s)
    // Text is no amount.
    await expect(setPolicy(rules('note'), { dataset: 'prices' })).rejects.toThrow(/note.*number/s)
    // One dataset of the workspace has it, the others do not: the rule is for that one.
    await setPolicy(rules('amount'))
    const plan = await submitted()
    expect(await standingOf(plan)).toMatchObject({ approvals: 1, rules: [] })
    await setPolicy(rules('price'), { dataset: 'prices' })
    expect(await standingOf(plan)).toMatchObject({ approvals: 1, rules: [] })
    // The owner of the table renames the column, and the dataset follows.
    await db.owner(
      `update iu_core.ingest_dataset set definition = replace(definition::text, '"price": "price"', '"cost": "price"')::jsonb
        where dataset = 'prices'`,
    )
    try {
      expect(await standingOf(plan)).toMatchObject({
        approvals: 3,
        rules: [{ name: 'price', why: expect.stringContaining('price') }, { name: 'sum' }],
      })
      const [policy] = await db.as(ann, (client) => listReviewPolicies(client, trial.workspace))
      expect(policy).toMatchObject({ dataset: 'prices', warnings: [expect.stringContaining('price')] })
      const { findings } = await examine({ url: db.url() })
      expect(findings).toContainEqual(
        expect.objectContaining({ kind: 'review policy', problem: expect.stringContaining('price') }),
      )
    } finally {
      await db.owner(
        `update iu_core.ingest_dataset set definition = replace(definition::text, '"cost": "price"', '"price": "price"')::jsonb
          where dataset = 'prices'`,
      )
    }
  })

  it('refuses rules that nobody could mean, and whoever is no administrator', async () => {
    const wrong: [object, RegExp][] = [
      [{}, /base is missing/],
      [{ base: { approvals: 21 } }, /0 to 20/],
      [{ base: { approvals: 1, roles: ['viewer'] } }, /viewer/],
      [{ base: { approvals: 1, groups: ['Nobody'] } }, /there is no group/],
      [{ base: { approvals: 1 }, raise: [{ when: { moon: 1 }, approvals: 2 }] }, /no condition 'moon'/],
      [{ base: { approvals: 1 }, raise: [{ when: { rows_over: 1 } }] }, /asks for nothing/],
      [{ base: { approvals: 1 }, raise: [{ when: {}, approvals: 2 }] }, /no condition/],
      [
        {
          base: { approvals: 1 },
          raise: [
            { when: { outside_hours: { time_zone: 'Mars', from: '08:00', to: '18:00' } }, approvals: 2 },
          ],
        },
        /Europe\/Berlin/,
      ],
    ]
    for (const [rules, message] of wrong) await expect(setPolicy(rules)).rejects.toThrow(message)
    for (const by of [ann, trial.operator, trial.agent]) {
      expect(await sqlstateOf(setPolicy({ base: { approvals: 0 } }, {}, by))).toMatch(/^(SD202|42501)$/)
      expect(await sqlstateOf(group('add', 'Mine', undefined, by))).toMatch(/^(SD202|42501)$/)
    }
    await group('add', 'Finance')
    await setPolicy({ base: { approvals: 1, groups: ['Finance'] } })
    await expect(group('remove', 'finance')).rejects.toThrow(/asks for the group Finance/)
    expect(
      await db.owner(
        `select what, actor from iu_core.review_policy_audit where actor = $1 and new_row ->> 'group_name' = 'Finance'`,
        [admin.userId],
      ),
    ).not.toEqual([])
  })
})

describe('an approval', () => {
  it('counts once a person, never of the uploader, and the plan is approved with the last one that is needed', async () => {
    await group('add', 'Finance', ben)
    await setPolicy({ base: { approvals: 2, groups: ['Finance'] } })
    const plan = await submitted()
    await approve(ann, plan)
    expect(await standingOf(plan)).toMatchObject({
      counted: 1,
      summary: '1 of 2 approvals; still needed: group Finance',
    })
    await expect(promote(plan)).rejects.toThrow(/1 of 2 approvals; still needed: group Finance/)
    expect(await sqlstateOf(promote(plan))).toBe('SD650')
    expect(await sqlstateOf(approve(ann, plan))).toBe('SD651')
    await setRole(trial.operator, 'reviewer')
    expect(await sqlstateOf(approve({ ...trial.operator, role: 'stagedoor_reviewer' }, plan))).toBe('SD508')
    await setRole(trial.operator, 'operator')
    expect(await sqlstateOf(approve(trial.agent, plan))).toBe('42501')
    expect(await sqlstateOf(approve({ ...ben, role: 'stagedoor_agent' }, plan))).toBe('42501')
    expect(await statusOf(plan)).toBe('open')
    await review(ben, plan, 'approve', 'Looks right.')
    expect(await statusOf(plan)).toBe('approved')
    await promote(plan)
    const [told] = await db.owner(
      `select detail from iu_core.change_history join iu_core.change using (change_id) where subject_id = $1 and what = 'reviewed' order by seq desc limit 1`,
      [plan.upload_id],
    )
    expect(told).toMatchObject({
      detail: { verdict: 'approve', counted: 2, approvals: 2, groups: ['Finance'] },
    })
  })

  it('of another role than the policy asks for does not count', async () => {
    await setPolicy({ base: { approvals: 1, roles: ['admin'] } })
    const plan = await submitted()
    await approve(ann, plan)
    expect(await statusOf(plan)).toBe('open')
    expect((await standingOf(plan)).reviews).toMatchObject([{ reviewer: ann.userId, counts: false }])
    await approveFor('somebody', plan)
    expect(await statusOf(plan)).toBe('open')
    await approve(admin, plan)
    await promote(plan)
  })

  it('by back-end code counts once, whomever it names and whatever its logins are called', async () => {
    await group('add', 'Finance', ann)
    await setPolicy({ base: { approvals: 2 } })
    const plan = await submitted()
    for (const name of ['somebody', ann.userId, ben.userId]) await approveFor(name, plan)
    await approveFor(admin.userId, plan, 'another login')
    expect(await standingOf(plan)).toMatchObject({ counted: 1, met: false })
    // It has neither a role nor a group.
    await setPolicy({ base: { approvals: 1, roles: ['reviewer'] } })
    expect(await standingOf(plan)).toMatchObject({ counted: 0, met: false })
    await setPolicy({ base: { approvals: 1, groups: ['Finance'] } })
    expect(await standingOf(plan)).toMatchObject({ counted: 1, met: false, missing: { groups: ['Finance'] } })
    await setPolicy({ base: { approvals: 2 } })
    expect(await sqlstateOf(promote(plan))).toBe('SD650')
    await approve(trial.reviewer, plan)
    await promote(plan)
  })

  it('by back-end code counts as that of the members it names where an administrator trusts it', async () => {
    const trusting = { base: { approvals: 2 }, trust_back_end: true }
    const { session } = await person(db, 'service_role', 'importer')
    const setBySelf = () =>
      sqlstateOf(
        session.query('select iu_core.fn_review_policy_set($1, null, null, $2)', [
          trial.workspace,
          JSON.stringify(trusting),
        ]),
      )
    expect(await setBySelf()).toBe('SD202')
    await setPolicy(trusting)
    const plan = await submitted()
    for (const name of ['somebody', 'somebody else', ann.userId]) await approveFor(name, plan)
    expect(await standingOf(plan)).toMatchObject({ counted: 2, met: true })
    const other = await submitted()
    for (const name of ['somebody', 'somebody else']) await approveFor(name, other)
    expect(await standingOf(other)).toMatchObject({ counted: 1, met: false })
    // Whoever lost the right no longer counts, named or not.
    await setRole(ann, 'viewer')
    expect(await standingOf(plan)).toMatchObject({ counted: 1, met: false })
    await setRole(ann, 'reviewer')
    // What an administrator has allowed can be kept by back-end code.
    expect(await setBySelf()).toBe('not refused')
  })

  it('falls with the digest, and the history says why', async () => {
    const plan = await submitted()
    await approve(ann, plan)
    const again = await trial.planned(plan.upload_id, 'STRICT', 0.8)
    expect(again.digest).not.toBe(plan.digest)
    expect(await statusOf(again)).toBe('draft')
    expect(await sqlstateOf(promote(plan))).toBe('SD606')
    await submit(again)
    expect(await sqlstateOf(promote(again))).toBe('SD608')
    const [told] = await db.owner(
      `select detail from iu_core.change_history join iu_core.change using (change_id) where subject_id = $1 and what = 'review_dismissed'`,
      [plan.upload_id],
    )
    expect(told).toMatchObject({ detail: { reviewer: ann.userId, because: 'the plan changed' } })
  })

  it('is kept over a plan that was made again with the same rows to write', async () => {
    await setPolicy({ base: { approvals: 1 }, keep_approvals_when_unchanged: true })
    const sku = `s${++skus}`
    const plan = await trial.stagePlanned(
      ['a', 'b'].map((part) => ({ sku: `${sku}-${part}`, day: '2026-11-01', price: 1, note: 'x' })),
      { dataset: PRICES, invalid: [1] },
      'LENIENT',
    )
    const lenient = await trial.planned(plan.upload_id, 'LENIENT', 0.1)
    await submit(lenient)
    await approve(ann, lenient)
    // What is shown of the line that is left out changes.
    await db.owner(
      `update public.staging_rows set normalized_payload = normalized_payload || '{"price": 7}' where upload_id = $1 and row_number = 3`,
      [plan.upload_id],
    )
    const again = await trial.planned(plan.upload_id, 'LENIENT', 0.1)
    expect(again.digest).not.toBe(lenient.digest)
    await submit(again)
    expect(await statusOf(again)).toBe('approved')
    await promote(again)
  })

  describe('over a plan that was made again because production moved on', () => {
    const KEEP = { base: { approvals: 1 }, keep_approvals_when_unchanged: true }
    /** Three rows are in production; the file changes all of them. */
    async function approvedUpdates(): Promise<{ plan: Planned; sku(at: number): string }> {
      const name = `k${++skus}`
      const lines = (price: number) =>
        [0, 1, 2].map((at) => ({ sku: `${name}-${at}`, day: '2026-11-01', price, note: 'x' }))
      const first = await trial.stagePlanned(lines(1), { dataset: PRICES })
      await submit(first)
      await approve(ben, first)
      await promote(first)
      const plan = await trial.stagePlanned(lines(2), { dataset: PRICES })
      await submit(plan)
      await approve(ann, plan)
      return { plan, sku: (at) => `${name}-${at}` }
    }
    const production = (sku: string, price: number) =>
      db.owner('update trial_prices set price = $2 where sku = $1', [sku, price])
    const again = async (plan: Planned, onConflict?: 'use_mine'): Promise<Planned> => {
      const next = await trial.planned(plan.upload_id, 'STRICT', 0.9, onConflict)
      await submit(next)
      return next
    }
    async function last(plan: Planned, what: string): Promise<Record<string, unknown>> {
      const rows = await db.owner<{ detail: Record<string, unknown> }>(
        'select detail from iu_core.change_history where change_id = $1 and what = $2 order by seq desc limit 1',
        [(await changeOf(plan)).change_id, what],
      )
      return rows[0]?.detail ?? {}
    }

    it('is kept if rows only dropped out, because production holds them already', async () => {
      await setPolicy(KEEP)
      const { plan, sku } = await approvedUpdates()
      await production(sku(1), 2)
      const next = await again(plan)
      expect(next.totals.price).toEqual({ update: 2, unchanged: 1 })
      expect(await statusOf(next)).toBe('approved')
      expect(await last(next, 'review_kept')).toMatchObject({
        reviewer: ann.userId,
        because: 'the other approved rows are in production already',
        since: { same: 2, in_production: 1, different: 0, added: 0, gone: 0 },
      })
      await promote(next)
    })

    it('falls with a row whose old value is another one, and its reviewer is asked again', async () => {
      await setPolicy(KEEP)
      const { plan, sku } = await approvedUpdates()
      await production(sku(1), 7)
      expect(await sqlstateOf(again(plan))).toBe('SD614')
      const next = await again(plan, 'use_mine')
      expect(await statusOf(next)).toBe('open')
      expect(await sqlstateOf(promote(next))).not.toBeUndefined()
      const since = { same: 2, different: 1, added: 0, in_production: 0, gone: 0 }
      expect(await last(next, 'review_dismissed')).toMatchObject({ because: 'the plan changed', since })
      expect(await last(next, 'asked_again')).toMatchObject({
        approved: plan.digest,
        digest: next.digest,
        reviewers: [ann.userId],
        since,
      })
      const rows = await db.as(ann, (client) =>
        listPlanRows(client, plan.upload_id, { since: plan.digest, limit: 10 }),
      )
      expect(rows.map(({ row_number, before }) => [row_number, before?.price])).toEqual([[3, 7]])
      expect(await db.as(ann, (client) => planSince(client, plan.upload_id, plan.digest))).toMatchObject({
        known: true,
        ...since,
      })
      await approve(ann, next)
      await promote(next)
      // Of no use any more.
      expect(
        await db.owner('select from iu_core.ingest_approved_plan where upload_id = $1', [plan.upload_id]),
      ).toEqual([])
    })

    it('falls with a row that is written and was not approved', async () => {
      await setPolicy(KEEP)
      const { plan, sku } = await approvedUpdates()
      await production(sku(1), 2)
      const kept = await again(plan)
      expect(await statusOf(kept)).toBe('approved')
      // A row that no reviewer saw: deleted in production, it would be inserted again.
      await db.owner('delete from trial_prices where sku = $1', [sku(1)])
      expect(await sqlstateOf(again(kept))).toBe('SD614')
      const next = await again(kept, 'use_mine')
      expect(next.totals.price).toEqual({ update: 2, insert: 1 })
      expect(await statusOf(next)).toBe('open')
      await expect(promote(next)).rejects.toThrow()
    })

    it('falls if the row dropped out by a repair: the author must not choose a part of what was approved', async () => {
      await setPolicy(KEEP)
      const { plan } = await approvedUpdates()
      await db.owner(
        `insert into iu_core.ingest_repair (upload_id, row_number, what, column_name, old_value, new_value, repaired_by)
         values ($1, 3, 'corrected', 'Price', '2', '1', $2)`,
        [plan.upload_id, trial.operator.userId],
      )
      await db.owner(
        `update public.staging_rows set normalized_payload = normalized_payload || '{"price": 1}' where upload_id = $1 and row_number = 3`,
        [plan.upload_id],
      )
      const next = await again(plan)
      expect(next.totals.price).toEqual({ update: 2, unchanged: 1 })
      expect(await statusOf(next)).toBe('open')
    })

    it('falls if the policy keeps nothing, or was switched on between approval and plan', async () => {
      await setPolicy({ base: { approvals: 1 } })
      const [off, late] = [await approvedUpdates(), await approvedUpdates()]
      await production(off.sku(1), 2)
      expect(await statusOf(await again(off.plan))).toBe('open')
      await production(late.sku(1), 2)
      await setPolicy(KEEP)
      expect(await statusOf(await again(late.plan))).toBe('open')
    })

    it('is kept for its reviewer alone: nobody else has approved, and what was withdrawn stays withdrawn', async () => {
      await setPolicy({ ...KEEP, base: { approvals: 2 } })
      const { plan, sku } = await approvedUpdatesByTwo()
      await review(ben, plan, 'withdraw', null)
      await production(sku(1), 2)
      const next = await again(plan)
      expect(await statusOf(next)).toBe('open')
      expect((await standingOf(next)).reviews.map(({ reviewer }) => reviewer)).toEqual([ann.userId])
      await expect(approve(ann, next)).rejects.toThrow(/has approved change .* already/)
      await expect(
        db.as(ann, (client) =>
          client.query('update iu_core.change_review set stands_for = $1', [next.digest]),
        ),
      ).rejects.toThrow(/permission denied/)
      await approve(ben, next)
      await promote(next)
    })

    async function approvedUpdatesByTwo() {
      await setPolicy(KEEP)
      const made = await approvedUpdates()
      await setPolicy({ ...KEEP, base: { approvals: 2 } })
      await approve(ben, made.plan)
      return made
    }
  })

  it('no longer counts when its reviewer has lost the role or the group; then somebody else approves', async () => {
    await group('add', 'Finance', ann)
    await group('add', 'Finance', ben)
    await setPolicy({ base: { approvals: 1, groups: ['Finance'] } })
    const [byRole, byGroup] = [await submitted(), await submitted()]
    await approve(ann, byRole)
    expect(await statusOf(byRole)).toBe('approved')
    await setRole(ann, 'operator')
    await expect(promote(byRole)).rejects.toThrow(
      /the approval of .* does not count: has no longer the right to review/,
    )
    expect(await sqlstateOf(promote(byRole))).toBe('SD650')
    await approve(ben, byRole)
    await setRole(ann, 'reviewer')
    await approve(ann, byGroup)
    await group('remove', 'Finance', ann)
    expect(await statusOf(byGroup)).toBe('open')
    expect(await sqlstateOf(promote(byGroup))).toBe('SD650')
    await group('add', 'Finance', ann)
    expect(await statusOf(byGroup)).toBe('approved')
    await promote(byGroup)
    await promote(byRole)
  })

  it('given before a policy became stricter is not enough after it', async () => {
    const plan = await submitted()
    await approve(ann, plan)
    expect(await statusOf(plan)).toBe('approved')
    await setPolicy({ base: { approvals: 2 } })
    expect(await statusOf(plan)).toBe('open')
    await expect(promote(plan)).rejects.toThrow(/1 of 2 approvals; still needed: 1 more approval/)
    await approve(ben, plan)
    await promote(plan)
  })

  it('cannot be written past the functions', async () => {
    const plan = await submitted()
    const { change_id } = await changeOf(plan)
    const forged = [
      `insert into iu_core.change_review (change_id, digest, stands_for, verdict, reviewer) values ('${change_id}', 'x', 'x', 'approve', 'x')`,
      `update iu_core.change_review set dismissed_at = null`,
      `update iu_core.iu_staging_record set lifecycle_status = 'approved'`,
      `update iu_core.change set status = 'approved'`,
      `delete from iu_core.review_policy`,
      `insert into iu_core.member_group_member values ('${trial.workspace}', 'Finance', 'x', 'x')`,
      `select iu_core.fn_review_settle(c) from iu_core.change c`,
    ]
    for (const by of [admin, ann, trial.operator, trial.agent])
      for (const sql of forged)
        expect(await sqlstateOf(db.as(by, (client) => client.query(sql)))).toBe('42501')
    await approve(ann, plan)
    for (const sql of [
      `update iu_core.change_review set reviewer = 'x' where change_id = $1`,
      `update iu_core.change_review set stands_for = 'x' where change_id = $1`,
      `delete from iu_core.change_review where change_id = $1`,
    ])
      expect(await sqlstateOf(db.owner(sql, [change_id]))).toBe('SD002')
  })
})

describe('requested changes', () => {
  it('block, also what was approved, until that person approves or withdraws, or an administrator dismisses it', async () => {
    const plan = await submitted()
    await approve(ann, plan)
    expect(await sqlstateOf(review(ben, plan, 'request_changes', null))).toBe('SD001')
    await review(ben, plan, 'request_changes')
    expect(await statusOf(plan)).toBe('changes_requested')
    await expect(promote(plan)).rejects.toThrow(/changes were requested by/)
    await review(ben, plan, 'withdraw', null)
    expect(await statusOf(plan)).toBe('approved')
    await review(ben, plan, 'request_changes')
    await review(ben, plan, 'approve')
    expect(await statusOf(plan)).toBe('approved')
    await review(ann, plan, 'request_changes')
    expect(await statusOf(plan)).toBe('changes_requested')
    const [asked] = await db.owner<{ review_id: string }>(
      `select review_id from iu_core.change_review where change_id = $1 and verdict = 'request_changes' and dismissed_at is null`,
      [(await changeOf(plan)).change_id],
    )
    const dismiss = (by: Member, reason: string | null) =>
      db.as(by, (client) =>
        client.query('select iu_core.fn_change_review_dismiss($1, $2)', [asked!.review_id, reason]),
      )
    expect(await sqlstateOf(dismiss(ben, 'no'))).toBe('SD202')
    expect(await sqlstateOf(dismiss(admin, ' '))).toBe('SD001')
    await dismiss(admin, 'Ann is on holiday')
    expect(await statusOf(plan)).toBe('approved')
    await promote(plan)
    expect(await sqlstateOf(review(ben, plan, 'withdraw', null))).toBe('SD343')
  })
})

describe('a review', () => {
  it('is not refused because the conversation is full; it has a budget of its own', async () => {
    const plan = await submitted()
    const { change_id } = await changeOf(plan)
    await db.owner(
      'update iu_core.change set comment_count = 5000, history_count = 20000 where change_id = $1',
      [change_id],
    )
    const comment = () =>
      db.as(ben, (client) =>
        client.query('select iu_core.fn_change_comment($1, $2)', [change_id, 'One more.']),
      )
    expect(await sqlstateOf(comment())).toBe('SD343')
    await review(ben, plan, 'comment')
    await review(ben, plan, 'request_changes')
    expect(await statusOf(plan)).toBe('changes_requested')
    await review(ben, plan, 'approve')
    expect(await statusOf(plan)).toBe('approved')
    await db.owner(
      `insert into iu_core.change_review (change_id, digest, stands_for, verdict, reviewer)
       select $1, '', '', 'comment', $2 from generate_series(1, 200)`,
      [change_id, ben.userId],
    )
    await expect(review(ben, plan, 'comment')).rejects.toThrow(/200 reviews by one person/)
    // Nobody uses up the budget of another person.
    await review(ann, plan, 'request_changes')
    await review(ben, plan, 'withdraw', null)
  })

  it('counts once the checklist is complete, also if the last tick comes after it', async () => {
    await setPolicy({ base: { approvals: 2 } })
    const plan = await submitted()
    await approve(ann, plan)
    const [package_] = await db.owner<{ id: string }>(
      'select review_record_id as id from iu_core.ingest_plan where upload_id = $1',
      [plan.upload_id],
    )
    const tick = (yes: boolean) =>
      db.as(ben, (client) =>
        client.query('select iu_core.fn_iu_staging_tick($1, $2, $3)', [package_!.id, 'changes', yes]),
      )
    await tick(false)
    await setPolicy({ base: { approvals: 1 } })
    expect(await standingOf(plan)).toMatchObject({ summary: '1 of 1 approval' })
    expect(await statusOf(plan)).toBe('open')
    await tick(true)
    expect(await statusOf(plan)).toBe('approved')
    await promote(plan)
  })

  it('belongs to a change: without its row nothing is approved or promoted, until it is rebuilt', async () => {
    const [approved, open] = [await submitted(), await submitted()]
    await approve(ann, approved)
    for (const { upload_id } of [approved, open])
      await db.owner(
        `alter table iu_core.change_review disable trigger user; alter table iu_core.change_history disable trigger user;
         delete from iu_core.change_review where change_id in (select change_id from iu_core.change where subject_id = '${upload_id}');
         delete from iu_core.change_history where change_id in (select change_id from iu_core.change where subject_id = '${upload_id}');
         delete from iu_core.change where subject_id = '${upload_id}';
         alter table iu_core.change_review enable trigger user; alter table iu_core.change_history enable trigger user`,
      )
    await expect(promote(approved)).rejects.toThrow(/stagedoor change rebuild/)
    await expect(approve(ann, open)).rejects.toThrow(/stagedoor change rebuild/)
    await db.owner('select * from iu_core.fn_change_rebuild(false)')
    await approve(ann, open)
    await promote(open)
    // Approved before reviews were recorded, as it seems now.
    await promote(approved)
  })

  it('package of a plan cannot be taken away under it; the error says what to do', async () => {
    const plan = await submitted()
    const [package_] = await db.owner<{ id: string }>(
      'select review_record_id as id from iu_core.ingest_plan where upload_id = $1',
      [plan.upload_id],
    )
    const unregister = () =>
      db.as(admin, (client) => client.query('select iu_core.fn_iu_staging_unregister($1)', [package_!.id]))
    expect(await sqlstateOf(unregister())).toBe('SD512')
    await expect(unregister()).rejects.toThrow(/review package of upload/)
    await trial.planned(plan.upload_id, 'STRICT', 0.8)
    await unregister()
  })
})

it('a record is consumed only with the approvals that its policy asks for', async () => {
  await setPolicy({ base: { approvals: 2 } }, { kind: 'record' })
  const agent = await person(db, 'stagedoor_agent', trial.agent.userId)
  const { staging_record_id: id, content_hash } = await stage(agent.session, { workspace: trial.workspace })
  const approveRecord = (by: Member) =>
    db.as(by, (client) => client.query('select iu_core.fn_iu_staging_approve($1, $2)', [id, content_hash]))
  const worker = await db.session('stagedoor_worker')
  const consume = async () =>
    worker.query('select iu_core.fn_iu_staging_consume($1, $2)', [
      id,
      await startRun(worker, trial.workspace),
    ])
  await approveRecord(ann)
  expect(await sqlstateOf(consume())).toBe('SD510')
  await approveRecord(ben)
  await setRole(ben, 'viewer')
  expect(await sqlstateOf(consume())).toBe('SD650')
  await setRole(ben, 'reviewer')
  await consume()
})

describe('at once', () => {
  /** A session that stays in a transaction after it approved. */
  async function approving(by: Member, plan: Planned): Promise<pg.Client> {
    const { session } = await person(db, by.role!, by.userId)
    await session.query('begin')
    await session.query('select iu_core.fn_ingest_approve($1, $2, $3)', [
      plan.upload_id,
      plan.digest,
      ['changes'],
    ])
    return session
  }

  it('two approvals are two, and two of one person are one', async () => {
    await setPolicy({ base: { approvals: 2 } })
    for (const [second, answer, status] of [
      [ben, 'not refused', 'approved'],
      [ann, 'SD651', 'open'],
    ] as const) {
      const plan = await submitted()
      const first = await approving(ann, plan)
      const { session } = await person(db, second.role!, second.userId)
      const late = sqlstateOf(
        session.query('select iu_core.fn_ingest_approve($1, $2, $3)', [
          plan.upload_id,
          plan.digest,
          ['changes'],
        ]),
      )
      await untilWaiting(db, session)
      await first.query('commit')
      expect(await late).toBe(answer)
      expect(await statusOf(plan)).toBe(status)
    }
  })

  it('an approval and a stricter policy: the approval is not enough', async () => {
    const plan = await submitted()
    const first = await approving(ann, plan)
    const { session } = await person(db, admin.role!, admin.userId)
    const stricter = session.query('select iu_core.fn_review_policy_set($1, null, null, $2)', [
      trial.workspace,
      '{"base": {"approvals": 2}}',
    ])
    await untilWaiting(db, session)
    await first.query('commit')
    await stricter
    expect(await statusOf(plan)).toBe('open')
    expect(await sqlstateOf(promote(plan))).toBe('SD650')
  })

  it('an approval and another plan: the approval is refused or falls', async () => {
    const plan = await submitted()
    const service = await person(db, 'service_role', 'importer')
    await service.session.query('begin')
    await service.session.query('select iu_core.fn_ingest_plan($1, $2, 0.5)', [plan.upload_id, 'LENIENT'])
    const { session } = await person(db, ann.role!, ann.userId)
    const late = sqlstateOf(
      session.query('select iu_core.fn_ingest_approve($1, $2, $3)', [
        plan.upload_id,
        plan.digest,
        ['changes'],
      ]),
    )
    await untilWaiting(db, session)
    await service.session.query('commit')
    expect(await late).toBe('SD606')
    expect(await statusOf(plan)).toBe('draft')
  })
})

it('is never approved with fewer approvals than are needed, whatever people do', {
  tags: 'property',
}, async () => {
  const people = [ann, ben, admin, trial.reviewer]
  await group('add', 'Finance', ann)
  await group('add', 'Finance', ben)
  const step = fc.record({
    what: fc.nat(7),
    who: fc.nat(3),
    needed: fc.integer({ min: 1, max: 3 }),
    yes: fc.boolean(),
  })
  for (const story of fc.sample(fc.array(step, { minLength: 12, maxLength: 12 }), cases(2, 30))) {
    await setPolicy({ base: { approvals: 1 } })
    for (const one of people) await setRole(one, one === admin ? 'admin' : 'reviewer')
    const plan = await submitted()
    for (const { what, who, needed, yes } of story) {
      const one = people[who]!
      const steps = [
        () => review(one, plan, 'request_changes'),
        () => review(one, plan, 'withdraw', null),
        () => setPolicy({ base: { approvals: needed, groups: yes ? ['Finance'] : [] } }),
        () => group(yes ? 'add' : 'remove', 'Finance', [ann, ben][who % 2]!),
        () => (one === admin ? Promise.resolve() : setRole(one, yes ? 'viewer' : 'reviewer')),
      ]
      await sqlstateOf((steps[what] ?? (() => approve(one, plan)))())
      // By hand, from the rows: who approved last and did not ask for changes since, is a reviewer, and is in the group.
      const rows = await db.owner<{ reviewer: string; verdict: string; may: boolean; finance: boolean }>(
        `select r.reviewer, r.verdict, m.role in ('reviewer', 'admin') as may,
                exists (select from iu_core.member_group_member g where g.member = r.reviewer) as finance
           from iu_core.change_review r join public.workspace_members m on m.user_id::text = r.reviewer
          where r.change_id = $1 and r.dismissed_at is null`,
        [(await changeOf(plan)).change_id],
      )
      const [policy] = await db.owner<{ rules: { base: { approvals: number; groups: string[] } } }>(
        'select rules from iu_core.review_policy',
      )
      const { approvals, groups } = policy!.rules.base
      const counted = rows.filter(({ verdict, may }) => verdict === 'approve' && may)
      const enough =
        new Set(counted.map(({ reviewer }) => reviewer)).size >= approvals &&
        (!groups?.length || counted.some(({ finance }) => finance)) &&
        rows.every(({ verdict }) => verdict !== 'request_changes')
      expect((await standingOf(plan)).met).toBe(enough)
      const refused = await sqlstateOf(
        db
          .as(trial.operator, async (client) => {
            await client.query('select iu_core.fn_ingest_promote($1, $2)', [plan.upload_id, plan.digest])
            throw Object.assign(new Error('would be promoted'), { isEnd: true })
          })
          .catch((error) => {
            if (!error.isEnd) throw error
          }),
      )
      if (!enough) expect(refused).toMatch(/^SD6(50|08)$/)
      const status = await statusOf(plan)
      // A role is the one thing that changes without us; promotion looks at it.
      if (status === 'approved' && rows.every(({ may }) => may)) expect(enough).toBe(true)
    }
  }
})
