import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'

const BEAT_MS = 5_000

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

  useEffect(() => {
    let timer: ReturnType<typeof setInterval> | undefined
    const run = () => {
      clearInterval(timer)
      if (document.hidden) return
      timer = setInterval(beatNow, BEAT_MS)
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
  }, [beatNow])

  const pulse = useMemo(() => ({ beat, beatNow }), [beat, beatNow])
  return <PulseContext value={pulse}>{children}</PulseContext>
}
