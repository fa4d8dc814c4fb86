/** The log of an execution: every type of event, and the fields of one. */
import type { Json, JsonObject } from '../kernel/json.ts'

const EVENT_TYPES = [
  'playbook.initialized',
  'playbook.completed',
  'playbook.failed',
  // The seed's other names for the same three; nobody writes them here.
  'workflow.initialized',
  'workflow.completed',
  'workflow.failed',
  'execution.cancelled',
  'execution.paused',
  'execution.resumed',
  // A step that waits, or runs a playbook.
  'step.enter',
  'step.exit',
  // A step that runs tools; attempts of items of a loop that failed.
  'command.issued',
  'command.completed',
  'command.failed',
  'loop.started',
  'loop.item',
  'loop.done',
  'loop.fanout.started',
  'loop.shard.enqueued',
  'loop.shard.done',
  'loop.shard.failed',
  'loop.fanin.completed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const TERMINAL_EVENT_TYPES: readonly EventType[] = [
  'playbook.completed',
  'playbook.failed',
  'workflow.completed',
  'workflow.failed',
  'execution.cancelled',
]

/** What the machine writes. The writer adds event_id, seq, catalog_id and parent_execution_id; the database adds the engine as worker_id. */
export interface NewEvent {
  readonly event_type: EventType
  /** `<step>#<entry>`: one entry of a step. */
  readonly node_id?: string
  readonly node_name?: string
  readonly node_type?: 'playbook' | 'step' | 'command' | 'loop'
  readonly status?: string
  readonly context?: JsonObject
  readonly result?: JsonObject
  readonly meta?: JsonObject
  readonly error?: string
  readonly current_index?: number
  readonly current_item?: Json
}

export interface ExecutionEvent extends NewEvent {
  readonly execution_id: string
  readonly event_id: string
  readonly seq: number
  readonly catalog_id: string
  readonly parent_event_id?: string | null
  readonly parent_execution_id?: string | null
  /** ISO 8601; absent on what is not committed yet. */
  readonly created_at?: string
}

/** A result in an event, an inbox row or a state: small ones as they are, large ones by reference. */
export type ResultValue = { readonly value: Json } | { readonly ref: string; readonly bytes: number }

const RESULT_URI_PREFIX = 'stagedoor://results/'

/** How the log names a result that is kept outside of it, wherever its bytes are: `stagedoor://results/<ref>`. */
export function resultUri(ref: string): string {
  return `${RESULT_URI_PREFIX}${ref}`
}

/** Logs of before had the bare reference. */
export function parseResultUri(uri: string): string {
  return uri.startsWith(RESULT_URI_PREFIX) ? uri.slice(RESULT_URI_PREFIX.length) : uri
}

/** A result of at most so many bytes stays in its event. */
export const MAX_INLINE_BYTES = 8 * 1024
