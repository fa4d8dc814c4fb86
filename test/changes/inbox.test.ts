/** The inbox: what is to be done stays until it is done, news is read once, and nobody is told of what they may not see. */
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Inbox, markRead, readInbox, unreadNews } from '../../src/changes/inbox.ts'
import { changesLibrary } from '../../src/changes/library.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { person } from '../staging/people.ts'
import { stage } from '../staging/staged.ts'
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
let outsider: Member
let skus = 0

beforeAll(async () => {
  admin = await createMember(db, trial.workspace, 'admin')
  ann = await createMember(db, trial.workspace, 'reviewer')
  ben = await createMember(db, trial.workspace, 'reviewer')
  viewer = await createMember(db, trial.workspace, 'viewer')
  outsider = await createMember(db, await createWorkspace(db, 'elsewhere'), 'admin')
})
beforeEach(async () => {
  await db.owner('delete from iu_core.review_policy')
  await db.owner('delete from iu_core.member_group')
  await db.owner('delete from iu_core.change_inbox_read')
})

interface Proposal extends Planned {
  readonly change: string
}

/** A new price, planned and submitted by the operator. */
async function proposed(): Promise<Proposal> {
  const plan = await trial.stagePlanned([{ sku: `s${++skus}`, day: '2026-11-01', price: 1, note: 'x' }], {
    dataset: PRICES,
    uploadedBy: trial.operator.userId,
  })
  return submitted(plan)
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

const call = (by: Member, sql: string, parameters: unknown[]) =>
  db.as(by, (client) => client.query(sql, parameters))
const ask = (plan: Proposal, people: readonly Member[], groups: readonly string[] = []) =>
  call(trial.operator, 'select iu_core.fn_change_reviewers_set($1, $2, $3)', [
    plan.change,
    people.map(({ userId }) => userId),
    groups,
  ])
const group = (name: string, member: Member) =>
  call(admin, 'select iu_core.fn_group_add($1, $2, $3)', [trial.workspace, name, member.userId])
const approvals = (count: number) =>
  call(admin, 'select iu_core.fn_review_policy_set($1, null, null, $2)', [
    trial.workspace,
    JSON.stringify({ base: { approvals: count } }),
  ])
const review = async (by: Member, plan: Proposal, verdict: string) =>
  call(by, 'select iu_core.fn_change_review($1, $2, $3, $4, $5)', [
    plan.change,
    verdict,
    plan.digest,
    verdict === 'request_changes' ? 'The price is wrong.' : null,
    verdict === 'approve' ? await boxes(db, plan.upload_id) : [],
  ])
const promote = (plan: Proposal) =>
  call(ben, 'select iu_core.fn_ingest_promote($1, $2)', [plan.upload_id, plan.digest])
const undo = (plan: Proposal) =>
  call(ben, `select iu_core.fn_ingest_undo($1, null, null, 'It was wrong.')`, [plan.upload_id])
const askUndo = (by: Member, plan: Proposal) =>
  call(by, `select iu_core.fn_change_undo_request($1, 'The price was doubled.')`, [plan.change])
async function promoted(): Promise<Proposal> {
  const plan = await proposed()
  await review(ann, plan, 'approve')
  await promote(plan)
  return plan
}
async function comment(
  by: Member,
  plan: Proposal,
  body: string,
  replyTo: string | null = null,
): Promise<string> {
  const { rows } = await call(by, 'select comment_id from iu_core.fn_change_comment($1, $2, $3)', [
    plan.change,
    body,
    replyTo,
  ])
  return rows[0].comment_id
}
const describeAs = (by: Member, plan: Proposal, text: string) =>
  call(by, 'select iu_core.fn_change_edit($1, null, $2)', [plan.change, text])

const inboxOf = (by: Member, all = false): Promise<Inbox> =>
  db.as(by, (client) => readInbox(client, { all, limit: 500 }))
const matterOf = async (by: Member, plan: Proposal) =>
  (await inboxOf(by)).matters.filter(({ change_id }) => change_id === plan.change)
async function mattersOf(by: Member, plan: Proposal, all = false): Promise<string[]> {
  const { matters } = await inboxOf(by, all)
  return matters.filter(({ change_id }) => change_id === plan.change).map(({ matter }) => matter)
}
const read = (by: Member, inbox: Inbox) => db.as(by, (client) => markRead(client, unreadNews(inbox)))
const difference = () => db.owner('select * from iu_core.fn_change_rebuild(true)')

describe('a review', () => {
  it('that is asked of a person by name is to be done until they review what stands now', async () => {
    const plan = await proposed()
    expect(await mattersOf(ann, plan)).toEqual([])
    await ask(plan, [ann])
    const { matters } = await inboxOf(ann)
    expect(matters.find(({ change_id }) => change_id === plan.change)).toMatchObject({
      matter: 'review_requested',
      to_do: true,
      actor: trial.operator.userId,
      status: 'open',
      group_name: null,
    })
    expect(await mattersOf(ben, plan)).toEqual([])
    await approvals(2)
    await review(ann, plan, 'approve')
    expect(await mattersOf(ann, plan)).toEqual([])
    // Another plan: what she approved does not stand any more, and she is asked again.
    const again = await submitted(await trial.planned(plan.upload_id, 'LENIENT', 0.5))
    expect(await mattersOf(ann, plan)).toEqual(['review_requested'])
    await review(ann, again, 'request_changes')
    expect(await mattersOf(ann, plan)).toEqual([])
    await review(ann, again, 'withdraw')
    expect(await mattersOf(ann, plan)).toEqual(['review_requested'])
  })

  it('that is asked of a group is to be done by each of them until one has reviewed', async () => {
    await group('Finance', ann)
    await group('Finance', ben)
    await approvals(2)
    const plan = await proposed()
    await ask(plan, [], ['finance'])
    expect(await matterOf(ben, plan)).toMatchObject([{ matter: 'review_requested', group_name: 'finance' }])
    expect(await mattersOf(ann, plan)).toEqual(['review_requested'])
    await review(ann, plan, 'approve')
    expect(await mattersOf(ben, plan)).toEqual([])
    await call(admin, 'select iu_core.fn_group_remove($1, $2, $3)', [trial.workspace, 'Finance', ann.userId])
    expect(await mattersOf(ben, plan)).toEqual(['review_requested'])
    await ask(plan, [])
    expect(await mattersOf(ben, plan)).toEqual([])
  })

  it('of a record is asked and done in the same way', async () => {
    const owner = await person(db, trial.operator.role, trial.operator.userId)
    const { staging_record_id, content_hash } = await stage(owner.session, { workspace: trial.workspace })
    const [row] = await db.owner<{ change_id: string }>(
      'select change_id from iu_core.change where subject_id = $1',
      [staging_record_id],
    )
    const record = { change: row!.change_id } as Proposal
    await ask(record, [ben])
    expect(await mattersOf(ben, record)).toEqual(['review_requested'])
    await call(ben, `select iu_core.fn_change_review($1, 'approve', $2)`, [record.change, content_hash])
    expect(await mattersOf(ben, record)).toEqual([])
    expect(await mattersOf(trial.operator, record)).toEqual(['approved'])
  })
})

describe('changes that are requested', () => {
  it('are to be done by the author, with what must change, until the plan is another', async () => {
    const plan = await proposed()
    await review(ann, plan, 'request_changes')
    const { matters } = await inboxOf(trial.operator)
    expect(matters.filter(({ change_id }) => change_id === plan.change)).toMatchObject([
      { matter: 'changes_requested', to_do: true, actor: ann.userId, excerpt: 'The price is wrong.' },
    ])
    await trial.planned(plan.upload_id, 'LENIENT', 0.5)
    expect(await mattersOf(trial.operator, plan)).not.toContain('changes_requested')
  })

  it('no longer make the status when the same reviewer approves, also where others must approve, too', async () => {
    await approvals(2)
    const plan = await proposed()
    const status = async () =>
      (await db.owner('select status from iu_core.change where change_id = $1', [plan.change]))[0]
    await review(ann, plan, 'request_changes')
    expect(await status()).toEqual({ status: 'changes_requested' })
    await review(ann, plan, 'approve')
    expect(await status()).toEqual({ status: 'open' })
    expect(await difference()).toEqual([])
    expect(await mattersOf(trial.operator, plan)).not.toContain('changes_requested')
    await review(ben, plan, 'approve')
    expect(await status()).toEqual({ status: 'approved' })
  })

  it('are no news when the reviewer approves: the author knew of them', async () => {
    const plan = await proposed()
    await review(ann, plan, 'request_changes')
    const [request] = await matterOf(trial.operator, plan)
    await comment(trial.operator, plan, 'It is right: see the invoice.', request!.comment_id)
    await review(ann, plan, 'approve')
    expect(await mattersOf(trial.operator, plan, true)).toEqual(['approved'])
  })
})

describe('news', () => {
  it('tells of mentions in comments and in the description, not of one’s own', async () => {
    const plan = await proposed()
    const written = await comment(
      trial.operator,
      plan,
      `@${ann.userId} and @${trial.operator.userId}: right?`,
    )
    expect(await matterOf(ann, plan)).toMatchObject([
      { matter: 'mentioned', to_do: false, comment_id: written, many: 1, actor: trial.operator.userId },
    ])
    expect(await mattersOf(trial.operator, plan)).toEqual([])
    await describeAs(trial.operator, plan, `Please look, @${ben.userId}.`)
    expect(await matterOf(ben, plan)).toMatchObject([{ matter: 'mentioned', comment_id: null }])
    await read(ben, await inboxOf(ben))
    // The rest of the description is edited: who was told is not told again.
    await describeAs(trial.operator, plan, `Please look soon, @${ben.userId}.`)
    expect(await mattersOf(ben, plan)).toEqual([])
    expect(await mattersOf(ben, plan, true)).toEqual(['mentioned'])
    await describeAs(trial.operator, plan, 'Nobody.')
    expect(await mattersOf(ben, plan, true)).toEqual([])
    await call(trial.operator, 'select iu_core.fn_change_comment_delete($1)', [written])
    expect(await mattersOf(ann, plan)).toEqual([])
  })

  it('is read when it was answered in its thread, and unread with what is said after that', async () => {
    const plan = await proposed()
    const first = await comment(trial.operator, plan, `@${ann.userId} one`)
    const second = await comment(trial.operator, plan, `@${ann.userId} two`)
    await comment(ann, plan, 'Yes.', second)
    // She answered the newer of two mentions: the other is unread.
    expect(await matterOf(ann, plan)).toMatchObject([{ matter: 'mentioned', comment_id: first }])
    expect(await mattersOf(trial.operator, plan)).toEqual(['replied'])
    await comment(ann, plan, 'Yes.', first)
    expect(await mattersOf(ann, plan)).toEqual([])
    expect(await mattersOf(ann, plan, true)).toEqual(['mentioned'])
    await comment(trial.operator, plan, 'Thank you.', first)
    await comment(trial.operator, plan, 'Thank you.', second)
    expect(await mattersOf(trial.operator, plan)).toEqual([])
    expect(await mattersOf(ann, plan)).toEqual(['replied'])
  })

  it('tells of replies after one’s own words, and the author of everything on the change', async () => {
    const plan = await proposed()
    const first = await comment(viewer, plan, 'Is this right?')
    expect(await mattersOf(trial.operator, plan)).toEqual(['replied'])
    await comment(ann, plan, 'It is.', first)
    expect(await mattersOf(viewer, plan)).toEqual(['replied'])
    // Ann came last: what was said before is no reply to her.
    expect(await mattersOf(ann, plan)).toEqual([])
    const last = await comment(ben, plan, 'No.', first)
    expect(await matterOf(viewer, plan)).toMatchObject([
      { matter: 'replied', many: 2, comment_id: last, excerpt: 'No.', actor: ben.userId },
    ])
    expect(await mattersOf(ann, plan)).toEqual(['replied'])
  })

  it('tells the author what became of the change, and not what they did themselves', async () => {
    const plan = await promoted()
    expect(await mattersOf(trial.operator, plan)).toEqual(['promoted'])
    await read(trial.operator, await inboxOf(trial.operator))
    await undo(plan)
    expect(await matterOf(trial.operator, plan)).toMatchObject([
      { matter: 'undone', actor: ben.userId, excerpt: 'It was wrong.' },
    ])
    const rejected = await proposed()
    await call(ann, `select iu_core.fn_ingest_reject($1, 'Too late.')`, [rejected.upload_id])
    expect(await matterOf(trial.operator, rejected)).toMatchObject([
      {
        matter: 'rejected',
        excerpt: 'Too late.',
      },
    ])
    const own = await proposed()
    await review(ann, own, 'approve')
    await call(trial.operator, 'select iu_core.fn_ingest_promote($1, $2)', [own.upload_id, own.digest])
    expect(await mattersOf(trial.operator, own)).toEqual([])
  })

  it('stays unread where it came after what was listed', async () => {
    const plan = await proposed()
    await comment(trial.operator, plan, `@${ann.userId} one`)
    const listed = await inboxOf(ann)
    await comment(trial.operator, plan, `@${ann.userId} two`)
    expect(await read(ann, listed)).toBeGreaterThan(0)
    expect(await matterOf(ann, plan)).toMatchObject([{ matter: 'mentioned', excerpt: `@${ann.userId} two` }])
    await read(ann, await inboxOf(ann))
    expect(await mattersOf(ann, plan)).toEqual([])
    // An older list takes nothing back.
    expect(await read(ann, listed)).toBe(0)
    expect(await mattersOf(ann, plan)).toEqual([])
  })

  it('is listed for 30 days, and its marks are deleted after that', async () => {
    const plan = await proposed()
    await comment(trial.operator, plan, `@${ann.userId} old`)
    await read(ann, await inboxOf(ann))
    await db.owner(`update iu_core.change_inbox_read set read_until = read_until - interval '32 days'`)
    await db.owner(
      `update iu_core.change_comment set created_at = created_at - interval '32 days' where change_id = $1`,
      [plan.change],
    )
    expect(await mattersOf(ann, plan, true)).toEqual([])
    expect(await trial.service('select iu_core.fn_inbox_cleanup() as deleted', [])).toEqual([
      { deleted: expect.any(Number) },
    ])
    expect(await db.owner('select from iu_core.change_inbox_read')).toEqual([])
  })
})

describe('an undo that is asked for', () => {
  it('is to be done by everybody who may undo, with who asked and why, and marking as read does not lose it', async () => {
    const plan = await promoted()
    await askUndo(trial.operator, plan)
    for (const who of [ann, ben, admin]) {
      const { matters } = await inboxOf(who)
      expect(matters.find(({ matter }) => matter === 'undo_requested')).toMatchObject({
        change_id: plan.change,
        to_do: true,
        actor: trial.operator.userId,
        excerpt: 'The price was doubled.',
      })
    }
    expect(await mattersOf(viewer, plan)).toEqual([])
    expect(await mattersOf(trial.operator, plan)).not.toContain('undo_requested')
    const { matters } = await inboxOf(ann)
    const mark = (items: Inbox['matters']) => db.as(ann, (client) => markRead(client, items))
    expect(await sqlstateOf(mark(matters))).toBe('SD343')
    await read(ann, await inboxOf(ann)).catch(() => 0)
    expect(await mattersOf(ann, plan)).toEqual(['undo_requested'])
    await undo(plan)
    for (const who of [ann, ben, admin]) expect(await mattersOf(who, plan)).toEqual([])
  })

  it('is declined with an answer, withdrawn by whoever asked, and asked again', async () => {
    const plan = await promoted()
    const decline = (by: Member, reason: string | null = null) =>
      call(by, 'select iu_core.fn_change_undo_decline($1, $2)', [plan.change, reason])
    expect(await sqlstateOf(decline(ann))).toBe('SD343')
    await askUndo(viewer, plan)
    expect(await sqlstateOf(decline(trial.operator))).toBe('SD202')
    await decline(ann, 'It is right.')
    expect(await mattersOf(ben, plan)).toEqual([])
    expect(await matterOf(viewer, plan)).toMatchObject([{ matter: 'replied', excerpt: 'It is right.' }])
    await askUndo(viewer, plan)
    expect(await mattersOf(ben, plan)).toEqual(['undo_requested'])
    await decline(viewer)
    expect(await mattersOf(ben, plan)).toEqual([])
    await askUndo(viewer, plan)
    await undo(plan)
    expect(await mattersOf(viewer, plan)).toContain('undone')
    expect(await sqlstateOf(askUndo(viewer, plan))).toBe('SD602')
  })

  it('ends with the time to undo', async () => {
    const plan = await promoted()
    await askUndo(trial.operator, plan)
    await db.owner(
      `update iu_core.ingest_promotion set promoted_at = now() - interval '2 days', undo_until = now() - interval '1 day'
        where upload_id = $1`,
      [plan.upload_id],
    )
    expect(await mattersOf(ann, plan)).toEqual([])
  })
})

it('an outdated plan is to be done by its author until it is planned again', async () => {
  const plan = await proposed()
  await trial.service('select iu_core.fn_ingest_promotion_failed($1, $2, $3, $4, null)', [
    plan.upload_id,
    plan.digest,
    JSON.stringify({ code: 'plan_stale', message: 'Production has changed', hint: 'Plan again.' }),
    ben.userId,
  ])
  expect(await matterOf(trial.operator, plan)).toMatchObject([
    {
      matter: 'plan_outdated',
      to_do: true,
      excerpt: 'Production has changed',
    },
  ])
  await trial.planned(plan.upload_id, 'LENIENT', 0.5)
  expect(await mattersOf(trial.operator, plan)).not.toContain('plan_outdated')
})

describe('a plan that becomes outdated', () => {
  const priced = (sku: string, price: number) =>
    trial.stagePlanned([{ sku, day: '2026-11-01', price, note: 'x' }], {
      dataset: PRICES,
      uploadedBy: trial.operator.userId,
    })
  const outdated = async (plan: Proposal) =>
    (await matterOf(trial.operator, plan)).filter(({ matter }) => matter === 'plan_outdated')

  it('is to be done by its author with the commit of the promotion that wrote its rows, and before anybody tries to promote it', async () => {
    const sku = `s${++skus}`
    const first = await submitted(await priced(sku, 1))
    await review(ann, first, 'approve')
    const mine = await submitted(await priced(sku, 2))
    const untouched = await proposed()
    expect(await outdated(mine)).toEqual([])
    await promote(first)
    const [row] = await db.owner<{ number: number }>(
      'select number from iu_core.change where change_id = $1',
      [first.change],
    )
    expect(await outdated(mine)).toMatchObject([
      {
        to_do: true,
        actor: ben.userId,
        many: 1,
        excerpt: `the promotion of #${row!.number} wrote 1 row of the plan`,
      },
    ])
    expect(await outdated(untouched)).toEqual([])
    expect(await mattersOf(ann, mine)).toEqual([])
    const again = await submitted(await trial.planned(mine.upload_id, 'STRICT', 0.9, 'use_mine'))
    expect(await outdated(again)).toEqual([])
    // And with an undo.
    await undo(first)
    expect(await outdated(again)).toMatchObject([
      { actor: ben.userId, excerpt: `the undo of #${row!.number} wrote 1 row of the plan` },
    ])
  })

  it('also as a draft; and no longer when a comparison finds the rows as they were planned', async () => {
    const sku = `s${++skus}`
    const first = await submitted(await priced(sku, 1))
    await review(ann, first, 'approve')
    const draft = await priced(sku, 2)
    const [row] = await db.owner<{ change_id: string }>(
      'select change_id from iu_core.change where subject_id = $1',
      [draft.upload_id],
    )
    const mine = { ...draft, change: row!.change_id }
    await promote(first)
    expect(await outdated(mine)).toHaveLength(1)
    await undo(first)
    expect(await outdated(mine)).toHaveLength(1)
    await call(viewer, 'select count(*) from iu_core.fn_ingest_plan_stale($1)', [mine.upload_id])
    expect(await outdated(mine)).toEqual([])
    // What another program wrote is known as soon as somebody compares, and says who did.
    await db.owner(
      `insert into public.trial_prices (workspace_id, sku, day, price) values ($1, $2, '2026-11-01', 9)`,
      [trial.workspace, sku],
    )
    expect(await outdated(mine)).toEqual([])
    await call(viewer, 'select count(*) from iu_core.fn_ingest_plan_stale($1)', [mine.upload_id])
    expect(await outdated(mine)).toMatchObject([
      { actor: viewer.userId, excerpt: '1 row changed since the plan was made' },
    ])
  })
})

it('names everybody who approved, with the time, wherever an approval is shown', async () => {
  await approvals(2)
  const plan = await proposed()
  await review(ann, plan, 'approve')
  await review(ben, plan, 'approve')
  const both = [
    { reviewer: ann.userId, at: expect.any(String) },
    { reviewer: ben.userId, at: expect.any(String) },
  ]
  const approvers = async (sql: string) =>
    (await db.as(viewer, (client) => client.query(sql, [plan.upload_id]))).rows[0]?.approvers
  expect(await approvers('select approvers from iu_core.v_change where subject_id = $1')).toEqual(both)
  expect(await approvers('select approvers from iu_core.v_ingest_upload where upload_id = $1')).toEqual(both)
  // The review package speaks for the plan of its upload.
  expect(
    await approvers(
      'select iu_core.fn_change_approvers(review_record_id) as approvers from iu_core.ingest_plan where upload_id = $1',
    ),
  ).toEqual(both)
  await promote(plan)
  expect(
    await approvers(`select h.detail -> 'approvers' as approvers from iu_core.change c join iu_core.change_history h using (change_id)
                      where c.subject_id = $1 and h.detail ->> 'to' = 'promoted'`),
  ).toEqual(both)
  expect(
    await db.as(outsider, (client) =>
      client.query('select iu_core.fn_change_approvers($1) as a', [plan.upload_id]),
    ),
  ).toMatchObject({
    rows: [{ a: [] }],
  })
})

describe('nobody is told of what they may not see', () => {
  it('not an outsider, not somebody who left, not an agent; and nobody reads the inbox of another', async () => {
    const leaver = await createMember(db, trial.workspace, 'reviewer')
    const plan = await proposed()
    await ask(plan, [leaver])
    await comment(trial.operator, plan, `@${leaver.userId} please`)
    expect(await mattersOf(leaver, plan)).toEqual(['review_requested', 'mentioned'])
    await db.owner('delete from public.workspace_members where user_id = $1', [leaver.userId])
    expect(await inboxOf(leaver)).toEqual({ matters: [], to_do: 0, unread: 0 })
    // As if somebody had written the outsider's name into every table.
    await db.owner(`update iu_core.change_comment set mentions = array[$2] where change_id = $1`, [
      plan.change,
      outsider.userId,
    ])
    await db.owner(
      `insert into iu_core.change_reviewer (change_id, reviewer, requested_by) values ($1, $2, 'x')`,
      [plan.change, outsider.userId],
    )
    expect((await inboxOf(outsider)).matters).toEqual([])
    const item = [{ change_id: plan.change, matter: 'mentioned' as const, seen: 1 }]
    expect(await db.as(outsider, (client) => markRead(client, item))).toBe(0)
    const agent = await createMember(db, trial.workspace, 'agent')
    expect(await sqlstateOf(inboxOf(agent))).toBe('42501')
    const another = db.as(viewer, (client) => readInbox(client, { person: ann.userId }))
    expect(await sqlstateOf(another)).toBe('SD203')
    expect(await sqlstateOf(db.as(viewer, (client) => markRead(client, item, ann.userId)))).toBe('SD203')
    expect(
      await sqlstateOf(
        call(viewer, `insert into iu_core.change_inbox_read values ($1, $2, 'mentioned', now())`, [
          viewer.userId,
          plan.change,
        ]),
      ),
    ).toBe('42501')
  })

  it('and back-end code sees exactly what the person that it names sees', async () => {
    const plan = await proposed()
    await ask(plan, [ann])
    await comment(trial.operator, plan, `@${ann.userId} please`)
    const library = changesLibrary({
      service: (work) =>
        inTransaction(db.pool('stagedoor_api'), work, { role: 'service_role', claims: { sub: 'importer' } }),
    })
    const seen = await library.inbox(ann.userId)
    expect(seen).toEqual(await inboxOf(ann))
    expect(await library.markRead(ann.userId, unreadNews(seen))).toBe(unreadNews(seen).length)
    expect(await mattersOf(ann, plan)).toEqual(['review_requested'])
    expect(await library.inbox(outsider.userId)).toMatchObject({ matters: [] })
  })
})

it('what one session does is done in the inbox of another with its commit, not before', async () => {
  const plan = await proposed()
  await ask(plan, [ann])
  const tab = await person(db, ann.role, ann.userId)
  const other = await person(db, ann.role, ann.userId)
  const now = async () =>
    (await readInbox(other.session, { limit: 500 })).matters.filter(
      ({ change_id }) => change_id === plan.change,
    )
  const listed = async () => (await now()).map(({ matter }) => matter)
  await tab.session.query('begin')
  await tab.session.query('select iu_core.fn_change_review($1, $2, $3, null, $4)', [
    plan.change,
    'approve',
    plan.digest,
    await boxes(db, plan.upload_id),
  ])
  expect(await listed()).toContain('review_requested')
  await tab.session.query('commit')
  expect(await listed()).not.toContain('review_requested')
  // A comment that is not committed is neither listed nor marked by whoever marks everything meanwhile.
  await comment(trial.operator, plan, `@${ann.userId} one`)
  const writer = await person(db, trial.operator.role, trial.operator.userId)
  await writer.session.query('begin')
  await writer.session.query('select iu_core.fn_change_comment($1, $2)', [plan.change, `@${ann.userId} two`])
  await markRead(other.session, unreadNews(await readInbox(other.session)))
  expect(await listed()).not.toContain('mentioned')
  await writer.session.query('commit')
  expect(await now()).toMatchObject([{ matter: 'mentioned', excerpt: `@${ann.userId} two` }])
})

it('agrees with a model whatever happens in whatever order', { tags: 'property' }, async () => {
  const steps = fc.array(
    fc.constantFrom('ask', 'unask', 'approve', 'request_changes', 'withdraw', 'mention', 'list', 'mark'),
    { minLength: 4, maxLength: 14 },
  )
  await approvals(3)
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const plan = await proposed()
      const model = {
        asked: false,
        verdict: undefined as string | undefined,
        mentions: 0,
        listed: 0,
        marked: 0,
      }
      let listed: Inbox | undefined
      for (const step of story) {
        if (step === 'ask' || step === 'unask') {
          await ask(plan, step === 'ask' ? [ann] : [])
          model.asked = step === 'ask'
        } else if (step === 'mention') {
          await comment(trial.operator, plan, `@${ann.userId} ${++model.mentions}`)
        } else if (step === 'list') {
          listed = await inboxOf(ann)
          model.listed = model.mentions
        } else if (step === 'mark') {
          const items = unreadNews(listed ?? { matters: [], to_do: 0, unread: 0 })
          if (items.length > 0) {
            await db.as(ann, (client) => markRead(client, items))
            if (items.some(({ change_id }) => change_id === plan.change))
              model.marked = Math.max(model.marked, model.listed)
          }
        } else {
          const done = await review(ann, plan, step).then(
            () => true,
            () => false,
          )
          if (done) model.verdict = step === 'withdraw' ? undefined : step
        }
        const expected = [
          ...(model.asked && model.verdict === undefined ? ['review_requested'] : []),
          ...(model.mentions > model.marked ? ['mentioned'] : []),
        ]
        expect(await mattersOf(ann, plan), `after ${step} of ${story}`).toEqual(expected)
        const author = await mattersOf(trial.operator, plan)
        expect(author.includes('changes_requested')).toBe(model.verdict === 'request_changes')
      }
      expect(await difference()).toEqual([])
    }),
    { numRuns: cases(6, 60) },
  )
})

