import { type FormEvent, useEffect, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { RepairedUpload } from '../../api/upload-types.ts'
import type { ColumnEdit } from '../../api/uploads.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useSession } from '../../session/session.tsx'

interface Props {
  readonly upload: string
  /** Of the file, in its order. */
  readonly columns: readonly string[]
  /** What is filled in at first. */
  readonly column?: string | undefined
  readonly from?: string | undefined
  done(upload: RepairedUpload): void
  close(): void
}

type Which = 'text' | 'empty' | 'all'

/** Typing is settled before the cells are counted. */
const SETTLE_MS = 250

/** One text of a column replaced by another, its empty cells filled, or all of them. */
export function ReplaceDialog({ upload, columns, column: given, from: shown, done, close }: Props) {
  const { api } = useSession()
  const [column, setColumn] = useState(given ?? columns[0] ?? '')
  const [which, setWhich] = useState<Which>(shown === '' ? 'empty' : 'text')
  const [from, setFrom] = useState(shown ?? '')
  const [to, setTo] = useState('')
  const [found, setFound] = useState<{ key: string; cells: number }>()
  const [failure, setFailure] = useState<Failure>()
  const [sending, setSending] = useState(false)
  const isComplete = which === 'text' ? from !== '' && from !== to : which === 'empty' ? to !== '' : true
  const edit: ColumnEdit = {
    column,
    ...(which !== 'all' && { from: which === 'empty' ? null : from }),
    to: to === '' ? null : to,
  }
  const key = isComplete ? JSON.stringify(edit) : undefined

  useEffect(() => {
    if (key === undefined) return
    let wanted = true
    const timer = setTimeout(() => {
      api.uploads.replaceInColumn(upload, JSON.parse(key), true).then(
        ({ repair }) => {
          if (!wanted) return
          setFailure(undefined)
          setFound({ key, cells: repair.cells })
        },
        (thrown) => wanted && setFailure(asFailure(thrown)),
      )
    }, SETTLE_MS)
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [api, upload, key])
  const cells = found !== undefined && found.key === key ? found.cells : undefined

  async function submit(event: FormEvent) {
    event.preventDefault()
    if (cells === undefined || cells === 0) return
    setSending(true)
    try {
      done(await api.uploads.replaceInColumn(upload, edit))
    } catch (thrown) {
      setFailure(asFailure(thrown))
      setSending(false)
    }
  }

  return (
    <Dialog title="Replace in a column" close={close}>
      <form onSubmit={submit} className="dialog-form">
        <p className="muted">
          In all lines of the file. The lines are checked again, and the plan is updated.
        </p>
        <label className="choice">
          <span>Column</span>
          <select value={column} disabled={sending} onChange={(event) => setColumn(event.target.value)}>
            {columns.map((header) => (
              <option key={header}>{header}</option>
            ))}
          </select>
        </label>
        <label className="choice">
          <span>Which cells</span>
          <select
            value={which}
            disabled={sending}
            onChange={(event) => setWhich(event.target.value as Which)}
          >
            <option value="text">Cells with exactly this text</option>
            <option value="empty">Empty cells</option>
            <option value="all">All cells</option>
          </select>
        </label>
        {which === 'text' && (
          <label className="choice">
            <span>Text</span>
            <input
              className="mono"
              value={from}
              spellCheck={false}
              readOnly={sending}
              onChange={(event) => setFrom(event.target.value)}
            />
          </label>
        )}
        <label className="choice">
          <span>{which === 'empty' ? 'Fill with' : 'Replace by (nothing: empty cells)'}</span>
          <input
            className="mono"
            value={to}
            spellCheck={false}
            readOnly={sending}
            onChange={(event) => setTo(event.target.value)}
          />
        </label>
        <p role="status">
          {!isComplete ? (
            <span className="muted">
              {which === 'text' ? 'Give the text, and another one for it.' : 'Give the text that they get.'}
            </span>
          ) : cells === undefined ? (
            <span className="muted">{failure ? '' : 'Counting the cells…'}</span>
          ) : cells === 0 ? (
            <b>No cell changes.</b>
          ) : (
            <b>
              {counted(cells, 'cell')} {cells === 1 ? 'changes' : 'change'}.
            </b>
          )}
        </p>
        <RefusalNote failure={failure} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-next" disabled={sending || !cells}>
            {sending ? 'Checking…' : 'Replace and check these lines'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
