import { expect, it } from 'vitest'
import { readArguments } from '../../bench/src/arguments.ts'
import type { Benchmark } from '../../bench/src/benchmark.ts'
import { atMost, type Criterion, judge, wrong } from '../../bench/src/criteria.ts'

const plain: Benchmark = {
  name: 'counting',
  about: 'counts',
  unit: 'things',
  size: { full: 2, quick: 1 },
  rounds: { full: 1, quick: 1 },
  freshDatabase: 'round',
  contenders: [],
  summarise: () => ({}),
  criteria: [],
}
const withNats: Benchmark = { ...plain, name: 'counting-nats', command: 'counting --nats' }
const BENCHMARKS = [
  { ...plain, variants: { nats: withNats } },
  { ...plain, name: 'other' },
]

it('chooses the variant of a benchmark by its option', () => {
  expect(readArguments(['counting'], BENCHMARKS).benchmark?.name).toBe('counting')
  expect(readArguments(['counting', '--nats', '--quick'], BENCHMARKS).benchmark).toBe(withNats)
})

it('refuses an option for which the benchmark has no variant', () => {
  expect(() => readArguments(['other', '--nats'], BENCHMARKS)).toThrow('other has no --nats')
  expect(() => readArguments(['counting', '--measure'], BENCHMARKS)).toThrow('counting has no --measure')
  expect(() => readArguments(['counting', '--sizes'], BENCHMARKS)).toThrow('counting has no --sizes')
})

it('judges what only a full run measures in a full run, and leaves it out of a quick one', () => {
  const criteria: Criterion[] = [
    { field: 'seconds', bar: atMost(2) },
    { field: 'lost', bar: atMost(0), correctness: true, onlyFull: true },
  ]
  expect(judge(criteria, { seconds: 1 }).map(({ field }) => field)).toEqual(['seconds'])
  expect(judge(criteria, { seconds: 1, lost: 1 }).map(({ bar_met }) => bar_met)).toEqual([true, false])
  expect(wrong(criteria, { seconds: 1 })).toEqual([])
  expect(wrong(criteria, { seconds: 1, lost: 1 })).toEqual(['lost'])
})
