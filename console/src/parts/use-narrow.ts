import { useSyncExternalStore } from 'react'

/** True while the window is at most this wide. */
export function useNarrow(pixels: number): boolean {
  const query = matchMedia(`(max-width: ${pixels}px)`)
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => query.matches,
  )
}
