/** CPU time of the server's processes: other load on the machine hardly moves it, as it does every rate. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { BenchError, EXIT_ENVIRONMENT } from './errors.ts'

/** As the kernel counts for every program that asks. */
const MS_PER_TICK = 10

interface ProcessTimes {
  readonly parent: number
  readonly ownMs: number
  /** Of children that have ended. */
  readonly childrenMs: number
  readonly threads: number
}

/** Milliseconds that all processes of the server have used so far. `client` is a session of it. */
export async function postgresCpuMs(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const postmaster = timesOf(rows[0]!.pid)?.parent
  if (postmaster === undefined)
    throw new BenchError('The CPU time of the server cannot be read on this system.', {
      remedy: 'Run this benchmark on Linux, on the machine of the server.',
      exitCode: EXIT_ENVIRONMENT,
    })
  let ms = 0
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? timesOf(Number(name)) : undefined
    if (Number(name) === postmaster && times) ms += times.ownMs + times.childrenMs
    else if (times?.parent === postmaster) ms += preciseMs(Number(name), times)
  }
  return ms
}

/** Milliseconds that the process of one session has used so far, to the microsecond where the kernel counts so. */
export function sessionCpuMs(pid: number): number {
  const times = timesOf(pid)
  return times === undefined ? 0 : preciseMs(pid, times)
}

/** Milliseconds that this process has used so far, all its threads; undefined when it has ended. */
export function processCpuMs(pid: number): number | undefined {
  return timesOf(pid)?.ownMs
}

/** An idle session uses less than a tick in a second. The scheduler counts nanoseconds, for each thread by itself. */
function preciseMs(pid: number, { ownMs, threads }: ProcessTimes): number {
  if (threads !== 1) return ownMs
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    // This kernel does not count so, or the process has ended meanwhile.
    return ownMs
  }
}

/** Cores that were busy on this machine with anything, as milliseconds so far. */
export function machineBusyMs(): number {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user! + nice! + system! + irq! + softirq! + steal!) * MS_PER_TICK
}

function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may contain anything.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    const ticks = (first: number): number => (Number(fields[first]) + Number(fields[first + 1])) * MS_PER_TICK
    return { parent: Number(fields[1]), ownMs: ticks(11), childrenMs: ticks(13), threads: Number(fields[17]) }
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
