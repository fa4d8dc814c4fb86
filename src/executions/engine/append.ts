/** What is written to the database after a decision of the machine, or when an execution fails outside of it. */
import { textOfThrown } from '../../kernel/errors.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { storableText } from '../../kernel/text.ts'
import type { ExecutionEvent } from '../event.ts'
import type { Decision, Input, NewChild } from '../machine/decision.ts'
import { cancelMessages } from '../machine/loops.ts'
import { planOf } from '../machine/plan.ts'
import { type ExecutionState, type ExecutionStatus, FOLD_VERSION } from '../machine/state.ts'
import type { Delivery } from './driven-execution.ts'
import type { CatalogEntry } from './load.ts'
import type { Append, Message } from './log-writer.ts'

export interface ExecutionAddress {
  readonly execution_id: string
  readonly shard_id: number
  readonly epoch: string
}

/** `latest`: what the playbooks of its children are just now. */
export function appendOf(
  address: ExecutionAddress,
  entry: CatalogEntry,
  decision: Decision,
  latest: ReadonlyMap<string, CatalogEntry>,
): Omit<Append, 'onDurable' | 'onRefused'> {
  const { execution_id, shard_id } = address
  const {
    state,
    events,
    commands,
    commands_cancelled,
    waits,
    waits_ended,
    messages,
    children,
    collect,
    ended,
  } = decision
  const append: { -readonly [Name in keyof Append]?: Append[Name] } & ExecutionAddress &
    Pick<Append, 'events'> = {
    ...address,
    events,
  }
  // Most decisions have none of these.
  if (commands.length > 0) {
    const { catalog_id, playbook } = entry
    const { steps } = planOf(playbook)
    append.commands = commands.map((command) => {
      const { needs } = steps.get(command.node_name)!
      const row = { ...command, execution_id, shard_id, catalog_id }
      return needs.length > 0 ? { ...row, needs } : row
    })
  }
  if (commands_cancelled.length > 0) {
    append.commands_cancelled = commands_cancelled.map(({ loop_id }) => ({ execution_id, loop_id }))
  }
  if (waits.length > 0) append.waits = waits.map((wait) => ({ ...wait, execution_id, shard_id }))
  if (waits_ended.length > 0)
    append.waits_ended = waits_ended.map(({ node_id }) => ({ execution_id, node_id }))
  if (children.length + messages.length > 0) {
    const starts = children.map((child) => {
      const found = latest.get(child.playbook)
      return found ? childStartMessage(state!, child, found) : unknownPlaybookMessage(state!, child)
    })
    append.messages = [...starts, ...messages]
  }
  if (collect.length > 0) append.collect = collect.map((one) => ({ ...one, execution_id }))
  if (ended) {
    append.ended = true
    append.outbox = outboxEvents(state!, entry)
  }
  return append
}

/** To the child, in the flush that starts it. */
function childStartMessage(state: ExecutionState, child: NewChild, entry: CatalogEntry): Message {
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

/** To itself, through the inbox: durable with the flush that starts the child. */
function unknownPlaybookMessage(state: ExecutionState, child: NewChild): Message {
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

const OUTBOX_EVENT_TYPES: Partial<Record<ExecutionStatus, string>> = {
  COMPLETED: 'execution.completed',
  FAILED: 'execution.failed',
  CANCELLED: 'execution.cancelled',
}

/** The end of an execution, as an event for the rest of the system. */
function outboxEvents(state: ExecutionState, entry: CatalogEntry): JsonObject[] {
  const { status } = state
  const event_type = OUTBOX_EVENT_TYPES[status]
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

/** The same input without the result that may have been refused; undefined: nothing can be left out of it. */
export function withoutResult(delivery: Delivery, error: Error): Delivery | undefined {
  const { input, refusals = 0 } = delivery
  const reason = storableText(`its result cannot be stored: ${error.message}`)
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

type FailedEnd = Pick<
  Append,
  'events' | 'commands_cancelled' | 'waits_ended' | 'messages' | 'checkpoint' | 'outbox'
>

interface FailedExecution {
  readonly state: ExecutionState | undefined
  readonly entry: CatalogEntry
  /** The first input, of an execution that has no log yet. */
  readonly first: Input | undefined
  readonly error: Error
  nextId(): string
}

/**
 * The end of an execution that the machine did not decide: the database refused something, or a part of the engine is at fault.
 * It is playbook.failed, and everything outstanding is dropped.
 */
export function failedEnd({ state, entry, first, error, nextId }: FailedExecution): FailedEnd {
  return state === undefined
    ? failedStart(entry, first, error, nextId)
    : failedExecution(state, entry, error, nextId)
}

function failedExecution(
  state: ExecutionState,
  entry: CatalogEntry,
  error: Error,
  nextId: () => string,
): FailedEnd {
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
    error: storableError(error),
    result: { status: 'error' },
    meta: {},
  }
  const active = Object.values(state.active)
  return {
    events: [failed],
    commands_cancelled: [{ execution_id, loop_id: null }],
    waits_ended: active.flatMap(({ kind, node_id }) => (kind === 'wait' ? [{ execution_id, node_id }] : [])),
    messages: [
      ...active.flatMap((activation) =>
        cancelMessages(execution_id, activation, 'the execution that started it failed'),
      ),
      ...parentMessages(state, storableError(error)),
    ],
    outbox: outboxEvents({ ...state, status: 'FAILED' }, entry),
  }
}

/** The execution could not even begin. */
function failedStart(
  entry: CatalogEntry,
  input: Input | undefined,
  error: Error,
  nextId: () => string,
): FailedEnd {
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
  const end = failedExecution(state, entry, error, nextId)
  const last = end.events[0]!
  return {
    ...end,
    events: [initialized, last],
    checkpoint: { last_event_id: last.event_id, last_seq: 2, fold_version: FOLD_VERSION, state: null },
  }
}

/** What PostgreSQL cannot store must not be in the error, too. */
function storableError(error: unknown): string {
  return storableText(textOfThrown(error)).slice(0, 4000)
}

function parentMessages({ parent, execution_id }: ExecutionState, error: string): Message[] {
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
