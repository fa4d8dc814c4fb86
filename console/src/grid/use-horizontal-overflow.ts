import { type RefObject, useEffect, useState } from 'react'

/** True while there is more to the right than is in sight; nothing else on the screen would say so. */
export function useHorizontalOverflow(element: RefObject<HTMLElement | null>, columns: unknown): boolean {
  const [more, setMore] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns are of another width
  useEffect(() => {
    const scroller = element.current
    if (!scroller) return
    const look = () => setMore(scroller.scrollLeft + scroller.clientWidth < scroller.scrollWidth - 1)
    look()
    const size = new ResizeObserver(look)
    size.observe(scroller)
    scroller.addEventListener('scroll', look, { passive: true })
    return () => {
      size.disconnect()
      scroller.removeEventListener('scroll', look)
    }
  }, [element, columns])
  return more
}
