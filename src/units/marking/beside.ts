/** Marks large documents in threads: ten megabytes take the parser seconds, in which a server would answer nobody. */
import { Worker } from 'node:worker_threads'
import { type ErrorDetails, StagedoorError } from '../../errors.ts'
import { type Marking, type MarkOptions, markDocument } from './mark.ts'

export interface Question {
  readonly given: string | Uint8Array
  readonly options: MarkOptions
}

export type Answer = { readonly marking: Marking } | { readonly refused: ErrorDetails; readonly hint: string }

/** In characters, with the text of the pieces before: less is marked sooner than a thread has started. */
const LARGE = 32_768
const PATIENCE_MS = 60_000
/** A thread takes as much memory as the parser wants, so the others wait for their turn. */
const MOST_THREADS = 2
const MEMORY_MB = 1024

/** Node 20 loads no TypeScript into a thread, so from the sources, in tests, nothing runs beside. */
const THREAD = import.meta.url.endsWith('.ts') ? undefined : new URL('./thread.js', import.meta.url)

let running = 0
const waiting: (() => void)[] = []

export async function markBeside(
  given: string | Buffer,
  options: MarkOptions,
  { patience = PATIENCE_MS }: { patience?: number } = {},
): Promise<Marking> {
  if (THREAD === undefined || sizeOf(given, options) <= LARGE) return markDocument(given, options)
  while (running >= MOST_THREADS) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  try {
    const answer = await askThread(THREAD, { given, options }, patience)
    if ('marking' in answer) return answer.marking
    throw new StagedoorError('document_unreadable', answer.refused, { hint: answer.hint })
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}

function sizeOf(given: string | Buffer, { previous = [] }: MarkOptions): number {
  return previous.reduce((size, { text = '' }) => size + text.length, given.length)
}

async function askThread(thread: URL, question: Question, patience: number): Promise<Answer> {
  const worker = new Worker(thread, {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  const tooMuch = (reason: string) =>
    new StagedoorError('document_unreadable', { source: question.options.sourceRef, reason })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Answer>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', (error: Error & { code?: string }) =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch('it takes too much memory') : error),
      )
      timer = setTimeout(
        () => reject(tooMuch(`it takes longer than ${patience / 1000} s: it is nested too deep`)),
        patience,
      )
    })
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
