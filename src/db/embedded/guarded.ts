/**
 * Starts a program that does not outlive us: in its own session, so that Ctrl-C in the terminal reaches
 * only us, and under a watcher that interrupts it when our end of a pipe closes, however we died.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { type Account, asAccount } from './account.ts'

/**
 * The shell becomes the program (`exec`), so the child's pid and exit are the program's own. The watcher
 * is forked twice: as a child of the postmaster, its end would count as a crashed backend.
 * A line on the pipe tells it that the program has ended and the pid may belong to another by now.
 */
const SCRIPT = `exec 3<&0 </dev/null
( (trap '' HUP INT TERM; read -r ended <&3 || kill -INT $$) >/dev/null 2>&1 & )
exec "$@" 3<&-`

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Guarded {
  readonly child: ChildProcess
  readonly exited: Promise<Exit>
}

export function startGuarded(
  program: string,
  args: readonly string[],
  account: Account | undefined,
  output: number | 'pipe',
): Guarded {
  const options: SpawnOptions = {
    ...asAccount(account),
    detached: true,
    stdio: ['pipe', output, output],
    // Nothing of the caller's PG*, LD_* or locale variables reaches the server.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  }
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', program, ...args], options)
  child.stdin?.on('error', () => {}) // The watcher may be gone; there is nobody left to tell.
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      child.stdin?.end('ended\n')
      resolve({ code, signal })
    })
  })
  exited.catch(() => {}) // Whoever awaits it sees the error; nobody has to.
  return { child, exited }
}
