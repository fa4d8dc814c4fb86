import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { useLive } from './live.tsx'

/** While the server says what changes, a beat only finds what no event tells, such as a failing health check. */
const BEAT_MS = { connected: 30_000, alone: 5_000 }

interface Pulse {
  /** Increases by one whenever the page should load its data again. */
  readonly beat: number
  beatNow(): void
}

const PulseContext = createContext<Pulse | undefined>(undefined)

export function usePulse(): Pulse {
  const pulse = useContext(PulseContext)
  if (pulse === undefined) throw new Error('usePulse is used outside of PulseProvider')
  return pulse
}

/** One pulse for the whole console: everything live reads on the same beat, and nothing while the tab is hidden. */
export function PulseProvider({ children }: { children: ReactNode }) {
  const [beat, setBeat] = useState(0)
  const beatNow = useCallback(() => setBeat((count) => count + 1), [])
  const { connected, onChange } = useLive()

  // Everything on the page is read with one beat, so what changes all the time beats as often as before.
  useEffect(() => {
    let beatAt = Number.NEGATIVE_INFINITY
    let timer: ReturnType<typeof setTimeout> | undefined
    const beatOnce = () => {
      timer = undefined
      beatAt = performance.now()
      beatNow()
    }
    const stop = onChange(() => {
      timer ??= setTimeout(beatOnce, Math.max(0, beatAt + BEAT_MS.alone - performance.now()))
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [onChange, beatNow])

  useEffect(() => {
    let timer: ReturnType<typeof setInterval> | undefined
    const run = () => {
      clearInterval(timer)
      if (document.hidden) return
      timer = setInterval(beatNow, connected ? BEAT_MS.connected : BEAT_MS.alone)
    }
    const look = () => {
      if (!document.hidden) beatNow()
      run()
    }
    run()
    document.addEventListener('visibilitychange', look)
    addEventListener('online', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
      removeEventListener('online', look)
    }
  }, [beatNow, connected])

  // The stream broke: the server is asked at once whether it is still there.
  const [wasConnected, setWasConnected] = useState(connected)
  useEffect(() => {
    if (wasConnected && !connected && !document.hidden) beatNow()
    setWasConnected(connected)
  }, [connected, wasConnected, beatNow])

  const pulse = useMemo(() => ({ beat, beatNow }), [beat, beatNow])
  return <PulseContext value={pulse}>{children}</PulseContext>
}
