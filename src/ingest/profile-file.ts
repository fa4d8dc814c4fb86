/**
 * What is in a file that nobody has declared: how it is written, and for each column its type, its gaps, its range, examples,
 * and which columns may be the key. The readers and DuckDB do it; nothing is written but a temporary folder, and no database is
 * needed. Types are inferred from some thousand lines and then held against all of them; the profile says from how many.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type FieldType, NULL_TOKENS } from './datasets/dataset.ts'
import { CURRENCY_CODES } from './datasets/headers.ts'
import { DAY_FIRST, MONTH_FIRST, type Styles, stylesOf, UNAMBIGUOUS } from './datasets/profile.ts'
import { BLANKS, listOf, matches, text } from './datasets/sql-text.ts'
import { duckPattern, hasForm, VALUE_FORMS, type ValueForm } from './datasets/value-patterns.ts'
import { queryDuck } from './duckdb.ts'
import { chunkSource } from './readers/chunks.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './readers/format.ts'
import { normaliseFile } from './readers/normalise.ts'

export interface ColumnProfile {
  readonly header: string
  readonly type: FieldType
  /** Cells without a value. */
  readonly nulls: number
  readonly distinct: number
  /** `distinct` is off by up to a third: of a column of many values that is not unique. */
  readonly distinctIsEstimate: boolean
  /** Every line has a value, and none is there twice. */
  readonly unique: boolean
  /** Filled cells that are not of the type. */
  readonly misfits: number
  /** Of numbers, dates and times by their value, of text by its letters; null: there is none. */
  readonly min: string | null
  readonly max: string | null
  /** Characters of the longest value. */
  readonly maxLength: number
  readonly examples: readonly string[]
}

export interface FileProfile {
  readonly file: string
  readonly bytes: number
  readonly format: NormalisedFile['format']
  /** As found, for people. */
  readonly encoding: string
  readonly delimiter: string | null
  /** 0: the file has none. */
  readonly headerLine: number
  readonly lines: number
  /** Lines whose cells cannot be told apart. */
  readonly brokenLines: number
  readonly decimal: Styles['decimal']
  readonly dates: Styles['dates']
  readonly columns: readonly ColumnProfile[]
  /** Columns, or a few together, that have another value in every line; the likeliest first. */
  readonly keys: readonly (readonly string[])[]
  /** Everything else was found in all lines. */
  readonly sampled: SampledLines
  readonly notes: readonly FileNote[]
}

/** How many lines were looked at for what is inferred. */
interface SampledLines {
  /** For the types and the examples. */
  readonly types: number
  /** For `decimal` and `dates`. */
  readonly styles: number
}

/** A profile with distinct values of each column as they stand in the file: what columns are matched by. */
export interface SampledProfile extends FileProfile {
  readonly samples: readonly (readonly string[])[]
  /** Of a file of several chunks that can be cut: the bytes of its first lines, the header among them. */
  readonly head: { readonly bytes: number; readonly lines: number } | null
}

export type ProfileOptions = Pick<
  ReadOptions,
  | 'format'
  | 'encoding'
  | 'delimiter'
  | 'columns'
  | 'headerLine'
  | 'sheet'
  | 'knowsHeader'
  | 'signal'
  | 'onProgress'
>

