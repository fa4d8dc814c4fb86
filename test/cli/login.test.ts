import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withClient } from '../../src/db/connection.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/server.ts'
import { runCli } from '../support/cli.ts'

// Passwords belong to the whole server, so this file has one of its own.
const home = mkdtempSync(join(tmpdir(), 'stagedoor-login-'))
chmodSync(home, 0o755)
let server: EmbeddedServer

beforeAll(async () => {
  server = await startEmbedded({ home, durability: 'throwaway' })
})
afterAll(async () => {
  await server.stop()
  rmSync(home, { recursive: true, force: true })
})

it('from an administrator’s address to the address of the API', async () => {
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
  const { stdout } = await runCli(['login', '--json'], env)
  const { database_url: url, database_direct_url: direct } = JSON.parse(stdout)
  expect(direct).toBe(env.DATABASE_URL)
  const client = new pg.Client(url)
  await client.connect()
  expect((await client.query('select session_user as login')).rows).toEqual([{ login: 'stagedoor_api' }])
  await expect(client.query('select from iu_core.dot_config')).rejects.toThrow(/permission denied/)
  await client.end()
  expect((await runCli(['doctor'], { DATABASE_URL: url, DATABASE_DIRECT_URL: direct })).code).toBe(0)
})
