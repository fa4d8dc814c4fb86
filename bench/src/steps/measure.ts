/** What every contender measures in the same way. Runs in a process of its own: the last line of its output is its figures. */
import { percentile, perSecond } from '../statistics.ts'
import { AT_ONCE, STEPS, type StepsTask } from './steps.ts'

export interface Runner {
  /** Runs the execution of this number, from its start until its end is durable. */
  run(execution: number): Promise<void>
  /** Steps and executions that the tables say have ended. */
  ended(): Promise<{ steps: number; executions: number }>
  stop(): Promise<void>
}

/** Counts what ran, and when. To be called by every step. */
export class Ran {
  private readonly times = new Map<string, number>()
  private readonly at = new Map<number, number[]>()

  step(execution: number, step: number): void {
    const key = `${execution}:${step}`
    this.times.set(key, (this.times.get(key) ?? 0) + 1)
    const began = this.at.get(execution)
    if (began === undefined) this.at.set(execution, [performance.now()])
    else began.push(performance.now())
  }

  get different(): number {
    return this.times.size
  }

  get doubled(): number {
    return [...this.times.values()].filter((times) => times > 1).length
  }

  /** From the beginning of a step to that of the next one: what a durable step costs. */
  between(execution: number): number[] {
    const began = this.at.get(execution) ?? []
    return began.slice(1).map((at, index) => at - began[index]!)
  }
}

const WARM_UP_MS = 1000

export async function measure(runner: Runner, ran: Ran, { executions, alone }: StepsTask): Promise<void> {
  let next = 0
  const runUpTo = async (end: number): Promise<void> => {
    const runNext = async (): Promise<void> => {
      while (next < end) await runner.run(next++)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, runNext))
  }
  // Every contender is a fresh process, which has nothing compiled and no session open. The same time for all, not the same number.
  const warm = performance.now() + WARM_UP_MS
  while (performance.now() < warm) await runUpTo(next + AT_ONCE)
  const first = next
  const cpu = process.cpuUsage()
  const started = performance.now()
  await runUpTo(first + executions)
  const elapsed = performance.now() - started
  const used = process.cpuUsage(cpu)

  const taken: number[] = []
  const firstAlone = next
  for (let execution = firstAlone; execution < firstAlone + alone; execution++) {
    const begun = performance.now()
    await runner.run(execution)
    taken.push(performance.now() - begun)
  }
  const ended = await runner.ended()
  await runner.stop()
  const all = firstAlone + alone
  const single = Array.from({ length: alone }, (_, index) => ran.between(firstAlone + index)).flat()
  console.log(
    JSON.stringify({
      steps_per_s: perSecond(executions * STEPS, elapsed),
      single_p50_ms: percentile(single, 0.5),
      single_execution_p50_ms: percentile(taken, 0.5),
      cpu_ms: (used.user + used.system) / 1000,
      missed: all * STEPS - Math.min(ran.different, ended.steps) + (all - ended.executions),
      doubled: ran.doubled + Math.max(0, ended.steps - all * STEPS),
    }),
  )
  process.exit(0)
}

export function taskGiven(): StepsTask {
  return JSON.parse(process.argv[2] ?? '{}') as StepsTask
}
