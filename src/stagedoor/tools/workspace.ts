/**
 * The tools act as the back end, which sees every workspace. So an execution stays in its own: what it was started in is
 * where it stages and reads, whatever its arguments say. One that the back end started for all of them names one.
 */
import type { Client } from '../../db/connection.ts'
import type { ToolContext } from '../../executions/tool.ts'
import type { Arguments } from '../../executions/tools/arguments.ts'

export function workspaceFor(given: Arguments, { workspace_id: own }: ToolContext): string | null {
  const named = given.optionalText('workspace_id')
  if (own === null) return named ?? null
  if (named === undefined || named === own) return own
  throw given.wrong('workspace_id', `is not ${own}, the workspace of this execution`)
}

/** For the rest of the transaction: what follows from it follows from the same event, and the database knows which execution writes. */
export async function actFor(client: Client, { cause, execution_id }: ToolContext): Promise<void> {
  await client.query(
    `select set_config('stagedoor.cause', $1, true), set_config('stagedoor.execution', $2, true)`,
    [cause ?? '', execution_id],
  )
}
