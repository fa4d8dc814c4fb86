interface Props {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  choose(value: string): void
  readonly disabled?: boolean
}

export function Choice({ label, value, options, choose, disabled }: Props) {
  return (
    <label className="choice">
      <span>{label}</span>
      <select value={value} disabled={disabled} onChange={(event) => choose(event.target.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
