/** What an execution says to those that it starts, in the flush that starts them. */

import type { NewChild } from '../machine/decision.ts'
import type { ExecutionState } from '../machine/state.ts'
import type { CatalogEntry } from './catalog.ts'
import type { Message } from './flush.ts'

export function childStart(state: ExecutionState, child: NewChild, entry: CatalogEntry): Message {
  return {
    execution_id: child.execution_id,
    kind: 'start',
    body: {
      catalog_id: entry.catalog_id,
      args: child.args,
      workspace_id: state.workspace_id,
      started_by: state.started_by,
      cause: state.cause,
      correlation_id: state.correlation_id,
      depth: child.depth,
      parent: {
        execution_id: state.execution_id,
        node_id: child.node_id,
        ...(child.index !== undefined && { index: child.index }),
        attempt: child.attempt,
      },
    },
  }
}

/** Said to itself through the inbox: durable with the flush that says that the child was started. */
export function unknownChild(state: ExecutionState, child: NewChild): Message {
  return {
    execution_id: state.execution_id,
    kind: 'child_ended',
    body: {
      execution_id: child.execution_id,
      node_id: child.node_id,
      ...(child.index !== undefined && { index: child.index }),
      attempt: child.attempt,
      status: 'FAILED',
      error: `There is no playbook ${child.playbook}, or it is disabled`,
    },
  }
}