export async function profileFile(path: string, options: ProfileOptions = {}): Promise<SampledProfile> {
  const { size } = await stat(path)
  const folder = await mkdtemp(join(tmpdir(), 'stagedoor-profile-'))
  try {
    const file = await normaliseFile(path, folder, options)
    options.signal?.throwIfAborted()
    return { file: basename(path), bytes: size, ...(await profileChunks(file, options.signal)) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The names of a file's columns. */
export async function readHeaders(path: string, options: ProfileOptions = {}): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'stagedoor-profile-'))
  try {
    return (await normaliseFile(path, folder, options)).headers
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function profileChunks(
  file: NormalisedFile,
  signal?: AbortSignal,
): Promise<Omit<SampledProfile, 'file' | 'bytes'>> {
  const { format, encoding, delimiter, headerLine, headers, lines, notes } = file
  const rows = await sampleRows(file)
  const cells = headers.map((_, column) =>
    rows.map((row) => trimmed(row[column] ?? '')).filter((cell) => !EMPTY.has(cell)),
  )
  const types = cells.map(inferType)
  const { styles, lines: styledLines } = await findStyles(file, types)
  signal?.throwIfAborted()
  const measured = await measureColumns(file, types, styles, cells, rows.length)
  signal?.throwIfAborted()
  const { isUnique, combined } = await findKeys(file, types, measured, rows)
  const columns = headers.map((header, column): ColumnProfile => {
    const { nulls, distinct, isCounted, misfits, min, max, maxLength } = measured.columns[column]!
    const unique = isUnique[column]!
    return {
      header,
      type: types[column]!,
      nulls,
      distinct: unique ? lines : distinct,
      distinctIsEstimate: !unique && !isCounted,
      unique,
      misfits,
      min,
      max,
      maxLength,
      examples: [...new Set(cells[column])].slice(0, MAX_EXAMPLES),
    }
  })
  return {
    format,
    encoding,
    delimiter,
    headerLine,
    lines,
    brokenLines: measured.brokenLines,
    ...styles,
    columns,
    keys: rankKeys(columns, combined),
    sampled: { types: rows.length, styles: styledLines },
    notes,
    samples: cells.map((values) => [...new Set(values)]),
    head: (file.chunks.length > 1 && file.head) || null,
  }
}

const MAX_EXAMPLES = 3
const MAX_SAMPLE_CELLS = 60_000
const MAX_SAMPLE_ROWS = 3_000
const EMPTY: ReadonlySet<string> = new Set(NULL_TOKENS)
const OUTER_BLANKS = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, 'g')

function trimmed(cell: string): string {
  return cell.replace(OUTER_BLANKS, '')
}

/** The beginning, the middle and the end. */
function partOf(chunks: readonly string[]): string[] {
  return [...new Set([chunks[0]!, chunks[Math.floor(chunks.length / 2)]!, chunks.at(-1)!])]
}

async function sampleRows({ chunks, headers, lines }: NormalisedFile): Promise<string[][]> {
  const wanted = Math.min(MAX_SAMPLE_ROWS, Math.max(100, Math.floor(MAX_SAMPLE_CELLS / headers.length)))
  const chosen = partOf(chunks)
  const linesEach = Math.ceil(lines / Math.max(1, chunks.length))
  const rowsEach = Math.ceil(wanted / chosen.length)
  const found: string[][] = []
  for (const chunk of chosen) {
    const every = Math.max(1, Math.floor(linesEach / rowsEach))
    const source = chunkSource([chunk], headers.length)
    const rows = await readCells(
      headers.length,
      (cells) =>
        `SELECT ${cells} FROM ${source} WHERE flaw = '' AND hash(line) % ${every} = 0 LIMIT ${rowsEach}`,
    )
    // A chunk whose lines are few, or numbered in steps.
    const kept =
      rows.length > 0
        ? rows
        : await readCells(headers.length, (cells) => `SELECT ${cells} FROM ${source} LIMIT ${rowsEach}`)
    found.push(...kept)
  }
  return found
}

/** A vector of every column that is read is held in memory: measured, 1,600 at once do not fit into 128 MB. */
const CELLS_AT_ONCE = 400

/** The same lines each time: one thread reads them in their order. */
async function readCells(columns: number, statement: (cells: string) => string): Promise<string[][]> {
  const rows: string[][] = []
  for (let from = 0; from < columns; from += CELLS_AT_ONCE) {
    const size = Math.min(CELLS_AT_ONCE, columns - from)
    const cells = Array.from({ length: size }, (_, index) => `c${from + index}`).join(', ')
    const part = await queryDuck<Record<string, string>>(statement(cells))
    for (const [index, row] of part.entries()) {
      rows[index] ??= []
      rows[index].push(...Object.values(row))
    }
  }
  return rows
}

// The type of a column.

const CURRENCIES: ReadonlySet<string> = new Set(CURRENCY_CODES)
/** Some cells of real files are wrong; a column is of a type if nearly all of them are. */
const NEARLY_ALL = 0.95

/** The most specific type that reads nearly all values. */
export function inferType(filled: readonly string[]): FieldType {
  if (filled.length === 0) return 'text'
  const counts = new Map<ValueForm, number>()
  for (const form of VALUE_FORMS)
    counts.set(
      form,
      filled.reduce((count, value) => count + (hasForm(value, form) ? 1 : 0), 0),
    )
  const share = (...forms: ValueForm[]) =>
    forms.reduce((sum, form) => sum + counts.get(form)!, 0) / filled.length
  const isMostly = (...forms: ValueForm[]) => share(...forms) >= NEARLY_ALL
  if (isMostly('uuid')) return 'uuid'
  if (isMostly('boolean')) return 'boolean'
  if (isMostly('timestamptz')) return 'timestamptz'
  if (isMostly('timestamp', 'timestamptz') || (share('timestamp') > 0.2 && isMostly('timestamp', 'date')))
    return 'timestamp'
  if (isMostly('date')) return 'date'
  if (isMostly('time')) return 'time'
  // 007 is a code: as a number its zeros would be lost.
  if (share('leadingZero') > 0.01 && isMostly('integer')) return 'text'
  if (isMostly('integer')) return 'integer'
  if (isMostly('percent')) return 'percent'
  if (share('money') >= 0.5 && isMostly('money', 'decimal')) return 'money'
  if (isMostly('decimal')) return 'decimal'
  if (isMostly('email')) return 'email'
  if (isMostly('url')) return 'url'
  if (isMostly('json')) return 'json'
  return filled.every((value) => CURRENCIES.has(value)) ? 'currency' : 'text'
}

/** The forms that a type reads: for counting the cells that are something else. */
const FORMS: Partial<Record<FieldType, readonly ValueForm[]>> = {
  uuid: ['uuid'],
  boolean: ['boolean'],
  timestamptz: ['timestamptz'],
  timestamp: ['timestamp', 'timestamptz', 'date'],
  date: ['date'],
  time: ['time'],
  integer: ['integer'],
  percent: ['percent', 'decimal'],
  money: ['money', 'decimal'],
  decimal: ['decimal'],
  email: ['email'],
  url: ['url'],
  json: ['json'],
}

const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'decimal', 'money', 'percent'])
const DATES: ReadonlySet<FieldType> = new Set(['date', 'timestamp', 'timestamptz'])

