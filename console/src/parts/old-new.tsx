interface Props {
  readonly old: string
  readonly now: string
  /** For those who listen. */
  readonly becomes?: string
}

/** What a cell held and what it will hold: told apart by place and arrow, not by colour alone. */
export function OldNew({ old, now, becomes = 'becomes' }: Props) {
  return (
    // Where a cell is too narrow for both, the whole is in its title.
    <span title={`${old} → ${now}`}>
      <del>{old}</del>
      <span className="unseen"> {becomes} </span>
      <span className="arrow" aria-hidden="true">
        {' → '}
      </span>
      <ins>{now}</ins>
    </span>
  )
}
