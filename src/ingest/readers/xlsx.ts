/**
 * A sheet of an Excel workbook as chunks. The sheet is streamed; only the texts that its cells share are held. In the order
 * of calls: the sheet, its rows, the workbook around it, the meaning of a number, the parts of the zip.
 */

import { StringDecoder } from 'node:string_decoder'
import { SaxesParser } from 'saxes'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { StagedoorError } from '../../kernel/errors.ts'
import { type ChunkRow, ChunkWriter, chunkLine, flawIn } from './chunks.ts'
import { isData, kindOf } from './csv-dialect.ts'
import { MAX_RECORD_BYTES, MAX_SHOWN_CHARACTERS } from './csv-record.ts'
import {
  type FileNote,
  findHeader,
  headerNames,
  headerPlace,
  MAX_COLUMNS,
  type NormalisedFile,
  type ReadOptions,
  trailingBlanks,
  unreadable,
  withoutHeader,
} from './format.ts'

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
    sheet: sheet.name,
    sheets: workbook.sheets.map(({ name }) => name),
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

function findHead(rows: SheetRow[], { knowsHeader, columns, headerLine }: ReadOptions): Head | undefined {
  if (columns) return { headers: [...columns], unnamed: 0, line: 0, preamble: [], rows: 0 }
  const filled = rows
    .slice(0, ROWS_LOOKED_AT)
    .map((row) => ({ ...row, fields: withoutTrailingBlanks(row.fields) }))
  const { header, known } = findHeader(filled, knowsHeader, headerPlace(filled, headerLine))
  const found = filled[header]
  if (!found) return undefined
  if (headerLine === undefined && known < 2 && isData(found.fields, filled.slice(header + 1)))
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

/** A sheet does not write empty cells: fewer cells than the header are no flaw, a filled cell outside of its columns is. */
function asChunkRow({ line, fields, flaw, uncalculated }: FilledRow, columns: number): ChunkRow {
  const characters = fields.reduce((sum, field) => sum + field.length, 0)
  if (characters > MAX_RECORD_BYTES) {
    return {
      line,
      flaw: 'line_too_long',
      values: fields.map((field) => field.slice(0, MAX_SHOWN_CHARACTERS)),
    }
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

// The rows of one sheet, as texts, a few at a time.

interface SheetRow {
  /** As the sheet counts; a number that is there already counts as the next. */
  line: number
  /** Up to the last cell that is filled; what stands beyond every column that a file may have comes without its gaps. */
  fields: string[]
  /** Columns of formulas whose result the workbook does not hold. */
  uncalculated?: number[]
}

const SHEET_COLUMNS = 16_384

async function* sheetRows(
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
      if (inText && text.length < MAX_RECORD_BYTES) text += piece
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
  if (column < MAX_COLUMNS) {
    if (value === '' && column >= fields.length) return
    while (fields.length < column) fields.push('')
    fields[column] = value
  } else if (value.trim() !== '' && fields.length < 2 * MAX_COLUMNS) {
    while (fields.length < MAX_COLUMNS) fields.push('')
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
      return unescapeCharacters(text)
  }
}

/** An area of merged cells; rows as the sheet counts, columns from 0, both ends included. */
interface MergedArea {
  top: number
  bottom: number
  left: number
  right: number
}

const MAX_MERGED_AREAS = 100_000
const MERGED_AREA = /<(?:\w+:)?mergeCell\s+ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"/g

/** They stand behind the rows that they are about, so the part is searched once for them before it is parsed. */
async function mergedAreas(zip: WorkbookZip, part: string): Promise<MergedArea[]> {
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

// What a workbook says about its sheets: their names and order, the formats of numbers, the texts they share.

interface Sheet {
  name: string
  part: string
  hidden: boolean
}

interface Workbook {
  sheets: Sheet[]
  from1904: boolean
  /** By the style number of a cell. */
  kinds: NumberKind[]
  texts: string[]
}

/** Shared texts are looked up by number all through a sheet and so have to be held. */
const MAX_SHARED_CHARACTERS = 64 * 1024 * 1024

async function readWorkbook(zip: WorkbookZip): Promise<Workbook> {
  const targets = await readTargets(zip)
  const { sheets, from1904 } = await readSheets(zip, targets)
  return { sheets, from1904, kinds: await readKinds(zip), texts: await readSharedTexts(zip) }
}

async function readTargets(zip: WorkbookZip): Promise<Map<string, string>> {
  const targets = new Map<string, string>()
  await zip.parseWhole('xl/_rels/workbook.xml.rels', {
    open: (name, { Id, Target }) => {
      if (name !== 'Relationship' || Id === undefined || Target === undefined) return
      targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target.replace(/^\.\//, '')}`)
    },
  })
  return targets
}

async function readSheets(
  zip: WorkbookZip,
  targets: Map<string, string>,
): Promise<{ sheets: Sheet[]; from1904: boolean }> {
  const sheets: Sheet[] = []
  let from1904 = false
  await zip.parseWhole('xl/workbook.xml', {
    open: (name, attributes) => {
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const reference = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? ''
      const part = targets.get(reference)
      const hidden = (attributes.state ?? 'visible') !== 'visible'
      if (part && zip.has(part)) sheets.push({ name: attributes.name ?? '', part, hidden })
    },
  })
  return { sheets, from1904 }
}

async function readKinds(zip: WorkbookZip): Promise<NumberKind[]> {
  const kinds: NumberKind[] = []
  if (!zip.has('xl/styles.xml')) return kinds
  const codes = new Map<string, string>()
  let inCellFormats = false
  await zip.parseWhole('xl/styles.xml', {
    open: (name, { numFmtId = '0', formatCode }) => {
      if (name === 'numFmt' && formatCode !== undefined) codes.set(numFmtId, formatCode)
      if (name === 'cellXfs') inCellFormats = true
      if (name === 'xf' && inCellFormats) kinds.push(kindOfFormat(Number(numFmtId), codes.get(numFmtId)))
    },
    close: (name) => {
      if (name === 'cellXfs') inCellFormats = false
    },
  })
  return kinds
}

async function readSharedTexts(zip: WorkbookZip): Promise<string[]> {
  const texts: string[] = []
  if (!zip.has('xl/sharedStrings.xml')) return texts
  let characters = 0
  let text = ''
  let inText = false
  let inReadingAid = false
  await zip.parseWhole('xl/sharedStrings.xml', {
    open: (name) => {
      if (name === 'si') text = ''
      if (name === 'rPh') inReadingAid = true
      if (name === 't') inText = !inReadingAid
    },
    text: (piece) => {
      if (inText && text.length < MAX_RECORD_BYTES) text += piece
    },
    close: (name) => {
      if (name === 't') inText = false
      if (name === 'rPh') inReadingAid = false
      if (name !== 'si') return
      texts.push(unescapeCharacters(text))
      characters += text.length
      if (characters > MAX_SHARED_CHARACTERS)
        throw unreadable('it is too large for a workbook: save it as CSV')
    },
  })
  return texts
}

// What a number in a workbook means: its cell's format says whether it is a date, a share or just a number.

type NumberKind = 'plain' | 'percent' | 'date'

const DATE_FORMATS = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])
for (const [first, last] of [
  [27, 36],
  [50, 58],
] as const)
  for (let id = first; id <= last; id++) DATE_FORMATS.add(id)
const PERCENT_FORMATS = new Set([9, 10])

function kindOfFormat(id: number, code: string | undefined): NumberKind {
  if (code === undefined) return DATE_FORMATS.has(id) ? 'date' : PERCENT_FORMATS.has(id) ? 'percent' : 'plain'
  const bare = code
    .split(';')[0]!
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
  if (/general/i.test(bare)) return 'plain'
  if (bare.includes('%')) return 'percent'
  return /[dmyhs]/i.test(bare) ? 'date' : 'plain'
}

function numberText(written: string, kind: NumberKind, from1904: boolean): string {
  const number = Number(written)
  if (written.trim() === '' || !Number.isFinite(number)) return written
  if (kind === 'date') return dateText(number, from1904) ?? plainText(written, number)
  if (kind === 'percent') return `${Number((number * 100).toPrecision(15))}%`
  return plainText(written, number)
}

/**
 * A spreadsheet keeps 15 digits. A longer number whose further digits are all zero has most likely lost them: it stays
 * in scientific form, so that nobody takes it for an id. One with other digits was written by a program, exactly.
 */
function plainText(written: string, number: number): string {
  if (written.length <= 15 && PLAIN_DECIMAL.test(written)) return written
  if (Math.abs(number) < 1e15) return String(Number(number.toPrecision(15)))
  const exact = /^-?\d{16,}$/.test(written) && !/^-?\d{15}0+$/.test(written)
  return exact ? written : number.toExponential().replace('e', 'E')
}

const PLAIN_DECIMAL = /^-?\d+(\.\d+)?$/

const DAY = 86_400_000

/** Days since 1899-12-30, because Excel believes in a 29th of February 1900; a Mac's workbook counts from 1904. */
function dateText(serial: number, from1904: boolean): string | undefined {
  const days = from1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  if (serial < 0 || days >= 2_958_466) return undefined
  const milliseconds = Math.round((days * DAY) / 1000) * 1000
  const iso = new Date(Date.UTC(1899, 11, 30) + milliseconds).toISOString()
  if (serial < 1 && !from1904) return iso.slice(11, 19)
  return milliseconds % DAY === 0 ? iso.slice(0, 10) : iso.slice(0, 19)
}

/** `_x000D_`: how a workbook writes characters that XML cannot hold. */
function unescapeCharacters(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

// The parts of a workbook, streamed out of its zip: nothing is unpacked to disk or held.

/** A cell holds 32,767 characters at most; what goes on for longer without an end is no workbook. */
const MAX_UNENDED_CHARACTERS = 16 * 1024 * 1024
const MAX_PARTS = 10_000
const MAX_TAG_CHARACTERS = 4096

interface XmlHandler {
  /** Names come without their namespace's prefix. */
  open?: (name: string, attributes: Record<string, string>) => void
  text?: (text: string) => void
  close?: (name: string) => void
}

class WorkbookZip {
  readonly #zip: ZipFile
  readonly #parts: Map<string, Entry>

  constructor(zip: ZipFile, parts: Map<string, Entry>) {
    this.#zip = zip
    this.#parts = parts
  }

  has(part: string): boolean {
    return this.#parts.has(part)
  }

  sizeOf(part: string): number {
    return this.#parts.get(part)?.uncompressedSize ?? 0
  }

  close(): void {
    this.#zip.close()
  }

  /** Parses a part; yields after each piece, so that what it held can be taken away and the server gets its turn. */
  async *parse(part: string, handler: XmlHandler): AsyncGenerator<{ bytes: number }> {
    const entry = this.#parts.get(part)
    if (!entry) throw unreadable(`it is a workbook without ${part}`)
    const { parser, sinceEnd } = parserFor(handler)
    const decoder = new StringDecoder('utf8')
    let bytes = 0
    try {
      const pieces: AsyncIterable<Buffer> = await this.#zip.openReadStreamPromise(entry)
      for await (const piece of pieces) {
        parser.write(decoder.write(piece))
        bytes += piece.length
        if (sinceEnd(piece.length) > MAX_UNENDED_CHARACTERS) throw unreadable('it has a cell without an end')
        yield { bytes }
      }
      parser.write(decoder.end()).close()
    } catch (error) {
      throw asDamaged(error)
    }
  }

  /** A part's text, piece by piece; each begins with the end of the one before, so that no tag is cut. */
  async *texts(part: string): AsyncGenerator<string> {
    const entry = this.#parts.get(part)
    if (!entry) return
    let tail = ''
    try {
      const pieces: AsyncIterable<Buffer> = await this.#zip.openReadStreamPromise(entry)
      for await (const piece of pieces) {
        const text = tail + piece.toString('latin1')
        const cut = text.lastIndexOf('<')
        const end = cut < 0 || text.length - cut > MAX_TAG_CHARACTERS ? text.length : cut
        yield text.slice(0, end)
        tail = text.slice(end)
      }
      yield tail
    } catch (error) {
      throw asDamaged(error)
    }
  }

  async parseWhole(part: string, handler: XmlHandler): Promise<void> {
    for await (const _ of this.parse(part, handler));
  }
}

async function openWorkbook(path: string): Promise<WorkbookZip> {
  let zip: ZipFile | undefined
  try {
    zip = await openPromise(path, { lazyEntries: true, autoClose: false })
    const parts = new Map<string, Entry>()
    for await (const entry of zip.eachEntry()) {
      parts.set(entry.fileName.replace(/^\//, ''), entry)
      if (parts.size > MAX_PARTS) break
    }
    if (!parts.has('[Content_Types].xml') || !parts.has('xl/workbook.xml')) {
      throw unreadable('it is a zip archive, but no Excel workbook: unpack it first')
    }
    return new WorkbookZip(zip, parts)
  } catch (error) {
    zip?.close()
    throw asDamaged(error)
  }
}

function parserFor(handler: XmlHandler): {
  parser: Pick<SaxesParser, 'write' | 'close'>
  sinceEnd: (bytes: number) => number
} {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  let unended = 0
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('A workbook has no document type')
  })
  parser.on('opentag', (tag) => handler.open?.(localName(tag.name), tag.attributes))
  parser.on('text', (text) => handler.text?.(text))
  parser.on('closetag', (tag) => {
    unended = 0
    handler.close?.(localName(tag.name))
  })
  return {
    parser,
    sinceEnd: (bytes) => {
      unended += bytes
      return unended
    },
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function asDamaged(error: unknown): Error {
  const known = error instanceof Error && error.name === 'StagedoorError'
  return known ? error : unreadable('it is a damaged or incomplete Excel workbook', error)
}
