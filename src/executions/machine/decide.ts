/**
 * The machine: from a playbook, the state of an execution and an input, it decides the events that follow and what has to happen
 * with them. It has no clock, no randomness and no I/O: the same state, input and ports give the same decision.
 */
import type { JsonObject } from '../../kernel/json.ts'
import type { NewEvent, ResultValue } from '../event.ts'
import { withinDecisionBudget } from '../playbook/budget.ts'
import type { Playbook } from '../playbook/definition.ts'
import { evaluateCondition, render } from '../playbook/expressions.ts'
import {
  type Decision,
  DecisionBuilder,
  type EndedStep,
  type Input,
  type LocalCommand,
  okResult,
  PlaybookFailure,
  type Ports,
  reasonOf,
  type StartInput,
  type Timer,
} from './decision.ts'
import { cancelChildren, isRow, issueItems, itemCommandId, openItems, retryItem, retryRows } from './loops.ts'
import { type PlannedStep, planOf, scopeAfter, scopeFor } from './plan.ts'
import type {
  Activation,
  ChildActivation,
  CommandActivation,
  ExecutionState,
  LoopActivation,
} from './state.ts'
import {
  enterStep,
  handleChildEnded,
  handleCommandEnded,
  issueCommand,
  retryChild,
  retryStep,
} from './steps.ts'
import { exitCollectedLoop, handleWaitEnded } from './waits.ts'

/**
 * Changes the state in place. If it throws (ValueNeeded, StoreNeeded or any other error), the state is restored. An input without news
 * (redelivered, late, or for an ended execution) gets a decision without events.
 */
export function decide(
  playbook: Playbook,
  state: ExecutionState | undefined,
  input: Input,
  ports: Ports,
): Decision {
  const decision = new DecisionBuilder(planOf(playbook), state, ports)
  try {
    withinDecisionBudget(() => apply(decision, input))
    return decision.build()
  } catch (thrown) {
    decision.revoke()
    throw thrown
  }
}

function apply(decision: DecisionBuilder, input: Input): void {
  if (!decision.known ? input.kind !== 'start' : input.kind === 'start' || decision.over) return
  try {
    handleInput(decision, input)
    routeEndedSteps(decision)
  } catch (thrown) {
    if (!(thrown instanceof PlaybookFailure)) throw thrown
    failExecution(decision, thrown)
  }
}

function handleInput(decision: DecisionBuilder, input: Input): void {
  if (input.kind === 'start') handleStart(decision, input)
  else if (input.kind === 'command_ended') handleCommandEnded(decision, input)
  else if (input.kind === 'woken') handleWaitEnded(decision, input)
  else if (input.kind === 'child_ended') handleChildEnded(decision, input)
  else if (input.kind === 'due') handleTimerDue(decision, input)
  else if (input.kind === 'continue') handleContinue(decision, input.through)
  else if (input.kind === 'pause') handlePause(decision, input.by)
  else if (input.kind === 'resume') handleResume(decision, input.by)
  else handleCancel(decision, input)
}

const MAX_CALL_DEPTH = 16

/** From the start of the playbook or, in a rerun, from a step. */
function handleStart(decision: DecisionBuilder, input: StartInput): void {
  const { playbook } = decision.plan
  const event_id = decision.begin(
    {
      event_type: 'playbook.initialized',
      node_type: 'playbook',
      node_name: playbook.name,
      status: 'started',
      context: {
        args: { ...playbook.args, ...input.args },
        ...(input.seed !== undefined && { seed: input.seed as unknown as JsonObject }),
      },
      meta: startMeta(input, playbook.name),
    },
    input,
  )
  refuseInvalidStart(decision, input)
  enterStep(decision, input.from_step ?? playbook.start, event_id)
}

