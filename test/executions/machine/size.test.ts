/** A long execution costs the same per step at its end as at its start: nothing in its state grows with its log. */
import { expect, it } from 'vitest'
import { decide } from '../../../src/executions/machine/decide.ts'
import type { Decision } from '../../../src/executions/machine/decision.ts'
import type { Loop } from '../../../src/executions/playbook/definition.ts'
import { Driven, playbook } from './driven.ts'

it('keeps a state of the size of its playbook through 10,000 steps', () => {
  const run = new Driven(
    playbook([
      { step: 'a', next: 'b' },
      { step: 'b', next: 'a' },
    ]),
  )
  let decision = run.start()
  const sizes: number[] = []
  for (let at = 0; at < 10_000; at++) {
    const { node_id, command_id, attempt } = decision.run[0]!
    const input = { kind: 'command_ended', node_id, command_id, attempt, status: 'completed' } as const
    decision = decide(run.playbook, decision.state, input, run.ports())
    expect(decision.events).toHaveLength(2)
    // From when both steps have an outcome.
    if (at % 1_000 === 999) sizes.push(JSON.stringify(decision.state).length)
  }
  // Counters get longer, nothing else.
  expect(Math.max(...sizes) - sizes[0]!).toBeLessThan(20)
})

it('keeps of a fan-out of 100,000 only what is out', () => {
  const items = Array.from({ length: 100_000 }, (_, at) => at)
  const loop: Loop = {
    in: items,
    as: 'i',
    mode: 'fanout',
    max_in_flight: 2_000,
    fail_fast: false,
    allow_partial: false,
  }
  const run = new Driven(playbook([{ step: 'l', loop }]))
  run.results.set('c', items)
  run.loaded.add('c')
  run.kept.set('l#1/collection', { ref: 'c', bytes: 600_000 })
  let decision: Decision = run.start()
  const out = [...decision.commands]
  let largest = 0
  let most = 0
  for (let at = 0; !decision.ended; ) {
    const { command_id, node_id, loop_id, item_index: index, attempt } = out[at]!
    const ended = {
      kind: 'command_ended',
      command_id,
      node_id,
      loop_id,
      index,
      attempt,
      status: 'completed',
    } as const
    const goesOn = decision.continues
    if (!goesOn) at++
    const through = decision.state!.last_event_id
    const input = goesOn ? ({ kind: 'continue', through } as const) : ended
    decision = decide(run.playbook, decision.state, input, run.ports())
    for (const command of decision.commands) out.push(command)
    most = Math.max(most, out.length - at)
    if (at % 10_000 === 5) largest = Math.max(largest, JSON.stringify(decision.state).length)
  }
  expect(out).toHaveLength(100_000)
  expect(most).toBe(2_000)
  expect(largest).toBeLessThan(150_000)
  expect(decision.state!.steps.l!.fanin).toEqual({
    status: 'complete',
    total: 100_000,
    done: 100_000,
    failed: 0,
  })
})
