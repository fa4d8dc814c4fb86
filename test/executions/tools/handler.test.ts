import { expect, it } from 'vitest'
import { handlerTool } from '../../../src/executions/tools/tool.ts'
import { contextOf } from '../run-command/command.ts'

it('calls a handler by its name, with the arguments and what it needs to be idempotent', async () => {
  const tool = handlerTool({ double: (args, { command_id }) => [Number(args.n) * 2, command_id] })
  expect(await tool('double', { n: 4 }, contextOf())).toEqual([8, '1:fetch#1:1'])
})

it.each([
  ['missing', 'There is no handler missing; there are one, two'],
  ['toString', 'There is no handler toString; there are one, two'],
  [undefined, 'The tool handler needs call: the name of one; there are one, two'],
])('does not retry a call of %s, and names those that there are', async (call, message) => {
  const tool = handlerTool({ one: () => 1, two: () => 2 })
  await expect(tool(call, {}, contextOf())).rejects.toMatchObject({
    name: 'ToolError',
    message,
    retryable: false,
  })
})

it('says so where there is none', async () => {
  await expect(handlerTool({})('work', {}, contextOf())).rejects.toThrow(
    'There is no handler work; this process was given none',
  )
})
