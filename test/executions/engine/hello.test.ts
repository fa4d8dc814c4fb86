import { expect, it } from 'vitest'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()

it('runs four steps in order, each after the one before it is durable, and gives back the output', async () => {
  const ran: string[] = []
  const step = (name: string) => () => {
    ran.push(name)
    return name.toUpperCase()
  }
  await engines.start({ a: step('a'), b: step('b'), c: step('c'), d: step('d') })
  const steps = [{ step: 'a', next: 'b' }, { step: 'b', next: 'c' }, { step: 'c', next: 'd' }, { step: 'd' }]
  await engines.register(playbook('hello', steps, { output: { last: '${steps.d.result}' } }))
  const id = await engines.run('hello')

  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })
  expect(ran).toEqual(['a', 'b', 'c', 'd'])
  const log = await engines.log(id)
  expect(log.map(({ event_type, node_name }) => `${event_type} ${node_name}`)).toEqual([
    'playbook.initialized hello',
    ...['a', 'b', 'c', 'd'].flatMap((name) => [`command.issued ${name}`, `command.completed ${name}`]),
    'playbook.completed null',
  ])
  expect(log.at(-1)!.result).toMatchObject({ status: 'ok', value: { last: 'D' } })
  expect(await engines.differences()).toEqual([])
})
