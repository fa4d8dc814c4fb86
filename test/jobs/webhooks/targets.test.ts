/** Targets of webhooks: who may set and see them, and that a secret never comes back. */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  deleteWebhookTarget,
  listWebhookTargets,
  newWebhookSecret,
  setWebhookTarget,
  type WebhookTargetSettings,
} from '../../../src/jobs/webhooks.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'

const db = useDatabase()
let ours: string
let theirs: string
let admin: Member
let others: Member[]

const TARGET = {
  url: 'https://hooks.example.com/T0/B1',
  secret: newWebhookSecret(),
  purpose: 'review',
} as const

beforeAll(async () => {
  ours = await createWorkspace(db, 'ours')
  theirs = await createWorkspace(db, 'theirs')
  admin = await createMember(db, ours, 'admin')
  others = [
    await createMember(db, ours, 'viewer'),
    await createMember(db, ours, 'operator'),
    await createMember(db, ours, 'reviewer'),
    await createMember(db, ours, 'agent'),
    await createMember(db, theirs, 'admin'),
  ]
})

const set = (member: Member, code: string, settings: Partial<WebhookTargetSettings>) =>
  db.as(member, (client) => setWebhookTarget(client, code, { ...TARGET, workspace_id: ours, ...settings }))
const asService = <T>(work: Parameters<typeof inTransaction<T>>[1]) =>
  inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
const stored = async (code: string) =>
  (await db.owner('select * from iu_core.webhook_target where target_code = $1', [code]))[0]

describe('an administrator of a workspace', () => {
  it('sets, sees, changes and removes its targets', async () => {
    await set(admin, 'chat', { description: 'the team' })
    const [seen] = await db.as(admin, (client) => listWebhookTargets(client, ours))
    expect(seen).toMatchObject({
      target_code: 'chat',
      workspace_id: ours,
      url: TARGET.url,
      enabled: true,
      description: 'the team',
      registered_by: admin.userId,
    })
    expect(Object.keys(seen!)).not.toContain('secret')
    await db.as(admin, (client) => setWebhookTarget(client, 'chat', { enabled: false }))
    expect(await stored('chat')).toMatchObject({
      enabled: false,
      secret: TARGET.secret,
      description: 'the team',
    })
    await db.as(admin, (client) => deleteWebhookTarget(client, 'chat'))
    expect(await stored('chat')).toBeUndefined()
  })

  it('neither sees nor touches those of another workspace or of all', async () => {
    await asService((client) => setWebhookTarget(client, 'theirs', { ...TARGET, workspace_id: theirs }))
    await asService((client) => setWebhookTarget(client, 'all', TARGET))
    for (const code of ['theirs', 'all']) {
      const change = db.as(admin, (client) =>
        setWebhookTarget(client, code, { url: 'https://evil.example.com/' }),
      )
      expect(await sqlstateOf(change)).toBe('SD201')
      // A name is taken once; whose it is is not said.
      const taken = await set(admin, code, {}).catch((error) => error)
      expect(taken).toMatchObject({ code: 'argument_invalid', message: expect.stringContaining('is taken') })
      expect(JSON.stringify([taken.message, taken.details])).not.toContain(theirs)
    }
    for (const code of ['theirs', 'all', 'nobodys']) {
      expect(await sqlstateOf(db.as(admin, (client) => deleteWebhookTarget(client, code)))).toBe('SD335')
    }
    expect(await stored('theirs')).toBeDefined()
    expect(await db.as(admin, (client) => listWebhookTargets(client, ours))).toEqual([])
    for (const workspace of [theirs, undefined]) {
      expect(await sqlstateOf(db.as(admin, (client) => listWebhookTargets(client, workspace)))).toBe('SD201')
    }
  })

  it('cannot take a target to another workspace', async () => {
    await set(admin, 'stays', {})
    const moved = asService((client) => setWebhookTarget(client, 'stays', { workspace_id: theirs }))
    expect(await sqlstateOf(moved)).toBe('SD001')
  })
})

it('everybody else may do none of it', async () => {
  for (const member of others) {
    expect(['SD201', 'SD202', '42501']).toContain(await sqlstateOf(set(member, 'mine', {})))
    expect(['SD201', 'SD202', '42501']).toContain(
      await sqlstateOf(db.as(member, (client) => listWebhookTargets(client, ours))),
    )
  }
  expect(await stored('mine')).toBeUndefined()
})

it('lets nobody but the worker read a secret', async () => {
  await asService((client) => setWebhookTarget(client, 'read', TARGET))
  const read = 'select secret from iu_core.webhook_target'
  for (const role of [
    'service_role',
    'authenticated',
    'stagedoor_reviewer',
    'stagedoor_agent',
    'anon',
    'directus',
  ]) {
    const tried = inTransaction(db.pool('postgres'), (client) => client.query(read), { role })
    expect(await sqlstateOf(tried), role).toBe('42501')
  }
  expect((await db.pool('stagedoor_worker').query(read)).rowCount).toBeGreaterThan(0)
  const seen = await asService((client) =>
    client.query('select target_code, url from iu_core.webhook_target'),
  )
  expect(seen.rowCount).toBeGreaterThan(0)
})

describe('a target is refused', () => {
  it.each([
    ['without a secret', { secret: undefined }],
    ['with a secret that is too short', { secret: 'whsec_c2hvcnQ=' }],
    ['with a secret of another form', { secret: 'a secret that is long enough but no base64' }],
    ['with a user in its address', { url: 'https://user:password@hooks.example.com/' }],
    ['with an address that is none', { url: 'hooks.example.com' }],
    ['with another protocol', { url: 'file:///etc/passwd' }],
    ['with a purpose that nobody sends for', { purpose: 'fun' as never }],
    ['with a field that it does not have', { registered_by: 'somebody' } as object],
  ])('%s', async (_, wrong) => {
    const tried = asService((client) => setWebhookTarget(client, 'wrong', { ...TARGET, ...wrong }))
    expect(await sqlstateOf(tried)).toBe('SD001')
  })

  it('without its secret in the error', async () => {
    const long = `whsec_${'A'.repeat(500)}`
    const tried = asService((client) => setWebhookTarget(client, 'wrong', { ...TARGET, secret: long }))
    const error = await tried.catch((thrown) => thrown)
    expect(
      JSON.stringify([error.message, error.details, error.cause?.message, error.cause?.detail]),
    ).not.toContain('AAAA')
  })
})

it('says that a target is not there', async () => {
  expect(await sqlstateOf(asService((client) => deleteWebhookTarget(client, 'nobody')))).toBe('SD335')
})
