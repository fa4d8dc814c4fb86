import { useCallback, useEffect, useState } from 'react'
import type { Api } from '../api/client.ts'
import { ApiProblem, asFailure, type Failure } from '../api/failure.ts'
import { useSession } from '../session/session.tsx'

export interface Loaded<T> {
  readonly data?: T
  readonly failure?: Failure
  /** Reads it again, after something was changed. */
  reload(): void
}

/** Read once and after changes: nobody watches a page of settings change by itself. `key` says what is read. */
export function useLoaded<T>(key: string, read: (api: Api) => Promise<T>): Loaded<T> {
  const { api, signOut } = useSession()
  const [state, setState] = useState<{ data?: T; failure?: Failure }>({})
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for `read`, which is a new function in every render
  useEffect(() => {
    let wanted = true
    read(api)
      .then((data) => wanted && setState({ data }))
      .catch((thrown) => {
        const failure = asFailure(thrown)
        if (!wanted) return
        if (failure instanceof ApiProblem && failure.status === 401) signOut(failure)
        else setState((before) => ({ ...before, failure }))
      })
    return () => {
      wanted = false
    }
  }, [api, key, turn, signOut])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  return { ...state, reload }
}
