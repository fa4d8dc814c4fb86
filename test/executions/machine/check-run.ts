/** Whether what a scenario left behind is what the reference says, and whether every log is a proper one. */
import { expect } from 'vitest'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import type { Ran } from './memory-runner.ts'
import { type Expected, expected } from './reference.ts'
import type { Scenario } from './scenarios.ts'
import { Script } from './script.ts'

const STATUS: Record<string, string> = {
  'playbook.completed': 'COMPLETED',
  'playbook.failed': 'FAILED',
  'execution.cancelled': 'CANCELLED',
}

/** The log of the execution that differs is part of the error: where it ran, nobody may be able to look at its database. */
export function checkRun(scenario: Scenario, ran: Ran): void {
  expect(ran.leftovers).toEqual([])
  const script = new Script(scenario.seed, scenario.failures)
  for (const [execution_id, log] of ran.logs) {
    // Cancelled before it began.
    if (log.length === 0) continue
    try {
      checkExecution(scenario, ran, execution_id, log, script)
    } catch (error) {
      ;(error as Error).message += `\n${describeLog(execution_id, log)}`
      throw error
    }
  }
}

function checkExecution(
  { sketches }: Scenario,
  ran: Ran,
  execution_id: string,
  log: readonly ExecutionEvent[],
  script: Script,
): void {
  checkLog(log)
  const first = log[0]!
  const { salt } = first.context!.args as { salt: string }
  const wanted = expected(sketches, first.meta!.playbook as string, salt, script)
  const last = log.at(-1)!
  const status = STATUS[last.event_type]
  if (status === 'CANCELLED') {
    if (execution_id === ran.root) expect(ran.cancelled).toBe(true)
  } else {
    expect(status, last.error).toBe(wanted.status)
  }
  checkNodes(log, wanted, status === 'COMPLETED')
  if (status === 'COMPLETED' && wanted.output)
    expect(last.result).toEqual({ status: 'ok', value: wanted.output })
}

const SCRIPTED_ERROR = 'as scripted'
const MAX_ERRORS_SHOWN = 20
const MAX_EVENTS_SHOWN = 60
const MAX_LINE_LENGTH = 300

/** Every error that the script did not ask for, then the tail of the log, one line for each event. */
export function describeLog(execution_id: string, log: readonly ExecutionEvent[]): string {
  const errors = log.filter(({ error }) => error && error !== SCRIPTED_ERROR).map(lineOf)
  const tail = log.slice(-MAX_EVENTS_SHOWN).map(lineOf)
  return [
    `Execution ${execution_id}: ${errors.length} errors that are not scripted${shownOf(errors.length, MAX_ERRORS_SHOWN)}`,
    ...errors.slice(-MAX_ERRORS_SHOWN),
    `Its log has ${log.length} events${shownOf(log.length, MAX_EVENTS_SHOWN)}`,
    ...tail,
  ].join('\n')
}

function shownOf(count: number, most: number): string {
  return count > most ? `; the last ${most}:` : ':'
}

/** Without what its node and its kind say already. */
function lineOf({ seq, event_type, node_id, meta, result, error, ...event }: ExecutionEvent): string {
  const { command_id, loop_id, ...rest } = meta ?? {}
  const { worker_id, created_at, event_id } = event as unknown as Record<string, string | Date | undefined>
  const at = created_at instanceof Date ? created_at.toISOString().slice(11, 23) : ''
  const engine = typeof worker_id === 'string' ? `engine …${worker_id.slice(-4)}` : ''
  const what = event_type === 'playbook.initialized' ? '' : JSON.stringify(rest)
  const line = [seq, event_id, at, engine, event_type, node_id, what, JSON.stringify(result), error]
  return truncate(line.filter((part) => part !== undefined && part !== '' && part !== '{}').join(' '))
}

function truncate(line: string): string {
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line
}

