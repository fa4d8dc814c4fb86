import { expect, it } from 'vitest'
import { Interleaving } from '../../bench/src/outbox/interleaving.ts'

it('holds a transaction until five others have committed, and counts it as overtaken', async () => {
  const interleaving = new Interleaving(8)
  let released = false
  const held = interleaving.hold().then(() => {
    released = true
  })
  for (const tx of [2n, 3n, 4n, 5n]) interleaving.committed(tx)
  await Promise.resolve()
  expect(released).toBe(false)
  interleaving.committed(6n)
  await held
  interleaving.committed(1n)
  expect(interleaving).toMatchObject({ commits: 6, overtaken: 1 })
})

it('never lets more than half of the writers hold', async () => {
  const interleaving = new Interleaving(4)
  const held = [interleaving.hold(), interleaving.hold()]
  await interleaving.hold() // would wait for ever
  for (const tx of [1n, 2n, 3n, 4n, 5n]) interleaving.committed(tx)
  await Promise.all(held)
})

it('lets those who hold go when the others have finished', async () => {
  const interleaving = new Interleaving(3)
  const held = interleaving.hold()
  interleaving.finished()
  interleaving.finished()
  await held
})
