/**
 * The mapping of a file before it is uploaded: which column is which field, how certain that is and why, which fields stay
 * without a column, and which values nobody has declared. A column counts by its name and by what the workspace remembers,
 * as the reader takes it; what only looks like a field or holds such values is proposed, and used once a person confirms it.
 */
import { queryDuck } from '../duckdb.ts'
import type {
  MappingPreview,
  PreviewColumn,
  PreviewField,
  PreviewStyle,
  PreviewValues,
  UnknownValue,
} from '../mapping-shapes.ts'
import {
  type ReadOptionsMemory,
  type RecalledOptions,
  recallOptions,
  settleStyles,
  usedOptions,
} from '../read-options.ts'
import { chunkSource } from '../readers/chunks.ts'
import type { NormalisedFile } from '../readers/format.ts'
import { normaliseFile } from '../readers/normalise.ts'
import type { SpooledFile } from '../spool.ts'
import type { FileOptions } from '../stage.ts'
import { choicesOf, normaliseSpelling } from './compile-fields.ts'
import { type Dataset, type Field, NULL_TOKENS, titleOf } from './dataset.ts'
import {
  type HeaderMap,
  knownHeaderTest,
  mapHeaders,
  periodOf,
  type RememberedMapping,
  relativeDistance,
  rememberedField,
} from './headers.ts'
import { type Mapping, mergeValues, requireMappedFields } from './mapping.ts'
import {
  type Candidate,
  type ColumnMatch,
  type FileColumn,
  type MatchReason,
  matchColumns,
} from './match-columns.ts'
import {
  DAY_FIRST,
  type Evidence,
  MONTH_FIRST,
  profileSql,
  type Styles,
  stylesOf,
  UNAMBIGUOUS,
} from './profile.ts'
import { text } from './sql-text.ts'
import { hasForm, type ValueForm } from './value-patterns.ts'

interface PreviewRequest {
  readonly dataset: Dataset
  readonly platform: string
  readonly file: SpooledFile
  readonly remembered: Mapping
  /** How the same person had earlier files read. */
  readonly memories?: readonly ReadOptionsMemory[] | undefined
  /** How the file is to be read; `headers` and `values` are answers that were given already. */
  readonly options?: FileOptions | undefined
  /** The file is only the beginning of a longer one: its last line may be cut. */
  readonly head?: boolean | undefined
  readonly maxLines?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Reads the tables of lookups; without it their values are not looked at. */
  readonly lookups?: LookupReader | undefined
}

/** The values of these that are not in the table, each with the nearest that are. */
type LookupReader = (field: string, values: readonly string[]) => Promise<ReadonlyMap<string, string[]>>

const MAX_EXAMPLES = 5
const MAX_EXAMPLE_LENGTH = 120
/** Cells that are turned into JavaScript values, and the lines that are looked at of a file with few columns. */
const MAX_CELLS = 200_000
const MAX_SAMPLED = 1000
const MIN_SAMPLED = 50
const MAX_DISTINCT = 2000
const MAX_UNKNOWN_VALUES = 50
const MAX_CHOICES = 200

