import { type ReactNode, useEffect, useRef } from 'react'
import './dialog.css'

interface Props {
  readonly title: string
  close(): void
  /** For a table. */
  readonly wide?: boolean
  readonly children: ReactNode
}

/** Over the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, close, wide = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => returnFocus(opener)
  }, [])
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog is-wide' : 'dialog'}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  )
}

/**
 * React removes the dialog before the browser could return the focus. If the button that opened it is disabled or no longer on the
 * page, the content gets the focus instead of the body.
 */
function returnFocus(opener: Element | null): void {
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
  if (document.activeElement === document.body || document.activeElement === null) {
    document.getElementById('main')?.focus({ preventScroll: true })
  }
}
