/** Executions as the API shows them. Ids are larger than 2^53: strings. */
import { Type } from 'typebox'
import {
  EXECUTION_STATUSES,
  type ExecutionDetail,
  type ExecutionRecord,
  type LoggedEvent,
} from '../../../executions/shown-executions.ts'
import type { ExecutionStep } from '../../../executions/shown-steps.ts'
import type { TracedExecution } from '../../../executions/traced.ts'
import { nullable, Timestamp } from '../../responses.ts'

/** Up to the largest bigint. */
export const ExecutionId = Type.String({
  pattern: '^([0-9]{1,18}|[0-8][0-9]{18}|9[01][0-9]{17}|92[01][0-9]{16})$',
  examples: ['380609617270407169'],
})
export const PlaybookName = Type.String({
  pattern: '^[a-z][a-z0-9_.:-]{0,62}$',
  examples: ['nightly-import'],
})
const Data = Type.Record(Type.String(), Type.Unknown())
const Count = Type.Union([Type.Integer(), Type.Null()])

export const ExecutionShape = Type.Object({
  execution_id: Type.String(),
  playbook: nullable(Type.String({ description: 'null where you may not see the playbook' })),
  version: Count,
  parent_execution_id: nullable(Type.String()),
  workspace_id: nullable(Type.String()),
  started_by: nullable(Type.String()),
  status: Type.Enum([...EXECUTION_STATUSES]),
  last_event_type: nullable(Type.String()),
  last_node_name: nullable(Type.String()),
  last_seq: Type.Integer(),
  error: nullable(Type.String()),
  items: Count,
  items_done: Count,
  items_failed: Count,
  state: Data,
  start_time: nullable(Timestamp),
  end_time: nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const Loop = Type.Object({
  loop_id: Type.String(),
  mode: Type.String(),
  total: Type.Integer(),
  done: Type.Integer(),
  failed: Type.Integer(),
  completed: Type.Boolean(),
})

const Wait = Type.Object({
  kind: Type.Enum(['timer', 'event', 'approval']),
  wake_at: nullable(Timestamp),
  event: nullable(Type.String()),
  subject: nullable(Type.String()),
  staging_record_id: nullable(Type.String()),
})

export const StepShape = Type.Object({
  node_id: Type.String({ description: 'the step and how often it was entered', examples: ['load#1'] }),
  step: Type.String(),
  status: Type.String({ examples: ['issued', 'retrying', 'waiting', 'completed', 'partial', 'failed'] }),
  attempt: Count,
  loop: Type.Union([Loop, Type.Null()]),
  wait: Type.Union([Wait, Type.Null()], { description: 'what it waits for; for the back end only' }),
  entered_at: Timestamp,
  ended_at: nullable(Timestamp),
  error: nullable(Type.String()),
  result: Type.Union([Data, Type.Null()]),
})

export const ExecutionDetailShape = Type.Object({
  ...ExecutionShape.properties,
  args: Data,
  cause: nullable(Type.String({ description: 'the event that it follows from' })),
  correlation_id: nullable(Type.String()),
  rerun_of: nullable(Type.String()),
  from_step: nullable(Type.String()),
  result: Type.Union([Data, Type.Null()], { description: 'a value, or a ref and its bytes; see /result' }),
  steps: Type.Array(StepShape),
  next_steps: Type.Union([Type.Integer(), Type.Null()], {
    description: '`after` of the next page of /steps; null where these are all',
  }),
})

export const TracedExecutionShape = Type.Object({
  ...Type.Pick(ExecutionShape, [
    'execution_id',
    'playbook',
    'version',
    'status',
    'parent_execution_id',
    'started_by',
    'error',
    'items',
    'items_done',
    'items_failed',
    'created_at',
    'end_time',
  ]).properties,
  cause: nullable(Type.String({ description: 'the event that it follows from' })),
})

export const LoggedEventShape = Type.Object({
  execution_id: Type.String(),
  event_id: Type.String(),
  seq: Type.Integer(),
  event_type: Type.String(),
  catalog_id: Type.String(),
  parent_event_id: nullable(Type.String({ description: 'the event that led to it' })),
  parent_execution_id: nullable(Type.String()),
  node_id: nullable(Type.String()),
  node_name: nullable(Type.String()),
  node_type: nullable(Type.String()),
  status: nullable(Type.String()),
  context: Type.Unknown(),
  result: Type.Unknown(),
  meta: Type.Unknown(),
  error: nullable(Type.String()),
  current_index: Count,
  current_item: Type.Unknown(),
  created_at: Timestamp,
})

export function presentExecution(one: ExecutionRecord) {
  return {
    ...one,
    state: { ...one.state },
    start_time: iso(one.start_time),
    end_time: iso(one.end_time),
    created_at: one.created_at.toISOString(),
    updated_at: one.updated_at.toISOString(),
  }
}

export function presentTraced(one: TracedExecution) {
  return { ...one, created_at: one.created_at.toISOString(), end_time: iso(one.end_time) }
}

export function presentDetail(one: ExecutionDetail) {
  return { ...one, ...presentExecution(one), steps: one.steps.map(presentStep) }
}

export function presentStep(step: ExecutionStep) {
  return {
    ...step,
    wait: step.wait && { ...step.wait, wake_at: iso(step.wait.wake_at) },
    entered_at: step.entered_at.toISOString(),
    ended_at: iso(step.ended_at),
  }
}

export function presentLogged(event: LoggedEvent) {
  return {
    ...event,
    parent_event_id: event.parent_event_id ?? null,
    parent_execution_id: event.parent_execution_id ?? null,
    node_id: event.node_id ?? null,
    node_name: event.node_name ?? null,
    node_type: event.node_type ?? null,
    status: event.status ?? null,
    context: event.context ?? null,
    result: event.result ?? null,
    meta: event.meta ?? null,
    error: event.error ?? null,
    current_index: event.current_index ?? null,
    current_item: event.current_item ?? null,
    created_at: event.created_at.toISOString(),
  }
}

function iso(date: Date | null): string | null {
  return date?.toISOString() ?? null
}
