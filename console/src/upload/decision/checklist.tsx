import type { UploadDetail } from '../../api/upload-types.ts'
import { Person } from '../../parts/person.tsx'

interface Props {
  readonly items: UploadDetail['checklist']
  readonly ticked: readonly string[]
  tick(ticked: readonly string[]): void
}

/** What whoever approves says to have looked at. */
export function Checklist({ items, ticked, tick }: Props) {
  if (items.length === 0) return null
  return (
    <fieldset className="checklist">
      <legend>Before you approve</legend>
      {items.map(({ item_id, text, ticked_by }) => (
        <label key={item_id}>
          <input
            type="checkbox"
            checked={ticked_by !== null || ticked.includes(item_id)}
            disabled={ticked_by !== null}
            onChange={(event) =>
              tick(event.target.checked ? [...ticked, item_id] : ticked.filter((one) => one !== item_id))
            }
          />
          <span>
            {text ?? item_id}
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
