import { expect, it } from 'vitest'
import { atLeast, atMost, type Criterion, judge, wrong } from '../../bench/src/criteria.ts'
import { inTurn, isLate } from '../../bench/src/harness.ts'
import {
  bootstrapInterval,
  median,
  medianOf,
  medians,
  perSecond,
  rounded,
  worstOf,
} from '../../bench/src/statistics.ts'

const ROUNDS = [
  { ours: { per_s: 10, missed: 0 }, floor: { per_s: 40 } },
  { ours: { per_s: 90, missed: 3 }, floor: { per_s: 20 } },
  { ours: { per_s: 30, missed: 0 }, floor: { per_s: 30 } },
]

it('takes the middle of an odd number of values and the mean of the two in the middle otherwise', () => {
  expect(median([30, 10, 90])).toBe(30)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([7])).toBe(7)
  expect(() => median([])).toThrow('no median')
})

it('says between which values a mean lies, the same every time', () => {
  const values = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? 1 : -1) * (n % 5))
  const [low, high] = bootstrapInterval(values)
  expect(low).toBeLessThan(0)
  expect(high).toBeGreaterThan(0)
  expect(bootstrapInterval(values)).toEqual([low, high])
  expect(bootstrapInterval(values.map(() => 0.25))).toEqual([0.25, 0.25])
  // The interval narrows with the number of values.
  const [lowest, highest] = bootstrapInterval(values.slice(0, 20))
  expect(highest - lowest).toBeGreaterThan(high - low)
})

it('orders values as numbers', () => {
  expect(median([9, 10, 100])).toBe(10)
})

it('finds the median and the worst of one figure over the rounds', () => {
  expect(medianOf(ROUNDS, 'ours', 'per_s')).toBe(30)
  expect(worstOf(ROUNDS, 'ours', 'missed')).toBe(3)
  expect(medians(ROUNDS)).toEqual({ ours: { per_s: 30, missed: 0 }, floor: { per_s: 30 } })
})

it('refuses to leave out a round that lacks a figure', () => {
  expect(() => medianOf([...ROUNDS, { ours: { per_s: 1 } }], 'floor', 'per_s')).toThrow(
    'round 4 has no per_s of floor',
  )
})

it('shows four digits at most', () => {
  expect([rounded(123_456.7), rounded(0.851_234), rounded(12.345_67), rounded(3)]).toEqual([
    123_457, 0.8512, 12.35, 3,
  ])
  expect(perSecond(5000, 250)).toBe(20_000)
})

it('lets every contender go first in its turn', () => {
  const firsts = [0, 1, 2, 3].map((round) => inTurn(['a', 'b', 'c'], round))
  expect(firsts).toEqual([
    ['a', 'b', 'c'],
    ['b', 'c', 'a'],
    ['c', 'a', 'b'],
    ['a', 'b', 'c'],
  ])
})

it('cuts a quick run short on a slow machine, but never below three rounds', () => {
  expect(isLate(200_000, 2)).toBe(false)
  expect(isLate(30_000, 3)).toBe(true)
  expect(isLate(15_000, 3)).toBe(false)
})

it('distinguishes a bar that is met from a goal that is not', () => {
  const criteria: Criterion[] = [
    { field: 'ratio', bar: atLeast(0.5), goal: atLeast(0.9) },
    { field: 'missed', bar: atMost(0), correctness: true },
  ]
  expect(judge(criteria, { ratio: 0.5, missed: 0 })).toEqual([
    { field: 'ratio', value: 0.5, bar: '≥ 0.5', bar_met: true, goal: '≥ 0.9', goal_met: false },
    { field: 'missed', value: 0, bar: '≤ 0', bar_met: true },
  ])
  expect(() => judge(criteria, { missed: 0 })).toThrow('no such figure')
})

it('fails a run whose work was wrong, not one that was slow', () => {
  const criteria: Criterion[] = [
    { field: 'ratio', bar: atLeast(0.5) },
    { field: 'missed', bar: atMost(0), correctness: true },
  ]
  expect(wrong(criteria, { ratio: 0.1, missed: 0 })).toEqual([])
  expect(wrong(criteria, { ratio: 2, missed: 1 })).toEqual(['missed'])
})