/** 12,50 or 31/01/2024 settles what 1,234 or 01/02/2024 means everywhere. Looked for in a part of the file: it takes long. */
async function findStyles(
  { chunks, headers, delimiter, format }: NormalisedFile,
  types: readonly FieldType[],
): Promise<{ styles: Pick<FileProfile, 'decimal' | 'dates'>; lines: number }> {
  const evidence = { dot: 0, comma: 0, dmy: 0, mdy: 0 }
  let lines = 0
  const source = chunkSource(partOf(chunks), headers.length)
  for (let from = 0; from < types.length; from += CELLS_AT_ONCE) {
    const sums = Object.entries(styleCounts(types, from)).map(
      ([name, parts]) => `${parts.join(' + ')} AS ${name}`,
    )
    const [found] = await queryDuck<Record<keyof typeof evidence | 'lines', string>>(
      `SELECT count(*) AS lines, ${sums.join(', ')} FROM ${source}`,
    )
    lines = Number(found!.lines)
    for (const name of ['dot', 'comma', 'dmy', 'mdy'] as const) evidence[name] += Number(found![name])
  }
  return { styles: stylesOf(evidence, format === 'csv' ? delimiter : null), lines }
}

/** SQL of what speaks for each style, in as many columns as are read at once. */
function styleCounts(types: readonly FieldType[], from: number): Record<string, string[]> {
  const counts = { dot: ['0'], comma: ['0'], dmy: ['0'], mdy: ['0'] }
  for (const [index, type] of types.slice(from, from + CELLS_AT_ONCE).entries()) {
    const cell = `c${from + index}`
    if (NUMBERS.has(type) && type !== 'integer') {
      counts.dot.push(
        `count_if(contains(${cell}, '.') AND regexp_matches(${cell}, ${text(UNAMBIGUOUS.dot)}))`,
      )
      counts.comma.push(
        `count_if(contains(${cell}, ',') AND regexp_matches(${cell}, ${text(UNAMBIGUOUS.comma)}))`,
      )
    }
    if (!DATES.has(type)) continue
    counts.dmy.push(`count_if(regexp_matches(${cell}, ${text(DAY_FIRST)}))`)
    counts.mdy.push(`count_if(regexp_matches(${cell}, ${text(MONTH_FIRST)}))`)
  }
  return counts
}

