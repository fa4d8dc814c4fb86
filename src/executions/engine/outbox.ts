/** The end of an execution, as the rest of the system hears of it. */
import type { ExecutionState, ExecutionStatus } from '../machine/state.ts'
import type { JsonObject } from '../playbook/definition.ts'
import type { CatalogEntry } from './catalog.ts'

const EVENT_OF: Partial<Record<ExecutionStatus, string>> = {
  COMPLETED: 'execution.completed',
  FAILED: 'execution.failed',
  CANCELLED: 'execution.cancelled',
}

export function outboxOf(state: ExecutionState, entry: CatalogEntry): JsonObject[] {
  const { status } = state
  const event_type = EVENT_OF[status]
  if (event_type === undefined) return []
  const { execution_id, workspace_id, started_by, cause, correlation_id } = state
  return [
    {
      execution_id,
      event_type,
      workspace_id,
      started_by,
      cause,
      correlation_id,
      playbook: entry.path,
      status: status.toLowerCase(),
    },
  ]
}
