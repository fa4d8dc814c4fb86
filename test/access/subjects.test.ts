/** The subject of a token is any text, not only a uuid: as a member, over the API, behind row security and in every audit column. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { listMembers, setMember } from '../../src/access/members.ts'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const api = useApi(db)

beforeAll(() => db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`))

const SUBJECTS = [
  ['an id of Auth0', 'auth0|abc'],
  ['an e-mail address', 'ada@example.com'],
  ['255 characters', 'x'.repeat(255)],
  ['not ASCII', 'Ngô Bảo Châu 🎭'],
  ['quotes and signs', `o'hara"; --\\ %_$1`],
  ['a uuid', randomUUID()],
]

describe.each(SUBJECTS)('%s', (_what, subject) => {
  it('is a member, stages, sees their own, and does not approve it; another one does', async () => {
    const workspace = await createWorkspace(db, subject.slice(0, 20))
    const second = `${subject.slice(0, 250)}|2`
    const owner = db.pool(MIGRATOR)
    const added = await setMember(owner, {
      workspaceId: workspace,
      userId: subject,
      role: 'reviewer',
      displayName: 'Ada',
    })
    expect(added).toMatchObject({ user_id: subject, role: 'reviewer' })
    await setMember(owner, { workspaceId: workspace, userId: second, role: 'reviewer' })
    await setMember(owner, { workspaceId: workspace, userId: subject, role: 'admin' })
    expect((await listMembers(owner, workspace)).map((member) => [member.user_id, member.role])).toEqual([
      [subject, 'admin'],
      [second, 'reviewer'],
    ])

    const token = await api.token({ userId: subject, role: 'authenticated' })
    expect((await api.get('/api/v1/me', token)).body).toMatchObject({
      actor: subject,
      name: 'Ada',
      workspaces: [{ id: workspace, role: 'admin' }],
    })
    const made = await api.post('/api/v1/staging', token, {
      staging_kind: 'cut_preview',
      payload_type: 'import_preview',
      purpose: 'a subject of its own',
      workspace_id: workspace,
      parts: [{ part_name: 'n', payload_kind: 'json', payload_json: 1 }],
    })
    expect(made.status).toBe(201)
    const { staging_record_id: id, content_hash: digest } = made.body as Record<string, string>
    const listed = await api.get(`/api/v1/staging?owner=${encodeURIComponent(subject)}`, token)
    expect(listed.body).toMatchObject({
      records: [{ staging_record_id: id, owner_actor: subject }],
      people: { [subject]: 'Ada' },
    })
    expect((await api.post(`/api/v1/staging/${id}/approve`, token, { digest })).status).toBe(403)
    const other = await api.token({ userId: second, role: 'authenticated' })
    expect((await api.post(`/api/v1/staging/${id}/approve`, other, { digest })).body).toMatchObject({
      approved_by: second,
    })
    expect(
      await db.owner(
        `select actor, event_type from iu_core.event_outbox where event_subject_ref = $1 order by id`,
        [id],
      ),
    ).toEqual([
      { actor: subject, event_type: 'record_created' },
      { actor: second, event_type: 'record_approved' },
    ])
    const stranger = await api.token({ userId: `${subject.slice(0, 250)}|3`, role: 'authenticated' })
    expect((await api.get(`/api/v1/staging/${id}`, stranger)).status).toBe(404)
  })
})

it.each(['', 'a\nb', 'a\0b', 'x'.repeat(256)])('%j is no member', async (userId) => {
  const workspaceId = await createWorkspace(db)
  await expect(setMember(db.pool(MIGRATOR), { workspaceId, userId, role: 'viewer' })).rejects.toMatchObject({
    code: 'argument_invalid',
  })
})

it('says why where the members table knows uuids only', async () => {
  const client = await db.session()
  await client.query('begin')
  await client.query(
    'alter table public.workspace_members drop constraint workspace_members_user_id_is_a_subject',
  )
  await client.query(
    'alter table public.workspace_members alter column user_id type uuid using gen_random_uuid()',
  )
  const workspaceId = await createWorkspace(db)
  await expect(
    setMember(client as never, { workspaceId, userId: 'ada@example.com', role: 'viewer' }),
  ).rejects.toMatchObject({
    code: 'argument_invalid',
    message: expect.stringContaining('is a uuid in this database'),
  })
  await client.query('rollback')
})