// All lines.

interface MeasuredColumn {
  nulls: number
  distinct: number
  isCounted: boolean
  /** No value was found twice so far; false: it is certainly no key. */
  mayBeUnique: boolean
  misfits: number
  min: string | null
  max: string | null
  maxLength: number
}

interface Measured {
  columns: MeasuredColumn[]
  brokenLines: number
}

/** Several statements for a wide file: one with thousands of aggregates takes longer to plan than to run. */
const COLUMNS_AT_ONCE = 24

async function measureColumns(
  { chunks, headers, lines }: NormalisedFile,
  types: readonly FieldType[],
  styles: Pick<FileProfile, 'decimal' | 'dates'>,
  cells: readonly (readonly string[])[],
  sampledRows: number,
): Promise<Measured> {
  const source = chunkSource(chunks, headers.length)
  const columns: MeasuredColumn[] = []
  const isNarrow = headers.length <= MAX_COUNTED_COLUMNS
  let brokenLines = 0
  for (let from = 0; from < headers.length; from += COLUMNS_AT_ONCE) {
    const batch = headers.slice(from, from + COLUMNS_AT_ONCE).map((_, index) => from + index)
    const trimmedCells = batch.map((column) => `${trimSql(`c${column}`)} AS c${column}`)
    const filled = batch.map((column) => `${filledSql(`c${column}`)} AS c${column}`)
    const values = await Promise.all(
      batch.map((column) => comparableSql(`c${column}`, types[column]!, styles, cells[column]!)),
    )
    const compared = batch.map((column, index) => `c${column}, ${values[index]} AS v${column}`)
    let triedInPart = 0
    const measures = batch.map((column): ColumnMeasures => {
      const values = new Set(cells[column]).size
      const mayBeUnique = sampledRows > 0 && values === sampledRows
      // The estimate is off by up to a third, so a column of few values is counted, and every column of a short file.
      const hasFewValues = values <= MAX_COUNTED && (values <= sampledRows / 2 || lines <= MAX_COUNTED_LINES)
      const isCounted = isNarrow && hasFewValues
      const isTriedInPart = mayBeUnique && !isCounted && triedInPart++ < MAX_TRIED_IN_PART
      return { column, type: types[column]!, isCounted, mayBeUnique, isTriedInPart }
    })
    const [row] = await queryDuck<Record<string, string | null>>(
      `SELECT count_if(flaw <> '') AS broken, ${measures.flatMap(measuresSql).join(', ')}
         FROM (SELECT flaw, ${compared.join(', ')}
                 FROM (SELECT flaw, ${filled.join(', ')} FROM (SELECT flaw, ${trimmedCells.join(', ')} FROM ${source})))`,
    )
    brokenLines = Number(row!.broken)
    for (const { column, isCounted, mayBeUnique } of measures)
      columns.push({
        nulls: Number(row![`n${column}`]),
        distinct: Number(row![`d${column}`]),
        isCounted,
        mayBeUnique: mayBeUnique && row![`p${column}`] === row![`q${column}`],
        misfits: Number(row![`w${column}`]),
        min: row![`a${column}`] ?? null,
        max: row![`z${column}`] ?? null,
        maxLength: Number(row![`l${column}`] ?? 0),
      })
  }
  return { columns, brokenLines }
}

const ASCII_BLANKS = [...BLANKS].filter((blank) => blank < '\x80')
const BLANK_AT_AN_END = text(`^[${BLANKS}]|[${BLANKS}]$`)

