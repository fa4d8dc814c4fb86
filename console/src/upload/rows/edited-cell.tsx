import { createContext, type KeyboardEvent, useContext, useRef, useState } from 'react'
import type { LineProblem, StagedRow } from '../../api/upload-types.ts'
import { useDraft } from '../problems/drafts.ts'

/** The cell that somebody types into. */
export interface OpenCell {
  readonly line: number
  readonly column: string
  readonly text: string
  /** The whole text is selected at first: typing replaces it. */
  readonly selected: boolean
}

interface Editing {
  readonly upload: string
  readonly open: OpenCell | undefined
  /** Without a text it is as it was before; `to` says where the focus goes, undefined: it is elsewhere already. */
  close(text: string | undefined, to: 'stay' | 'down' | 'right' | undefined): void
}

const RowsEditingContext = createContext<Editing | undefined>(undefined)
/** By context and not through the columns, because React would mount new columns as new components. */
export const RowsEditing = RowsEditingContext.Provider

/** A cell of the file: as it is stored, as it was edited, or while somebody types into it. */
export function EditedCell({ row, header }: { row: StagedRow; header: string }) {
  const { upload, open, close } = useContext(RowsEditingContext)!
  const draft = useDraft(upload, row.row_number, header)
  if (open?.line === row.row_number && open.column === header)
    return <CellInput label={`${header}, line ${row.row_number}`} open={open} close={close} />
  const stored = row.raw_payload[header] ?? ''
  if (draft === undefined) return <StoredCell row={row} header={header} value={stored} />
  const moved = stored !== draft.base
  const was = moved ? `Somebody changed it to “${stored}” meanwhile` : `It was “${stored}”`
  return (
    <span className={moved ? 'is-edited is-moved' : 'is-edited'} title={`${was}. Not saved.`}>
      {draft.text === '' ? 'empty' : draft.text}
      <span className="unseen">, edited, not saved. {was}.</span>
    </span>
  )
}

function StoredCell({ row, header, value }: { row: StagedRow; header: string; value: string }) {
  const about = ({ column }: LineProblem) => column === header
  const error = row.validation_errors.find(about)
  const warning = row.validation_warnings.find(about)
  const problem = error ?? warning
  if (problem === undefined) return <span title={value}>{value}</span>
  return (
    <span className={error ? 'wrong' : 'doubtful'} title={problem.message}>
      {value === '' ? 'empty' : value}
      <span className="unseen">: {problem.message}</span>
    </span>
  )
}

/** Enter and Tab keep what was typed, Escape leaves the cell as it was, going elsewhere keeps it, too. */
function CellInput({ label, open, close }: { label: string; open: OpenCell } & Pick<Editing, 'close'>) {
  const [text, setText] = useState(open.text)
  const closed = useRef(false)
  const end = (kept: string | undefined, to: Parameters<typeof close>[1]) => {
    if (closed.current) return
    closed.current = true
    close(kept, to)
  }
  function onKeyDown(event: KeyboardEvent) {
    // All keys belong to the text: also undo, which is the browser's own here.
    event.stopPropagation()
    const to = { Enter: 'down', Tab: 'right', Escape: 'stay' } as const
    if (!(event.key in to) || event.nativeEvent.isComposing) return
    event.preventDefault()
    end(event.key === 'Escape' ? undefined : text, to[event.key as keyof typeof to])
  }
  return (
    <input
      className="cell-input mono"
      aria-label={label}
      value={text}
      // biome-ignore lint/a11y/noAutofocus: it takes the place of the cell that has the focus
      autoFocus
      spellCheck={false}
      autoComplete="off"
      onFocus={(event) => (open.selected ? event.target.select() : undefined)}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => end(text, undefined)}
    />
  )
}
