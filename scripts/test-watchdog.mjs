/**
 * Ends worker processes of vitest that no longer answer. A forked worker sometimes finishes its file and never tells vitest (seen in
 * 1 of about 10 runs, also by others: vitest-dev/vitest#7402), and vitest waits for it without a limit. A test that blocks its
 * process cannot be ended by its own timeout either. In both cases the worker is killed, so that the run ends and names the file.
 */
import { execFileSync } from 'node:child_process'

const WORKER = 'vitest/dist/workers/'
/** On a busy machine a worker takes minutes to start. */
const START_FACTOR = 5
/** What runs for longer is named, and again each time that this time has passed: a run that is cut off later says where it was. */
const NOTE_MS = 60_000

export class Watchdog {
  #running = new Map()
  #toBegin = 0
  #lastChange = performance.now()
  #timer

  /**
   * `idleMs`: how long vitest may do nothing after all files have ended, and START_FACTOR times that while it starts workers for
   * more of them; `stallMs`: how long nothing may happen while files run. `onSlow` is told what has run for NOTE_MS.
   */
  constructor({ idleMs, stallMs, onStuck, onSlow }) {
    this.idleMs = idleMs
    this.stallMs = stallMs
    this.onStuck = onStuck
    this.onSlow = onSlow
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
    this.#now(file, undefined)
  }

  testBegan(file, name) {
    this.#now(file, name)
  }

  testEnded(file) {
    this.#now(file, undefined)
  }

  fileEnded(file) {
    this.#running.delete(file)
    this.#lastChange = performance.now()
  }

  /** Each file that runs, with the test that it is at. */
  running() {
    return [...this.#running].map(([file, { test }]) => (test === undefined ? file : `${file} > ${test}`))
  }

  #now(file, test) {
    const since = performance.now()
    this.#running.set(file, { test, since, notes: 0 })
    this.#lastChange = since
  }

  #noteSlow() {
    for (const [file, at] of this.#running) {
      const ms = performance.now() - at.since
      if (ms < NOTE_MS * (at.notes + 1)) continue
      at.notes++
      this.onSlow?.({
        what: at.test === undefined ? file : `${file} > ${at.test}`,
        seconds: Math.round(ms / 1000),
      })
    }
  }

  #check() {
    this.#noteSlow()
    const quietMs = performance.now() - this.#lastChange
    const isIdle = this.#running.size === 0
    const idleMs = this.idleMs * (this.#toBegin > 0 ? START_FACTOR : 1)
    if (quietMs < (isIdle ? idleMs : this.stallMs)) return
    const workers = workerProcesses()
    this.#lastChange = performance.now()
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    this.onStuck({
      isIdle,
      running: this.running(),
      seconds: Math.round(quietMs / 1000),
      workers: workers.length,
    })
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
