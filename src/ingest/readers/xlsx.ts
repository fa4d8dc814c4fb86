/** A sheet of an Excel workbook as chunks. The sheet is streamed; only the texts that its cells share are held. */
import { StagedoorError } from '../../errors.ts'
import { type ChunkRow, ChunkWriter, chunkLine, flawIn } from './chunks.ts'
import { LONGEST_RECORD, SHOWN_CHARACTERS } from './csv-record.ts'
import { unreadable } from './format.ts'
import { findHeader, headerNames, trailingBlanks } from './header.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './reading.ts'
import { readWorkbook, type Sheet, type Workbook } from './xlsx-parts.ts'
import { type SheetRow, sheetRows } from './xlsx-sheet.ts'
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
  const write = async (rows: SheetRow[], columns: number) => {
    lines += rows.length
    if (options.maxLines !== undefined && lines > options.maxLines) {
      throw new StagedoorError('upload_too_many_lines', { limit: options.maxLines })
    }
    for (const row of rows) await writer.add(chunkLine(asChunkRow(row, columns), columns))
  }
  for await (const { rows, bytes } of sheetRows(zip, sheet.part, workbook)) {
    options.signal?.throwIfAborted()
    const filled = rows.filter((row) => row.fields.some((field) => field.trim() !== ''))
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
    notes: notesOf(workbook, sheet, options),
  }
}

interface Head {
  headers: string[]
  line: number
  preamble: { line: number; text: string }[]
  /** Where the data begins among the rows looked at. */
  rows: number
}

function findHead(rows: SheetRow[], { knowsHeader }: ReadOptions): Head | undefined {
  const filled = rows
    .slice(0, ROWS_LOOKED_AT)
    .map((row) => ({ ...row, fields: withoutTrailingBlanks(row.fields) }))
  const { header } = findHeader(filled, knowsHeader)
  const found = filled[header]
  if (!found) return undefined
  return {
    headers: headerNames(found.fields),
    line: found.line,
    preamble: filled
      .slice(0, header)
      .map(({ line, fields }) => ({ line, text: fields.filter(Boolean).join(' ').slice(0, 1000) })),
    rows: header + 1,
  }
}

/** A sheet does not write empty cells: fewer than the header has is no flaw, one beside it that is filled is. */
function asChunkRow({ line, fields }: SheetRow, columns: number): ChunkRow {
  const characters = fields.reduce((sum, field) => sum + field.length, 0)
  if (characters > LONGEST_RECORD) {
    return { line, flaw: 'line_too_long', values: fields.map((field) => field.slice(0, SHOWN_CHARACTERS)) }
  }
  const extra = fields.slice(columns).filter((field) => field.trim() !== '')
  // `_x0000_` in a cell says what XML itself cannot.
  return { line, flaw: extra.length > 0 ? 'too_many_fields' : flawIn(fields), extra, values: fields }
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