export async function previewMapping(request: PreviewRequest): Promise<MappingPreview> {
  const { dataset, platform, file, remembered, options = {}, head = false } = request
  const {
    decimal,
    dates,
    without = [],
    headers: chosen = {},
    values: chosenValues = {},
    rememberOptions: _,
    ...given
  } = options
  requireMappedFields(dataset, options)
  const memory: RememberedMapping = { headers: { ...remembered.headers, ...chosen } }
  const knowsHeader = knownHeaderTest(dataset, platform, memory)
  const recalled = await recallOptions(file, request.memories ?? [], options, knowsHeader)
  const normalised = await normaliseFile(file.path, file.folder, {
    ...recalled?.read,
    ...given,
    knowsHeader,
    ...(request.maxLines !== undefined && { maxLines: request.maxLines }),
    ...(request.signal && { signal: request.signal }),
  })
  const samples = await sampleColumns(normalised, head)
  const read = mapHeaders(dataset, platform, normalised.headers, memory)
  const columns = await columnsOf({
    dataset,
    platform,
    read,
    samples,
    chosen,
    remembered,
    lookups: request.lookups,
  })
  // As the reader would map it if every proposal were confirmed: that says which row types the file holds.
  const proposed = proposedHeaders(columns)
  const confirmed = mapHeaders(dataset, platform, normalised.headers, {
    headers: { ...memory.headers, ...proposed },
  })
  const fields = fieldsOf(dataset, confirmed, normalised, without)
  const values = await valuesOf({
    dataset,
    map: confirmed,
    file: normalised,
    head,
    known: mergeValues(remembered.field_values, chosenValues),
    lookups: request.lookups,
  })
  return {
    dataset: dataset.name,
    platform,
    format: normalised.format,
    encoding: normalised.encoding,
    file: await describeFile({
      dataset,
      platform,
      map: confirmed,
      file: normalised,
      samples,
      head,
      given: { decimal, dates },
      recalled,
    }),
    header_line: normalised.headerLine,
    lines: normalised.lines,
    sampled: samples[0]?.sampled ?? 0,
    columns,
    fields,
    values,
    proposed,
    complete:
      columns.every(({ certainty }) => certainty === 'sure' || certainty === 'none') &&
      fields.every(({ missing }) => !missing) &&
      values.every(({ severity }) => severity === 'warning'),
  }
}

// The file itself: how it is written, and its first lines.

const MAX_FIRST_LINES = 5
const MAX_STYLE_EXAMPLES = 3
/** 03/04/2026 and 1.234: both parts may be either. RE2, as DuckDB has it, and JavaScript read them alike. */
const TWO_WAY_DATE = '^\\s*(0?[1-9]|1[0-2])[/-](0?[1-9]|1[0-2])[/-][0-9]{2}'
const TWO_WAY_NUMBER = '^[^0-9.,]*[1-9][0-9]{0,2}[.,][0-9]{3}[^0-9.,]*$'
const DATE_TYPES = new Set(['date', 'timestamp', 'timestamptz'])
const NUMBER_TYPES = new Set(['decimal', 'money', 'percent'])

async function describeFile(request: {
  dataset: Dataset
  platform: string
  map: HeaderMap
  file: NormalisedFile
  samples: readonly ColumnSample[]
  head: boolean
  given: { decimal: Styles['decimal'] | undefined; dates: Styles['dates'] | undefined }
  recalled: RecalledOptions | undefined
}): Promise<MappingPreview['file']> {
  const { dataset, platform, map, file, samples, head, given, recalled } = request
  const columnsOf = (types: ReadonlySet<string>) =>
    Object.entries(map.fields).flatMap(([name, { column }]) =>
      types.has(dataset.fields[name]!.type) ? (samples.find((sample) => sample.column === column) ?? []) : [],
    )
  const found = await stylesOfFile({ dataset, platform, map, file, head })
  const settled = settleStyles(found, recalled)
  const style = async (
    kind: 'decimal' | 'dates',
    columns: readonly ColumnSample[],
  ): Promise<PreviewStyle> => {
    const twoWays = kind === 'dates' ? TWO_WAY_DATE : TWO_WAY_NUMBER
    // A format with numbers of its own has one decimal sign.
    const isOpen = kind === 'dates' || file.delimiter !== null
    const pattern = new RegExp(twoWays, 'u')
    const isTwoWay = (value: string) => {
      const match = pattern.exec(value)
      return match !== null && (kind === 'decimal' || Number(match[1]) !== Number(match[2]))
    }
    const open = isOpen ? columns.filter(({ values }) => values.some(isTwoWay)) : []
    const remembered = settled.styles[kind]
    const by =
      given[kind] !== undefined
        ? 'chosen'
        : PROOFS[found[kind]]
          ? 'file'
          : remembered !== undefined
            ? 'remembered'
            : null
    const proof = PROOFS[found[kind]]
    // RE2 writes \x{a0} where JavaScript writes \u{a0}.
    const proven = by === 'file' && proof ? new RegExp(proof.replaceAll('\\x{', '\\u{'), 'u') : undefined
    const values = columns.flatMap((column) => column.values)
    return {
      found: given[kind] ?? remembered ?? found[kind],
      by,
      proof: (proven && values.find((value) => proven.test(value))) ?? null,
      ambiguous: await linesWith(file, head, open, twoWays, kind === 'dates'),
      examples: [...new Set(open.flatMap((column) => column.values.filter(isTwoWay)))].slice(
        0,
        MAX_STYLE_EXAMPLES,
      ),
      columns: open.map(({ header }) => header),
    }
  }
  return {
    delimiter: file.delimiter,
    sheet: file.sheet ?? null,
    sheets: [...(file.sheets ?? [])],
    above_header: file.preamble.slice(0, MAX_FIRST_LINES),
    first_lines: await firstLines(file, head),
    decimal: await style('decimal', columnsOf(NUMBER_TYPES)),
    dates: await style('dates', columnsOf(DATE_TYPES)),
    recalled: recalled ? describeRecalled(recalled, settled) : null,
  }
}

