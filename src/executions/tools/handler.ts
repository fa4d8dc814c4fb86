/** The tool `handler`: a function of the user's, by its name. */
import type { Json } from '../playbook/definition.ts'
import { type HandlerTool, type PlaybookHandlers, type Tool, ToolError } from '../tool.ts'

export function handlerTool(handlers: PlaybookHandlers): HandlerTool {
  const byName = new Map(Object.entries(handlers))
  const tool: Tool = async (call, args, context) => {
    const handler = call === undefined ? undefined : byName.get(call)
    if (handler === undefined) throw unknown(call, [...byName.keys()])
    // Whatever it is: run-command refuses what is not JSON.
    return (await handler(args, context)) as Json | undefined
  }
  return Object.assign(tool, { names: [...byName.keys()] })
}

function unknown(call: string | undefined, names: readonly string[]): ToolError {
  const there = names.length > 0 ? `there are ${names.join(', ')}` : 'this process was given none'
  return new ToolError(
    call === undefined
      ? `The tool handler needs call: the name of one; ${there}`
      : `There is no handler ${call}; ${there}`,
  )
}
