/** Executions that somebody waited for, and nobody does any more, are told so. */
import type { Activation } from './state.ts'
import type { Turn } from './turn.ts'

/** Those that this turn was about to start are not known to anyone yet: whoever drops them takes them out of the turn. */
export function cancelChildren(turn: Turn, activation: Activation, reason: string): void {
  for (const execution_id of childrenOf(activation)) {
    if (turn.started.has(execution_id)) continue
    const by = `execution ${turn.state.execution_id}`
    turn.messages.push({ execution_id, kind: 'cancel', body: { by, reason } })
  }
}

function childrenOf(activation: Activation): string[] {
  if (activation.kind === 'child') return activation.retry_at === undefined ? [activation.child] : []
  if (activation.kind !== 'loop') return []
  return Object.values(activation.open).flatMap(({ child, retry_at }) =>
    child !== undefined && retry_at === undefined ? [child] : [],
  )
}
