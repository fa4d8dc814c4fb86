import { readFileSync } from 'node:fs'

/**
 * Starts a clock of the time that this process works, in milliseconds. The time that passes depends on what else the machine does;
 * this does not, so it fits for limits of what is computed here.
 */
export function cpuClock(): () => number {
  const began = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1000
  }
}

/** The shortest of several times: what a busy machine adds to one of them does not count. The first below `goalMs` is enough. */
export async function fastestMs(work: () => Promise<unknown>, goalMs: number): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY
  for (let run = 0; run < 15 && fastest >= goalMs; run++) {
    const began = performance.now()
    await work()
    fastest = Math.min(fastest, performance.now() - began)
  }
  return fastest
}

/**
 * The least CPU time of several runs, of this process and of these sessions of the server together: what a question costs, however busy the
 * machine is. Where the system does not count it, the time that passed.
 */
export async function leastCpuMs(
  work: () => Promise<unknown>,
  sessions: readonly number[],
  goalMs: number,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 15 && least >= goalMs; run++) {
    const own = cpuClock()
    const before = sessionsCpuMs(sessions)
    const began = performance.now()
    await work()
    const passed = performance.now() - began
    const after = sessionsCpuMs(sessions)
    least = Math.min(least, before === undefined || after === undefined ? passed : own() + after - before)
  }
  return least
}

/** Linux counts for each thread how long it ran, in nanoseconds; a session of the server is one. */
function sessionsCpuMs(sessions: readonly number[]): number | undefined {
  try {
    return sessions.reduce(
      (sum, pid) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6,
      0,
    )
  } catch {
    return undefined
  }
}
