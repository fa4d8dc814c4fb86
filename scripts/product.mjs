/** Runs a built program in place of this process: its signals, its output and its exit code are the program's. */
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { SetupError } from './notice.mjs'

const ECHO_MS = 1500
const PARENT_CHECK_MS = 500

export async function become(file, argv) {
  if (!existsSync(file)) throw new SetupError(`There is no ${file}.`, { remedy: 'npm run build -- --force' })
  const received = dropEchoedSignals()
  if (process.env.npm_lifecycle_event) stopWithParent(received)
  process.argv = [process.execPath, file, ...argv]
  await import(pathToFileURL(file).href)
}

/**
 * On Ctrl-C the terminal signals every process in the foreground, and npm signals its script once more. A program
 * takes the second signal for a second Ctrl-C and skips its clean stop. A real second Ctrl-C comes later.
 */
function dropEchoedSignals() {
  const emit = process.emit
  const last = new Map()
  process.emit = function (event, ...rest) {
    if (event === 'SIGINT' || event === 'SIGTERM') {
      const now = performance.now()
      const echoed = now - (last.get(event) ?? Number.NEGATIVE_INFINITY) < ECHO_MS
      if (echoed) return true
      last.set(event, now)
    }
    return emit.call(this, event, ...rest)
  }
  return last
}

/** Whoever ends npm means this process, too; a shell between them dies of a signal without passing it on. */
function stopWithParent(received) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    // It was signalled already and is about to stop; a second signal would skip its clean stop.
    if (received.size === 0) process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  timer.unref()
}
