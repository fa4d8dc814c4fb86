import { useCallback } from 'react'
import type { StagedRow, UploadDetail } from '../../api/upload-types.ts'
import type { LineFilter } from '../../api/uploads.ts'
import { counted } from '../../parts/format.ts'
import type { CellEdit, Drafts } from '../problems/drafts.ts'
import type { GridColumn } from './block.ts'
import { CorrectionsDialog } from './corrections-dialog.tsx'
import { PasteDialog, type PasteStart } from './paste-dialog.tsx'
import { ReplaceDialog, type ReplaceStart } from './replace-dialog.tsx'

/** Which dialog is open, and what it begins with. */
export type OpenEdit =
  | { readonly kind: 'paste'; readonly text: string; readonly start: PasteStart }
  | { readonly kind: 'replace'; readonly start: ReplaceStart }
  | { readonly kind: 'corrections' }

interface Props {
  readonly open: OpenEdit
  readonly upload: UploadDetail
  /** Of the grid, in its order. */
  readonly columns: readonly GridColumn[]
  /** The lines that the grid shows. */
  readonly filter: LineFilter
  /** The lines that a block may be pasted over; default: those that the grid shows. */
  readonly pasteFilter?: LineFilter
  readonly drafts: Drafts
  close(): void
}

/** Edits of many cells: a pasted block, a replacement, or a corrected file. Each is one step, which undo takes back as a whole. */
export function EditDialog({ open, upload, columns, filter, pasteFilter = filter, drafts, close }: Props) {
  const textOf = useCallback(
    (row: StagedRow, column: string) =>
      drafts.get(row.row_number, column)?.text ?? row.raw_payload[column] ?? '',
    [drafts],
  )
  const done = (label: string, edits: readonly CellEdit[]) => {
    close()
    drafts.edit(label, edits)
  }
  switch (open.kind) {
    case 'paste':
      return (
        <PasteDialog
          upload={upload}
          columns={columns}
          text={open.text}
          start={open.start}
          filter={pasteFilter}
          textOf={textOf}
          done={(edits) => done(`pasting ${counted(edits.length, 'cell')}`, edits)}
          close={close}
        />
      )
    case 'replace':
      return (
        <ReplaceDialog
          upload={upload.upload_id}
          columns={upload.columns}
          start={open.start}
          filter={filter}
          drafts={drafts}
          done={(edits, which) => {
            const word = which === 'part' || which === 'text' ? 'replacing in' : 'filling'
            done(`${word} ${counted(edits.length, 'cell')}`, edits)
          }}
          close={close}
        />
      )
    case 'corrections':
      return (
        <CorrectionsDialog
          upload={upload.upload_id}
          fileName={upload.file_name}
          filter={filter}
          drafts={drafts}
          done={(edits) => done(`taking ${counted(edits.length, 'cell')} of a corrected file`, edits)}
          close={close}
        />
      )
  }
}
