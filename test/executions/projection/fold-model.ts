/** What a log folds to, event by event: the plain reading of the rules that the set-based fold must agree with. */
import type { Json, JsonObject } from '../../../src/kernel/json.ts'
import type { LogEvent } from './log.ts'

export interface Folded {
  status: string
  error: string | null
  last_event_type: string
  last_node_name: string | null
  last_seq: number
  start_seq: number | null
  end_seq: number | null
  state: { loop?: Record<string, Entry>; fanout?: Record<string, Entry> }
}

type Entry = Record<string, Json>

const ENDS: Record<string, string> = {
  'playbook.completed': 'COMPLETED',
  'workflow.completed': 'COMPLETED',
  'playbook.failed': 'FAILED',
  'workflow.failed': 'FAILED',
  'execution.cancelled': 'CANCELLED',
}

export function foldOf(log: readonly LogEvent[]): Folded {
  const x: Folded = {
    status: 'RUNNING',
    error: null,
    last_event_type: '',
    last_node_name: null,
    last_seq: 0,
    start_seq: null,
    end_seq: null,
    state: {},
  }
  for (const [index, event] of log.entries()) apply(x, event, index + 1)
  return x
}

function apply(x: Folded, event: LogEvent, seq: number): void {
  x.last_event_type = event.event_type
  x.last_node_name = event.node_name ?? null
  x.last_seq = seq
  if (event.event_type === 'playbook.initialized') x.start_seq ??= seq
  if (x.end_seq === null) {
    const end = ENDS[event.event_type]
    if (event.event_type === 'execution.paused') x.status = 'PAUSED'
    if (event.event_type === 'execution.resumed') x.status = 'RUNNING'
    if (end) Object.assign(x, { status: end, end_seq: seq, error: event.error ?? null })
  }
  if (event.node_name !== undefined && event.meta?.loop_id !== undefined)
    applyLoop(x, event, event.node_name, event.meta)
}

function applyLoop(x: Folded, event: LogEvent, step: string, meta: JsonObject): void {
  const loopId = meta.loop_id!
  if (event.event_type === 'loop.started') {
    x.state.loop ??= {}
    x.state.loop[step] = {
      loop_id: loopId,
      total: meta.collection_size ?? null,
      done: 0,
      failed: 0,
      collection_ref: event.context?.collection_ref ?? null,
      mode: meta.mode ?? 'sequential',
      completed: false,
    }
  }
  if (event.event_type === 'loop.fanout.started') {
    x.state.fanout ??= {}
    x.state.fanout[step] = {
      loop_id: loopId,
      total_shards: meta.total_shards ?? null,
      done: 0,
      failed: 0,
      status: 'running',
    }
  }
  const ofThis = (entry: Entry | undefined) => (entry?.loop_id === loopId ? entry : undefined)
  const loop = ofThis(x.state.loop?.[step])
  const fanout = ofThis(x.state.fanout?.[step])
  if (loop && event.event_type === 'loop.done') loop.completed = true
  if (fanout && event.event_type === 'loop.fanin.completed')
    fanout.status = event.result?.status ?? event.status!
  for (const entry of [loop, fanout]) {
    if (!entry) continue
    const sharded = entry === fanout || entry.mode === 'fanout'
    const done = sharded ? 'loop.shard.done' : 'command.completed'
    const failed = sharded ? 'loop.shard.failed' : 'command.failed'
    if (event.event_type === done) entry.done = (entry.done as number) + 1
    if (event.event_type === failed && (sharded || meta.final === true))
      entry.failed = (entry.failed as number) + 1
  }
}
