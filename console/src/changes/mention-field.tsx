import { type KeyboardEvent, type RefObject, useId, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Member } from '../api/access.ts'
import { useLiveQuery } from '../live/live.tsx'
import { counted } from '../parts/format.ts'
import { useSession } from '../session/session.tsx'

const MAX_SHOWN = 6
/** The mention that is being typed: @ and the beginning of a name of at most two words, up to the caret. */
const TYPED = /(?:^|[\s(])@([\p{L}\p{N}._-]{0,40}(?: [\p{L}\p{N}._-]{0,40})?)$/u

interface Props {
  readonly workspace: string
  readonly label: string
  readonly placeholder: string
  readonly rows: number
  readonly text: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  write(text: string): void
}

/** A text in which @ offers the members of the workspace. */
export function MentionField({ workspace, label, placeholder, rows, text, field, write }: Props) {
  const { me } = useSession()
  const id = useId()
  const [caret, setCaret] = useState(0)
  const [chosen, setChosen] = useState(0)
  /** The text in which the list was closed: it stays closed until something is typed. */
  const [closedAt, setClosedAt] = useState<string>()
  const typed = TYPED.exec(text.slice(0, caret))?.[1]
  const members = useLiveQuery(['settings', 'members', workspace], (api) => api.access.members(workspace), {
    enabled: typed !== undefined,
  })
  const all = members.data?.members
  const matching = useMemo(
    () =>
      typed === undefined ? [] : matches(all ?? [], typed).filter(({ user_id }) => user_id !== me.actor),
    [all, typed, me.actor],
  )
  const isOpen = matching.length > 0 && closedAt !== text
  const shown = isOpen ? matching.slice(0, MAX_SHOWN) : []
  const at = Math.min(chosen, shown.length - 1)

  function take(member: Member) {
    const begin = caret - (typed?.length ?? 0)
    const name = `${mentionOf(member, all ?? [])} `
    const next = text.slice(0, begin) + name + text.slice(caret)
    // At once: the next key may be pressed before the next frame, and would be typed where the caret was.
    flushSync(() => {
      write(next)
      setClosedAt(next)
      setCaret(begin + name.length)
    })
    field.current?.focus()
    field.current?.setSelectionRange(begin + name.length, begin + name.length)
  }
  function press(event: KeyboardEvent) {
    if (!isOpen) return
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) setChosen((at + by + shown.length) % shown.length)
    else if (event.key === 'Enter' || event.key === 'Tab') take(shown[at]!)
    else if (event.key === 'Escape') setClosedAt(text)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="mention-field">
      <textarea
        ref={field}
        aria-label={label}
        placeholder={placeholder}
        rows={rows}
        maxLength={10_000}
        value={text}
        aria-autocomplete="list"
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-activedescendant={isOpen ? `${id}-${at}` : undefined}
        onKeyDown={press}
        onSelect={(event) => setCaret(event.currentTarget.selectionEnd)}
        onChange={(event) => {
          write(event.target.value)
          setCaret(event.target.selectionEnd)
          setChosen(0)
        }}
      />
      <p className="unseen" role="status">
        {isOpen &&
          `${counted(matching.length, 'member')} to mention. Arrow keys choose, Enter takes: ${nameOf(shown[at]!)}`}
      </p>
      {isOpen && (
        <div className="mention-list">
          <div id={`${id}-list`} role="listbox" aria-label="Members to mention">
            {shown.map((member, index) => (
              // biome-ignore lint/a11y/useFocusableInteractive: the text keeps the focus, and its keys choose
              // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the text takes it
              <div
                key={member.user_id}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === at}
                // The text must not lose the focus before the click is done.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => take(member)}
              >
                {nameOf(member)} <span className="tiny">{member.role}</span>
              </div>
            ))}
          </div>
          {matching.length > shown.length && (
            <p className="tiny">and {counted(matching.length - shown.length, 'more', 'more')}: type on</p>
          )}
        </div>
      )}
    </div>
  )
}

function nameOf({ display_name, user_id }: Member): string {
  return display_name ?? user_id
}

function matches(members: readonly Member[], typed: string): Member[] {
  const beginning = typed.toLowerCase()
  const words = (member: Member) => nameOf(member).toLowerCase()
  const first = members.filter((member) => words(member).startsWith(beginning))
  const later = members.filter(
    (member) =>
      !first.includes(member) &&
      words(member)
        .split(/[ ._-]/)
        .some((word) => word.startsWith(beginning)),
  )
  return [...first, ...later]
}

/** The name, unless two members have the same one: then the id. */
function mentionOf(member: Member, all: readonly Member[]): string {
  const name = nameOf(member).toLowerCase()
  const isAlone = all.filter((other) => nameOf(other).toLowerCase() === name).length === 1
  return isAlone ? nameOf(member) : member.user_id
}
