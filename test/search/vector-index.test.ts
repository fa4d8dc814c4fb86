/** Vectors in memory against a scan that keeps every digit. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openScanner, type PackedVectors } from '../../src/search/stores/mirror/scanner.ts'
import { VectorIndex } from '../../src/search/stores/mirror/vector-index.ts'
import type { NearestPoint } from '../../src/search/stores/store.ts'
import { cases } from '../support/length.ts'
import { idOf } from './stores/recorded.ts'

/** The compiled thread: Node 20 loads no TypeScript into one. */
const THREAD = new URL('../../dist/search/stores/mirror/thread.js', import.meta.url)
const WORKSPACES = [idOf(-1), idOf(-2)] as const
/** Half of the last digit that an answer is right to. */
const TOLERANCE = 1e-4

function normalised(numbers: readonly number[]): Float32Array<ArrayBuffer> {
  const length = Math.hypot(...numbers) || 1
  return Float32Array.from(numbers, (value) => value / length)
}

/** Normal numbers from a fixed seed. */
function randomVectors(count: number, dimension: number, seed = 1): Float32Array<ArrayBuffer>[] {
  let state = seed
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 1) / 4_294_967_297
  }
  const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: count }, () => normalised(Array.from({ length: dimension }, normal)))
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}

function exactNearest(held: ReadonlyMap<string, Float32Array>, vector: Float32Array, limit: number) {
  return [...held]
    .map(([id, own]) => ({ id, score: dot(own, vector) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
}

/** The same places with the same scores; points that are equally near within the tolerance may change places. */
function expectSame(
  found: readonly NearestPoint[],
  exact: readonly NearestPoint[],
  of: ReadonlyMap<string, number>,
) {
  expect(found).toHaveLength(exact.length)
  found.forEach(({ id, score }, at) => {
    expect(Math.abs(score - exact[at]!.score)).toBeLessThan(TOLERANCE)
    expect(Math.abs(score - of.get(id)!)).toBeLessThan(TOLERANCE)
  })
}

const pack = (vectors: readonly [id: string, workspace: string, vector: Float32Array][]): PackedVectors => ({
  ids: vectors.map(([id]) => id).join(''),
  workspaces: vectors.map(([, workspace]) => workspace).join(''),
  numbers: Float32Array.from(vectors.flatMap(([, , vector]) => [...vector])),
})

type Step =
  | { readonly kind: 'put'; readonly places: readonly { readonly at: number; readonly seed: number }[] }
  | { readonly kind: 'remove'; readonly places: readonly number[] }
  | {
      readonly kind: 'ask'
      readonly seed: number
      readonly limit: number
      readonly only: readonly number[] | null
    }

const PLACES = 700
const place = fc.nat(PLACES - 1)
const seed = fc.integer({ min: 1, max: 1_000_000 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    places: fc.array(fc.record({ at: place, seed }), { minLength: 1, maxLength: 300 }),
  }),
  fc.record({
    kind: fc.constant('remove' as const),
    places: fc.array(place, { minLength: 1, maxLength: 300 }),
  }),
  fc.record({
    kind: fc.constant('ask' as const),
    seed,
    limit: fc.constantFrom(0, 1, 7, 150),
    only: fc.option(fc.array(place, { maxLength: 60 })),
  }),
)

/** A point belongs to one workspace for good. */
const workspaceOf = (at: number): string => WORKSPACES[at % 2]!

it('answers in a thread and in the process what a scan of every digit answers, whatever was written and removed before', {
  tags: 'property',
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1, 8, 16, 17, 200),
      fc.array(step, { minLength: 1, maxLength: 25 }),
      async (dimension, steps) => {
        const scanners = [openScanner(undefined), openScanner(THREAD)]
        const held = new Map(WORKSPACES.map((name) => [name as string, new Map<string, Float32Array>()]))
        try {
          for (const one of steps) {
            if (one.kind === 'put') {
              const rows = one.places.map(
                ({ at, seed }) =>
                  [idOf(at), workspaceOf(at), randomVectors(1, dimension, seed)[0]!] as [
                    string,
                    string,
                    Float32Array,
                  ],
              )
              for (const [id, workspace, vector] of rows) held.get(workspace)!.set(id, vector)
              const sizes = await Promise.all(scanners.map((of) => of.run('put', { vectors: pack(rows) })))
              const size = [...held.values()].reduce((sum, own) => sum + own.size, 0)
              expect(sizes).toEqual([size, size])
            } else if (one.kind === 'remove') {
              const ids = one.places.map(idOf)
              for (const own of held.values()) for (const id of ids) own.delete(id)
              await Promise.all(scanners.map((of) => of.run('remove', { ids })))
            } else {
              const [vector] = randomVectors(1, dimension, one.seed)
              for (const workspace of WORKSPACES) {
                const own = held.get(workspace)!
                const only = one.only?.map(idOf)
                const allowed = only ? new Map([...own].filter(([id]) => only.includes(id))) : own
                const exact = exactNearest(allowed, vector!, PLACES)
                const scores = new Map(exact.map(({ id, score }) => [id, score]))
                const answers = await Promise.all(
                  scanners.map((of) =>
                    of.run('nearest', {
                      workspace,
                      vector: vector!,
                      limit: one.limit,
                      ...(only && { only }),
                    }),
                  ),
                )
                expect(answers[1]).toEqual(answers[0])
                expectSame(answers[0]!, exact.slice(0, one.limit), scores)
              }
            }
          }
        } finally {
          await Promise.all(scanners.map((of) => of.close()))
        }
      },
    ),
    { numRuns: cases(15, 150) },
  )
})