function startMeta(input: StartInput, playbook: string): JsonObject {
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

/** Checks arguments that were not checked before: those of a child come from its parent, those of a rerun from an old log. */
function refuseInvalidStart(
  { plan }: DecisionBuilder,
  { depth, args, from_step, seed, rerun_of }: StartInput,
): void {
  if (depth > MAX_CALL_DEPTH)
    throw new PlaybookFailure(`playbooks call each other more than ${MAX_CALL_DEPTH} deep`)
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(plan.playbook.args, name))
  if (unknown.length > 0) {
    throw new PlaybookFailure(`the playbook ${plan.playbook.name} takes no argument ${unknown.join(', ')}`)
  }
  if (from_step !== undefined && seed === undefined) {
    throw new PlaybookFailure(`execution ${rerun_of} never came to step ${from_step}`)
  }
}

/** Takes the arcs of every step that ended in this decision; then the execution may be complete. */
function routeEndedSteps(decision: DecisionBuilder): void {
  let last: EndedStep | undefined
  // Entering a step may end it at once and append to the list.
  for (const token of decision.tokens) {
    routeStep(decision, token)
    last = token
  }
  if (last !== undefined && !decision.paused && isIdle(decision)) completeExecution(decision, last)
}

function routeStep(decision: DecisionBuilder, token: EndedStep): void {
  const planned = decision.plan.steps.get(token.step)!
  const { next, on_error } = planned.step
  if (token.outcome.status === 'failed' && on_error === 'fail') {
    const error = `step ${token.step} failed: ${token.outcome.error ?? 'without a reason'}`
    throw new PlaybookFailure(error, token.step, token.event_id)
  }
  const conditional = next.arcs.some((arc) => arc.when !== undefined)
  const scope = conditional ? arcScope(decision, planned, token) : {}
  for (const arc of next.arcs) {
    if (arc.when !== undefined && !arcHolds(arc.when, scope, token)) continue
    enterStep(decision, arc.step, token.event_id)
    if (next.mode === 'exclusive') return
  }
}

function arcScope(decision: DecisionBuilder, planned: PlannedStep, { step, outcome, event_id }: EndedStep) {
  try {
    return scopeAfter(
      scopeFor(decision.plan, decision.state, planned.arcs, decision.ports),
      outcome,
      decision.ports,
    )
  } catch (thrown) {
    throw new PlaybookFailure(`the arcs of step ${step}: ${reasonOf(thrown)}`, step, event_id)
  }
}

function arcHolds(
  when: string,
  scope: ReturnType<typeof scopeAfter>,
  { step, event_id }: EndedStep,
): boolean {
  try {
    return evaluateCondition(when, scope)
  } catch (thrown) {
    throw new PlaybookFailure(`an arc of step ${step}: ${reasonOf(thrown)}`, step, event_id)
  }
}

function isIdle(decision: DecisionBuilder): boolean {
  for (const _ in decision.state.active) return false
  return true
}

// The three ends of an execution. Each cancels what is outstanding and notifies the parent.

function completeExecution(decision: DecisionBuilder, last: EndedStep): void {
  const result = outputOf(decision, last)
  const event: NewEvent = {
    event_type: 'playbook.completed',
    node_type: 'playbook',
    status: 'completed',
    result: okResult(result),
  }
  decision.emit(event, last.event_id)
  notifyParent(decision, { status: 'COMPLETED', result: { ...result } })
}

function failExecution(decision: DecisionBuilder, { message, node_name, from }: PlaybookFailure): void {
  cancelOutstanding(decision, 'the execution that started it failed')
  const event: NewEvent = {
    event_type: 'playbook.failed',
    node_type: 'playbook',
    status: 'failed',
    result: { status: 'error' },
    error: message,
    ...(node_name !== undefined && { node_name, meta: { node_name } }),
  }
  decision.emit(event, from ?? decision.state.last_event_id)
  notifyParent(decision, { status: 'FAILED', error: message })
}

function handleCancel(
  decision: DecisionBuilder,
  { by, reason }: { by: string; reason?: string | null },
): void {
  cancelOutstanding(decision, 'the execution that started it was cancelled')
  const meta = { by, reason: reason ?? null }
  const event: NewEvent = {
    event_type: 'execution.cancelled',
    node_type: 'playbook',
    status: 'cancelled',
    meta,
  }
  decision.emit(event, decision.state.last_event_id)
  notifyParent(decision, { status: 'CANCELLED', error: reason ?? `cancelled by ${by}` })
}

