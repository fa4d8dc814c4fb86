import { type FormEvent, useState } from 'react'
import type { ColumnEdit } from '../../api/uploads.ts'
import { Dialog } from '../../parts/dialog.tsx'

interface Props {
  /** Of the file, in its order. */
  readonly columns: readonly string[]
  replace(edit: ColumnEdit): void
  close(): void
}

/** One text of a column replaced by another in all lines of the file, or its empty cells filled. */
export function ReplaceDialog({ columns, replace, close }: Props) {
  const [column, setColumn] = useState(columns[0] ?? '')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    replace({ column, from: from === '' ? null : from, to: to === '' ? null : to })
  }
  return (
    <Dialog title="Replace in a column" close={close}>
      <form onSubmit={submit} className="dialog-form">
        <p className="muted">
          Every cell of the column with exactly this text gets the other one, in all lines of the file. The
          lines are checked again, and the plan is updated.
        </p>
        <label className="choice">
          <span>Column</span>
          <select value={column} onChange={(event) => setColumn(event.target.value)}>
            {columns.map((header) => (
              <option key={header}>{header}</option>
            ))}
          </select>
        </label>
        <label className="choice">
          <span>Text (nothing: empty cells)</span>
          <input
            className="mono"
            value={from}
            spellCheck={false}
            onChange={(event) => setFrom(event.target.value)}
          />
        </label>
        <label className="choice">
          <span>Replace by</span>
          <input
            className="mono"
            value={to}
            spellCheck={false}
            onChange={(event) => setTo(event.target.value)}
          />
        </label>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-next" disabled={from === to}>
            Replace and check these lines
          </button>
        </div>
      </form>
    </Dialog>
  )
}
