/** The records of this room, each stated once: its type and its shape in the API come from here. Ids are larger than 2^53: strings. */

import type { JsonObject as JsonObjectType, Json as JsonValue } from '../kernel/json.ts'
import {
  IntegerOrNull,
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  typed,
} from '../kernel/schema.ts'
import type { EventType } from './event.ts'

/** PENDING: started, and no engine has picked it up yet. */
export const EXECUTION_STATUSES = [
  'PENDING',
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const

const Data = typed<JsonObjectType>(JsonObject)
const Json = typed<JsonValue>({})

export const LoopProgress = shape('LoopProgress', {
  loop_id: Text,
  mode: Text,
  total: Type.Integer(),
  done: Type.Integer(),
  failed: Type.Integer(),
  completed: Type.Boolean(),
})
export type LoopProgress = Row<typeof LoopProgress>

export const ExecutionLoops = shape('ExecutionLoops', {
  loop: Type.Optional(Type.Record(Text, LoopProgress)),
  fanout: Type.Optional(Type.Record(Text, Data)),
})

export type ExecutionLoops = Row<typeof ExecutionLoops>

const traced = {
  execution_id: Text,
  playbook: nullable(
    Type.String({
      description: 'null for a member while one of a playbook that they may not see has not begun',
    }),
  ),
  version: IntegerOrNull,
  status: Type.Enum([...EXECUTION_STATUSES]),
  parent_execution_id: TextOrNull,
  started_by: TextOrNull,
  error: TextOrNull,
  items: nullable(Type.Integer({ description: 'of all its loops together; null where there is none' })),
  items_done: IntegerOrNull,
  items_failed: IntegerOrNull,
  created_at: Timestamp,
  end_time: TimestampOrNull,
}
const Cause = nullable(Type.String({ description: 'the event that it follows from' }))

export const ExecutionRecord = shape('Execution', {
  ...traced,
  workspace_id: TextOrNull,
  last_event_type: TextOrNull,
  last_node_name: TextOrNull,
  last_seq: Type.Integer(),
  state: ExecutionLoops,
  start_time: TimestampOrNull,
  updated_at: Timestamp,
})
export type ExecutionRecord = Row<typeof ExecutionRecord>

export const TracedExecution = shape('TracedExecution', { ...traced, cause: Cause })
export type TracedExecution = Row<typeof TracedExecution>

export const StepWait = shape('StepWait', {
  kind: Type.Enum(['timer', 'event', 'approval']),
  wake_at: nullable(Type.Unsafe<Date>({ ...Timestamp, description: 'when it ends by itself' })),
  event: TextOrNull,
  subject: TextOrNull,
  staging_record_id: TextOrNull,
})
export type StepWait = Row<typeof StepWait>

export const ExecutionStep = shape('ExecutionStep', {
  node_id: Type.String({ description: 'the step and how often it was entered', examples: ['load#1'] }),
  step: Text,
  status: Type.String({
    examples: ['issued', 'retrying', 'running', 'waiting', 'completed', 'partial', 'failed', 'timed_out'],
  }),
  attempt: IntegerOrNull,
  loop: nullable(LoopProgress),
  wait: Type.Union([StepWait, Type.Null()], { description: 'what it waits for; for the back end only' }),
  entered_at: Timestamp,
  ended_at: TimestampOrNull,
  error: TextOrNull,
  result: nullable(Data),
})
export type ExecutionStep = Row<typeof ExecutionStep>

export const ExecutionDetail = shape('ExecutionDetail', {
  ...ExecutionRecord.properties,
  args: Data,
  cause: Cause,
  correlation_id: TextOrNull,
  rerun_of: TextOrNull,
  from_step: TextOrNull,
  result: Type.Union([Data, Type.Null()], { description: 'a value, or a ref and its bytes; see /result' }),
  steps: Type.Array(ExecutionStep, { description: 'the first page of them' }),
  next_steps: Type.Union([Type.Integer(), Type.Null()], {
    description: '`after` of the next page of /steps; null where these are all',
  }),
})
export type ExecutionDetail = Row<typeof ExecutionDetail>

export const LoggedEvent = shape('ExecutionEvent', {
  execution_id: Text,
  event_id: Text,
  seq: Type.Integer(),
  event_type: Type.Unsafe<EventType>({ type: 'string' }),
  catalog_id: Text,
  parent_event_id: nullable(Type.String({ description: 'the event that led to it' })),
  parent_execution_id: TextOrNull,
  node_id: TextOrNull,
  node_name: TextOrNull,
  node_type: TextOrNull,
  status: TextOrNull,
  context: nullable(Data),
  result: nullable(Data),
  meta: nullable(Data),
  error: TextOrNull,
  current_index: IntegerOrNull,
  current_item: Json,
  created_at: Timestamp,
})
export type LoggedEvent = Row<typeof LoggedEvent>

export const PlaybookRecord = shape('Playbook', {
  catalog_id: Text,
  name: Text,
  version: Type.Integer(),
  description: TextOrNull,
  open_to_members: Type.Boolean({
    description: 'members who may operate in a workspace may start it there',
  }),
  disabled_at: TimestampOrNull,
  registered_by: Text,
  created_at: Timestamp,
})
export type PlaybookRecord = Row<typeof PlaybookRecord>

/** A process that drives executions, runs their steps, or both. */
export const Engine = shape('Engine', {
  engine_id: Text,
  name: TextOrNull,
  drives: Type.Boolean({ description: 'decides what comes next in executions' }),
  runs: Type.Boolean({ description: 'runs steps and items of loops' }),
  handlers: Type.Array(Text, { description: 'functions that its process was given' }),
  registered_by: Text,
  started_at: Timestamp,
  heartbeat_at: Timestamp,
  leased_until: Timestamp,
  is_alive: Type.Boolean({ description: 'false: its lease has passed, and others take its executions' }),
})
export type Engine = Row<typeof Engine>
