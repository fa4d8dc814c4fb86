import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { StagedRow } from '../../api/upload-types.ts'
import type { Drafts } from './drafts.ts'
import type { Correction } from './use-repairs.ts'

/**
 * What the cells of the grid need to be corrected in. It comes beside the columns, because other columns are other
 * components to React: whatever somebody is typing into them would be gone.
 */
export interface ProblemDesk {
  readonly may: boolean
  /** Lines whose correction is on its way. */
  readonly saving: ReadonlySet<number>
  readonly drafts: Drafts
  correct(...corrections: Correction[]): void
  editLine(row: StagedRow): void
}

const DeskContext = createContext<ProblemDesk | undefined>(undefined)

export function useProblemDesk(): ProblemDesk {
  const desk = useContext(DeskContext)
  if (desk === undefined) throw new Error('useProblemDesk is used outside of ProblemDeskProvider')
  return desk
}

type Props = ProblemDesk & { readonly children: ReactNode }

export function ProblemDeskProvider({ may, saving, drafts, correct, editLine, children }: Props) {
  const desk = useMemo(
    () => ({ may, saving, drafts, correct, editLine }),
    [may, saving, drafts, correct, editLine],
  )
  return <DeskContext value={desk}>{children}</DeskContext>
}
