/**
 * Two servers on one database and one volume, as processes of their own: an upload that one received is followed, cancelled and, after
 * a kill, read to its end by the other. A server that does not share the store leaves it alone.
 */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signToken } from '../../../src/access/tokens.ts'
import { freePort, type RunningCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { useIngest } from '../../support/ingest.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { form, week } from './uploads-api.ts'

const SECRET = 'a secret that is long enough for HS256'
const db = useDatabase()
const ads = useIngest(db)
const folder = temporaryHome('two-servers')

interface Server {
  readonly cli: RunningCli
  readonly api: string
}
let a: Server
let b: Server
let token: string

async function start(name: string, store?: string): Promise<Server> {
  const port = await freePort()
  const cli = startCli(['start', '--no-playbooks'], {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_JWT_SECRET: SECRET,
    STAGEDOOR_HOME: join(folder, name),
    PORT: String(port),
    ...(store !== undefined && { STAGEDOOR_STORE: store }),
  })
  await cli.says(/Ctrl-C stops everything/)
  const server = { cli, api: `http://127.0.0.1:${port}/api/v1` }
  // The first check of a new volume marks it as this database's. Other checks may take their time on a busy machine.
  await until('its store can be used', async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/ready`)
    const { checks } = (await reply.json()) as { checks: { name: string; ok: boolean }[] }
    return checks.every(({ name, ok }) => name !== 'store' || ok)
  })
  return server
}

const headers = () => ({ authorization: `Bearer ${token}` })

async function send({ api }: Server, text: string): Promise<string> {
  const { body, type } = form(text, { dataset: 'ads', platform: 'meta', client_id: ads.client }, 'week.csv')
  const reply = await fetch(`${api}/uploads`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': type },
    body,
  })
  const { upload } = (await reply.json()) as { upload: { upload_id: string } }
  return upload.upload_id
}

async function follow({ api }: Server, upload: string): Promise<IncomingMessage> {
  const request = get(`${api}/uploads/${upload}/progress`, { headers: headers(), agent: false })
  const [reply] = (await once(request, 'response')) as [IncomingMessage]
  return reply.setEncoding('utf8')
}

/** The process that reads the upload; undefined: none does. */
async function readerOf(upload: string): Promise<number | undefined> {
  const [row] = await db.owner<{ name: string }>(
    `select w.name from iu_core.job_queue q join iu_core.job_worker w on w.worker_id = q.leased_by where q.target_ref = $1`,
    [upload],
  )
  return row && Number(/ (\d+) uploads$/.exec(row.name)?.[1])
}

/** Readers wait, before they read a byte, until it is released. */
async function hold() {
  const session = await db.session('postgres')
  await session.query('begin; lock table iu_core.ingest_mapping in access exclusive mode')
  return async () => {
    await session.query('rollback')
    await session.end()
  }
}

afterAll(() => Promise.all([a, b].map(({ cli }) => cli.end('SIGKILL'))))
beforeAll(async () => {
  const { userId: subject, role } = ads.operator
  token = await signToken(SECRET, { subject, role, expiresIn: '1h', readOnly: false })
  const volume = `pvc:${join(folder, 'volume')}`
  a = await start('a', volume)
  b = await start('b', volume)
})

it('is cancelled on the server that does not read it', async () => {
  const release = await hold()
  const upload = await send(a, week('Cancelled'))
  const reader = await until('it is read', () => readerOf(upload))
  const other = reader === a.cli.child.pid ? b : a
  const discarded = await fetch(`${other.api}/uploads/${upload}/discard`, {
    method: 'POST',
    headers: headers(),
  })
  expect([discarded.status, await discarded.json()]).toMatchObject([200, { status: 'discarded' }])
  await release()
  await until('its job has ended', async () => (await readerOf(upload)) === undefined)
  expect(await ads.find(upload)).toMatchObject({ status: 'discarded', error: null })
})

it('is left alone by a server that does not share its store', async () => {
  const c = await start('c')
  const release = await hold()
  const upload = await send(c, week('Elsewhere'))
  expect(await until('it is read', () => readerOf(upload))).toBe(c.cli.child.pid)
  await c.cli.end('SIGKILL')
  await release()
  await until('its job waits', async () => {
    const rows = await db.owner(
      'select from iu_core.job_queue where target_ref = $1 and leased_by is null and process_after < now()',
      [upload],
    )
    return rows.length === 1
  })
  await db.owner(
    `update iu_core.job_queue set enqueued_at = now() - interval '1 hour', process_after = now() - interval '1 hour' where target_ref = $1`,
    [upload],
  )
  await ads.service('select iu_core.fn_job_review_unhandled()')
  expect(
    await db.owner(
      `select title from iu_core.system_issue where code = 'job_kind_unhandled' and resolved_at is null`,
    ),
  ).toEqual([
    {
      title: expect.stringMatching(/^Uploads wait to be read: no running process can open the store disk\./),
    },
  ])
  expect(await ads.find(upload)).toMatchObject({ status: 'reading', error: null })
  // The host is back.
  const again = await start('c')
  await until('it is planned', async () => (await ads.find(upload)).status === 'planned')
  await again.cli.end('SIGKILL')
})

it('goes on, and is followed, on the other server when the one that reads it is killed', async () => {
  const release = await hold()
  const upload = await send(a, week('Killed'))
  const reader = await until('it is read', () => readerOf(upload))
  const [victim, other] = reader === a.cli.child.pid ? [a, b] : [b, a]
  const stream = await follow(other, upload)
  const said: string[] = []
  const ended = (async () => {
    for await (const text of stream) said.push(text)
  })()
  await until('it is followed', () => said.length > 0)
  await victim.cli.end('SIGKILL')
  await release()
  await ended
  expect(said.join('')).toContain('event: done\ndata: {"status":"planned","error":null}')
  expect(await ads.find(upload)).toMatchObject({ status: 'planned', valid_count: 7, error: null })
  const events = await db.owner(
    'select event_type from iu_core.event_outbox where event_subject_ref = $1 order by id',
    [upload],
  )
  expect(events).toEqual([{ event_type: 'ingestion_staged' }, { event_type: 'ingestion_planned' }])
})
