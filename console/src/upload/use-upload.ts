import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiProblem, asFailure, type Failure } from '../api/failure.ts'
import type { Progress, UploadDetail } from '../api/upload-types.ts'
import { usePulse } from '../live/pulse.tsx'
import { learnNames } from '../people.ts'
import { useSession } from '../session/session.tsx'

export interface LiveUpload {
  readonly upload: UploadDetail | undefined
  /** Why the newest read failed. */
  readonly failure: Failure | undefined
  /** How far the server is; while it reads the file. */
  readonly progress: Progress | undefined
  /** Takes what an action answered with, which is newer than anything that is being read. */
  take(upload: UploadDetail): void
}

/** How a file was read does not change: the same object keeps the grids from rendering again. */
function withSameReading(before: UploadDetail | undefined, detail: UploadDetail): UploadDetail {
  if (!before?.reading || JSON.stringify(before.reading) !== JSON.stringify(detail.reading)) return detail
  return { ...detail, reading: before.reading, columns: before.columns }
}

/** One upload, read on every beat, and followed closely while the server reads its file. */
export function useUpload(id: string): LiveUpload {
  const { api, signOut } = useSession()
  const { beat, beatNow } = usePulse()
  const [upload, setUpload] = useState<UploadDetail>()
  const [failure, setFailure] = useState<Failure>()
  const [progress, setProgress] = useState<Progress>()
  const [followed, setFollowed] = useState(false)
  const turn = useRef(0)

  const take = useCallback((detail: UploadDetail) => {
    turn.current += 1
    learnNames(detail.people)
    setUpload((before) => withSameReading(before, detail))
    setFailure(undefined)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the beat is what makes it read again
  useEffect(() => {
    const asked = turn.current
    api.uploads
      .find(id)
      // What was asked before an action answered may be older than its answer.
      .then((detail) => turn.current === asked && take(detail))
      .catch((thrown) => {
        const problem = asFailure(thrown)
        if (problem instanceof ApiProblem && problem.status === 401) signOut(problem)
        else setFailure(problem)
      })
  }, [beat, api, id, take, signOut])

  // After the reading comes the plan, which the same stream tells of; it ends when both are done.
  const toFollow = upload?.status === 'reading' || (upload?.status === 'staged' && !followed)
  useEffect(() => {
    if (!toFollow) return
    const stop = new AbortController()
    api.uploads
      .follow(id, setProgress, stop.signal)
      // The beat goes on reading without it.
      .catch(() => undefined)
      .then(() => {
        if (stop.signal.aborted) return
        setFollowed(true)
        setProgress(undefined)
        beatNow()
      })
    return () => stop.abort()
  }, [toFollow, api, id, beatNow])

  const shown =
    upload?.status === 'staged' && progress !== undefined ? { ...upload, status: 'reading' as const } : upload
  return {
    upload: shown,
    failure,
    progress: shown?.status === 'reading' ? (progress ?? shown.progress ?? undefined) : undefined,
    take,
  }
}