/**
 * `trim(cell, BLANKS)`, which walks over every character: measured on 8.6 million cells, 3.2 s of CPU, this way 0.5 s. Most cells are
 * ASCII and have no blank at an end, which comparisons of single bytes tell; of the others a pattern tells it.
 */
function trimSql(cell: string): string {
  const blankBehind = ASCII_BLANKS.map((blank) => `ends_with(${cell}, ${text(blank)})`).join(' OR ')
  return `CASE WHEN ${cell} BETWEEN '!' AND '~' AND strlen(${cell}) = length(${cell}) AND NOT (${blankBehind}) THEN ${cell}
    WHEN regexp_matches(${cell}, ${BLANK_AT_AN_END}) THEN trim(${cell}, ${text(BLANKS)}) ELSE ${cell} END`
}

const NULLS_SQL = NULL_TOKENS.map(text).join(', ')
const MAX_NULL_BYTES = Math.max(...NULL_TOKENS.map((token) => Buffer.byteLength(token)))

/** Of a trimmed cell. */
function filledSql(cell: string): string {
  return `CASE WHEN strlen(${cell}) > ${MAX_NULL_BYTES} THEN ${cell} WHEN ${cell} IN (${NULLS_SQL}) THEN NULL ELSE ${cell} END`
}

interface ColumnMeasures {
  readonly column: number
  readonly type: FieldType
  readonly isCounted: boolean
  readonly mayBeUnique: boolean
  readonly isTriedInPart: boolean
}

function measuresSql({ column, type, isCounted, isTriedInPart }: ColumnMeasures): string[] {
  const cell = `c${column}`
  const distinct = `${isCounted ? 'count(DISTINCT' : 'approx_count_distinct('} ${cell})`
  const forms = FORMS[type]?.map((form) => matches(cell, duckPattern(form))).join(' OR ')
  const misfits =
    NUMBERS.has(type) || DATES.has(type)
      ? `count(${cell}) - count(v${column})`
      : `count_if(NOT (${forms ?? 'true'}))`
  return [
    `count(*) - count(${cell}) AS n${column}`,
    `${distinct} AS d${column}`,
    `${misfits} AS w${column}`,
    `CAST(min(v${column}) AS VARCHAR) AS a${column}`,
    `CAST(max(v${column}) AS VARCHAR) AS z${column}`,
    `max(length(${cell})) AS l${column}`,
    ...(isTriedInPart ? partSql(cell, `p${column}`, `q${column}`) : []),
  ]
}

/**
 * Whether values repeat among a sixteenth of them, chosen by their hash: where they do, no table of all values has to be held.
 * The two are equal where none repeats.
 */
function partSql(cells: string, distinct: string, all: string): string[] {
  const isInPart = `hash(${cells}) % 16 = 0`
  return [
    `count(DISTINCT hash(${cells})) FILTER (${isInPart}) AS ${distinct}`,
    `count_if(${isInPart}) AS ${all}`,
  ]
}

const MAX_COUNTED = 1_000
const MAX_COUNTED_LINES = 10_000
/** Each that is counted holds a table in memory; the two limits keep a statement within DuckDB's. */
const MAX_TRIED_IN_PART = 6
const MAX_COUNTED_COLUMNS = 40
const MAX_OTHER_SIGNS = 24

/** Text longer than that is compared by its beginning. */
const MAX_TEXT = 60

