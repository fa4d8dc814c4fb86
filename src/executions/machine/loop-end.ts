/** The end of a loop: counted, told once, and what is still out is called back. */
import type { JsonObject } from '../playbook/definition.ts'
import { cancelChildren } from './call-back.ts'
import { fanInOf } from './fan-in.ts'
import { isRow, writeItemEnd } from './items.ts'
import type { PlannedStep } from './plan.ts'
import type { FanIn, LoopActivation, StepOutcome } from './state.ts'
import type { Turn } from './turn.ts'

export function endLoop(turn: Turn, planned: PlannedStep, loop: LoopActivation, from: string): void {
  const cancelled = loop.total - loop.done - loop.failed
  const began = cancelled > 0 ? cancelOpen(turn, planned, loop, from) : from
  // Every item has ended one way or the other: what was cancelled did not succeed.
  const fanin = fanInOf({ total: loop.total, done: loop.done, failed: loop.total - loop.done })
  const outcome = outcomeOf(planned, fanin)
  const base = { node_id: loop.node_id, node_name: planned.name, node_type: 'loop' } as const
  const { total, done, failed } = fanin
  const more = cancelled > 0 && { cancelled }
  let last = began
  if (loop.mode === 'fanout') {
    last = turn.emit(
      {
        ...base,
        event_type: 'loop.fanin.completed',
        status: fanin.status === 'complete' ? 'completed' : fanin.status,
        meta: { loop_id: loop.loop_id },
        result: { status: fanin.status, context: { done, failed, total, ...more } },
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
        context: { total, completed: done, failed, ...more },
        ...resultsOf(turn, planned, loop),
      },
      ...(outcome === 'failed' && { error: errorOf(loop, fanin, cancelled) }),
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

function errorOf({ failure }: LoopActivation, { total, failed }: FanIn, cancelled: number): string {
  const first = failure === undefined ? '' : `; item ${failure.index}: ${failure.error}`
  const rest = cancelled > 0 ? `, ${cancelled} were cancelled` : ''
  return `${failed - cancelled} of ${total} items failed${rest}${first}`
}

/** The loop ends early: what is out ends as cancelled, each with an event of its own; what was never handed out has none. */
function cancelOpen(turn: Turn, planned: PlannedStep, loop: LoopActivation, from: string): string {
  callBack(turn, planned, loop)
  const reason = loop.failure === undefined ? '' : `: item ${loop.failure.index} failed`
  let last = from
  for (const index of Object.keys(loop.open))
    last = writeItemEnd(turn, loop, Number(index), {
      status: 'failed',
      error: `cancelled${reason}`,
      retryable: false,
      cancelled: true,
    })
  return last
}

function callBack(turn: Turn, planned: PlannedStep, loop: LoopActivation): void {
  turn.drop(loop)
  if (isRow(planned, loop)) turn.commandsGone.push({ loop_id: loop.loop_id })
  cancelChildren(turn, loop, 'an item of the same loop failed')
}
