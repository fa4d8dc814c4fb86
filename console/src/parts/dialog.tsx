import { type ReactNode, useEffect, useRef } from 'react'
import './dialog.css'

interface Props {
  readonly title: string
  close(): void
  readonly children: ReactNode
}

/** Over the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, close, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => returnFocus(opener)
  }, [])
  return (
    <dialog
      ref={dialog}
      className="dialog"
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
 * React takes the dialog out of the page before it could give the focus back by itself. A button that is disabled
 * while its action runs, or that is gone, cannot have it: then the content has, and not the body.
 */
function returnFocus(opener: Element | null): void {
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
  if (document.activeElement === document.body || document.activeElement === null) {
    document.getElementById('main')?.focus({ preventScroll: true })
  }
}
