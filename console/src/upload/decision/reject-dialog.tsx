import { type FormEvent, useState } from 'react'
import type { UploadDetail } from '../../api/upload-types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { useSession } from '../../session/session.tsx'
import type { Doing } from './decision-card.tsx'

interface Props {
  readonly upload: UploadDetail
  readonly doing: Doing
  close(): void
}

export function RejectDialog({ upload, doing, close }: Props) {
  const { api } = useSession()
  const [reason, setReason] = useState('')
  async function reject(event: FormEvent) {
    event.preventDefault()
    close()
    await doing.run('Rejecting', () => api.uploads.reject(upload.upload_id, reason.trim()))
  }
  return (
    <Dialog title="Reject this plan" close={close}>
      <form className="dialog-form" onSubmit={reject}>
        <label className="choice">
          <span>Why? Whoever uploaded it will read this.</span>
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
