import pg from 'pg'
import { expect, it } from 'vitest'
import { BatchWriter, retryWhenTransient } from '../../src/runtime/batch-writer.ts'

const refusal = (code: string) => Object.assign(new pg.DatabaseError('no', 2, 'error'), { code })
const turns = async (count = 2) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

/** A write that ends when the test says so. */
function heldWrites() {
  const batches: number[][] = []
  let finish: (error?: Error) => void = () => {}
  const write = (items: readonly number[]) => {
    batches.push([...items])
    return new Promise<void>((resolve, reject) => {
      finish = (error) => (error ? reject(error) : resolve())
    })
  }
  return { batches, write, finish: (error?: Error) => finish(error) }
}

it('sends one statement at a time; what is added meanwhile goes together with the next', async () => {
  const { batches, write, finish } = heldWrites()
  const writer = new BatchWriter<number>({ write, onRefused: expect.fail, onFailure: expect.fail })
  writer.add(1)
  await turns()
  for (let n = 0; n < 50; n++) writer.add(n)
  finish()
  await turns(1)
  finish()
  await writer.drain()
  expect(batches.map((batch) => batch.length)).toEqual([1, 50])
})

it('writes again after a broken connection, and refuses one by one what the database refuses', async () => {
  const written: number[] = []
  const refused: number[] = []
  let broken = 2
  const writer = new BatchWriter<number>({
    write: async (items) => {
      if (broken-- > 0) throw new Error('Connection terminated')
      if (items.includes(13)) throw refusal('22P05')
      written.push(...items)
    },
    onRefused: (item) => refused.push(item),
  })
  for (let n = 0; n < 20; n++) writer.add(n)
  await writer.drain()
  expect(refused).toEqual([13])
  // In their order, and each once.
  expect(written).toEqual(Array.from({ length: 20 }, (_, n) => n).filter((n) => n !== 13))
})

it('ends a batch with the item that reaches its size', async () => {
  const batches: number[][] = []
  const writer = new BatchWriter<number>({
    write: async (items) => {
      batches.push([...items])
    },
    onRefused: expect.fail,
    sizeOf: (item) => item,
    maxBatch: 10,
  })
  for (const size of [4, 5, 6, 30, 1, 2]) writer.add(size)
  await writer.drain()
  expect(batches).toEqual([[4, 5, 6], [30], [1, 2]])
})

it('drops what was added so far, also in the middle of a backoff, and writes what comes later', async () => {
  const written: number[] = []
  let attempts = 0
  const writer = new BatchWriter<number>({
    write: async (items) => {
      attempts++
      if (items.includes(1)) throw new Error('Connection terminated')
      written.push(...items)
    },
    onRefused: expect.fail,
    onFailure: (error, items, pause) => {
      writer.drop()
      return retryWhenTransient(error, items, pause)
    },
  })
  writer.add(1)
  await writer.drain()
  expect(attempts).toBe(1)
  writer.add(2)
  await writer.drain()
  expect(written).toEqual([2])
})

it('does not write again, nor refuse, what was dropped while its statement was under way', async () => {
  const { batches, write, finish } = heldWrites()
  const writer = new BatchWriter<number>({ write, onRefused: expect.fail, onFailure: expect.fail })
  writer.add(1)
  writer.add(2)
  await turns()
  writer.drop()
  finish(refusal('22P05'))
  await writer.drain()
  expect(batches).toEqual([[1, 2]])
})

it('takes waiting items out, of the queue and of the halves of a refused batch', async () => {
  const written: number[][] = []
  const removed: number[] = []
  const writer = new BatchWriter<number>({
    write: async (items) => {
      if (items.includes(10)) throw refusal('22P05')
      written.push([...items])
    },
    // Items with the same last digit follow from each other.
    onRefused: (item) => removed.push(item, ...writer.remove((other) => other % 10 === item % 10)),
    maxBatch: 6,
  })
  for (const item of [10, 1, 2, 20, 3, 4, 30, 5]) writer.add(item)
  await writer.drain()
  expect(removed).toEqual([10, 20, 30])
  expect(written.flat()).toEqual([1, 2, 3, 4, 5])
})

it('asks before each attempt which items still count', async () => {
  const lost = new Set<number>()
  const attempts: number[][] = []
  const writer = new BatchWriter<number>({
    write: async (items) => {
      attempts.push([...items])
      if (attempts.length === 1) throw new Error('Connection terminated')
    },
    onRefused: expect.fail,
    stillCounting: (items) => items.filter((item) => !lost.has(item)),
    onFailure: (error, items, pause) => {
      lost.add(2)
      return retryWhenTransient(error, items, pause)
    },
  })
  for (const item of [1, 2, 3]) writer.add(item)
  await writer.drain()
  expect(attempts).toEqual([
    [1, 2, 3],
    [1, 3],
  ])
})

it('ends a backoff on request', async () => {
  let attempts = 0
  const writer = new BatchWriter<number>({
    write: async () => {
      if (++attempts < 40) throw new Error('Connection terminated')
    },
    onRefused: expect.fail,
    onFailure: (error, items, pause) => {
      setImmediate(() => writer.retryNow())
      return retryWhenTransient(error, items, pause)
    },
  })
  const began = performance.now()
  writer.add(1)
  await writer.drain()
  // The backoffs alone would take half a minute.
  expect(performance.now() - began).toBeLessThan(15_000)
})
