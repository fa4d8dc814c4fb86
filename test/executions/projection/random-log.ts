/** Random logs: loops that are entered again, late events of old ones, events that belong to no loop, ends that repeat. */
import fc from 'fast-check'
import type { LogEvent } from './log.ts'

type Draw = { readonly what: string; readonly step: string; readonly pick: number; readonly size: number }

const WHATS = [
  'start',
  'start',
  'done',
  'done',
  'done',
  'failed',
  'tried',
  'shard done',
  'shard done',
  'shard failed',
  'end',
  'fanin',
  'issued',
  'plain',
  'pause',
  'resume',
  'complete',
  'fail',
  'cancel',
] as const

export function randomLog(): fc.Arbitrary<LogEvent[]> {
  const draw = fc.record({
    what: fc.constantFrom(...WHATS),
    step: fc.constantFrom('load', 'send'),
    pick: fc.nat(5),
    size: fc.nat(100),
  })
  return fc.array(draw, { maxLength: 45 }).map(logOf)
}

function logOf(draws: readonly Draw[]): LogEvent[] {
  const log: LogEvent[] = [
    {
      event_type: 'playbook.initialized',
      status: 'started',
      meta: { started_by: 'ada', workspace_id: '6f1c0f4e-1111-4111-8111-111111111111' },
    },
  ]
  const once = new Set<string>()
  let loops = 0
  for (const [n, draw] of draws.entries()) {
    // One that is still to begin, too: what comes before its beginning does not count.
    const loop_id = String(Math.max(1, loops + 1 - draw.pick))
    for (const event of eventsOf(draw, loop_id, n, () => String(++loops))) {
      const key = `${event.event_type} ${loop_id}`
      if (/^loop\.(done|fanin)/.test(event.event_type) && once.has(key)) continue
      once.add(key)
      log.push(event)
    }
  }
  return log
}

function eventsOf(draw: Draw, loop_id: string, n: number, nextLoop: () => string): LogEvent[] {
  const node_name = draw.step
  const command = { command_id: `c${n}`, attempt: 1 }
  const shard = { loop_id, shard_id: `s${n}`, command_id: `c${n}` }
  switch (draw.what) {
    case 'start':
      return started(draw, node_name, draw.pick === 5 ? loop_id : nextLoop())
    case 'done':
      return [
        { event_type: 'command.completed', node_name, status: 'completed', meta: { ...command, loop_id } },
      ]
    case 'failed':
      return [
        { event_type: 'command.failed', node_name, error: 'no', meta: { ...command, loop_id, final: true } },
      ]
    case 'tried':
      return [
        { event_type: 'command.failed', node_name, error: 'no', meta: { ...command, loop_id, final: false } },
      ]
    case 'shard done':
      return [{ event_type: 'loop.shard.done', node_name, meta: shard, result: { status: 'ok' } }]
    case 'shard failed':
      return [
        { event_type: 'loop.shard.failed', node_name, meta: shard, error: 'no', result: { status: 'error' } },
      ]
    case 'end':
      return [{ event_type: 'loop.done', node_name, meta: { loop_id }, status: 'completed' }]
    case 'fanin':
      return [
        {
          event_type: 'loop.fanin.completed',
          node_name,
          meta: { loop_id },
          result: { status: ['complete', 'partial', 'failed'][draw.size % 3]! },
        },
      ]
    case 'issued':
      return [{ event_type: 'command.issued', node_name, status: 'issued', meta: command }]
    case 'plain':
      return [{ event_type: 'command.completed', node_name, status: 'completed', meta: command }]
    case 'pause':
      return [{ event_type: 'execution.paused', meta: { by: 'ada' } }]
    case 'resume':
      return [{ event_type: 'execution.resumed', meta: { by: 'ada' } }]
    case 'complete':
      return [{ event_type: 'playbook.completed', status: 'completed' }]
    case 'fail':
      return [{ event_type: 'playbook.failed', error: `step ${n} failed` }]
    default:
      return [{ event_type: 'execution.cancelled', meta: { by: 'ada' } }]
  }
}

function started(draw: Draw, node_name: string, loop_id: string): LogEvent[] {
  const mode = ['sequential', 'parallel', 'fanout'][draw.size % 3]!
  const context = draw.size > 50 ? { collection_ref: `${draw.size}` } : { collection: [1] }
  return [
    {
      event_type: 'loop.started',
      node_name,
      meta: { loop_id, collection_size: draw.size, mode },
      context,
      status: 'started',
    },
    ...(mode === 'fanout'
      ? [{ event_type: 'loop.fanout.started', node_name, meta: { loop_id, total_shards: draw.size } }]
      : []),
  ]
}
