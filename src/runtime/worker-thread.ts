/** Threads, so that the process answers others meanwhile: for one computation, or for as long as somebody asks. */
import { parentPort, type Transferable, Worker } from 'node:worker_threads'

interface ThreadOptions {
  readonly data: unknown
  /** Moved to the thread instead of copied. */
  readonly transfer?: readonly Transferable[]
  readonly maxMemoryMb: number
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

/** The thread gave no answer in its time. */
export class ThreadTimeout extends Error {
  override readonly name = 'ThreadTimeout'
}

/** The thread ends with its answer. Resolves with its first message. Rejects with its error, a ThreadTimeout or the signal's reason. */
export async function runInThread<Answer>(file: URL, options: ThreadOptions): Promise<Answer> {
  const { data, transfer = [], maxMemoryMb, timeoutMs, signal } = options
  signal?.throwIfAborted()
  const worker = new Worker(file, {
    workerData: data,
    transferList: [...transfer],
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  })
  let timer: NodeJS.Timeout | undefined
  let abort: (() => void) | undefined
  try {
    return await new Promise<Answer>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      // Without it a thread that ends without an answer would be waited for without end.
      worker.once('exit', (code) =>
        reject(new Error(`The thread ended with code ${code} and gave no answer`)),
      )
      abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      if (timeoutMs !== undefined) {
        timer = setTimeout(
          () => reject(new ThreadTimeout(`The thread took longer than ${timeoutMs / 1000} s`)),
          timeoutMs,
        )
      }
    })
  } finally {
    clearTimeout(timer)
    if (abort) signal?.removeEventListener('abort', abort)
    await worker.terminate()
  }
}

interface Command {
  readonly number: number
  readonly kind: string
  readonly asked: unknown
}

type Reply = { readonly number: number } & ({ readonly answer: unknown } | { readonly error: string })

interface Pending {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every command
  readonly resolve: (answer: any) => void
  readonly reject: (error: Error) => void
}

/** The thread has ended, with what it held. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
}

/** A thread that keeps what it holds between commands (serveCommands). A process that waits for no answer may end. */
export class CommandThread {
  private readonly worker: Worker
  private readonly pending = new Map<number, Pending>()
  private last = 0
  private lost: ThreadLost | undefined

  /** `about` names the thread in messages. */
  constructor(file: URL, about: string) {
    this.worker = new Worker(file)
    this.worker.unref()
    this.worker.on('message', (reply: Reply) => this.settle(reply))
    this.worker.on('error', (cause) => this.lose(new ThreadLost(`The thread of ${about} failed`, { cause })))
    this.worker.on('exit', (code) => this.lose(new ThreadLost(`The thread of ${about} ended (${code})`)))
  }

  get isIdle(): boolean {
    return this.pending.size === 0
  }

  /** Rejects with what the command throws, as an Error with its message, or with a ThreadLost. */
  run<Answer>(kind: string, asked: unknown, transferred: readonly Transferable[] = []): Promise<Answer> {
    const { lost } = this
    if (lost !== undefined) return Promise.reject(lost)
    return new Promise((resolve, reject) => {
      const number = ++this.last
      if (this.pending.size === 0) this.worker.ref()
      this.pending.set(number, { resolve, reject })
      this.worker.postMessage({ number, kind, asked } satisfies Command, [...transferred])
    })
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }

  private settle(reply: Reply): void {
    const waiting = this.pending.get(reply.number)
    this.pending.delete(reply.number)
    if (this.pending.size === 0) this.worker.unref()
    if ('error' in reply) waiting?.reject(new Error(reply.error))
    else waiting?.resolve(reply.answer)
  }

  private lose(lost: ThreadLost): void {
    this.lost ??= lost
    for (const { reject } of this.pending.values()) reject(this.lost)
    this.pending.clear()
  }
}

/** In the thread: answers commands one after the other. */
export function serveCommands(run: (kind: string, asked: unknown) => unknown): void {
  const port = parentPort!
  let before = Promise.resolve()
  port.on('message', ({ number, kind, asked }: Command) => {
    before = before.then(async () => {
      let reply: Reply
      try {
        reply = { number, answer: await run(kind, asked) }
      } catch (error) {
        reply = { number, error: (error as Error).message }
      }
      port.postMessage(reply)
    })
  })
}

export function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/**
 * The compiled file `name` in the folder of the module `base` (its import.meta.url). Undefined where the sources run, in tests: Node 20 loads
 * no TypeScript into a thread, so the caller computes in its own.
 */
export function threadFile(name: string, base: string): URL | undefined {
  return base.endsWith('.ts') ? undefined : new URL(name, base)
}
