/**
 * In which workspace and for which execution a tool acts. Tools act as the back end, which sees every workspace, so an execution
 * stays in the workspace in which it was started, whatever its arguments say. One that belongs to no workspace must name one.
 */
import type { ToolArguments, ToolContext } from '../../executions/tools/tool.ts'
import type { Client } from '../../kernel/postgres/connection.ts'

export function workspaceFor(given: ToolArguments, { workspace_id: own }: ToolContext): string | null {
  const named = given.optionalText('workspace_id')
  if (own === null) return named ?? null
  if (named === undefined || named === own) return own
  throw given.wrong('workspace_id', `is not ${own}, the workspace of this execution`)
}

/** For the rest of the transaction: its events carry the cause of the execution, and the database knows which execution writes. */
export async function actFor(client: Client, { cause, execution_id }: ToolContext): Promise<void> {
  await client.query(
    `select set_config('stagedoor.cause', $1, true), set_config('stagedoor.execution', $2, true)`,
    [cause ?? '', execution_id],
  )
}
