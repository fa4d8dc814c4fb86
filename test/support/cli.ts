/** The built command line as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, onTestFailed } from 'vitest'
import { choosePort } from '../../src/kernel/postgres/embedded/cluster.ts'
import { until } from './until.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningCli {
  readonly child: ChildProcess
  output(): string
  /** Waits for a line that matches. */
  says(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>
  /** Sends the signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

/** Only what the test gives: a DATABASE_URL of the developer's shell must not leak in. Tests begin without the demo; one that wants it says so. */
function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }), NO_COLOR: '1', STAGEDOOR_DEMO: 'off', ...env }
}

/** With `input` on its standard input; without, nothing comes and nothing ends there. */
export async function runCli(
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<CliResult> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(env) })
  if (input !== undefined) child.stdin.end(input)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/**
 * On a pseudo terminal of that many columns; each question gets the answer. `dialogue`: what the screen must say, in this order, and
 * what is typed then. Stdout and stderr are one there.
 */
export async function runOnTerminal(
  args: readonly string[],
  env: Record<string, string> = {},
  {
    columns = 80,
    answer = 'n',
    dialogue = [],
  }: { columns?: number; answer?: string; dialogue?: readonly (readonly [RegExp, string])[] } = {},
): Promise<{ code: number | null; screen: string; unanswered: readonly RegExp[] }> {
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', `stty cols ${columns}; ${words}`, '/dev/null'], {
    env: { ...environment(env), TERM: 'dumb' },
  })
  let screen = ''
  let answered = 0
  const open = [...dialogue]
  let readTo = 0
  child.stdout.on('data', (chunk) => {
    screen += chunk
    const asked = dialogue.length > 0 ? 0 : screen.split('[y/N]').length - 1
    for (; answered < asked; answered++) child.stdin.write(`${answer}\n`)
    const found = open[0] && new RegExp(open[0][0].source, 'g')
    if (!found) return
    found.lastIndex = readTo
    if (!found.test(screen)) return
    readTo = found.lastIndex
    child.stdin.write(`${open.shift()![1]}\n`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, screen: screen.replaceAll('\r', ''), unanswered: open.map(([pattern]) => pattern) }
}

/**
 * What is still running at the end of the file is killed. `under`: a command that becomes it, such as `ip netns exec NAME`. `program`: another
 * build of the command line.
 */
export function startCli(
  args: readonly string[],
  env: Record<string, string> = {},
  { under = [], program = MAIN }: { under?: readonly string[]; program?: string } = {},
): RunningCli {
  const [first, ...words] = [...under, process.execPath, program, ...args]
  const child = spawn(first!, words, { env: environment(env) })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk
    })
  }
  const ended = once(child, 'close') as Promise<[number | null]>
  const kill = (): void => void child.kill('SIGKILL')
  afterAll(kill)
  try {
    // Registered while a test runs, afterAll does nothing.
    onTestFailed(kill)
  } catch {
    // In a hook.
  }
  return {
    child,
    output: () => text,
    async says(pattern, withinMs = 280_000) {
      const said = () => {
        if (child.exitCode !== null && !pattern.test(text))
          throw new Error(`it ended (${child.exitCode}):\n${text}`)
        return pattern.exec(text) ?? undefined
      }
      try {
        return await until(String(pattern), said, withinMs)
      } catch (error) {
        throw new Error(`${(error as Error).message}\nso far:\n${text}`)
      }
    },
    async end(signal = 'SIGINT') {
      child.kill(signal)
      return (await ended)[0]
    },
  }
}

/** Of those that the system gives to nobody by itself: until a program listens there, nobody else takes it. */
export function freePort(): Promise<number> {
  return choosePort(undefined)
}
