/**
 * Reading the outbox in commit order, beside a scan of the same rows that gives no such guarantee.
 *
 * The floor of the ratio is the plain scan: one statement, all rows, in id order. It sends while the client
 * parses and commits nothing; a reader that pages and remembers its place has neither advantage. The same scan
 * in pages of the reader's size is reported beside it, to show how much of the distance is paging alone.
 * All three receive the same columns through the same driver, row by row, and keep nothing but the id.
 */
import pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, perSecond, worstOf } from '../statistics.ts'
import { writeEvents } from './writers.ts'

const PAGE = 5000
const READER = 'bench'

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
  about: '100,000 events of 8 concurrent writers read in commit order, beside a plain scan of the same rows',
  unit: 'events',
  size: { full: 100_000, quick: 30_000 },
  rounds: { full: 7, quick: 5 },
  freshDatabase: 'round',
  async prepare(task) {
    const written = await writeEvents(task)
    await settle(task)
    return written
  },
  contenders: [
    { name: 'commit_order', about: 'iu_core.fn_event_read until empty', run: readInCommitOrder },
    { name: 'scan', about: 'one plain scan in id order: the floor', run: scan },
    { name: 'scan_pages', about: 'the same scan in pages by id', run: scanInPages },
  ],
  summarise(rounds) {
    const events_per_s = medianOf(rounds, 'commit_order', 'events_per_s')
    const floor_events_per_s = medianOf(rounds, 'scan', 'events_per_s')
    const paged_floor_events_per_s = medianOf(rounds, 'scan_pages', 'events_per_s')
    return {
      events_per_s,
      floor_events_per_s,
      ratio_floor: events_per_s / floor_events_per_s,
      paged_floor_events_per_s,
      ratio_paged_floor: events_per_s / paged_floor_events_per_s,
      write_events_per_s: medianOf(rounds, 'prepare', 'events_per_s'),
      missed: worstOf(rounds, 'commit_order', 'missed'),
      doubled: worstOf(rounds, 'commit_order', 'doubled'),
      out_of_order: worstOf(rounds, 'commit_order', 'out_of_order'),
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

async function readInCommitOrder({ database, size }: Task): Promise<Figures> {
  const client = await database.worker()
  await client.query('select iu_core.fn_event_reader_register($1, true)', [READER])
  const ids: string[] = []
  const order: string[] = []
  let reads = 0
  const started = performance.now()
  for (let received = -1; received !== 0; reads++) {
    const before = ids.length
    await receive(client, READ, [READER, PAGE], (event) => {
      ids.push(event.id)
      order.push(event.tx, event.seq)
    })
    received = ids.length - before
  }
  const elapsed = performance.now() - started
  const different = new Set(ids).size
  return {
    events_per_s: perSecond(size, elapsed),
    ms: elapsed,
    reads,
    missed: size - different,
    doubled: ids.length - different,
    out_of_order: countDescents(order.map(BigInt)),
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

/** The state in which autovacuum leaves the table, reached now and not in the middle of somebody's time. */
async function settle({ database }: Task): Promise<void> {
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
