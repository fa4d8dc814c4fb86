import { expect, it } from 'vitest'
import { isOutOfMemory, runInThread, ThreadTimeout, threadFile } from '../../src/runtime/worker-thread.ts'

/** A thread whose source is this text. */
const thread = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`)
const IMPORT = "import { parentPort, workerData } from 'node:worker_threads';"
const ENDLESS = thread('setInterval(() => {}, 1000)')

it('answers with the first message of the thread', async () => {
  const file = thread(`${IMPORT} parentPort.postMessage(workerData * 2)`)
  expect(await runInThread<number>(file, { data: 21, maxMemoryMb: 64 })).toBe(42)
})

it('rejects with the error of the thread, and when it ends without an answer', async () => {
  const throwing = thread("throw new RangeError('too deep')")
  await expect(runInThread(throwing, { data: 0, maxMemoryMb: 64 })).rejects.toThrow('too deep')
  await expect(runInThread(thread('process.exit(3)'), { data: 0, maxMemoryMb: 64 })).rejects.toThrow('code 3')
})

it('gives up after its time, and when nobody wants the answer any more', async () => {
  await expect(runInThread(ENDLESS, { data: 0, maxMemoryMb: 64, timeoutMs: 50 })).rejects.toBeInstanceOf(
    ThreadTimeout,
  )
  const unwanted = new AbortController()
  const running = runInThread(ENDLESS, { data: 0, maxMemoryMb: 64, signal: unwanted.signal })
  unwanted.abort(new Error('not wanted'))
  await expect(running).rejects.toThrow('not wanted')
})

it('says when the thread needs more memory than it may have', async () => {
  const greedy = thread('const all = []; for (;;) all.push(new Array(1000).fill({}))')
  const error = await runInThread(greedy, { data: 0, maxMemoryMb: 16 }).catch((thrown) => thrown)
  expect(isOutOfMemory(error)).toBe(true)
})

it('has a file only where the product is built', () => {
  expect(threadFile('./thread.js', 'file:///x/src/fit.ts')).toBeUndefined()
  expect(threadFile('./thread.js', 'file:///x/dist/fit.js')?.pathname).toBe('/x/dist/thread.js')
})
