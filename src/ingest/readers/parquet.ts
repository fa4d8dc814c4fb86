/** A Parquet file as chunks, through DuckDB: every value as text, without a digit lost. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import { duckName, duckText, queryDuck, runDuck } from '../duckdb.ts'
import { LONGEST_RECORD, SHOWN_CHARACTERS } from './csv-record.ts'
import { unreadable } from './format.ts'
import { headerNames } from './header.ts'
import type { NormalisedFile, ReadOptions } from './reading.ts'

interface Column {
  column_name: string
  column_type: string
}

export async function normaliseParquet(
  path: string,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  // Older writers do not say which of their bytes are text.
  const source = `read_parquet(${duckText(path)}, binary_as_string = true, file_row_number = true)`
  const { columns, lines } = await describe(path, source)
  if (lines === 0) throw new StagedoorError('file_has_no_rows')
  if (options.maxLines !== undefined && lines > options.maxLines) {
    throw new StagedoorError('upload_too_many_lines', { limit: options.maxLines })
  }
  const headers = headerNames(columns.map((column) => column.column_name))
  const total = (await stat(path)).size
  const perChunk = options.chunkLines ?? 20_000
  const chunks: string[] = []
  for (let from = 0; from < lines; from += perChunk) {
    options.signal?.throwIfAborted()
    const chunk = join(folder, `chunk-${String(chunks.length + 1).padStart(5, '0')}.csv`)
    await writeRows(columns, source, from, perChunk, chunk)
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

async function describe(path: string, source: string): Promise<{ columns: Column[]; lines: number }> {
  try {
    const columns = await queryDuck<Column>(`DESCRIBE SELECT * EXCLUDE (file_row_number) FROM ${source}`)
    const [counted] = await queryDuck<{ lines: string }>(
      `SELECT sum(num_rows)::BIGINT AS lines FROM parquet_file_metadata(${duckText(path)})`,
    )
    return { columns, lines: Number(counted?.lines ?? 0) }
  } catch (error) {
    throw unreadable('it is a damaged or incomplete Parquet file', error)
  }
}

async function writeRows(columns: Column[], source: string, from: number, count: number, chunk: string) {
  const texts = columns.map((column, index) => `${asText(column)} AS c${index}`).join(', ')
  const nul = columns.map((_, index) => `contains(c${index}, chr(0))`).join(' OR ')
  const tooLong = `${columns.map((_, index) => `strlen(c${index})`).join(' + ')} > ${LONGEST_RECORD}`
  const clean = columns.map(
    (_, index) => `CASE WHEN ${tooLong} THEN left(c${index}, ${SHOWN_CHARACTERS}) ELSE c${index} END`,
  )
  const sql = `
    COPY (
      SELECT line, CASE WHEN ${tooLong} THEN 'line_too_long' WHEN ${nul} THEN 'nul_character' ELSE '' END, '',
        ${clean.map(asChunkText).join(', ')}
      FROM (
        SELECT file_row_number + 1 AS line, ${texts} FROM ${source}
        WHERE file_row_number >= ${from} AND file_row_number < ${from + count}
      )
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

function asText({ column_name, column_type }: Column): string {
  const column = duckName(column_name)
  const zone = column_type === 'TIMESTAMP WITH TIME ZONE' ? 'Z' : ''
  if (column_type.startsWith('TIMESTAMP')) {
    const fraction = `CASE WHEN microsecond(${column}) % 1000000 = 0 THEN '' ELSE strftime(${column}, '.%f') END`
    return `coalesce(strftime(${column}, '%Y-%m-%dT%H:%M:%S') || ${fraction} || '${zone}', '')`
  }
  const nested = /^(STRUCT|MAP|UNION)\(|\[\d*\]$/.test(column_type)
  return `coalesce(${nested ? `to_json(${column})` : column}::VARCHAR, '')`
}
