/** Jobs and items in the slots of the same remote workers. */
import { expect, it } from 'vitest'
import type { RemoteCall, RemoteCalls, RemoteOutcome } from '../../../src/runtime/remote/calls.ts'
import { SharedSlots } from '../../../src/runtime/remote/shared-slots.ts'

const DONE: RemoteOutcome = { status: 'completed' }

function pool(slots: number) {
  const ends = new Map<string, (outcome: RemoteOutcome) => void>()
  const calls: RemoteCalls = {
    slots,
    onSlots: () => () => {},
    run: ({ call }) => new Promise((resolve) => ends.set(call, resolve)),
    settle: () => {},
  }
  return { calls, end: (call: string) => ends.get(call)!(DONE) }
}
const call = (what: RemoteCall['what'], id: string, more: Partial<RemoteCall> = {}): RemoteCall => ({
  ...{ call: id, what, name: 'a', body: {}, ...more },
})
const { signal } = new AbortController()

it('each sees the slots that the other does not use, and is told when it has room again', async () => {
  const { calls, end } = pool(2)
  const shared = new SharedSlots(calls)
  const [jobs, items] = [shared.of('job'), shared.of('item')]
  let told = 0
  items.onSlots(() => told++)
  expect([jobs.slots, items.slots]).toEqual([2, 2])
  const runs = [jobs.run(call('job', '1'), signal), jobs.run(call('job', '2'), signal)]
  expect([jobs.slots, items.slots]).toEqual([2, 0])
  end('1')
  await runs[0]
  expect([jobs.slots, items.slots, told]).toEqual([2, 1, 1])
  end('2')
  await runs[1]
  // It had room already: it asks by itself.
  expect([items.slots, told]).toEqual([2, 1])
})

it('an item that wants a worker for itself takes none of the slots that the pool counts', () => {
  const { calls } = pool(2)
  const shared = new SharedSlots(calls)
  const [jobs, items] = [shared.of('job'), shared.of('item')]
  void items.run(call('item', '1', { alone: true }), signal)
  expect([jobs.slots, items.slots]).toEqual([2, 3])
})
