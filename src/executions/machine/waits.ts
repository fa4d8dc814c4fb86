/** Steps that wait: for a time, an event, a decision on a staging record. Whatever comes, they do not fail by it (but for a payload that is too large to keep). */
import { UUID } from '../../db/uuid.ts'
import type { Json, JsonObject, Wait } from '../playbook/definition.ts'
import type { NewWait, WokenInput } from './decision.ts'
import { exitStep } from './exit.ts'
import { InputFailure } from './failures.ts'
import { attempted, inputOf } from './inputs.ts'
import type { PlannedStep } from './plan.ts'
import type { Turn } from './turn.ts'

/** Beyond it Date cannot say when. */
const LATEST = 8_640_000_000_000_000

export function startWait(turn: Turn, planned: PlannedStep, wait: Wait, node_id: string, from: string): void {
  const row: NewWait = { node_id, kind: wait.kind, ...wantedBy(turn, planned, wait) }
  // What it waits for, so that whoever can end it sees so in the log.
  const meta = {
    wait: wait.kind,
    ...(row.staging_record_id !== undefined && { record: row.staging_record_id }),
    ...(row.event_type !== undefined && { event: `${row.event_domain}.${row.event_type}` }),
    ...(row.subject !== undefined && { subject: row.subject }),
    ...(row.wake_at !== undefined && { until: row.wake_at }),
  }
  turn.emit(
    {
      event_type: 'step.enter',
      node_id,
      node_name: planned.name,
      node_type: 'step',
      status: 'waiting',
      meta,
    },
    from,
  )
  turn.waits.push(row)
}

export function woken(turn: Turn, { node_id, status, event_id, subject, payload }: WokenInput): void {
  const active = turn.state.active[node_id]
  if (active?.kind !== 'wait') return
  const value: Json = {
    status,
    ...(event_id != null && { event_id }),
    ...(subject != null && { subject }),
    ...(payload !== undefined && { payload }),
  }
  const planned = turn.plan.steps.get(active.step)!
  const exit = status === 'timed_out' ? 'timed_out' : 'completed'
  try {
    const result = attempted(planned, 'payload', () => turn.kept(value, `${node_id}/result`, planned.name))
    exitStep(turn, planned, node_id, { status: exit, result }, active.event_id)
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    exitStep(turn, planned, node_id, { status: 'failed', error: thrown.message }, active.event_id)
  }
}

function wantedBy(turn: Turn, planned: PlannedStep, wait: Wait): Omit<NewWait, 'node_id' | 'kind'> {
  switch (wait.kind) {
    case 'timer':
      return { wake_at: wakeAt(turn, planned, wait) }
    case 'event':
      return {
        event_domain: wait.domain,
        event_type: wait.type,
        ...(wait.subject !== undefined && { subject: textOf(turn, planned, 'wait.subject', wait.subject) }),
        ...(wait.match !== undefined && {
          match: inputOf(turn, planned, 'wait.match', wait.match) as JsonObject,
        }),
        ...(wait.since !== undefined && sinceOf(turn, wait.since)),
        ...patience(turn, wait.timeout_ms),
      }
    case 'approval':
      return { staging_record_id: recordOf(turn, planned, wait.record), ...patience(turn, wait.timeout_ms) }
  }
}

function wakeAt(turn: Turn, planned: PlannedStep, wait: { for_ms?: number; until?: string }): string {
  if (wait.until === undefined) return later(turn, wait.for_ms ?? 0)
  const until = inputOf(turn, planned, 'wait.until', wait.until)
  const at = typeof until === 'string' ? Date.parse(until) : Number.NaN
  if (Number.isNaN(at)) {
    throw new InputFailure(
      `wait.until of step ${planned.name}: ${JSON.stringify(until)} is no time (ISO 8601)`,
    )
  }
  return new Date(at).toISOString()
}

/** The latest entry of the step; none where it was never entered. */
function sinceOf({ state }: Turn, step: string): { since_node?: string } {
  const entries = state.entries[step]
  return entries === undefined ? {} : { since_node: `${step}#${entries}` }
}

function textOf(turn: Turn, planned: PlannedStep, place: string, template: string): string {
  const value = inputOf(turn, planned, place, template)
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new InputFailure(`${place} of step ${planned.name}: ${JSON.stringify(value)} is no text`)
}

function recordOf(turn: Turn, planned: PlannedStep, template: string): string {
  const record = textOf(turn, planned, 'wait.approval', template)
  if (UUID.test(record)) return record
  throw new InputFailure(
    `wait.approval of step ${planned.name}: ${JSON.stringify(record)} is no staging record's id`,
  )
}

function patience(turn: Turn, timeout_ms: number | undefined): { wake_at?: string } {
  return timeout_ms === undefined ? {} : { wake_at: later(turn, timeout_ms) }
}

export function later(turn: Turn, ms: number): string {
  return new Date(Math.min(turn.ports.now().getTime() + ms, LATEST)).toISOString()
}
