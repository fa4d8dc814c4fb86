import { once } from 'node:events'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import { freePort, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const home = temporaryHome('cli')

const GATE = 'iu_core.staging_writes_enabled'

async function start() {
  const port = await freePort()
  const server = startCli(['start'], { STAGEDOOR_HOME: home, PORT: String(port) })
  await server.says(/Ctrl-C stops everything/)
  return { server, url: `http://127.0.0.1:${port}` }
}

it('the embedded default, from its first start to a crash and back', async () => {
  const first = await start()
  expect(first.server.output()).toContain('these gates were opened')
  expect(first.server.output()).toContain(GATE)

  // The sign-in link works, once: its token is a member of the one workspace.
  const [, code] = await first.server.says(/Sign in as reviewer.*\n.*#code=(\S+)/)
  const exchange = () =>
    fetch(`${first.url}/api/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, as: 'token' }),
    })
  const { token } = (await (await exchange()).json()) as { token: string }
  expect((await exchange()).status).toBe(401)
  const me = await fetch(`${first.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({
    role: 'stagedoor_reviewer',
    workspaces: [{ name: 'Default', role: 'reviewer' }],
  })

  // The CLI talks to the running server.
  const env = { STAGEDOOR_HOME: home }
  for (const role of ['viewer', 'operator', 'reviewer', 'admin', 'agent']) {
    const { stdout } = await runCli(['token', '--as', role], env)
    const answer = await fetch(`${first.url}/api/v1/me`, {
      headers: { authorization: `Bearer ${stdout.trim()}` },
    })
    expect(await answer.json()).toMatchObject({ workspaces: [{ role }] })
  }
  expect((await runCli(['gate', 'close', GATE], env)).stdout).toContain('is closed now')
  // Foreign keys are checked at once, and nothing is missing for it.
  const doctor = JSON.parse((await runCli(['doctor', '--json'], env)).stdout) as { notes: string[] }
  expect(doctor.notes.join()).not.toContain('session_replication_role')

  // A machine token of the command line works, is listed and is revoked; an invitation is a link that makes a member.
  const created = JSON.parse(
    (await runCli(['token', 'create', 'export', '--role', 'viewer', '--json'], env)).stdout,
  )
  const asMachine = () =>
    fetch(`${first.url}/api/v1/me`, { headers: { authorization: `Bearer ${created.secret}` } })
  expect(await (await asMachine()).json()).toMatchObject({ name: 'export', workspaces: [{ role: 'viewer' }] })
  expect((await runCli(['token', 'list'], env)).stdout).toMatch(/export\s+viewer\s+until \S+\s+used/)
  const revoked = await runCli(['token', 'revoke', created.token.token_id], env)
  expect(revoked.stdout).toContain('The token is revoked')
  await expect.poll(async () => (await asMachine()).status).toBe(401)
  const invited = await runCli(['invitation', 'create', 'Grace', '--role', 'reviewer', '--as', 'admin'], env)
  const [, invitation] = /#invitation=(\S+)/.exec(invited.stdout)!
  const joined = await fetch(`${first.url}/api/v1/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ invitation, name: 'Grace' }),
  })
  expect(joined.status).toBe(200)
  expect((await runCli(['invitation', 'list'], env)).stdout).toMatch(/accepted\s+reviewer\s+Grace/)
  const grace = JSON.parse((await runCli(['member', 'list', '--json'], env)).stdout).find(
    (one: { display_name: string }) => one.display_name === 'Grace',
  )
  expect((await runCli(['session', 'list', grace.user_id], env)).stdout).toContain('invitation')
  expect((await runCli(['session', 'end', grace.user_id], env)).stdout).toContain('1 session')
  expect((await runCli(['member', 'delete', grace.user_id], env)).stdout).toContain('is no longer a member')
  expect((await runCli(['doctor'], env)).code).toBe(0)
  const { database_direct_url: address } = JSON.parse((await runCli(['login', '--json'], env)).stdout)
  const client = new pg.Client(address)
  await client.connect()
  expect((await client.query('select rolsuper from pg_roles where rolname = session_user')).rows).toEqual([
    { rolsuper: false },
  ])
  await client.end()

  // A table of the user's own: what Stagedoor may do in it is granted with its dataset.
  const [lines, declaration] = [join(home, 'goods.csv'), join(home, 'goods.json')]
  await runCli(['sql', 'create table public.goods (id integer primary key, name text not null)'], env)
  await writeFile(lines, 'id,name\n1,Tent\n')
  const draft = await runCli(
    ['init', 'public.goods', lines, '--output', declaration, '--yes', '--no-register'],
    env,
  )
  expect(draft, draft.stderr).toMatchObject({ code: 0 })
  // A check grants nothing: it names what is missing.
  for (let times = 0; times < 2; times++)
    expect((await runCli(['dataset', 'check', declaration], env)).stdout).toContain('grant ')
  const registered = await runCli(['dataset', 'register', declaration], env)
  expect(registered, registered.stderr).toMatchObject({ code: 0 })

  // A second start on the same home says so and harms nothing.
  const second = await runCli(['start'], { ...env, PORT: String(await freePort()) })
  expect(second.code).toBe(9)
  expect(second.stderr).toContain(`process ${first.server.child.pid}`)
  expect((await fetch(`${first.url}/api/ready`)).status).toBe(200)

  // Killed without a chance to clean up: the next start finds everything, and the closed gate closed.
  await first.server.end('SIGKILL')
  const again = await start()
  expect(again.server.output()).not.toContain('these gates were opened')
  const gates = JSON.parse((await runCli(['gate', 'list', '--json'], env)).stdout) as {
    gate: string
    open: boolean
  }[]
  expect(gates.find((gate) => gate.gate === GATE)).toMatchObject({ open: false })
  expect(await again.server.end('SIGTERM')).toBe(0)

  // Without a running server a command brings its own, and takes it away again.
  expect((await runCli(['doctor'], env)).code).toBe(0)
  expect((await runCli(['login'], env)).code).toBe(8)
})

it('a home that cannot be written is named, with the remedy', async () => {
  const { code, stderr } = await runCli(['gate', 'list'], { STAGEDOOR_HOME: '/proc/stagedoor' })
  expect(code).toBe(9)
  expect(stderr).toContain('/proc/stagedoor')
  expect(stderr).toContain('STAGEDOOR_HOME')
})

async function postmasterOf(folder: string): Promise<number> {
  const data = (await readdir(folder)).find((name) => name.startsWith('data-'))!
  return Number((await readFile(join(folder, data, 'postmaster.pid'), 'utf8')).split('\n')[0])
}

async function ready(url: string): Promise<{ status: number; checks: { name: string; ok: boolean }[] }> {
  const answer = await fetch(`${url}/api/ready`)
  const { checks } = (await answer.json()) as { checks: { name: string; ok: boolean }[] }
  return { status: answer.status, checks }
}

it('an embedded PostgreSQL that is killed comes back by itself, and readiness says so meanwhile', {
  tags: 'long',
}, async () => {
  const { server, url } = await start()
  // It cannot come back before that was seen.
  const data = (await readdir(home)).find((name) => name.startsWith('data-'))!
  const control = join(home, data, 'global/pg_control')
  const postmaster = await postmasterOf(home)
  await rename(control, `${control}.away`)
  process.kill(postmaster, 'SIGKILL')
  await until('not ready, because of the server', async () => {
    const { status, checks } = await ready(url)
    return status === 503 && checks.some(({ name, ok }) => name === 'embedded_postgres' && !ok)
  })
  await rename(`${control}.away`, control)
  await until('ready', async () => ((await ready(url)).status === 200 ? true : undefined))
  expect((await runCli(['doctor'], { STAGEDOOR_HOME: home })).code).toBe(0)
  expect(await server.end('SIGTERM')).toBe(0)
})

it('start ends with 4 when the embedded PostgreSQL cannot be brought back', {
  tags: 'long',
}, async () => {
  const port = await freePort()
  const folder = temporaryHome('lost')
  const env = { STAGEDOOR_HOME: folder, PORT: String(port), STAGEDOOR_EMBEDDED_RESTART_LIMIT: '2' }
  const server = startCli(['start'], env)
  await server.says(/Ctrl-C stops everything/)
  const ended = once(server.child, 'close')
  const data = (await readdir(folder)).find((name) => name.startsWith('data-'))!
  const postmaster = await postmasterOf(folder)
  await rename(join(folder, data, 'global/pg_control'), join(folder, data, 'global/pg_control.away'))
  process.kill(postmaster, 'SIGKILL')
  const [code] = await ended
  expect(code, server.output()).toBe(4)
  expect(server.output()).toContain('could not be started again')
  await rename(join(folder, data, 'global/pg_control.away'), join(folder, data, 'global/pg_control'))
})
