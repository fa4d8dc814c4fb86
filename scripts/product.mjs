/** Hands this process over to a built program: its signals, its output and its exit code are the program's. */
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { SetupError } from './notice.mjs'

const ECHO_MS = 1500
const PARENT_CHECK_MS = 500

export async function become(file, argv) {
  if (!existsSync(file)) throw new SetupError(`There is no ${file}.`, { remedy: 'npm run build -- --force' })
  const heard = dropEchoedSignals()
  if (process.env.npm_lifecycle_event) stopWithParent(heard)
  process.argv = [process.execPath, file, ...argv]
  await import(pathToFileURL(file).href)
}

/**
 * On Ctrl-C the terminal tells every process in the foreground, and npm tells its script once more. A program
 * takes the second one for an impatient person and skips its clean stop. A real second Ctrl-C comes later.
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

/** Whoever ends npm means us; a shell between npm and us dies of a signal without passing it on. */
function stopWithParent(heard) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    // Told already, it is about to stop; once more would be an impatient person's.
    if (heard.size === 0) process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  timer.unref()
}
