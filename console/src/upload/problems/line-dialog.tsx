import { type FormEvent, useState } from 'react'
import type { Reading, StagedRow } from '../../api/upload-types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { count } from '../../parts/figures.ts'
import { headersOf } from '../headers.ts'

interface Props {
  readonly row: StagedRow
  readonly reading: Reading | null
  save(values: Record<string, string | null>): void
  close(): void
}

/** All cells of a line whose structure is wrong: put into their places, it is checked as if it had come like that. */
export function LineDialog({ row, reading, save, close }: Props) {
  const headers = headersOf(reading)
  const [cells, setCells] = useState<Record<string, string>>(() =>
    Object.fromEntries(headers.map((header) => [header, row.raw_payload[header] ?? ''])),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    save(Object.fromEntries(headers.map((header) => [header, cells[header] || null])))
  }
  return (
    <Dialog title={`Line ${count(row.row_number)}`} close={close}>
      <form onSubmit={submit} className="dialog-form">
        <p className="muted">{row.validation_errors.map(({ message }) => message).join(' ')}</p>
        <div className="line-cells">
          {headers.map((header) => (
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
            Check this line again
          </button>
        </div>
      </form>
    </Dialog>
  )
}
