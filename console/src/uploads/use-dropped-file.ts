import { useEffect, useState } from 'react'

/** A file that is dropped anywhere on the page, and whether one is being dragged over it. */
export function useDroppedFile(dropped: (file: File) => void): boolean {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const holdsFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const drag = (event: DragEvent) => {
      if (!holdsFile(event)) return
      // Without this the browser opens the file in place of the console.
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      if (!holdsFile(event)) return
      event.preventDefault()
      setOver(false)
      const file = event.dataTransfer?.files[0]
      if (file) dropped(file)
    }
    addEventListener('dragover', drag)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', drag)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
    }
  }, [dropped])
  return over
}
