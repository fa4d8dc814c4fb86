/**
 * The tool `approval`: an execution asks people for an approval, on behalf of the person who started it, and decides nothing. The step
 * that asked waits for the decision.
 */
import { type Tool, ToolArguments, ToolError } from '../../executions/tools/tool.ts'
import type { JsonObject } from '../../kernel/json.ts'
import type { Pool } from '../../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../../kernel/postgres/transaction.ts'
import type { FormField, RequestPolicy } from '../../staging/approval-shapes.ts'
import { requestApproval } from '../../staging/approvals.ts'
import { actFor, workspaceFor } from './scope.ts'

const ARGUMENTS = [
  'title',
  'show',
  'kind',
  'reviewers',
  'groups',
  'policy',
  'form',
  'timeout',
  'key',
  'workspace_id',
]

/** The step is the key: run again after a crash, or tried again, it finds the request that it made. */
export function approvalTool({ pool }: { readonly pool: Pool }): Tool {
  return async (_call, args, context) => {
    const given = new ToolArguments('approval', args, ARGUMENTS)
    const workspace = workspaceFor(given, context)
    if (workspace === null)
      throw new ToolError(
        'Nobody could decide: this execution belongs to no workspace. Start it with --workspace (workspace_id over HTTP and in SQL), or give the step args.workspace_id',
      )
    const approval = await inTransaction(
      pool,
      async (client) => {
        await actFor(client, context)
        return requestApproval(
          client,
          {
            // Without the attempt: a step that is tried again asks for the same thing.
            key: given.optionalText('key') ?? `execution:${context.command_id.replace(/:\d+$/, '')}`,
            title: given.text('title'),
            show: given.any('show') ?? null,
            kind: given.optionalText('kind'),
            reviewers: given.list('reviewers') as readonly string[],
            groups: given.list('groups') as readonly string[],
            policy: given.map('policy') as RequestPolicy,
            form: given.list('form') as unknown as readonly FormField[],
            timeout: given.optionalText('timeout'),
          },
          { workspace, by: context.started_by, sourceKind: 'system' },
        )
      },
      SERVICE_ROLE,
    )
    const { approval_id, change, title, status, digest, expires_at } = approval
    return { approval_id, change, title, status, digest, expires_at } as JsonObject
  }
}