function describeRecalled(
  recalled: RecalledOptions,
  settled: ReturnType<typeof settleStyles>,
): NonNullable<MappingPreview['file']['recalled']> {
  const { from, notes } = recalled
  return {
    shape: from.shape,
    upload_id: from.upload_id,
    change: from.change,
    options: usedOptions(recalled, settled.styles),
    notes: [...notes, ...settled.notes].map(({ message }) => message),
  }
}

/** What settles each style: a value that only it can have written. */
const PROOFS: Partial<Record<string, string>> = {
  dot: UNAMBIGUOUS.dot,
  comma: UNAMBIGUOUS.comma,
  dmy: DAY_FIRST,
  mdy: MONTH_FIRST,
}

async function stylesOfFile(request: {
  dataset: Dataset
  platform: string
  map: HeaderMap
  file: NormalisedFile
  head: boolean
}): Promise<Styles> {
  const { file, head, ...declared } = request
  if (file.chunks.length === 0) return { decimal: 'unknown', dates: 'unknown' }
  const upload = { workspace_id: '', client_id: null, upload_id: '' }
  const [evidence] = await queryDuck<Evidence>(profileSql({ ...declared, upload }, wholeLines(file, head)))
  return stylesOf(evidence!, file.delimiter)
}

async function linesWith(
  file: NormalisedFile,
  head: boolean,
  columns: readonly ColumnSample[],
  pattern: string,
  isDate: boolean,
): Promise<number> {
  if (columns.length === 0) return 0
  const part = (column: number, group: number) =>
    `regexp_extract(c${column}, ${text(pattern)}, ${group})::integer`
  const conditions = columns.map(({ column }) =>
    isDate
      ? `(CASE WHEN regexp_matches(c${column}, ${text(pattern)}) THEN ${part(column, 1)} <> ${part(column, 2)} ELSE false END)`
      : `regexp_matches(c${column}, ${text(pattern)})`,
  )
  const [row] = await queryDuck<{ lines: number | string }>(
    `SELECT count(*) AS lines FROM ${wholeLines(file, head)} WHERE ${conditions.join(' OR ')}`,
  )
  return Number(row?.lines ?? 0)
}

async function firstLines(
  file: NormalisedFile,
  head: boolean,
): Promise<MappingPreview['file']['first_lines']> {
  if (file.chunks.length === 0) return []
  const names = file.headers.map((_, column) => `c${column}`)
  const rows = await queryDuck<Record<string, string | null> & { line: string }>(
    `SELECT line, ${names.join(', ')} FROM ${wholeLines(file, head)} ORDER BY line LIMIT ${MAX_FIRST_LINES}`,
  )
  return rows.map((row) => ({
    line: Number(row.line),
    cells: names.map((name) => row[name]?.slice(0, MAX_EXAMPLE_LENGTH) ?? null),
  }))
}

// Samples: the first lines of the file, column by column.

interface ColumnSample {
  readonly column: number
  readonly header: string
  /** Of the lines looked at, those that are not empty. */
  readonly values: readonly string[]
  readonly sampled: number
}

