/** What set-up says to the person who waits. All of it goes to stderr: stdout belongs to the command. */

/** An expected failure of set-up: shown as its message and remedy, without a stack. */
export class SetupError extends Error {
  constructor(message, { remedy, output, exitCode = 1 } = {}) {
    super(message)
    this.remedy = remedy
    this.output = output
    this.exitCode = exitCode
  }
}

/** The exit code of the product's catalogue for "the machine lacks something". */
export const EXIT_ENVIRONMENT = 9
export const EXIT_BAD_INPUT = 2

export const notice = (text) => process.stderr.write(`${text}\n`)

export const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`

/** Says what begins, counts the seconds on a terminal, and says how long it took. */
export async function step(title, work) {
  const started = performance.now()
  const live = process.stderr.isTTY === true
  process.stderr.write(live ? title : `${title}\n`)
  const redraw = () =>
    process.stderr.write(`\r${title} ${Math.round((performance.now() - started) / 1000)} s`)
  const timer = live ? setInterval(redraw, 1000) : undefined
  try {
    const result = await work()
    process.stderr.write(
      live ? `\r${title} done in ${seconds(started)}\n` : `  done in ${seconds(started)}\n`,
    )
    return result
  } catch (error) {
    process.stderr.write(
      live ? `\r${title} failed after ${seconds(started)}\n` : `  failed after ${seconds(started)}\n`,
    )
    throw error
  } finally {
    clearInterval(timer)
  }
}

/** Runs a command of ours; its number is the exit code, a SetupError is shown without a stack. */
export async function command(main) {
  try {
    const code = await main()
    if (code !== undefined) process.exitCode = code
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    if (error.output) process.stderr.write(error.output.endsWith('\n') ? error.output : `${error.output}\n`)
    notice(`\n${error.message}`)
    if (error.remedy) notice(error.remedy)
    process.exitCode = error.exitCode
  }
}
