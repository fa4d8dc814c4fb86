import { describe, expect, it } from 'vitest'
import { denseWeight, fuse, RANK_CONSTANT } from '../../src/search/ranking.ts'

describe('fusion by reciprocal rank', () => {
  it('puts what both legs found before what only one of them did', () => {
    const fused = fuse(['a', 'b', 'c'], ['d', 'b', 'e'], 1)
    expect(fused[0]).toEqual({
      key: 'b',
      score: 2 / (RANK_CONSTANT + 2),
      shares: { words: 1 / (RANK_CONSTANT + 2), meaning: 1 / (RANK_CONSTANT + 2) },
      ranks: { lexical: 2, dense: 2 },
    })
    expect(fused.map(({ key }) => key)).toEqual(['b', 'a', 'd', 'c', 'e'])
  })

  it('keeps the better place of what comes twice in a leg, and gives the place after it to the next', () => {
    const fused = fuse(['a', 'a', 'b'], [], 1)
    expect(fused.map(({ key, ranks }) => [key, ranks.lexical])).toEqual([
      ['a', 1],
      ['b', 2],
    ])
  })

  it('is the order of the words when the other leg weighs nothing', () => {
    expect(fuse(['a', 'b'], ['c', 'b'], 0).map(({ key }) => key)).toEqual(['a', 'b'])
  })

  it('decides ties by the order of the words, so that the same question has the same answer', () => {
    expect(fuse(['a'], ['z'], 1).map(({ key }) => key)).toEqual(['a', 'z'])
    expect(fuse(['z'], ['a'], 1).map(({ key }) => key)).toEqual(['z', 'a'])
  })
})

it('gives the meaning less where its model has seen little, and nothing where it has none', () => {
  expect(denseWeight({ embedder: 'lsa', documents: 300 })).toBe(1)
  expect(denseWeight({ embedder: 'lsa', documents: 5000 })).toBe(1.5)
  expect(denseWeight({ embedder: 'openai' })).toBe(1)
  expect(denseWeight({ embedder: 'hashed' })).toBe(0)
})
