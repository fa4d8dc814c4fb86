/** A large result says what it was made from: the collection of its loop, or the first large input of its step. */
import { expect, it } from 'vitest'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()
const large = (text: string) => text.repeat(10_000)

interface Kept {
  readonly ref: string
  readonly parent: string | null
  readonly node_name: string
  readonly name: string | null
}

const refsOf = (execution: string) =>
  engines.db.owner<Kept>(
    `select ref_id::text as ref, parent_ref_id::text as parent, node_name, name from noetl.result_ref
      where execution_id = $1 order by ref_id`,
    [execution],
  )

it('of a step, run here or handed over', async () => {
  await engines.start({ first: () => large('a'), second: () => large('b') })
  await engines.start({ third: () => large('c') }, { drives: false })
  await engines.register(
    playbook('chain', [
      { step: 'first', next: 'second' },
      { step: 'second', args: { of: '${steps.first.result}' }, next: 'third' },
      { step: 'third', args: { of: '${steps.second.result}' } },
    ]),
  )
  const id = await engines.run('chain')
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })

  const kept = await refsOf(id)
  const [first, second, third] = ['first', 'second', 'third'].map(
    (step) => kept.find(({ node_name, name }) => node_name === step && name === null)!,
  )
  expect(first!.parent).toBeNull()
  expect(second!.parent).toBe(first!.ref)
  expect(third!.parent).toBe(second!.ref)
  expect(kept.find(({ name }) => name === 'scope')!.parent).toBe(second!.ref)
})

it.each(['sequential', 'parallel'] as const)('of the items of a %s loop', async (mode) => {
  await engines.start({ each: () => large('d') })
  const name = `items-${mode}`
  await engines.register(playbook(name, [{ step: 'each', loop: { in: [large('1'), large('2')], mode } }]))
  const id = await engines.run(name)
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })

  const kept = await refsOf(id)
  const collection = kept.find((one) => one.name !== null)!
  const items = kept.filter((one) => one.name === null)
  expect(items).toHaveLength(2)
  expect(items.map(({ parent }) => parent)).toEqual([collection.ref, collection.ref])
})
