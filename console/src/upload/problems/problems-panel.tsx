import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { StagedRow } from '../../api/upload-types.ts'
import type { Drafts } from './drafts.ts'
import type { Correction } from './use-repairs.ts'

/**
 * What editable cells of the grid need. Passed by context and not through the columns, because React would mount new columns as
 * new components and lose what a person is typing.
 */
interface ProblemsPanel {
  readonly upload: string
  readonly may: boolean
  /** Lines whose correction is on its way. */
  readonly saving: ReadonlySet<number>
  readonly drafts: Drafts
  correct(...corrections: Correction[]): void
  editLine(row: StagedRow): void
  /** A block of cells was pasted over this one. */
  pasteBlock(text: string, row: StagedRow, column: string): void
}

const ProblemsPanelContext = createContext<ProblemsPanel | undefined>(undefined)

export function useProblemsPanel(): ProblemsPanel {
  const panel = useContext(ProblemsPanelContext)
  if (panel === undefined) throw new Error('useProblemsPanel is used outside of ProblemsPanelProvider')
  return panel
}

type Props = ProblemsPanel & { readonly children: ReactNode }

export function ProblemsPanelProvider({
  upload,
  may,
  saving,
  drafts,
  correct,
  editLine,
  pasteBlock,
  children,
}: Props) {
  const panel = useMemo(
    () => ({ upload, may, saving, drafts, correct, editLine, pasteBlock }),
    [upload, may, saving, drafts, correct, editLine, pasteBlock],
  )
  return <ProblemsPanelContext value={panel}>{children}</ProblemsPanelContext>
}
