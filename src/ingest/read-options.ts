/**
 * How a file is to be read, remembered from an earlier one: encoding, delimiter, header line, decimal sign and the order of dates that
 * the same person chose for a file of the same shape (format and headers). The file's own evidence goes first: what it shows by itself
 * is never overruled, and a note says where it differs.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { headerKey } from './datasets/header-key.ts'
import type { Styles } from './datasets/profile.ts'
import type { FileNote, NormalisedFile, ReadOptions } from './readers/format.ts'
import type { ReadableFile } from './spool.ts'
import type { FileOptions } from './stage.ts'

const REMEMBERED_OPTIONS = ['encoding', 'delimiter', 'header_line', 'decimal', 'dates'] as const
export type RememberedOption = (typeof REMEMBERED_OPTIONS)[number]

export interface ReadOptionsMemory {
  readonly dataset: string
  readonly platform: string
  readonly author: string
  readonly shape: string
  /** The first headers of such files. */
  readonly columns: readonly string[]
  readonly options: {
    readonly encoding?: NonNullable<ReadOptions['encoding']>
    readonly delimiter?: string
    readonly header_line?: number
    readonly decimal?: 'dot' | 'comma'
    readonly dates?: 'dmy' | 'mdy'
  }
  /** The upload that the options were chosen for, and the number of its change. */
  readonly upload_id: string | null
  readonly change: number | null
  readonly remembered_at: Date
}

interface MemoryFilter {
  readonly workspaceId: string
  readonly dataset?: string | undefined
  readonly platform?: string | undefined
  /** null: whoever asks; missing: everybody. */
  readonly author?: string | null | undefined
}

const MAX_MEMORIES = 200

/** What is remembered, the newest first, under the caller's own rights. */
export async function listReadOptions(
  db: Queryable,
  { workspaceId, dataset, platform, author }: MemoryFilter,
): Promise<ReadOptionsMemory[]> {
  const { rows } = await db.query<ReadOptionsMemory>(
    `select o.dataset, o.platform, o.author, o.shape, o.columns, o.options, o.upload_id, o.remembered_at,
            (select c.number from iu_core.change c where c.subject_id = o.upload_id and c.kind = 'upload') as change
       from iu_core.ingest_read_option o
      where o.workspace_id = $1 and ($2::text is null or o.dataset = $2) and ($3::text is null or o.platform = $3)
        and ($4 or o.author = coalesce($5, iu_core.fn_actor()))
      order by o.remembered_at desc limit $6`,
    [workspaceId, dataset ?? null, platform ?? null, author === undefined, author ?? null, MAX_MEMORIES],
  )
  return rows
}

/** Forgets the options of one shape, or of all shapes. Returns how many. */
export async function forgetReadOptions(
  db: Queryable,
  of: {
    workspaceId: string
    dataset: string
    platform: string
    shape?: string | undefined
    author?: string | undefined
  },
): Promise<number> {
  const { rows } = await db.query<{ forgotten: number }>(
    'select iu_core.fn_ingest_read_options_forget($1, $2, $3, $4, $5) as forgotten',
    [of.workspaceId, of.dataset, of.platform, of.shape ?? null, of.author ?? null],
  )
  return rows[0]!.forgotten
}

/** What of `chosen` is remembered; undefined: nothing. */
export function optionsToRemember(chosen: FileOptions): ReadOptionsMemory['options'] | undefined {
  const { encoding, delimiter, headerLine, decimal, dates } = chosen
  const options = {
    ...(encoding && { encoding }),
    ...(delimiter && { delimiter }),
    ...(headerLine !== undefined && { header_line: headerLine }),
    ...((decimal === 'dot' || decimal === 'comma') && { decimal }),
    ...(dates && { dates }),
  }
  return Object.keys(options).length > 0 ? options : undefined
}

const MAX_COLUMNS = 20

