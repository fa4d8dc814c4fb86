import { type FormEvent, useState } from 'react'
import type { StagedRow } from '../../api/upload-types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { count } from '../../parts/format.ts'

interface Props {
  readonly row: StagedRow
  /** Of the file, in its order. */
  readonly columns: readonly string[]
  save(values: Record<string, string | null>): void
  close(): void
}

/** All cells of a line whose structure is wrong: put into their places, it is checked as if it had come like that. */
export function LineDialog({ row, columns, save, close }: Props) {
  const [cells, setCells] = useState<Record<string, string>>(() =>
    Object.fromEntries(columns.map((header) => [header, row.raw_payload[header] ?? ''])),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    save(Object.fromEntries(columns.map((header) => [header, cells[header] || null])))
  }
  return (
    <Dialog title={`Line ${count(row.row_number)}`} close={close}>
      <form onSubmit={submit} className="dialog-form">
        <p className="muted">{row.validation_errors.map(({ message }) => message).join(' ')}</p>
        <div className="line-cells">
          {columns.map((header) => (
            <label key={header} className="choice">
              <span>{header}</span>
              <input
                className="mono"
                value={cells[header]}
                spellCheck={false}
                autoComplete="off"
                onChange={(event) => setCells({ ...cells, [header]: event.target.value })}
              />
            </label>
          ))}
        </div>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-next">
            Save and check this line
          </button>
        </div>
      </form>
    </Dialog>
  )
}
