/**
 * Steps that wait for a time, an event or a decision on a staging record. The end of a wait does not fail the step, except by a payload
 * that is too large to store. Then how steps exit, and when a failed attempt is retried.
 */
import { UUID } from '../../kernel/ids.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import type { ResultValue } from '../event.ts'
import type { Retry, Wait } from '../playbook/definition.ts'
import { type DecisionBuilder, InputFailure, type NewWait, okResult, type WokenInput } from './decision.ts'
import { orInputFailure, type PlannedStep, renderInput } from './plan.ts'
import type { EndedActivation } from './state.ts'

/** The latest time that Date can hold. */
const MAX_DATE_MS = 8_640_000_000_000_000

export function startWait(
  decision: DecisionBuilder,
  planned: PlannedStep,
  node_id: string,
  from: string,
): void {
  const wait = planned.step.wait!
  if (wait.kind === 'request') throw new Error('a step that asks for an approval begins with its tool')
  enterWait(decision, planned.name, from, {
    node_id,
    kind: wait.kind,
    ...waitTarget(decision, planned, wait),
  })
}

/** How long after its expiry a request is waited for, if nobody writes down that it has expired. */
const EXPIRY_GRACE_MS = 5_000

/** The tool `approval` of the step has asked: now the step waits for the decision. It was entered when the tool was called. */
export function startRequestedWait(
  decision: DecisionBuilder,
  { name }: PlannedStep,
  node_id: string,
  from: string,
  asked: Json,
): void {
  const { approval_id, expires_at } = asked as { readonly approval_id: string; readonly expires_at: string }
  const wake_at = new Date(Date.parse(expires_at) + EXPIRY_GRACE_MS).toISOString()
  const row: NewWait = { node_id, kind: 'approval', staging_record_id: approval_id, wake_at }
  enterWait(decision, name, from, row, 2)
}

/** `attempt` 2: the step was entered before. */
function enterWait(
  decision: DecisionBuilder,
  name: string,
  from: string,
  row: NewWait,
  attempt?: number,
): void {
  const { node_id } = row
  // The log shows what the step waits for.
  const meta = {
    wait: row.kind,
    ...(attempt !== undefined && { attempt }),
    ...(row.staging_record_id !== undefined && { record: row.staging_record_id }),
    ...(row.event_type !== undefined && { event: `${row.event_domain}.${row.event_type}` }),
    ...(row.subject !== undefined && { subject: row.subject }),
    ...(row.wake_at !== undefined && { until: row.wake_at }),
  }
  decision.emit(
    {
      event_type: 'step.enter',
      node_id,
      node_name: name,
      node_type: 'step',
      status: 'waiting',
      meta,
    },
    from,
  )
  decision.waits.push(row)
}

export function handleWaitEnded(
  decision: DecisionBuilder,
  { node_id, status: given, event_id, subject, payload, decision: decided }: WokenInput,
): void {
  const active = decision.state.active[node_id]
  if (active?.kind !== 'wait') return
  const planned = decision.plan.steps.get(active.step)!
  const asked = planned.step.wait?.kind === 'request'
  // Nobody answered, and nobody has written down yet that the request has expired.
  const status = asked && given === 'timed_out' ? 'expired' : given
  const value: Json = asked
    ? { ...(decided as JsonObject | undefined), status }
    : {
        status,
        ...(event_id != null && { event_id }),
        ...(subject != null && { subject }),
        ...(payload !== undefined && { payload }),
        ...(decided != null && { decision: decided }),
      }
  const exitStatus = status === 'timed_out' ? 'timed_out' : 'completed'
  try {
    const result = orInputFailure(planned, 'payload', () =>
      decision.storeIfLarge(value, `${node_id}/result`, planned.name),
    )
    exitStep(decision, { planned, node_id, from: active.event_id, exit: { status: exitStatus, result } })
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    const exit = { status: 'failed', error: thrown.message } as const
    exitStep(decision, { planned, node_id, from: active.event_id, exit })
  }
}

function waitTarget(
  decision: DecisionBuilder,
  planned: PlannedStep,
  wait: Exclude<Wait, { kind: 'request' }>,
): Omit<NewWait, 'node_id' | 'kind'> {
  switch (wait.kind) {
    case 'timer':
      return { wake_at: wakeAt(decision, planned, wait) }
    case 'event':
      return {
        event_domain: wait.domain,
        event_type: wait.type,
        ...(wait.subject !== undefined && {
          subject: textOf(decision, planned, 'wait.subject', wait.subject),
        }),
        ...(wait.match !== undefined && {
          match: renderInput(decision, planned, 'wait.match', wait.match) as JsonObject,
        }),
        ...(wait.since !== undefined && sinceOf(decision, wait.since)),
        ...timeoutOf(decision, wait.timeout_ms),
      }
    case 'approval':
      return {
        staging_record_id: recordOf(decision, planned, wait.record),
        ...timeoutOf(decision, wait.timeout_ms),
      }
  }
}

