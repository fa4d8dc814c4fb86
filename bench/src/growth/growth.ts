/**
 * The same work on tables that have grown and on small ones, side by side on one server: enqueue, claim, complete, emit, dispatch,
 * executions, plan, promote, and the lists of the console as a member reads them. The small ones have what a first month leaves (SMALL). Both sides take turns, and a path's ratio is that of
 * the medians of its calls.
 */
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atMost } from '../criteria.ts'
import { median } from '../statistics.ts'
import { Side, type Times } from './side.ts'

const TURNS = 4
/** What a first month leaves. So many executions that counts which end at 10,000 end there on both sides. */
const SMALL = { events: 20_000, lines: 1000, executions: 11_000 }
/** Below this the difference of two times says nothing. */
const NOTHING_MS = 0.05
const FULL = 10_000_000

const atSize = (full: number): Benchmark => ({
  name: 'growth',
  about:
    'hot paths on 10,000,000 events, 5,000,000 finished jobs, 1,000,000 staged lines and 100,000 ended executions, compared with small tables',
  unit: 'events',
  size: { full, quick: FULL / 50 },
  rounds: { full: 1, quick: 1 },
  warmUp: false,
  freshDatabase: 'contender',
  contenders: [{ name: 'paths', about: 'each path on both sides', run: measureGrowth }],
  summarise([round]) {
    const figures = round!.paths!
    const ratios = Object.entries(figures).filter(([field]) => field.endsWith('_ratio'))
    return {
      worst_ratio: Math.max(...ratios.map(([, ratio]) => ratio)),
      ...Object.fromEntries(Object.entries(figures).filter(([field]) => !field.endsWith('_ms'))),
    }
  },
  criteria: [{ field: 'worst_ratio', bar: atMost(1.2) }],
})

export const growth: Benchmark = {
  ...atSize(FULL),
  variants: { fifth: { ...atSize(FULL / 5), command: 'growth --fifth' } },
}

async function measureGrowth({ database, freshDatabase, size }: Task): Promise<Figures> {
  const other = await freshDatabase()
  const small = await Side.open(database)
  const large = await Side.open(other)
  try {
    for (const side of [small, large]) await side.measure()
    await small.fill(
      { ...SMALL, executions: Math.min(SMALL.executions, share(size, 1).executions) },
      SMALL.events,
    )
    const figures: Record<string, number> = {}
    const started = performance.now()
    await large.fill(share(size, 0.2), size)
    await compare(small, large, (path, { ratio }) => {
      figures[`${path}_ratio_at_fifth`] = ratio
    })
    await large.fill(share(size, 1), size)
    figures.fill_s = (performance.now() - started) / 1000
    await compare(small, large, (path, { ratio, smallMs, largeMs }) => {
      figures[`${path}_ratio`] = ratio
      figures[`${path}_small_ms`] = smallMs
      figures[`${path}_large_ms`] = largeMs
    })
    return figures
  } finally {
    await small.close()
    await large.close()
    await large.drop()
  }
}

const share = (size: number, part: number) => ({
  events: Math.round(size * part),
  lines: Math.round((size * part) / 10),
  executions: Math.round((size * part) / 100),
})

interface Compared {
  readonly ratio: number
  readonly smallMs: number
  readonly largeMs: number
}

async function compare(
  small: Side,
  large: Side,
  report: (path: string, compared: Compared) => void,
): Promise<void> {
  // The first after a filling compiles and loads; it does not count.
  await small.measure()
  await large.measure()
  const times: { small: Times[]; large: Times[] } = { small: [], large: [] }
  for (let turn = 0; turn < TURNS; turn++) {
    const order = turn % 2 === 0 ? (['small', 'large'] as const) : (['large', 'small'] as const)
    for (const name of order) times[name].push(await (name === 'small' ? small : large).measure())
  }
  const medianOf = (of: readonly Times[], path: string): number => median(of.flatMap((turn) => turn[path]!))
  for (const path of Object.keys(times.small[0]!)) {
    const [smallMs, largeMs] = [medianOf(times.small, path), medianOf(times.large, path)]
    report(path, { smallMs, largeMs, ratio: (largeMs + NOTHING_MS) / (smallMs + NOTHING_MS) })
  }
}
