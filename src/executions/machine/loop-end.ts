/** The end of a loop: counted, told once, and what is still out is called back. */
import type { JsonObject } from '../playbook/definition.ts'
import { cancelChildren } from './call-back.ts'
import { fanInOf } from './fan-in.ts'
import { isRow } from './items.ts'
import type { PlannedStep } from './plan.ts'
import type { FanIn, LoopActivation, StepOutcome } from './state.ts'
import type { Turn } from './turn.ts'

export function endLoop(turn: Turn, planned: PlannedStep, loop: LoopActivation, from: string): void {
  const fanin = fanInOf(loop)
  if (fanin.done + fanin.failed < fanin.total) callBack(turn, planned, loop)
  const outcome = outcomeOf(planned, fanin)
  const base = { node_id: loop.node_id, node_name: planned.name, node_type: 'loop' } as const
  const { total, done, failed } = fanin
  let last = from
  if (loop.mode === 'fanout') {
    last = turn.emit(
      {
        ...base,
        event_type: 'loop.fanin.completed',
        status: fanin.status === 'complete' ? 'completed' : fanin.status,
        meta: { loop_id: loop.loop_id },
        result: { status: fanin.status, context: { done, failed, total } },
      },
      last,
    )
  }
  const event_id = turn.emit(
    {
      ...base,
      event_type: 'loop.done',
      status: 'completed',
      meta: { loop_id: loop.loop_id, outcome },
      result: {
        status: 'ok',
        context: { total, completed: done, failed },
        ...resultsOf(turn, planned, loop),
      },
      ...(outcome === 'failed' && { error: errorOf(loop, fanin) }),
    },
    last,
  )
  turn.ended(loop.node_id, planned.name, event_id)
}

/** When somebody refers to them. The flush names them; they are put together when they are first read. */
function resultsOf(turn: Turn, planned: PlannedStep, { loop_id, total }: LoopActivation): JsonObject {
  if (!planned.collects) return {}
  if (total === 0) return { value: [] }
  const ref_id = turn.ports.nextId()
  turn.collect.push({ loop_id, ref_id, node_name: planned.name })
  return { ref: ref_id, bytes: 0 }
}

function outcomeOf({ step }: PlannedStep, { status }: FanIn): StepOutcome['status'] {
  return status === 'partial' && !step.loop!.allow_partial ? 'failed' : status
}

function errorOf({ failure }: LoopActivation, { total, failed }: FanIn): string {
  const first = failure === undefined ? '' : `; item ${failure.index}: ${failure.error}`
  return `${failed} of ${total} items failed${first}`
}

function callBack(turn: Turn, planned: PlannedStep, loop: LoopActivation): void {
  turn.drop(loop)
  if (isRow(planned, loop)) turn.commandsGone.push({ loop_id: loop.loop_id })
  cancelChildren(turn, loop, 'an item of the same loop failed')
}
