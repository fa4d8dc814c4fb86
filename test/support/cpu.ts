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
