import { useEffect, useRef } from 'react'

/** The key / leads to the field that finds things on the page, from anywhere but another field. */
export function useSearchKey() {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const look = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if ((event.target as Element).closest?.('input, textarea, select, dialog')) return
      if (field.current === null) return
      event.preventDefault()
      field.current.focus()
      field.current.select()
    }
    addEventListener('keydown', look)
    return () => removeEventListener('keydown', look)
  }, [])
  return field
}
