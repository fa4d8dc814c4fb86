import { useCallback, useEffect, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { ConflictAnswer, ConflictRow, PlanConflicts, UploadDetail } from '../../api/upload-types.ts'
import { Chip } from '../../parts/chip.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { count, counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useSession } from '../../session/session.tsx'
import { namesFor, textOf } from '../plan/values.ts'

const PAGE = 100

interface Props {
  readonly upload: UploadDetail
  close(): void
  /** Plans with the answer, which counts for exactly what was shown. */
  answer(answer: ConflictAnswer, digest: string): void
}

/** Production has moved on since the last plan, and the file says otherwise: whose values count? Asked before anything is planned. */
export function ConflictDialog({ upload, close, answer }: Props) {
  const { api } = useSession()
  const [found, setFound] = useState<PlanConflicts>()
  const [failure, setFailure] = useState<Failure>()
  const id = upload.upload_id
  const read = useCallback(
    (after?: string) =>
      api.uploads
        .planConflicts(id, { limit: PAGE, after })
        .then((page) =>
          setFound((before) =>
            after && before ? { ...page, items: [...before.items, ...page.items] } : page,
          ),
        )
        .catch((thrown) => setFailure(asFailure(thrown))),
    [api, id],
  )
  useEffect(() => void read(), [read])
  const nothing = found?.total === 0
  const fields = upload.reading?.layout.fields ?? []
  return (
    <Dialog title="Whose values count?" close={close} wide>
      {found === undefined && failure === undefined && (
        <p role="status">Comparing the file with production…</p>
      )}
      <RefusalNote failure={failure} />
      {nothing && <p>Nothing is in conflict: planning again takes no change of others back.</p>}
      {found !== undefined && !nothing && (
        <>
          <p>
            Somebody changed {counted(found.cells, 'value')} in {counted(found.total, 'row')} since the last
            plan, and the file says otherwise. Nothing is planned until you say whose values count.
          </p>
          <div className="conflicts">
            <table>
              <thead>
                <tr>
                  <th scope="col">Column</th>
                  <th scope="col">
                    Base <span className="tiny">at the last plan</span>
                  </th>
                  <th scope="col">
                    Theirs <span className="tiny">production now</span>
                  </th>
                  <th scope="col">
                    Mine <span className="tiny">this file</span>
                  </th>
                </tr>
              </thead>
              {found.items.map((row) => (
                <Rows key={`${row.type_order}.${row.line}`} row={row} fields={fields} />
              ))}
            </table>
          </div>
          {found.next !== null && (
            <p>
              {count(found.items.length)} of {count(found.total)} rows.{' '}
              <button type="button" className="link" onClick={() => read(found.next ?? undefined)}>
                Show more
              </button>
            </p>
          )}
          <p className="tiny">
            <b>Keep theirs</b>: these values stay as production has them; the other values of the rows are
            planned. <b>Use mine</b>: the values of the file are written over them. The reviewer sees what you
            chose; you cannot approve this plan yourself.
          </p>
        </>
      )}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        {found !== undefined && nothing && (
          <button
            type="button"
            className="button is-next"
            onClick={() => answer('keep_theirs', found.digest)}
          >
            Plan again
          </button>
        )}
        {found !== undefined && !nothing && (
          <>
            <button type="button" className="button" onClick={() => answer('use_mine', found.digest)}>
              Use mine
            </button>
            <button
              type="button"
              className="button is-next"
              onClick={() => answer('keep_theirs', found.digest)}
            >
              Keep theirs
            </button>
          </>
        )}
      </div>
    </Dialog>
  )
}

const WHOLE_ROWS: Record<ConflictRow['kind'], string> = {
  changed: 'changed',
  created: 'created',
  deleted: 'deleted there; the file inserts it again',
  to_delete: 'changed or created there; the file lacks it, so it would be deleted',
}

/** The name over its cells: beside them it would leave a phone no room for the values. */
function Rows({ row, fields }: { row: ConflictRow; fields: readonly string[] }) {
  const names = namesFor({ label: row.label, before: row.theirs, row_type: row.row_type }, fields)
  const key = Object.values(row.key).map((value) => textOf(value))
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={4}>
          <b>{[...names, ...key.filter((value) => !names.includes(value))].join(' · ')}</b>{' '}
          <span className="tiny">
            {row.table.replace(/^public\./, '')}
            {row.line > 0 && ` · line ${row.line}`}
          </span>
        </th>
      </tr>
      {row.cells.length === 0 && (
        <tr>
          <td colSpan={4}>
            <Chip tone="bad">{row.kind === 'deleted' ? 'deleted' : 'to delete'}</Chip> {WHOLE_ROWS[row.kind]}
          </td>
        </tr>
      )}
      {row.cells.map(({ column, base, theirs, mine }) => (
        <tr key={column}>
          <td>{column}</td>
          <td>{row.kind === 'created' ? <span className="muted">no row</span> : textOf(base)}</td>
          <td>
            <b>{textOf(theirs)}</b>
          </td>
          <td>
            <ins>{textOf(mine)}</ins>
          </td>
        </tr>
      ))}
    </tbody>
  )
}
