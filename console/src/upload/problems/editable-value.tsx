import { type KeyboardEvent, useState } from 'react'
import { isBlock } from '../rows/block.ts'

interface Props {
  readonly label: string
  readonly value: string
  /** What was typed here before, if it was not saved. */
  readonly draft: string | undefined
  readonly wrong: boolean
  readonly saving: boolean
  /** Called with every change; undefined: it is the original value again. */
  keep(draft: string | undefined): void
  save(text: string): void
  /** More than one cell was pasted. */
  pasteBlock(text: string): void
}

/** An editable cell: Enter saves, Escape reverts, leaving it keeps the draft. */
export function EditableValue({ label, value, draft, wrong, saving, keep, save, pasteBlock }: Props) {
  const [text, setText] = useState(draft ?? value)
  const [before, setBefore] = useState(value)
  const changed = text !== value

  // Corrected elsewhere on the page: who has typed nothing here sees what it is now.
  if (before !== value) {
    setBefore(value)
    if (text === before) setText(value)
  }

  function type(typed: string) {
    setText(typed)
    keep(typed === value ? undefined : typed)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Escape' && changed) {
      event.preventDefault()
      event.stopPropagation()
      type(value)
    }
    if (event.key === 'Enter' && changed && !saving) {
      event.preventDefault()
      save(text)
    }
  }

  return (
    <span className="editable">
      <input
        aria-label={label}
        aria-invalid={wrong}
        className="mono"
        value={text}
        readOnly={saving}
        spellCheck={false}
        autoComplete="off"
        placeholder="empty"
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text/plain')
          if (!isBlock(pasted)) return
          event.preventDefault()
          pasteBlock(pasted)
        }}
      />
      <span className="tiny" role="status">
        {saving ? 'checking…' : changed ? 'Enter saves' : ''}
      </span>
    </span>
  )
}
