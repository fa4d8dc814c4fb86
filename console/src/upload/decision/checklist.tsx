import { Person } from '../../parts/person.tsx'

interface Item {
  readonly item_id: string
  readonly text: string | null
  readonly required: boolean
  readonly ticked_by: string | null
}

interface Props {
  readonly items: readonly Item[]
  readonly ticked: readonly string[]
  readonly disabled?: boolean
  /** True: a tick can be taken away again after it was saved. */
  readonly undoable?: boolean
  tick(ticked: readonly string[]): void
}

/** What the reviewer confirms to have checked. */
export function Checklist({ items, ticked, disabled = false, undoable = false, tick }: Props) {
  if (items.length === 0) return null
  return (
    <fieldset className="checklist">
      <legend>Before you approve</legend>
      {items.map(({ item_id, text, required, ticked_by }) => (
        <label key={item_id}>
          <input
            type="checkbox"
            checked={ticked.includes(item_id) || (ticked_by !== null && !undoable)}
            disabled={disabled || (ticked_by !== null && !undoable)}
            onChange={(event) =>
              tick(event.target.checked ? [...ticked, item_id] : ticked.filter((one) => one !== item_id))
            }
          />
          <span>
            {text ?? item_id}
            {!required && <span className="tiny"> (optional)</span>}
            {ticked_by !== null && (
              <span className="tiny">
                {' '}
                ticked by <Person id={ticked_by} />
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
