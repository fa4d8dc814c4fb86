/** A worker that lacks something it needs ends and says why; it never stays half alive. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { startCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const address = (url: string) => ({ DATABASE_URL: url, DATABASE_DIRECT_URL: url })

async function limitConnections(limit: number): Promise<void> {
  const name = new URL(db.url(MIGRATOR)).pathname.slice(1)
  await withClient(db.url(MIGRATOR), (client) =>
    client.query(`alter database ${name} connection limit ${limit}`),
  )
}

async function outcome(limit: number): Promise<number | 'working'> {
  await limitConnections(limit)
  const worker = startCli(['worker'], address(db.url('stagedoor_worker')))
  const ended = (once(worker.child, 'close') as Promise<[number]>).then(([code]) => code)
  const working = worker.says(/Working as PG_worker/).then(
    () => 'working' as const,
    () => ended,
  )
  const first = await Promise.race([ended, working])
  if (first === 'working') expect(await worker.end('SIGTERM'), worker.output()).toBe(0)
  else expect(worker.output()).toMatch(/too many connections|✖/)
  return first
}

it('a worker that cannot open all its connections ends with 4, whatever it had already started', async () => {
  const outcomes: (number | 'working')[] = []
  for (const limit of [1, 3, 5, 8]) outcomes.push(await outcome(limit))
  expect(outcomes).toContain(4)
  expect(outcomes.every((end) => end === 4 || end === 'working')).toBe(true)
  await limitConnections(-1)
  expect(await outcome(-1)).toBe('working')
})

it('one SIGTERM ends a worker whose start never settles', async () => {
  const silent = await silentServer()
  const worker = startCli(['worker'], address(`postgres://stagedoor_worker@127.0.0.1:${silent}/nothing`))
  await connected
  const began = performance.now()
  expect(await worker.end('SIGTERM')).not.toBe(0)
  expect(performance.now() - began).toBeLessThan(30_000)
})

let connected: Promise<unknown>

/** Takes connections and never says a word. */
async function silentServer(): Promise<number> {
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
  })
  afterAll(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  connected = once(server, 'connection')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}
