/**
 * The same export through the command line, a process of its own for each file, and over HTTP: sent as a form, read by a job of `stagedoor start`,
 * planned, submitted, approved by a second person, promoted.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openAsBlob } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Figures, Task } from '../benchmark.ts'
import { freePort } from '../processes.ts'
import type { JsonObject } from '../product.ts'
import type { BenchDatabase } from '../server.ts'
import { median, perSecond } from '../statistics.ts'
import { writeMetaExport } from './exports.ts'
import { openWorld, type World } from './world.ts'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const SMALL = 1000
const SMALL_FILES = 3

/** What a person waits for, the start of the process included. */
export async function throughCli({ database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, size, round + 1, true)
  try {
    const ingest = (until: string) =>
      runCli(environment(world, database.url), [
        ...['ingest', world.file, '--dataset', 'ads', '--platform', 'meta', '--workspace', world.workspace],
        ...['--client', world.client, '--until', until, '--json'],
      ])
    const ms = await elapsed(() => ingest('promoted'))
    const rows_missing = size - (await countMetrics(world))
    return {
      ms,
      rows_per_s: perSecond(size, ms),
      rows_missing,
      ...(await smallFiles(world, round, () => ingest('staged'))),
    }
  } finally {
    await world.end()
  }
}

export async function throughHttp({ database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, size, round + 1, true)
  let server: HttpServer | undefined
  try {
    server = await startServer(world, database)
    const { promote, stage } = server
    const ms = await elapsed(promote)
    const rows_missing = size - (await countMetrics(world))
    return { ms, rows_per_s: perSecond(size, ms), rows_missing, ...(await smallFiles(world, round, stage)) }
  } finally {
    await server?.stop()
    await world.end()
  }
}

/** The first is not counted: over HTTP it is the first of this size in its process. */
async function smallFiles(world: World, round: number, stage: () => Promise<unknown>): Promise<Figures> {
  const took: number[] = []
  for (let n = 0; n <= SMALL_FILES; n++) {
    writeMetaExport(world.file, { lines: SMALL, seed: 1000 * (round + 1) + n })
    took.push(await elapsed(stage))
  }
  return { staged_1000_ms: median(took.slice(1)) }
}

interface HttpServer {
  /** From the first byte of the request to rows in production. */
  promote(): Promise<void>
  stage(): Promise<void>
  stop(): Promise<void>
}

async function startServer(world: World, database: BenchDatabase): Promise<HttpServer> {
  const people = await addPeople(world, database)
  const env = { ...environment(world, database.url), ...(await apiLogin(database)) }
  const port = await freePort()
  const child = spawn(process.execPath, [MAIN, 'start', '--no-demo', '--port', String(port)], {
    cwd: world.home,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = () => end(child)
  try {
    const url = `http://127.0.0.1:${port}/api`
    await ready(`${url}/ready`, child)
    const bearer = async (user: string) =>
      `Bearer ${(await runCli(env, ['token', '--user', user, '--json'])).token}`
    const operator = caller(`${url}/v1`, await bearer(people.operator))
    const reviewer = caller(`${url}/v1`, await bearer(people.reviewer))
    const send = async (until: string): Promise<JsonObject> => {
      const form = new FormData()
      const fields = { dataset: 'ads', platform: 'meta', client_id: world.client, until }
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      form.set('file', await openAsBlob(world.file), 'meta-week-46.csv')
      const { upload } = (await operator('POST', '/uploads', form)) as { upload: JsonObject }
      // The stream ends when its job has done all that it was asked to.
      await operator('GET', `/uploads/${upload.upload_id}/progress`)
      return (await operator('GET', `/uploads/${upload.upload_id}`)) as JsonObject
    }
    return {
      async promote() {
        const { upload_id, plan_digest: digest } = await send('submitted')
        await reviewer('POST', `/uploads/${upload_id}/approve`, { digest, ticked: ['changes'] })
        await operator('POST', `/uploads/${upload_id}/promote`, { digest })
      },
      async stage() {
        const { status } = await send('staged')
        if (status !== 'staged') throw new Error(`the upload is ${status}`)
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Whoever put a file in cannot approve it. */
async function addPeople({ workspace }: World, database: BenchDatabase) {
  const session = await database.superuser()
  const people = { operator: randomUUID(), reviewer: randomUUID() }
  for (const [role, user] of Object.entries(people))
    await session.query(
      'insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)',
      [workspace, user, role],
    )
  await session.query('update iu_core.ingest_dataset set approval_required = true')
  return people
}

async function apiLogin(database: BenchDatabase): Promise<NodeJS.ProcessEnv> {
  const password = randomBytes(16).toString('hex')
  await (await database.superuser()).query(`alter role stagedoor_api login password '${password}'`)
  const url = new URL(database.url)
  url.username = 'stagedoor_api'
  url.password = password
  return { DATABASE_URL: url.toString(), STAGEDOOR_JWT_SECRET: randomBytes(32).toString('hex') }
}

function environment({ home }: World, url: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...{ DATABASE_URL: url, DATABASE_DIRECT_URL: url, STAGEDOOR_HOME: home, STAGEDOOR_DEMO: 'off' },
  }
}

async function runCli(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<JsonObject> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], {
    env,
    maxBuffer: 64 * 1024 * 1024,
  })
  return JSON.parse(stdout)
}

/** Answers are text where they are no JSON: a stream of events. */
function caller(url: string, authorization: string) {
  return async (method: string, path: string, body?: FormData | object): Promise<unknown> => {
    const isForm = body instanceof FormData
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { authorization, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  }
}

async function countMetrics({ pool }: World): Promise<number> {
  const { rows } = await pool.query('select count(*) from public.daily_metrics')
  return Number(rows[0]!.count)
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const LOOK_MS = 100

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`stagedoor start ended with ${child.exitCode}`)
    const reply = await fetch(url).catch(() => undefined)
    if (reply?.ok) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
