interface Props {
  readonly text: string
  readonly allowed: boolean
  /** Why not; stands below the button. */
  readonly why?: string | null | undefined
  readonly busy: boolean
  /** True: this is the one thing to do next. */
  readonly next?: boolean
  act(): unknown
}

/** A button for one decision. If it is not allowed, the reason is shown next to it. */
export function ActionButton({ text, allowed, why, busy, next = false, act }: Props) {
  return (
    <div>
      <button
        type="button"
        className={next && allowed ? 'button is-next' : 'button'}
        disabled={!allowed || busy}
        onClick={act}
      >
        {text}
      </button>
      {!allowed && why && <p className="tiny">{why}</p>}
    </div>
  )
}
