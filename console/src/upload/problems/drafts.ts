import { useCallback, useMemo, useSyncExternalStore } from 'react'
import type { StagedRow } from '../../api/upload-types.ts'
import { useSession } from '../../session/session.tsx'

/** What was typed into a cell and not saved. */
interface Draft {
  readonly row: StagedRow
  readonly column: string
  readonly text: string
}

/**
 * Outside of every component: a tab or page that is left is not drawn, and what was typed there must still be there when
 * one comes back. By person and upload, since another may sign in here.
 */
const kept = new Map<string, Map<string, Draft>>()
const listeners = new Set<() => void>()

function changed(): void {
  for (const listener of listeners) listener()
}

// Closing or reloading the page is the one thing that loses them; the browser asks first.
addEventListener('beforeunload', (event) => {
  if ([...kept.values()].some((drafts) => drafts.size > 0)) event.preventDefault()
})

export interface Drafts {
  get(row: StagedRow, column: string): string | undefined
  /** Without a text: it is the value again. */
  keep(row: StagedRow, column: string, text: string | undefined): void
  all(): Draft[]
}

const cellOf = (row: StagedRow, column: string) => `${row.row_number} ${column}`

export function useDrafts(upload: string): Drafts {
  const { me } = useSession()
  const key = `${me.actor} ${upload}`
  return useMemo(
    () => ({
      get: (row, column) => kept.get(key)?.get(cellOf(row, column))?.text,
      keep(row, column, text) {
        const drafts = kept.get(key) ?? new Map<string, Draft>()
        kept.set(key, drafts)
        if (text === undefined) drafts.delete(cellOf(row, column))
        else drafts.set(cellOf(row, column), { row, column, text })
        changed()
      },
      all: () => [...(kept.get(key)?.values() ?? [])],
    }),
    [key],
  )
}

/** How many cells of the upload were changed and not saved. */
export function useDraftCount(upload: string): number {
  const drafts = useDrafts(upload)
  const read = useCallback(() => drafts.all().length, [drafts])
  return useSyncExternalStore(subscribe, read)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
