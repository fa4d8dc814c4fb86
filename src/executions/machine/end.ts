/** The three ends of an execution: each calls back what is outstanding and tells the parent. */
import type { NewEvent, ResultValue } from '../event.ts'
import { render } from '../playbook/expressions.ts'
import { cancelChildren } from './call-back.ts'
import { PlaybookFailure, reasonOf } from './failures.ts'
import { isRow } from './items.ts'
import { scopeAfter, scopeFor } from './scope.ts'
import type { Activation } from './state.ts'
import { okResult, type Token, type Turn } from './turn.ts'

export function complete(turn: Turn, last: Token): void {
  const result = outputOf(turn, last)
  const event: NewEvent = {
    event_type: 'playbook.completed',
    node_type: 'playbook',
    status: 'completed',
    result: okResult(result),
  }
  turn.emit(event, last.event_id)
  tellParent(turn, { status: 'COMPLETED', result: { ...result } })
}

export function fail(turn: Turn, { message, node_name, from }: PlaybookFailure): void {
  callBackAll(turn, 'the execution that started it failed')
  const event: NewEvent = {
    event_type: 'playbook.failed',
    node_type: 'playbook',
    status: 'failed',
    result: { status: 'error' },
    error: message,
    ...(node_name !== undefined && { node_name, meta: { node_name } }),
  }
  turn.emit(event, from ?? turn.state.last_event_id)
  tellParent(turn, { status: 'FAILED', error: message })
}

export function cancel(turn: Turn, { by, reason }: { by: string; reason?: string | null }): void {
  callBackAll(turn, 'the execution that started it was cancelled')
  const meta = { by, reason: reason ?? null }
  const event: NewEvent = {
    event_type: 'execution.cancelled',
    node_type: 'playbook',
    status: 'cancelled',
    meta,
  }
  turn.emit(event, turn.state.last_event_id)
  tellParent(turn, { status: 'CANCELLED', error: reason ?? `cancelled by ${by}` })
}

/** `result`, `error` and `fanin` are those of the step that ended last. */
function outputOf(turn: Turn, { step, outcome, event_id }: Token): ResultValue {
  const { output } = turn.plan.playbook
  if (output === undefined) return { value: null }
  try {
    const scope = scopeFor(turn.plan, turn.state, turn.plan.output, turn.ports)
    return turn.kept(render(output, scopeAfter(scope, outcome, turn.ports)), 'output', step)
  } catch (thrown) {
    throw new PlaybookFailure(
      `the output of the playbook, after step ${step}: ${reasonOf(thrown)}`,
      step,
      event_id,
    )
  }
}

function callBackAll(turn: Turn, reason: string): void {
  let rows = false
  const begun = new Set(turn.waits.map(({ node_id }) => node_id))
  for (const activation of Object.values(turn.state.active)) {
    if (activation.kind === 'wait' && !begun.has(activation.node_id)) {
      turn.waitsGone.push({ node_id: activation.node_id })
    }
    rows ||= mayHaveRows(turn, activation)
    cancelChildren(turn, activation, reason)
  }
  if (rows) turn.commandsGone.push({ loop_id: null })
  turn.dropAll()
}

/** Items are rows, and whatever calls a handler is one when its owner lacks that. */
function mayHaveRows(turn: Turn, activation: Activation): boolean {
  const planned = turn.plan.steps.get(activation.step)!
  if (activation.kind === 'loop') {
    return isRow(planned, activation) || (planned.child === undefined && planned.needs.length > 0)
  }
  return activation.kind === 'command' && planned.needs.length > 0
}

function tellParent(
  turn: Turn,
  ended: { status: string; result?: Record<string, never> | object; error?: string },
): void {
  const { parent, execution_id } = turn.state
  if (parent === null) return
  const { execution_id: to, ...place } = parent
  turn.messages.push({
    execution_id: to,
    kind: 'child_ended',
    body: { execution_id, ...place, ...ended } as never,
  })
}
