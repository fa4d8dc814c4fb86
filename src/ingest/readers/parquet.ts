/** A Parquet file as chunks, through DuckDB: every value as text, without a digit lost. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StagedoorError } from '../../kernel/errors.ts'
import { duckName, duckText, queryDuck, runDuck } from '../duckdb.ts'
import { MAX_RECORD_BYTES, MAX_SHOWN_CHARACTERS } from './csv-record.ts'
import { headerNames, MAX_COLUMNS, type NormalisedFile, type ReadOptions, unreadable } from './format.ts'

/** A column of the chunks: a column of the file, or a member of a struct in it. */
interface Column {
  name: string
  type: string
  /** SQL of its value. */
  value: string
}

/** Every vector of a column takes 32 KB, at each step of turning it into text: wide files have shorter chunks. */
const MAX_CELLS_IN_CHUNK = 1_000_000
const MAX_DEPTH = 50
const STRUCT = /^STRUCT\(.*\)$/s

export async function normaliseParquet(
  path: string,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  const { columns, lines, source } = await describe(path, options.keepsJson)
  if (lines === 0) throw new StagedoorError('file_has_no_rows')
  if (options.maxLines !== undefined && lines > options.maxLines) {
    throw new StagedoorError('upload_too_many_lines', { limit: options.maxLines })
  }
  const headers = headerNames(columns.map(({ name }) => name))
  const total = (await stat(path)).size
  const perChunk = Math.min(options.chunkLines ?? 20_000, Math.ceil(MAX_CELLS_IN_CHUNK / columns.length))
  const chunks: string[] = []
  for (let from = 0; from < lines; from += perChunk) {
    options.signal?.throwIfAborted()
    const chunk = join(folder, `chunk-${String(chunks.length + 1).padStart(5, '0')}.csv`)
    await writeRows({ columns, source, from, count: perChunk, chunk })
    chunks.push(chunk)
    const done = Math.min(lines, from + perChunk)
    options.onProgress?.({ bytes: Math.floor((total * done) / lines), total, lines: done })
  }
  return {
    format: 'parquet',
    encoding: 'Parquet',
    delimiter: null,
    preamble: [],
    headerLine: 0,
    headers,
    lines,
    chunks,
    notes: [],
  }
}

async function describe(
  path: string,
  keepsJson: ReadOptions['keepsJson'],
): Promise<{ columns: Column[]; lines: number; source: string }> {
  // Older writers do not say which of their bytes are text.
  const file = `read_parquet(${duckText(path)}, binary_as_string = true)`
  try {
    const columns = (await describeSelect(`SELECT * FROM ${file}`)).map(({ name, type }) => ({
      name,
      type,
      value: duckName(name),
    }))
    const [counted] = await queryDuck<{ lines: string }>(
      `SELECT sum(num_rows)::BIGINT AS lines FROM parquet_file_metadata(${duckText(path)})`,
    )
    return {
      columns: await flatten(columns, file, 0, keepsJson),
      lines: Number(counted?.lines ?? 0),
      source: numberedSql(path, columns),
    }
  } catch (error) {
    if (error instanceof StagedoorError) throw error
    throw unreadable('it is a damaged or incomplete Parquet file', error)
  }
}

/** The records with their number, from 0, as `stagedoor_record`. */
function numberedSql(path: string, columns: Column[]): string {
  const taken = columns.some(({ name }) => name.toLowerCase() === 'file_row_number')
  const read = (option: string) => `read_parquet(${duckText(path)}, binary_as_string = true${option})`
  // DuckDB refuses to number a file that has a column of that name; counting takes longer, because nothing is skipped.
  return taken
    ? `(SELECT *, row_number() OVER () - 1 AS stagedoor_record FROM ${read('')})`
    : `(SELECT *, file_row_number AS stagedoor_record FROM ${read(', file_row_number = true')})`
}

