/** Any file that people upload, unpacked where it is packed, as chunks that DuckDB reads. */

import { createReadStream, createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { StagedoorError } from '../../kernel/errors.ts'
import { addRawColumn } from './chunks.ts'
import { normaliseCsv } from './csv.ts'
import { encodingNamed } from './encoding.ts'
import { type Format, findFormat, type NormalisedFile, type ReadOptions, unreadable } from './format.ts'
import { normaliseJsonArray, normaliseJsonLines } from './json.ts'
import { normaliseParquet } from './parquet.ts'
import { normaliseXlsx } from './xlsx.ts'

export type { NormalisedFile, ReadOptions } from './format.ts'

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
  const unpacked = isArchive(start)
    ? await unpack({ path, start, target: join(folder, 'unpacked') }, options.signal)
    : undefined
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
  const inner = isArchive(start)
    ? await unpack({ path, start, target: join(folder, 'inner') }, options.signal)
    : undefined
  if (inner) throw unreadable('it is an archive within an archive: unpack it first')
  // The places of its lines are not those in the archive.
  const { head: _, ...file } = await readPlain(path, start, folder, options)
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

// A file that comes packed: gzip, or a zip with one file inside. It is unpacked into the upload's own folder, within a
// budget, so that a small archive cannot fill the disk. What a zip is otherwise (a workbook of some program, an archive
// of several files) is said by its name.

const MIB = 1024 * 1024
/** Tables of repeated text shrink to a fiftieth; archives that are made to fill a disk to a thousandth. */
const MAX_RATIO = 200
const ALWAYS_ALLOWED = 64 * MIB
const MAX_UNPACKED = 4096 * MIB
const MAX_ENTRIES = 10_000
const MAX_NAMES_SHOWN = 10

interface Unpacked {
  path: string
  /** Within the archive; undefined where it has no name. */
  name: string | undefined
}

function isArchive(start: Buffer): boolean {
  return isGzip(start) || start.toString('latin1', 0, 4) === 'PK\x03\x04'
}

function isGzip(start: Buffer): boolean {
  return start[0] === 0x1f && start[1] === 0x8b
}

/** The one file inside; undefined if the archive is an Excel workbook, which is read as it is. */
async function unpack(
  { path, start, target }: { path: string; start: Buffer; target: string },
  signal?: AbortSignal,
): Promise<Unpacked | undefined> {
  const packed = (await stat(path)).size
  if (isGzip(start)) {
    await unpackTo({ source: createReadStream(path), decoder: createGunzip(), target, packed, signal })
    return { path: target, name: undefined }
  }
  let zip: ZipFile | undefined
  try {
    zip = await openPromise(path, { lazyEntries: true, autoClose: false })
    const entries: Entry[] = []
    for await (const entry of zip.eachEntry()) {
      entries.push(entry)
      if (entries.length > MAX_ENTRIES)
        throw unreadable(`it is a zip archive of more than ${MAX_ENTRIES} files`)
    }
    const one = oneFile(entries)
    if (!one) return undefined
    await unpackTo({ source: await zip.openReadStreamPromise(one), target, packed, signal })
    return { path: target, name: one.fileName }
  } catch (error) {
    if (error instanceof StagedoorError || signal?.aborted) throw error
    throw unreadable('it is a damaged or incomplete zip archive or Excel workbook', error)
  } finally {
    zip?.close()
  }
}

/** By a file that only this program's documents have. */
const DOCUMENTS: [part: RegExp, reason: string][] = [
  [/^xl\/workbook\.bin$/, 'it is a binary Excel workbook (.xlsb): save it as .xlsx'],
  [/^content\.xml$/, 'it is an OpenDocument file (.ods): save it as .xlsx or CSV'],
  [/^Index\/Document\.iwa$|^Index\.zip$/, 'it is an Apple Numbers document: export it as Excel or CSV'],
  [/^word\/document\.xml$/, 'it is a Word document: save its table as .xlsx or CSV'],
  [/^ppt\/presentation\.xml$/, 'it is a PowerPoint presentation'],
]

function oneFile(entries: readonly Entry[]): Entry | undefined {
  const names = entries.map(({ fileName }) => fileName.replace(/^\//, ''))
  if (names.includes('[Content_Types].xml') && names.includes('xl/workbook.xml')) return undefined
  const document = DOCUMENTS.find(([part]) => names.some((name) => part.test(name)))
  if (document) throw unreadable(document[1])
  const files = entries.filter(({ fileName }) => !/\/$|^__MACOSX\/|(^|\/)\.[^/]*$/.test(fileName))
  if (files.length === 0) throw unreadable('it is a zip archive without a file in it')
  if (files.length > 1) {
    const shown = files.slice(0, MAX_NAMES_SHOWN).map(({ fileName }) => `“${fileName}”`)
    const more = files.length > MAX_NAMES_SHOWN ? ` and ${files.length - MAX_NAMES_SHOWN} more` : ''
    throw unreadable(
      `it is a zip archive of ${files.length} files (${shown.join(', ')}${more}): upload each by itself`,
    )
  }
  if (files[0]!.isEncrypted()) throw unreadable('it is a zip archive with a password: unpack it first')
  return files[0]
}

async function unpackTo(archive: {
  source: NodeJS.ReadableStream
  decoder?: ReturnType<typeof createGunzip>
  target: string
  /** How many bytes it has packed. */
  packed: number
  signal: AbortSignal | undefined
}): Promise<void> {
  const { source, decoder, target, packed, signal } = archive
  const budget = Math.min(MAX_UNPACKED, Math.max(ALWAYS_ALLOWED, MAX_RATIO * packed))
  let bytes = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > budget)
        return done(
          unreadable(
            `unpacked it is larger than ${Math.floor(budget / MIB)} MiB, more than ${MAX_RATIO} times its size: unpack it first`,
          ),
        )
      done(null, chunk)
    },
  })
  const steps = decoder ? [source, decoder, count] : [source, count]
  try {
    await pipeline([...steps, createWriteStream(target)] as never, { ...(signal && { signal }) })
  } catch (error) {
    if (error instanceof StagedoorError || signal?.aborted) throw error
    throw unreadable('it is a damaged or incomplete archive', error)
  }
}
