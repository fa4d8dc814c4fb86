/** A block of cells from a spreadsheet, and what becomes of it when it is pasted over lines of a file. */
import type { StagedRow } from '../../api/upload-types.ts'

/** So many cells the server corrects in one call. */
export const MAX_CELLS = 10_000

/**
 * Cells are separated by tabs and lines by line breaks, as spreadsheets put them on the clipboard. A cell with a tab or a line break
 * in it stands in quotes.
 */
export function parseBlock(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const quoted = text[at] === '"' ? /"((?:[^"]|"")*)"(?=\t|\r?\n|$)/y : undefined
    if (quoted) quoted.lastIndex = at
    const match = quoted?.exec(text)
    const plain = /[^\t\r\n]*/y
    plain.lastIndex = at
    const cell = match ? match[1]!.replaceAll('""', '"') : (plain.exec(text)?.[0] ?? '')
    at += match ? match[0].length : cell.length
    row.push(cell)
    if (text[at] === '\t') {
      at += 1
      // A last cell that is empty.
      if (at === text.length || text[at] === '\n' || text[at] === '\r') row.push('')
      if (at < text.length && text[at] !== '\n' && text[at] !== '\r') continue
    }
    if (text[at] === '\r') at += 1
    if (text[at] === '\n') at += 1
    rows.push(row)
    row = []
  }
  return rows
}

/** More than one cell: a single one is text for a single cell. */
export function isBlock(text: string): boolean {
  return /[\t\r\n]/.test(text.replace(/\r?\n$/, ''))
}

/** A column of the grid that text can be pasted over, or not. */
export interface GridColumn {
  readonly name: string
  readonly readOnly: boolean
}

interface ChangedCell {
  readonly line: number
  readonly column: string
  readonly from: string
  readonly to: string
}

/** Cells of the block that are not pasted, and why. */
interface LeftOver {
  readonly reason: string
  readonly cells: readonly string[]
}

export interface Paste {
  readonly changed: readonly ChangedCell[]
  /** Cells that have this text already. */
  readonly same: number
  readonly leftOver: readonly LeftOver[]
  /** Lines that were skipped; a corrected line is checked and used again. */
  readonly takenIn: readonly number[]
}

/** What the block changes with its first cell in this column of the first row, and what of it does not fit. */
export function planPaste(
  block: readonly (readonly string[])[],
  rows: readonly StagedRow[],
  columns: readonly GridColumn[],
  first: number,
  textOf: (row: StagedRow, column: string) => string = (row, column) => row.raw_payload[column] ?? '',
): Paste {
  const changed: ChangedCell[] = []
  const takenIn: number[] = []
  const left = new Map<string, string[]>()
  let same = 0
  const leave = (reason: string, cell: string) => left.set(reason, [...(left.get(reason) ?? []), cell])
  for (const [index, cells] of block.entries()) {
    const row = rows[index]
    const before = changed.length
    for (const [offset, cell] of cells.entries()) {
      const column = columns[first + offset]
      if (row === undefined) leave('below the last line', cell)
      else if (column === undefined) leave('to the right of the last column', cell)
      else if (column.readOnly) leave(`in the column ${column.name}, which cannot be changed`, cell)
      else if (!(column.name in row.raw_payload))
        leave(`in line ${row.row_number}, which has no cell there. Edit the whole line under Problems`, cell)
      else {
        const from = textOf(row, column.name)
        if (from === cell) same += 1
        else changed.push({ line: row.row_number, column: column.name, from, to: cell })
      }
    }
    if (row?.validation_status === 'skipped' && changed.length > before) takenIn.push(row.row_number)
  }
  return {
    changed,
    same,
    leftOver: [...left].map(([reason, cells]) => ({ reason, cells })),
    takenIn,
  }
}
