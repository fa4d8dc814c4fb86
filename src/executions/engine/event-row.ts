/** An event as noetl.fn_execution_flush takes it: its columns in order. Names for each would cost up to 40 % more. */
import type { ExecutionEvent } from '../event.ts'
import type { Json } from '../playbook/definition.ts'

export function eventRow(event: ExecutionEvent): Json[] {
  const row: Json[] = [
    event.execution_id,
    event.event_id,
    event.seq,
    event.event_type,
    event.catalog_id,
    event.parent_event_id ?? null,
    event.node_id ?? null,
    event.node_name ?? null,
    event.node_type ?? null,
    event.status ?? null,
    event.meta ?? null,
    event.result ?? null,
    event.context ?? null,
    event.error ?? null,
    event.current_index ?? null,
    event.current_item ?? null,
    event.parent_execution_id ?? null,
  ]
  // What is left out at the end is null.
  while (row.at(-1) === null) row.pop()
  return row
}
