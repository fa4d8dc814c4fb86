/** The beginning of an execution, from its playbook's start or, of a rerun, from a step. */
import type { JsonObject } from '../playbook/definition.ts'
import type { StartInput } from './decision.ts'
import { enter } from './enter.ts'
import { PlaybookFailure } from './failures.ts'
import type { Turn } from './turn.ts'

const DEEPEST = 16

export function start(turn: Turn, input: StartInput): void {
  const { playbook } = turn.plan
  const event_id = turn.begin(
    {
      event_type: 'playbook.initialized',
      node_type: 'playbook',
      node_name: playbook.name,
      status: 'started',
      context: {
        args: { ...playbook.args, ...input.args },
        ...(input.seed !== undefined && { seed: input.seed as unknown as JsonObject }),
      },
      meta: metaOf(input, playbook.name),
    },
    input,
  )
  refuse(turn, input)
  enter(turn, input.from_step ?? playbook.start, event_id)
}

function metaOf(input: StartInput, playbook: string): JsonObject {
  const { parent } = input
  return {
    playbook,
    version: input.version,
    workspace_id: input.workspace_id,
    started_by: input.started_by,
    cause: input.cause,
    correlation_id: input.correlation_id,
    depth: input.depth,
    ...(parent && { parent_node_id: parent.node_id }),
    ...(parent?.index !== undefined && { parent_index: parent.index }),
    ...(parent?.attempt !== undefined && { parent_attempt: parent.attempt }),
    ...(input.rerun_of !== undefined && { rerun_of: input.rerun_of }),
    ...(input.from_step !== undefined && { from_step: input.from_step }),
  }
}

/** What nobody could check before: a child is started by an execution, a rerun by what an old log says. */
function refuse({ plan }: Turn, { depth, args, from_step, seed, rerun_of }: StartInput): void {
  if (depth > DEEPEST) throw new PlaybookFailure(`playbooks call each other more than ${DEEPEST} deep`)
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(plan.playbook.args, name))
  if (unknown.length > 0) {
    throw new PlaybookFailure(`the playbook ${plan.playbook.name} takes no argument ${unknown.join(', ')}`)
  }
  if (from_step !== undefined && seed === undefined) {
    throw new PlaybookFailure(`execution ${rerun_of} never came to step ${from_step}`)
  }
}
