/** Whether and when an attempt that failed is made again. */
import type { ResultValue } from '../event.ts'
import type { Retry } from '../playbook/definition.ts'
import type { Turn } from './turn.ts'
import { later } from './waits.ts'

/** How an attempt ended. */
export type Attempt =
  | { readonly status: 'completed'; readonly result: ResultValue }
  | {
      readonly status: 'failed'
      readonly error: string
      readonly retryable: boolean
      /** Not by itself: its loop ended early. */
      readonly cancelled?: true
    }

/** ISO 8601; undefined: that was the last one. */
export function retryAt(turn: Turn, retry: Retry, attempt: number, retryable: boolean): string | undefined {
  if (!retryable || attempt >= retry.attempts) return undefined
  return later(turn, Math.min(retry.backoff_ms * 2 ** (attempt - 1), retry.backoff_most_ms))
}

export function isDue(turn: Turn, retry_at: string): boolean {
  return Date.parse(retry_at) <= turn.ports.now().getTime()
}
