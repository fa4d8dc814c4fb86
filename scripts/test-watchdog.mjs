/**
 * Ends worker processes of vitest that no longer answer. A forked worker sometimes finishes its file and never tells vitest (seen in
 * 1 of about 10 runs, also by others: vitest-dev/vitest#7402), and vitest waits for it without a limit. A test that blocks its
 * process cannot be ended by its own timeout either. In both cases the worker is killed, so that the run ends and names the file.
 */
import { execFileSync } from 'node:child_process'

const WORKER = 'vitest/dist/workers/'
/** On a busy machine a worker takes minutes to start. */
const START_FACTOR = 5

export class Watchdog {
  #running = new Map()
  #toBegin = 0
  #lastChange = performance.now()
  #timer

  /**
   * `idleMs`: how long vitest may do nothing after all files have ended, and START_FACTOR times that while it starts workers for
   * more of them; `stallMs`: how long nothing may happen while files run.
   */
  constructor({ idleMs, stallMs, onStuck }) {
    this.idleMs = idleMs
    this.stallMs = stallMs
    this.onStuck = onStuck
  }

  begin(files) {
    this.#toBegin = files
    this.#lastChange = performance.now()
    this.#timer = setInterval(() => this.#check(), Math.min(5000, this.idleMs / 2)).unref()
  }

  end() {
    clearInterval(this.#timer)
  }

  fileBegan(file) {
    this.#toBegin--
    this.#running.set(file, undefined)
    this.#lastChange = performance.now()
  }

  testBegan(file, name) {
    this.#running.set(file, name)
    this.#lastChange = performance.now()
  }

  testEnded(file) {
    this.#running.set(file, undefined)
    this.#lastChange = performance.now()
  }

  fileEnded(file) {
    this.#running.delete(file)
    this.#lastChange = performance.now()
  }

  #check() {
    const quietMs = performance.now() - this.#lastChange
    const isIdle = this.#running.size === 0
    const idleMs = this.idleMs * (this.#toBegin > 0 ? START_FACTOR : 1)
    if (quietMs < (isIdle ? idleMs : this.stallMs)) return
    const workers = workerProcesses()
    if (workers.length === 0) return
    const running = [...this.#running].map(([file, test]) =>
      test === undefined ? file : `${file} > ${test}`,
    )
    this.#lastChange = performance.now()
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    this.onStuck({ isIdle, running, seconds: Math.round(quietMs / 1000) })
  }
}

/** Vitest's workers are children of its own process, like the database servers that the suites started. */
function workerProcesses() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return Number(parent) === process.pid && args.includes(WORKER) ? [Number(pid)] : []
  })
}
