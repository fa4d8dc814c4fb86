/** Runs one computation in a thread of its own, so that the process answers others meanwhile. The thread ends with its answer. */
import { type Transferable, Worker } from 'node:worker_threads'

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

/** Resolves with the first message of the thread. Rejects with its error, a ThreadTimeout or the signal's reason. */
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
