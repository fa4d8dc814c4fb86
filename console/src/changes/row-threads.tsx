import { useState } from 'react'
import type { Change } from '../api/changes.ts'
import { useLiveQuery } from '../live/live.tsx'
import { CommentForm, ThreadView, threadsOf } from './comments.tsx'
import { nameOf } from './use-change.ts'
import './changes.css'

interface Props {
  readonly change: Change
  readonly rowType: string
  readonly line: number
  readonly columns: readonly string[]
}

/** What was said about one row or its cells, and a field to say more. */
export function RowThreads({ change, rowType, line, columns }: Props) {
  const [column, setColumn] = useState('')
  const comments = useLiveQuery(['changes', change.workspace_id, change.number, 'comments'], (api) =>
    api.changes.comments(nameOf(change)),
  )
  const threads = threadsOf(comments.data?.comments ?? []).filter(
    ({ first }) => first.row_type === rowType && first.line === line,
  )
  const again = () => void comments.refresh()
  return (
    <section className="row-threads" aria-label={`Comments on line ${line}`}>
      {threads.map((thread) => (
        <ThreadView key={thread.first.comment_id} change={change} thread={thread} changed={again} />
      ))}
      {change.may.comment && (
        <>
          <label>
            Comment on{' '}
            <select value={column} onChange={(event) => setColumn(event.target.value)}>
              <option value="">the row</option>
              {columns.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <CommentForm
            change={change}
            label="Comment"
            about={{ row_type: rowType, line, ...(column !== '' && { column }) }}
            changed={again}
          />
        </>
      )}
    </section>
  )
}
