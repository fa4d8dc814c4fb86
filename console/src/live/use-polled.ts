import { useEffect, useRef, useState } from 'react'
import type { Api } from '../api/client.ts'
import { ApiProblem, asFailure, type Failure } from '../api/failure.ts'
import { useSession } from '../session/session.tsx'
import { usePulse } from './pulse.tsx'

export interface Polled<T> {
  /** The last good answer; kept while later reads fail. */
  readonly data?: T
  /** When that answer came, in milliseconds. */
  readonly at?: number
  /** Why the newest read failed; absent when it did not. */
  readonly failure?: Failure
}

/** Reads on every beat. `read` must be the same function from render to render. */
export function usePolled<T>(read: (api: Api) => Promise<T>): Polled<T> {
  const { api, signOut } = useSession()
  const { beat } = usePulse()
  const [polled, setPolled] = useState<Polled<T>>({})
  const [bug, setBug] = useState<unknown>()
  const mounted = useRef(false)
  const reading = useRef(false)

  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the beat is what makes it read again
  useEffect(() => {
    // A slow answer is waited for; asking again before it came would only add to the load.
    if (reading.current) return
    reading.current = true
    read(api)
      .then((data) => setPolled({ data, at: Date.now() }))
      .catch((thrown) => {
        const failure = asFailure(thrown)
        if (!mounted.current) return
        if (failure instanceof ApiProblem && failure.status === 401) return signOut(failure)
        setPolled((before) => ({ ...before, failure }))
      })
      .catch(setBug)
      .finally(() => {
        reading.current = false
      })
  }, [beat, api, read, signOut])

  if (bug !== undefined) throw bug
  return polled
}
