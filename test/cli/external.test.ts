import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { freePort, runCli, startCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { loginUrl, MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const SECRET = 'a secret that is long enough for HS256'
const keys = { STAGEDOOR_JWT_SECRET: SECRET }
const direct = () => ({ DATABASE_URL: db.url(MIGRATOR) })
const both = () => ({ DATABASE_URL: db.url('stagedoor_api'), DATABASE_DIRECT_URL: db.url(MIGRATOR) })

describe('a database that is not migrated', () => {
  const name = `t_${randomUUID().slice(0, 8)}`
  const superuser = inject('server').superuserUrl
  const url = loginUrl(superuser, MIGRATOR, name)
  beforeAll(() =>
    withClient(superuser, (client) => client.query(`create database ${name} owner ${MIGRATOR}`)),
  )
  afterAll(() => withClient(superuser, (client) => client.query(`drop database ${name} with (force)`)))

  it('start says in two lines what is missing and the next command, creates nothing, and exits with 4', async () => {
    const { code, stdout, stderr } = await runCli(['start'], { DATABASE_URL: url })
    expect(code).toBe(4)
    expect(stdout).toBe('')
    expect(stderr).toMatch(
      /^✖ .*not migrated.*: .*\d+ migrations, \d+ routines and views\n.*`stagedoor migrate --plan`, then run `stagedoor migrate`\.\n$/,
    )
    const schemas = await withClient(url, (client) =>
      client.query(`select nspname from pg_namespace where nspname in ('iu_core', 'noetl')`),
    )
    expect(schemas.rows).toEqual([])
  })

  it('migrate --plan changes nothing; migrate does what the plan said; a second one has nothing to do', async () => {
    const plan = JSON.parse((await runCli(['migrate', '--plan', '--json'], { DATABASE_URL: url })).stdout)
    expect(plan.migrations.length).toBeGreaterThan(0)
    const done = await runCli(['migrate', '--json'], { DATABASE_URL: url })
    expect(JSON.parse(done.stdout)).toEqual(plan)
    const again = await runCli(['migrate'], { DATABASE_URL: url })
    expect(again.code).toBe(0)
    expect(again.stdout).toContain('Nothing to do')
  })
})

describe('start on your own database', () => {
  it('refuses an API login that is more than stagedoor_api', async () => {
    const { code, stderr } = await runCli(['start'], { ...direct(), ...keys, PORT: String(await freePort()) })
    expect(code).toBe(3)
    expect(stderr).toContain('stagedoor login')
  })

  it('serves, opens no gate, adds no workspace and no demo, and stops cleanly on SIGINT', async () => {
    const port = await freePort()
    const server = startCli(['start'], {
      ...both(),
      ...keys,
      PORT: String(port),
      STAGEDOOR_DEMO: 'auto',
    })
    await server.says(/Ctrl-C stops everything/)
    const ready = await fetch(`http://127.0.0.1:${port}/api/ready`)
    expect(ready.status).toBe(200)
    expect(server.output(), 'no link').not.toContain('#code=')
    expect(server.output()).toContain('`stagedoor token --as operator`')
    expect(await db.owner(`select key from iu_core.dot_config where updated_at is not null`)).toEqual([])
    expect(await db.owner(`select id from public.workspaces`)).toEqual([])
    expect(server.output()).not.toContain('demo')
    expect(await db.owner(`select to_regclass('public.weekly_report_step') as story`)).toEqual([
      { story: null },
    ])
    expect(await server.end('SIGINT')).toBe(0)
    await expect(fetch(`http://127.0.0.1:${port}/api/health`)).rejects.toThrow()
  })

  it('says which port is in use and leaves nothing running', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await runCli(['start'], { ...both(), ...keys, PORT: String(port) })
    taken.close()
    expect(code).toBe(9)
    expect(stderr).toContain(`Port ${port}`)
    expect(stderr).toContain('PORT=')
  })

  it('says that no server answers, without the password', async () => {
    const { code, stderr } = await runCli(['start'], {
      DATABASE_URL: `postgres://someone:hush-hush@127.0.0.1:${await freePort()}/app`,
    })
    expect(code).toBe(4)
    expect(stderr).toContain('Cannot reach PostgreSQL at 127.0.0.1')
    expect(stderr).not.toContain('hush-hush')
  })
})

describe('gate', () => {
  it('list, open, close and history, for people and for machines', async () => {
    const gate = 'queue.consumer_dispatch.enabled'
    const opened = await runCli(['gate', 'open', gate, '--reason', 'try it', '--json'], direct())
    expect(JSON.parse(opened.stdout)).toEqual({ gate, open: true, changed: true })
    const list = JSON.parse((await runCli(['--json', 'gate', 'list'], direct())).stdout)
    expect(list.find((entry: { gate: string }) => entry.gate === gate)).toMatchObject({
      open: true,
      changed_by: MIGRATOR,
    })
    expect((await runCli(['gate', 'list'], direct())).stdout).toMatch(/● open\s+queue\.consumer_dispatch/)
    expect((await runCli(['gate', 'open', gate], direct())).stdout).toContain('open already')
    await runCli(['gate', 'close', gate], direct())
    const { stdout } = await runCli(['gate', 'history', gate], direct())
    expect(stdout).toContain('try it')
    expect(stdout.split('\n')[0]).toContain('open → closed')
    expect((await runCli(['event', 'list'], direct())).stdout).toContain('system.gate_changed')
  })

  it('that does not exist: exit 8, and where to look', async () => {
    const { code, stderr } = await runCli(['gate', 'open', 'nonsense'], direct())
    expect(code).toBe(8)
    expect(stderr).toContain('gate list')
    const json = await runCli(['gate', 'open', 'nonsense', '--json'], direct())
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'gate_unknown' })
  })
})

describe('doctor', () => {
  it('says that all is as expected and exits with 0', async () => {
    const { code, stdout, stderr } = await runCli(['doctor'], both())
    expect(stderr).toBe('')
    expect(stdout).toContain('All is as expected')
    expect(code).toBe(0)
  })

  it('exits with 7 when something differs, and says how to mend it', async () => {
    await db.owner('alter table iu_core.dot_config disable row level security')
    const { code, stdout } = await runCli(['doctor'], both())
    await db.owner('alter table iu_core.dot_config enable row level security')
    expect(code).toBe(7)
    expect(stdout).toContain('iu_core.dot_config')
    expect(stdout).toContain('enable row level security')
  })
})
