import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Semaphore } from '../../src/runtime/semaphore.ts'

const never = {}

/** Work that ends when it is aborted. */
function works() {
  const running: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => running.push(resolve))
  return { running, work }
}

it('lets so many work at once, and the next in their order as others end', async () => {
  const places = new Semaphore(2)
  const { running, work } = works()
  const all = [1, 2, 3, 4].map(() => places.within(never, work))
  await setImmediate()
  expect(running).toHaveLength(2)
  running[0]!()
  await all[0]
  await setImmediate()
  expect(running).toHaveLength(3)
  running[1]!()
  running[2]!()
  await Promise.all([all[1], all[2]])
  await setImmediate()
  running[3]!()
  await Promise.all(all)
})

it('gives up the wait of who is not wanted any more, and the place of who fails', async () => {
  const places = new Semaphore(1)
  const { running, work } = works()
  const first = places.within(never, work)
  const unwanted = new AbortController()
  const second = places.within({ signal: unwanted.signal }, work)
  unwanted.abort(new Error('not wanted'))
  await expect(second).rejects.toThrow('not wanted')
  running[0]!()
  await first
  await expect(places.within(never, () => Promise.reject(new Error('it failed')))).rejects.toThrow(
    'it failed',
  )
  expect(await places.within(never, async () => 'free again')).toBe('free again')
})

it('gives one key no more than its share, and lets others past who wait behind it', async () => {
  const places = new Semaphore(3, { perKey: 1 })
  const entered: string[] = []
  const take = async (key: string) => {
    const release = await places.acquire({ key })
    entered.push(key)
    return release
  }
  const [first, again, other] = [take('a'), take('a'), take('b')]
  const release = await first
  await other
  expect(entered).toEqual(['a', 'b'])
  release()
  // Given back once, however often it is said.
  release()
  await again
  expect(entered).toEqual(['a', 'b', 'a'])
})
