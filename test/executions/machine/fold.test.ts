import { expect, it } from 'vitest'
import type { EventType, ExecutionEvent } from '../../../src/executions/event.ts'
import { fold } from '../../../src/executions/machine/state.ts'

const event = (seq: number, event_type: EventType): ExecutionEvent => ({
  execution_id: '7',
  event_id: String(seq),
  seq,
  catalog_id: '1',
  event_type,
  meta: { version: 1, started_by: 'ada' },
})

it.each([
  ['workflow.completed', 'COMPLETED'],
  ['workflow.failed', 'FAILED'],
  ['playbook.completed', 'COMPLETED'],
] as const)(
  "takes the seed's other names: an execution that begins as a workflow ends with %s",
  (type, status) => {
    const state = fold(undefined, event(1, 'workflow.initialized'))
    expect(state).toMatchObject({ status: 'RUNNING', seq: 1, started_by: 'ada' })
    expect(fold(state, event(2, type))).toMatchObject({ status, seq: 2, active: {} })
  },
)
