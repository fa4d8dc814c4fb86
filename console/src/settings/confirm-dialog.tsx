import type { ReactNode } from 'react'
import type { Failure } from '../api/failure.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FailureNote } from '../parts/failure-note.tsx'

interface Props {
  readonly title: string
  /** What will happen, in sentences. */
  readonly children: ReactNode
  readonly action: string
  readonly busy: boolean
  readonly failure: Failure | undefined
  act(): void
  close(): void
}

export function ConfirmDialog({ title, children, action, busy, failure, act, close }: Props) {
  return (
    <Dialog title={title} close={close}>
      {children}
      <FailureNote failure={failure} />
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button type="button" className="button is-next" disabled={busy} onClick={act}>
          {action}
        </button>
      </div>
    </Dialog>
  )
}
