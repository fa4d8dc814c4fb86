/** The compose files: what they name exists, and their services run, as processes on a PostgreSQL of their own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { startEmbedded } from '../../src/kernel/postgres/embedded/server.ts'
import { VERSION } from '../../src/kernel/version.ts'
import { parseProblem } from '../docs/commands.ts'
import { freePort } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { type Compose, composeRunner, HANDLERS, readCompose, type Service } from './compose.ts'
import { DEPLOY, readDeploy, SETTINGS } from './files.ts'

const folder = temporaryHome('compose')
const variables = makeEnvironment()
const alone = readCompose(['compose/compose.yaml'], variables)
const withNats = readCompose(['compose/compose.yaml', 'compose/compose.nats.yaml'], variables)
const services = (compose: Compose) => Object.entries(compose.services)
const ours = services(withNats).filter(([, { image }]) => image?.startsWith('stagedoor'))

it('the passwords are made once, and only their owner reads them', () => {
  const file = join(folder, '.env')
  const before = readFileSync(file, 'utf8')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(runMakeEnv()).toContain('stays as it is')
  expect(readFileSync(file, 'utf8')).toBe(before)
  expect(new Set(Object.values(variables)).size).toBe(Object.keys(variables).length)
  // NATS reads a password that begins with a digit as a number.
  for (const [name, value] of Object.entries(variables))
    if (name.startsWith('NATS_')) expect(value).toMatch(/^p[0-9a-f]{48}$/)
})

it('without .env it says what to do', () => {
  expect(() => readCompose(['compose/compose.yaml'], {})).toThrow('run make-env.sh')
})

describe.each([
  ['compose.yaml', alone],
  ['compose.yaml with compose.nats.yaml', withNats],
])('%s', (_name, compose) => {
  it('names services, volumes and networks that exist', () => {
    for (const [name, { depends_on = {}, volumes = [], networks = [], image }] of services(compose)) {
      expect(image, name).toBeDefined()
      expect(Object.keys(depends_on).filter((other) => !(other in compose.services))).toEqual([])
      const named = volumes.map((volume) => volume.split(':')[0]!).filter((source) => !source.startsWith('.'))
      expect(named.filter((volume) => !(volume in compose.volumes))).toEqual([])
      expect(networks.filter((one) => one !== 'default' && !(one in (compose.networks ?? {})))).toEqual([])
      for (const [other, { condition }] of Object.entries(depends_on))
        if (condition === 'service_completed_successfully')
          expect(compose.services[other]!.restart).toBe('no')
    }
  })
})

describe.each(ours)('%s', (name, service) => {
  it('runs commands that exist, with settings that exist, in this version', async () => {
    const program = await createProgram()
    expect(service.image).toBe(`stagedoor:${VERSION}`)
    for (const words of stagedoorCommands(service))
      expect(parseProblem(program, words), words.join(' ')).toBeUndefined()
    expect(Object.keys(service.environment ?? {}).filter((setting) => !SETTINGS.has(setting))).toEqual([])
  })

  it('has no rights, and time to stop', () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    if (service.restart === 'unless-stopped') expect(service.stop_grace_period).toBe('90s')
  })

  it('has an address of the database only if it needs one', () => {
    const text = JSON.stringify(service)
    const isRemote = name.startsWith('remote-worker')
    expect(text.includes('logins') || text.includes('DATABASE_URL')).toBe(!isRemote)
    if (isRemote) expect(service.networks).toEqual(['calls'])
    // The owner's address is for no service that stays.
    expect(text.includes(variables.POSTGRES_PASSWORD!)).toBe(['migrate', 'admin'].includes(name))
  })
})

it('migrates, becomes ready and runs a job, as processes without containers', { tags: 'long' }, async () => {
  const postgres = await startEmbedded({ home: join(folder, 'postgres'), durability: 'throwaway' })
  try {
    await createOwner(postgres.url(), alone.services.postgres!.environment!)
    const logins = join(folder, 'etc')
    for (const one of [logins, join(folder, 'store')]) mkdirSync(one)
    const runner = composeRunner(alone, folder, {
      'postgres:5432': `127.0.0.1:${postgres.port}`,
      '/etc/stagedoor': logins,
      '/store': join(folder, 'store'),
      '/handlers/': `${HANDLERS}/`,
    })
    const first = runner.start('migrate')
    expect(await first.ended, first.output()).toBe(0)
    const addresses = readFileSync(join(logins, 'logins.env'), 'utf8')
    expect(statSync(join(logins, 'logins.env')).mode & 0o777).toBe(0o600)
    expect(addresses).toMatch(/^export DATABASE_URL='postgres:\/\/stagedoor_api:/m)
    const again = runner.start('migrate')
    expect(await again.ended, again.output()).toBe(0)
    expect(readFileSync(join(logins, 'logins.env'), 'utf8')).toBe(addresses)

    const web = { PORT: String(await freePort()), STAGEDOOR_HOST: '127.0.0.1' }
    const server = runner.start('server', {}, web)
    const port = { '9464': String(await freePort()) }
    const worker = runner.start('worker', port)
    const healthy = async () =>
      (await runner.isHealthy('server', {}, web)) && runner.isHealthy('worker', port)
    await until('server and worker are healthy', healthy, 120_000).catch((error: Error) => {
      throw new Error(`${error.message}\n${server.output()}\n${worker.output()}`)
    })
    const said = []
    for (const words of documentedCommands()) {
      const { code, output } = await runner.run('admin', words)
      expect(code, `${words.join(' ')}\n${output}`).toBe(0)
      said.push(output.trim())
    }
    const me = await fetch(`http://127.0.0.1:${web.PORT}/api/v1/me`, {
      headers: { authorization: `Bearer ${said.at(-1)}` },
    })
    expect(await me.json()).toMatchObject({ workspaces: [{ name: 'Acme Media', role: 'operator' }] })
    const enqueued = await runner.run('admin', [
      'job',
      'enqueue',
      'hello',
      '--payload',
      '{"name": "Ada"}',
      '--json',
    ])
    const { job_id: job } = JSON.parse(enqueued.output) as { job_id: string }
    await until('the worker has run it', async () =>
      (await runner.run('admin', ['job', 'show', job, '--json'])).output.includes('hello Ada'),
    )
    const doctor = await runner.run('admin', ['doctor'])
    expect(doctor.code, doctor.output).toBe(0)
    for (const process of [worker, server]) {
      process.kill('SIGTERM')
      expect(await process.ended, process.output()).toBe(0)
    }
    expect(await runner.isHealthy('server', {}, web), 'a server that is gone').toBe(false)
    expect(await runner.isHealthy('worker', port), 'a worker that is gone').toBe(false)
  } finally {
    await postgres.stop()
  }
})

/** Those of the guide, word by word. The last one prints a token. */
function documentedCommands(): string[][] {
  const guide = readDeploy('../docs/guides/deployment.md')
  const commands = [...guide.matchAll(/^docker compose run --rm admin (.+)$/gm)].map(([, line]) => line!)
  expect(commands.at(-1)).toBe('token --as operator')
  return commands.map((line) => line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', '')))
}

function runMakeEnv(): string {
  return execFileSync('sh', [join(DEPLOY, 'compose/make-env.sh'), join(folder, '.env')], { encoding: 'utf8' })
}

function makeEnvironment(): Record<string, string> {
  runMakeEnv()
  const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

function stagedoorCommands({ entrypoint, command, healthcheck }: Service): string[][] {
  const scripts = entrypoint?.[0] === '/bin/sh' ? command! : []
  const direct = entrypoint === undefined && command ? [[...command]] : []
  const health = healthcheck?.test?.[1] === 'stagedoor' ? [healthcheck.test.slice(2)] : []
  const inScripts = scripts
    .flatMap((script) => script.split(/\n|&&/))
    .flatMap((line) => /(?:^|\s)stagedoor ([^>]*)/.exec(line)?.[1] ?? [])
    .map((words) => words.trim().split(/\s+/))
  return [...direct, ...health, ...inScripts]
}

/** What the image of PostgreSQL does with its variables. */
async function createOwner(superuser: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = environment
  const client = new pg.Client(superuser)
  await client.connect()
  await client.query(`create role ${POSTGRES_USER} superuser login password '${POSTGRES_PASSWORD}'`)
  await client.query(`create database ${POSTGRES_DB} owner ${POSTGRES_USER}`)
  await client.end()
}
