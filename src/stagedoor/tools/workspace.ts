/**
 * The tools act as the back end, which sees every workspace. So an execution stays in its own: what it was started in is
 * where it stages and reads, whatever its arguments say. One that the back end started for all of them names one.
 */
import type { ToolContext } from '../../executions/tool.ts'
import type { Arguments } from '../../executions/tools/arguments.ts'

export function workspaceFor(given: Arguments, { workspace_id: own }: ToolContext): string | null {
  const named = given.optionalText('workspace_id')
  if (own === null) return named ?? null
  if (named === undefined || named === own) return own
  throw given.wrong('workspace_id', `is not ${own}, the workspace of this execution`)
}