it('finds of ten nearest more than 99 of 100 in vectors without any structure, where they are hardest to tell apart', () => {
  const dimension = 200
  const vectors = randomVectors(3_000, dimension)
  const held = new Map(vectors.map((vector, at) => [idOf(at), vector]))
  const index = new VectorIndex(dimension)
  index.put({
    ids: [...held.keys()],
    workspaces: vectors.map(() => WORKSPACES[0]),
    numbers: Float32Array.from(vectors.flatMap((vector) => [...vector])),
  })
  let found = 0
  const questions = randomVectors(100, dimension, 77)
  for (const question of questions) {
    const exact = new Set(exactNearest(held, question, 10).map(({ id }) => id))
    found += index.nearest(WORKSPACES[0], question, { limit: 10 }).filter(({ id }) => exact.has(id)).length
  }
  expect(found / (10 * questions.length)).toBeGreaterThan(0.99)
})

it('keeps numbers to four digits, also where one of them is a thousand times the others', () => {
  const index = new VectorIndex(17)
  const numbers = normalised([1_000, ...Array.from({ length: 16 }, (_, at) => at - 8)])
  index.put({ ids: [idOf(1)], workspaces: [WORKSPACES[0]], numbers })
  index
    .vectors([idOf(1)])
    .get(idOf(1))!
    .forEach((value, at) => {
      expect(value).toBeCloseTo(numbers[at]!, 4)
    })
})

it('gives the memory of removed vectors to others, and finds nothing in a workspace that it does not have', () => {
  const dimension = 200
  const index = new VectorIndex(dimension)
  const [vector] = randomVectors(1, dimension)
  for (let round = 0; round < 50; round++) {
    const ids = Array.from({ length: 300 }, (_, at) => idOf(at))
    index.put({
      ids,
      workspaces: ids.map((_, at) => idOf(-1 - ((at + round) % 3))),
      numbers: Float32Array.from({ length: dimension * 300 }, (_, at) => vector![at % dimension]!),
    })
    for (const id of ids) index.remove(id)
  }
  expect(index.size).toBe(0)
  expect(index.bytes).toBeLessThan(2_000_000)
  expect(index.nearest(WORKSPACES[0], vector!, { limit: 3 })).toEqual([])
})

it('holds 200,000 vectors of 200 numbers in less than 300 MB, with what their pages leave behind', {
  tags: 'long',
}, async () => {
  const [dimension, page] = [200, 2_000]
  const scanner = openScanner(THREAD)
  try {
    const before = process.memoryUsage.rss()
    for (let from = 0; from < 200_000; from += page) {
      const numbers = Float32Array.from({ length: page * dimension }, (_, at) => Math.sin(from + at * 0.37))
      await scanner.run('put', {
        vectors: {
          numbers,
          ids: Array.from({ length: page }, (_, at) => idOf(from + at)).join(''),
          workspaces: WORKSPACES[0].repeat(page),
        },
      })
    }
    const [question] = randomVectors(1, dimension)
    await scanner.run('nearest', { workspace: WORKSPACES[0], vector: question!, limit: 100 })
    expect((process.memoryUsage.rss() - before) / 1e6).toBeLessThan(300)
  } finally {
    await scanner.close()
  }
})
