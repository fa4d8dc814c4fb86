// @module-tag long
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/kernel/postgres/embedded/server.ts'
import { freePort, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const SECRET = 'a secret that is long enough for HS256'

// Passwords belong to the whole server, so this file has one of its own.
const home = temporaryHome('login')
let server: EmbeddedServer

beforeAll(async () => {
  server = await startEmbedded({ home, durability: 'throwaway' })
})
afterAll(async () => {
  await server.stop()
})

it('from an administrator’s address to a running API with members', async () => {
  await withClient(server.url(), async (client) => {
    await client.query(`create role owner_of_app login createrole password 'hush'`)
    await client.query('create database app owner owner_of_app')
  })
  const administrator = new URL(server.url('app'))
  administrator.username = 'owner_of_app'
  administrator.password = 'hush'
  const env = { DATABASE_URL: administrator.toString() }
  const migrated = await runCli(['migrate'], env)
  expect(migrated.stdout).toContain('stagedoor login')
  expect((await runCli(['login'], env)).code).toBe(2)
  const { stdout } = await runCli(['login', '--reset', '--json'], env)
  const {
    database_url: url,
    database_direct_url: direct,
    playbook_database_url: playbook,
    proposal_database_url: proposal,
  } = JSON.parse(stdout)
  expect(new URL(direct).username).toBe('stagedoor_worker')
  await withClient(playbook, async (session) => {
    expect((await session.query('select session_user as login')).rows).toEqual([
      { login: 'stagedoor_playbook' },
    ])
    await expect(session.query('set role service_role')).rejects.toThrow(/permission denied/)
  })
  await withClient(proposal, async (session) => {
    expect((await session.query('select session_user as login')).rows).toEqual([
      { login: 'stagedoor_proposer' },
    ])
    await expect(session.query('set role service_role')).rejects.toThrow(/permission denied/)
  })
  const client = new pg.Client(url)
  await client.connect()
  expect((await client.query('select session_user as login')).rows).toEqual([{ login: 'stagedoor_api' }])
  await expect(client.query('select from iu_core.dot_config')).rejects.toThrow(/permission denied/)
  await client.end()
  expect((await runCli(['doctor'], { DATABASE_URL: url, DATABASE_DIRECT_URL: env.DATABASE_URL })).code).toBe(
    0,
  )

  // The API runs with these two alone: no login that may migrate is needed.
  const running = { DATABASE_URL: url, DATABASE_DIRECT_URL: direct }
  const api = startCli(['start'], {
    ...running,
    PORT: String(await freePort()),
    STAGEDOOR_JWT_SECRET: SECRET,
  })
  await api.says(/Ctrl-C stops everything/)
  expect(await api.end()).toBe(0)
  expect(await runCli(['start'], running)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('STAGEDOOR_JWT_SECRET'),
  })
  // And they cannot administer.
  expect((await runCli(['migrate'], running)).code).toBe(3)

  // From an empty database to somebody who can sign in.
  await runCli(['workspace', 'create', 'Acme Media'], env)
  const added = await runCli(['member', 'add', '--role', 'reviewer', '--name', 'Ada', '--json'], env)
  const member = JSON.parse(added.stdout)
  expect(member).toMatchObject({ workspace: 'Acme Media', role: 'reviewer', display_name: 'Ada' })
  const token = await runCli(['token', '--user', member.user_id], { ...env, STAGEDOOR_JWT_SECRET: SECRET })
  expect(token.stdout.trim().split('.')).toHaveLength(3)
  expect((await runCli(['member', 'list'], env)).stdout).toContain('Ada')

  // The logins that run can sign for a member and act as one; where they cannot, the message names the login that can.
  const signed = await runCli(['token', '--as', 'reviewer'], { ...running, STAGEDOOR_JWT_SECRET: SECRET })
  expect(signed).toMatchObject({ code: 0, stderr: '' })
  expect((await runCli(['staging', 'list', '--as', 'reviewer'], running)).code).toBe(0)
  expect(await runCli(['token'], running)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('Set STAGEDOOR_JWT_SECRET to the secret'),
  })
  const jwks = { ...running, STAGEDOOR_JWKS_URL: 'https://id.example.com/jwks' }
  expect((await runCli(['token'], jwks)).stderr).toContain('Your identity provider')
  const refused = await runCli(['member', 'list'], running)
  expect(refused.code).toBe(3)
  expect(refused.stderr).toContain('The login stagedoor_worker may not act as workflow_admin')
  expect(refused.stderr).toContain('the login that migrated')
  expect(refused.stderr).not.toContain('must be stagedoor_worker')
})
