/** Runs other programs: their output is shown, or collected and returned when they fail. */
import { spawn } from 'node:child_process'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a program to its end and gives `{ code, output }`. With `show` it has our terminal, otherwise its
 * output is collected; LOG_LEVEL=debug sends it to stderr at once.
 * A signal that ends us ends the program first: a set-up step that runs on alone would write into the next one.
 */
export function run(command, args, { cwd, env = process.env, show = false } = {}) {
  const debug = ['debug', 'trace'].includes(process.env.LOG_LEVEL)
  const stdio = show ? 'inherit' : debug ? ['ignore', 2, 2] : ['ignore', 'pipe', 'pipe']
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio })
    const chunks = []
    child.stdout?.on('data', (chunk) => chunks.push(chunk))
    child.stderr?.on('data', (chunk) => chunks.push(chunk))

    let endedBy
    const pass = (signal) => {
      endedBy ??= signal
      // The terminal has signalled the child already, and many programs take a second Ctrl-C as "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    for (const signal of SIGNALS) process.on(signal, pass)
    const restore = () => {
      for (const signal of SIGNALS) process.off(signal, pass)
    }

    child.on('error', (error) => {
      restore()
      reject(error)
    })
    child.on('close', (code, signal) => {
      restore()
      // A program that has its own way to stop (vitest) has used it by now; then we stop the same way.
      if (endedBy && !show) process.kill(process.pid, endedBy)
      else resolve({ code: code ?? 128 + signalNumber(signal), output: Buffer.concat(chunks).toString() })
    })
  })
}

/** The same for a script that Node runs. */
export const runNode = (args, options) => run(process.execPath, args, options)

const signalNumber = (signal) => ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 })[signal] ?? 1
