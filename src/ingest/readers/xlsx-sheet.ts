/** The rows of one sheet, as texts, a few at a time. */
import { LONGEST_RECORD } from './csv-record.ts'
import { unreadable } from './format.ts'
import { MOST_COLUMNS } from './header.ts'
import type { Workbook } from './xlsx-parts.ts'
import { numberText, unescaped } from './xlsx-value.ts'
import type { WorkbookZip } from './xlsx-zip.ts'

export interface SheetRow {
  /** As the sheet counts; a number that is there already counts as the next. */
  line: number
  /** Up to the last cell that is filled; what stands beyond every column that a file may have comes without its gaps. */
  fields: string[]
  /** Columns of formulas whose result the workbook does not hold. */
  uncalculated?: number[]
}

const SHEET_COLUMNS = 16_384

export async function* sheetRows(
  zip: WorkbookZip,
  part: string,
  workbook: Workbook,
): AsyncGenerator<{ rows: SheetRow[]; bytes: number }> {
  let rows: SheetRow[] = []
  let row: SheetRow = { line: 0, fields: [] }
  let cell = { column: -1, type: 'n', style: 0 }
  let text = ''
  let inText = false
  let hasFormula = false
  let hasValue = false
  const pieces = zip.parse(part, {
    open: (name, { r, t, s }) => {
      if (name === 'row') {
        row = { line: Math.max(/^\d{1,9}$/.test(r ?? '') ? Number(r) : 0, row.line + 1), fields: [] }
        cell.column = -1
      } else if (name === 'c') {
        cell = {
          column: r === undefined ? cell.column + 1 : columnOf(r),
          type: t ?? 'n',
          style: Number(s ?? 0),
        }
        text = ''
        hasFormula = false
        hasValue = false
      } else if (name === 'v' || name === 't') {
        inText = true
        hasValue = true
      } else if (name === 'f') hasFormula = true
    },
    text: (piece) => {
      if (inText && text.length < LONGEST_RECORD) text += piece
    },
    close: (name) => {
      if (name === 'v' || name === 't') inText = false
      else if (name === 'row') rows.push(row)
      else if (name === 'c') {
        setCell(row.fields, cell.column, cellText(text, cell, workbook))
        if (hasFormula && !hasValue) {
          row.uncalculated ??= []
          row.uncalculated.push(cell.column)
        }
      }
    },
  })
  for await (const { bytes } of pieces) {
    yield { rows, bytes }
    rows = []
  }
  yield { rows, bytes: zip.sizeOf(part) }
}

/** An empty cell takes no room: a formatted column at the far end of the sheet would make each row 16,384 wide. */
function setCell(fields: string[], column: number, value: string): void {
  if (column < MOST_COLUMNS) {
    if (value === '' && column >= fields.length) return
    while (fields.length < column) fields.push('')
    fields[column] = value
  } else if (value.trim() !== '' && fields.length < 2 * MOST_COLUMNS) {
    while (fields.length < MOST_COLUMNS) fields.push('')
    fields.push(value)
  }
}

function cellText(
  text: string,
  { type, style }: { type: string; style: number },
  workbook: Workbook,
): string {
  switch (type) {
    case 's':
      return text === '' ? '' : (workbook.texts[Number(text)] ?? '')
    case 'b':
      return text === '1' ? 'true' : text === '0' ? 'false' : text
    case 'n':
      return text === '' ? '' : numberText(text, workbook.kinds[style] ?? 'plain', workbook.from1904)
    default:
      return unescaped(text)
  }
}

/** An area of merged cells; rows as the sheet counts, columns from 0, both ends included. */
export interface MergedArea {
  top: number
  bottom: number
  left: number
  right: number
}

const MAX_MERGED_AREAS = 100_000
const MERGED_AREA = /<(?:\w+:)?mergeCell\s+ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"/g

/** They stand behind the rows that they are about, so the part is searched once for them before it is parsed. */
export async function mergedAreas(zip: WorkbookZip, part: string): Promise<MergedArea[]> {
  const areas: MergedArea[] = []
  for await (const text of zip.texts(part)) {
    for (const [, left, top, right, bottom] of text.matchAll(MERGED_AREA)) {
      areas.push({ top: Number(top), bottom: Number(bottom), left: columnOf(left!), right: columnOf(right!) })
      if (areas.length > MAX_MERGED_AREAS)
        throw unreadable(
          `it has more than ${MAX_MERGED_AREAS} merged areas: unmerge the cells or save it as CSV`,
        )
    }
  }
  return areas.sort((a, b) => a.top - b.top)
}

function columnOf(reference: string): number {
  let column = 0
  for (let at = 0; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) - 64
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  if (column < 1 || column > SHEET_COLUMNS) throw unreadable('it has a cell outside of every sheet')
  return column - 1
}
