/** Members, invitations and machine tokens: who may do what with them, and attacks on them. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { acceptInvitation } from '../../src/access/invitations.ts'
import { createMachineToken } from '../../src/access/machine-tokens.ts'
import { keepEmail } from '../../src/access/members.ts'
import { sha256 } from '../../src/access/secrets.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useApi } from '../support/api.ts'
import { createBrowser } from '../support/browser-session.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const api = useApi(db, { signIn: { linkInvitations: true } })
let workspace: string
let admin: Member
let operator: Member
let stranger: Member

beforeAll(async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  workspace = await createWorkspace(db)
  admin = await createMember(db, workspace, 'admin')
  operator = await createMember(db, workspace, 'operator')
  stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
})

async function call(method: string, path: string, as: Member | string, body?: object) {
  const token = typeof as === 'string' ? as : await api.token(as)
  const reply = await api.app.inject({
    method: method as 'GET',
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { payload: body }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: what came is compared
  return { status: reply.statusCode, body: reply.json() as any }
}
const invite = async (role = 'operator', invitee = 'Grace') => {
  const { body } = await call('POST', '/invitations', admin, { invitee, role })
  return {
    id: body.invitation.invitation_id as string,
    code: (body.link as string).split('#invitation=')[1]!,
  }
}
const join = (code: string, name?: string) =>
  createBrowser(api.app).send('POST', '/sign-in', { invitation: code, ...(name && { name }) })

describe('members', () => {
  it('are listed for members and changed by administrators of that workspace only', async () => {
    const path = `/members?workspace_id=${workspace}`
    const list = await call('GET', path, operator)
    expect(list.body.managed).toBe(true)
    expect(list.body.members.map(({ user_id }: { user_id: string }) => user_id).sort()).toEqual(
      [admin.userId, operator.userId].sort(),
    )
    expect((await call('GET', path, stranger)).body.code).toBe('not_member')
    const user = `/members/${encodeURIComponent('auth0|ada/1')}`
    const wanted = { workspace_id: workspace, role: 'viewer', name: 'Ada' }
    expect((await call('PUT', user, operator, wanted)).body.code).toBe('right_missing')
    expect((await call('PUT', user, stranger, wanted)).body.code).toBe('not_member')
    expect((await call('PUT', user, admin, wanted)).body).toMatchObject({
      user_id: 'auth0|ada/1',
      role: 'viewer',
      display_name: 'Ada',
    })
    expect((await call('PUT', user, admin, { role: 'reviewer' })).body).toMatchObject({
      role: 'reviewer',
      display_name: 'Ada',
    })
    expect((await call('PUT', '/members/token:1', admin, wanted)).status).toBe(400)
    expect((await call('DELETE', `${user}?workspace_id=${workspace}`, stranger)).body.code).toBe('not_member')
    expect((await call('DELETE', user, admin)).body).toEqual({ tokens: 0 })
    expect((await call('DELETE', user, admin)).status).toBe(404)
    const events = await db.owner<{ event_type: string; actor: string }>(
      `select event_type, actor from iu_core.event_outbox where event_subject_ref = 'auth0|ada/1' order by seq`,
    )
    expect(events).toEqual(
      ['member_added', 'member_changed', 'member_removed'].map((event_type) => ({
        event_type,
        actor: admin.userId,
      })),
    )
  })

  it('keep their last administrator, also when two take the role from each other at once', async () => {
    const own = await createWorkspace(db, 'Two')
    const [a, b] = [await createMember(db, own, 'admin'), await createMember(db, own, 'admin')]
    const [first, second] = await Promise.all([
      call('PUT', `/members/${b.userId}`, a, { role: 'viewer' }),
      call('DELETE', `/members/${a.userId}`, b),
    ])
    // One of them came first; the other one is refused for it.
    expect([first.status, second.status].filter((status) => status === 200)).toHaveLength(1)
    const [left] = first.status === 200 ? [a] : [b]
    expect((await call('PUT', `/members/${left!.userId}`, left!, { role: 'reviewer' })).body).toMatchObject({
      code: 'last_admin',
      status: 409,
    })
    expect((await call('DELETE', `/members/${left!.userId}`, left!)).body.code).toBe('last_admin')
  })

  it('who are removed from their only workspace are signed out', async () => {
    const { code } = await invite()
    const browser = createBrowser(api.app)
    await browser.send('POST', '/sign-in', { invitation: code, name: 'Grace' })
    const { body } = await browser.send('GET', '/me')
    expect(body).toMatchObject({ name: 'Grace', workspaces: [{ id: workspace, role: 'operator' }] })
    expect((await call('DELETE', `/members/${body.actor}`, admin)).status).toBe(200)
    expect((await browser.send('GET', '/me')).status).toBe(401)
  })
})

describe('an invitation', () => {
  it('makes one person a member, also when three open the link at once; the link is not kept', async () => {
    const { code } = await invite('reviewer')
    expect(JSON.stringify(await db.owner('select * from iu_core.invitation'))).not.toContain(code)
    const shown = await createBrowser(api.app).send('POST', '/invitations/show', { code })
    expect(shown.body).toMatchObject({ workspace: 'Acme Media', role: 'reviewer', invitee: 'Grace' })
    const answers = await Promise.all([join(code, 'A'), join(code, 'B'), join(code, 'C')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect((await join(code)).body).toMatchObject({ code: 'invitation_invalid' })
  })

  it('that was revoked or expired works no more', async () => {
    const [revoked, late] = [await invite(), await invite()]
    expect((await call('POST', `/invitations/${revoked.id}/revoke`, operator)).body.code).toBe(
      'right_missing',
    )
    expect((await call('POST', `/invitations/${revoked.id}/revoke`, admin)).body).toEqual({ revoked: true })
    expect((await join(revoked.code)).body.detail).toContain('was revoked')
    await db.owner(`update iu_core.invitation set expires_at = clock_timestamp() where invitation_id = $1`, [
      late.id,
    ])
    expect((await join(late.code)).body.detail).toContain('has expired')
    expect((await createBrowser(api.app).send('POST', '/invitations/show', { code: late.code })).status).toBe(
      409,
    )
    const { body } = await call('GET', '/invitations', admin)
    const status = (id: string) =>
      body.invitations.find((one: { invitation_id: string }) => one.invitation_id === id).status
    expect([status(revoked.id), status(late.id)]).toEqual(['revoked', 'expired'])
    expect((await join('x'.repeat(43))).body.code).toBe('invitation_invalid')
  })

  it('ends with the right of whoever made it', async () => {
    for (const end of ['removed', 'demoted']) {
      const second = await createMember(db, workspace, 'admin')
      const made = await call('POST', '/invitations', second, { invitee: 'Myself', role: 'admin' })
      const code = (made.body.link as string).split('#invitation=')[1]!
      const path = `/members/${second.userId}`
      const { status } =
        end === 'removed'
          ? await call('DELETE', path, admin)
          : await call('PUT', path, admin, { role: 'viewer' })
      expect([end, status]).toEqual([end, 200])
      expect((await join(code)).body).toMatchObject({ code: 'invitation_invalid' })
    }
  })

  it('is accepted by whoever is signed in, and changes nothing for a member', async () => {
    const { code } = await invite('viewer')
    expect((await call('POST', '/invitations/accept', admin, { code })).body.detail).toContain(
      'member of this workspace already',
    )
    expect((await call('POST', '/invitations/accept', stranger, { code })).body).toEqual({
      workspace_id: workspace,
      role: 'viewer',
    })
    const { body } = await call('GET', '/me', stranger)
    expect(body.workspaces).toHaveLength(2)
    await call('DELETE', `/members/${stranger.userId}?workspace_id=${workspace}`, admin)
  })

  it('makes no second person of whoever made it: not in their browser, not with their e-mail address', async () => {
    const { code } = await invite('reviewer')
    const own = createBrowser(api.app)
    await own.send('POST', '/sign-in', { token: await api.token(admin) })
    const self = await own.send('POST', '/sign-in', { invitation: code, name: 'Second' })
    expect(self).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('You made this invitation') },
    })
    const accept = (subject: string, email: string) =>
      sqlstateOf(
        inTransaction(
          db.pool('stagedoor_api'),
          async (client) => {
            await keepEmail(client, admin.userId, 'ada@example.com')
            await acceptInvitation(client, sha256(code), { subject, email })
          },
          { role: 'service_role' },
        ),
      )
    expect(await accept('ada-again', 'Ada@example.com')).toBe('SD208')
    expect(await accept('grace', 'grace@example.com')).toBe('not refused')
    const { body } = await call('GET', `/invitations?workspace_id=${workspace}`, admin)
    expect(body.invitations).toContainEqual(
      expect.objectContaining({ created_by: admin.userId, accepted_by: 'grace' }),
    )
    await call('DELETE', `/members/grace?workspace_id=${workspace}`, admin)
  })

  it('is created by administrators of the workspace only, for a role that exists', async () => {
    const wanted = { workspace_id: workspace, invitee: 'Eve', role: 'admin' }
    expect((await call('POST', '/invitations', operator, wanted)).body.code).toBe('right_missing')
    expect((await call('POST', '/invitations', stranger, wanted)).body.code).toBe('not_member')
    expect((await call('POST', '/invitations', admin, { ...wanted, role: 'owner' })).status).toBe(400)
    expect((await call('POST', '/invitations', admin, { ...wanted, invitee: 'a\u0007' })).status).toBe(400)
  })
})

describe('a machine token', () => {
  const create = (body: object = {}, as: Member | string = admin) =>
    call('POST', '/tokens', as, {
      workspace_id: workspace,
      name: 'nightly export',
      role: 'operator',
      ...body,
    })
  const stage = (as: string) =>
    call('POST', '/staging', as, {
      staging_kind: 'cut_preview',
      payload_type: 'import_preview',
      purpose: 'of a machine',
      workspace_id: workspace,
      parts: [{ part_name: 'n', payload_kind: 'json', payload_json: 1 }],
    })

  it('is shown once, acts as a member with its role, and its use is seen', async () => {
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(body.secret).toMatch(/^sdt_[\w-]{43}$/)
    expect(JSON.stringify(await db.owner('select * from iu_core.machine_token'))).not.toContain(body.secret)
    const list = async () =>
      (await call('GET', '/tokens', admin)).body.tokens.find(
        ({ token_id }: { token_id: string }) => token_id === body.token.token_id,
      )
    expect(await list()).toMatchObject({ name: 'nightly export', last_used_at: null })
    expect((await call('GET', '/me', body.secret)).body).toEqual({
      actor: `token:${body.token.token_id}`,
      name: 'nightly export',
      role: 'authenticated',
      workspaces: [
        { id: workspace, name: 'Acme Media', role: 'operator', rights: ['read', 'stage', 'operate'] },
      ],
    })
    expect((await list()).last_used_at).not.toBeNull()
    const { body: staged } = await stage(body.secret)
    expect(
      await db.owner(
        'select owner_actor, owner_via from iu_core.iu_staging_record where staging_record_id = $1',
        [staged.staging_record_id],
      ),
    ).toEqual([{ owner_actor: body.token.subject, owner_via: admin.userId }])
    expect(JSON.stringify(await list())).not.toContain('sdt_')
  })

  it('decides nothing, and whoever created it does not approve what it staged; somebody else does', async () => {
    const { body } = await create()
    const { body: record } = await stage(body.secret)
    const approve = (as: Member | string) =>
      call('POST', `/staging/${record.staging_record_id}/approve`, as, { digest: record.content_hash })
    expect((await approve(body.secret)).body.code).toBe('right_missing')
    expect((await approve(admin)).body.code).toBe('staging_own_record')
    expect((await approve(await createMember(db, workspace, 'reviewer'))).status).toBe(200)
    for (const path of ['/tokens', '/invitations'])
      expect((await call('GET', path, body.secret)).body.code).toBe('right_missing')
  })

  it('has no more rights than its role: viewer, read only, agent, and nothing elsewhere', async () => {
    const viewer = (await create({ role: 'viewer' })).body.secret
    expect((await stage(viewer)).body.code).toBe('right_missing')
    const reading = (await create({ read_only: true })).body.secret
    expect((await call('GET', '/me', reading)).status).toBe(200)
    expect((await stage(reading)).body.detail).toContain('only read')
    const agent = (await create({ role: 'agent' })).body.secret
    expect((await call('GET', '/me', agent)).body).toMatchObject({
      role: 'stagedoor_agent',
      workspaces: [{ role: 'agent' }],
    })
    const there = await call('GET', `/members?workspace_id=${stranger.userId}`, viewer)
    expect(there.status).toBe(403)
    const { workspaces } = (await call('GET', '/me', stranger)).body
    expect((await call('GET', `/members?workspace_id=${workspaces[0].id}`, viewer)).body.code).toBe(
      'not_member',
    )
  })

  it('is created by administrators only, for their workspace and without more rights than a machine has', async () => {
    expect((await create({}, operator)).body.code).toBe('right_missing')
    expect((await create({}, stranger)).body.code).toBe('not_member')
    expect((await create({}, (await create()).body.secret)).body.code).toBe('right_missing')
    for (const role of ['reviewer', 'admin', 'service_role'])
      expect((await create({ role })).status).toBe(400)
    expect((await create({ role: 'service' })).body.code).toMatch(/not_member|right_missing/)
    expect((await create({ role: 'executor', executor: 'external_worker' })).status).toBe(403)
    // In SQL as well.
    const sql = (role: string, ws: string | null) =>
      sqlstateOf(
        db.as({ role: 'stagedoor_reviewer', claims: { sub: admin.userId } }, (client) =>
          client.query(`select iu_core.fn_machine_token_create($1, $2, 'x', $3, '1 day')`, [
            ws,
            'a'.repeat(64),
            role,
          ]),
        ),
      )
    expect(await sql('service', workspace)).toBe('SD202')
    expect(await sql('service', null)).toBe('SD201')
    expect(await sql('admin', workspace)).toBe('SD001')
    expect(
      await sqlstateOf(
        db.as({ role: 'authenticated', claims: { sub: admin.userId } }, (client) =>
          client.query('select iu_core.fn_machine_token_list($1)', [workspace]),
        ),
      ),
    ).toBe('42501')
  })

  it('works no more once it is revoked or expired, over HTTP and in the database', async () => {
    const [one, two] = [(await create()).body, (await create()).body]
    expect(
      (await call('POST', `/tokens/${one.token.token_id}/revoke`, stranger, { workspace_id: workspace }))
        .status,
    ).toBe(403)
    expect((await call('POST', `/tokens/${one.token.token_id}/revoke`, admin)).body).toMatchObject({
      revoked: true,
    })
    expect((await call('GET', '/me', one.secret)).body.code).toBe('token_invalid')
    await db.owner('update iu_core.machine_token set expires_at = clock_timestamp() where token_id = $1', [
      two.token.token_id,
    ])
    expect((await call('GET', '/me', two.secret)).body.code).toBe('token_invalid')
    for (const { token } of [one, two]) {
      const { rows } = await db.as({ role: 'authenticated', claims: { sub: token.subject } }, (client) =>
        client.query('select iu_core.fn_my_workspaces()'),
      )
      expect(rows).toEqual([])
    }
    expect((await call('GET', '/me', `sdt_${'x'.repeat(43)}`)).body.code).toBe('token_invalid')
    // A JWT cannot take the name of a machine.
    const forged = await api.token({ userId: two.token.subject, role: 'authenticated' })
    expect((await call('GET', '/me', forged)).body.code).toBe('token_invalid')
  })

  it('of the back end leases the jobs of its executor, or does what service_role does, and is created by the back end', async () => {
    const owner = db.pool(MIGRATOR)
    const { secret } = await createMachineToken(owner, {
      workspaceId: null,
      name: 'w1',
      role: 'executor',
      executor: 'external_worker',
      days: 1,
    })
    expect((await call('GET', '/gates', secret)).status).not.toBe(401)
    const service = await createMachineToken(owner, {
      workspaceId: null,
      name: 'prometheus',
      role: 'service',
      readOnly: true,
      days: 1,
    })
    const me = await call('GET', '/me', service.secret)
    expect(me.body).toMatchObject({ actor: 'prometheus', role: 'service_role' })
    expect((await call('GET', '/tokens', service.secret)).body.tokens).toHaveLength(2)
    expect((await call('POST', `/tokens/${randomUUID()}/revoke`, service.secret)).status).toBe(403)
  })
})
