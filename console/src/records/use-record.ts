import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiProblem, asFailure, type Failure } from '../api/failure.ts'
import type { StagingRecord } from '../api/types.ts'
import { usePulse } from '../live/pulse.tsx'
import { useSession } from '../session/session.tsx'

/** One staging record, read on every beat; what an action answered is newer than anything that is being read. */
export function useRecord(id: string) {
  const { api, signOut } = useSession()
  const { beat } = usePulse()
  const [record, setRecord] = useState<StagingRecord>()
  const [failure, setFailure] = useState<Failure>()
  const turn = useRef(0)

  const take = useCallback((answer: StagingRecord) => {
    turn.current += 1
    setRecord(answer)
    setFailure(undefined)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the beat is what makes it read again
  useEffect(() => {
    const asked = turn.current
    api.records
      .find(id)
      .then((answer) => turn.current === asked && take(answer))
      .catch((thrown) => {
        const problem = asFailure(thrown)
        if (problem instanceof ApiProblem && problem.status === 401) signOut(problem)
        else setFailure(problem)
      })
  }, [beat, api, id, take, signOut])

  return { record, failure, take }
}