/** `result`, `error` and `fanin` are those of the step that ended last. */
function outputOf(decision: DecisionBuilder, { step, outcome, event_id }: EndedStep): ResultValue {
  const { output } = decision.plan.playbook
  if (output === undefined) return { value: null }
  try {
    const scope = scopeFor(decision.plan, decision.state, decision.plan.output, decision.ports)
    return decision.storeIfLarge(render(output, scopeAfter(scope, outcome, decision.ports)), 'output', step)
  } catch (thrown) {
    throw new PlaybookFailure(
      `the output of the playbook, after step ${step}: ${reasonOf(thrown)}`,
      step,
      event_id,
    )
  }
}

function cancelOutstanding(decision: DecisionBuilder, reason: string): void {
  let rows = false
  const begun = new Set(decision.waits.map(({ node_id }) => node_id))
  for (const activation of Object.values(decision.state.active)) {
    if (activation.kind === 'wait' && !begun.has(activation.node_id)) {
      decision.waitsEnded.push({ node_id: activation.node_id })
    }
    rows ||= mayHaveRows(decision, activation)
    cancelChildren(decision, activation, reason)
  }
  if (rows) decision.commandsCancelled.push({ loop_id: null })
  decision.dropAll()
}

/** Items of loops are rows. A command is a row if its owner has no handler for it. */
function mayHaveRows(decision: DecisionBuilder, activation: Activation): boolean {
  const planned = decision.plan.steps.get(activation.step)!
  if (activation.kind === 'loop') {
    return isRow(planned, activation) || (planned.child === undefined && planned.needs.length > 0)
  }
  return activation.kind === 'command' && planned.needs.length > 0
}

function notifyParent(
  decision: DecisionBuilder,
  ended: { status: string; result?: Record<string, never> | object; error?: string },
): void {
  const { parent, execution_id } = decision.state
  if (parent === null) return
  const { execution_id: to, ...place } = parent
  decision.messages.push({
    execution_id: to,
    kind: 'child_ended',
    body: { execution_id, ...place, ...ended } as never,
  })
}

// Pausing, and continuing: after a pause, with the next part of a loop, under a new owner.

function handlePause(decision: DecisionBuilder, by: string): void {
  if (decision.paused) return
  decision.emit(
    { event_type: 'execution.paused', node_type: 'playbook', status: 'paused', meta: { by } },
    decision.state.last_event_id,
  )
}

/** Takes the arcs of steps that ended during the pause, in the order of their ends, and sets timers again. */
function handleResume(decision: DecisionBuilder, by: string): void {
  if (!decision.paused) return
  const before = activationsInOrder(decision.state)
  decision.emit(
    { event_type: 'execution.resumed', node_type: 'playbook', status: 'resumed', meta: { by } },
    decision.state.last_event_id,
  )
  for (const activation of before) {
    if (activation.kind === 'ended' && activation.collecting) decision.continues = true
    else if (activation.kind === 'ended') decision.tokens.push(activation)
    else if (activation.kind === 'loop') resumeLoop(decision, activation)
    else if (activation.kind !== 'wait' && activation.retry_at !== undefined)
      retryActivation(decision, activation)
  }
}

function resumeLoop(decision: DecisionBuilder, loop: LoopActivation): void {
  const planned = decision.plan.steps.get(loop.step)!
  if (!isRow(planned, loop)) {
    for (const index of Object.keys(loop.open)) retryItem(decision, planned, loop, Number(index))
  }
  continueLoop(decision, loop)
}

/** Continues what the last decision left open, and exits loops whose results its flush has made readable. */
function handleContinue(decision: DecisionBuilder, through: string): void {
  if (decision.paused) return
  for (const activation of activationsInOrder(decision.state)) {
    if (activation.kind === 'loop') continueLoop(decision, activation)
    else if (activation.kind === 'ended' && compareIds(activation.event_id, through) <= 0)
      exitCollectedLoop(decision, activation)
  }
}

