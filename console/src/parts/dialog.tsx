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
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
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
