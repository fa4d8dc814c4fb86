/** A sheet of an Excel workbook as chunks. The sheet is streamed; only the texts that its cells share are held. */
import { StagedoorError } from '../../errors.ts'
import { type ChunkRow, ChunkWriter, chunkLine, flawIn } from './chunks.ts'
import { isData, kindOf } from './csv-evidence.ts'
import { LONGEST_RECORD, SHOWN_CHARACTERS } from './csv-record.ts'
import { unreadable } from './format.ts'
import { findHeader, headerNames, trailingBlanks, withoutHeader } from './header.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './reading.ts'
import { readWorkbook, type Sheet, type Workbook } from './xlsx-parts.ts'
import { type MergedArea, mergedAreas, type SheetRow, sheetRows } from './xlsx-sheet.ts'
import { openWorkbook, type WorkbookZip } from './xlsx-zip.ts'

const ROWS_LOOKED_AT = 200

export async function normaliseXlsx(
  path: string,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  const zip = await openWorkbook(path)
  const writer = new ChunkWriter(folder, options.chunkLines ?? 20_000)
  try {
    const workbook = await readWorkbook(zip)
    for (const sheet of sheetsToTry(workbook, options.sheet)) {
      const file = await normaliseSheet({ zip, workbook, sheet, writer, options })
      if (file) return file
    }
    throw new StagedoorError('file_has_no_rows')
  } finally {
    await writer.abandon()
    zip.close()
  }
}

function sheetsToTry({ sheets }: Workbook, asked: string | undefined): Sheet[] {
  if (asked === undefined) {
    const visible = sheets.filter((sheet) => !sheet.hidden)
    return visible.length > 0 ? visible : sheets
  }
  const found = sheets.filter((sheet) => sheet.name === asked)
  if (found.length > 0) return found
  const names = sheets.map((sheet) => `“${sheet.name}”`).join(', ')
  throw unreadable(`it has no sheet “${asked}”; it has ${names}`)
}

interface SheetReading {
  zip: WorkbookZip
  workbook: Workbook
  sheet: Sheet
  writer: ChunkWriter
  options: ReadOptions
}

/** `undefined` if there is nothing in the sheet. */
async function normaliseSheet(reading: SheetReading): Promise<NormalisedFile | undefined> {
  const { zip, workbook, sheet, writer, options } = reading
  const total = zip.sizeOf(sheet.part)
  let first: SheetRow[] | undefined = []
  let head: Head | undefined
  let lines = 0
  const merged = new MergedCells(await mergedAreas(zip, sheet.part))
  const write = async (rows: SheetRow[], columns: number) => {
    for (const row of rows) merged.fill(row, columns)
    lines += rows.length
    if (options.maxLines !== undefined && lines > options.maxLines) {
      throw new StagedoorError('upload_too_many_lines', { limit: options.maxLines })
    }
    for (const row of rows) await writer.add(chunkLine(asChunkRow(row, columns), columns))
  }
  for await (const { rows, bytes } of sheetRows(zip, sheet.part, workbook)) {
    options.signal?.throwIfAborted()
    const filled = rows.filter((row) => row.uncalculated || row.fields.some((field) => field.trim() !== ''))
    if (first) {
      first.push(...filled)
      if (first.length < ROWS_LOOKED_AT && bytes < total) continue
      head = findHead(first, options)
      if (head) await write(first.slice(head.rows), head.headers.length)
      first = undefined
    } else if (head) await write(filled, head.headers.length)
    options.onProgress?.({ bytes: Math.min(bytes, total), total, lines })
  }
  await writer.close()
  if (!head || lines === 0) return undefined
  return {
    format: 'xlsx',
    encoding: `Excel workbook, sheet “${sheet.name}”`,
    delimiter: null,
    preamble: head.preamble,
    headerLine: head.line,
    headers: head.headers,
    lines,
    chunks: writer.chunks,
    notes: [...notesOf(workbook, sheet, options), ...unnamedNote(head), ...merged.notes()],
  }
}

interface Head {
  headers: string[]
  unnamed: number
  line: number
  preamble: { line: number; text: string }[]
  /** Where the data begins among the rows looked at. */
  rows: number
}

