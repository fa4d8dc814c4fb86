/** Approvals over HTTP and on the command line: asked with an agent's token, waited for, decided by a person, used once. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const api = useApi(db)
const V1 = '/api/v1'
const home = temporaryHome('approvals-cli')
const tokens = {} as Record<'agent' | 'reviewer' | 'operator' | 'admin' | 'outsider' | 'reader', string>
let workspace: string
let reviewer: Member
beforeAll(async () => {
  await db.owner(`update iu_core.dot_config set value = 'true' where key like 'iu_core.staging%'`)
  workspace = await createWorkspace(db)
  reviewer = await createMember(db, workspace, 'reviewer')
  tokens.reviewer = await api.token(reviewer)
  tokens.agent = await api.token(await createMember(db, workspace, 'agent'))
  tokens.admin = await api.token(await createMember(db, workspace, 'admin'))
  const operator = await createMember(db, workspace, 'operator')
  tokens.operator = await api.token(operator)
  tokens.reader = await api.token(operator, { readOnly: true })
  tokens.outsider = await api.token(
    await createMember(db, await createWorkspace(db, 'elsewhere'), 'reviewer'),
  )
})

interface Asked {
  approval_id: string
  digest: string
  status: string
  change: number
}
const REQUEST = { key: 'refund 1871', title: 'Refund of order 1871', show: '**120.00** to Ann' }
const ask = async (token: string, request: object = {}) => {
  const answer = await api.post(`${V1}/approvals`, token, { ...REQUEST, ...request })
  return { status: answer.status, body: answer.body as Asked & { code?: string } }
}

describe('over HTTP', () => {
  it('an agent asks and a person decides; the agent does not, by whatever call', async () => {
    const { status, body } = await ask(tokens.agent, { reviewers: [reviewer.userId] })
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'waiting', created: true })
    const at = `${V1}/approvals/${body.approval_id}`
    const { digest } = body
    for (const [url, payload] of [
      [`${at}/approve`, { digest }],
      [`${V1}/staging/${body.approval_id}/approve`, { digest }],
      [`${V1}/staging/${body.approval_id}/reject`, { reason: 'no' }],
      [`${V1}/changes/${body.change}/review`, { verdict: 'approve', digest }],
      [`${V1}/changes/${body.change}/review`, { verdict: 'request_changes', digest, body: 'x' }],
    ] as const)
      expect((await api.post(url, tokens.agent, payload)).status).toBe(403)
    expect((await api.post(`${at}/use`, tokens.agent)).body).toMatchObject({ code: 'staging_not_approved' })
    expect((await api.get(at, tokens.outsider)).status).toBe(404)
    expect((await ask(tokens.reader)).status).toBe(403)

    const approved = await api.post(`${at}/approve`, tokens.reviewer, { digest, comment: 'covered' })
    expect(approved.body).toMatchObject({
      status: 'approved',
      decisions: [{ by: reviewer.userId, comment: 'covered' }],
    })
    expect((await api.post(`${at}/use`, tokens.agent, { digest })).status).toBe(200)
    expect((await api.post(`${at}/use`, tokens.agent)).body).toMatchObject({ code: 'staging_decided' })
    expect(
      (await api.post(`${at}/finish`, tokens.agent, { error: 'the bank is closed' })).body,
    ).toMatchObject({
      run: { status: 'failed', error: 'the bank is closed' },
    })
    expect((await api.get(`${V1}/approvals?status=approved`, tokens.agent)).body).toMatchObject({
      approvals: [{ approval_id: body.approval_id }],
    })
  })

  it('answers whoever waits when it is decided, and at the latest when the wait is over', async () => {
    const { body } = await ask(tokens.operator, { key: 'waited for' })
    const at = `${V1}/approvals/${body.approval_id}`
    expect((await api.get(`${at}?wait=1`, tokens.operator)).body).toMatchObject({ status: 'waiting' })
    const waiting = api.get(`${at}?wait=30`, tokens.operator)
    await api.post(`${at}/approve`, tokens.reviewer, { digest: body.digest })
    expect((await waiting).body).toMatchObject({ status: 'approved' })
    expect((await api.get(`${at}?wait=61`, tokens.operator)).status).toBe(400)
  })

  it('finds a request again by its key, and refuses other content, strangers and rounded numbers', async () => {
    const first = await ask(tokens.operator, { key: 'again' })
    expect((await ask(tokens.operator, { key: 'again' })).body).toMatchObject({
      approval_id: first.body.approval_id,
      created: false,
    })
    expect((await ask(tokens.operator, { key: 'again', title: 'Other' })).body).toMatchObject({
      code: 'staging_key_taken',
    })
    expect((await ask(tokens.agent, { key: 'again' })).body).toMatchObject({ code: 'approval_key_taken' })
    const rounded = await api.post(
      `${V1}/approvals`,
      tokens.operator,
      '{"key": "big", "title": "Big", "show": {"id": 9007199254740993}}',
    )
    expect(rounded.body).toMatchObject({ code: 'argument_invalid' })
  })

  it('creates kinds for administrators, and checks what is shown by them', async () => {
    const kind = {
      kind: 'refund',
      schema: { type: 'object', required: ['order'], properties: { order: { type: 'integer' } } },
      template: '## Refund of order {{order}}',
    }
    expect((await api.post(`${V1}/kinds`, tokens.agent, kind)).status).toBe(403)
    expect((await api.post(`${V1}/kinds`, tokens.operator, kind)).status).toBe(403)
    expect((await api.post(`${V1}/kinds`, tokens.admin, kind)).body).toMatchObject({
      kind: 'refund',
      revision: 1,
    })
    expect((await api.post(`${V1}/kinds`, tokens.admin, { ...kind, template: 'x' })).body).toMatchObject({
      code: 'approval_kind_exists',
    })
    expect((await api.get(`${V1}/kinds`, tokens.agent)).body).toMatchObject({ kinds: [{ kind: 'refund' }] })
    expect((await api.get(`${V1}/kinds/refund`, tokens.agent)).body).toMatchObject({
      template: kind.template,
    })
    expect(
      (await ask(tokens.agent, { key: 'kind', kind: 'refund', show: { order: '1' } })).body,
    ).toMatchObject({
      code: 'approval_show_invalid',
      detail: 'show is no refund: /order must be an integer, and is string',
    })
    const gone = await api.app.inject({
      method: 'DELETE',
      url: `${V1}/kinds/refund`,
      headers: { authorization: `Bearer ${tokens.admin}` },
    })
    expect(gone.statusCode).toBe(204)
    expect((await api.get(`${V1}/kinds/refund`, tokens.agent)).status).toBe(404)
  })
})

describe('on the command line', () => {
  const env = () => ({ DATABASE_URL: db.url(MIGRATOR), STAGEDOOR_HOME: home })
  const run = (...args: string[]) => runCli([...args, '--workspace', workspace], env())

  it('asks, shows, waits and uses', async () => {
    writeFileSync(join(home, 'refund.json'), '{"order": 1871}')
    writeFileSync(join(home, 'form.json'), '[{"name": "amount", "type": "number", "required": true}]')
    const asked = await run(
      ...[
        'approval',
        'request',
        '--key',
        'cli',
        '--title',
        'Refund',
        '--show',
        `@${join(home, 'refund.json')}`,
      ],
      ...['--form', join(home, 'form.json'), '--reviewers', reviewer.userId, '--timeout', '2d', '--json'],
    )
    expect(asked.stderr).toBe('')
    const { approval_id: id, digest } = JSON.parse(asked.stdout) as Asked
    const shown = await runCli(['approval', 'show', id], env())
    expect(shown.stdout).toMatch(/Refund {2}change #\d+/)
    expect(shown.stdout).toContain('"order": 1871')
    expect(shown.stdout).toContain('amount (number, required)')
    expect(shown.stdout).toContain('Waiting: 0 of 1 approval')
    expect(await runCli(['approval', 'wait', id, '--timeout', '1s'], env())).toMatchObject({ code: 1 })
    // A login decides nothing.
    expect(
      await runCli(['approval', 'approve', id, '--digest', digest, '--answer', 'amount=80'], env()),
    ).toMatchObject({ code: 5 })
    const waiting = runCli(['approval', 'wait', id], env())
    await api.post(`${V1}/approvals/${id}/approve`, tokens.reviewer, { digest, answers: { amount: 80 } })
    const waited = await waiting
    expect(waited).toMatchObject({ code: 0, stdout: expect.stringContaining('Approved') })
    expect(await runCli(['approval', 'use', id], env())).toMatchObject({ code: 0 })
    expect(await runCli(['approval', 'use', id], env())).toMatchObject({ code: 6 })
    expect((await runCli(['approval', 'finish', id], env())).stdout).toContain('and used: done by')
    const list = await runCli(['approval', 'list', '--status', 'approved', '--json'], env())
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({ approval_id: id, answers: { amount: 80 } }),
    )
  })

  it('ends `wait` with 5 when it was rejected', async () => {
    const asked = await run(
      'approval',
      'request',
      '--key',
      'cli no',
      '--title',
      'Refund',
      '--show',
      'x',
      '--json',
    )
    const { approval_id: id } = JSON.parse(asked.stdout) as Asked
    await api.post(`${V1}/staging/${id}/reject`, tokens.reviewer, { reason: 'not covered' })
    const waited = await runCli(['approval', 'wait', id], env())
    expect(waited).toMatchObject({ code: 5, stdout: expect.stringContaining('Not approved: rejected') })
  })

  it('lists and shows kinds; a login creates none', async () => {
    writeFileSync(join(home, 'schema.json'), '{"type": "object"}')
    const created = await run('kind', 'create', 'quote', '--schema', join(home, 'schema.json'))
    expect(created.code).toBe(5)
    await api.post(`${V1}/kinds`, tokens.admin, { kind: 'quote', schema: { type: 'object' } })
    expect((await run('kind', 'list')).stdout).toMatch(/quote +1/)
    expect((await run('kind', 'show', 'quote')).stdout).toContain('"type": "object"')
    expect((await run('kind', 'show', 'nothing')).code).toBe(8)
  })
})
