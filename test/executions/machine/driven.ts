/** One execution on the machine, given its inputs one by one. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { ExecutionEvent, ResultValue } from '../../../src/executions/event.ts'
import { decide } from '../../../src/executions/machine/decide.ts'
import {
  type Decision,
  type Input,
  type Ports,
  type StartInput,
  StoreNeeded,
  ValueNeeded,
} from '../../../src/executions/machine/decision.ts'
import { type ExecutionState, fold } from '../../../src/executions/machine/state.ts'
import type { Playbook, Step } from '../../../src/executions/playbook/definition.ts'
import type { Json } from '../../../src/kernel/json.ts'

type StepDraft = Omit<Partial<Step>, 'next'> & { step: string; next?: Step['next'] | string }

export function step({ next, ...draft }: StepDraft): Step {
  return {
    tools: draft.wait ? [] : [{ tool: 'handler', call: 'work', args: {} }],
    retry: { attempts: 1, backoff_ms: 0, max_backoff_ms: 60_000 },
    on_error: 'fail',
    ...draft,
    next:
      typeof next === 'string'
        ? { mode: 'exclusive', arcs: [{ step: next }] }
        : (next ?? { mode: 'exclusive', arcs: [] }),
  }
}

export function playbook(steps: readonly StepDraft[], rest: Partial<Playbook> = {}): Playbook {
  return { name: 'p', args: {}, start: steps[0]!.step, steps: steps.map(step), ...rest }
}

export class Driven {
  readonly playbook: Playbook
  readonly log: ExecutionEvent[] = []
  readonly results = new Map<string, Json>()
  readonly loaded = new Set<string>()
  readonly kept = new Map<string, ResultValue>()
  state: ExecutionState | undefined
  now = Date.parse('2026-01-01T00:00:00Z')
  #id = 100

  constructor(playbook: Playbook) {
    this.playbook = playbook
  }

  start(args: StartInput['args'] = {}, rest: Partial<StartInput> = {}): Decision {
    return this.tell({
      kind: 'start',
      execution_id: '7',
      catalog_id: '1',
      version: 3,
      args,
      workspace_id: null,
      started_by: 'ann',
      cause: null,
      correlation_id: null,
      depth: 0,
      parent: null,
      ...rest,
    })
  }

  /** Loads and keeps what is asked for; the state must be the fold of the log afterwards. */
  tell(input: Input): Decision {
    for (;;) {
      const before = JSON.stringify(this.state)
      try {
        return this.#record(decide(this.playbook, this.state, input, this.ports()))
      } catch (thrown) {
        // Not the order of its keys, which a snapshot does not keep either.
        expect(JSON.parse(JSON.stringify(this.state ?? null))).toEqual(JSON.parse(before ?? 'null'))
        if (thrown instanceof ValueNeeded) this.loaded.add(thrown.result.ref)
        else if (thrown instanceof StoreNeeded) this.kept.set(thrown.key, this.#store(thrown.value))
        else throw thrown
      }
    }
  }

  /** Everything so far is durable. */
  continue(): Decision {
    return this.tell({ kind: 'continue', through: this.state!.last_event_id })
  }

  completed(
    node_id: string,
    value: Json = null,
    { attempt = 1, index }: { attempt?: number; index?: number } = {},
  ) {
    return this.tell({ ...this.#command(node_id, attempt, index), status: 'completed', result: { value } })
  }

  failed(
    node_id: string,
    {
      attempt = 1,
      index,
      retryable = true,
      error = 'no',
    }: { attempt?: number; index?: number; retryable?: boolean; error?: string } = {},
  ) {
    return this.tell({ ...this.#command(node_id, attempt, index), status: 'failed', error, retryable })
  }

  get types(): string[] {
    return this.log.map(({ event_type, node_id }) =>
      node_id === undefined ? event_type : `${event_type} ${node_id}`,
    )
  }

  ports(): Ports {
    return {
      now: () => new Date(this.now),
      nextId: () => String(++this.#id),
      value: (result) => {
        if (!this.loaded.has(result.ref)) throw new ValueNeeded(result)
        const value = this.results.get(result.ref)
        if (value === undefined) throw new Error(`the result ${result.ref} is gone`)
        return value
      },
      store: (value, key, node_name) => {
        const known = this.kept.get(key)
        if (known === undefined) throw new StoreNeeded(value, key, node_name)
        return known
      },
    }
  }

  #command(node_id: string, attempt: number, index: number | undefined) {
    const place = index === undefined ? '' : `${index}:`
    const base = {
      kind: 'command_ended' as const,
      command_id: `7:${node_id}:${place}${attempt}`,
      node_id,
      attempt,
    }
    return index === undefined ? base : { ...base, index }
  }

  #store(value: Json): ResultValue {
    const ref = String(++this.#id)
    this.results.set(ref, value)
    return { ref, bytes: JSON.stringify(value).length }
  }

  #record(decision: Decision): Decision {
    this.log.push(...decision.events)
    this.state = decision.state
    let folded: ExecutionState | undefined
    for (const event of this.log) folded = fold(folded, JSON.parse(JSON.stringify(event)))
    expect(
      isDeepStrictEqual(
        JSON.parse(JSON.stringify(this.state ?? null)),
        JSON.parse(JSON.stringify(folded ?? null)),
      ),
    ).toBe(true)
    return decision
  }
}
