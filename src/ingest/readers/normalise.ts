/** Any file that people upload, as chunks that DuckDB reads. */
import { open } from 'node:fs/promises'
import { isArchive, type Unpacked, unpack } from './archive.ts'
import { normaliseCsv } from './csv.ts'
import { encodingNamed } from './encoding.ts'
import { findFormat, unreadable } from './format.ts'
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
  given: ReadOptions = {},
): Promise<NormalisedFile> {
  const options = given.encoding === undefined ? given : { ...given, encoding: encodingNamed(given.encoding) }
  const start = await readStart(path)
  const unpacked = isArchive(start) ? await unpack(path, start, folder, options.signal) : undefined
  const file = unpacked
    ? await readUnpacked(unpacked, folder, options)
    : await readPlain(path, start, folder, options)
  await addRawColumn(file.chunks, file.headers)
  return file
}

async function readPlain(
  path: string,
  start: Buffer,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  // Also with a format given: a PDF stays unreadable whatever the uploader calls it.
  const found = findFormat(start, options.encoding)
  return READERS[options.format ?? found](path, folder, options)
}

async function readUnpacked(
  { path, name }: Unpacked,
  folder: string,
  options: ReadOptions,
): Promise<NormalisedFile> {
  const start = await readStart(path)
  // A workbook is a zip itself; any other archive within one is not opened.
  const inner = isArchive(start) ? await unpack(path, start, folder, options.signal, 'inner') : undefined
  if (inner) throw unreadable('it is an archive within an archive: unpack it first')
  const file = await readPlain(path, start, folder, options)
  const message =
    name === undefined ? 'The file was unpacked (gzip)' : `The archive’s one file was read: “${name}”`
  return { ...file, notes: [{ rule: 'file.unpacked', message }, ...file.notes] }
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
