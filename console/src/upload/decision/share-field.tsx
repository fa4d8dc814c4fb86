import { type FormEvent, useState } from 'react'
import { percent } from './mode-choice.tsx'

interface Props {
  /** From 0 to 1. */
  readonly share: number
  readonly disabled: boolean
  choose(share: number): void
}

/** How many of the lines must be valid before the rest is skipped. */
export function ShareField({ share, disabled, choose }: Props) {
  const [text, setText] = useState(String(percent(share)))
  const asked = Number(text) / 100
  const possible = text.trim() !== '' && asked >= 0 && asked <= 1
  const changed = possible && percent(asked) !== percent(share)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (changed) choose(asked)
  }
  return (
    <form className="share" onSubmit={submit}>
      <label>
        if at least{' '}
        <input
          type="text"
          inputMode="decimal"
          aria-label="Share of valid lines in percent"
          aria-invalid={!possible}
          autoComplete="off"
          disabled={disabled}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />{' '}
        % are valid
      </label>
      {changed && (
        <button type="submit" className="button is-small" disabled={disabled}>
          Plan
        </button>
      )}
    </form>
  )
}
