/**
 * Eight clients at a fixed rate: 200 writes and 400 reads a second fall due whether or not those before them are answered. At full speed,
 * clients that wait for each other measure how many share the cores; here a latency is what somebody waits who comes on their own,
 * from the moment that their call fell due: queueing and the lateness of our timer count.
 */
import type { Figures, Task } from '../benchmark.ts'
import { percentile, perSecond } from '../statistics.ts'
import { type Hand, type Opening, ready, sliced, textOf, type Unit, WRITES, type Write } from './clients.ts'

const WRITES_PER_S = 200
const READS_PER_WRITE = 2
const INTERVAL_MS = 1000 / (WRITES_PER_S * (1 + READS_PER_WRITE))
/** Units that are there before: what falls due finds one that nobody is busy with. */
const AHEAD = 200

/** A quarter of the writes are new units; one unit in five of what the others do at full speed, or a round would take a minute. */
export async function atARate({ database, size }: Task, open: Opening): Promise<Figures> {
  const { hands, stop } = await ready(database, open, false)
  const day = new Day()
  for (let n = 0; n < AHEAD; n++) await day.write('create', hands[n % hands.length]!)
  for (let n = 0; n < AHEAD / 2; n++) await day.write('slice', hands[n % hands.length]!)
  const taken: Record<Write | 'read', number[]> = { create: [], slice: [], profile: [], edge: [], read: [] }
  const calls = Math.max(AHEAD, Math.round(size / 5)) * WRITES.length * (1 + READS_PER_WRITE)
  let next = 0
  let wrong = 0
  const begun = performance.now()
  await Promise.all(
    hands.map(async (hand) => {
      while (next < calls) {
        const call = next++
        const due = begun + call * INTERVAL_MS
        await until(due)
        // A timer may be early; nobody has waited then.
        const from = Math.min(due, performance.now())
        const write = WRITES[Math.floor(call / (1 + READS_PER_WRITE)) % WRITES.length]!
        const reads = call % (1 + READS_PER_WRITE) !== 0
        if (reads) wrong += await day.wrongReads(hand)
        else await day.write(write, hand)
        taken[reads ? 'read' : write].push(performance.now() - from)
      }
    }),
  )
  const elapsed = performance.now() - begun
  await stop()
  return {
    paced_writes_per_s: perSecond(
      WRITES.reduce((sum, write) => sum + taken[write].length, 0),
      elapsed,
    ),
    ...Object.fromEntries(WRITES.map((write) => [`${write}_p99_ms`, percentile(taken[write], 0.99)])),
    write_p50_ms: percentile(
      WRITES.flatMap((write) => taken[write]),
      0.5,
    ),
    read_p50_ms: percentile(taken.read, 0.5),
    read_p99_ms: percentile(taken.read, 0.99),
    wrong_reads: wrong,
  }
}

async function until(due: number): Promise<void> {
  const left = due - performance.now()
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left))
}

/** What there is to write and read: units in version 1, and those whose slice was edited. */
class Day {
  private born = 0
  private readonly first: Unit[] = []
  private readonly edited: Unit[] = []
  private turn = 0

  async write(write: Write, hand: Hand): Promise<void> {
    if (write === 'create') return this.create(hand)
    if (write === 'slice') return this.slice(hand)
    const unit = this.anEdited()
    if (write === 'profile') return hand.profile(unit, { summary: 'in short', weight: this.turn })
    return hand.edge(unit, `bench/elsewhere-${this.turn}`)
  }

  async wrongReads(hand: Hand): Promise<number> {
    const unit = this.anEdited()
    return (await hand.read(unit)) === sliced(unit) ? 0 : 1
  }

  private async create(hand: Hand): Promise<void> {
    const made = textOf(this.born++)
    this.first.push({ ...made, id: await hand.create(made) })
  }

  private async slice(hand: Hand): Promise<void> {
    const unit = this.first.shift()
    if (!unit) throw new Error('no unit is left in version 1')
    await hand.slice(unit, 'sliced')
    this.edited.push(unit)
  }

  /** One after the other, so that no two clients are busy with the same. */
  private anEdited(): Unit {
    return this.edited[this.turn++ % this.edited.length]!
  }
}
