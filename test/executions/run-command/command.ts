/** A command as a test runs it: what is left out is an ordinary step with one handler. */
import { pino } from 'pino'
import { type CommandOutcome, type CommandRun, runCommand } from '../../../src/executions/engine/commands.ts'
import type { Playbook, Step, ToolCall } from '../../../src/executions/playbook/definition.ts'
import type { Tool, ToolContext } from '../../../src/executions/tools/tool.ts'
import type { JsonObject } from '../../../src/kernel/json.ts'
import { abortSourceOf } from '../../../src/runtime/lazy-abort.ts'
import { createMemoryResultStore } from '../memory-results.ts'

export const log = pino({ level: 'silent' })

export function contextOf(context: Partial<ToolContext> = {}): ToolContext {
  return {
    execution_id: '1',
    command_id: '1:fetch#1:1',
    playbook: 'hello',
    step: 'fetch',
    attempt: 1,
    workspace_id: null,
    started_by: 'ada',
    cause: null,
    signal: new AbortController().signal,
    log,
    ...context,
  }
}

export function stepOf(tools: readonly ToolCall[], step: Partial<Step> = {}): Step {
  return {
    step: 'fetch',
    tools,
    retry: { attempts: 1, backoff_ms: 1000, max_backoff_ms: 1000 },
    on_error: 'fail',
    next: { mode: 'exclusive', arcs: [] },
    ...step,
  }
}

export function playbookOf(step: Step): Playbook {
  return { name: 'hello', args: {}, start: step.step, steps: [step] }
}

/** Runs these tools, each `handler` by the same function. */
export function run(
  tool: Tool,
  args: JsonObject | readonly JsonObject[] = {},
  more: Partial<Omit<CommandRun, 'context' | 'aborts'>> & {
    readonly options?: Partial<Step>
    readonly context?: ToolContext
  } = {},
): Promise<CommandOutcome> {
  const calls = (Array.isArray(args) ? args : [args]) as readonly JsonObject[]
  const step = stepOf(
    calls.map((one) => ({ tool: 'handler', call: 'work', args: one })),
    more.options,
  )
  const { context: { signal, ...context } = contextOf(), ...rest } = more
  return runCommand({
    playbook: playbookOf(step),
    step,
    scope: {},
    tools: { handler: Object.assign(tool.bind(undefined), { names: ['work'] }) },
    results: createMemoryResultStore(),
    context,
    aborts: abortSourceOf(signal),
    secret: () => undefined,
    ...rest,
  })
}
