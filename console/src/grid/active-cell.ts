import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react'

export interface Cell {
  readonly row: number
  readonly column: number
}

/** A block of cells, both ends included. */
export interface Range {
  readonly from: Cell
  readonly to: Cell
}

interface Options {
  readonly rows: number
  readonly columns: number
  readonly element: RefObject<HTMLElement | null>
  reveal(row: number): void
  /** Called before the grid's own keys; what it prevents the grid leaves alone. */
  onKey?: ((event: KeyboardEvent, range: Range) => void) | undefined
  /** The cell that has the focus was clicked: it is to be edited. */
  onOpen?: ((cell: Cell) => void) | undefined
}

const PAGE = 15

/**
 * The arrow keys move through a grid from cell to cell; Tab leaves it. What can be typed into takes the focus itself. With Shift
 * the arrows, or a click, select a block.
 */
export function useActiveCell({ rows, columns, element, reveal, onKey, onOpen }: Options) {
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  const [anchor, setAnchor] = useState<Cell>({ row: 0, column: 0 })
  /** The cell that is to have the focus once it is drawn. */
  const wanted = useRef<Cell>(undefined)
  /** The cell that had the focus when the button of the mouse went down. */
  const pressed = useRef<Cell>(undefined)
  const range = rangeOf(anchor, active)

  // After every drawing: a far cell is drawn only when the scrolling has brought it into sight.
  useEffect(() => {
    const cell = wanted.current
    if (cell === undefined) return
    const drawn = element.current?.querySelector<HTMLElement>(
      `[data-row="${cell.row}"][data-column="${cell.column}"]`,
    )
    if (!drawn) return
    wanted.current = undefined
    const inside = drawn.querySelector<HTMLElement>('input, button:not(.grid-mark), a')
    ;(inside ?? drawn).focus({ preventScroll: inside === null && cell.column === 0 })
    if (inside instanceof HTMLInputElement) inside.select()
  })

  function moveTo(row: number, column: number, extend = false): void {
    const cell = { row: clamp(row, rows), column: clamp(column, columns) }
    wanted.current = cell
    setActive({ ...cell })
    if (!extend) setAnchor(cell)
    reveal(cell.row)
  }

  return {
    active,
    range,
    moveTo,
    /** The column that has Tab's attention, if it is in this row. */
    activeColumn: (row: number) => (row === active.row ? active.column : undefined),
    onFocus(event: FocusEvent) {
      const cell = cellAt(event.target)
      // By the keys: the ends of the block are set already.
      if (cell === undefined || (cell.row === active.row && cell.column === active.column)) return
      setActive(cell)
      setAnchor(cell)
    },
    onMouseDown(event: MouseEvent) {
      const cell = cellAt(event.target)
      if (cell === undefined || onKey === undefined) return
      const isActive = document.activeElement === (event.target as Element).closest('[data-row]')
      pressed.current = isActive ? cell : undefined
      if (!event.shiftKey) return setAnchor(cell)
      event.preventDefault()
      moveTo(cell.row, cell.column, true)
    },
    onClick(event: MouseEvent) {
      const cell = cellAt(event.target)
      const before = pressed.current
      if (cell === undefined || before === undefined || event.shiftKey) return
      if (event.target instanceof HTMLInputElement) return
      if (cell.row === before.row && cell.column === before.column) onOpen?.(cell)
    },
    onKeyDown(event: KeyboardEvent) {
      if (isBelow(event.target)) return
      const typing = event.target instanceof HTMLInputElement
      if (!event.defaultPrevented) onKey?.(event, range)
      if (event.defaultPrevented || event.altKey || event.metaKey) return
      const to = target(event.key, event.ctrlKey, active, { rows, columns })
      if (to === undefined) return
      // Inside of a text these keys belong to the text.
      if (typing && !['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown'].includes(event.key)) return
      event.preventDefault()
      moveTo(to.row, to.column, event.shiftKey && onKey !== undefined)
    },
  }
}

/** What is drawn below a row has keys of its own. */
export function isBelow(target: EventTarget): boolean {
  return (target as Element).closest('.grid-below') !== null
}

function cellAt(target: EventTarget): Cell | undefined {
  const cell = (target as HTMLElement).closest<HTMLElement>('[data-row]')
  return cell ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : undefined
}

function rangeOf(one: Cell, other: Cell): Range {
  return {
    from: { row: Math.min(one.row, other.row), column: Math.min(one.column, other.column) },
    to: { row: Math.max(one.row, other.row), column: Math.max(one.column, other.column) },
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
