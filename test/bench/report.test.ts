import { expect, it } from 'vitest'
import type { Benchmark, Task } from '../../bench/src/benchmark.ts'
import { atLeast } from '../../bench/src/criteria.ts'
import { type Report, runBenchmark } from '../../bench/src/harness.ts'
import { jsonLine, tableFor } from '../../bench/src/report.ts'
import { withSection } from '../../bench/src/results.ts'
import type { BenchDatabase } from '../../bench/src/server.ts'
import { medianOf } from '../../bench/src/statistics.ts'

interface Trace {
  readonly report: Report
  /** What ran on which database, in order. */
  readonly order: string[]
  readonly dropped: number
}

/** A benchmark that needs no server: its databases are only counted. */
async function runCounting(
  freshDatabase: Benchmark['freshDatabase'],
  quick: boolean,
  name = 'counting',
  rounds?: number,
): Promise<Trace> {
  const order: string[] = []
  let [databases, dropped] = [0, 0]
  const note = (what: string, { database, size, round }: Task): void => {
    order.push(`${what} ${database.url} ${size} ${round}`)
  }
  const benchmark: Benchmark = {
    name,
    about: 'counts',
    unit: 'things',
    size: { full: 100, quick: 20 },
    rounds: { full: 3, quick: 3 },
    freshDatabase,
    async prepare(task) {
      note('prepare', task)
      return { made: task.size }
    },
    contenders: [
      {
        name: 'ours',
        about: 'ours',
        async run(task) {
          note('ours', task)
          return { per_s: 100 + task.round }
        },
      },
      {
        name: 'floor',
        about: 'the floor',
        async run(task) {
          note('floor', task)
          return { per_s: 200 }
        },
      },
    ],
    summarise: (rounds) => ({
      ratio_floor: medianOf(rounds, 'ours', 'per_s') / medianOf(rounds, 'floor', 'per_s'),
    }),
    criteria: [{ field: 'ratio_floor', bar: atLeast(0.5), goal: atLeast(0.9) }],
  }
  const server = {
    versions: { stagedoor: '1.0.0', postgres: '18.4' },
    settings: { fsync: 'on' },
    async freshDatabase() {
      const url = `db${databases++}`
      const drop = async (): Promise<void> => {
        dropped++
      }
      return { url, drop } as BenchDatabase
    },
  }
  const report = await runBenchmark(benchmark, server, { quick, rounds, progress: () => {} })
  return { report, order, dropped }
}

it('gives each round a database of its own, and another contender the first turn', async () => {
  const { order, dropped } = await runCounting('round', false)
  expect(order).toEqual([
    ...['prepare db0 10 0', 'ours db0 10 0', 'floor db0 10 0'], // the warm-up
    ...['prepare db1 100 0', 'ours db1 100 0', 'floor db1 100 0'],
    ...['prepare db2 100 1', 'floor db2 100 1', 'ours db2 100 1'],
    ...['prepare db3 100 2', 'ours db3 100 2', 'floor db3 100 2'],
  ])
  expect(dropped).toBe(4)
})

it('gives each contender a database of its own where they would spoil each other’s', async () => {
  const { order, dropped } = await runCounting('contender', true)
  expect(order.slice(4, 8)).toEqual([
    'prepare db2 20 0',
    'ours db2 20 0',
    'prepare db3 20 0',
    'floor db3 20 0',
  ])
  expect(dropped).toBe(8)
})

it('runs as many rounds as are asked for', async () => {
  expect((await runCounting('round', false, 'counting', 1)).report.rounds).toHaveLength(1)
})

it('puts everything on one line of JSON, the figures of BENCHMARKS.md at its top level', async () => {
  const { report } = await runCounting('round', true)
  const line = jsonLine(report)
  expect(line).not.toContain('\n')
  expect(JSON.parse(line)).toMatchObject({
    benchmark: 'counting',
    quick: true,
    size: 20,
    ratio_floor: 0.505,
    verdicts: [{ field: 'ratio_floor', bar_met: true, goal_met: false }],
    medians: { prepare: { made: 20 }, ours: { per_s: 101 }, floor: { per_s: 200 } },
    rounds: [{ ours: { per_s: 100 } }, { ours: { per_s: 101 } }, { ours: { per_s: 102 } }],
    machine: { cores: expect.any(Number), memory_gb: expect.any(Number), cpu: expect.any(String) },
    versions: { stagedoor: '1.0.0', postgres: '18.4', node: process.versions.node },
    settings: { fsync: 'on' },
  })
})

it('shows a person the same figures as a table', async () => {
  const table = tableFor((await runCounting('round', false)).report)
  expect(table).toContain('counting: 100 things, median of 3 rounds')
  expect(table).toMatch(/^ratio_floor +0\.505 +≥ 0\.5 met +≥ 0\.9 not met$/m)
  expect(table).toMatch(/^ours per_s +100 +101 +102$/m)
})

it('records a run in its own section and leaves the others as they are', async () => {
  const order = ['first', 'second', 'third']
  const second = (await runCounting('round', false, 'second')).report
  const first = (await runCounting('round', false, 'first')).report
  const one = withSection('', second, order)
  const two = withSection(one, first, order)
  expect([...two.matchAll(/^## (\S+)/gm)].map((match) => match[1])).toEqual(['first', 'second'])
  expect(two.endsWith(one.slice(one.indexOf('## second')))).toBe(true)
  expect(withSection(two, first, order)).toBe(two)
  expect(two).toContain('| ratio_floor | 0.505 | ≥ 0.5 met | ≥ 0.9 not met |')
  expect(two).toContain('`npm run -s bench -- first --record`')
})

it('adds a pass at a size of its own to a full run, once and after the rounds', async () => {
  const sizes: number[] = []
  const ours = {
    name: 'ours',
    about: 'ours',
    async run({ size }: { size: number }) {
      sizes.push(size)
      return { mb: size / 10 }
    },
  }
  const benchmark: Benchmark = {
    name: 'scaled',
    about: 'scaled',
    unit: 'things',
    size: { full: 100, quick: 20 },
    rounds: { full: 1, quick: 1 },
    freshDatabase: 'contender',
    contenders: [ours],
    atScale: { size: 5000, contender: ours },
    summarise: (rounds, atScale) => ({ mb: atScale?.mb ?? medianOf(rounds, 'ours', 'mb') }),
    criteria: [{ field: 'mb', bar: atLeast(1) }],
  }
  const server = {
    versions: { stagedoor: '1.0.0', postgres: '18.4' },
    settings: {},
    freshDatabase: async () => ({ drop: async () => {} }) as BenchDatabase,
  }
  const progress = (): void => {}
  const full = await runBenchmark(benchmark, server, { quick: false, progress })
  expect(sizes).toEqual([10, 100, 5000])
  expect(full).toMatchObject({ figures: { mb: 500 }, at_scale: { size: 5000, contender: 'ours' } })
  expect(tableFor(full)).toMatch(/^ours mb +500$/m)
  expect(withSection('', full, [])).toContain('| raw | 5,000 things, once |')
  const quick = await runBenchmark(benchmark, server, { quick: true, progress })
  expect(sizes.slice(3)).toEqual([2, 20])
  expect(quick.figures).toEqual({ mb: 2 })
  expect(quick).not.toHaveProperty('at_scale')
})
