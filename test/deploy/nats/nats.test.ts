/**
 * The configurations of NATS: accepted by the server, and with permissions that let a remote worker do its work and nothing else. And the compose
 * file with NATS, as processes.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Nats, openNats } from '../../../src/runtime/nats.ts'
import { SECRET } from '../../support/api.ts'
import { freePort, runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { composeRunner, HANDLERS, readCompose } from '../compose.ts'
import { DEPLOY, readDeploy } from '../files.ts'

const PROGRAM = process.env.NATS_SERVER_PATH ?? 'nats-server'
const PASSWORDS = {
  NATS_PASSWORD_STAGEDOOR: 'p1',
  NATS_PASSWORD_WORKER: 'p2',
  NATS_PASSWORD_WORKER_1: 'p3',
  NATS_PASSWORD_WORKER_2: 'p4',
}
const db = useDatabase()
const folder = temporaryHome('deploy-nats')
const certificates = join(folder, 'tls')
execFileSync('sh', [
  join(DEPLOY, 'nats/make-certificates.sh'),
  certificates,
  'localhost',
  'stagedoor-nats.stagedoor.svc',
])
const opened: Nats[] = []
afterAll(async () => {
  for (const nats of opened) await nats.close()
})

const onHosts = readDeploy('nats/nats.conf')
const withTls = onHosts.replace(/^#(tls \{| {2}(?:cert|key)_file: .*|\})$/gm, '$1')
const inKubernetes = readDeploy('kubernetes/overlays/nats/nats.conf')

describe('the configuration', () => {
  it.each([
    ['on hosts', onHosts],
    ['on hosts with TLS', withTls],
    ['in Kubernetes', inKubernetes],
  ])('%s is valid', async (_name, text) => {
    expect(check(await placed(text))).toContain('is valid')
  })

  it('with TLS has its lines', () => {
    expect(onHosts).not.toMatch(/^tls \{/m)
    expect(withTls).toMatch(/^tls \{\n {2}cert_file/m)
  })

  it('allows remote workers the same in Kubernetes as on hosts', () => {
    const allowed = (text: string, user: string) => {
      const own = text.slice(text.indexOf(`user: "${user}"`))
      const publish = /publish: \{\s*allow: \[([^\]]*)\]/.exec(own)![1]!
      const subscribe = /subscribe: \{ allow: \[([^\]]*)\]/.exec(own)![1]!
      return [publish, subscribe].map((list) =>
        list.match(/"[^"]*"/g)!.map((one) => one.replaceAll(user, 'USER')),
      )
    }
    const [publish, subscribe] = allowed(onHosts, 'worker-1')
    expect(publish).toEqual(
      ['attach', 'beat', 'pull', 'ended', 'adopt', 'enqueue'].map((verb) => `"sd.main.gw.*.${verb}"`),
    )
    expect(subscribe).toEqual(['"sd.main.gw.alive"', '"_INBOX_USER.>"'])
    expect(allowed(onHosts, 'worker-2')).toEqual([publish, subscribe])
    expect(allowed(inKubernetes, 'worker')).toEqual([publish, subscribe])
  })
})

describe('over TLS', () => {
  it('a worker asks a gateway and is answered; it hears no other worker and wakes nobody', async () => {
    const port = await startServer(withTls)
    const gateway = await connect(port, 'stagedoor', 'p1', '_INBOX_stagedoor')
    const worker = await connect(port, 'worker-1', 'p3', '_INBOX_worker-1')
    const other = await connect(port, 'worker-2', 'p4', '_INBOX_worker-2')

    const seen: string[] = []
    gateway.subscribe('sd.main.>', ({ subject, respond }) => {
      seen.push(subject)
      respond({ session: 's1' })
    })
    const overheard: string[] = []
    for (const subject of ['_INBOX_worker-1.>', 'sd.main.gw.*.pull', 'sd.main.wake.>'])
      other.subscribe(subject, (message) => void overheard.push(message.subject))

    await until('the gateway answers', () =>
      worker.request('sd.main.gw.g1.attach', {}, 500).catch(() => undefined),
    )
    seen.length = 0
    for (const subject of ['sd.main.wake.commands', 'sd.main.gw.alive', 'sd.other.gw.g1.attach'])
      worker.publish(subject, {})
    for (const verb of ['beat', 'pull', 'ended', 'adopt', 'enqueue'])
      expect(await worker.request(`sd.main.gw.g1.${verb}`, {}, 2000)).toEqual({ session: 's1' })
    expect(seen).toEqual(['beat', 'pull', 'ended', 'adopt', 'enqueue'].map((verb) => `sd.main.gw.g1.${verb}`))
    expect(overheard).toEqual([])

    const alive: unknown[] = []
    worker.subscribe('sd.main.gw.alive', ({ body }) => void alive.push(body))
    await until(
      'the worker hears gateways',
      () => gateway.publish('sd.main.gw.alive', { v: 1 }) && alive.length > 0,
    )
  })

  it('the servers and workers of Kubernetes connect with their settings', async () => {
    const port = await startServer(inKubernetes)
    await connect(port, 'stagedoor', 'p1', '_INBOX_stagedoor')
    await connect(port, 'worker', 'p2', '_INBOX_worker')
  })
})

describe('compose with NATS, as processes without containers', () => {
  const variables = { POSTGRES_PASSWORD: 'p5', STAGEDOOR_JWT_SECRET: SECRET, ...PASSWORDS }
  const compose = readCompose(['compose/compose.yaml', 'compose/compose.nats.yaml'], variables)
  const etc = join(folder, 'etc')
  const store = join(folder, 'store')
  mkdirSync(etc)
  mkdirSync(store)

  it('the server becomes ready with its settings of NATS', { tags: 'long' }, async () => {
    const port = await startServer(onHosts)
    const { runner, web, server } = await startComposed(port)
    await until('it is healthy', () => runner.isHealthy('server', {}, web), 120_000).catch((error: Error) => {
      throw new Error(`${error.message}\n${server.output()}`)
    })
    server.kill('SIGTERM')
    expect(await server.ended, server.output()).toBe(0)
  })

  it('a job runs on a remote worker that has no address of the database', { tags: 'long' }, async () => {
    const port = await startServer(onHosts)
    const { runner, web, server } = await startComposed(port)
    const workers = [
      { name: 'remote-worker-1', own: { '9464': String(await freePort()) } },
      { name: 'remote-worker-2', own: { '9464': String(await freePort()) } },
    ].map(({ name, own }) => ({ name, own, process: runner.start(name, own) }))
    const logs = () =>
      [server, ...workers.map(({ process }) => process)].map((one) => one.output()).join('\n')
    await until('all are healthy', async () => {
      if (!(await runner.isHealthy('server', {}, web))) return false
      for (const { name, own } of workers) if (!(await runner.isHealthy(name, own))) return false
      return true
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${logs()}`)
    })
    const env = { DATABASE_URL: db.url('stagedoor_worker') }
    const { stdout } = await runCli(
      ['job', 'enqueue', 'hello', '--payload', '{"name": "Ada"}', '--json'],
      env,
    )
    const { job_id: job } = JSON.parse(stdout) as { job_id: string }
    await until('it has run', async () =>
      (await runCli(['job', 'show', job, '--json'], env)).stdout.includes('hello Ada'),
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${logs()}`)
    })
    for (const process of [...workers.map((worker) => worker.process), server]) {
      process.kill('SIGTERM')
      expect(await process.ended, process.output()).toBe(0)
    }
  })

  async function startComposed(port: number) {
    const runner = composeRunner(compose, folder, {
      'nats:4222': `127.0.0.1:${port}`,
      '/etc/stagedoor': etc,
      '/store': store,
      '/handlers/': `${HANDLERS}/`,
    })
    // As the service migrate writes them.
    writeFileSync(
      join(etc, 'logins.env'),
      `export DATABASE_URL='${db.url('stagedoor_api')}'\nexport DATABASE_DIRECT_URL='${db.url('stagedoor_worker')}'\n`,
    )
    const web = { PORT: String(await freePort()), STAGEDOOR_HOST: '127.0.0.1' }
    return { runner, web, server: runner.start('server', {}, web) }
  }
})

/** With ports and folders of this machine. */
async function placed(text: string): Promise<string> {
  return text
    .replace('0.0.0.0:4222', `127.0.0.1:${await freePort()}`)
    .replace(/"(0\.0\.0\.0|127\.0\.0\.1):8222"/, `"127.0.0.1:${await freePort()}"`)
    .replaceAll('/etc/nats/tls', certificates)
}

