import { describe, expect, it } from 'vitest'
import { denseWeight, fitOf, fuse, leastFit, normaliseScores } from '../../src/search/ranking.ts'

const scores = (words: Record<string, number>, meaning: Record<string, number>) => ({
  words: normaliseScores(new Map(Object.entries(words))),
  meaning: normaliseScores(new Map(Object.entries(meaning))),
})

describe('fusion by scores', () => {
  it('adds what each leg gives, of its best, by its weight', () => {
    const fused = fuse({
      lexical: ['a', 'b'],
      dense: ['b', 'c'],
      denseWeight: 0.25,
      scores: scores({ a: 8, b: 4, c: 0 }, { a: 0.1, b: 0.5, c: 0.4 }),
    })
    expect(fused.map(({ key, score }) => [key, score])).toEqual([
      ['a', 0.75 + 0.25 * 0.2],
      ['b', 0.75 * 0.5 + 0.25],
      ['c', 0.25 * 0.8],
    ])
    expect(fused[1]).toMatchObject({
      shares: { words: 0.375, meaning: 0.25 },
      ranks: { lexical: 2, dense: 1 },
    })
  })

  it('keeps how certain a leg is: a clear winner of the words stays first', () => {
    const legs = { lexical: ['a', 'b'], dense: ['b', 'a'], denseWeight: 0.25 }
    const clear = fuse({ ...legs, scores: scores({ a: 20, b: 5 }, { b: 0.9, a: 0.8 }) })
    expect(clear[0]!.key).toBe('a')
    const close = fuse({ ...legs, scores: scores({ a: 20, b: 19.9 }, { b: 0.9, a: 0.1 }) })
    expect(close[0]!.key).toBe('b')
  })

  it('is 1 for what is the best of both legs, and never negative', () => {
    const fused = fuse({
      lexical: ['a'],
      dense: ['a', 'z'],
      denseWeight: 0.25,
      scores: scores({ a: 3 }, { a: 0.4, z: -0.2 }),
    })
    expect(fused.map(({ score }) => score)).toEqual([1, 0])
  })
})

describe('fusion by ranks, where a store gives no scores', () => {
  it('puts what both legs found before what only one of them did', () => {
    const fused = fuse({ lexical: ['a', 'b', 'c'], dense: ['d', 'b', 'e'], denseWeight: 0.5 })
    expect(fused.map(({ key }) => key)).toEqual(['b', 'a', 'd', 'c', 'e'])
    expect(fused[0]).toMatchObject({ key: 'b', ranks: { lexical: 2, dense: 2 } })
  })

  it('keeps the better place of what comes twice in a leg, and gives the place after it to the next', () => {
    const fused = fuse({ lexical: ['a', 'a', 'b'], dense: [], denseWeight: 0.5 })
    expect(fused.map(({ key, ranks }) => [key, ranks.lexical])).toEqual([
      ['a', 1],
      ['b', 2],
    ])
  })

  it('is the order of the words when the other leg weighs nothing', () => {
    expect(fuse({ lexical: ['a', 'b'], dense: ['c', 'b'], denseWeight: 0 }).map(({ key }) => key)).toEqual([
      'a',
      'b',
    ])
  })

  it('decides ties by the order of the words, so that the same question has the same answer', () => {
    for (const [a, z] of [
      ['a', 'z'],
      ['z', 'a'],
    ] as const)
      expect(fuse({ lexical: [a], dense: [z], denseWeight: 0.5 }).map(({ key }) => key)).toEqual([a, z])
  })
})

it('gives the meaning less where its model has seen little, and nothing where it has none', () => {
  expect(denseWeight({ embedder: 'lsa', documents: 5000 })).toBe(0.25)
  expect(denseWeight({ embedder: 'lsa', documents: 200 })).toBe(0.05)
  expect(denseWeight({ embedder: 'openai' })).toBe(0.5)
  expect(denseWeight({ embedder: 'hashed' })).toBe(0)
})

it('judges an answer by its best hits, and a long question by less', () => {
  const words = new Map([
    ['a', { score: 9, share: 0.3, asked: 4 }],
    ['b', { score: 8, share: 0.7, asked: 4 }],
    ['d', { score: 1, share: 1, asked: 4 }],
  ])
  expect(fitOf(['a', 'b', 'c', 'd'], words, undefined)).toBe(0.7)
  expect(fitOf(['c'], words, new Map([['c', 0.9]]))).toBe(0.9)
  expect(fitOf([], words, undefined)).toBe(0)
  expect([1, 3, 8, 100].map(leastFit).map((least) => least.toFixed(2))).toEqual([
    '0.55',
    '0.45',
    '0.20',
    '0.20',
  ])
})