export function shapeOf({ format, headers }: Pick<NormalisedFile, 'format' | 'headers'>): {
  shape: string
  columns: string[]
} {
  const keys = JSON.stringify([format, headers.map(headerKey)])
  return {
    shape: createHash('sha256').update(keys).digest('hex'),
    columns: headers.slice(0, MAX_COLUMNS).map((header) => header.slice(0, 100)),
  }
}

/** Names of the options that are used, with the styles that the file left open. */
export function usedOptions(
  { read }: RecalledOptions,
  styles: RecalledOptions['styles'],
): RememberedOption[] {
  const { headerLine, ...rest } = read
  return Object.keys({
    ...rest,
    ...(headerLine !== undefined && { header_line: headerLine }),
    ...styles,
  }) as RememberedOption[]
}

/** How this file is read by an earlier choice. */
export interface RecalledOptions {
  readonly from: Pick<ReadOptionsMemory, 'upload_id' | 'change' | 'shape'>
  /** For the reader. */
  readonly read: Pick<ReadOptions, 'encoding' | 'delimiter' | 'headerLine'>
  /** Where the file does not show them by itself. */
  readonly styles: { readonly decimal?: 'dot' | 'comma'; readonly dates?: 'dmy' | 'mdy' }
  readonly notes: readonly FileNote[]
}

const HEAD_BYTES = 256 * 1024
const MAX_TRIALS = 10

/**
 * The newest memory whose shape the file has, with what of it the file does not show by itself. What a person chose for this file
 * (`given`) is not looked up. Undefined: nothing is remembered of files of this shape.
 */
