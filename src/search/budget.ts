/** How long a question waits for what is not in this process, and what counts as its being away. */
import { EmbedderUnavailable } from './embedders/embedder.ts'
import { StoreUnavailable } from './stores/store.ts'

export class TookTooLong extends Error {}

export async function withinBudget<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TookTooLong())
      abort.abort()
    }, ms)
  })
  try {
    const working = work(abort.signal)
    working.catch(() => {})
    return await Promise.race([working, late])
  } finally {
    clearTimeout(timer)
  }
}

export function isOutage(error: unknown): boolean {
  return (
    error instanceof EmbedderUnavailable || error instanceof StoreUnavailable || error instanceof TookTooLong
  )
}
