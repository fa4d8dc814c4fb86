/** The conversation of a change: who may write, edit, delete and resolve; what others see of it; and two people at once. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { listComments } from '../../src/changes/comments.ts'
import type { ChangeComment } from '../../src/changes/shapes.ts'
import { member, type Person, service } from '../staging/people.ts'
import { stage } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const trial = useTrial(db)

let workspace: string
const people = {} as Record<
  'author' | 'reviewer' | 'operator' | 'viewer' | 'agent' | 'outsider' | 'backEnd',
  Person
>
let change: string

beforeAll(async () => {
  workspace = await createWorkspace(db, 'conversation')
  people.author = await member(db, workspace, 'operator')
  people.reviewer = await member(db, workspace, 'reviewer')
  people.operator = await member(db, workspace, 'operator')
  people.viewer = await member(db, workspace, 'viewer')
  people.agent = await member(db, workspace, 'agent')
  people.outsider = await member(db, await createWorkspace(db, 'elsewhere'), 'reviewer')
  people.backEnd = await service(db)
})
beforeEach(async () => {
  change = await changeBy(people.author)
})

async function changeBy({ session }: Person): Promise<string> {
  const { staging_record_id } = await stage(session, { workspace })
  const [row] = await db.owner<{ change_id: string }>(
    'select change_id from iu_core.change where subject_id = $1',
    [staging_record_id],
  )
  return row!.change_id
}

async function comment(
  { session }: Person,
  body: string,
  replyTo: string | null = null,
  on = change,
): Promise<ChangeComment> {
  const { rows } = await session.query<ChangeComment>('select * from iu_core.fn_change_comment($1, $2, $3)', [
    on,
    body,
    replyTo,
  ])
  return rows[0]!
}

const edit = ({ session }: Person, id: string, body: string) =>
  session.query('select iu_core.fn_change_comment_update($1, $2)', [id, body])
const remove = ({ session }: Person, id: string) =>
  session.query('select iu_core.fn_change_comment_delete($1)', [id])
const resolve = async ({ session }: Person, id: string, resolved = true): Promise<boolean> =>
  (await session.query('select iu_core.fn_change_thread_resolve($1, $2) as done', [id, resolved])).rows[0]
    .done

const seenBy = async ({ session }: Person) => {
  const tables = [
    'change',
    'change_history',
    'change_comment',
    'change_comment_edit',
    'change_reviewer',
    'v_change',
  ]
  const counts: number[] = []
  for (const table of tables)
    counts.push((await session.query(`select count(*)::integer as n from iu_core.${table}`)).rows[0].n)
  return Object.fromEntries(tables.map((table, place) => [table, counts[place]]))
}

async function eventsOf(type: string): Promise<Record<string, unknown>[]> {
  const rows = await db.owner<{ safe_payload: Record<string, unknown> }>(
    `select safe_payload from iu_core.event_outbox where event_domain = 'change' and event_type = $1 and event_subject_ref = $2 order by seq`,
    [type, change],
  )
  return rows.map(({ safe_payload }) => safe_payload)
}

describe('a comment', () => {
  it('is written by every member who sees the change, and by an agent on its own only', async () => {
    for (const who of [people.author, people.reviewer, people.operator, people.viewer])
      await comment(who, 'Seen.')
    expect(await sqlstateOf(comment(people.agent, 'Seen.'))).toBe('SD340')
    expect(await sqlstateOf(comment(people.outsider, 'Seen.'))).toBe('SD340')
    const own = await changeBy(people.agent)
    await comment(people.agent, 'Mine.', null, own)
    expect(await seenBy(people.agent)).toMatchObject({ change: 1, change_comment: 1, v_change: 1 })
    const { rows } = await people.agent.session.query(
      `select distinct event_subject_ref from iu_core.event_outbox where event_domain = 'change'`,
    )
    expect(rows).toEqual([{ event_subject_ref: own }])
  })

  it('is seen by nobody of another workspace, in no table', async () => {
    const { comment_id } = await comment(people.author, 'A secret')
    await edit(people.author, comment_id, 'Another secret')
    await people.author.session.query('select iu_core.fn_change_reviewers_set($1, $2)', [
      change,
      [people.reviewer.actor],
    ])
    expect(new Set(Object.values(await seenBy(people.outsider)))).toEqual(new Set([0]))
    for (const attempt of [
      () => edit(people.outsider, comment_id, 'x'),
      () => remove(people.outsider, comment_id),
      () => resolve(people.outsider, comment_id),
      () => people.outsider.session.query(`select iu_core.fn_change_edit($1, 'x')`, [change]),
      () => people.outsider.session.query('select iu_core.fn_change_reviewers_set($1)', [change]),
    ])
      expect(await sqlstateOf(attempt())).toBe('SD340')
    expect(
      await sqlstateOf(people.author.session.query(`update iu_core.change_comment set body = 'x'`)),
    ).toBe('42501')
  })

  it('is edited and deleted by its author alone; what it said before is kept until it is deleted', async () => {
    const { comment_id } = await comment(people.author, 'First')
    await edit(people.author, comment_id, 'Second')
    await edit(people.author, comment_id, 'Third')
    expect(await sqlstateOf(edit(people.reviewer, comment_id, 'x'))).toBe('SD342')
    expect(await sqlstateOf(remove(people.reviewer, comment_id))).toBe('SD342')
    const before = 'select body from iu_core.change_comment_edit where comment_id = $1 order by edit_no'
    const { rows } = await people.viewer.session.query(before, [comment_id])
    expect(rows.map(({ body }) => body)).toEqual(['First', 'Second'])
    await remove(people.author, comment_id)
    await remove(people.author, comment_id)
    expect((await people.viewer.session.query(before, [comment_id])).rows).toEqual([])
    expect(await listComments(people.viewer.session, change, { limit: 10 })).toMatchObject([
      { comment_id, body: '', deleted_at: expect.any(Date) },
    ])
    expect(await sqlstateOf(edit(people.author, comment_id, 'Back'))).toBe('SD343')
  })

  it('never appears in events or in the history', async () => {
    const { comment_id } = await comment(people.author, 'the-word-nobody-else-says')
    await edit(people.author, comment_id, 'the-word-nobody-else-says either')
    const told = await db.owner(
      `select from iu_core.event_outbox e where e::text like '%nobody-else-says%'
       union all select from iu_core.change_history h where h::text like '%nobody-else-says%'`,
    )
    expect(told).toEqual([])
    expect(await eventsOf('commented')).toMatchObject([{ change_id: change, comment_id, kind: 'record' }])
  })

  it('has a budget', async () => {
    expect(await sqlstateOf(comment(people.author, ' \n '))).toBe('SD001')
    expect(await sqlstateOf(comment(people.author, 'x'.repeat(10_001)))).toBe('SD001')
    await db.owner('update iu_core.change set comment_count = 5000 where change_id = $1', [change])
    expect(await sqlstateOf(comment(people.author, 'one more'))).toBe('SD343')
  })

  it('is about a row or a cell that the upload has', async () => {
    const plan = await trial.stagePlanned([
      { group_code: 'g', group_name: 'G', day: '2026-11-01', amount: 1 },
    ])
    const write = (rowType: string | null, line: number | null, column: string | null) =>
      db.as(trial.operator, (client) =>
        client.query(
          `select c.* from iu_core.change h, lateral iu_core.fn_change_comment(h.change_id, 'why?', null, $2, $3, $4) c where h.subject_id = $1`,
          [plan.upload_id, rowType, line, column],
        ),
      )
    expect((await write('figure', 2, 'amount')).rows).toMatchObject([
      { row_type: 'figure', line: 2, column_name: 'amount', digest: plan.digest },
    ])
    await write('group', 2, null)
    for (const wrong of [
      () => write('figure', 9, null),
      () => write('figure', null, null),
      () => write(null, null, 'amount'),
    ])
      expect(await sqlstateOf(wrong())).toBe('SD001')
  })
})

describe('a mention', () => {
  it('finds members by name or id, the longest name first, and leaves the rest as text', async () => {
    const called = async ({ actor }: Person, name: string) =>
      db.owner('update public.workspace_members set display_name = $2 where user_id = $1', [actor, name])
    await called(people.reviewer, 'Ana Lima')
    await called(people.operator, 'Ana')
    await called(people.viewer, 'Jörg (QA) .*')
    const mentions = async (body: string) => (await comment(people.author, body)).mentions
    expect(await mentions('@Ana Lima, is this right?')).toEqual([people.reviewer.actor])
    expect(await mentions('@ana.lima and @ana')).toEqual([people.reviewer.actor, people.operator.actor])
    expect(await mentions('@Jörg (QA) .*: look')).toEqual([people.viewer.actor])
    expect(await mentions(`(@${people.viewer.actor})`)).toEqual([people.viewer.actor])
    expect(await mentions('mail@ana @anabel @nobody @')).toEqual([])
    expect(await mentions(`@${people.outsider.actor}`)).toEqual([])
    expect((await eventsOf('mentioned')).map(({ mentioned }) => mentioned)).toEqual([
      [people.reviewer.actor],
      [people.reviewer.actor, people.operator.actor],
      [people.viewer.actor],
      [people.viewer.actor],
    ])
  })
})

describe('a thread', () => {
  it('is resolved by whoever began it, by the author of the change and by reviewers, not by others', async () => {
    const { comment_id: id } = await comment(people.viewer, 'Why?')
    const { comment_id: reply } = await comment(people.operator, 'Because.', id)
    expect(await sqlstateOf(resolve(people.operator, id))).toBe('SD342')
    for (const who of [people.viewer, people.author, people.reviewer]) {
      expect(await resolve(who, reply)).toBe(true)
      expect(await resolve(who, id)).toBe(false)
      expect(await resolve(who, id, false)).toBe(true)
    }
  })

  it('of a person is not an agent’s to resolve, not even on its own change', async () => {
    const own = await changeBy(people.agent)
    const { comment_id: theirs } = await comment(people.reviewer, 'Check the sum.', null, own)
    const { comment_id: its } = await comment(people.agent, 'I did.', null, own)
    expect(await sqlstateOf(resolve(people.agent, theirs))).toBe('SD342')
    expect(await resolve(people.agent, its)).toBe(true)
  })

  it('takes a reply and its resolution at once: both happen, one after the other', async () => {
    const { comment_id: id } = await comment(people.viewer, 'Why?')
    const { session: first } = people.author
    await first.query('begin')
    await comment(people.author, 'Because.', id)
    const resolved = resolve(people.reviewer, id)
    await untilWaiting(db, people.reviewer.session)
    await first.query('commit')
    expect(await resolved).toBe(true)
    const told = await db.owner<{ seq: number; what: string }>(
      'select seq, what from iu_core.change_history where change_id = $1 order by seq',
      [change],
    )
    expect(told.map(({ seq, what }) => [seq, what])).toEqual([
      [1, 'opened'],
      [2, 'commented'],
      [3, 'commented'],
      [4, 'thread_resolved'],
    ])
  })
})

describe('title, labels and reviewers', () => {
  it('are for the author and for reviewers, and the history says who', async () => {
    const editAs = ({ session }: Person, ...values: unknown[]) =>
      session.query('select iu_core.fn_change_edit($1, $2, $3, $4)', [change, ...values])
    await editAs(people.author, 'Week 45', 'The corrected spend', ['b', ' a ', 'b'])
    await editAs(people.reviewer, 'Week 45, again', null, null)
    expect(await sqlstateOf(editAs(people.operator, 'Mine', null, null))).toBe('SD342')
    expect(await sqlstateOf(editAs(people.viewer, 'Mine', null, null))).toBe('SD202')
    expect(await sqlstateOf(editAs(people.author, 'two\nlines', null, null))).toBe('SD001')
    expect(await sqlstateOf(editAs(people.author, null, 'x'.repeat(20_001), null))).toBe('SD001')
    const many = Array.from({ length: 21 }, (_, n) => `label ${n}`)
    expect(await sqlstateOf(editAs(people.author, null, null, many))).toBe('SD001')
    const [row] = await db.owner(
      'select title, description, labels from iu_core.change where change_id = $1',
      [change],
    )
    expect(row).toEqual({ title: 'Week 45, again', description: 'The corrected spend', labels: ['a', 'b'] })
    const told = await db.owner<{ told: string }>(
      `select what || ' ' || actor as told from iu_core.change_history where change_id = $1 and seq > 1 order by seq`,
      [change],
    )
    expect(told.map((one) => one.told)).toEqual([
      ...['titled', 'described', 'labelled'].map((what) => `${what} ${people.author.actor}`),
      `titled ${people.reviewer.actor}`,
    ])
  })

  it('asks people of the workspace for a review, others than the author, and tells whom it asked', async () => {
    const ask = (...asked: (string[] | undefined)[]) =>
      people.author.session.query('select iu_core.fn_change_reviewers_set($1, $2, $3) as added', [
        change,
        ...asked,
      ])
    expect((await ask([people.reviewer.actor], ['finance'])).rows[0].added).toBe(2)
    expect((await ask([people.reviewer.actor, people.viewer.actor], [])).rows[0].added).toBe(1)
    for (const wrong of [people.author.actor, people.outsider.actor, people.agent.actor])
      expect(await sqlstateOf(ask([wrong], []))).toBe('SD001')
    expect(await eventsOf('review_requested')).toMatchObject([
      { reviewers: [people.reviewer.actor], groups: ['finance'] },
      { reviewers: [people.viewer.actor] },
    ])
    const rows = await db.owner(
      'select reviewer, group_name from iu_core.change_reviewer where change_id = $1',
      [change],
    )
    expect(rows).toHaveLength(2)
  })
})