function continueLoop(decision: DecisionBuilder, loop: LoopActivation): void {
  retryRows(decision, loop)
  if (decision.state.active[loop.node_id] === loop) issueItems(decision, loop, loop.event_id)
}

function handleTimerDue(
  decision: DecisionBuilder,
  { node_id, index }: Extract<Input, { kind: 'due' }>,
): void {
  const active = decision.state.active[node_id]
  if (decision.paused || active === undefined) return
  if (active.kind === 'loop') {
    const open = active.open[String(index)]
    if (open?.retry_at !== undefined)
      retryItem(decision, decision.plan.steps.get(active.step)!, active, index!)
  } else if ((active.kind === 'command' || active.kind === 'child') && active.retry_at !== undefined) {
    retryActivation(decision, active)
  }
}

/** A new owner runs commands again that were issued and have not ended. Rows, waits and children are in the database. */
export function resumeAfterLoad(
  playbook: Playbook,
  state: ExecutionState,
): { run: LocalCommand[]; timers: Timer[]; continues: boolean } {
  const plan = planOf(playbook)
  const run: LocalCommand[] = []
  const timers: Timer[] = []
  let continues = false
  const paused = state.status === 'PAUSED'
  for (const activation of Object.values(state.active)) {
    const { node_id, step, kind } = activation
    if (kind === 'command' && activation.retry_at === undefined) {
      run.push({ node_id, step, command_id: activation.command_id, attempt: activation.attempt })
    } else if ((kind === 'command' || kind === 'child') && activation.retry_at !== undefined) {
      timers.push({ node_id, at: activation.retry_at })
    } else if (kind === 'ended') {
      continues = true
    } else if (kind === 'loop') {
      const planned = plan.steps.get(step)!
      continues ||= activation.issued < activation.total && openItems(activation) < planned.window
      for (const [at, { attempt, retry_at }] of Object.entries(activation.open)) {
        const index = Number(at)
        if (retry_at !== undefined) {
          if (isRow(planned, activation)) continues = true
          else timers.push({ node_id, index, at: retry_at })
        } else if (activation.mode === 'sequential' && planned.child === undefined) {
          const command_id = itemCommandId(state, node_id, index, attempt)
          run.push({ node_id, step, command_id, attempt, loop_id: activation.loop_id, index })
        }
      }
    }
  }
  return { run, timers: paused ? [] : timers, continues: continues && !paused }
}

/** The commands of a new owner that may be rows: the last owner may have lacked the handler. */
export function commandsWithHandlers(playbook: Playbook, state: ExecutionState): string[] {
  const { steps } = planOf(playbook)
  return Object.values(state.active).flatMap((activation) => {
    const { kind, step, node_id } = activation
    const planned = steps.get(step)
    if (planned === undefined || planned.needs.length === 0) return []
    if (kind === 'command') return activation.retry_at === undefined ? [activation.command_id] : []
    if (kind !== 'loop' || activation.mode !== 'sequential') return []
    return Object.entries(activation.open).flatMap(([index, { attempt, retry_at }]) =>
      retry_at === undefined ? [itemCommandId(state, node_id, index, attempt)] : [],
    )
  })
}

function retryActivation(decision: DecisionBuilder, active: CommandActivation | ChildActivation): void {
  retryStep(decision, active.node_id, active.retry_at!, () =>
    active.kind === 'child'
      ? retryChild(decision, active)
      : issueCommand(decision, {
          planned: decision.plan.steps.get(active.step)!,
          node_id: active.node_id,
          attempt: active.attempt + 1,
          from: active.event_id,
        }),
  )
}

/** In the order of their events, because JSON of a snapshot does not keep the order of its keys. */
function activationsInOrder({ active }: ExecutionState): Activation[] {
  return Object.values(active).sort((one, other) => compareIds(one.event_id, other.event_id))
}

function compareIds(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0)
}
