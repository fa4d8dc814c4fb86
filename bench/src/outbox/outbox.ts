/**
 * Reading the outbox in commit order, compared with a scan of the same rows that gives no such guarantee.
 *
 * The ratio is that of a reader that asks for a page, receives it, and asks for the next, to the plain scan: one
 * statement, all rows, in id order. The scan commits nothing, and its server works while the client parses; the
 * reader commits its place with every page, and one of the two always waits. So two more are reported with
 * them: the reader that asks for one page ahead, and the scan in pages of the same size.
 * All receive the same columns through the same driver, row by row.
 */
import pg from 'pg'
import type { Benchmark, Figures, Round, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, perSecond, worstOf } from '../statistics.ts'
import { writeEvents } from './writers.ts'

const PAGE = 5000

const COLUMNS = `id, tx, seq, event_domain, event_type, event_stream, event_subject_ref, canonical_address,
  workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via, safe_payload, created_at`

const READ = {
  name: 'commit_order',
  text: `select ${COLUMNS} from iu_core.fn_event_read($1, $2)`,
}
const SCAN = { name: 'scan', text: `select ${COLUMNS} from iu_core.event_outbox order by id` }
const SCAN_PAGE = {
  name: 'scan_pages',
  text: `select ${COLUMNS} from iu_core.event_outbox where id > $1 order by id limit $2`,
}
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

export const outbox: Benchmark = {
  name: 'outbox',
  about:
    '100,000 events of 8 concurrent writers read in commit order, compared with a plain scan of the same rows',
  unit: 'events',
  size: { full: 100_000, quick: 25_000 },
  rounds: { full: 8, quick: 6 },
  freshDatabase: 'round',
  async prepare(task) {
    const written = await writeEvents(task)
    await vacuum(task)
    return written
  },
  contenders: [
    { name: 'commit_order', about: 'fn_event_read until empty', run: readInCommitOrder },
    { name: 'commit_order_ahead', about: 'the same, one page ahead', run: readAhead },
    { name: 'scan', about: 'one plain scan in id order: the floor', run: scan },
    { name: 'scan_pages', about: 'the same scan in pages by id', run: scanInPages },
  ],
  summarise(rounds) {
    const events_per_s = medianOf(rounds, 'commit_order', 'events_per_s')
    const ahead_events_per_s = medianOf(rounds, 'commit_order_ahead', 'events_per_s')
    const floor_events_per_s = medianOf(rounds, 'scan', 'events_per_s')
    const paged_floor_events_per_s = medianOf(rounds, 'scan_pages', 'events_per_s')
    return {
      events_per_s,
      floor_events_per_s,
      ratio_floor: events_per_s / floor_events_per_s,
      ahead_events_per_s,
      ratio_floor_ahead: ahead_events_per_s / floor_events_per_s,
      paged_floor_events_per_s,
      ratio_paged_floor: events_per_s / paged_floor_events_per_s,
      write_events_per_s: medianOf(rounds, 'prepare', 'events_per_s'),
      missed: worstReading(rounds, 'missed'),
      doubled: worstReading(rounds, 'doubled'),
      out_of_order: worstReading(rounds, 'out_of_order'),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(0.5), goal: atLeast(0.9) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
    { field: 'out_of_order', bar: atMost(0), correctness: true },
  ],
}

interface Event {
  readonly id: string
  readonly tx: string
  readonly seq: string
}

function worstReading(rounds: readonly Round[], field: string): number {
  return Math.max(worstOf(rounds, 'commit_order', field), worstOf(rounds, 'commit_order_ahead', field))
}

async function readInCommitOrder({ database, size }: Task): Promise<Figures> {
  const client = await database.worker()
  await register(client, 'one-at-a-time')
  const reading = new Reading()
  const started = performance.now()
  while ((await reading.page(client, 'one-at-a-time')) > 0);
  return reading.figures(size, performance.now() - started)
}

/** The next page is on its way while this one is parsed. Pages come in the order in which they were asked for. */
async function readAhead({ database, size }: Task): Promise<Figures> {
  const client = await database.worker({ pipeline: true })
  await register(client, 'ahead')
  const reading = new Reading()
  const started = performance.now()
  let next = reading.page(client, 'ahead')
  for (let received = -1; received !== 0; ) {
    const page = next
    next = reading.page(client, 'ahead')
    received = await page
  }
  await next
  return reading.figures(size, performance.now() - started)
}

async function register(client: pg.Client, reader: string): Promise<void> {
  await client.query('select iu_core.fn_event_reader_register($1, true)', [reader])
}

/** What a reader received, and whether it was all of it, once, in order. */
class Reading {
  #ids: string[] = []
  #order: string[] = []
  #reads = 0

  /** One page; how many events it had. */
  async page(client: pg.Client, reader: string): Promise<number> {
    let received = 0
    await receive(client, READ, [reader, PAGE], (event) => {
      received++
      this.#ids.push(event.id)
      this.#order.push(event.tx, event.seq)
    })
    this.#reads++
    return received
  }

  figures(size: number, elapsed: number): Figures {
    const different = new Set(this.#ids).size
    return {
      events_per_s: perSecond(size, elapsed),
      ms: elapsed,
      reads: this.#reads,
      missed: size - different,
      doubled: this.#ids.length - different,
      out_of_order: countDescents(this.#order.map(BigInt)),
    }
  }
}

async function scan({ database, size }: Task): Promise<Figures> {
  const client = await database.worker()
  const ids: string[] = []
  const started = performance.now()
  await receive(client, SCAN, [], (event) => ids.push(event.id))
  return floorFigures(size, ids, performance.now() - started)
}

async function scanInPages({ database, size }: Task): Promise<Figures> {
  const client = await database.worker()
  const ids: string[] = []
  const started = performance.now()
  for (let before = -1; before !== ids.length; ) {
    before = ids.length
    await receive(client, SCAN_PAGE, [ids.at(-1) ?? BEFORE_ALL, PAGE], (event) => ids.push(event.id))
  }
  return floorFigures(size, ids, performance.now() - started)
}

function floorFigures(size: number, ids: readonly string[], elapsed: number): Figures {
  if (ids.length !== size) throw new Error(`the floor read ${ids.length} events of ${size}`)
  return { events_per_s: perSecond(size, elapsed), ms: elapsed }
}

/** Row by row as they arrive, so that the driver need not hold a whole result for one contender only. */
function receive(
  client: pg.Client,
  statement: { readonly name: string; readonly text: string },
  values: unknown[],
  row: (event: Event) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query<Event>({ ...statement, values })
    query.on('row', row)
    query.on('end', () => resolve())
    query.on('error', reject)
    client.query(query)
  })
}

/** The state in which autovacuum leaves the table, reached before the measurement and not during it. */
async function vacuum({ database }: Task): Promise<void> {
  const client = await database.superuser()
  await client.query('vacuum (analyze) iu_core.event_outbox')
  await client.query('checkpoint')
}

/** Pairs of (tx, seq), one after the other. */
function countDescents(order: readonly bigint[]): number {
  let descents = 0
  for (let i = 2; i < order.length; i += 2) {
    const [tx, seq, lastTx, lastSeq] = [order[i]!, order[i + 1]!, order[i - 2]!, order[i - 1]!]
    if (tx < lastTx || (tx === lastTx && seq <= lastSeq)) descents++
  }
  return descents
}
