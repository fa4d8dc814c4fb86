/** A step ends that wrote no command of its own: a wait, a child playbook, one that could not begin. */
import type { ResultValue } from '../event.ts'
import type { PlannedStep } from './plan.ts'
import type { EndedActivation } from './state.ts'
import { okResult, type Turn } from './turn.ts'

export type Exit =
  | { readonly status: 'completed' | 'timed_out'; readonly result: ResultValue }
  | { readonly status: 'failed'; readonly error: string }

export function exitStep(turn: Turn, { name }: PlannedStep, node_id: string, exit: Exit, from: string): void {
  const event_id = turn.emit(
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
  turn.ended(node_id, name, event_id)
}

/** A loop whose results the last flush has put together: its arcs may read them now. */
export function exitCollected(turn: Turn, { node_id, step, event_id, outcome }: EndedActivation): void {
  const exit = turn.emit(
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
  turn.tokens.push({ step, event_id: exit, outcome })
}
