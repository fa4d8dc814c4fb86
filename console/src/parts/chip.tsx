import type { ReactNode } from 'react'

/** Colour and shape always go together, and words always stand beside them. */
export type Tone = 'ok' | 'held' | 'bad' | 'work' | 'stale'

export function Chip({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`chip is-${tone}`}>{children}</span>
}
