import type { ReactNode } from 'react'

/** A status with a colour, a shape and always a word. */
export type Tone = 'ok' | 'held' | 'bad' | 'work' | 'stale'

export function Chip({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`chip is-${tone}`}>{children}</span>
}
