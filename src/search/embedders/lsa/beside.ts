/** Fits in a thread: twenty thousand texts take many seconds, in which a server would answer nobody. */
import { Worker } from 'node:worker_threads'
import type { Corpus } from './corpus.ts'
import { fitLsa } from './fitting.ts'
import type { LsaModel } from './model.ts'

/** In texts: fewer are fitted sooner than anyone would notice. */
const LARGE = 300
const MEMORY_MB = 4096

/** Node 20 loads no TypeScript into a thread, so from the sources, in tests, nothing runs beside. */
const THREAD = import.meta.url.endsWith('.ts') ? undefined : new URL('./thread.js', import.meta.url)

export async function fitBeside(corpus: Corpus, signal?: AbortSignal): Promise<LsaModel> {
  signal?.throwIfAborted()
  if (THREAD === undefined || corpus.starts.length <= LARGE) return fitLsa(corpus)
  const worker = new Worker(THREAD, {
    workerData: corpus,
    transferList: [corpus.starts, corpus.places, corpus.counts].map(({ buffer }) => buffer as ArrayBuffer),
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  let stop: (() => void) | undefined
  try {
    return await new Promise<LsaModel>((resolve, reject) => {
      stop = () => reject(signal?.reason)
      signal?.addEventListener('abort', stop, { once: true })
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  } finally {
    if (stop) signal?.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
