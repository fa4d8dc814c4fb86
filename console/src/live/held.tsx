import { createContext, type ReactNode, useContext } from 'react'
import type { Api } from '../api/client.ts'
import type { StagingSummary } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { type Polled, usePolled } from './use-polled.ts'

/** More than a person looks through at once; beyond it a count says "or more". */
const MOST = 50

export interface Held {
  /** Uploads that have not ended, newest first. */
  readonly uploads: readonly Upload[]
  readonly moreUploads: boolean
  /** Those that wait for a decision, newest first: asked for by themselves, since others may be newer than all of them. */
  readonly waiting: readonly Upload[]
  readonly moreWaiting: boolean
  /** Staging records of every kind that wait for a decision and do not belong to an upload, newest first. */
  readonly records: readonly StagingSummary[]
  readonly moreRecords: boolean
}

const HeldContext = createContext<Polled<Held> | undefined>(undefined)

export function useHeld(): Polled<Held> {
  const held = useContext(HeldContext)
  if (held === undefined) throw new Error('useHeld is used outside of HeldProvider')
  return held
}

/** What is held, read once for the rail and for every page. */
export function HeldProvider({ children }: { children: ReactNode }) {
  return <HeldContext value={usePolled(readHeld)}>{children}</HeldContext>
}

async function readHeld(api: Api): Promise<Held> {
  const [uploads, waiting, records] = await Promise.all([
    api.uploads.list({ status: 'reading,staged,planned', limit: MOST }),
    api.uploads.list({ waiting: true, limit: MOST }),
    api.records.undecided({ limit: MOST }),
  ])
  return {
    uploads: uploads.uploads,
    moreUploads: uploads.next !== null,
    waiting: waiting.uploads,
    moreWaiting: waiting.next !== null,
    records: records.records,
    moreRecords: records.next !== null,
  }
}
