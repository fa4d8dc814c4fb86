/**
 * One execution of 10,000 steps, one after the other: does a step at the end of a long log cost what it did at its beginning?
 * Two ways to be long: a step that leads back to itself by an arc, and a sequential loop. The slower one is the headline.
 */
import type { Benchmark, Contender, Figures, Task } from '../benchmark.ts'
import { atMost } from '../criteria.ts'
import { expression, openExecutions } from '../executions.ts'
import { definePlaybook, type Playbook } from '../product.ts'
import { median, medianOf, perSecond, worstOf } from '../statistics.ts'

/** The first 1,000 of 10,000 against the last. */
const SHARE = 0.1
/** Not measured, on the same sessions: statements are planned and code is compiled at the beginning, which would flatter. */
const WARM_UP = 300

const arc = definePlaybook({
  name: 'arc',
  args: { steps: 0 },
  steps: [
    {
      step: 'count',
      tool: 'handler',
      call: 'noop',
      args: { n: expression('has(steps.count) ? steps.count.result : 0') },
      next: [{ when: 'result < args.steps', step: 'count' }],
    },
  ],
})

const loop = definePlaybook({
  name: 'loop',
  args: { steps: 0 },
  steps: [
    {
      step: 'numbers',
      tool: 'handler',
      call: 'list',
      args: { steps: expression('args.steps') },
      next: 'each',
    },
    {
      step: 'each',
      tool: 'handler',
      call: 'noop',
      args: { n: expression('item') },
      loop: { in: expression('steps.numbers.result'), mode: 'sequential' },
    },
  ],
})

export const longloop: Benchmark = {
  name: 'longloop',
  about: 'one execution of 10,000 sequential steps: the last 1,000 against the first 1,000',
  unit: 'steps',
  size: { full: 10_000, quick: 3000 },
  rounds: { full: 5, quick: 3 },
  freshDatabase: 'contender',
  contenders: [
    contender('arc', 'a step that leads back to itself by an arc', arc),
    contender('loop', 'a sequential loop', loop),
  ],
  summarise(rounds) {
    const arc_ratio_last_first = medianOf(rounds, 'arc', 'ratio_last_first')
    const loop_ratio_last_first = medianOf(rounds, 'loop', 'ratio_last_first')
    const arc_steps_per_s = medianOf(rounds, 'arc', 'steps_per_s')
    const loop_steps_per_s = medianOf(rounds, 'loop', 'steps_per_s')
    return {
      ratio_last_first: Math.max(arc_ratio_last_first, loop_ratio_last_first),
      arc_ratio_last_first,
      loop_ratio_last_first,
      steps_per_s: Math.min(arc_steps_per_s, loop_steps_per_s),
      arc_steps_per_s,
      loop_steps_per_s,
      missed: Math.max(worstOf(rounds, 'arc', 'missed'), worstOf(rounds, 'loop', 'missed')),
      doubled: Math.max(worstOf(rounds, 'arc', 'doubled'), worstOf(rounds, 'loop', 'doubled')),
    }
  },
  criteria: [
    { field: 'ratio_last_first', bar: atMost(1.3), goal: atMost(1.05) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
}

function contender(name: string, about: string, playbook: Playbook): Contender {
  return { name, about, run: (task) => runLong(playbook, task) }
}

async function runLong(playbook: Playbook, { database, size }: Task): Promise<Figures> {
  let began: number[] = []
  let seen = new Map<number, number>()
  const executions = await openExecutions(database.workerUrl, {
    list: ({ steps }) => Array.from({ length: steps as number }, (_, index) => index),
    noop: ({ n }) => {
      began.push(performance.now())
      seen.set(n as number, (seen.get(n as number) ?? 0) + 1)
      return (n as number) + 1
    },
  })
  await executions.register(playbook)
  await executions.run(playbook.name, { steps: WARM_UP })
  began = []
  seen = new Map()
  const started = performance.now()
  const id = await executions.run(playbook.name, { steps: size })
  const elapsed = performance.now() - started
  await executions.stop()

  const looking = await database.superuser()
  const { rows } = await looking.query(
    `select count(*)::int as ended from noetl.event
      where execution_id = $1 and event_type = 'command.completed' and node_name <> 'numbers'`,
    [id],
  )
  return {
    ...firstAndLast([...began, started + elapsed]),
    steps_per_s: perSecond(size, elapsed),
    missed: size - Math.min(seen.size, rows[0].ended),
    doubled: Math.max(0, rows[0].ended - size) + [...seen.values()].filter((times) => times > 1).length,
  }
}

/** `ratio_last_first` is of the whole time; the ratio of medians leaves out what came in between, as a checkpoint. */
function firstAndLast(began: readonly number[]): Figures {
  const taken = began.slice(1).map((at, index) => at - began[index]!)
  const count = Math.max(1, Math.floor(taken.length * SHARE))
  const first = taken.slice(0, count)
  const last = taken.slice(-count)
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  return {
    first_ms: total(first),
    last_ms: total(last),
    ratio_last_first: total(last) / total(first),
    ratio_last_first_p50: median(last) / median(first),
  }
}
