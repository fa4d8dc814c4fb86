import { type FormEvent, type ReactNode, useState } from 'react'
import type { Failure } from '../api/failure.ts'
import { asFailure } from '../api/failure.ts'
import { Dialog } from './dialog.tsx'
import { RefusalNote } from './refusal-note.tsx'

interface Props {
  readonly title: string
  /** What will happen, and to how much, in a sentence. */
  readonly children: ReactNode
  /** The word on the button that does it. */
  readonly verb: string
  /** Asks for a reason; "required" does nothing without one. */
  readonly reason?: 'optional' | 'required'
  readonly reasonLabel?: string
  act(reason: string): Promise<unknown>
  close(): void
}

/** Before something is done: what it will do and to how much. It closes when it is done, and says why it was refused. */
export function ActionDialog({ title, children, verb, reason, reasonLabel, act, close }: Props) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    try {
      await act(text.trim())
      close()
    } catch (thrown) {
      setBusy(false)
      setFailure(asFailure(thrown))
    }
  }

  return (
    <Dialog title={title} close={close}>
      <form className="dialog-form" onSubmit={submit}>
        <div>{children}</div>
        {reason && (
          <label className="choice">
            <span>{reasonLabel ?? (reason === 'required' ? 'Reason' : 'Reason (optional)')}</span>
            <textarea
              rows={3}
              maxLength={2000}
              required={reason === 'required'}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        )}
        <RefusalNote failure={failure} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            {/* Where the action is called so, the way out has another name. */}
            {verb.startsWith('Cancel') ? 'Go back' : 'Cancel'}
          </button>
          <button
            type="submit"
            className="button is-next"
            disabled={busy || (reason === 'required' && text.trim() === '')}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
