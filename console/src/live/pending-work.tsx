import { createContext, type ReactNode, useContext } from 'react'
import type { Api } from '../api/client.ts'
import type { StagingSummary } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { type Polled, usePolled } from './use-polled.ts'

/** More than a person looks through at once; a count beyond it says "or more". */
const MAX_READ = 50

export interface PendingWork {
  /** Uploads that have not ended, newest first. Dry runs come to nothing, so they wait for nobody. */
  readonly uploads: readonly Upload[]
  readonly moreUploads: boolean
  /** Uploads awaiting review, newest first. Read separately, because `uploads` may not reach back to them. */
  readonly waiting: readonly Upload[]
  readonly moreWaiting: boolean
  /** Staging records awaiting review that do not belong to an upload, newest first. */
  readonly records: readonly StagingSummary[]
  readonly moreRecords: boolean
}

const PendingWorkContext = createContext<Polled<PendingWork> | undefined>(undefined)

export function usePendingWork(): Polled<PendingWork> {
  const pendingWork = useContext(PendingWorkContext)
  if (pendingWork === undefined) throw new Error('usePendingWork is used outside of PendingWorkProvider')
  return pendingWork
}

/** Everything that waits for a person, read once for the navigation and for every page. */
export function PendingWorkProvider({ children }: { children: ReactNode }) {
  return <PendingWorkContext value={usePolled(readPendingWork)}>{children}</PendingWorkContext>
}

async function readPendingWork(api: Api): Promise<PendingWork> {
  const [uploads, waiting, records] = await Promise.all([
    api.uploads.list({ status: 'reading,staged,planned', limit: MAX_READ }),
    api.uploads.list({ waiting: true, limit: MAX_READ }),
    api.records.undecided({ limit: MAX_READ }),
  ])
  return {
    uploads: uploads.uploads.filter(({ run_mode }) => run_mode !== 'FULL_DRY_RUN'),
    moreUploads: uploads.next !== null,
    waiting: waiting.uploads,
    moreWaiting: waiting.next !== null,
    records: records.records,
    moreRecords: records.next !== null,
  }
}
