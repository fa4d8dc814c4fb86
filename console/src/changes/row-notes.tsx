import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { Change } from '../api/changes.ts'
import type { GridNotes } from '../grid/grid.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { counted } from '../parts/format.ts'
import { CommentForm, type Drafts, type Thread, ThreadView, threadsOf } from './comments.tsx'
import { nameOf } from './use-change.ts'
import './changes.css'

/** What a comment on a row of a grid is about. */
export interface RowPlace {
  readonly row_type: string
  readonly line: number
}

interface Options<Row> {
  placeOf(row: Row): RowPlace
  /** The column that a cell of the grid shows; null: the row itself; undefined: nothing that is talked about. */
  columnOf(column: string): string | null | undefined
  /** Columns that can be chosen. */
  readonly columns: readonly string[]
  /** The line that the address names: its comments are open. */
  readonly line: number | undefined
}

/** Of a row that is open: what a new comment is about (null: the row), and whether one is being written. */
interface Open {
  readonly column: string | null
  readonly isWriting: boolean
  /** Counts how often it was asked for: each time the field gets the focus. */
  readonly asked: number
}

const READING: Open = { column: null, isWriting: false, asked: 0 }
const NAMED: Open = { column: null, isWriting: true, asked: 0 }

/** Comments that begin in a grid: a button on each row and cell, and the threads below their row. `said` is for a live region. */
export function useRowNotes<Row>(
  change: Change | undefined,
  { placeOf, columnOf, columns, line }: Options<Row>,
): { readonly notes: GridNotes<Row> | undefined; readonly said: string } {
  const [open, setOpen] = useState<ReadonlyMap<string, Open | undefined>>(new Map())
  const [said, say] = useState('')
  const drafts = useRef<Drafts>(new Map())
  const openers = useRef(new Map<string, Element>())
  const comments = useLiveQuery(
    ['changes', change?.workspace_id, change?.number, 'comments'],
    (api) => api.changes.comments(nameOf(change!)),
    { enabled: change !== undefined },
  )
  const byRow = useMemo(() => threadsByRow(threadsOf(comments.data?.comments ?? [])), [comments.data])
  const { refresh } = comments
  const notes = useMemo((): GridNotes<Row> | undefined => {
    if (change === undefined) return undefined
    const stateOf = (place: RowPlace) => {
      const key = keyOf(place)
      return open.has(key) ? open.get(key) : place.line === line ? NAMED : undefined
    }
    const set = (place: RowPlace, next: Open | undefined) => setOpen(new Map(open).set(keyOf(place), next))
    const write = (place: RowPlace, column: string | null) => {
      const focused = document.activeElement
      if (focused !== null) openers.current.set(keyOf(place), focused.closest('[data-row]') ?? focused)
      set(place, { column, isWriting: true, asked: (stateOf(place)?.asked ?? 0) + 1 })
    }
    const close = (place: RowPlace) => {
      set(place, undefined)
      const opener = openers.current.get(keyOf(place))
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
    return {
      mark(row, cell, isNear) {
        const column = columnOf(cell)
        if (column === undefined) return null
        const place = placeOf(row)
        const threads = (byRow.get(keyOf(place)) ?? []).filter(
          ({ first }) => column === null || first.column_name === column,
        )
        const written = threads.flatMap((thread) => thread.comments).filter((one) => one.deleted_at === null)
        const about = placeText(place, column)
        if (threads.length > 0) {
          const isOpen = stateOf(place) !== undefined
          const isResolved = threads.every(({ first }) => first.resolved_at !== null)
          return (
            <button
              type="button"
              tabIndex={-1}
              className={isResolved ? 'grid-mark is-count is-resolved' : 'grid-mark is-count'}
              aria-expanded={isOpen}
              aria-label={`${counted(written.length, 'comment')} on ${about}${isResolved ? ', resolved' : ''}`}
              onClick={() => (isOpen ? close(place) : set(place, { ...READING, column }))}
            >
              <Bubble /> {written.length}
            </button>
          )
        }
        if (!change.may.comment || (column !== null && !isNear)) return null
        return (
          <button
            type="button"
            tabIndex={-1}
            className={column === null ? 'grid-mark is-row' : 'grid-mark'}
            aria-label={`Comment on ${about}`}
            aria-keyshortcuts="c"
            title={`Comment on ${about} (c)`}
            onClick={() => write(place, column)}
          >
            +
          </button>
        )
      },
      below(row) {
        const place = placeOf(row)
        const state = stateOf(place)
        if (state === undefined) return undefined
        return (
          <RowNotes
            change={change}
            place={place}
            threads={byRow.get(keyOf(place)) ?? []}
            state={state}
            columns={columns}
            drafts={drafts.current}
            choose={(column) => set(place, { ...state, column })}
            write={() => write(place, state.column)}
            close={() => close(place)}
            changed={() => void refresh()}
            sent={(column) => {
              say(`Your comment on ${placeText(place, column)} is sent.`)
              set(place, READING)
            }}
          />
        )
      },
      open(row, cell) {
        if (change.may.comment) write(placeOf(row), columnOf(cell) ?? null)
      },
    }
  }, [change, byRow, open, line, columns, placeOf, columnOf, refresh])
  return { notes, said }
}

interface RowNotesProps {
  readonly change: Change
  readonly place: RowPlace
  readonly threads: readonly Thread[]
  readonly state: Open
  readonly columns: readonly string[]
  readonly drafts: Drafts
  choose(column: string | null): void
  write(): void
  close(): void
  changed(): void
  sent(column: string | null): void
}

/** What was said about one row and its cells, and a field to say more. */
function RowNotes(props: RowNotesProps) {
  const { change, place, threads, state, columns, drafts, choose, write, close, changed, sent } = props
  const { column, isWriting, asked } = state
  const section = useRef<HTMLElement>(null)
  const about = placeText(place, column)
  const wasWriting = useRef(isWriting)
  // The field is gone with the focus that it had.
  useEffect(() => {
    if (wasWriting.current && !isWriting) section.current?.focus({ preventScroll: true })
    wasWriting.current = isWriting
  }, [isWriting])
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    close()
  }
  return (
    <section
      ref={section}
      className="row-notes"
      aria-label={`Comments on ${placeText(place, null)}`}
      tabIndex={-1}
      onKeyDown={press}
    >
      {threads.map((thread) => (
        <ThreadView
          key={thread.first.comment_id}
          change={change}
          thread={thread}
          drafts={drafts}
          changed={changed}
        />
      ))}
      {change.may.comment && isWriting && (
        <div className="thread row-notes-new">
          <span className="tiny thread-about">
            Comment on{' '}
            <select
              aria-label="What the comment is about"
              value={column ?? ''}
              onChange={(event) => choose(event.target.value || null)}
            >
              <option value="">{placeText(place, null)}</option>
              {[...new Set([...columns, ...(column === null ? [] : [column])])].map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </span>
          <div className="thread-foot">
            <CommentForm
              change={change}
              label="Comment"
              field={`Comment on ${about}`}
              about={{ ...place, ...(column !== null && { column }) }}
              drafts={drafts}
              asked={asked}
              changed={() => {
                changed()
                sent(column)
              }}
            />
          </div>
        </div>
      )}
      <div className="row-notes-foot">
        {change.may.comment && !isWriting && (
          <button type="button" className="button is-small" onClick={write}>
            Comment on this row
          </button>
        )}
        <button type="button" className="button is-small" onClick={close}>
          Close<span className="unseen"> the comments on {placeText(place, null)}</span>
        </button>
      </div>
    </section>
  )
}

function Bubble() {
  return (
    <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d="M2 2h12v9H8l-3.5 3V11H2z" fill="none" stroke="currentColor" strokeWidth="1.6" />
    </svg>
  )
}

function keyOf({ row_type, line }: RowPlace): string {
  return `${line} ${row_type}`
}

/** `line 3, spend`. A row that is deleted because the file lacks it has no line. */
function placeText({ row_type, line }: RowPlace, column: string | null): string {
  const row = line < 0 ? `a row of ${row_type} that the file lacks` : `line ${line}`
  return column === null ? row : `${row}, ${column}`
}

function threadsByRow(threads: readonly Thread[]): ReadonlyMap<string, Thread[]> {
  const rows = new Map<string, Thread[]>()
  for (const thread of threads) {
    const { row_type, line } = thread.first
    if (row_type === null || line === null) continue
    const key = keyOf({ row_type, line })
    rows.set(key, [...(rows.get(key) ?? []), thread])
  }
  return rows
}
