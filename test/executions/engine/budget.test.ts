/** One member's expressions do not stop the others: neither their executions, nor the process that answers requests. */
import { expect, it } from 'vitest'
import { type ShortStep, useEngines, playbook as written } from './engines.ts'

const engines = useEngines()
const playbook = (name: string, steps: readonly ShortStep[], output?: string) =>
  written(name, steps, { args: { a: [], b: [] }, ...(output !== undefined && { output }) })
const numbers = (n: number, from = 0) => Array.from({ length: n }, (_, index) => from + index)

it('an expression without end fails its own step, for whoever begins it, and everybody else goes on', async () => {
  const expensive = '${args.a.filter(x, x in args.b)}'
  await engines.register(playbook('args', [{ step: 'a', args: { list: expensive } }]))
  await engines.register(playbook('collection', [{ step: 'a', loop: { in: expensive } }]))
  await engines.register(
    playbook('key', [{ step: 'a', loop: { in: [1, 2], mode: 'fanout', key: expensive as never } }]),
  )
  await engines.register(playbook('output', [{ step: 'a' }], expensive))
  await engines.register(
    playbook('when', [
      {
        step: 'a',
        next: { mode: 'exclusive', arcs: [{ step: 'b', when: 'args.a.exists(x, x in args.b)' }] },
      },
      { step: 'b' },
    ]),
  )
  await engines.register(playbook('other', [{ step: 'a' }]))
  await engines.register(
    playbook('goes-on', [
      { step: 'bad', call: 'a', args: { list: expensive }, on_error: 'continue', next: 'a' },
      { step: 'a' },
    ]),
  )
  await engines.start({ a: () => 1, b: () => 2 })
  const args = { a: numbers(4000), b: numbers(4000, 100_000) }
  for (const name of ['args', 'collection', 'key', 'output', 'when']) {
    const { status, error } = await engines.ended(await engines.run(name, args))
    expect([name, status]).toEqual([name, 'FAILED'])
    expect(error).toMatch(/more than 250000 steps/)
  }
  expect(await engines.ended(await engines.run('goes-on', args))).toMatchObject({ status: 'COMPLETED' })
  expect(await engines.ended(await engines.run('other'))).toMatchObject({ status: 'COMPLETED' })
})

it('many executions with expensive expressions take turns with everything else in the process', async () => {
  const costly = numbers(6).map((n) => [`n${n}`, '${args.a.map(x, x * 2 + 1).filter(x, x > 3).size()}'])
  await engines.register(playbook('costly', [{ step: 'a', args: Object.fromEntries(costly) }]))
  const ids: string[] = []
  for (const _ of numbers(30)) ids.push(await engines.run('costly', { a: numbers(3000) }))
  // How many of them were computed between two turns of the event loop.
  let computed = 0
  const turns: number[] = []
  let ticking = true
  const tick = () => {
    if (computed > 0) turns.push(computed)
    computed = 0
    if (ticking) setImmediate(tick)
  }
  tick()
  await engines.start({ a: () => ++computed })
  for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  ticking = false
  expect(Math.max(...turns)).toBeLessThanOrEqual(4)
})
