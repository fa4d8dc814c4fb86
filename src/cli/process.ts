/** Signals and crashes of a process that stays: `start` and `worker`. */
import type { Database } from '../kernel/postgres/open.ts'

/** How long a stop may take that interrupts a start or follows the loss of the database. */
const MAX_ABRUPT_STOP_MS = 10_000
/** How long giving back leases may take before a crashed process ends. */
const MAX_CRASH_MS = 3000

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. One listener serves both and is never removed:
 * a signal between two listeners would kill the process, and npm sends every Ctrl-C a second time.
 */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    let isStopping = false
    const onSignal = (): void => {
      if (isStopping) process.exit(130)
      isStopping = true
      resolve()
    }
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  })
}

/** Waits for a start. A signal meanwhile ends the process soon, even if the start never settles. */
export async function startUntilStopped<T>(stopped: Promise<void>, starting: Promise<T>): Promise<T> {
  const signal = stopped.then(() => 'stopped' as const)
  const first = await Promise.race([signal, starting.then(() => 'started' as const)])
  if (first === 'stopped') setTimeout(() => process.exit(130), MAX_ABRUPT_STOP_MS).unref()
  return starting
}

/**
 * Waits for a signal to stop, or until the embedded server cannot be restarted: then throws, so that the process ends with an exit
 * code other than 0 and its supervisor can act. Work that waits for the database does not delay that end.
 */
export async function untilStoppedOrLost(stopped: Promise<void>, database: Database): Promise<void> {
  const error = await Promise.race([stopped, database.server?.lost ?? stopped])
  if (!error) return
  setTimeout(() => {
    process.stderr.write(`${error.message}\n`)
    process.exit(error.exitCode)
  }, MAX_ABRUPT_STOP_MS).unref()
  throw error
}

/**
 * An exception or a rejection that nobody handled ends the process, as Node does by default; but first `crash` names the jobs and
 * steps that run and gives their leases back. Returns what uninstalls it.
 */
export function onCrash(crash: (error: unknown) => Promise<unknown>): () => Promise<void> {
  let isCrashing = false
  const onException = (error: unknown): void => {
    if (isCrashing) return
    isCrashing = true
    process.exitCode = 1
    setTimeout(() => process.exit(1), MAX_CRASH_MS)
    crash(error)
      .then(() => console.error(error))
      .finally(() => process.exit(1))
  }
  process.on('uncaughtException', onException)
  return async () => {
    process.off('uncaughtException', onException)
  }
}
