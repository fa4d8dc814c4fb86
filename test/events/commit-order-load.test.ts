/**
 * The promise of the outbox, under load: 16 sessions whose transactions overlap and commit in an order that has
 * nothing to do with the order of their events, rollbacks and savepoints among them, and one writing transaction
 * open for the whole run. Two readers poll meanwhile. A seed gives the same transactions and the same choice of
 * whose turn it is; how long each takes is the server's.
 */
// @module-tag property
import type pg from 'pg'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { SEED } from '../support/seed.ts'
import { type Random, seeded } from './random.ts'

const db = useDatabase()

const SESSIONS = 16
const EVENTS = cases(3000, 20_000)
const ROLLED_BACK = EVENTS / 3
const LARGEST_STATEMENT = 60

/** What the writers know to be committed, and the readers to have been delivered. */
interface Book {
  committed: Set<string>
  rolledBack: Set<string>
  number: number
}

async function emit(client: pg.Client, book: Book, count: number): Promise<string[]> {
  const refs = Array.from({ length: count }, () => `event ${book.number++}`)
  const events = refs.map((ref) => ({
    event_domain: 'system',
    event_type: 'gate_changed',
    event_stream: 'load',
    event_subject_ref: ref,
  }))
  await client.query('select count(*) from iu_core.fn_event_emit_batch($1)', [JSON.stringify(events)])
  return refs
}

/** One transaction, as a list of steps: others run between them, so that commits overtake each other. */
function transaction(client: pg.Client, book: Book, random: Random): (() => Promise<void>)[] {
  const kept: string[] = []
  const lost: string[] = []
  const steps: (() => Promise<void>)[] = [async () => void (await client.query('begin'))]
  for (let statement = random.below(4); statement >= 0; statement--) {
    const count = 1 + random.below(LARGEST_STATEMENT)
    if (!random.chance(0.25)) {
      steps.push(async () => void kept.push(...(await emit(client, book, count))))
      continue
    }
    const undone = random.chance(0.5)
    steps.push(
      async () => void (await client.query('savepoint part')),
      async () => void (undone ? lost : kept).push(...(await emit(client, book, count))),
      async () => void (await client.query(`${undone ? 'rollback to' : 'release'} savepoint part`)),
    )
  }
  const fails = random.chance(0.15)
  steps.push(async () => {
    await client.query(fails ? 'rollback' : 'commit')
    for (const ref of kept) (fails ? book.rolledBack : book.committed).add(ref)
    for (const ref of lost) book.rolledBack.add(ref)
  })
  return steps
}

/** Steps of all sessions in a random order, until enough events are committed and enough are rolled back. */
async function write(book: Book, random: Random): Promise<void> {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => db.session('stagedoor_worker')))
  const lanes = sessions.map((client, index) => {
    const own = seeded(random.seed + 1 + index)
    return { client, own, steps: transaction(client, book, own) }
  })
  const busy = new Set<Promise<void>>()
  const running = new Set<(typeof lanes)[number]>()
  while (lanes.some((lane) => lane.steps.length > 0) || busy.size > 0) {
    const free = lanes.filter((lane) => lane.steps.length > 0 && !running.has(lane))
    if (free.length === 0 || busy.size >= 4) {
      await Promise.race(busy)
      continue
    }
    const lane = random.pick(free)
    const step = lane.steps.shift()!
    running.add(lane)
    const work = step().then(() => {
      running.delete(lane)
      busy.delete(work)
      if (lane.steps.length === 0 && (book.committed.size < EVENTS || book.rolledBack.size < ROLLED_BACK)) {
        lane.steps = transaction(lane.client, book, lane.own)
      }
    })
    busy.add(work)
  }
  await Promise.all(sessions.map((client) => client.end()))
}

class Reader {
  readonly delivered: string[] = []
  /** Of every transaction the sequence of its events, to see that their order is kept. */
  private readonly lastSeq = new Map<string, bigint>()
  readonly outOfOrder: string[] = []
  private readonly client: pg.Client
  private readonly name: string
  private readonly limit: number

  constructor(client: pg.Client, name: string, limit: number) {
    this.client = client
    this.name = name
    this.limit = limit
  }

  static async open(name: string, limit: number): Promise<Reader> {
    const client = await db.session('stagedoor_worker')
    await client.query('select iu_core.fn_event_reader_register($1)', [name])
    return new Reader(client, name, limit)
  }

  async poll(): Promise<number> {
    const { rows } = await this.client.query<{ tx: string; seq: string; ref: string }>(
      'select tx, seq, event_subject_ref as ref from iu_core.fn_event_read($1, $2)',
      [this.name, this.limit],
    )
    for (const row of rows) {
      const last = this.lastSeq.get(row.tx)
      if (last !== undefined && last >= BigInt(row.seq)) this.outOfOrder.push(row.ref)
      this.lastSeq.set(row.tx, BigInt(row.seq))
      this.delivered.push(row.ref)
    }
    return rows.length
  }

  async pollWhile(condition: () => boolean): Promise<void> {
    while (condition()) await this.poll()
  }

  /** Until two polls in a row bring nothing: a window that is being paged has ended and no new one has begun. */
  async drain(): Promise<void> {
    for (let empty = 0; empty < 2; ) empty = (await this.poll()) === 0 ? empty + 1 : 0
  }
}

it(`delivers ${EVENTS} events of reordered transactions exactly once, past one that never ends`, async () => {
  const random = seeded(SEED)
  console.log(`seed ${random.seed} (run again with SEED=${random.seed})`)
  const book: Book = { committed: new Set(), rolledBack: new Set(), number: 0 }
  const readers = [await Reader.open('small-pages', 97), await Reader.open('large-pages', 5000)]

  const longOpen = await db.session('stagedoor_worker')
  await longOpen.query('begin')
  const held = await emit(longOpen, book, 10)

  let writing = true
  const writers = write(book, random).finally(() => {
    writing = false
  })
  await Promise.all([writers, ...readers.map((reader) => reader.pollWhile(() => writing))])
  for (const reader of readers) await reader.drain()

  expect(book.committed.size).toBeGreaterThanOrEqual(EVENTS)
  expect(book.rolledBack.size).toBeGreaterThanOrEqual(ROLLED_BACK)
  // Not stalled: everything has arrived though the first writer is still open.
  for (const reader of readers) expectExactly(reader, book)

  // It writes more, at last commits, and its events arrive, too.
  held.push(...(await emit(longOpen, book, 10)))
  await longOpen.query('commit')
  for (const ref of held) book.committed.add(ref)
  for (const reader of readers) {
    await reader.drain()
    expectExactly(reader, book)
    expect(reader.delivered.slice(-held.length)).toEqual(held)
    expect(reader.outOfOrder).toEqual([])
  }
})

function expectExactly(reader: Reader, book: Book): void {
  const delivered = new Set(reader.delivered)
  expect({
    missed: [...book.committed].filter((ref) => !delivered.has(ref)),
    doubled: reader.delivered.length - delivered.size,
    rolledBack: reader.delivered.filter((ref) => book.rolledBack.has(ref)),
    unknown: reader.delivered.filter((ref) => !book.committed.has(ref) && !book.rolledBack.has(ref)),
  }).toEqual({ missed: [], doubled: 0, rolledBack: [], unknown: [] })
}
