/**
 * Edits of cells that are not saved, with undo and redo. Typing, fill, paste, replace and a corrected file each are one step.
 * They are kept outside of every component: a tab or page that is left is not drawn, rows are read page by page and again when
 * somebody else changes them, and what was edited must still be there. By person and upload, since another may sign in here.
 */
import { useMemo, useSyncExternalStore } from 'react'
import { useSession } from '../../session/session.tsx'

/** A cell whose text differs from what is stored. */
export interface Draft {
  readonly line: number
  readonly column: string
  /** What was stored when it was edited: saving is refused where somebody has changed it since. */
  readonly base: string
  readonly text: string
}

/** A cell that an edit gives another text. */
export interface CellEdit {
  readonly line: number
  readonly column: string
  /** What is stored. */
  readonly base: string
  readonly to: string
}

interface Step {
  readonly label: string
  readonly changes: readonly { line: number; column: string; before: string; after: string }[]
  /** Further typing into the same cell belongs to the same step. */
  readonly typedInto?: string | undefined
}

interface Book {
  readonly drafts: Map<string, Draft>
  /** Cell → what is stored, of every cell that a step is about: undo needs it also after a save. */
  readonly bases: Map<string, string>
  past: Step[]
  future: Step[]
  version: number
}

const MAX_STEPS = 200
const books = new Map<string, Book>()
const listeners = new Set<() => void>()

// Closing or reloading the page is the one thing that loses them; the browser asks first.
addEventListener('beforeunload', (event) => {
  if ([...books.values()].some(({ drafts }) => drafts.size > 0)) event.preventDefault()
})

const cellOf = (line: number, column: string) => `${line} ${column}`

function bookOf(key: string): Book {
  const found = books.get(key)
  if (found) return found
  const book: Book = { drafts: new Map(), bases: new Map(), past: [], future: [], version: 0 }
  books.set(key, book)
  return book
}

export interface Drafts {
  get(line: number, column: string): Draft | undefined
  all(): Draft[]
  /** One step; cells that have their text already are left out. Gives how many changed. */
  edit(label: string, edits: readonly CellEdit[]): number
  /** As edit, together with what was typed into the same cell before. */
  type(edit: CellEdit): void
  /** What was undone or done again; undefined: there is nothing. */
  undo(): string | undefined
  redo(): string | undefined
  /** These cells are stored with these texts now. */
  saved(cells: readonly { line: number; column: string; text: string }[]): void
  /** What was edited counts against what is stored now. */
  rebase(line: number, column: string, base: string): void
  /** All edits are dropped, as one step. */
  discard(): void
}

function createDrafts(key: string): Drafts {
  const book = () => bookOf(key)
  const changed = () => {
    book().version += 1
    for (const listener of listeners) listener()
  }
  const put = (line: number, column: string, text: string) => {
    const { drafts, bases } = book()
    const cell = cellOf(line, column)
    const base = bases.get(cell) ?? ''
    if (text === base) drafts.delete(cell)
    else drafts.set(cell, { line, column, base, text })
  }
  const step = (label: string, edits: readonly CellEdit[], typedInto?: string): number => {
    const { drafts, bases, past } = book()
    const changes = edits.flatMap(({ line, column, base, to }) => {
      const cell = cellOf(line, column)
      const before = drafts.get(cell)?.text ?? base
      if (before === to) return []
      if (!drafts.has(cell)) bases.set(cell, base)
      put(line, column, to)
      return [{ line, column, before, after: to }]
    })
    if (changes.length === 0) return 0
    const last = past.at(-1)
    if (typedInto !== undefined && last?.typedInto === typedInto) {
      const merged = { ...last.changes[0]!, after: changes[0]!.after }
      past.pop()
      if (merged.before !== merged.after) past.push({ label, changes: [merged], typedInto })
    } else past.push({ label, changes, typedInto })
    if (past.length > MAX_STEPS) past.shift()
    book().future = []
    changed()
    return changes.length
  }
  const move = (from: 'past' | 'future', to: 'past' | 'future', side: 'before' | 'after') => {
    const one = book()[from].pop()
    if (one === undefined) return undefined
    for (const change of one.changes) put(change.line, change.column, change[side])
    book()[to].push({ ...one, typedInto: undefined })
    changed()
    return one.label
  }
  return {
    get: (line, column) => book().drafts.get(cellOf(line, column)),
    all: () => [...book().drafts.values()],
    edit: (label, edits) => step(label, edits),
    type(edit) {
      step(`${edit.column} of line ${edit.line}`, [edit], cellOf(edit.line, edit.column))
    },
    undo: () => move('past', 'future', 'before'),
    redo: () => move('future', 'past', 'after'),
    saved(cells) {
      const { drafts, bases, past } = book()
      for (const { line, column, text } of cells) {
        const cell = cellOf(line, column)
        const now = drafts.get(cell)?.text
        bases.set(cell, text)
        // Typed on while it was on its way: what was typed since stays an edit.
        if (now !== undefined) put(line, column, now)
      }
      // Typing after a save is another step.
      const last = past.pop()
      if (last) past.push({ ...last, typedInto: undefined })
      changed()
    },
    rebase(line, column, base) {
      const { drafts, bases } = book()
      const cell = cellOf(line, column)
      bases.set(cell, base)
      put(line, column, drafts.get(cell)?.text ?? base)
      changed()
    },
    discard() {
      step(
        'discarding all edits',
        this.all().map(({ line, column, base }) => ({ line, column, base, to: base })),
      )
    },
  }
}

function useKey(upload: string): string {
  const { me } = useSession()
  return `${me.actor} ${upload}`
}

export function useDrafts(upload: string): Drafts {
  const key = useKey(upload)
  return useMemo(() => createDrafts(key), [key])
}

/** How many cells of the upload were changed and not saved. */
export function useDraftCount(upload: string): number {
  const key = useKey(upload)
  return useSyncExternalStore(subscribe, () => books.get(key)?.drafts.size ?? 0)
}

/** What was edited in this cell and not saved. */
export function useDraft(upload: string, line: number, column: string): Draft | undefined {
  const key = useKey(upload)
  return useSyncExternalStore(subscribe, () => books.get(key)?.drafts.get(cellOf(line, column)))
}

/** The step that undo and redo would be about. */
export function useHistory(upload: string): { readonly undo?: string; readonly redo?: string } {
  const key = useKey(upload)
  const undo = useSyncExternalStore(subscribe, () => books.get(key)?.past.at(-1)?.label)
  const redo = useSyncExternalStore(subscribe, () => books.get(key)?.future.at(-1)?.label)
  return { ...(undo !== undefined && { undo }), ...(redo !== undefined && { redo }) }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
