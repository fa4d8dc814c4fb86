/**
 * The random playbooks of the machine's own test on the real engine: two engines and a real database, while shards are taken
 * away, rows of the inbox come twice, and executions are paused and cancelled.
 */
// @module-tag property
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import pino from 'pino'
import { expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { checkRun, describeLog } from '../machine/check-run.ts'
import type { Ran } from '../machine/memory-runner.ts'
import { expected, TooLarge } from '../machine/reference.ts'
import { type Scenario, scenarios } from '../machine/scenarios.ts'
import { Script } from '../machine/script.ts'
import { playbookOf } from '../machine/sketch.ts'
import { useEngines } from './engines.ts'

const CASES = cases(6, 30)
const MOST_MS = 120_000
/** Of one case, well below the limit of the test: what is stuck must say where. */
const MOST_OF_A_CASE_MS = 150_000
const FEWEST = 5
const TURN_MS = 25
/** The reference counts steps and items; each is several statements here. */
const LARGEST = 150

const engines = useEngines()
const { owner } = engines.db
let script = new Script(0, 0)
/** What the engines warned of, the latest last. */
const warnings: string[] = []
const MOST_WARNINGS = 40
const log = pino(
  { level: 'warn', base: null },
  {
    write(line: string) {
      warnings.push(line.trim().slice(0, 600))
      if (warnings.length > MOST_WARNINGS) warnings.shift()
    },
  },
)

it(`ends as the reference says on the real engine (${CASES} cases, seed ${SEED})`, async () => {
  console.log(`engine against reference: SEED=${SEED}`)
  const handlers = {
    scripted: ({ salt }: { salt?: unknown }, context: { [name: string]: unknown }) => {
      const { command_id, playbook, step, index, attempt } = context as unknown as {
        command_id: string
        playbook: string
        step: string
        index?: number
        attempt: number
      }
      const entry = Number(command_id.split(':')[1]!.split('#')[1])
      const end = script.ends({ playbook, salt: salt as string, step, entry, index, attempt })
      if (end.status === 'failed') throw new ToolError('as scripted', { retryable: end.retryable })
      return end.value
    },
  }
  for (let engine = 0; engine < 2; engine++)
    await engines.start(handlers as never, { leaseMs: 1000, pollMs: 100, log })
  let tried = 0
  await fc.assert(
    fc.asyncProperty(scenarios({ waits: ['timer'], cancels: true }), async (scenario) => {
      fc.pre(isSmall(scenario))
      try {
        checkRun(scenario, await run(scenario))
      } catch (error) {
        ;(error as Error).message += `\nThe last warnings of the engines:\n${warnings.join('\n')}`
        throw error
      }
      tried++
    }),
    { numRuns: CASES, seed: SEED, interruptAfterTimeLimit: MOST_MS, endOnFailure: true },
  )
  console.log(`${tried} cases`)
  // Each is a second or more of taking shards away; how many fit beyond these is the machine's.
  expect(tried).toBeGreaterThanOrEqual(Math.min(CASES, FEWEST))
  expect(await engines.differences()).toEqual([])
})

async function run(scenario: Scenario): Promise<Ran> {
  script = new Script(scenario.seed, scenario.failures)
  for (const sketch of scenario.sketches) await engines.register(playbookOf(sketch))
  const root = await engines.run(scenario.sketches[0]!.name, { salt: 'r' })
  let cancelled = false
  const began = performance.now()
  for (let turn = 0; !(await isOver(root)); turn++) {
    if (performance.now() - began > MOST_OF_A_CASE_MS) throw new Error(await whatIsLeft(root))
    cancelled = (await disturb(scenario, root, turn)) || cancelled
    // Disturbed as fast as the database answers, two engines on two cores would do nothing but take shards over.
    await pause(TURN_MS)
  }
  return { root, logs: await logsFrom(root), cancelled, leftovers: await leftovers() }
}

/** Chance from the scenario's own seed, but which moment it meets is the machine's. */
async function disturb({ chaos, seed }: Scenario, root: string, turn: number): Promise<boolean> {
  const chance = new Script(seed, 0).chances('turn', turn)
  if (chance[0]! < chaos.crash) {
    // As if its owner had died: the next heartbeat of anybody takes it.
    await owner('update noetl.execution_shard set owner = null where shard_id = noetl.fn_shard_of($1)', [
      root,
    ])
  }
  if (chance[1]! < chaos.again) {
    await owner(`insert into noetl.inbox (execution_id, shard_id, kind, body)
                 select execution_id, shard_id, kind, body from noetl.inbox limit 3`)
  }
  const told = (kind: string, status: string) =>
    owner(
      `insert into noetl.inbox (execution_id, shard_id, kind, body)
       select execution_id, noetl.fn_shard_of(execution_id), $1, '{"by": "p"}' from noetl.execution where status = $2`,
      [kind, status],
    )
  if (chance[2]! < chaos.pause) await told('pause', 'RUNNING')
  else await told('resume', 'PAUSED')
  if (turn > 0 && chance[3]! < chaos.cancel) {
    await owner(
      `insert into noetl.inbox (execution_id, shard_id, kind, body)
       values ($1, noetl.fn_shard_of($1), 'cancel', '{"by": "p", "reason": "enough"}')`,
      [root],
    )
    return true
  }
  return false
}

/** Nothing of it is anywhere but in the log and its projection. */
async function isOver(root: string): Promise<boolean> {
  const [row] = await owner<{ over: boolean }>(
    `select exists (select from noetl.execution where execution_id = $1 and end_time is not null)
        and not exists (select from noetl.checkpoint) and not exists (select from noetl.inbox) as over`,
    [root],
  )
  return row!.over
}

async function whatIsLeft(root: string): Promise<string> {
  const rows = await owner<{ row: string }>(
    `select 'checkpoint ' || (to_jsonb(c) - 'state')::text as row from noetl.checkpoint c
     union all select 'inbox ' || to_jsonb(i)::text from noetl.inbox i
     union all select 'command ' || to_jsonb(c)::text from noetl.command c
     union all select 'wait ' || to_jsonb(w)::text from noetl.wait w`,
  )
  const logs = [...(await logsFrom(root))].map(([id, events]) => describeLog(id, events))
  return [`not over after ${MOST_OF_A_CASE_MS} ms`, ...rows.map(({ row }) => row), ...logs].join('\n')
}

async function logsFrom(root: string): Promise<Map<string, ExecutionEvent[]>> {
  const rows = await owner('select * from noetl.event where execution_id >= $1 order by execution_id, seq', [
    root,
  ])
  const logs = new Map<string, ExecutionEvent[]>()
  for (const row of rows as unknown as ExecutionEvent[]) {
    const event = Object.fromEntries(
      Object.entries(row).filter(([, value]) => value !== null),
    ) as unknown as ExecutionEvent
    const log = logs.get(event.execution_id)
    if (log) log.push(event)
    else logs.set(event.execution_id, [event])
  }
  return logs
}

async function leftovers(): Promise<string[]> {
  const rows = await owner<{ row: string }>(
    `select 'command ' || command_id as row from noetl.command
     union all select 'wait ' || execution_id || ' ' || node_id from noetl.wait`,
  )
  return rows.map(({ row }) => row)
}

function isSmall({ sketches, seed, failures }: Scenario): boolean {
  try {
    return expected(sketches, sketches[0]!.name, 'r', new Script(seed, failures)).size <= LARGEST
  } catch (thrown) {
    if (thrown instanceof TooLarge) return false
    throw thrown
  }
}