function checkLog(log: readonly ExecutionEvent[]): void {
  const known = new Set<string>()
  const once = new Map<string, string>()
  const only = (key: string, event: ExecutionEvent) => {
    expect(once.get(key), `${key} twice`).toBeUndefined()
    once.set(key, event.event_id)
  }
  let last = 0n
  for (const [at, event] of log.entries()) {
    const { event_type, meta, event_id } = event
    expect(event.seq).toBe(at + 1)
    expect(BigInt(event_id)).toBeGreaterThan(last)
    last = BigInt(event_id)
    if (at > 0)
      expect(known.has(event.parent_event_id!), `${event_type} follows from an event of the log`).toBe(true)
    known.add(event_id)
    const ends = STATUS[event_type] !== undefined
    expect(ends, 'the last event, and no other, ends it').toBe(at === log.length - 1)
    if (['command.issued', 'loop.item', 'loop.shard.enqueued'].includes(event_type))
      only(`issue ${meta!.command_id}`, event)
    if (
      ['command.completed', 'command.failed', 'loop.shard.done', 'loop.shard.failed'].includes(event_type)
    ) {
      only(`end ${meta!.command_id}`, event)
      if (meta!.final !== false && meta!.loop_id !== undefined)
        only(`item ${meta!.loop_id} ${meta!.iter_index}`, event)
    }
    if (event_type.startsWith('loop.shard.') && event_type !== 'loop.shard.enqueued')
      only(`shard ${meta!.shard_id}`, event)
    if (['loop.started', 'loop.done', 'loop.fanin.completed'].includes(event_type))
      only(`${event_type} ${meta!.loop_id}`, event)
    if (event_type === 'step.exit') only(`exit ${event.node_id}`, event)
  }
}

function checkNodes(log: readonly ExecutionEvent[], wanted: Expected, whole: boolean): void {
  const seen = new Set<string>()
  for (const event of log) {
    const node = ended(event)
    if (node === undefined) continue
    const { node_id, status } = node
    const should = wanted.nodes.get(node_id)
    seen.add(node_id)
    expect({ node_id, status }).toEqual({ node_id, status: should?.status })
    if (node.attempt !== undefined)
      expect({ node_id, attempt: node.attempt }).toEqual({ node_id, attempt: should!.attempts })
    if (event.event_type === 'loop.done') checkCounts(log, event, should!)
  }
  if (whole) expect([...seen].sort()).toEqual([...wanted.nodes.keys()].sort())
}

/** Counted from the log: a loop that ended says the truth about its items. */
function checkCounts(
  log: readonly ExecutionEvent[],
  done: ExecutionEvent,
  should: NonNullable<ReturnType<Expected['nodes']['get']>>,
) {
  const { loop_id } = done.meta!
  const counted = { completed: 0, failed: 0 }
  const fanins = []
  let [issued, ends] = [0, 0]
  for (const { event_type, meta, result } of log) {
    if (meta?.loop_id !== loop_id) continue
    if (event_type === 'loop.item' || event_type === 'loop.shard.enqueued') issued++
    if (
      event_type === 'command.completed' || event_type === 'command.failed'
        ? meta!.final !== false
        : /^loop\.shard\.(done|failed)$/.test(event_type)
    )
      ends++
    if (meta!.cancelled) continue
    if (event_type === 'command.completed' || event_type === 'loop.shard.done') counted.completed++
    if (event_type === 'loop.shard.failed' || (event_type === 'command.failed' && meta!.final))
      counted.failed++
    if (event_type === 'loop.fanin.completed') fanins.push(result!.context)
  }
  const { total, done: ok, failed } = should.fanin!
  // What was handed out has ended, by itself or because its loop did, and the counts add up to the total.
  expect(ends).toBe(issued)
  const cancelled = total - counted.completed - counted.failed
  const more = cancelled > 0 && { cancelled }
  const lost = counted.failed + cancelled
  expect(done.result!.context).toEqual({ total, completed: counted.completed, failed: lost, ...more })
  if (should.anyCounts) expect(counted.failed).toBe(1)
  else expect(counted).toEqual({ completed: ok, failed })
  const started = log.find(
    ({ event_type, meta }) => event_type === 'loop.started' && meta!.loop_id === loop_id,
  )!
  const mode = started.meta!.mode
  expect(fanins).toEqual(mode === 'fanout' ? [{ total, done: counted.completed, failed: lost, ...more }] : [])
}

function ended(event: ExecutionEvent): { node_id: string; status: string; attempt?: number } | undefined {
  const { event_type, meta, node_id } = event
  if (event_type === 'loop.done') return { node_id: node_id!, status: meta!.outcome as string }
  if (event_type === 'step.exit') return { node_id: node_id!, status: event.status! }
  if (event_type !== 'command.completed' && event_type !== 'command.failed') return undefined
  if (meta!.loop_id !== undefined || meta!.final === false) return undefined
  return { node_id: node_id!, status: event.status!, attempt: meta!.attempt as number }
}
