import { type KeyboardEvent, useState } from 'react'

interface Props {
  readonly label: string
  readonly value: string
  readonly wrong: boolean
  readonly saving: boolean
  save(text: string): void
}

/** A cell to type into: Enter saves, Escape takes it back, leaving it keeps what was typed for later. */
export function EditableValue({ label, value, wrong, saving, save }: Props) {
  const [text, setText] = useState(value)
  const changed = text !== value

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Escape' && changed) {
      event.preventDefault()
      event.stopPropagation()
      setText(value)
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
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span className="tiny" role="status">
        {saving ? 'checking…' : changed ? 'Enter saves' : ''}
      </span>
    </span>
  )
}
