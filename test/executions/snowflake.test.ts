import { expect, it } from 'vitest'
import { SnowflakeIds } from '../../src/executions/engine/engine.ts'

const EPOCH = Date.UTC(2024, 0, 1)
const partsOf = (id: string) => ({
  millisecond: Number(BigInt(id) >> 22n),
  node: Number((BigInt(id) >> 12n) & 1023n),
  counter: Number(BigInt(id) & 4095n),
})

it.each([0, 1, 999_999, 1_000_000, 90_871_333_777, 2 ** 41 - 1])(
  'puts %i ms, the node and a counter together as the database does',
  (millisecond) => {
    const ids = new SnowflakeIds(1023, { now: () => EPOCH + millisecond })
    if (millisecond > 0) expect(partsOf(ids.next())).toEqual({ millisecond, node: 1023, counter: 0 })
    const second = ids.next()
    expect(partsOf(second).node).toBe(1023)
    expect(String(BigInt(second))).toBe(second)
  },
)

it('rises with every id, also when one millisecond is not enough for them', () => {
  let now = EPOCH + 1000
  const ids = new SnowflakeIds(7, { now: () => now })
  let previous = -1n
  for (let n = 0; n < 20_000; n += 1) {
    if (n % 9000 === 0) now += 1
    const id = BigInt(ids.next())
    expect(id > previous).toBe(true)
    previous = id
  }
})

it('goes on from the last id when the clock goes back by up to 50 ms, and raises beyond', () => {
  let now = EPOCH + 100_000
  const ids = new SnowflakeIds(7, { now: () => now })
  const before = ids.next()
  now -= 50
  expect(partsOf(ids.next())).toEqual({ ...partsOf(before), counter: 1 })
  now -= 1
  expect(() => ids.next()).toThrowError(expect.objectContaining({ code: 'clock_went_back' }))
  now += 52
  expect(partsOf(ids.next()).millisecond).toBe(100_001)
})

it('goes on after an id of another node whose clock is ahead', () => {
  const ids = new SnowflakeIds(7, { now: () => EPOCH + 1000 })
  const ahead = new SnowflakeIds(1023, { now: () => EPOCH + 9000 }).next()
  ids.after(ahead)
  const id = ids.next()
  expect(BigInt(id) > BigInt(ahead)).toBe(true)
  ids.after(new SnowflakeIds(3, { now: () => EPOCH + 5 }).next())
  expect(BigInt(ids.next()) > BigInt(id)).toBe(true)
})
