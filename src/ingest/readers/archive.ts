/**
 * A file that comes packed: gzip, or a zip with one file inside. It is unpacked into the upload's own folder, within a
 * budget, so that a small archive cannot fill the disk. What a zip is otherwise (a workbook of some program, an archive
 * of several files) is said by its name.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { StagedoorError } from '../../errors.ts'
import { unreadable } from './format.ts'

const MIB = 1024 * 1024
/** Tables of repeated text shrink to a fiftieth; archives that are made to fill a disk to a thousandth. */
const MAX_RATIO = 200
const ALWAYS_ALLOWED = 64 * MIB
const MAX_UNPACKED = 4096 * MIB
const MAX_ENTRIES = 10_000
const MAX_NAMES_SHOWN = 10

export interface Unpacked {
  path: string
  /** Within the archive; undefined where it has no name. */
  name: string | undefined
}

export function isArchive(start: Buffer): boolean {
  return isGzip(start) || start.toString('latin1', 0, 4) === 'PK\x03\x04'
}

function isGzip(start: Buffer): boolean {
  return start[0] === 0x1f && start[1] === 0x8b
}

/** The one file inside; undefined if the archive is an Excel workbook, which is read as it is. */
export async function unpack(
  path: string,
  start: Buffer,
  folder: string,
  signal?: AbortSignal,
  targetName = 'unpacked',
): Promise<Unpacked | undefined> {
  const target = join(folder, targetName)
  const packed = (await stat(path)).size
  if (isGzip(start)) {
    await write(createReadStream(path), target, packed, signal, createGunzip())
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
    await write(await zip.openReadStreamPromise(one), target, packed, signal)
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

async function write(
  source: NodeJS.ReadableStream,
  target: string,
  packed: number,
  signal?: AbortSignal,
  decoder?: ReturnType<typeof createGunzip>,
): Promise<void> {
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
