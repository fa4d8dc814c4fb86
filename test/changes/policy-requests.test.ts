/** What a review policy asks of a group or a role waits in the inbox of whoever can give the approval, as long as it is needed. */
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readInbox } from '../../src/changes/inbox.ts'
import { person } from '../staging/people.ts'
import { stage } from '../staging/staged.ts'
import { fastestMs } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { boxes, type Planned, PRICES, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
let admin: Member
let ann: Member
let ben: Member
let viewer: Member
let skus = 0

interface Proposal extends Planned {
  readonly change: string
}

beforeAll(async () => {
  admin = await createMember(db, trial.workspace, 'admin')
  ann = await createMember(db, trial.workspace, 'reviewer')
  ben = await createMember(db, trial.workspace, 'reviewer')
  viewer = await createMember(db, trial.workspace, 'viewer')
})
beforeEach(async () => {
  await db.owner('delete from iu_core.review_policy')
  await db.owner('delete from iu_core.member_group')
})

const planned = (lines = 1, price = 1) => {
  const sku = `s${++skus}`
  return trial.stagePlanned(
    Array.from({ length: lines }, (_, at) => ({ sku: `${sku}-${at}`, day: '2026-11-01', price, note: 'x' })),
    { dataset: PRICES, uploadedBy: trial.operator.userId },
  )
}
async function submitted(plan: Planned): Promise<Proposal> {
  await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
    plan.upload_id,
    plan.digest,
    trial.operator.userId,
  ])
  const [row] = await db.owner<{ change_id: string }>(
    'select change_id from iu_core.change where subject_id = $1',
    [plan.upload_id],
  )
  return { ...plan, change: row!.change_id }
}
const proposed = async (lines = 1, price = 1) => submitted(await planned(lines, price))
const call = (by: Member, sql: string, parameters: unknown[]) =>
  db.as(by, (client) => client.query(sql, parameters))
const group = (verb: 'add' | 'remove', name: string, member: Member) =>
  call(admin, `select iu_core.fn_group_${verb}($1, $2, $3)`, [trial.workspace, name, member.userId])
const policy = (rules: object, dataset: string | null = null, kind: string | null = null) =>
  call(admin, 'select iu_core.fn_review_policy_set($1, $2, $3, $4)', [
    trial.workspace,
    dataset,
    kind,
    JSON.stringify(rules),
  ])
const review = async (by: Member, plan: Proposal, verdict: string) =>
  call(by, 'select iu_core.fn_change_review($1, $2, $3, $4, $5)', [
    plan.change,
    verdict,
    plan.digest,
    verdict === 'request_changes' ? 'The price is wrong.' : null,
    verdict === 'approve' ? await boxes(db, plan.upload_id) : [],
  ])
const requestsOf = async (by: Member, change: string) =>
  (await db.as(by, (client) => readInbox(client, { limit: 500 }))).matters.filter(
    (one) => one.change_id === change && one.matter === 'review_requested',
  )
const isAsked = async (by: Member, { change }: Pick<Proposal, 'change'>) =>
  (await requestsOf(by, change)).length > 0

