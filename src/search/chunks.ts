/** The texts of outbox rows, read when they are projected, and how a text is divided into chunks. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import type { OutboxRow, SearchGates, TextToPut } from './outbox.ts'
import { readRows } from './table-rows.ts'

export interface Source {
  readonly row: OutboxRow
  /** Undefined if it must be removed from search. */
  readonly chunks: readonly Chunk[] | undefined
  readonly workspace_id: string
  readonly canonical_address: string | null
  readonly unit_version_id: string | null
  readonly content_hash: string
  readonly updated_at: string | null
  /** Of a row of a table: its text and its filter values. */
  readonly table_row?: { readonly body: string; readonly filters: Readonly<Record<string, string>> }
}

interface SourceRow {
  readonly outbox_id: string
  readonly workspace_id: string
  readonly removed: boolean
  readonly canonical_address: string | null
  readonly unit_version_id: string | null
  readonly content_hash: string
  readonly body: string | null
  readonly updated_at: string | null
}

interface ReadResult {
  readonly sources: readonly Source[]
  /** Rows whose text cannot be divided; the other rows go on. */
  readonly failed: ReadonlyMap<OutboxRow, string>
}

export async function readSources(
  db: Queryable,
  rows: readonly OutboxRow[],
  { phase_3 }: Pick<SearchGates, 'phase_3'>,
): Promise<ReadResult> {
  const { rows: found } = await db.query<SourceRow>(
    `select o.outbox_id, u.workspace_id, g.removed, u.canonical_address, v.unit_version_id, u.content_hash,
            case when not g.removed then v.body end as body, null as updated_at
       from iu_core.vector_outbox o
       join iu_core.information_unit u on u.unit_id = o.unit_id
      cross join lateral (select u.deleted_at is not null or u.lifecycle_status = 'retired' as removed) as g
       join iu_core.unit_version v on v.unit_version_id = u.current_version_id
      where o.outbox_id = any ($1)
     union all
     select o.outbox_id, d.workspace_id, g.removed, null, null, d.content_hash,
            case when not g.removed then d.body end, to_json(d.updated_at) #>> '{}'
       from iu_core.vector_outbox o
       join iu_core.kb_document d on d.document_id = o.document_id
      cross join lateral (select d.deleted_at is not null or d.origin = 'cut' as removed) as g
      where o.outbox_id = any ($1)`,
    [rows.map((row) => row.outbox_id)],
  )
  const byId = new Map(rows.map((row) => [row.outbox_id, row]))
  const sources: Source[] = []
  const failed = new Map<OutboxRow, string>()
  for (const { body, outbox_id, ...known } of found) {
    const row = byId.get(outbox_id)!
    try {
      const chunks = body === null ? undefined : divideSource(row, body, phase_3)
      sources.push({ ...known, row, chunks })
    } catch (error) {
      failed.set(row, (error as Error).message)
    }
  }
  const ofTables = await readTableRows(
    db,
    rows.filter(({ row_id }) => row_id !== null),
  )
  for (const [row, reason] of ofTables.failed) failed.set(row, reason)
  return { sources: [...sources, ...ofTables.sources], failed }
}

/** A row that is not in its table any more, or whose table is not searched now, has no text: it is removed. */
async function readTableRows(db: Queryable, rows: readonly OutboxRow[]): Promise<ReadResult> {
  const sources: Source[] = []
  const failed = new Map<OutboxRow, string>()
  if (rows.length === 0) return { sources, failed }
  const read = await readRows(
    db,
    rows.map(({ row_id }) => row_id!),
  )
  for (const row of rows) {
    const found = read.get(row.row_id!)
    if (found?.problem != null) {
      failed.set(row, found.problem)
      continue
    }
    sources.push({
      row,
      workspace_id: found?.workspace_id ?? '',
      canonical_address: null,
      unit_version_id: null,
      updated_at: null,
      content_hash: found?.content_hash ?? '',
      // A row that says nothing has no chunk: there is nothing to embed.
      chunks: found && (found.body === '' ? [] : divideSource(row, found.body, true)),
      ...(found && { table_row: { body: found.body, filters: found.filters } }),
    })
  }
  return { sources, failed }
}

/** The old knowledge base keeps windows of equal size (VG-2), and so do units until phase 3. */
function divideSource(row: OutboxRow, body: string, phase3: boolean): readonly Chunk[] {
  const chunks = row.document_id === null && phase3 ? chunksOf(body) : legacyChunks(body)
  // A text without a word gets one chunk, which records that it was indexed.
  return chunks.length > 0 ? chunks : [{ from: 0, to: [...body].length, text: body }]
}

