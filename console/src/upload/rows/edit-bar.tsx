import { type KeyboardEvent, useState } from 'react'
import type { Failure } from '../../api/failure.ts'
import { count, counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { type Drafts, useDraftCount, useHistory } from '../problems/drafts.ts'
import type { RefusedLine } from '../problems/use-repairs.ts'
import { MAX_CELLS } from '../repair/block.ts'
import './rows.css'

interface Props {
  readonly upload: string
  readonly drafts: Drafts
  readonly saving: boolean
  readonly failure: Failure | undefined
  readonly refused: readonly RefusedLine[]
  settle(refused: RefusedLine): void
  save(): void
}

/** What is edited and not saved: undo, redo, discard, save, and which lines the server refused. */
export function EditBar({ upload, drafts, saving, failure, refused, settle, save }: Props) {
  const unsaved = useDraftCount(upload)
  const { undo, redo } = useHistory(upload)
  // What was done last, as long as nothing else was done since.
  const [said, setSaid] = useState({ text: '', after: '' })
  const now = `${undo} ${redo} ${unsaved}`
  const say = (text: string) => setSaid({ text, after: '' })
  if (said.text !== '' && said.after === '') setSaid({ ...said, after: now })
  const step = (word: string, label: string | undefined) => label !== undefined && say(`${word}: ${label}.`)
  if (unsaved === 0 && undo === undefined && redo === undefined && failure === undefined) return null
  const tooMany = unsaved > MAX_CELLS
  return (
    <>
      <div className="filters edit-bar">
        <b>{unsaved === 0 ? 'Everything is saved' : counted(unsaved, 'unsaved edit')}</b>
        <button
          type="button"
          className="button is-small"
          disabled={undo === undefined || saving}
          aria-label={undo === undefined ? 'Undo' : `Undo ${undo}`}
          title="Ctrl+Z"
          onClick={() => step('Undone', drafts.undo())}
        >
          ↶ Undo
        </button>
        <button
          type="button"
          className="button is-small"
          disabled={redo === undefined || saving}
          aria-label={redo === undefined ? 'Redo' : `Redo ${redo}`}
          title="Ctrl+Shift+Z"
          onClick={() => step('Done again', drafts.redo())}
        >
          ↷ Redo
        </button>
        <span className="tiny" role="status">
          {said.after === now ? said.text : ''}
        </span>
        {unsaved > 0 && (
          <span className="filters-aside edit-bar-end">
            <button
              type="button"
              className="button is-small"
              disabled={saving}
              onClick={() => {
                drafts.discard()
                say('Discarded. Undo brings the edits back.')
              }}
            >
              Discard
            </button>
            <button
              type="button"
              className="button is-small is-next"
              disabled={saving || tooMany}
              title="Ctrl+S"
              onClick={save}
            >
              {saving ? 'Saving…' : `Save ${counted(unsaved, 'repair')}`}
            </button>
          </span>
        )}
      </div>
      {tooMany && (
        <p className="note is-bad" role="alert">
          <b>At most {count(MAX_CELLS)} cells are saved at once.</b> Undo the last step and save, or upload
          the corrected file as a new one.
        </p>
      )}
      {refused.length === 0 ? (
        <RefusalNote failure={failure} />
      ) : (
        <div className="note is-bad refused-lines" role="alert">
          <p>
            <b>Nothing was saved:</b> {counted(refused.length, 'cell is', 'cells are')} refused. Decide about
            each, and save again.
          </p>
          <ul>
            {refused.map((one) => (
              <Refused key={`${one.line} ${one.column}`} one={one} drafts={drafts} settle={settle} />
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

function Refused({
  one,
  drafts,
  settle,
}: {
  readonly one: RefusedLine
  readonly drafts: Drafts
  settle(refused: RefusedLine): void
}) {
  const { line, column, reason, now } = one
  const mine = column === undefined ? undefined : drafts.get(line, column)
  const take = () => {
    if (column !== undefined && now !== undefined) drafts.rebase(line, column, now)
    const edits = drafts
      .all()
      .filter((draft) => draft.line === line && (column ?? draft.column) === draft.column)
    drafts.edit(
      `dropping edits of line ${line}`,
      edits.map((draft) => ({ ...draft, to: draft.base })),
    )
    settle(one)
  }
  return (
    <li>
      <span>
        {reason}
        {now !== undefined && (
          <>
            : it is <code>{now === '' ? 'empty' : now}</code> now, yours is{' '}
            <code>{mine?.text === '' ? 'empty' : (mine?.text ?? 'undone')}</code>
          </>
        )}
        .
      </span>
      {now !== undefined && (
        <button
          type="button"
          className="button is-small"
          aria-label={`Keep mine, line ${line}, ${column}`}
          onClick={() => {
            drafts.rebase(line, column!, now)
            settle(one)
          }}
        >
          Keep mine
        </button>
      )}
      <button
        type="button"
        className="button is-small"
        aria-label={`${now === undefined ? 'Drop this edit' : 'Take theirs'}, line ${line}, ${column ?? ''}`}
        onClick={take}
      >
        {now === undefined ? 'Drop this edit' : 'Take theirs'}
      </button>
    </li>
  )
}

/** Ctrl+Z, Ctrl+Shift+Z or Ctrl+Y, and Ctrl+S, wherever one stands in the tab. */
export function editKeys(drafts: Drafts, save: () => void) {
  return (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey || !(event.ctrlKey || event.metaKey)) return
    if (event.target instanceof Element && event.target.closest('dialog')) return
    const key = event.key.toLowerCase()
    const act =
      key === 's'
        ? save
        : key === 'y' || (key === 'z' && event.shiftKey)
          ? drafts.redo
          : key === 'z'
            ? drafts.undo
            : undefined
    if (act === undefined) return
    event.preventDefault()
    act()
  }
}
