/** What stands between a worker and something that may be away. */
import { beforeEach, expect, it } from 'vitest'
import { Breaker } from '../../src/search/breaker.ts'

let now = 0
let breaker: Breaker
beforeEach(() => {
  now = 0
  breaker = new Breaker({ now: () => now })
})

it('rests five seconds after the first failure, then twice as long each time, at most a minute', () => {
  const rests: number[] = []
  for (let failure = 0; failure < 6; failure++) {
    if (failure > 0) expect(breaker.ask()).toBe('trial')
    breaker.failed('away')
    rests.push(breaker.remainingMs)
    now += breaker.remainingMs
  }
  expect(rests).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000])
})

it('lets one through when the rest is over, and nobody else until that one has told', () => {
  breaker.failed('away')
  expect(breaker.ask()).toBe('closed')
  now += 5000
  expect(breaker.ask()).toBe('trial')
  expect(breaker.ask()).toBe('closed')
  breaker.succeeded()
  expect(breaker.ask()).toBe('open')
  breaker.failed('away again')
  expect(breaker.remainingMs).toBe(5000)
})

it('does not rest longer for what was under way when it tripped', () => {
  breaker.failed('away')
  breaker.failed('away')
  breaker.failed('away')
  expect(breaker.remainingMs).toBe(5000)
})

it('waits for as long as it is asked to', () => {
  breaker.failed('too many requests', 30_000)
  expect(breaker.remainingMs).toBe(30_000)
})

it('may be tried by somebody else when a try said nothing', () => {
  breaker.failed('away')
  now += 5000
  breaker.ask()
  breaker.undecided()
  expect(breaker.ask()).toBe('trial')
})