export async function sampleColumns(file: NormalisedFile, head: boolean): Promise<ColumnSample[]> {
  const count = file.headers.length
  const limit = Math.min(MAX_SAMPLED, Math.max(MIN_SAMPLED, Math.floor(MAX_CELLS / count)))
  const names = file.headers.map((_, column) => `c${column}`)
  const rows =
    file.chunks.length === 0
      ? []
      : await queryDuck<Record<string, string | null>>(
          `SELECT ${names.join(', ')} FROM ${wholeLines(file, head)} LIMIT ${limit}`,
        )
  return file.headers.map((header, column) => {
    const values: string[] = []
    for (const row of rows) {
      const value = row[`c${column}`]?.trim() ?? ''
      if (!isNothing(value)) values.push(value)
    }
    return { column, header, values, sampled: rows.length }
  })
}

/** Lines whose values are in their places. */
function wholeLines(file: NormalisedFile, head: boolean): string {
  const source = chunkSource(file.chunks, file.headers.length)
  const uncut = head ? ` AND line < (SELECT max(line) FROM ${source})` : ''
  return `(SELECT * FROM ${source} WHERE coalesce(flaw, '') = ''${uncut})`
}

/** What people would call the values: the first form that all of them have. */
function sampleType(values: readonly string[]): string {
  if (values.length === 0) return 'empty'
  const looked = values.slice(0, MAX_LOOKED_AT)
  return SAMPLE_FORMS.find((form) => looked.every((value) => hasForm(value, form))) ?? 'text'
}

const MAX_LOOKED_AT = 300
const SAMPLE_FORMS = [
  ...['uuid', 'email', 'url', 'json', 'timestamptz', 'timestamp', 'date', 'time', 'boolean'],
  ...['integer', 'decimal', 'money', 'percent'],
] as readonly ValueForm[]

const NOTHING = new Set<string>(NULL_TOKENS)

function isNothing(value: string): boolean {
  return NOTHING.has(value)
}

// Columns: as the reader maps them, and proposals for the rest.

export async function columnsOf(mapped: {
  dataset: Dataset
  platform: string
  read: HeaderMap
  samples: readonly ColumnSample[]
  chosen: Readonly<Record<string, string | null>>
  remembered: Mapping
  lookups: LookupReader | undefined
}): Promise<PreviewColumn[]> {
  const { dataset, platform, read, samples, chosen, remembered, lookups } = mapped
  const fieldOf = new Map<number, string>()
  const sameAs = new Map<number, number>()
  for (const [field, { column, duplicates }] of Object.entries(read.fields)) {
    for (const one of [column, ...duplicates]) fieldOf.set(one, field)
    for (const one of duplicates) sameAs.set(one, column)
  }
  const firstOf = new Map<string, number>()
  for (const { header, column } of samples) {
    const first = firstOf.get(header)
    if (first === undefined) firstOf.set(header, column)
    else sameAs.set(column, first)
  }
  const ignored = (header: string) => mappingOf(chosen, remembered, header)?.field === null
  const open = samples.filter(
    ({ column, header }) =>
      !ignored(header) && !sameAs.has(column) && read.unknown.some((unknown) => unknown.column === column),
  )
  const matches = await matchOpen(dataset, platform, open, freeFields(dataset, read), lookups)
  return samples.map((sample): PreviewColumn => {
    const { column, header } = sample
    const mapping = mappingOf(chosen, remembered, header)
    const field = fieldOf.get(column) ?? null
    const base = {
      column,
      header,
      examples: examplesOf(sample),
      filled: sample.sampled === 0 ? 0 : sample.values.length / sample.sampled,
      type: sampleType(sample.values),
      ignored: mapping?.field === null,
      alternatives: [],
      same_as: sameAs.get(column) ?? null,
    }
    if (base.same_as !== null) {
      const reasons = ['The header is there more than once; the first column is used']
      return { ...base, field, certainty: field === null ? 'none' : 'sure', by: null, reasons }
    }
    if (mapping?.field === null) {
      const reasons = [mapping.by === 'chosen' ? 'Ignored in this file' : 'Ignored, as remembered']
      return { ...base, field: null, certainty: 'sure', by: mapping.by, reasons }
    }
    if (field !== null) {
      const by = mapping?.field === field ? mapping.by : 'name'
      return { ...base, field, certainty: 'sure', by, reasons: [SURE_REASONS[by]] }
    }
    const match = matches.get(column)
    const alternatives = (match?.others ?? []).map(({ candidate }) => ({
      field: candidate,
      title: titleOf(dataset, candidate),
    }))
    if (match?.candidate) {
      const { candidate, certainty, reasons } = match
      const by = reasons.some((reason) => NAME_REASONS.has(reason)) ? 'likeness' : 'content'
      return { ...base, field: candidate, certainty, by, reasons: reasonsOf(match), alternatives }
    }
    // A header of a field that another column fills has been passed over by the reader.
    const isSecond = !read.unknown.some((unknown) => unknown.column === column)
    const reasons = [
      isSecond ? 'It means a field that another column fills' : 'It is like no field of the dataset',
    ]
    return { ...base, field: null, certainty: 'none', by: null, reasons, alternatives }
  })
}

