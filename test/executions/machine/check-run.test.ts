/** A run that differs from the reference says what happened: in CI nobody can look at its database. */
import { expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import { checkRun } from './check-run.ts'
import { runInMemory } from './memory-runner.ts'
import type { Scenario } from './scenarios.ts'

const SCENARIO: Scenario = {
  sketches: [
    {
      name: 'root',
      linear: true,
      steps: [
        {
          name: 'cs0',
          work: { kind: 'counter' },
          attempts: 1,
          backoff: 0,
          goesOn: false,
          inclusive: false,
          arcs: [],
        },
      ],
    },
  ],
  seed: 1,
  failures: 0,
  chaos: { crash: 0, again: 0, pause: 0, cancel: 0 },
}

it('names the error that ended an execution, and shows the tail of its log', async () => {
  const ran = await runInMemory(SCENARIO)
  checkRun(SCENARIO, ran)
  const log = ran.logs.get(ran.root)!
  const { result: _, ...last } = log.at(-1)!
  const failed: ExecutionEvent = { ...last, event_type: 'playbook.failed', error: 'the result 5 is gone' }
  const other = { ...ran, logs: new Map([[ran.root, [...log.slice(0, -1), failed]]]) }
  expect(() => checkRun(SCENARIO, other)).toThrow(
    new RegExp(
      [
        "the result 5 is gone: expected 'FAILED' to be 'COMPLETED'.*",
        `Execution ${ran.root}: 1 errors that are not scripted:`,
        `${failed.seq} ${failed.event_id} playbook.failed the result 5 is gone`,
        `Its log has ${log.length} events:`,
        `1 ${log[0]!.event_id} playbook.initialized`,
        `2 ${log[1]!.event_id} command.issued cs0#1 {"attempt":1}`,
      ].join('\\n'),
    ),
  )
})