export function toPut({ row, chunks, ...source }: Source): TextToPut {
  return {
    outbox_id: row.outbox_id,
    generation: row.generation,
    content_hash: source.content_hash,
    ...(source.unit_version_id !== null && { unit_version_id: source.unit_version_id }),
    ...(source.updated_at !== null && { updated_at: source.updated_at }),
    ...(chunks && { chunks: chunks.map(({ from, to }) => ({ from, to })) }),
    ...source.table_row,
  }
}

// Division into chunks. A unit stays whole if it fits; else it is divided between paragraphs, lines, sentences or words, in this
// order. Positions count code points, as PostgreSQL does.

export interface Chunk {
  /** Half-open, in code points. */
  readonly from: number
  readonly to: number
  readonly text: string
}

interface ChunkOptions {
  /** Maximal characters of a chunk. */
  readonly size?: number
  /** Characters that two windows share; only with `aware: false`. */
  readonly overlap?: number
  /** False: windows of equal size, regardless of paragraphs and sentences. */
  readonly aware?: boolean
}

/** nDCG@10 of keyword search on Cranfield: 0.507 with 800, 0.512 with 1,200, 0.516 with 2,000, 0.518 with 3,000. */
const CHUNK_SIZE = 2000
/** As the old knowledge base divides its documents. */
const LEGACY = { size: 4000, overlap: 400, aware: false }

/** Fingerprint of the chunker: other chunks make other vectors. */
export const CHUNKER = `chunks 1, ${CHUNK_SIZE}`

export function chunksOf(body: string, options: ChunkOptions = {}): Chunk[] {
  const { size = CHUNK_SIZE, overlap = 0, aware = true } = options
  if (!(Number.isInteger(size) && size > 0 && Number.isInteger(overlap) && overlap >= 0 && overlap < size))
    throw new RangeError(`a chunk of ${size} characters cannot share ${overlap}`)
  const characters = [...body]
  const ranges = aware ? divide(characters, size) : windows(characters.length, size, overlap)
  return ranges
    .map(([from, to]) => trimRange(characters, from, to))
    .filter(([from, to]) => from < to)
    .map(([from, to]) => ({ from, to, text: characters.slice(from, to).join('') }))
}

/** A document of the old knowledge base, as its own points were made. */
export const legacyChunks = (body: string): Chunk[] => chunksOf(body, LEGACY)

type Range = readonly [from: number, to: number]

function windows(length: number, size: number, overlap: number): Range[] {
  const ranges: Range[] = []
  for (let from = 0; from < length; from += size - overlap) {
    ranges.push([from, Math.min(length, from + size)])
    if (from + size >= length) break
  }
  return ranges
}

function divide(characters: readonly string[], size: number): Range[] {
  const ranges: Range[] = []
  let from = 0
  while (characters.length - from > size) {
    // Two equal halves of the rest are better than a full chunk and a very short one.
    const rest = characters.length - from
    const wanted = rest < 2 * size ? Math.ceil(rest / 2) : size
    const to = cutBefore(characters, from, Math.min(from + size, from + wanted + (size >> 2)))
    ranges.push([from, to])
    from = to
  }
  ranges.push([from, characters.length])
  return ranges
}

/** The last good place to divide, in the second half of the longest possible chunk. */
function cutBefore(characters: readonly string[], from: number, max: number): number {
  const min = from + ((max - from) >> 1)
  for (const isGood of [endsParagraph, endsLine, endsSentence, endsWord])
    for (let at = max; at > min; at--) if (isGood(characters, at)) return at
  return max
}

const isSpace = (character: string | undefined): boolean => character !== undefined && /^\s$/u.test(character)

function endsParagraph(characters: readonly string[], at: number): boolean {
  if (characters[at - 1] !== '\n') return false
  let before = at - 2
  while (isSpace(characters[before]) && characters[before] !== '\n') before--
  return characters[before] === '\n'
}

const endsLine = (characters: readonly string[], at: number): boolean => characters[at - 1] === '\n'

const endsSentence = (characters: readonly string[], at: number): boolean =>
  (isSpace(characters[at - 1]) && /^[.!?…]$/u.test(characters[at - 2] ?? '')) ||
  /^[。！？]$/u.test(characters[at - 1] ?? '')

const endsWord = (characters: readonly string[], at: number): boolean => isSpace(characters[at - 1])

/** Without surrounding space: space must not make a different chunk of the same text. */
function trimRange(characters: readonly string[], from: number, to: number): Range {
  let [first, last] = [from, to]
  while (first < last && isSpace(characters[first])) first++
  while (last > first && isSpace(characters[last - 1])) last--
  return [first, last]
}