async function matchOpen(
  dataset: Dataset,
  platform: string,
  open: readonly ColumnSample[],
  free: readonly string[],
  lookups: LookupReader | undefined,
): Promise<Map<number, ColumnMatch>> {
  const columns = open.map(({ header, values }): FileColumn => {
    const distinct = [...new Set(values)]
    const unique = values.length > 0 && distinct.length === values.length
    return { header, values: distinct.slice(0, MAX_LOOKED_AT), unique }
  })
  const candidates = free.map((name): Candidate => {
    const field = dataset.fields[name]!
    const aliases = [...(field.aliases[platform] ?? []), ...(field.aliases.any ?? [])]
    const isRead = !field.replace && !field.split && !field.map && !field.lookup
    return {
      name,
      title: titleOf(dataset, name),
      aliases: aliases.map((alias) => (typeof alias === 'string' ? alias : alias.header)),
      required: field.required,
      // What a transform makes of a cell, or a lookup of its text, is of another form than the cell.
      ...(isRead && { type: field.type }),
      ...(isRead && field.type === 'enum' && field.values && { accepts: spellingsOf(field.values) }),
    }
  })
  if (lookups && columns.length > 0) {
    const values = [...new Set(columns.flatMap((column) => column.values ?? []))]
    for (const [index, candidate] of candidates.entries()) {
      const field = dataset.fields[candidate.name]!
      if (!field.lookup || field.replace || field.split || field.map) continue
      const unknown = await lookups(candidate.name, values)
      const accepts = values.filter((value) => !unknown.has(value))
      candidates[index] = { ...candidate, accepts, acceptsNoOther: true }
    }
  }
  const matches = matchColumns(columns, candidates, { context: dataset.title })
  return new Map(matches.map((match) => [open[match.column]!.column, match]))
}

function spellingsOf(values: NonNullable<Field['values']>): string[] {
  return Object.entries(values).flatMap(([value, others]) => [value, ...others])
}

const NAME_REASONS = new Set<MatchReason>(['same name', 'same meaning', 'similar name'])

const REASON_TEXTS: Record<MatchReason, string> = {
  'same name': 'It has the name of the field',
  'same meaning': 'Its header means the same',
  'similar name': 'Its header is like the name',
  'values fit the type': 'its values fit the type',
  'values do not fit the type': 'its values do not fit the type',
  'values found in the table': 'its values are values of the field',
  'another column is as near': 'another column or field is as near',
}

/** As one sentence would say it. */
function reasonsOf({ reasons }: ColumnMatch): string[] {
  return reasons.map((reason) => REASON_TEXTS[reason])
}

const SURE_REASONS: Record<'chosen' | 'memory' | 'name', string> = {
  chosen: 'Chosen for this file',
  memory: 'Remembered from an earlier file',
  name: 'The dataset knows this header',
}

