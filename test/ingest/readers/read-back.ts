/** Bytes through a reader and back out of DuckDB: what the rest of the pipeline will see. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queryDuck } from '../../../src/ingest/duckdb.ts'
import { chunkSource } from '../../../src/ingest/readers/chunks.ts'
import {
  type NormalisedFile,
  normaliseFile,
  type ReadOptions,
} from '../../../src/ingest/readers/normalise.ts'

export interface ReadBack extends NormalisedFile {
  rows: { line: number; flaw: string; extra: string; values: string[] }[]
}

export type TestOptions = ReadOptions & { bufferBytes?: number }

export async function readBack(content: string | Uint8Array, options: TestOptions = {}): Promise<ReadBack> {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-read-'))
  try {
    const path = join(folder, 'upload')
    writeFileSync(path, content)
    const file = await normaliseFile(path, folder, options)
    return { ...file, rows: await rowsOf(file) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function rowsOf(file: Pick<NormalisedFile, 'chunks' | 'headers'>): Promise<ReadBack['rows']> {
  const source = chunkSource(file.chunks, file.headers.length)
  const rows = await queryDuck<Record<string, string>>(`SELECT * FROM ${source}`)
  return rows.map((row) => ({
    line: Number(row.line),
    flaw: row.flaw!,
    extra: row.extra!,
    values: file.headers.map((_, column) => row[`c${column}`]!),
  }))
}