async function describeSelect(select: string): Promise<{ name: string; type: string }[]> {
  const rows = await queryDuck<{ column_name: string; column_type: string }>(`DESCRIBE ${select}`)
  return rows.map(({ column_name, column_type }) => ({ name: column_name, type: column_type }))
}

/** Structs become dotted names, as objects in JSON do; lists and maps stay JSON. */
async function flatten(
  columns: Column[],
  file: string,
  depth: number,
  keepsJson: ReadOptions['keepsJson'],
): Promise<Column[]> {
  const flat: Column[] = []
  for (const column of columns) {
    if (!STRUCT.test(column.type) || depth >= MAX_DEPTH || keepsJson?.(column.name)) {
      flat.push(column)
      continue
    }
    const members = (await describeSelect(`SELECT unnest(${column.value}) FROM ${file}`)).map(
      ({ name, type }) => ({
        name: `${column.name}.${name}`,
        type,
        value: `struct_extract(${column.value}, ${duckText(name)})`,
      }),
    )
    flat.push(...(await flatten(members, file, depth + 1, keepsJson)))
    if (flat.length > MAX_COLUMNS) throw unreadable(`it has more than ${MAX_COLUMNS} columns`)
  }
  return flat
}

async function writeRows(part: {
  columns: Column[]
  source: string
  from: number
  count: number
  chunk: string
}): Promise<void> {
  const { columns, source, from, count, chunk } = part
  const texts = columns.map((column, index) => `${asText(column)} AS c${index}`).join(', ')
  const nul = columns.flatMap((column, index) => (holdsText(column) ? `contains(c${index}, chr(0))` : []))
  const tooLong = `${columns.map((_, index) => `strlen(c${index})`).join(' + ')} > ${MAX_RECORD_BYTES}`
  const clean = columns.map(
    (_, index) => `CASE WHEN too_long THEN left(c${index}, ${MAX_SHOWN_CHARACTERS}) ELSE c${index} END`,
  )
  const sql = `
    COPY (
      SELECT line, CASE WHEN too_long THEN 'line_too_long' WHEN ${nul.join(' OR ') || 'false'} THEN 'nul_character' ELSE '' END, '',
        ${clean.map((value, index) => (holdsText(columns[index]!) ? asChunkText(value) : value)).join(', ')}
      FROM (SELECT *, ${tooLong} AS too_long FROM (
        SELECT stagedoor_record + 1 AS line, ${texts} FROM ${source}
        WHERE stagedoor_record >= ${from} AND stagedoor_record < ${from + count}
      ))
    ) TO ${duckText(chunk)} (FORMAT csv, HEADER false, FORCE_QUOTE *, DELIMITER ',', QUOTE '"', ESCAPE '"')`
  try {
    await runDuck(sql)
  } catch (error) {
    throw unreadable('it is a damaged or incomplete Parquet file', error)
  }
}

/** Line ends are unified, and NUL, which no text in PostgreSQL can hold, is left out. */
function asChunkText(value: string): string {
  return `replace(replace(replace(${value}, chr(0), ''), chr(13) || chr(10), chr(10)), chr(13), chr(10))`
}

function holdsText({ type }: Column): boolean {
  return !/^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*|FLOAT|DOUBLE|DATE|TIME.*|BOOLEAN|UUID)$/.test(
    type,
  )
}

function asText({ value, type }: Column): string {
  const zone = type === 'TIMESTAMP WITH TIME ZONE' ? 'Z' : ''
  if (type.startsWith('TIMESTAMP') && !type.endsWith(']')) {
    const fraction = `CASE WHEN microsecond(${value}) % 1000000 = 0 THEN '' ELSE strftime(${value}, '.%f') END`
    return `coalesce(strftime(${value}, '%Y-%m-%dT%H:%M:%S') || ${fraction} || '${zone}', '')`
  }
  const nested = /^(STRUCT|MAP|UNION)\(|\[\d*\]$/.test(type)
  return `coalesce(${nested ? `to_json(${value})` : value}::VARCHAR, '')`
}