describe('a group that only the policy asks for', () => {
  it('has the change in the inbox of each member who can approve, until one of them has', async () => {
    await group('add', 'Finance', ann)
    await group('add', 'Finance', ben)
    await group('add', 'Finance', viewer)
    await group('add', 'Finance', trial.operator)
    await policy({ base: { approvals: 2, groups: ['finance'] } })
    const plan = await proposed()
    expect(await requestsOf(ann, plan.change)).toMatchObject([
      { to_do: true, actor: trial.operator.userId, group_name: 'Finance', by_policy: true, many: 1 },
    ])
    expect(await isAsked(ben, plan)).toBe(true)
    // The author, a member without the right to review, and whoever is not in the group.
    for (const other of [trial.operator, viewer, admin, trial.reviewer])
      expect(await isAsked(other, plan)).toBe(false)
    // An approval of somebody else changes nothing for the group.
    await review(trial.reviewer, plan, 'approve')
    expect(await isAsked(ben, plan)).toBe(true)
    await review(ann, plan, 'approve')
    expect(await isAsked(ann, plan)).toBe(false)
    expect(await isAsked(ben, plan)).toBe(false)
  })

  it('is asked again when the approval does not count any more, and when the plan is another', async () => {
    await group('add', 'Finance', ann)
    await group('add', 'Finance', ben)
    await policy({ base: { approvals: 2, groups: ['Finance'] } })
    const plan = await proposed()
    await review(ann, plan, 'approve')
    expect(await isAsked(ben, plan)).toBe(false)
    await group('remove', 'Finance', ann)
    expect(await isAsked(ben, plan)).toBe(true)
    await group('add', 'Finance', ann)
    expect(await isAsked(ben, plan)).toBe(false)
    await review(ann, plan, 'withdraw')
    for (const member of [ann, ben]) expect(await isAsked(member, plan)).toBe(true)
    await review(ann, plan, 'request_changes')
    expect(await isAsked(ann, plan)).toBe(false)
    const again = await submitted(await trial.planned(plan.upload_id, 'LENIENT', 0.5))
    expect(await isAsked(ann, again)).toBe(true)
    await call(ben, `select iu_core.fn_ingest_reject($1, 'No.')`, [plan.upload_id])
    for (const member of [ann, ben]) expect(await isAsked(member, plan)).toBe(false)
  })

  it('does not ask whoever has changed the upload (four eyes)', async () => {
    await group('add', 'Finance', ann)
    await group('add', 'Finance', ben)
    await policy({ base: { approvals: 1, groups: ['Finance'] } })
    const plan = await proposed()
    await db.owner(
      'update iu_core.ingest_upload set changed_by = changed_by || $2::text where upload_id = $1',
      [plan.upload_id, ben.userId.toUpperCase()],
    )
    expect(await isAsked(ann, plan)).toBe(true)
    expect(await isAsked(ben, plan)).toBe(false)
  })

  it('of a raised rule is asked where the rule holds: for rows, columns, amounts, hours and new sources', async () => {
    await group('add', 'Finance', ann)
    const rule = (when: object) =>
      policy({ base: { approvals: 1 }, raise: [{ when, groups: ['Finance'] }] }, PRICES.name)
    await rule({ rows_over: 2 })
    const small = await proposed(1, 10)
    const large = await proposed(3, 10)
    const asked = async () => [await isAsked(ann, small), await isAsked(ann, large)]
    expect(await asked()).toEqual([false, true])
    // A policy that is set while they are open counts at once.
    await rule({ amount_over: { column: 'price', limit: 25 } })
    expect(await asked()).toEqual([false, true])
    await rule({ amount_over: { column: 'price', limit: 5 } })
    expect(await asked()).toEqual([true, true])
    await rule({ columns: ['price'] })
    expect(await asked()).toEqual([false, false])
    const hours = (from: string, to: string) => ({
      outside_hours: { time_zone: 'UTC', from, to, days: [1, 2, 3, 4, 5, 6, 7] },
    })
    await rule(hours('00:00', '24:00'))
    expect(await asked()).toEqual([false, false])
    // One minute a day that is not now.
    const minute = new Date().getUTCHours() === 3 ? ['12:00', '12:01'] : ['03:00', '03:01']
    await rule(hours(minute[0]!, minute[1]!))
    expect(await asked()).toEqual([true, true])
    await rule({ ...hours(minute[0]!, minute[1]!), rows_over: 2 })
    expect(await asked()).toEqual([false, true])
    await rule({ first_upload_of_source: true, rows_over: 2 })
    expect(await asked()).toEqual([false, true])
    await call(admin, 'select iu_core.fn_review_policy_remove($1, $2, null)', [trial.workspace, PRICES.name])
    await trial.approved(small).catch(() => {})
    const other = await planned()
    await trial.approved(other)
    await trial.promote(other)
    await rule({ first_upload_of_source: true, rows_over: 2 })
    expect(await asked()).toEqual([false, false])
  })

  it('of the most specific policy only, also for records', async () => {
    await group('add', 'Finance', ann)
    await policy({ base: { approvals: 1, groups: ['Finance'] } })
    await policy({ base: { approvals: 1 } }, PRICES.name)
    expect(await isAsked(ann, await proposed())).toBe(false)
    const owner = await person(db, trial.operator.role, trial.operator.userId)
    const { staging_record_id, content_hash } = await stage(owner.session, { workspace: trial.workspace })
    const [row] = await db.owner<{ change_id: string }>(
      'select change_id from iu_core.change where subject_id = $1',
      [staging_record_id],
    )
    const record = { change: row!.change_id }
    expect(await isAsked(ann, record)).toBe(true)
    await call(ann, `select iu_core.fn_change_review($1, 'approve', $2)`, [record.change, content_hash])
    expect(await isAsked(ann, record)).toBe(false)
  })

  it('is asked also where the policy was set while the change was submitted, and nothing is stored of its rules', async () => {
    await group('add', 'Finance', ann)
    await policy({ base: { approvals: 1 }, raise: [{ when: { rows_over: 2 }, groups: ['Finance'] }] })
    const [small, large] = [await proposed(1), await proposed(3)]
    expect(
      await db.owner('select from iu_core.change_policy_rule where change_id = $1', [large.change]),
    ).toHaveLength(1)
    await db.owner('delete from iu_core.change_policy_rule')
    expect([await isAsked(ann, small), await isAsked(ann, large)]).toEqual([false, true])
    await db.owner(
      `insert into iu_core.change_policy_rule select $1, $2, policy_id, revision - 1, '{}' from iu_core.review_policy`,
      [large.change, large.digest],
    )
    expect(await isAsked(ann, large)).toBe(true)
  })
})

