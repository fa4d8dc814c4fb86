/** Ends that the machine did not decide: something was refused by the database, or a part of the engine is at fault. */

import type { ExecutionEvent } from '../event.ts'
import type { Input } from '../machine/decision.ts'
import { type ExecutionState, FOLD_VERSION } from '../machine/state.ts'
import { storable } from '../storable.ts'
import type { CatalogEntry } from './catalog.ts'
import type { Delivery } from './driven-execution.ts'
import type { Append, Message } from './flush.ts'
import { outboxOf } from './outbox.ts'

/** The same news without what may have been refused; undefined: nothing can be left out of it. */
export function withoutItsResult(delivery: Delivery, error: Error): Delivery | undefined {
  const { input, refusals = 0 } = delivery
  const reason = storable(`its result cannot be stored: ${error.message}`)
  if (refusals > 0) return undefined
  if (input.kind === 'command_ended' && input.status === 'completed') {
    const { result, ...ended } = input
    return {
      ...delivery,
      refusals: 1,
      input: { ...ended, status: 'failed', error: reason, retryable: false },
    }
  }
  if (input.kind === 'child_ended' && input.status === 'COMPLETED') {
    const { result, ...ended } = input
    return { ...delivery, refusals: 1, input: { ...ended, status: 'FAILED', error: reason } }
  }
  return undefined
}

type End = Pick<Append, 'events' | 'commands_gone' | 'waits_gone' | 'messages' | 'checkpoint' | 'outbox'>

/** playbook.failed, and everything outstanding dropped. `first`: what it was told, of one that has no log yet. */
export function failedEnd(
  state: ExecutionState | undefined,
  entry: CatalogEntry,
  first: Input | undefined,
  error: Error,
  nextId: () => string,
): End {
  return state === undefined ? failedStart(entry, first, error, nextId) : failure(state, entry, error, nextId)
}

function failure(state: ExecutionState, entry: CatalogEntry, error: Error, nextId: () => string): End {
  const { execution_id, catalog_id, seq, parent, last_event_id } = state
  const failed: ExecutionEvent = {
    execution_id,
    event_id: nextId(),
    seq: seq + 1,
    catalog_id,
    parent_event_id: last_event_id,
    parent_execution_id: parent?.execution_id ?? null,
    event_type: 'playbook.failed',
    node_type: 'playbook',
    status: 'failed',
    error: textOf(error),
    result: { status: 'error' },
    meta: {},
  }
  const active = Object.values(state.active)
  return {
    events: [failed],
    commands_gone: [{ execution_id, loop_id: null }],
    waits_gone: active.flatMap(({ kind, node_id }) => (kind === 'wait' ? [{ execution_id, node_id }] : [])),
    messages: [...cancelledChildren(state), ...toldParent(state, textOf(error))],
    outbox: outboxOf({ ...state, status: 'FAILED' }, entry),
  }
}

/** It could not even begin. */
function failedStart(entry: CatalogEntry, input: Input | undefined, error: Error, nextId: () => string): End {
  if (input?.kind !== 'start') throw error
  const { execution_id, catalog_id, parent, workspace_id, started_by, cause, correlation_id, depth } = input
  const initialized: ExecutionEvent = {
    execution_id,
    event_id: nextId(),
    seq: 1,
    catalog_id,
    parent_event_id: null,
    parent_execution_id: parent?.execution_id ?? null,
    event_type: 'playbook.initialized',
    node_type: 'playbook',
    status: 'started',
    context: { args: {} },
    meta: {
      playbook: entry.path,
      version: entry.version,
      workspace_id,
      started_by,
      cause,
      correlation_id,
      depth,
      ...(parent && { parent_node_id: parent.node_id }),
    },
  }
  const state: ExecutionState = {
    execution_id,
    catalog_id,
    version: entry.version,
    seq: 1,
    last_event_id: initialized.event_id,
    status: 'RUNNING',
    parent,
    workspace_id,
    started_by,
    cause,
    correlation_id,
    depth,
    args: {},
    steps: {},
    entries: {},
    entered: 0,
    active: {},
    error: null,
  }
  const end = failure(state, entry, error, nextId)
  const last = end.events[0]!
  return {
    ...end,
    events: [initialized, last],
    checkpoint: { last_event_id: last.event_id, last_seq: 2, fold_version: FOLD_VERSION, state: null },
  }
}

/** What PostgreSQL cannot keep must not be in the error, too. */
export function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return storable(text).slice(0, 4000)
}

function cancelledChildren(state: ExecutionState): Message[] {
  const children = Object.values(state.active).flatMap((activation) =>
    activation.kind === 'child'
      ? [activation.child]
      : activation.kind === 'loop'
        ? Object.values(activation.open).flatMap(({ child }) => child ?? [])
        : [],
  )
  return children.map((execution_id) => ({
    execution_id,
    kind: 'cancel',
    body: { by: state.started_by, reason: 'the execution that started it failed' },
  }))
}

function toldParent({ parent, execution_id }: ExecutionState, error: string): Message[] {
  if (parent === null) return []
  const { execution_id: to, ...where } = parent
  return [
    {
      execution_id: to,
      kind: 'child_ended',
      body: { execution_id, ...where, status: 'FAILED', error },
    },
  ]
}