/** The value of a cell as something that has an order; NULL where it is not of the type. */
async function comparableSql(
  cell: string,
  type: FieldType,
  { decimal, dates }: Pick<FileProfile, 'decimal' | 'dates'>,
  cells: readonly string[],
): Promise<string> {
  if (type === 'integer')
    return `coalesce(try_cast(${cell} AS HUGEINT), try_cast(replace(${cell}, '−', '-') AS HUGEINT))`
  if (NUMBERS.has(type)) {
    const mark = decimal === 'comma' ? ',' : '.'
    const others = [...new Set(cells.join(''))].filter((sign) => !/[0-9−+-]/.test(sign) && sign !== mark)
    const bare = others
      .slice(0, MAX_OTHER_SIGNS)
      .reduce((sql, sign) => `replace(${sql}, ${text(sign)}, '')`, cell)
    // Measured: a decimal of more than 18 digits takes twenty times as long to read.
    const digits = Math.min(6, Math.max(0, ...cells.map((value) => decimalsOf(value, mark))))
    const longest = Math.max(0, ...cells.map((value) => value.replace(/[^0-9]/g, '').length))
    const number = longest + digits <= 17 ? `DECIMAL(18, ${digits})` : 'DOUBLE'
    const rewritten = `try_cast(replace(replace(${bare}, '−', '-'), ${text(mark)}, '.') AS ${number})`
    // Most are written as DuckDB reads them. A sign that it reads, too, may mean something else here.
    if (mark === ',' || others.some((sign) => /[.eE_]/.test(sign))) return rewritten
    return `coalesce(try_cast(${cell} AS ${number}), ${rewritten})`
  }
  if (!DATES.has(type))
    return `CASE WHEN strlen(${cell}) <= ${MAX_TEXT} THEN ${cell} ELSE left(${cell}, ${MAX_TEXT}) END`
  const formats = await formatsOf(cells, type, dates)
  const read = formats.length > 0 ? [`try_strptime(${cell}, ${listOf(formats)})`] : []
  if (type === 'date') return read[0] ? `CAST(${read[0]} AS DATE)` : `CAST(NULL AS DATE)`
  if (read.length === 0 || type === 'timestamptz')
    read.push(`CAST(try_cast(${cell} AS TIMESTAMPTZ) AS TIMESTAMP)`)
  return `coalesce(${read.join(', ')})`
}

function decimalsOf(value: string, mark: string): number {
  const at = value.lastIndexOf(mark)
  return at < 0 ? 0 : (/^[0-9]*/.exec(value.slice(at + 1))?.[0].length ?? 0)
}

/** Of the ways to write a date those that the values have: each that is tried costs time in every line. */
async function formatsOf(
  cells: readonly string[],
  type: FieldType,
  dates: Styles['dates'],
): Promise<string[]> {
  const slashed = ['/', '-'].map((mark) =>
    (dates === 'mdy' ? ['%m', '%d', '%Y'] : ['%d', '%m', '%Y']).join(mark),
  )
  const days = ['%Y-%m-%d', '%Y/%m/%d', '%Y.%m.%d', '%d.%m.%Y', '%d.%m.%y', ...slashed, ...WRITTEN_DAYS]
  const formats = type === 'date' ? days : days.flatMap((day) => TIMES.map((time) => day + time))
  const counts = formats.map((format, index) => `count(try_strptime(value, ${text(format)})) AS f${index}`)
  const [found] = await queryDuck<Record<string, string>>(
    `SELECT ${counts.join(', ')} FROM (SELECT unnest(${listOf([...new Set(cells)])}) AS value)`,
  )
  return formats.filter((_, index) => Number(found![`f${index}`]) > 0)
}

const WRITTEN_DAYS = ['%b %d, %Y', '%B %d, %Y', '%d %b %Y', '%d %B %Y', '%d-%b-%Y']
const TIMES = [' %H:%M:%S', ' %H:%M:%S.%f', ' %H:%M', 'T%H:%M:%S', 'T%H:%M:%S.%f', ' %I:%M %p', '']

// Keys.

/** Lines that a combination is tried on before the whole file is counted. */
const MAX_COMBINED = 3
const MAX_COMBINED_COLUMNS = 8
const MAX_COMBINATIONS = 4
/** Of approx_count_distinct. */
const ESTIMATE = 0.65