function findHead(rows: SheetRow[], { knowsHeader, columns }: ReadOptions): Head | undefined {
  if (columns) return { headers: [...columns], unnamed: 0, line: 0, preamble: [], rows: 0 }
  const filled = rows
    .slice(0, ROWS_LOOKED_AT)
    .map((row) => ({ ...row, fields: withoutTrailingBlanks(row.fields) }))
  const { header, known } = findHeader(filled, knowsHeader)
  const found = filled[header]
  if (!found) return undefined
  if (known < 2 && isData(found.fields, filled.slice(header + 1)))
    throw withoutHeader(found.line, found.fields)
  return {
    headers: headerNames(found.fields),
    unnamed: found.fields.filter((field) => field.trim() === '').length,
    line: found.line,
    preamble: filled
      .slice(0, header)
      .map(({ line, fields }) => ({ line, text: fields.filter(Boolean).join(' ').slice(0, 1000) })),
    rows: header + 1,
  }
}

/** A sheet does not write empty cells: fewer than the header has is no flaw, one beside it that is filled is. */
function asChunkRow({ line, fields, flaw, uncalculated }: FilledRow, columns: number): ChunkRow {
  const characters = fields.reduce((sum, field) => sum + field.length, 0)
  if (characters > LONGEST_RECORD) {
    return { line, flaw: 'line_too_long', values: fields.map((field) => field.slice(0, SHOWN_CHARACTERS)) }
  }
  if (flaw) return { line, flaw, values: fields }
  if (uncalculated) {
    const cells = uncalculated.map((column) => `${columnName(column)}${line}`)
    return { line, flaw: 'formula_without_value', extra: cells, values: fields }
  }
  const extra = fields.slice(columns).filter((field) => field.trim() !== '')
  // `_x0000_` in a cell says what XML itself cannot.
  return { line, flaw: extra.length > 0 ? 'too_many_fields' : flawIn(fields), extra, values: fields }
}

interface FilledRow extends SheetRow {
  flaw?: 'merged_number'
}

/**
 * The value of a merged area belongs to all of its cells, while the sheet holds it in the first one only. A text or a
 * date is filled in; a number would be counted once for each line, so its lines are flagged.
 */
class MergedCells {
  readonly #areas: MergedArea[]
  #next = 0
  #open: (MergedArea & { value: string })[] = []
  #filled = 0
  #line = 0

  constructor(areas: MergedArea[]) {
    this.#areas = areas
  }

  fill(row: FilledRow, columns: number): void {
    if (this.#open.length === 0 && this.#next >= this.#areas.length) return
    this.#open = this.#open.filter(({ bottom }) => bottom >= row.line)
    while (this.#next < this.#areas.length && this.#areas[this.#next]!.top <= row.line) {
      const area = this.#areas[this.#next++]!
      // An area that begins above the first row of data is part of a title or the header.
      if (area.top === row.line) this.#open.push({ ...area, value: row.fields[area.left] ?? '' })
    }
    for (const { left, right, value } of this.#open) {
      if (value.trim() === '' || left >= columns) continue
      if (['number', 'year'].includes(kindOf(value))) row.flaw = 'merged_number'
      for (let column = left; column <= Math.min(right, columns - 1); column++) {
        while (row.fields.length <= column) row.fields.push('')
        if (row.fields[column] !== '' && row.fields[column] !== value) continue
        if (row.fields[column] === '') {
          row.fields[column] = value
          if (this.#filled++ === 0) this.#line = row.line
        }
      }
    }
  }

  notes(): FileNote[] {
    if (this.#filled === 0) return []
    const message = 'Cells within merged areas were filled with the value of their area'
    return [{ rule: 'file.merged_cells', message, line: this.#line, count: this.#filled }]
  }
}

function unnamedNote({ unnamed, line }: Head): FileNote[] {
  if (unnamed === 0) return []
  return [
    { rule: 'file.unnamed_columns', message: 'The header has columns without a name', line, count: unnamed },
  ]
}

function columnName(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26))
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter
}

function withoutTrailingBlanks(fields: string[]): string[] {
  return fields.slice(0, fields.length - trailingBlanks(fields))
}

function notesOf({ sheets }: Workbook, read: Sheet, options: ReadOptions): FileNote[] {
  const others = sheets.filter((sheet) => sheet !== read)
  if (others.length === 0 || options.sheet !== undefined) return []
  const names = others.map((sheet) => `“${sheet.name}”`).join(', ')
  return [
    {
      rule: 'file.other_sheets',
      message: `Only the sheet “${read.name}” was read, not ${names}`,
      count: others.length,
    },
  ]
}
