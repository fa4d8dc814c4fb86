/** `stagedoor mcp`: the same server over stdin and stdout, without a server that runs; on one's own database and on the embedded default. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientBefore } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as TransportBefore } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, expect, it } from 'vitest'
import { createMachineToken } from '../../src/access/machine-tokens.ts'
import { signToken } from '../../src/access/tokens.ts'
import { inTransaction, SERVICE_ROLE } from '../../src/kernel/postgres/transaction.ts'
import { SECRET } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'
import { openToStatements } from '../support/proposals.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { answerOf, clientOf, type McpClient, rowsOf } from './mcp-api.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

const db = useDatabase()
const ads = useIngest(db, { approval: true })
const home = temporaryHome('mcp')
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const client of open.splice(0)) await client.close()
})

const ownDatabase = () => ({
  STAGEDOOR_HOME: home,
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url('stagedoor_worker'),
  STAGEDOOR_JWT_SECRET: SECRET,
})
const tokenOf = (expiresIn = '1h') =>
  signToken(SECRET, { subject: ads.agent.userId, role: 'stagedoor_agent', expiresIn })

function command(env: Record<string, string>, args: readonly string[] = []) {
  const { PATH = '', HOME = '' } = process.env
  return {
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env: { PATH, HOME, STAGEDOOR_DEMO: 'off', ...env },
    stderr: 'pipe' as const,
  }
}

async function connect(
  env: Record<string, string>,
  { args = [], era = 'auto' }: { args?: string[]; era?: 'auto' | 'legacy' } = {},
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } })
  await client.connect(new StdioClientTransport(command(env, args)))
  open.push(client)
  return clientOf(client)
}

it('serves clients of both generations on a database of one’s own', async () => {
  const env = { ...ownDatabase(), STAGEDOOR_TOKEN: await tokenOf() }
  const modern = await connect(env)
  const legacy = await connect(env, { era: 'legacy' })
  const before = new ClientBefore({ name: 'test', version: '1' })
  await before.connect(new TransportBefore(command(env)) as never)
  open.push(before)

  const rows = rowsOf('Stdio')
  const request = { dataset: 'ads', platform: 'meta', key: 'stdio', rows }
  const proposed = await modern.call('propose_rows', request)
  expect(proposed.text).toContain('3 lines, 0 of them invalid')
  expect((await legacy.call('propose_rows', request)).data).toMatchObject({
    upload: proposed.data.upload,
    created: false,
  })
  const plan = answerOf(
    await before.callTool({ name: 'get_plan', arguments: { upload: proposed.data.upload } }),
  )
  expect(plan.data.rows.length).toBeGreaterThan(3)
  const [upload] = await db.owner<{ uploaded_by: string }>('select uploaded_by from iu_core.ingest_upload')
  expect(upload!.uploaded_by).toBe(ads.agent.userId)
})

it('works out statements under the login of PROPOSAL_DATABASE_URL, and says so without it', async () => {
  await db.pool('postgres').query(`create table public.wares (id integer primary key, price numeric);
    insert into public.wares values (1, 10), (2, 20);
    grant select, insert, update, delete on public.wares to workflow_admin`)
  await openToStatements(db, ads.workspace, 'public.wares')
  const env = { ...ownDatabase(), STAGEDOOR_TOKEN: await tokenOf() }
  const request = { statement: 'update wares set price = price * 2 where id = 2', key: 'double' }
  const without = await connect(env)
  const refused = await without.call('propose_change', request)
  expect(refused.structured.error.code).toBe('proposal_login_missing')
  expect(refused.data.message).toContain('PROPOSAL_DATABASE_URL is not set')

  const agent = await connect({ ...env, PROPOSAL_DATABASE_URL: db.url('stagedoor_proposer') })
  const { data } = await agent.call('propose_change', request)
  expect(data).toMatchObject({ created: true, status: 'planned', totals: { wares: { update: 1 } } })
  const plan = await agent.call('get_plan', { upload: data.upload })
  expect(plan.data.rows).toMatchObject([{ before: { price: 20 }, after: { price: 40 } }])
  const submitted = await agent.call('submit', {
    change: data.upload,
    digest: plan.data.digest,
    title: 'Double',
    explanation: 'The second ware costs twice as much.',
  })
  expect(submitted.data).toMatchObject({ status: 'open' })
  const { rows } = await db.pool('postgres').query('select price::int from public.wares order by id')
  expect(rows).toEqual([{ price: 10 }, { price: 20 }])
})

it('reads files of the folder that it was given, and no others', async () => {
  const folder = join(home, 'exports')
  mkdirSync(folder)
  writeFileSync(join(folder, 'week.csv'), 'id,price\n1,2.50\n')
  writeFileSync(join(home, 'secret.csv'), 'password\nhunter2\n')
  symlinkSync(join(home, 'secret.csv'), join(folder, 'link.csv'))
  const env = { ...ownDatabase(), STAGEDOOR_TOKEN: await tokenOf() }
  const agent = await connect(env, { args: ['--files', folder] })
  expect((await agent.call('profile_file', { file: 'week.csv' })).data).toMatchObject({ lines: 1 })
  for (const file of ['../secret.csv', join(home, 'secret.csv'), 'link.csv', '.', '/etc/passwd', 'none.csv'])
    expect((await agent.call('profile_file', { file })).structured.error.code, file).toBe('not_found')

  // A key stands for the bytes of its file, as it does for rows and text.
  const write = (spend: string) =>
    writeFileSync(
      join(folder, 'ads.csv'),
      `Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Link clicks\nFolder,Retarget,Video,2026-11-01,${spend},1000,10\n`,
    )
  const propose = () =>
    agent.call('propose_rows', { dataset: 'ads', platform: 'meta', key: 'folder', file: 'ads.csv' })
  write('10.25')
  const first = await propose()
  expect(first.data).toMatchObject({ created: true, status: 'planned', lines: { invalid: 0 } })
  expect((await propose()).data).toMatchObject({ created: false, upload: first.data.upload })
  write('99.00')
  const other = await propose()
  expect(other.structured.error.code).toBe('proposal_key_used')
  expect(other.data.message).toContain(first.data.upload)
})

it('says what to do without a token, and ends its work when the token has expired', async () => {
  const without = await runCli(['mcp'], ownDatabase(), '')
  expect(without.code).toBe(5)
  expect(without.stderr).toContain('stagedoor token create')
  const wrong = await runCli(['mcp'], { ...ownDatabase(), STAGEDOOR_TOKEN: 'sdt_nothing' }, '')
  expect(wrong.code).toBe(5)
  expect(wrong.stdout).toBe('')
  const unknown = await runCli(['mcp', '--toolsets', 'all'], ownDatabase(), '')
  expect(unknown.stderr).toContain('data, knowledge, work')

  // Machine tokens are revoked in the database, and this process asks again.
  const { secret } = await inTransaction(
    db.pool('stagedoor_worker'),
    (client) =>
      createMachineToken(client, { workspaceId: ads.workspace, name: 'laptop', role: 'agent', days: 1 }),
    SERVICE_ROLE,
  )
  const env = { ...ownDatabase(), STAGEDOOR_TOKEN: secret }
  const agent = await connect(env, { args: ['--read-only', '--toolsets', 'data'] })
  expect(await agent.tools()).not.toContain('propose_rows')
  expect((await agent.call('list_datasets')).isError).toBe(false)
  await db.owner(`update iu_core.machine_token set revoked_at = now(), revoked_by = 'test'`)
  await expect
    .poll(async () => (await agent.call('list_datasets')).structured.error?.code, { timeout: 10_000 })
    .toBe('token_invalid')
})

it('works on the embedded default without a server', async () => {
  const embedded = temporaryHome('mcp-embedded')
  const { stdout } = await runCli(['token', '--as', 'agent'], { STAGEDOOR_HOME: embedded })
  const agent = await connect({ STAGEDOOR_HOME: embedded, STAGEDOOR_TOKEN: stdout.trim() })
  expect((await agent.call('list_datasets')).data).toEqual({ datasets: [] })
  expect(
    (await agent.call('stage_record', { purpose: 'x', key: 'x', parts: [{ name: 'x', text: 'x' }] }))
      .structured,
  ).toMatchObject({ error: { code: 'gate_closed' }, missing: { gate: 'iu_core.staging_writes_enabled' } })
})
