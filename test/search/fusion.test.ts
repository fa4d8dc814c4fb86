import { describe, expect, it } from 'vitest'
import { fuse, RANK_CONSTANT } from '../../src/search/fusion.ts'

describe('fusion by reciprocal rank', () => {
  it('puts what both legs found before what only one of them did', () => {
    const fused = fuse(['a', 'b', 'c'], ['d', 'b', 'e'], 1)
    expect(fused[0]).toEqual({
      key: 'b',
      score: 2 / (RANK_CONSTANT + 2),
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