/** What somebody said about a header. The reader compares more broadly; here only the reason that is shown depends on it. */
function mappingOf(
  chosen: Readonly<Record<string, string | null>>,
  remembered: Mapping,
  header: string,
): { field: string | null; by: 'chosen' | 'memory' } | undefined {
  const found = (headers: Readonly<Record<string, string | null>>) => rememberedField({ headers }, header)
  const now = found(chosen)
  if (now !== undefined) return { field: now, by: 'chosen' }
  const before = found(remembered.headers)
  return before === undefined ? undefined : { field: before, by: 'memory' }
}

/** Fields that no column fills, though one may. */
function freeFields(dataset: Dataset, read: HeaderMap): string[] {
  return Object.entries(dataset.fields)
    .filter(([name, { compute }]) => compute === undefined && read.fields[name] === undefined)
    .map(([name]) => name)
}

export function proposedHeaders(columns: readonly PreviewColumn[]): Record<string, string> {
  const proposed = columns.filter(
    ({ field, by, certainty }) =>
      field !== null && certainty !== 'uncertain' && (by === 'likeness' || by === 'content'),
  )
  return Object.fromEntries(proposed.map(({ header, field }) => [header, field!]))
}

function examplesOf({ values }: ColumnSample): string[] {
  const distinct = new Set<string>()
  for (const value of values) {
    distinct.add(value.length > MAX_EXAMPLE_LENGTH ? `${value.slice(0, MAX_EXAMPLE_LENGTH)}…` : value)
    if (distinct.size === MAX_EXAMPLES) break
  }
  return [...distinct]
}

// Fields: which column each comes from, and what is missing.

export function fieldsOf(
  dataset: Dataset,
  map: HeaderMap,
  file: NormalisedFile,
  without: readonly string[],
): PreviewField[] {
  const period = periodOf(file.preamble)
  const missing = new Set(map.missing.map(({ field }) => field))
  return Object.entries(dataset.fields).map(([name, field]): PreviewField => {
    const from = sourceOf(field, map, period !== null)
    return {
      field: name,
      title: titleOf(dataset, name),
      type: field.type,
      required: field.required ?? false,
      expected: field.expected ?? false,
      column: map.fields[name]?.column ?? null,
      from: map.fields[name] ? null : from,
      missing: missing.has(name) && from !== 'period' && !without.includes(name),
    }
  })
}

function sourceOf(field: Field, map: HeaderMap, hasPeriod: boolean): PreviewField['from'] {
  if (field.compute !== undefined) return 'compute'
  if (field.join) return 'join'
  const { period } = field
  if (period && ((map.fields[period.start] && map.fields[period.end]) || hasPeriod)) return 'period'
  return field.default === undefined ? null : 'default'
}

// Values: those of fields with a list or a table of values that neither has.

async function valuesOf(request: {
  dataset: Dataset
  map: HeaderMap
  file: NormalisedFile
  head: boolean
  known: Record<string, Record<string, string | null>>
  lookups: LookupReader | undefined
}): Promise<PreviewValues[]> {
  const { dataset, map, file, head, known, lookups } = request
  const found: PreviewValues[] = []
  for (const [name, mapped] of Object.entries(map.fields)) {
    const field = dataset.fields[name]!
    if (!hasValues(field, lookups) || isFoundInFile(dataset, map, field)) continue
    const distinct = await distinctValues(file, mapped.column, head)
    const open = distinct.filter(({ value }) => known[name]?.[value] === undefined)
    const { unknown, choices } = field.lookup
      ? await unknownInLookup(lookups!, name, field, open)
      : unknownSpellings(field, open)
    if (unknown.length === 0) continue
    found.push({
      field: name,
      title: titleOf(dataset, name),
      header: mapped.header,
      choices,
      unknown: unknown.slice(0, MAX_UNKNOWN_VALUES),
      more: Math.max(0, unknown.length - MAX_UNKNOWN_VALUES),
      severity: field.severity ?? 'error',
    })
  }
  return found
}

/** A pattern that replaces or a field that is joined makes other values of the cells; those are checked when the file is read. */
function hasValues(field: Field, lookups: LookupReader | undefined): boolean {
  if (field.replace || field.join || field.compute !== undefined) return false
  if (field.lookup) return lookups !== undefined
  return (
    field.type === 'boolean' || field.type === 'currency' || (field.type === 'enum' && Boolean(field.values))
  )
}

