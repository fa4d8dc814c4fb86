/** Cells that would change, before they do; and what the server has to know of edits that are not saved. */
import type { CellChange } from '../../api/upload-types.ts'
import type { UnsavedCells } from '../../api/uploads.ts'
import { count, counted } from '../../parts/format.ts'
import { OldNew } from '../../parts/old-new.tsx'
import type { CellEdit, Drafts } from '../problems/drafts.ts'

const MAX_SHOWN = 6

export function Changes({ changes }: { changes: readonly CellChange[] }) {
  if (changes.length === 0) return null
  return (
    <ul className="paste-changes">
      {changes.slice(0, MAX_SHOWN).map(({ line, column, from, to }) => (
        <li key={`${line} ${column}`}>
          <span className="muted">
            Line {count(line)}, {column}:
          </span>{' '}
          <OldNew old={from === '' ? 'empty' : from} now={to === '' ? 'empty' : to} />
        </li>
      ))}
      {changes.length > MAX_SHOWN && (
        <li className="tiny">and {counted(changes.length - MAX_SHOWN, 'more cell')}</li>
      )}
    </ul>
  )
}

/** 3 cells in 2 lines change. */
export function changesText(changes: readonly { readonly line: number }[]): string {
  const lines = new Set(changes.map(({ line }) => line)).size
  return `${counted(changes.length, 'cell')} in ${counted(lines, 'line')} ${changes.length === 1 ? 'changes' : 'change'}.`
}

export function unsavedCells(drafts: Drafts): UnsavedCells {
  const cells: UnsavedCells = {}
  for (const { line, column, text } of drafts.all())
    cells[String(line)] = { ...cells[String(line)], [column]: text }
  return cells
}

/** `from` is what a cell holds with edits that are not saved; what is stored is known for those. */
export function editsOf(changes: readonly CellChange[], drafts: Drafts): CellEdit[] {
  return changes.map(({ line, column, from, to }) => ({
    line,
    column,
    base: drafts.get(line, column)?.base ?? from,
    to,
  }))
}
