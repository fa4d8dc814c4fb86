import type { FileNote } from '../../api/upload-types.ts'
import { count, counted } from '../../parts/format.ts'

/** What holds for the file as a whole, and is nothing to correct. */
export function FileNotes({ notes }: { notes: readonly FileNote[] }) {
  if (notes.length === 0) return null
  return (
    <details className="file-notes" open={notes.length <= 3}>
      <summary>{counted(notes.length, 'note')} about the whole file</summary>
      <ul>
        {notes.map((note) => (
          <li key={`${note.rule} ${note.message}`}>
            {note.message}
            <span className="tiny">
              {note.line !== undefined && ` line ${count(note.line)} ·`}
              {note.count !== undefined && note.count > 1 && ` ${counted(note.count, 'time')} ·`} rule{' '}
              {note.rule}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
