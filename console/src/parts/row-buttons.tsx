interface Props<What extends string> {
  /** What the row is about, for who does not see it. */
  readonly of: string
  /** The word on each button, and what it asks for. */
  readonly buttons: readonly (readonly [word: string, what: What])[]
  readonly disabled?: boolean
  ask(what: What): void
}

/** The buttons at the end of a row. */
export function RowButtons<What extends string>({ of, buttons, disabled = false, ask }: Props<What>) {
  return (
    <span className="row-buttons">
      {buttons.map(([word, what]) => (
        <button
          key={what}
          type="button"
          className="button is-small"
          disabled={disabled}
          onClick={() => ask(what)}
        >
          {word}
          <span className="unseen"> {of}</span>
        </button>
      ))}
    </span>
  )
}