/** The file writes the table in which it is looked up: its own lines may be what others refer to. */
function isFoundInFile(dataset: Dataset, map: HeaderMap, { lookup }: Field): boolean {
  const found = lookup === undefined ? undefined : dataset.lookups?.[lookup]
  if (!found) return false
  return dataset.rows.some(
    ({ name, target, columns }) =>
      map.rowTypes.includes(name) && target === found.table && columns[found.by] !== undefined,
  )
}

export async function distinctValues(
  file: NormalisedFile,
  column: number,
  head: boolean,
): Promise<{ value: string; lines: number }[]> {
  if (file.chunks.length === 0) return []
  const rows = await queryDuck<{ value: string; lines: number | string }>(
    `SELECT trim(c${column}) AS value, count(*) AS lines FROM ${wholeLines(file, head)}
     WHERE c${column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${MAX_DISTINCT}`,
  )
  return rows
    .filter(({ value }) => !isNothing(value))
    .map(({ value, lines }) => ({ value, lines: Number(lines) }))
}

function unknownSpellings(
  field: Field,
  open: readonly { value: string; lines: number }[],
): { unknown: UnknownValue[]; choices: string[] } {
  const { spellings } = choicesOf(field)
  const choices = [...new Set(spellings.values())]
  const isKnown = (cell: string) => spellings.has(normaliseSpelling(cell))
  const unknown = open.flatMap(({ value, lines }): UnknownValue[] => {
    const cell = transformed(field, value)
    if (cell === null || isNothing(cell) || isKnown(cell)) return []
    return [{ value, lines, proposal: nearestSpelling(spellings, cell) }]
  })
  return { unknown, choices: choices.length > MAX_CHOICES ? [] : choices }
}

async function unknownInLookup(
  lookups: LookupReader,
  name: string,
  field: Field,
  open: readonly { value: string; lines: number }[],
): Promise<{ unknown: UnknownValue[]; choices: string[] }> {
  const cells = open.flatMap(({ value, lines }) => {
    const cell = transformed(field, value)
    return cell === null || isNothing(cell) ? [] : [{ value, lines, cell }]
  })
  const nearest = await lookups(name, [...new Set(cells.map(({ cell }) => cell))])
  const unknown = cells.flatMap(({ value, lines, cell }): UnknownValue[] => {
    const near = nearest.get(cell)
    if (near === undefined) return []
    const [best] = near
    const isNear =
      best !== undefined &&
      relativeDistance(normaliseSpelling(cell), normaliseSpelling(best)) <= MAX_VALUE_DISTANCE
    return [{ value, lines, proposal: isNear ? best : null }]
  })
  const listed = unknown.slice(0, MAX_UNKNOWN_VALUES)
  const choices = [...new Set(listed.flatMap(({ value }) => nearest.get(transformed(field, value)!) ?? []))]
  return { unknown, choices: choices.toSorted() }
}

/** The declared transforms that need no regular expression. */
function transformed(field: Field, value: string): string | null {
  let cell = value
  if (field.split) {
    const parts = cell.split(field.split.separator)
    cell = parts.at(field.split.part > 0 ? field.split.part - 1 : field.split.part)?.trim() ?? ''
  }
  if (field.case) cell = field.case === 'upper' ? cell.toUpperCase() : cell.toLowerCase()
  return field.map && Object.hasOwn(field.map, cell) ? field.map[cell]! : cell
}

/** Shorter words than headers: one letter in three may differ. */
const MAX_VALUE_DISTANCE = 0.34

function nearestSpelling(spellings: ReadonlyMap<string, string>, cell: string): string | null {
  const key = normaliseSpelling(cell)
  let best: { canonical: string; away: number } | undefined
  for (const [spelling, canonical] of spellings) {
    const away = relativeDistance(key, spelling)
    if (away <= MAX_VALUE_DISTANCE && (!best || away < best.away)) best = { canonical, away }
  }
  return best?.canonical ?? null
}
