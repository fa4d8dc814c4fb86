/** Random playbooks with crashes, redelivery, pauses and cancellations, against a reference that knows none of these. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkRun } from './check-run.ts'
import { runInMemory } from './memory-runner.ts'
import { expected, TooLarge } from './reference.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { Script } from './script.ts'

const CASES = Number(process.env.MACHINE_CASES ?? 400)
const SEED = Number(process.env.MACHINE_SEED ?? Date.now() % 2 ** 31)

it(`ends as the reference says, whatever goes wrong (${CASES} cases, seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  console.log(`machine against reference: MACHINE_SEED=${SEED}`)
  const seen = { executions: 0, events: 0, loops: 0, retried: 0, failed: 0, cancelled: 0, resumed: 0 }
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      fc.pre(isSmall(scenario))
      const ran = await runInMemory(scenario)
      checkRun(scenario, ran)
      for (const log of ran.logs.values()) {
        seen.executions++
        seen.events += log.length
        for (const { event_type, meta } of log) {
          if (event_type === 'loop.done') seen.loops++
          if (event_type === 'command.failed' && meta!.final === false) seen.retried++
          if (event_type === 'playbook.failed') seen.failed++
          if (event_type === 'execution.cancelled') seen.cancelled++
          if (event_type === 'execution.resumed') seen.resumed++
        }
      }
    }),
    { numRuns: CASES, seed: SEED },
  )
  console.log(JSON.stringify(seen))
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})

function isSmall({ sketches, seed, failures }: Scenario): boolean {
  try {
    expected(sketches, sketches[0]!.name, 'r', new Script(seed, failures))
    return true
  } catch (thrown) {
    if (thrown instanceof TooLarge) return false
    throw thrown
  }
}