describe('a role that the policy asks for', () => {
  it('has it in the inbox of everybody with that role until there are enough approvals', async () => {
    await policy({ base: { approvals: 2, roles: ['admin'] } })
    const second = await createMember(db, trial.workspace, 'admin')
    const third = await createMember(db, trial.workspace, 'admin')
    const plan = await proposed()
    expect(await requestsOf(admin, plan.change)).toMatchObject([{ group_name: null, by_policy: true }])
    expect(await isAsked(ann, plan)).toBe(false)
    // Counts for nothing: not of the role.
    await review(ann, plan, 'approve')
    await review(second, plan, 'approve')
    expect([await isAsked(admin, plan), await isAsked(second, plan), await isAsked(third, plan)]).toEqual([
      true,
      false,
      true,
    ])
    await db.owner(`update public.workspace_members set role = 'reviewer' where user_id = $1`, [third.userId])
    expect(await isAsked(third, plan)).toBe(false)
    await review(admin, plan, 'approve')
    expect(await isAsked(admin, plan)).toBe(false)
  })

  it('asks nobody where any reviewer will do', async () => {
    await policy({ base: { approvals: 2 } })
    const plan = await proposed()
    for (const member of [admin, ann, ben]) expect(await isAsked(member, plan)).toBe(false)
  })
})

