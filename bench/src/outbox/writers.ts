/** Eight writers at once whose transactions differ in size and do not commit in the order in which they began. */
import type pg from 'pg'
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { Interleaving } from './interleaving.ts'

const WRITERS = 8
const MAX_BATCH = 150
const MAX_BATCHES = 3
/** One transaction in so many stays open while others commit. */
const HELD_OPEN_ONE_IN = 4

const EMIT = {
  name: 'emit',
  text: `select pg_current_xact_id()::text as tx, count(*)::int as events from iu_core.fn_event_emit_batch($1)`,
}

export async function writeEvents({ database, size, round }: Task): Promise<Figures> {
  const sessions = await Promise.all(Array.from({ length: WRITERS }, () => database.worker()))
  const interleaving = new Interleaving(WRITERS)
  const shares = sessions.map((_, writer) => Math.floor((size + writer) / WRITERS))
  const started = performance.now()
  await Promise.all(
    sessions.map((session, writer) =>
      write(session, {
        writer,
        share: shares[writer]!,
        random: randomFrom(round * WRITERS + writer + 1),
        interleaving,
      }),
    ),
  )
  const elapsed = performance.now() - started
  return {
    events_per_s: perSecond(size, elapsed),
    ms: elapsed,
    transactions: interleaving.commits,
    overtaken: interleaving.overtaken,
  }
}

interface Share {
  readonly writer: number
  /** How many events it writes. */
  readonly share: number
  readonly random: () => number
  readonly interleaving: Interleaving
}

async function write(session: pg.Client, { writer, share, random, interleaving }: Share): Promise<void> {
  try {
    for (let left = share; left > 0; ) {
      await session.query('begin')
      let tx = ''
      for (let batch = 1 + Math.floor(random() * MAX_BATCHES); batch > 0 && left > 0; batch--) {
        const count = Math.min(left, 1 + Math.floor(random() * MAX_BATCH))
        const { rows } = await session.query({ ...EMIT, values: [events(writer, left, count)] })
        tx = rows[0].tx
        left -= count
      }
      if (random() * HELD_OPEN_ONE_IN < 1) await interleaving.hold()
      await session.query('commit')
      interleaving.committed(BigInt(tx))
    }
  } finally {
    interleaving.finished()
  }
}

/** Shaped like those of an ingestion: a subject, an address and a few references. */
function events(writer: number, from: number, count: number): string {
  return JSON.stringify(
    Array.from({ length: count }, (_, index) => {
      const subject = `w${writer}-${from - index}`
      return {
        event_domain: 'staging',
        event_type: 'ingestion_complete',
        event_stream: `upload:${writer}`,
        event_subject_ref: subject,
        canonical_address: `stagedoor://uploads/${subject}`,
        safe_payload: { upload_id: subject, dataset: 'meta_ads', row_count: 1000 + index },
      }
    }),
  )
}

/** mulberry32: the same numbers in every run, so that a slow round is not one of unlucky sizes. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
