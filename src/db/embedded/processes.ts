/** Questions about processes that are not our children: does it live, is it still the same one? */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  // A zombie still takes signals. In a container whose first process reaps nobody it stays for ever.
  return !['Z', 'X'].includes(statFields(pid)?.[0] ?? '')
}

/**
 * Tells a process from a later one with the same pid. Undefined where the system does not say.
 * Start times count from boot, so the boot belongs to it: small machines boot into the same pids and ticks.
 */
export function identityOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // Field 22 of the file; the two before the closing bracket are cut off.
    const started = statFields(pid)?.[19]
    return started === undefined
      ? undefined
      : `${readText('/proc/sys/kernel/random/boot_id')?.trim()}:${started}`
  }
  return ps(pid, 'lstart')
}

/** True when this process is the postmaster of the data folder, which works inside it. */
export function serves(pid: number, folder: string): boolean {
  return stands(pid, folder) || (ps(pid, 'command')?.includes(`postgres -D ${folder} `) ?? false)
}

/** Every server process inside the folder: a postmaster and its backends all are. Only Linux can tell. */
export function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stands(pid, folder) && isAlive(pid))
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // It has just ended.
  }
}

/** Asks until it is so, or the time is up. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  milliseconds: number,
): Promise<boolean> {
  const end = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > end) return false
    await delay(10)
  }
  return true
}

/** The fields of /proc/<pid>/stat from the third on; the second is a name that may hold anything. */
function statFields(pid: number): string[] | undefined {
  const line = readText(`/proc/${pid}/stat`)
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')
}

/** A shell in which somebody looks at the folder is no server. */
function stands(pid: number, folder: string): boolean {
  try {
    const program = readlinkSync(`/proc/${pid}/exe`)
    return readlinkSync(`/proc/${pid}/cwd`) === folder && /\/postgres( \(deleted\))?$/.test(program)
  } catch {
    return false // Gone, not ours to look into, or not Linux.
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    const options = { encoding: 'utf8', env: { LC_ALL: 'C', PATH: process.env.PATH }, stdio: 'pipe' } as const
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], options).trim() || undefined
  } catch {
    return undefined
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