function wakeAt(
  decision: DecisionBuilder,
  planned: PlannedStep,
  wait: { for_ms?: number; until?: string },
): string {
  if (wait.until === undefined) return timeAfter(decision, wait.for_ms ?? 0)
  const until = renderInput(decision, planned, 'wait.until', wait.until)
  const at = typeof until === 'string' ? Date.parse(until) : Number.NaN
  if (Number.isNaN(at)) {
    throw new InputFailure(
      `wait.until of step ${planned.name}: ${JSON.stringify(until)} is no time (ISO 8601)`,
    )
  }
  return new Date(at).toISOString()
}

/** The latest entry of the step; empty if it was never entered. */
function sinceOf({ state }: DecisionBuilder, step: string): { since_node?: string } {
  const entries = state.entries[step]
  return entries === undefined ? {} : { since_node: `${step}#${entries}` }
}

function textOf(decision: DecisionBuilder, planned: PlannedStep, place: string, template: string): string {
  const value = renderInput(decision, planned, place, template)
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new InputFailure(`${place} of step ${planned.name}: ${JSON.stringify(value)} is no text`)
}

function recordOf(decision: DecisionBuilder, planned: PlannedStep, template: string): string {
  const record = textOf(decision, planned, 'wait.approval', template)
  if (UUID.test(record)) return record
  throw new InputFailure(
    `wait.approval of step ${planned.name}: ${JSON.stringify(record)} is no staging record's id`,
  )
}

function timeoutOf(decision: DecisionBuilder, timeout_ms: number | undefined): { wake_at?: string } {
  return timeout_ms === undefined ? {} : { wake_at: timeAfter(decision, timeout_ms) }
}

function timeAfter(decision: DecisionBuilder, ms: number): string {
  return new Date(Math.min(decision.ports.now().getTime() + ms, MAX_DATE_MS)).toISOString()
}

type StepExit =
  | { readonly status: 'completed' | 'timed_out'; readonly result: ResultValue }
  | { readonly status: 'failed'; readonly error: string }

interface ExitedStep {
  readonly planned: PlannedStep
  readonly node_id: string
  readonly from: string
  readonly exit: StepExit
}

/** Ends a step without a command: a wait, a child playbook, or a step that could not begin. */
export function exitStep(
  decision: DecisionBuilder,
  { planned: { name }, node_id, from, exit }: ExitedStep,
): void {
  const event_id = decision.emit(
    {
      event_type: 'step.exit',
      node_id,
      node_name: name,
      node_type: 'step',
      status: exit.status,
      ...(exit.status === 'failed'
        ? { result: { status: 'error' }, error: exit.error }
        : { result: okResult(exit.result) }),
    },
    from,
  )
  decision.endStep(node_id, name, event_id)
}

/** Exits a loop whose results were collected by the last flush, so that its arcs can read them. */
export function exitCollectedLoop(
  decision: DecisionBuilder,
  { node_id, step, event_id, outcome }: EndedActivation,
): void {
  const exit = decision.emit(
    {
      event_type: 'step.exit',
      node_id,
      node_name: step,
      node_type: 'step',
      status: outcome.status,
      result: { status: outcome.status === 'failed' ? 'error' : 'ok' },
      ...(outcome.error !== undefined && { error: outcome.error }),
    },
    event_id,
  )
  decision.tokens.push({ step, event_id: exit, outcome })
}

/** How an attempt ended. */
export type AttemptOutcome = (
  | { readonly status: 'completed'; readonly result: ResultValue }
  | {
      readonly status: 'failed'
      readonly error: string
      readonly retryable: boolean
      /** It did not fail by itself: its loop ended early. */
      readonly cancelled?: true
    }
) & { readonly run?: AttemptRun | undefined }

/** Which process ran an attempt, and for how many milliseconds: fields of `meta` of the event that ends it. */
export type AttemptRun = { readonly worker?: string; readonly ms?: number }

/** When a failed attempt is retried, in ISO 8601; undefined: it was the last one. */
export function retryAt(
  decision: DecisionBuilder,
  retry: Retry,
  attempt: number,
  retryable: boolean,
): string | undefined {
  if (!retryable || attempt >= retry.attempts) return undefined
  return timeAfter(decision, Math.min(retry.backoff_ms * 2 ** (attempt - 1), retry.max_backoff_ms))
}

export function isDue(decision: DecisionBuilder, retry_at: string): boolean {
  return Date.parse(retry_at) <= decision.ports.now().getTime()
}