describe('an attacker', () => {
  it('sees no change of another workspace, though a group there has the same name', async () => {
    const elsewhere = await createWorkspace(db, 'elsewhere')
    const stranger = await createMember(db, elsewhere, 'admin')
    await call(stranger, 'select iu_core.fn_group_add($1, $2, $3)', [elsewhere, 'Finance', stranger.userId])
    await group('add', 'Finance', ann)
    await policy({ base: { approvals: 1, groups: ['Finance'] } })
    await call(stranger, 'select iu_core.fn_review_policy_set($1, null, null, $2)', [
      elsewhere,
      JSON.stringify({ base: { approvals: 1, groups: ['Finance'], roles: ['admin', 'reviewer'] } }),
    ])
    const plan = await proposed()
    const seen = (by: Member) =>
      db.as(
        by,
        async (client) =>
          (await client.query('select change_id from iu_core.fn_inbox_policy_requests()')).rows,
      )
    expect(await seen(ann)).toContainEqual({ change_id: plan.change })
    expect(await seen(stranger)).toEqual([])
    expect((await db.as(stranger, (client) => readInbox(client))).matters).toEqual([])
    expect(
      await db.as(stranger, (client) => readInbox(client, { workspaceId: trial.workspace })),
    ).toMatchObject({
      matters: [],
    })
    // As if somebody had written the stranger into the group of this workspace.
    await db.owner(
      `insert into iu_core.member_group_member (workspace_id, group_name, member, added_by) values ($1, 'Finance', $2, 'x')`,
      [trial.workspace, stranger.userId],
    )
    expect(await seen(stranger)).toEqual([])
    expect(await isAsked(stranger, plan)).toBe(false)
    for (const sql of [
      'select * from iu_core.fn_inbox_policy_requests($1)',
      'select * from iu_core.fn_inbox(null, false, 100, $1)',
    ])
      expect(await sqlstateOf(call(stranger, sql, [ann.userId]))).toBe('SD203')
    expect(await sqlstateOf(call(ann, 'select * from iu_core.change_policy_rule', []))).toBe('42501')
    // Back-end code sees for the person what the person sees.
    expect(
      await trial.service('select change_id from iu_core.fn_inbox_policy_requests($1)', [ann.userId]),
    ).toContainEqual({ change_id: plan.change })
    expect(
      await trial.service('select * from iu_core.fn_inbox_policy_requests($1)', [stranger.userId]),
    ).toEqual([])
  })

  it('who was taken out of the group, the role or the workspace a moment ago sees nothing any more', async () => {
    const leaver = await createMember(db, trial.workspace, 'reviewer')
    await group('add', 'Finance', leaver)
    await policy({ base: { approvals: 1, groups: ['Finance'] } })
    const plan = await proposed()
    // A session that has read it before, and stays open.
    const tab = await person(db, leaver.role, leaver.userId)
    const listed = async () =>
      (await readInbox(tab.session)).matters.filter(({ change_id }) => change_id === plan.change).length
    expect(await listed()).toBe(1)
    await group('remove', 'Finance', leaver)
    expect(await listed()).toBe(0)
    await group('add', 'Finance', leaver)
    expect(await listed()).toBe(1)
    await db.owner(`update public.workspace_members set role = 'viewer' where user_id = $1`, [leaver.userId])
    expect(await listed()).toBe(0)
    await db.owner(`update public.workspace_members set role = 'reviewer' where user_id = $1`, [
      leaver.userId,
    ])
    expect(await listed()).toBe(1)
    await db.owner('delete from public.workspace_members where user_id = $1', [leaver.userId])
    expect(await listed()).toBe(0)
    expect(
      await trial.service('select * from iu_core.fn_inbox_policy_requests($1)', [leaver.userId]),
    ).toEqual([])
  })
})

interface Standing {
  readonly roles: readonly string[]
  readonly missing: { readonly approvals: number; readonly groups: readonly string[] }
}

it('agrees with fn_review_standing for everybody, whatever happens', { tags: 'property' }, async () => {
  const people = [admin, ann, ben, trial.reviewer]
  const rules = fc.record({
    base: fc.record({
      approvals: fc.integer({ min: 0, max: 3 }),
      roles: fc.constantFrom([], ['admin'], ['reviewer', 'admin']),
      groups: fc.constantFrom([], ['Finance'], ['Legal']),
    }),
    raise: fc.array(
      fc.record({
        when: fc.constantFrom<object>(
          { rows_over: 1 },
          { columns: ['price'] },
          { amount_over: { column: 'price', limit: 2 } },
        ),
        approvals: fc.integer({ min: 0, max: 3 }),
        groups: fc.constantFrom([], ['Legal'], ['Finance', 'Legal']),
      }),
      { maxLength: 2 },
    ),
    trust_back_end: fc.boolean(),
  })
  const step = fc.oneof(
    fc.record({
      what: fc.constantFrom('approve', 'request_changes', 'withdraw', 'approve_for', 'join', 'leave'),
      who: fc.nat(people.length - 1),
      where: fc.constantFrom('Finance', 'Legal'),
    }),
    fc.record({ what: fc.constant('policy' as const), rules }),
  )
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { minLength: 2, maxLength: 7 }),
      async (first, lines, story) => {
        await db.owner('delete from iu_core.review_policy')
        await db.owner('delete from iu_core.member_group')
        await group('add', 'Finance', ann)
        await group('add', 'Legal', ben)
        await policy(first)
        const plan = await proposed(lines)
        for (const next of [undefined, ...story]) {
          if (next?.what === 'policy') await policy(next.rules)
          else if (next !== undefined) {
            const who = people[next.who]!
            const done =
              next.what === 'join' || next.what === 'leave'
                ? group(next.what === 'join' ? 'add' : 'remove', next.where, who)
                : next.what === 'approve_for'
                  ? trial.service('select iu_core.fn_ingest_approve($1, $2, $3, $4)', [
                      plan.upload_id,
                      plan.digest,
                      await boxes(db, plan.upload_id),
                      who.userId,
                    ])
                  : review(who, plan, next.what)
            // What is refused changes nothing.
            await Promise.resolve(done).catch(() => {})
          }
          const [state] = await db.owner<{ standing: Standing; status: string }>(
            'select iu_core.fn_review_standing(change_id) as standing, status from iu_core.change where change_id = $1',
            [plan.change],
          )
          const { standing, status } = state!
          for (const who of people) {
            const [own] = await db.owner<{ decided: boolean; groups: string[] }>(
              `select exists (select from iu_core.change_review v where v.change_id = $1 and v.reviewer = $2 and v.verdict <> 'comment'
                              and v.dismissed_at is null and v.stands_for = $3) as decided,
                    array(select g.group_name from iu_core.member_group_member g where g.member = $2) as groups`,
              [plan.change, who.userId, plan.digest],
            )
            const role = who === admin ? 'admin' : 'reviewer'
            const counts = standing.roles.length === 0 || standing.roles.includes(role)
            const needed =
              standing.missing.groups.some((name) => own!.groups.includes(name)) ||
              (standing.roles.length > 0 && standing.missing.approvals > 0)
            const expected =
              ['open', 'changes_requested'].includes(status) && !own!.decided && counts && needed
            expect(
              await isAsked(who, plan),
              `${role} ${who.userId} after ${JSON.stringify(next)}: ${JSON.stringify(standing)}`,
            ).toBe(expected)
          }
        }
      },
    ),
    { numRuns: cases(8, 80) },
  )
})

