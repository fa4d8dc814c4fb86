import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { expect, it } from 'vitest'
import { PeriodicTasks } from '../../src/runtime/periodic-tasks.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })

it('repeats a task, also one that fails, and begins no run before the last one has ended', async () => {
  const tasks = new PeriodicTasks(log)
  let runs = 0
  let atOnce = 0
  let most = 0
  tasks.every(5, async () => {
    runs++
    most = Math.max(most, ++atOnce)
    await delay(10)
    atOnce--
    throw new Error('it fails')
  })
  await until('it ran several times', () => runs > 3)
  await tasks.stop()
  expect(most).toBe(1)
})

it('stops when what runs has ended, and begins nothing more', async () => {
  const tasks = new PeriodicTasks(log)
  let ended = 0
  tasks.every(
    1,
    async () => {
      await delay(50)
      ended++
    },
    { firstMs: 0 },
  )
  await delay(20)
  await tasks.stop()
  expect(ended).toBe(1)
  await delay(80)
  expect(ended).toBe(1)
})
