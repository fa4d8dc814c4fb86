/** Any file that people upload, as chunks that DuckDB reads. */
import { open } from 'node:fs/promises'
import { normaliseCsv } from './csv.ts'
import { findFormat } from './format.ts'
import { normaliseJsonArray, normaliseJsonLines } from './json.ts'
import { normaliseParquet } from './parquet.ts'
import { addRawColumn } from './raw-payload.ts'
import type { Format, NormalisedFile, ReadOptions } from './reading.ts'

import { normaliseXlsx } from './xlsx.ts'

export type { FileNote, Format, NormalisedFile, ReadOptions, ReadProgress } from './reading.ts'

type Reader = (path: string, folder: string, options: ReadOptions) => Promise<NormalisedFile>

const READERS: Record<Format, Reader> = {
  csv: normaliseCsv,
  jsonl: normaliseJsonLines,
  json: normaliseJsonArray,
  parquet: normaliseParquet,
  xlsx: normaliseXlsx,
}

/** Chunks are put into `folder`, which the caller made and removes. */
export async function normaliseFile(
  path: string,
  folder: string,
  options: ReadOptions = {},
): Promise<NormalisedFile> {
  // Also with a format given: a PDF stays unreadable whatever the uploader calls it.
  const found = findFormat(await readStart(path), options.encoding)
  const file = await READERS[options.format ?? found](path, folder, options)
  await addRawColumn(file.chunks, file.headers)
  return file
}

async function readStart(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const start = Buffer.alloc(4096)
    const { bytesRead } = await file.read(start, 0, start.length, 0)
    return start.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
