/**
 * Processes of a benchmark, for what one process cannot show. The parent asks, the child answers; a child ends when its parent does.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export interface BenchProcess {
  readonly pid: number
  /** Resolves with what the child's answer of this name returns. */
  ask<T>(name: string, argument?: unknown): Promise<T>
  /** It is asked to stop and given time for it. */
  stop(): Promise<void>
  /** kill -9: nothing of it is told to anybody. */
  kill(): Promise<void>
}

type Answers = Readonly<Record<string, (argument: never) => unknown>>

interface Question {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** `script` is next to the caller: `new URL('process.js', import.meta.url)`. Resolves when the child is ready. */
export async function startProcess(
  script: URL,
  input: unknown,
  env: Readonly<Record<string, string>> = {},
): Promise<BenchProcess> {
  const child = fork(script.pathname, [JSON.stringify(input)], { env: { ...process.env, ...env } })
  const waiting = new Map<number, (answer: Answer) => void>()
  let questions = 0
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (answer: Answer | 'ready') => {
      if (answer === 'ready') return resolve()
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
    })
    child.once('exit', (code, signal) => {
      const error = `the process ended (${signal ?? code})`
      reject(new Error(error))
      for (const [id, answer] of waiting) answer({ id, error })
      waiting.clear()
    })
  })
  await ready
  const ask = <T>(name: string, argument?: unknown): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = ++questions
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result as T) : reject(new Error(`${name}: ${error}`)),
      )
      child.send({ id, name, argument } satisfies Question, (error) => {
        if (error && waiting.delete(id)) reject(error)
      })
    })
  return {
    pid: child.pid!,
    ask,
    async stop() {
      if (hasEnded(child)) return
      const ended = once(child, 'exit')
      await ask('stop').catch(() => {})
      await ended
    },
    async kill() {
      if (hasEnded(child)) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts so many, a few at a time: each needs a second of a core before it is ready. */
export async function startProcesses(
  count: number,
  start: (index: number) => Promise<BenchProcess>,
): Promise<BenchProcess[]> {
  const started: BenchProcess[] = []
  let next = 0
  const startNext = async (): Promise<void> => {
    while (next < count) started.push(await start(next++))
  }
  try {
    await Promise.all(Array.from({ length: Math.min(STARTED_TOGETHER, count) }, startNext))
  } catch (error) {
    await stopAll(started)
    throw error
  }
  return started
}

const STARTED_TOGETHER = 4

export async function stopAll(processes: readonly BenchProcess[]): Promise<void> {
  await Promise.all(processes.map((one) => one.stop()))
}

export async function askAll<T>(
  processes: readonly BenchProcess[],
  name: string,
  argument?: unknown,
): Promise<T[]> {
  return Promise.all(processes.map((one) => one.ask<T>(name, argument)))
}

/** In the child: what it was started with. */
export function inputOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T
}

/** In the child, when it is ready. `stop` may take as long as it needs; then the process ends. */
export function serve({ stop, ...answers }: Answers & { stop(): Promise<void> }): void {
  const begun = process.cpuUsage()
  const all: Answers = { cpuMs: () => cpuMsSince(begun), ...answers }
  process.on('message', async ({ id, name, argument }: Question) => {
    try {
      const answer = name === 'stop' ? stop : all[name]
      if (answer === undefined) throw new Error('no such question')
      const result = await (answer as (argument: unknown) => unknown)(argument)
      process.send!({ id, result } satisfies Answer, () => name === 'stop' && process.exit(0))
    } catch (error) {
      process.send!({ id, error: (error as Error).message } satisfies Answer)
    }
  })
  process.once('disconnect', () => process.exit(1))
  process.send!('ready')
}

export function cpuMsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Of this machine. Nothing listens at it; somebody else may until it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
