import { type FormEvent, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { CellChange } from '../../api/upload-types.ts'
import type { LineFilter } from '../../api/uploads.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useSession } from '../../session/session.tsx'
import type { CellEdit, Drafts } from '../problems/drafts.ts'
import { Changes, changesText, editsOf } from './changes.tsx'

interface Props {
  readonly upload: string
  readonly fileName: string
  /** The lines that are downloaded; empty: the invalid ones. */
  readonly filter: LineFilter
  readonly drafts: Drafts
  done(edits: readonly CellEdit[]): void
  close(): void
}

/** Lines that are corrected in a spreadsheet: downloaded, edited there, and taken back. */
export function CorrectionsDialog({ upload, fileName, filter, drafts, done, close }: Props) {
  const { api } = useSession()
  const [changes, setChanges] = useState<readonly CellChange[]>()
  const [reading, setReading] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const filtered = Object.values(filter).some((value) => value !== undefined)

  async function run(work: () => Promise<void>) {
    setFailure(undefined)
    setReading(true)
    try {
      await work()
    } catch (thrown) {
      setFailure(asFailure(thrown))
    }
    setReading(false)
  }

  const download = () =>
    run(() => api.uploads.exportProblems(upload, `${fileName.replace(/\.[^.]*$/, '')}-problems.csv`, filter))

  function submit(event: FormEvent) {
    event.preventDefault()
    if (changes !== undefined && changes.length > 0) done(editsOf(changes, drafts))
  }

  return (
    <Dialog title="Correct lines in a spreadsheet" close={close}>
      <form onSubmit={submit} className="dialog-form">
        <ol className="corrections-steps">
          <li>
            Download {filtered ? 'the lines that the filter shows' : 'the invalid lines'}, with what is wrong
            beside each.{' '}
            <button type="button" className="button is-small" disabled={reading} onClick={download}>
              Download lines
            </button>
          </li>
          <li>
            Correct the cells. Keep the column <code>Stagedoor: line</code>: it says which line is meant.
          </li>
          <li>
            <label>
              Choose the corrected file, a CSV or a workbook:{' '}
              <input
                type="file"
                aria-label="Corrected file"
                disabled={reading}
                onChange={(event) => {
                  const file = event.target.files?.[0]
                  setChanges(undefined)
                  if (file) run(async () => setChanges(await api.uploads.previewCorrections(upload, file)))
                }}
              />
            </label>
          </li>
        </ol>
        <p role="status">
          {reading ? (
            <span className="muted">Comparing with the lines…</span>
          ) : changes === undefined ? (
            ''
          ) : (
            <b>
              {changes.length === 0
                ? 'The file has no cell that differs. Nothing changes.'
                : changesText(changes)}
            </b>
          )}
        </p>
        {changes !== undefined && <Changes changes={changes} />}
        <RefusalNote failure={failure} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-next" disabled={!changes || changes.length === 0}>
            Change {counted(changes?.length ?? 0, 'cell')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
