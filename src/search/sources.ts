/** What outbox rows are about, read from Postgres when the work begins: whatever was known when they were enqueued is older. */
import type { Queryable } from '../db/connection.ts'
import { type Chunk, chunksOf, legacyChunks } from './chunks.ts'
import type { OutboxRow, Put } from './outbox.ts'

export interface Source {
  readonly row: OutboxRow
  /** Nothing where it has left search. */
  readonly chunks: readonly Chunk[] | undefined
  readonly workspace_id: string
  readonly canonical_address: string | null
  readonly unit_version_id: string | null
  readonly content_hash: string
  readonly updated_at: string | null
}

interface Found {
  readonly outbox_id: string
  readonly workspace_id: string
  readonly gone: boolean
  readonly canonical_address: string | null
  readonly unit_version_id: string | null
  readonly content_hash: string
  readonly body: string | null
  readonly updated_at: string | null
}

export interface Reading {
  readonly sources: readonly Source[]
  /** A text that cannot be divided is the fault of nobody else. */
  readonly failed: ReadonlyMap<OutboxRow, string>
}

export async function readSources(
  db: Queryable,
  rows: readonly OutboxRow[],
  { aware }: { aware: boolean },
): Promise<Reading> {
  const { rows: found } = await db.query<Found>(
    `select o.outbox_id, u.workspace_id, g.gone, u.canonical_address, v.unit_version_id, u.content_hash,
            case when not g.gone then v.body end as body, null as updated_at
       from iu_core.vector_outbox o
       join iu_core.information_unit u on u.unit_id = o.unit_id
      cross join lateral (select u.deleted_at is not null or u.lifecycle_status = 'retired' as gone) as g
       join iu_core.unit_version v on v.unit_version_id = u.current_version_id
      where o.outbox_id = any ($1)
     union all
     select o.outbox_id, d.workspace_id, g.gone, null, null, d.content_hash,
            case when not g.gone then d.body end, to_json(d.updated_at) #>> '{}'
       from iu_core.vector_outbox o
       join iu_core.kb_document d on d.document_id = o.document_id
      cross join lateral (select d.deleted_at is not null or d.origin = 'cut' as gone) as g
      where o.outbox_id = any ($1)`,
    [rows.map((row) => row.outbox_id)],
  )
  const byId = new Map(rows.map((row) => [row.outbox_id, row]))
  const sources: Source[] = []
  const failed = new Map<OutboxRow, string>()
  for (const { body, outbox_id, ...known } of found) {
    const row = byId.get(outbox_id)!
    try {
      const chunks = body === null ? undefined : divided(row, body, aware)
      sources.push({ ...known, row, chunks })
    } catch (error) {
      failed.set(row, (error as Error).message)
    }
  }
  return { sources, failed }
}

/** The old knowledge base keeps its windows (VG-2), and so do units until phase 3. */
function divided(row: OutboxRow, body: string, aware: boolean): readonly Chunk[] {
  const chunks = row.document_id === null && aware ? chunksOf(body) : legacyChunks(body)
  // Of a text without a word there is nothing to find; one chunk says that it was looked at.
  return chunks.length > 0 ? chunks : [{ from: 0, to: [...body].length, text: body }]
}

export function putOf({ row, chunks, ...source }: Source): Put {
  return {
    outbox_id: row.outbox_id,
    generation: row.generation,
    content_hash: source.content_hash,
    ...(source.unit_version_id !== null && { unit_version_id: source.unit_version_id }),
    ...(source.updated_at !== null && { updated_at: source.updated_at }),
    ...(chunks && { chunks: chunks.map(({ from, to }) => ({ from, to })) }),
  }
}