export async function recallOptions(
  file: ReadableFile,
  memories: readonly ReadOptionsMemory[],
  given: FileOptions,
  knowsHeader?: ReadOptions['knowsHeader'],
): Promise<RecalledOptions | undefined> {
  if (memories.length === 0 || given.columns !== undefined) return undefined
  const folder = join(file.folder, `recall-${randomUUID()}`)
  await mkdir(folder)
  // It loads DuckDB, which most commands never need.
  const { normaliseFile } = await import('./readers/normalise.ts')
  try {
    const { format, encoding, delimiter, headerLine, sheet } = given
    const asked = { format, encoding, delimiter, headerLine, sheet }
    const chosen = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
    const head = await headOf(file, folder)
    const tryReading = (options: object) =>
      normaliseFile(head, folder, { ...options, ...chosen, ...(knowsHeader && { knowsHeader }) }).then(
        (read) => ({ ...read, ...shapeOf(read) }),
        () => undefined,
      )
    const bytes = encoding === undefined ? await textOf(file.path) : 'other'
    const plain = await tryReading({})
    const byItself = plain && memories.find(({ shape }) => shape === plain.shape)
    if (byItself && plain) return shownByFile(byItself, plain, bytes, given)
    for (const memory of memories.slice(0, MAX_TRIALS)) {
      const { encoding: remembered, delimiter: sign, header_line: line } = memory.options
      const read = {
        ...(remembered && bytes === 'other' && given.encoding === undefined && { encoding: remembered }),
        ...(sign && given.delimiter === undefined && { delimiter: sign }),
        ...(line !== undefined && given.headerLine === undefined && { headerLine: line }),
      }
      if (Object.keys(read).length === 0) continue
      const found = await tryReading(read)
      if (found?.shape !== memory.shape) continue
      return {
        from: memory,
        read,
        styles: stylesOf(memory, given),
        notes: encodingNotes(memory, bytes, given),
      }
    }
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The file has this shape by itself: its delimiter and header line are as it shows them. */
function shownByFile(
  memory: ReadOptionsMemory,
  plain: Pick<NormalisedFile, 'delimiter' | 'headerLine'>,
  bytes: TextKind,
  given: FileOptions,
): RecalledOptions {
  const { encoding, delimiter, header_line } = memory.options
  const notes = encodingNotes(memory, bytes, given)
  if (delimiter !== undefined && given.delimiter === undefined && delimiter !== plain.delimiter)
    notes.push(differs(memory, `the delimiter “${delimiter}”`, `“${plain.delimiter}”`))
  if (header_line !== undefined && given.headerLine === undefined && header_line !== plain.headerLine)
    notes.push(differs(memory, `the header in line ${header_line}`, `it in line ${plain.headerLine}`))
  const isNeeded = encoding !== undefined && bytes === 'other' && given.encoding === undefined
  return { from: memory, read: isNeeded ? { encoding } : {}, styles: stylesOf(memory, given), notes }
}

function stylesOf(
  { options: { decimal, dates } }: ReadOptionsMemory,
  given: FileOptions,
): RecalledOptions['styles'] {
  return {
    ...(decimal && given.decimal === undefined && { decimal }),
    ...(dates && given.dates === undefined && { dates }),
  }
}

function encodingNotes(memory: ReadOptionsMemory, bytes: TextKind, given: FileOptions): FileNote[] {
  const { encoding } = memory.options
  if (
    encoding === undefined ||
    given.encoding !== undefined ||
    bytes !== 'utf-8' ||
    /^utf-?8$/i.test(encoding)
  )
    return []
  return [differs(memory, `the encoding ${encoding}`, 'UTF-8')]
}

function differs({ change }: Pick<ReadOptionsMemory, 'change'>, remembered: string, shown: string): FileNote {
  const where = change === null ? 'an earlier file' : `#${change}`
  return {
    rule: 'options.file_differs',
    message: `From ${where} ${remembered} is remembered; this file shows ${shown}, which is used.`,
  }
}

const STYLE_NAMES: Record<string, string> = {
  dot: 'a decimal point',
  comma: 'a decimal comma',
  dmy: 'dates with the day first',
  mdy: 'dates with the month first',
  mixed: 'both ways',
}

/** Remembered styles where the file shows none, and notes where it shows another. */
export function settleStyles(
  found: Styles,
  recalled: RecalledOptions | undefined,
): { styles: RecalledOptions['styles']; notes: FileNote[] } {
  const notes: FileNote[] = []
  const use = <Kind extends 'decimal' | 'dates'>(kind: Kind) => {
    const remembered = recalled?.styles[kind]
    if (remembered === undefined || found[kind] === remembered) return {}
    if (found[kind] === 'unknown') return { [kind]: remembered }
    notes.push(differs(recalled!.from, STYLE_NAMES[remembered]!, STYLE_NAMES[found[kind]]!))
    return {}
  }
  return { styles: { ...use('decimal'), ...use('dates') }, notes }
}

const PACKED = [Buffer.from('PK'), Buffer.from([0x1f, 0x8b]), Buffer.from('PAR1')]

/** The beginning of a text file is enough for its header; of another format the whole file is read. */
async function headOf({ path }: ReadableFile, folder: string): Promise<string> {
  const file = await open(path)
  try {
    if ((await file.stat()).size <= HEAD_BYTES) return path
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    // Zip, gzip and Parquet cannot be cut.
    if (PACKED.some((start) => buffer.subarray(0, start.length).equals(start))) return path
    const head = join(folder, 'head')
    await writeFile(head, buffer.subarray(0, bytesRead))
    return head
  } finally {
    await file.close()
  }
}

/** utf-8: the bytes prove it (a byte order mark of Unicode, or letters beyond ASCII that are UTF-8); ascii: nothing to tell. */
type TextKind = 'utf-8' | 'ascii' | 'other'

async function textOf(path: string): Promise<TextKind> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isAscii = true
  let isFirst = true
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      if (isFirst && /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(chunk.subarray(0, 3).toString('latin1')))
        return 'utf-8'
      isFirst = false
      isAscii &&= !chunk.some((byte) => byte > 127)
      decoder.decode(chunk, { stream: true })
    }
    decoder.decode()
  } catch {
    return 'other'
  }
  return isAscii ? 'ascii' : 'utf-8'
}
