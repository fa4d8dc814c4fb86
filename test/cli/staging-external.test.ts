import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const home = temporaryHome('staging-external')
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
let reviewer: Member

const settings = () => ({
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url(MIGRATOR),
  STAGEDOOR_HOME: home,
})
const staging = (...args: string[]) => runCli(['staging', ...args], settings())
const EXCERPT = ['--kind', 'agent_intermediate', '--type', 'source_excerpt']

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  await createMember(db, workspace, 'agent')
  reviewer = await createMember(db, workspace, 'reviewer')
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'test')`)
})

it('on your own database nobody decides in the name of another', async () => {
  const made = await staging(
    ...['create', '--as', 'agent', '--kind', 'agent_intermediate', '--type', 'source_excerpt', '--json'],
    ...['--purpose', 'try', '--part', 'a:text=x'],
  )
  expect(made).toMatchObject({ code: 0 })
  const { staging_record_id: id, content_hash: digest } = JSON.parse(made.stdout)
  for (const args of [
    ['approve', id, '--digest', digest, '--as', 'reviewer'],
    ['reject', id, '--reason', 'no', '--as', 'reviewer'],
    ['tick', id, '1', '--as', 'reviewer'],
    ['approve', id, '--digest', digest],
    ['reject', id, '--reason', 'no'],
    ['tick', id, '1'],
    ['reject', id, '--reason', 'no', '--user', reviewer.userId],
    ['show', id, '--user', reviewer.userId],
  ]) {
    const { code, stderr } = await staging(...args)
    expect({ args, code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/own token.*unset DATABASE_URL/),
    })
  }
  const rows = await db.owner(`select lifecycle_status from iu_core.iu_staging_record`)
  expect(rows).toEqual([{ lifecycle_status: 'pending' }])
})

it('a blob stays when the database is lost, since its record may have been committed', async () => {
  const child = spawn(
    process.execPath,
    [MAIN, ...['staging', 'create', '--as', 'agent', '--purpose', 'try', '--part', 'a:blob=-'], ...EXCERPT],
    { env: { PATH: process.env.PATH, NO_COLOR: '1', ...settings() } },
  )
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = once(child, 'close')
  child.stdin.write('first half, ')
  // It waits for the rest within its transaction.
  await until('the draft', () => filesIn(join(home, 'blobs', 'drafts'))[0])
  const sessions = await withClient(db.server.superuserUrl, (client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like 'stagedoor % cli'`,
      [db.name],
    ),
  )
  expect(sessions.rowCount).toBe(1)
  child.stdin.end('second half')
  expect({ code: (await ended)[0], stderr }).toMatchObject({ code: 4 })
  expect(filesIn(join(home, 'blobs'))).toHaveLength(1)
})

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}
