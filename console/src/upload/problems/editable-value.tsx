import type { KeyboardEvent } from 'react'
import { isBlock } from '../repair/block.ts'

interface Props {
  readonly label: string
  readonly value: string
  /** What was edited here and not saved. */
  readonly draft: string | undefined
  readonly wrong: boolean
  readonly saving: boolean
  /** Called with every change. */
  keep(text: string): void
  save(text: string): void
  /** More than one cell was pasted. */
  pasteBlock(text: string): void
}

/** An editable cell: Enter saves, Escape reverts, leaving it keeps the draft. */
export function EditableValue({ label, value, draft, wrong, saving, keep, save, pasteBlock }: Props) {
  const text = draft ?? value
  const changed = text !== value

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Escape' && changed) {
      event.preventDefault()
      event.stopPropagation()
      keep(value)
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
        onChange={(event) => keep(event.target.value)}
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
