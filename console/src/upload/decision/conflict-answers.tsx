import type { UploadDetail } from '../../api/upload-types.ts'
import { Ago } from '../../parts/ago.tsx'
import { counted } from '../../parts/format.ts'
import { Person } from '../../parts/person.tsx'

/** Whose values count where production had moved on, as somebody said: what the reviewer must know. */
export function ConflictAnswers({ upload }: { upload: UploadDetail }) {
  return upload.conflict_answers.map(({ answer, answered_by, answered_at, cells, rows, columns }) => (
    <p key={answered_at} className="aside-note">
      <b>{answer === 'keep_theirs' ? 'Production’s values stay' : 'The file’s values count'}</b> in{' '}
      {counted(cells, 'cell')} of {counted(rows, 'row')} that somebody else changed since an earlier plan (
      {columns
        .slice(0, 5)
        .map(({ column, table }) => column ?? `rows of ${table.replace(/^public\./, '')}`)
        .join(', ')}
      {columns.length > 5 && ', …'}). Chosen by <Person id={answered_by} />, <Ago at={answered_at} />.
    </p>
  ))
}
