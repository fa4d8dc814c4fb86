/** The circuit breaker in front of a service that may be down. */
import { beforeEach, expect, it } from 'vitest'
import { Breaker } from '../../src/runtime/breaker.ts'

let now = 0
let breaker: Breaker
beforeEach(() => {
  now = 0
  breaker = new Breaker({ now: () => now })
})

it('blocks for five seconds after the first failure, then twice as long each time, at most a minute', () => {
  const blocks: number[] = []
  for (let failure = 0; failure < 6; failure++) {
    if (failure > 0) expect(breaker.check()).toBe('trial')
    breaker.recordFailure('away')
    blocks.push(breaker.remainingMs)
    now += breaker.remainingMs
  }
  expect(blocks).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000])
})

it('lets one call through when the block is over, and nobody else until that one has reported', () => {
  breaker.recordFailure('away')
  expect(breaker.check()).toBe('blocked')
  now += 5000
  expect(breaker.check()).toBe('trial')
  expect(breaker.check()).toBe('blocked')
  breaker.recordSuccess()
  expect(breaker.check()).toBe('allowed')
  breaker.recordFailure('away again')
  expect(breaker.remainingMs).toBe(5000)
})

it('does not block longer for what was under way when it tripped', () => {
  breaker.recordFailure('away')
  breaker.recordFailure('away')
  breaker.recordFailure('away')
  expect(breaker.remainingMs).toBe(5000)
})

it('waits for as long as it is asked to', () => {
  breaker.recordFailure('too many requests', 30_000)
  expect(breaker.remainingMs).toBe(30_000)
})

it('may be tried by somebody else when a try said nothing', () => {
  breaker.recordFailure('away')
  now += 5000
  breaker.check()
  breaker.endTrial()
  expect(breaker.check()).toBe('trial')
})
