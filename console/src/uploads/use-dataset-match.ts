import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { Dataset, DatasetMatches } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'
import { type ReadChoices, readFields } from './file-options.tsx'

/** Which dataset the file is of, by its columns. */
export interface DatasetEvidence {
  /** none: there is no file, or nothing to choose among. */
  readonly state: 'none' | 'reading' | 'ready' | 'failed'
  readonly found: DatasetMatches | undefined
  readonly failure: Failure | undefined
}

interface Answer {
  readonly file: File
  readonly workspace: string
  readonly found?: DatasetMatches
  readonly failure?: Failure
}

export function useDatasetMatch(
  file: File | undefined,
  workspace: string,
  datasets: readonly Dataset[] | undefined,
  choices: ReadChoices,
): DatasetEvidence {
  const { api } = useSession()
  const [answer, setAnswer] = useState<Answer>()
  const isOpen = (datasets?.length ?? 0) > 1 || (datasets?.[0]?.platforms.length ?? 0) > 1
  const asked = isOpen ? file : undefined
  const structure = JSON.stringify(readFields(choices, 'structure'))
  useEffect(() => {
    if (asked === undefined || workspace === '') return
    const stop = new AbortController()
    const fields = { workspace_id: workspace, ...JSON.parse(structure) }
    api.uploads.matchDatasets(asked, fields, stop.signal).then(
      (found) => !stop.signal.aborted && setAnswer({ file: asked, workspace, found }),
      (thrown) => !stop.signal.aborted && setAnswer({ file: asked, workspace, failure: asFailure(thrown) }),
    )
    return () => stop.abort()
  }, [api, asked, workspace, structure])

  if (asked === undefined) return { state: 'none', found: undefined, failure: undefined }
  // The answer about another file says nothing of this one.
  const known = answer?.file === asked && answer.workspace === workspace ? answer : undefined
  return {
    state: known === undefined ? 'reading' : known.failure ? 'failed' : 'ready',
    found: known?.found,
    failure: known?.failure,
  }
}