function check(text: string): string {
  const file = join(folder, 'check.conf')
  writeFileSync(file, text)
  return execFileSync('sh', ['-c', `'${PROGRAM}' -t -c '${file}' 2>&1`], {
    encoding: 'utf8',
    env: { ...process.env, ...PASSWORDS },
  })
}

/** Gives its port. It stops with the test. */
async function startServer(text: string): Promise<number> {
  const config = await placed(text)
  const port = Number(/^listen: "127\.0\.0\.1:(\d+)"/m.exec(config)![1])
  const monitor = /^http: "127\.0\.0\.1:(\d+)"/m.exec(config)![1]!
  const file = join(folder, `${port}.conf`)
  writeFileSync(file, config)
  const server = spawn(PROGRAM, ['-c', file], { stdio: 'ignore', env: { ...process.env, ...PASSWORDS } })
  onTestFinished(async () => {
    server.kill('SIGTERM')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  })
  // The health check of compose and Kubernetes.
  await until('NATS is healthy', () =>
    fetch(`http://127.0.0.1:${monitor}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return port
}

async function connect(port: number, user: string, password: string, inbox: string): Promise<Nats> {
  const settings = {
    natsUrl: [`tls://${user}:${password}@localhost:${port}`],
    natsCredentials: undefined,
    natsCa: join(certificates, 'ca.crt'),
    natsInbox: inbox,
    natsPlaintext: 'refuse' as const,
    cell: 'main',
  }
  const nats = openNats(settings, user, pino({ level: 'silent' }))!
  opened.push(nats)
  await until(`${user} is connected`, () => nats.connected)
  return nats
}
