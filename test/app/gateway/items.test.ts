/**
 * Items of a fan-out in remote workers, over a real NATS server, while workers, gateways and NATS are killed: none is lost, each ends once,
 * and what runs twice ran on a worker that was killed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { compile, type Program, standBy } from '../../chaos/program.ts'
import { playbook, useEngines } from '../../executions/engine/engines.ts'
import { startNats, type TestNats } from '../../support/nats.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const ITEMS = 5000
const SLOTS = 20
const engines = useEngines()
const home = temporaryHome('gateway-items')
const journal = join(home, 'journal')
const programs: Program[] = []
let compiled: (source: string) => string
let nats: TestNats

beforeAll(async () => {
  nats = await startNats()
  compiled = compile(join(home, 'programs'), ['items-gateway.ts', 'items-worker.ts'])
  await engines.register(
    playbook('remote-items', [
      {
        step: 'each',
        args: { item: '${item}' },
        loop: { in: Array.from({ length: ITEMS }, (_, index) => index), mode: 'fanout', max_in_flight: 500 },
      },
    ]),
  )
})
afterEach(async () => {
  for (const one of programs) kill(one)
  await Promise.all(programs.splice(0).map((one) => one.ended))
  rmSync(journal, { force: true })
})
afterAll(() => nats.stop())

async function start(source: string, orders: object = {}): Promise<Program> {
  const one = standBy(
    compiled(source),
    { url: engines.db.url('stagedoor_worker'), natsUrl: nats.url, journal, concurrency: SLOTS, ...orders },
    (why) => {
      throw new Error(why)
    },
  )
  programs.push(one)
  await until(`${source} is ready`, () => one.ready)
  return one
}

function kill(one: Program): void {
  one.doomed = true
  one.child.kill('SIGKILL')
}

const runs = () =>
  existsSync(journal)
    ? readFileSync(journal, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { name: string; index: number })
    : []

async function expectEachOnce(id: string): Promise<void> {
  expect(await engines.ended(id, 150_000)).toMatchObject({
    status: 'COMPLETED',
    state: { fanout: { each: { done: ITEMS, failed: 0 } } },
  })
  const log = await engines.log(id)
  const done = log.filter(({ event_type }) => event_type === 'loop.shard.done')
  expect(new Set(done.map(({ current_index }) => current_index)).size).toBe(ITEMS)
  expect(done).toHaveLength(ITEMS)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  const names = new Set(done.map(({ meta }) => meta!.worker))
  expect([...names].every((name) => String(name).startsWith('worker '))).toBe(true)
  expect(await engines.differences()).toEqual([])
}

/** Items that ran more than once, and how often. */
function repeated(): number {
  const seen = runs()
  return seen.length - new Set(seen.map(({ index }) => index)).size
}

it('a worker is killed, and then NATS: what runs twice is at most what the worker ran', async () => {
  await start('items-gateway.ts')
  const first = await start('items-worker.ts', { name: 'worker 1' })
  await start('items-worker.ts', { name: 'worker 2' })
  const id = await engines.run('remote-items')
  await until('some have run', () => runs().length > ITEMS / 5)
  kill(first)
  await until('more have run', () => runs().length > ITEMS / 3)
  await nats.kill()
  await nats.start()
  await expectEachOnce(id)
  expect(repeated()).toBeLessThanOrEqual(SLOTS)
  console.log(`${runs().length} runs of ${ITEMS} items, ${repeated()} of them again`)
}, 240_000)

it('a gateway is killed: its workers go on under the other, and nothing runs twice', {
  tags: 'long',
  timeout: 240_000,
}, async () => {
  const gateway = await start('items-gateway.ts')
  await start('items-worker.ts', { name: 'worker 1' })
  await start('items-worker.ts', { name: 'worker 2' })
  await start('items-gateway.ts')
  const id = await engines.run('remote-items')
  await until('some have run', () => runs().length > ITEMS / 5)
  kill(gateway)
  await expectEachOnce(id)
  expect(repeated()).toBe(0)
})
