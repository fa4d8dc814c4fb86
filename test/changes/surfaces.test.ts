/** Changes over HTTP, on the command line and in the library: found by their number wherever an upload or a record is named. */
import { beforeAll, describe, expect, it } from 'vitest'
import { changesLibrary } from '../../src/changes/library.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { createRecord } from '../../src/staging/records.ts'
import { useApi } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { type Planned, useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const api = useApi(db)
const trial = useTrial(db, { approval: true })
const V1 = '/api/v1'
let plan: Planned
let record: string
const tokens = {} as Record<'operator' | 'reviewer' | 'outsider' | 'reader' | 'both', string>

beforeAll(async () => {
  plan = await trial.stagePlanned([{ group_code: 'g', group_name: 'G', day: '2026-11-01', amount: 1 }])
  record = await db.as(trial.operator, async (client) => {
    const created = await createRecord(
      client,
      JSON.stringify({
        staging_kind: 'cut_preview',
        payload_type: 'import_preview',
        purpose: 'A preview',
        workspace_id: trial.workspace,
        parts: [{ part_name: 'preview', payload_kind: 'json', payload_json: {} }],
      }),
    )
    return created.staging_record_id
  })
  const elsewhere = await createWorkspace(db, 'elsewhere')
  tokens.operator = await api.token(trial.operator)
  tokens.reviewer = await api.token(trial.reviewer)
  tokens.reader = await api.token(trial.operator, { readOnly: true })
  const outsider = await createMember(db, elsewhere, 'reviewer')
  tokens.outsider = await api.token(outsider)
  // Two workspaces, each with a change #1.
  const both = await createMember(db, elsewhere, 'operator')
  await db.owner(
    `insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'operator')`,
    [trial.workspace, both.userId],
  )
  tokens.both = await api.token(both)
  await db.as(both, (client) =>
    createRecord(
      client,
      JSON.stringify({
        staging_kind: 'cut_preview',
        payload_type: 'import_preview',
        purpose: 'Elsewhere',
        workspace_id: elsewhere,
        parts: [{ part_name: 'preview', payload_kind: 'json', payload_json: {} }],
      }),
    ),
  )
})

async function call(method: 'PATCH' | 'PUT' | 'DELETE', path: string, token: string, payload?: object) {
  const reply = await api.app.inject({
    method,
    url: V1 + path,
    headers: { authorization: `Bearer ${token}`, ...(payload && { 'content-type': 'application/json' }) },
    ...(payload && { payload }),
  })
  return { status: reply.statusCode, body: (reply.body === '' ? null : reply.json()) as never }
}

describe('over HTTP', () => {
  it('finds a change by its number, its id and its subject, and the subject by the number', async () => {
    const { body } = await api.get(`${V1}/changes/1`, tokens.operator)
    const { change_id, subject_id } = body as { change_id: string; subject_id: string }
    expect(body).toMatchObject({
      number: 1,
      kind: 'upload',
      status: 'draft',
      dataset: 'trial',
      subject_id: plan.upload_id,
      may: { comment: true, edit: true, resolve: true },
    })
    for (const name of ['%231', change_id, subject_id])
      expect((await api.get(`${V1}/changes/${name}`, tokens.operator)).body).toMatchObject({ change_id })
    for (const name of ['1', '%231'])
      expect((await api.get(`${V1}/uploads/${name}`, tokens.operator)).body).toMatchObject({
        upload_id: plan.upload_id,
        change: 1,
      })
    expect((await api.get(`${V1}/staging/2`, tokens.operator)).body).toMatchObject({
      staging_record_id: record,
      change: 2,
    })
    expect((await api.get(`${V1}/uploads/2`, tokens.operator)).status).toBe(404)
    expect((await api.get(`${V1}/uploads/99`, tokens.operator)).body).toMatchObject({
      code: 'change_not_found',
    })
    expect((await api.get(`${V1}/changes/2`, tokens.outsider)).status).toBe(404)
  })

  it('asks for the workspace where several have the number', async () => {
    expect((await api.get(`${V1}/changes/1`, tokens.both)).body).toMatchObject({ code: 'change_ambiguous' })
    const named = await api.get(`${V1}/changes/1?workspace_id=${trial.workspace}`, tokens.both)
    expect(named.body).toMatchObject({ subject_id: plan.upload_id })
  })

  it('edits, asks for a review, comments on a cell, replies, resolves, and lists what there is', async () => {
    const edited = await call('PATCH', '/changes/1', tokens.operator, {
      title: 'Week 45',
      labels: ['finance'],
    })
    expect(edited).toMatchObject({ status: 200, body: { title: 'Week 45', labels: ['finance'] } })
    const asked = await call('PUT', '/changes/1/reviewers', tokens.operator, {
      reviewers: [trial.reviewer.userId],
    })
    expect(asked.body).toMatchObject({ reviewers: [{ reviewer: trial.reviewer.userId }] })
    const first = await api.post(`${V1}/changes/1/comments`, tokens.reviewer, {
      body: 'Is this **right**? <script>alert(1)</script>',
      row_type: 'figure',
      line: 2,
      column: 'amount',
    })
    expect(first).toMatchObject({ status: 201, body: { line: 2, digest: plan.digest } })
    const { comment_id } = first.body as { comment_id: string }
    await api.post(`${V1}/changes/1/comments`, tokens.operator, { body: 'Yes.', reply_to: comment_id })
    const at = `/changes/1/comments/${comment_id}`
    expect((await call('PATCH', at, tokens.operator, { body: 'x' })).body).toMatchObject({
      code: 'change_not_yours',
    })
    await call('PATCH', at, tokens.reviewer, { body: 'Is this right?' })
    expect((await api.get(`${V1}${at}/edits`, tokens.operator)).body).toMatchObject({
      edits: [{ edit_no: 1 }],
    })
    expect((await api.post(`${V1}${at}/resolve`, tokens.operator)).body).toEqual({ changed: true })
    expect((await api.get(`${V1}/changes/1/comments?unresolved=true`, tokens.operator)).body).toMatchObject({
      comments: [],
    })
    expect((await api.post(`${V1}${at}/reopen`, tokens.reviewer)).body).toEqual({ changed: true })
    const listed = await api.get(`${V1}/changes/1/comments?limit=1`, tokens.operator)
    const { comments, next } = listed.body as { comments: object[]; next: string }
    expect(comments).toMatchObject([{ body: 'Is this right?', column_name: 'amount' }])
    expect((await api.get(`${V1}/changes/1/comments?after=${next}`, tokens.operator)).body).toMatchObject({
      comments: [{ body: 'Yes.', thread_id: comment_id, column_name: 'amount' }],
      next: null,
    })
    expect((await call('DELETE', at, tokens.reviewer)).status).toBe(204)
    // A comment is found on its own change only.
    expect((await call('DELETE', `/changes/2/comments/${comment_id}`, tokens.reviewer)).status).toBe(404)
    for (const [filter, numbers] of [
      ['reviewer=me', [1]],
      ['label=finance', [1]],
      ['kind=record', [2]],
      ['dataset=trial&status=draft,open', [1]],
      ['limit=1', [2]],
    ] as const) {
      const { body } = await api.get(`${V1}/changes?${filter}`, tokens.reviewer)
      expect((body as { changes: { number: number }[] }).changes.map(({ number }) => number)).toEqual(numbers)
    }
    // Who is asked through a group is asked, too.
    await trial.service(`select iu_core.fn_group_add($1, 'Finance', $2)`, [
      trial.workspace,
      trial.reviewer.userId,
    ])
    await call('PUT', '/changes/2/reviewers', tokens.reviewer, { groups: ['finance'] })
    for (const [who, numbers] of [
      [tokens.reviewer, [2, 1]],
      [tokens.operator, []],
    ] as const) {
      const { body } = await api.get(`${V1}/changes?reviewer=me`, who)
      expect((body as { changes: { number: number }[] }).changes.map(({ number }) => number)).toEqual(numbers)
    }
    const { body } = await api.get(`${V1}/changes/1/history?after=2`, tokens.operator)
    expect((body as { history: { what: string }[] }).history.map(({ what }) => what)).toEqual([
      'titled',
      'labelled',
      'review_requested',
      'commented',
      'commented',
      'comment_edited',
      'thread_resolved',
      'thread_reopened',
      'comment_deleted',
    ])
  })

  it('shows the inbox, marks news as read, and refuses that for what is to be done', async () => {
    type Matter = { matter: string; change_id: string; seen: number; number: number }
    const inbox = async (query = '') =>
      (await api.get(`${V1}/inbox${query}`, tokens.reviewer)).body as {
        matters: Matter[]
        to_do: number
        unread: number
        people: object
      }
    await api.post(`${V1}/changes/2/comments`, tokens.operator, { body: `@${trial.reviewer.userId} please` })
    const listed = await inbox()
    expect(listed).toMatchObject({ to_do: 1, people: {} })
    const [asked] = listed.matters
    expect(asked).toMatchObject({ matter: 'review_requested', number: 2 })
    const item = ({ change_id, matter, seen }: Matter) => ({ change_id, matter, seen })
    const mark = (matters: Matter[]) =>
      api.post(`${V1}/inbox/read`, tokens.reviewer, { matters: matters.map(item) })
    expect((await mark([asked!])).status).toBe(400)
    const mention = listed.matters.find(({ matter }) => matter === 'mentioned')!
    expect((await mark([mention])).body).toEqual({ marked: 1 })
    expect((await inbox()).matters.map(({ matter }) => matter)).not.toContain('mentioned')
    expect((await inbox('?all=true')).matters.map(({ matter }) => matter)).toContain('mentioned')
    expect((await api.get(`${V1}/inbox`, tokens.outsider)).body).toMatchObject({ matters: [], to_do: 0 })
    expect(
      (await api.post(`${V1}/changes/2/undo-request`, tokens.operator, { reason: 'x' })).body,
    ).toMatchObject({
      code: 'change_refused',
    })
    expect((await api.post(`${V1}/changes/2/undo-request/decline`, tokens.operator, {})).body).toMatchObject({
      code: 'change_refused',
    })
  })

  it('lets a token that can only read look and nothing else', async () => {
    expect((await api.get(`${V1}/changes/1`, tokens.reader)).body).toMatchObject({
      may: { comment: false, edit: false },
    })
    expect((await api.post(`${V1}/changes/1/comments`, tokens.reader, { body: 'x' })).status).toBe(403)
  })
})

describe('in the library', () => {
  it('does the same for whom it names', async () => {
    const service = <T>(work: Parameters<typeof inTransaction<T>>[1]) =>
      inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
    const changes = changesLibrary({ service })
    const by = trial.reviewer.userId
    const { comment_id } = await changes.comment(record, { body: 'Looks good', by })
    expect((await changes.comments(record)).at(-1)).toMatchObject({ author: by, via: 'stagedoor_worker' })
    expect(await changes.resolve(comment_id, by)).toBe(true)
    expect(await changes.get('2', { workspace: trial.workspace })).toMatchObject({ open_threads: 1 })
    expect(await changes.rebuild({ checkOnly: true })).toEqual([])
  })
})

describe('on the command line', () => {
  const env = () => ({
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url('stagedoor_worker'),
  })
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(args, env())
    return { code, stderr, stdout }
  }

  it('lists, shows and discusses changes by their number, and names uploads by it', async () => {
    await run('change', 'label', '2', 'preview')
    const listed = await run('change', 'list', '--label', 'preview')
    expect(listed.stdout).toMatch(/#2 +open +record +A preview/)
    await run('change', 'comment', '#2', 'From the terminal')
    const comments = await run('change', 'comments', record)
    expect(comments.stdout).toContain('From the terminal')
    const shown = await run('upload', 'show', plan.upload_id.slice(0, 13), '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({ change: 1 })
    expect((await run('staging', 'show', '#2')).stdout).toContain(record)
    expect((await run('upload', 'show', '#2')).stderr).toContain('There is no change #2')
    expect((await run('change', 'show', '#1')).stderr).toContain('Several workspaces have a change #1')
    expect(await run('change', 'rebuild', '--check')).toMatchObject({ code: 0 })
  })
})
