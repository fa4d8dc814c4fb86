/** Asking again, a step towards the best hits. */
import { expect, it } from 'vitest'
import { moveTowardsHits } from '../../src/search/vector-search.ts'

const x = Float32Array.of(1, 0, 0)
const y = Float32Array.of(0, 1, 0)
const z = Float32Array.of(0, 0, 1)
const rounded = (vector: Float32Array) => Array.from(vector, (value) => Math.round(value * 1000) / 1000)

it('lies between the question and the middle of the hits, and has length one', () => {
  expect(rounded(moveTowardsHits(x, [y, y, z]))).toEqual([0.802, 0.535, 0.267])
  expect(rounded(moveTowardsHits(x, [y, z]))).toEqual([0.816, 0.408, 0.408])
})

it('is the question where there are no hits, or where they cancel it', () => {
  expect(rounded(moveTowardsHits(x, []))).toEqual([1, 0, 0])
  expect(moveTowardsHits(x, [Float32Array.of(-1, 0, 0)])).toBe(x)
})

it('leaves what it is given as it is', () => {
  const question = x.slice()
  moveTowardsHits(question, [y])
  expect(question).toEqual(x)
})
