import { type FormEvent, useState } from 'react'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  /** Who will read the reason. */
  readonly reader: string
  reject(reason: string): void
  close(): void
}

/** Nothing is rejected without a reason. */
export function RejectDialog({ title, reader, reject, close }: Props) {
  const [reason, setReason] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    close()
    reject(reason.trim())
  }
  return (
    <Dialog title={title} close={close}>
      <form className="dialog-form" onSubmit={submit}>
        <label className="choice">
          <span>Why? {reader} will read this.</span>
          <textarea
            rows={4}
            required
            maxLength={2000}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-next" disabled={reason.trim() === ''}>
            Reject
          </button>
        </div>
      </form>
    </Dialog>
  )
}
