import {
  type ColumnDef,
  flexRender,
  getCoreRowModel,
  type Row as TableRow,
  useReactTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { FailureNote } from '../parts/failure-note.tsx'
import { type Cell, isBelow, type Range, useActiveCell } from './active-cell.ts'
import { useHorizontalOverflow } from './use-horizontal-overflow.ts'
import type { Pages } from './use-pages.ts'
import './grid.css'

/** A column as the grid draws it: `size` is its least width in pixels. */
export type Column<Row> = ColumnDef<Row, unknown> & { readonly meta?: Look }

interface Look {
  /** Figures stand at the right. */
  readonly figures?: boolean
  /** Its share of the width that is left over; 0 by default. */
  readonly grow?: number
  /** Stays in sight while the others scroll; for the first columns, all but the last of which have a fixed width. */
  readonly stays?: boolean
}

interface Props<Row> {
  readonly label: string
  readonly columns: Column<Row>[]
  readonly pages: Pages<Row>
  readonly rowHeight: number
  /** True: rows are as high as their text. Costs a measurement for each. */
  readonly measured?: boolean
  /** Said where there is no row at all. */
  readonly empty: ReactNode
  toneOf?(row: Row): string | undefined
  /** Text was pasted over this cell, or this block of cells. */
  onPaste?(text: string, cell: Cell, range: Range): void
  /** What a copy of these cells is, as text. */
  onCopy?(range: Range): string
  /** With it, blocks of cells can be selected; called before the grid's own keys. */
  onKey?(event: KeyboardEvent, range: Range): void
  /** The cell that has the focus was clicked. */
  onOpen?(cell: Cell): void
  /** To move the focus from outside. */
  readonly handle?: Ref<GridHandle>
  /** The cell that has the focus, or had it last. */
  onActive?(cell: Cell): void
  /** What people note on rows and cells. The same object as long as nothing of it changes: another one draws all rows again. */
  readonly notes?: GridNotes<Row> | undefined
}

export interface GridNotes<Row> {
  /** Drawn at the end of a cell. `isNear`: the pointer or the focus is on it. Its buttons have the class grid-mark. */
  mark(row: Row, column: string, isNear: boolean): ReactNode
  /** Drawn below a row, as wide as the grid is in sight; undefined: nothing. */
  below(row: Row): ReactNode
  /** `c` was pressed on this cell. */
  open(row: Row, column: string): void
}

export interface GridHandle {
  /** To the first row: another question has other rows. */
  top(): void
  focus(row: number, column: number): void
}

/** Ahead of the last row by this much, the next page is asked for. */
const AHEAD = 200
const OVERSCAN = 8

/** Any number of rows with a handful of elements: only what is in sight is drawn. */
export function Grid<Row>(props: Props<Row>) {
  const { label, columns, pages, rowHeight, measured, empty, toneOf, onPaste, onCopy, onActive, notes } =
    props
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: pages.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    // The header stands over the first rows.
    scrollPaddingStart: 36,
  })
  // Another layout has rows of another height; those that were measured before do not count.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of the height that matters
  useEffect(() => virtual.measure(), [virtual, rowHeight])
  const items = virtual.getVirtualItems()
  const visible = items.filter((item) => pages.at(item.index) !== undefined)
  // The table knows the rows in sight only: its cost does not grow with the file.
  const table = useReactTable({
    data: visible.map((item) => pages.at(item.index)!),
    columns,
    getCoreRowModel: getCoreRowModel(),
    // Other rows in sight are not other data: resetting the table's state at each would draw it for ever.
    autoResetAll: false,
  })
  const cells = useActiveCell({
    rows: pages.count,
    columns: columns.length,
    element: scroller,
    reveal: (row) => virtual.scrollToIndex(row),
    onKey: props.onKey,
    onOpen: props.onOpen,
  })
  useImperativeHandle(props.handle, () => ({
    focus: (row, column) => cells.moveTo(row, column),
    top: () => virtual.scrollToOffset(0),
  }))
  const { from, to } = cells.range
  const selects = props.onKey !== undefined && (from.row !== to.row || from.column !== to.column)

  const latestOnActive = useRef(onActive)
  latestOnActive.current = onActive
  const { row: activeRow, column: activeColumn } = cells.active
  useEffect(
    () => latestOnActive.current?.({ row: activeRow, column: activeColumn }),
    [activeRow, activeColumn],
  )

  const near = useNearCell(notes !== undefined)
  const below = new Map(visible.map(({ index }) => [index, notes?.below(pages.at(index)!)]))
  // Of the rows that are not measured, those with something below them are, and get their height back when it is gone.
  const raised = useRef(new Set<number>())
  useLayoutEffect(() => {
    for (const [index, content] of below) {
      if (content !== undefined) raised.current.add(index)
      else if (raised.current.delete(index) && !measured) virtual.resizeItem(index, rowHeight)
    }
  })
  const afterG = useRef(Number.NEGATIVE_INFINITY)
  function pressKey(event: KeyboardEvent) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !isBelow(event.target)
    const isTyping = event.target instanceof HTMLInputElement
    const row = pages.at(cells.active.row)
    const column = columns[cells.active.column]?.id
    // `g c` leads to another page.
    const isAlone = event.timeStamp - afterG.current > 1_500
    afterG.current = isPlain && event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
    if (notes && row !== undefined && column && isPlain && !isTyping && isAlone && event.key === 'c') {
      event.preventDefault()
      notes.open(row, column)
    } else cells.onKeyDown(event)
  }

  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= pages.count - AHEAD) pages.more()
  }, [last, pages])

  const overflows = useHorizontalOverflow(scroller, columns)
  const nothing = pages.begun && pages.done && pages.count === 0
  return (
    <>
      <FailureNote failure={pages.failure} />
      {nothing && <div className="empty">{empty}</div>}
      <div className={overflows ? 'grid-frame has-more' : 'grid-frame'}>
        <div
          className={`grid${nothing ? ' is-empty' : ''}${notes ? ' has-notes' : ''}`}
          ref={scroller}
          style={layoutOf(columns)}
        >
          <table
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the arrow keys move through it
            role="grid"
            aria-label={label}
            aria-rowcount={pages.done ? pages.count + 1 : -1}
            aria-colcount={columns.length}
            onKeyDown={pressKey}
            onFocus={(event) => {
              cells.onFocus(event)
              near.setFocused(!isBelow(event.target))
            }}
            onBlur={() => near.setFocused(false)}
            onMouseOver={near.onMouseOver}
            onMouseLeave={near.onMouseLeave}
            onMouseDown={cells.onMouseDown}
            onClick={cells.onClick}
            onCopy={(event) => {
              if (onCopy === undefined || event.target instanceof HTMLInputElement || isBelow(event.target))
                return
              event.preventDefault()
              event.clipboardData.setData('text/plain', onCopy(cells.range))
            }}
            onPaste={(event) => {
              if (onPaste === undefined || event.target instanceof HTMLInputElement || isBelow(event.target))
                return
              event.preventDefault()
              onPaste(event.clipboardData.getData('text/plain'), cells.active, cells.range)
            }}
          >
            <thead>
              <tr className="grid-head" aria-rowindex={1}>
                {table.getFlatHeaders().map((header, column) => (
                  <th
                    key={header.id}
                    scope="col"
                    className={lookOf(columns[column])}
                    style={placeOf(columns, column)}
                  >
                    {flexRender(header.column.columnDef.header, header.getContext())}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="grid-body" style={{ height: virtual.getTotalSize() }}>
              {table.getRowModel().rows.map((row, at) => {
                const item = visible[at]!
                const isMeasured = measured || below.get(item.index) !== undefined
                return (
                  <GridRow
                    // Another layout has other elements: the height of one that was measured would be taken for its height there.
                    key={`${measured ? 'measured' : 'fixed'} ${item.key}`}
                    row={row}
                    data={row.original}
                    index={item.index}
                    start={item.start}
                    height={isMeasured ? undefined : item.size}
                    least={measured ? undefined : rowHeight}
                    measure={isMeasured ? virtual.measureElement : undefined}
                    columns={columns}
                    active={cells.activeColumn(item.index)}
                    selected={
                      selects && item.index >= from.row && item.index <= to.row
                        ? `${from.column}-${to.column}`
                        : ''
                    }
                    tone={toneOf?.(row.original) ?? ''}
                    notes={notes}
                    pointed={near.cell?.row === item.index ? near.cell.column : undefined}
                    focused={near.hasFocus ? cells.activeColumn(item.index) : undefined}
                  />
                )
              })}
            </tbody>
          </table>
        </div>
      </div>
    </>
  )
}

/** The cell under the pointer, and whether a cell has the focus. */
function useNearCell(isUsed: boolean) {
  const [cell, setCell] = useState<Cell>()
  const [hasFocus, setFocused] = useState(false)
  return {
    cell,
    hasFocus,
    setFocused,
    onMouseOver(event: MouseEvent) {
      if (!isUsed) return
      const { row, column } = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset ?? {}
      const next = row === undefined ? undefined : { row: Number(row), column: Number(column) }
      if (next?.row !== cell?.row || next?.column !== cell?.column) setCell(next)
    },
    onMouseLeave: () => setCell(undefined),
  }
}

interface RowProps<Row> {
  readonly row: TableRow<Row>
  readonly data: Row
  readonly index: number
  readonly start: number
  readonly height: number | undefined
  /** Of the cells, where something is below them. */
  readonly least: number | undefined
  readonly measure: ((element: HTMLElement | null) => void) | undefined
  readonly columns: readonly Column<Row>[]
  /** The column that Tab leads to, if it is in this row. */
  readonly active: number | undefined
  /** Columns of the selected block that are in this row: "2-4"; empty: none. */
  readonly selected: string
  readonly tone: string
  readonly notes: GridNotes<Row> | undefined
  /** The columns of this row that the pointer and the focus are on. */
  readonly pointed: number | undefined
  readonly focused: number | undefined
}

function PlainGridRow<Row>({
  row,
  index,
  start,
  height,
  least,
  measure,
  columns,
  active,
  selected,
  tone,
  notes,
  pointed,
  focused,
}: RowProps<Row>) {
  const below = notes?.below(row.original)
  const [first = 0, last = -1] = selected === '' ? [] : selected.split('-').map(Number)
  return (
    <tr
      aria-rowindex={index + 2}
      data-index={index}
      ref={measure}
      className={`grid-row ${tone}`}
      style={{
        transform: `translateY(${start}px)`,
        ...(height !== undefined && { height }),
        ...(below !== undefined && least !== undefined && { gridTemplateRows: `${least}px auto` }),
      }}
    >
      {row.getVisibleCells().map((cell, column) => (
        <td
          key={cell.id}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of a grid is one
          role="gridcell"
          className={`${lookOf(columns[column])}${column >= first && column <= last ? ' is-selected' : ''}`}
          aria-selected={selected === '' ? undefined : column >= first && column <= last}
          style={placeOf(columns, column)}
          tabIndex={active === column ? 0 : -1}
          data-row={index}
          data-column={column}
        >
          {flexRender(cell.column.columnDef.cell, cell.getContext())}
          {notes?.mark(row.original, cell.column.id, column === pointed || column === focused)}
        </td>
      ))}
      {below !== undefined && (
        <td
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of a grid is one
          role="gridcell"
          tabIndex={-1}
          className="grid-below"
          aria-colspan={columns.length}
          colSpan={columns.length}
        >
          <div>{below}</div>
        </td>
      )}
    </tr>
  )
}

/** While one scrolls, most rows stay as they are; the table makes a new object for each all the same. */
const GridRow = memo(PlainGridRow, (before, after) =>
  (
    [
      'data',
      'index',
      'start',
      'height',
      'columns',
      'active',
      'selected',
      'tone',
      'notes',
      'pointed',
      'focused',
    ] as const
  ).every((name) => before[name] === after[name]),
) as typeof PlainGridRow

function layoutOf<Row>(columns: readonly Column<Row>[]): CSSProperties {
  const tracks = columns.map(({ size = 120, meta }) =>
    meta?.grow ? `minmax(${size}px, ${meta.grow}fr)` : `${size}px`,
  )
  const least = columns.reduce((sum, { size = 120 }) => sum + size, 0)
  return { '--columns': tracks.join(' '), '--least': `${least}px` } as CSSProperties
}

/** A column that stays stands beside those that stay before it. */
function placeOf<Row>(columns: readonly Column<Row>[], column: number): CSSProperties | undefined {
  if (column === 0 || !columns[column]?.meta?.stays) return undefined
  return { left: columns.slice(0, column).reduce((sum, { size = 120 }) => sum + size, 0) }
}

function lookOf<Row>(column: Column<Row> | undefined): string {
  const { figures, stays } = column?.meta ?? {}
  return ['grid-cell', figures && 'is-figures', stays && 'is-staying'].filter(Boolean).join(' ')
}
