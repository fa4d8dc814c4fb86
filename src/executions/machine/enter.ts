/** A step is entered: it begins to run, to loop, to wait, or fails for want of its inputs. */
import { startChild } from './children.ts'
import { issueCommand } from './commands.ts'
import { exitStep } from './exit.ts'
import { InputFailure, PlaybookFailure } from './failures.ts'
import { startLoop } from './loops.ts'
import type { PlannedStep } from './plan.ts'
import type { Turn } from './turn.ts'
import { startWait } from './waits.ts'

const MOST_ENTRIES = 1_000_000
/** In one decision, of steps that end as they are entered: beyond it they lead into each other and nothing ever runs. */
const MOST_IDLE = 1_000

export function enter(turn: Turn, name: string, from: string): void {
  const planned = turn.plan.steps.get(name)
  if (planned === undefined) throw new PlaybookFailure(`there is no step ${name}`, undefined, from)
  if (turn.state.entered >= MOST_ENTRIES) {
    throw new PlaybookFailure(`more than ${MOST_ENTRIES} steps were entered`, name, from)
  }
  const node_id = `${name}#${(turn.state.entries[name] ?? 0) + 1}`
  try {
    begin(turn, planned, node_id, from)
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    exitStep(turn, planned, node_id, { status: 'failed', error: thrown.message }, from)
  }
  if (turn.state.active[node_id] === undefined && ++turn.idle > MOST_IDLE) {
    throw new PlaybookFailure(
      `steps lead back to ${name} again and again and nothing runs in between`,
      name,
      turn.state.last_event_id,
    )
  }
}

function begin(turn: Turn, planned: PlannedStep, node_id: string, from: string): void {
  if (planned.step.wait) startWait(turn, planned, planned.step.wait, node_id, from)
  else if (planned.step.loop) startLoop(turn, planned, planned.step.loop, node_id, from)
  else if (planned.child) startChild(turn, planned, node_id, 1, from)
  else issueCommand(turn, planned, node_id, 1, from)
}
