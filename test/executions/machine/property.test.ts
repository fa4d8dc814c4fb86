/** Random playbooks with crashes, redelivery, pauses and cancellations, against a reference that knows none of these. */
// @module-tag property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { checkRun } from './check-run.ts'
import { runInMemory } from './memory-runner.ts'
import { expected, TooLarge } from './reference.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { Script } from './script.ts'

const CASES = cases(80, 400)

it(`ends as the reference says, whatever goes wrong (${CASES} cases, seed ${SEED})`, async () => {
  console.log(`machine against reference: SEED=${SEED}`)
  const seen = { executions: 0, events: 0, loops: 0, retried: 0, failed: 0, cancelled: 0, resumed: 0 }
  const property = fc.asyncProperty(scenarios(), async (scenario) => {
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
  })
  await fc.assert(property, { numRuns: CASES, seed: SEED })
  // Few cases need not have met each of them; of many, what did not come by chance is searched on for.
  const hasAll = () => Object.values(seen).every((count) => count > 0)
  for (let more = 1; CASES >= 400 && more <= 10 && !hasAll(); more++)
    await fc.assert(property, { numRuns: 100, seed: SEED + more })
  console.log(JSON.stringify(seen))
  if (CASES >= 400) expect(hasAll()).toBe(true)
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