it('reads the inbox of one of 200 members with 1,000 open changes, half of them approved once, in one cheap statement', async () => {
  const owner = await person(db, trial.operator.role, trial.operator.userId)
  const { staging_record_id } = await stage(owner.session, { workspace: trial.workspace })
  await db.owner(
    `insert into public.workspace_members (workspace_id, user_id, role)
     select $1, gen_random_uuid(), 'reviewer' from generate_series(1, 200)`,
    [trial.workspace],
  )
  await group('add', 'Finance', ann)
  await db.owner(
    `insert into iu_core.member_group_member (workspace_id, group_name, member, added_by)
     select workspace_id, 'Finance', user_id::text, 'x' from public.workspace_members where workspace_id = $1 and role = 'reviewer' on conflict do nothing`,
    [trial.workspace],
  )
  await policy({
    base: { approvals: 3, groups: ['Finance'] },
    raise: [{ when: { outside_hours: { time_zone: 'UTC', from: '03:00', to: '03:01' } }, approvals: 4 }],
  })
  await db.owner(
    `insert into iu_core.iu_staging_record
     select n.* from iu_core.iu_staging_record r, generate_series(1, 1000) g,
            lateral jsonb_populate_record(r, jsonb_build_object('staging_record_id', md5(g || r.staging_record_id::text), 'idempotency_key', md5(g || r.staging_record_id::text))) n
      where r.staging_record_id = $1`,
    [staging_record_id],
  )
  // By people who are not in the group: it is still asked.
  await db.owner(
    `insert into iu_core.change_review (change_id, digest, stands_for, verdict, reviewer, role)
     select c.change_id, c.digest, c.digest, 'approve', $2, 'admin' from iu_core.change c
      where c.workspace_id = $1 and c.status = 'open' and c.number % 2 = 0`,
    [trial.workspace, admin.userId],
  )
  await db.owner(
    'analyze iu_core.change, iu_core.change_review, iu_core.iu_staging_record, iu_core.change_policy_rule',
  )
  const read = () => db.as(ann, (client) => readInbox(client))
  expect((await read()).to_do).toBeGreaterThanOrEqual(1000)
  // 27 ms of CPU for the whole inbox; asking how each change stands takes 395.
  const oneByOne = await fastestMs(
    () =>
      db.owner(
        `select iu_core.fn_review_standing(change_id) from iu_core.change where status in ('open', 'changes_requested')`,
      ),
    Number.POSITIVE_INFINITY,
  )
  expect(await fastestMs(read, oneByOne / 3)).toBeLessThan(oneByOne / 3)
})
