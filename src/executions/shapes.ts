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
  wait: Type.Union([StepWait, Type.Null()], { description: 'what it waits for' }),
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

export const ExecutionCounts = shape('ExecutionCounts', {
  by_status: Type.Record(Text, Type.Integer(), { examples: [{ RUNNING: 2, FAILED: 1 }] }),
  with_failed_items: Type.Integer({ description: 'of those that did not fail as a whole' }),
  more: Type.Boolean({ description: 'only the newest 10,000 were counted' }),
})
export type ExecutionCounts = Row<typeof ExecutionCounts>

export const PlaybookRuns = shape('PlaybookRuns', {
  playbook: Text,
  executions: Type.Integer({ description: 'among the newest 2,000' }),
  running: Type.Integer(),
  failed: Type.Integer(),
  last_execution_id: Text,
  last_status: Type.Enum([...EXECUTION_STATUSES]),
  last_at: Timestamp,
})
export type PlaybookRuns = Row<typeof PlaybookRuns>

export const ITEM_STATUSES = ['done', 'failed', 'open'] as const

export const LoopItem = shape('LoopItem', {
  index: Type.Integer({ description: 'its place in the collection, from 0' }),
  node_id: Text,
  step: Text,
  status: Type.Enum(['open', 'retrying', 'done', 'failed', 'cancelled']),
  key: nullable(Type.String({ description: 'what `loop.key` of the playbook gave' })),
  item: Type.Unsafe<JsonValue>({ description: 'null where its collection is too large to be shown' }),
  attempts: Type.Integer(),
  error: TextOrNull,
  result: nullable(Data),
  child_execution_id: TextOrNull,
  worker: nullable(Type.String({ description: 'the process that ran its last attempt' })),
  ms: nullable(Type.Integer({ description: 'how long that attempt ran' })),
  issued_at: Timestamp,
  ended_at: TimestampOrNull,
  seq: Type.Integer({ description: 'the place of its last event in the log' }),
})
export type LoopItem = Row<typeof LoopItem>

const GraphNode = shape('ExecutionGraphNode', {
  step: Text,
  node_id: Type.String({ description: 'its latest entry' }),
  entries: Type.Integer({ description: 'how often it was entered' }),
  status: Text,
  attempt: IntegerOrNull,
  loop: nullable(LoopProgress),
  wait: nullable(StepWait),
  entered_at: Timestamp,
  ended_at: TimestampOrNull,
  error: TextOrNull,
})
export type GraphNode = Row<typeof GraphNode>

export const ExecutionGraph = shape('ExecutionGraph', {
  definition: nullable(
    Type.Unsafe<object>({
      ...JsonObject,
      description: 'the playbook as it is run; null for a member to whom it is not open',
    }),
  ),
  nodes: Type.Array(GraphNode, { description: 'the steps that were entered, each once' }),
  arcs: Type.Array(shape('ExecutionGraphArc', { from: Text, to: Text, times: Type.Integer() }), {
    description: 'the arcs that were taken',
  }),
})
export type ExecutionGraph = Row<typeof ExecutionGraph>

const TimelineBar = shape('TimelineBar', {
  from: Timestamp,
  to: Timestamp,
  step: nullable(Type.String({ description: 'null where several steps are in this bar' })),
  index: nullable(Type.Integer({ description: 'of the item, where the bar is one attempt at an item' })),
  done: Type.Integer(),
  failed: Type.Integer(),
})

export const ExecutionTimeline = shape('ExecutionTimeline', {
  from: TimestampOrNull,
  to: TimestampOrNull,
  lanes: Type.Array(
    shape('TimelineLane', {
      worker: Text,
      done: Type.Integer({ description: 'attempts' }),
      failed: Type.Integer({ description: 'attempts' }),
      busy_ms: Type.Integer({ description: 'of all its attempts together; they may overlap' }),
      bars: Type.Array(TimelineBar, {
        description: 'attempts that began close together are one bar: at most 200 of a process',
      }),
    }),
    { description: 'one for each process that ran something, the busiest first; at most 50' },
  ),
  running: Type.Array(
    shape('RunningCommand', {
      node_id: Text,
      step: Text,
      index: IntegerOrNull,
      attempt: Type.Integer(),
      worker: Text,
      started_at: Timestamp,
    }),
    { description: 'what processes have claimed and not ended, longest first; at most 200' },
  ),
  partial: Type.Boolean({ description: 'only the newest 200,000 events were read' }),
})
export type ExecutionTimeline = Row<typeof ExecutionTimeline>

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

export const PlaybookProblem = shape('PlaybookProblem', {
  severity: Type.Enum(['error', 'warning']),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  path: Type.String({ examples: ['steps[2].next'] }),
  message: Text,
  remedy: Type.Optional(Text),
})

export const PlaybookDiff = shape('PlaybookDiff', {
  name: Text,
  from: Type.Integer(),
  to: Type.Integer(),
  patch: Type.String({ description: 'unified diff; empty: the texts are the same' }),
})
export type PlaybookDiff = Row<typeof PlaybookDiff>

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