async function findKeys(
  { chunks, headers, lines }: NormalisedFile,
  types: readonly FieldType[],
  { columns }: Measured,
  rows: readonly (readonly string[])[],
): Promise<{ isUnique: boolean[]; combined: number[][] }> {
  const source = chunkSource(chunks, headers.length)
  const isFilled = (column: number) => columns[column]!.nulls === 0
  const nearlyUnique = headers
    .map((_, column) => column)
    .filter((column) => isFilled(column) && columns[column]!.mayBeUnique)
    .filter((column) => columns[column]!.distinct >= ESTIMATE * lines)
  const counted = await countDistinct(
    source,
    nearlyUnique.map((column) => [column]),
    Math.floor(MAX_COUNTED_CELLS / Math.max(1, lines)),
  )
  const isUnique = headers.map(() => false)
  for (const [index, column] of nearlyUnique.entries()) isUnique[column] = counted[index] === lines
  if (isUnique.some(Boolean) || lines < 2) return { isUnique, combined: [] }
  const parts = headers
    .map((_, column) => column)
    .filter(
      (column) =>
        isFilled(column) && columns[column]!.distinct > 1 && isKeyType(types[column]!, columns[column]!),
    )
    .sort((a, b) => columns[b]!.distinct - columns[a]!.distinct)
    .slice(0, MAX_COMBINED_COLUMNS)
    .sort((a, b) => a - b)
  for (let size = 2; size <= MAX_COMBINED; size++) {
    const tried = combinations(parts, size)
      .filter(
        (some) => new Set(rows.map((row) => some.map((at) => row[at]).join('\x1f'))).size === rows.length,
      )
      .slice(0, MAX_COMBINATIONS)
    const left = await withoutRepeatsInPart(source, tried)
    const counts = await countDistinct(source, left)
    const found = left.filter((_, index) => counts[index] === lines)
    if (found.length > 0) return { isUnique, combined: found }
  }
  return { isUnique, combined: [] }
}

/** A file of fewer lines has more columns counted: its key may be the last of many. */
const MAX_COUNTED_CELLS = 2_000_000

async function countDistinct(source: string, groups: readonly number[][], most = 0): Promise<number[]> {
  const counts: number[] = []
  // One by one: each holds a number of every line in memory.
  for (const group of groups.slice(0, Math.max(most, MAX_COMBINED_COLUMNS))) {
    const cells = group.map((column) => trimSql(`c${column}`)).join(', ')
    const [row] = await queryDuck<{ count: string }>(
      `SELECT count(DISTINCT hash(${cells})) AS count FROM ${source}`,
    )
    counts.push(Number(row!.count))
  }
  return counts
}

/** In one pass for all, where each that is counted takes one. */
async function withoutRepeatsInPart(source: string, groups: readonly number[][]): Promise<number[][]> {
  if (groups.length < 2) return [...groups]
  const used = [...new Set(groups.flat())]
  const cells = used.map((column) => `${trimSql(`c${column}`)} AS c${column}`)
  const parts = groups.flatMap((group, index) =>
    partSql(group.map((column) => `c${column}`).join(', '), `p${index}`, `q${index}`),
  )
  const [row] = await queryDuck<Record<string, string>>(
    `SELECT ${parts.join(', ')} FROM (SELECT ${cells.join(', ')} FROM ${source})`,
  )
  return groups.filter((_, index) => row![`p${index}`] === row![`q${index}`])
}

/** Amounts and long texts are not what people know rows by. */
function isKeyType(type: FieldType, { maxLength }: MeasuredColumn): boolean {
  return !['decimal', 'money', 'percent', 'json', 'boolean'].includes(type) && maxLength <= 200
}

function combinations(of: readonly number[], size: number): number[][] {
  if (size === 0) return [[]]
  return of.flatMap((first, at) => combinations(of.slice(at + 1), size - 1).map((rest) => [first, ...rest]))
}

/** Ids and codes before names, names before amounts; among equals the order of the file. */
function rankKeys(columns: readonly ColumnProfile[], combined: readonly number[][]): string[][] {
  const rank = ({ header, type, maxLength }: ColumnProfile) => {
    if (/(^|[^a-z])(id|sku|code|nr|no|number|key|uuid|isbn|ean)([^a-z]|$)|nummer$|[a-z]Id$/i.test(header))
      return 0
    if (type === 'uuid' || type === 'email') return 1
    if (type === 'integer' || (type === 'text' && maxLength <= 40)) return 2
    return ['date', 'timestamp', 'timestamptz', 'text', 'url'].includes(type) ? 3 : 4
  }
  const single = columns.filter(({ unique }) => unique)
  return [
    ...single.toSorted((a, b) => rank(a) - rank(b)).map(({ header }) => [header]),
    ...combined.map((group) => group.map((column) => columns[column]!.header)),
  ]
}