it('finds it by indexes among 10,000 changes', async () => {
  await db.owner(
    `insert into iu_core.change (workspace_id, number, kind, subject_id, title, author, status, digest, created_at, updated_at, closed_at, history_count, comment_count)
     select $1, 1000000 + n, 'record', gen_random_uuid(), 'Change ' || n, 'somebody ' || n % 50, case when n % 20 = 0 then 'open' else 'promoted' end, 'd',
            now() - n * interval '1 minute', now() - n * interval '1 minute', case when n % 20 <> 0 then now() end, 2, 1
       from generate_series(1, 10000) n`,
    [trial.workspace],
  )
  await db.owner(
    `insert into iu_core.change_history (change_id, seq, actor, what, detail)
     select change_id, s, author, case s when 1 then 'opened' else 'status' end, '{}' from iu_core.change, generate_series(1, 2) s where number > 1000000`,
  )
  await db.owner(
    `insert into iu_core.change_comment (comment_id, change_id, thread_id, body, author)
     select change_id, change_id, change_id, 'text', author from iu_core.change where number > 1000000`,
  )
  await db.owner(
    `insert into iu_core.change_reviewer (change_id, reviewer, requested_by)
     select change_id, 'somebody ' || (number + 1) % 50, 'x' from iu_core.change where number > 1000000`,
  )
  await db.owner(
    'analyze iu_core.change, iu_core.change_history, iu_core.change_comment, iu_core.change_reviewer, iu_core.change_review',
  )
  const plan = await proposed()
  await ask(plan, [ann])
  await comment(trial.operator, plan, `@${ann.userId} please`)
  const scans = await db.as(ann, async (client) => {
    const { matters } = await readInbox(client)
    expect(matters.map(({ matter }) => matter)).toEqual(
      expect.arrayContaining(['review_requested', 'mentioned']),
    )
    const { rows } = await client.query<{ table: string; rows: number }>(
      `select relname as table, seq_tup_read::integer as rows from pg_stat_xact_user_tables
        where relname in ('change', 'change_history', 'change_comment', 'change_reviewer') and seq_scan > 0`,
    )
    return rows
  })
  expect(scans).toEqual([])
})
