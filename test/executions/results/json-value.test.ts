import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requireJson } from '../../../src/executions/results.ts'

const cyclic: Record<string, unknown> = {}
cyclic.itself = [cyclic]
class Point {
  x = 1
}

describe('what is not JSON is refused with its place', () => {
  it.each([
    ['a BigInt', { n: [1, 2n] }, 'result.n[1] is a BigInt; give back a string, or a number below 2^53'],
    ['a Date', { at: new Date(0) }, 'result.at is a Date; give back its toISOString()'],
    ['NaN', [Number.NaN], 'result[0] is NaN, which JSON cannot hold'],
    ['Infinity', Number.POSITIVE_INFINITY, 'result is Infinity, which JSON cannot hold'],
    ['NUL', { text: 'a\0b' }, 'result.text contains the character NUL, which PostgreSQL cannot hold'],
    [
      'half a surrogate pair',
      ['\ud83c'],
      'result[0] contains half of a surrogate pair, which PostgreSQL cannot hold',
    ],
    ['a name with NUL', { 'a\0': 1 }, 'contains the character NUL, which PostgreSQL cannot hold'],
    ['a function', { f: () => 1 }, 'result.f is a function, which is not data'],
    ['a Map', new Map(), 'result is a Map; give back plain objects and lists'],
    ['bytes', Buffer.from('x'), 'result is a Buffer; give back plain objects and lists'],
    ['an object of a class', { p: new Point() }, 'result.p is a Point; give back plain objects and lists'],
    ['what contains itself', cyclic, 'it contains itself, or is nested deeper than 500 levels'],
    ['undefined in a list', [undefined], 'result[0] is undefined, which is not data'],
  ])('%s', (_, value, message) => {
    expect(() => requireJson(value)).toThrow(message)
  })
})

it('takes nothing for null, and leaves fields without a value out', () => {
  expect(requireJson(undefined)).toBe(null)
  const value = { a: 1, gone: undefined, list: [{ gone: undefined, b: 2 }, { c: 3 }] }
  expect(requireJson(value)).toStrictEqual({ a: 1, list: [{ b: 2 }, { c: 3 }] })
  expect(Object.keys(value)).toContain('gone')
})

it('returns the very object when it is JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      fc.pre(!/\\u0000|\\ud[89a-f]/.test(text))
      expect(requireJson(value)).toBe(value)
    }),
  )
})
