import { type FocusEvent, type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'

export interface Cell {
  readonly row: number
  readonly column: number
}

interface Options {
  readonly rows: number
  readonly columns: number
  readonly element: RefObject<HTMLElement | null>
  reveal(row: number): void
}

const PAGE = 15

/** The arrow keys move through a grid from cell to cell; Tab leaves it. What can be typed into takes the focus itself. */
export function useActiveCell({ rows, columns, element, reveal }: Options) {
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  /** The cell that is to have the focus once it is drawn. */
  const wanted = useRef<Cell>(undefined)

  // After every drawing: a far cell is drawn only when the scrolling has brought it into sight.
  useEffect(() => {
    const cell = wanted.current
    if (cell === undefined) return
    const drawn = element.current?.querySelector<HTMLElement>(
      `[data-row="${cell.row}"][data-column="${cell.column}"]`,
    )
    if (!drawn) return
    wanted.current = undefined
    const inside = drawn.querySelector<HTMLElement>('input, button, a')
    ;(inside ?? drawn).focus({ preventScroll: inside === null && cell.column === 0 })
    if (inside instanceof HTMLInputElement) inside.select()
  })

  function moveTo(row: number, column: number): void {
    const cell = { row: clamp(row, rows), column: clamp(column, columns) }
    wanted.current = cell
    setActive({ ...cell })
    reveal(cell.row)
  }

  return {
    active,
    /** The column that has Tab's attention, if it is in this row. */
    activeColumn: (row: number) => (row === active.row ? active.column : undefined),
    onFocus(event: FocusEvent) {
      const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-row]')
      if (cell) setActive({ row: Number(cell.dataset.row), column: Number(cell.dataset.column) })
    },
    onKeyDown(event: KeyboardEvent) {
      const typing = event.target instanceof HTMLInputElement
      if (event.defaultPrevented || event.altKey || event.metaKey) return
      const to = target(event.key, event.ctrlKey, active, { rows, columns })
      if (to === undefined) return
      // Inside of a text these keys belong to the text.
      if (typing && !['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown'].includes(event.key)) return
      event.preventDefault()
      moveTo(to.row, to.column)
    },
  }
}

function target(
  key: string,
  ctrl: boolean,
  { row, column }: Cell,
  size: { rows: number; columns: number },
): Cell | undefined {
  switch (key) {
    case 'ArrowUp':
      return { row: row - 1, column }
    case 'ArrowDown':
      return { row: row + 1, column }
    case 'ArrowLeft':
      return { row, column: column - 1 }
    case 'ArrowRight':
      return { row, column: column + 1 }
    case 'PageUp':
      return { row: row - PAGE, column }
    case 'PageDown':
      return { row: row + PAGE, column }
    case 'Home':
      return { row: ctrl ? 0 : row, column: 0 }
    case 'End':
      return { row: ctrl ? size.rows - 1 : row, column: size.columns - 1 }
    default:
      return undefined
  }
}

function clamp(value: number, count: number): number {
  return Math.max(0, Math.min(count - 1, value))
}
