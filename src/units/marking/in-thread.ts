/** Marks large documents in a worker thread: the parser takes seconds for ten megabytes, which would block the server. */
import { type ErrorDetails, StagedoorError } from '../../kernel/errors.ts'
import { Semaphore } from '../../runtime/semaphore.ts'
import { isOutOfMemory, runInThread, ThreadTimeout, threadFile } from '../../runtime/worker-thread.ts'
import { type Marking, type MarkOptions, markDocument } from './mark.ts'

export interface Question {
  readonly given: string | Uint8Array
  readonly options: MarkOptions
}

export type Answer = { readonly marking: Marking } | { readonly refused: ErrorDetails; readonly hint: string }

/** Characters of the document and of its previous pieces. Less is marked faster than a thread starts. */
const LARGE = 32_768
const TIMEOUT_MS = 60_000
/** The parser needs much memory, so only a few threads run at once and the others wait. */
const MAX_THREADS = 2
const MAX_MEMORY_MB = 1024

const THREAD = threadFile('./thread.js', import.meta.url)
const threads = new Semaphore(MAX_THREADS)

export async function markInThread(
  given: string | Buffer,
  options: MarkOptions,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<Marking> {
  if (THREAD === undefined || sizeOf(given, options) <= LARGE) return markDocument(given, options)
  const question: Question = { given, options }
  const answer = await threads.within({}, () => askThread(THREAD, question, timeoutMs))
  if ('marking' in answer) return answer.marking
  throw new StagedoorError('document_unreadable', answer.refused, { hint: answer.hint })
}

function sizeOf(given: string | Buffer, { previous = [] }: MarkOptions): number {
  return previous.reduce((size, { text = '' }) => size + text.length, given.length)
}

async function askThread(thread: URL, question: Question, timeoutMs: number): Promise<Answer> {
  try {
    return await runInThread<Answer>(thread, { data: question, maxMemoryMb: MAX_MEMORY_MB, timeoutMs })
  } catch (error) {
    const reason = isOutOfMemory(error)
      ? 'it takes too much memory'
      : error instanceof ThreadTimeout
        ? `it takes longer than ${timeoutMs / 1000} s: it is nested too deep`
        : undefined
    if (reason === undefined) throw error
    throw new StagedoorError('document_unreadable', { source: question.options.sourceRef, reason })
  }
}
