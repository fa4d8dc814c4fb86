/** Documents that were cut, and which unit holds which of their pieces. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'

export interface KnownDocument {
  readonly document_id: string
  readonly workspace_id: string
  readonly source_ref: string
  readonly title: string
  readonly language: string
  readonly content_hash: string
  readonly bytes: number
  /** Pieces of the newest cut. */
  readonly pieces: number
  readonly updated_by: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly deleted_at: Date | null
}

export interface DocumentPiece {
  readonly piece_address: string
  readonly position: number
  readonly unit_id: string
  readonly canonical_address: string
  readonly unit_kind: string
  readonly title: string
  readonly lifecycle_status: string
  readonly version_no: number
  /** Of the document's piece; the unit may have been edited since. */
  readonly content_hash: string
  /** The newest cut no longer had it. */
  readonly dropped_at: Date | null
}

export interface DocumentDetail extends KnownDocument {
  readonly body: string
  readonly map: readonly DocumentPiece[]
  /** Where the next page of the map goes on; null: nothing is left. */
  readonly next: string | null
}

export interface MapPage {
  /** Default 1000. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string
}

export interface DocumentFilter {
  readonly workspace_id?: string
  readonly limit?: number
  /** The id of the last of the page before. */
  readonly after?: string
}

const COLUMNS = `d.document_id, d.workspace_id, d.source_ref, d.title, d.language, d.content_hash, octet_length(d.body) as bytes,
  (select count(*)::int from iu_core.kb_unit_map m where m.document_id = d.document_id and m.dropped_at is null) as pieces,
  d.updated_by, d.created_at, d.updated_at, d.deleted_at`

/** Newest first. */
export async function listDocuments(db: Queryable, filter: DocumentFilter = {}): Promise<KnownDocument[]> {
  const { rows } = await db.query<KnownDocument>(
    `select ${COLUMNS} from iu_core.kb_document d
      where ($2::uuid is null or d.workspace_id = $2) and ($3::uuid is null or d.document_id < $3)
      order by d.document_id desc limit $1`,
    [filter.limit ?? 50, filter.workspace_id ?? null, filter.after ?? null],
  )
  return rows
}

/** With its text and the units that hold its pieces, in their order; dropped ones last. */
export async function readDocument(
  db: Queryable,
  document: string,
  { limit = 1000, after }: MapPage = {},
): Promise<DocumentDetail> {
  const { rows } = await db.query<KnownDocument & { body: string }>(
    `select ${COLUMNS}, d.body from iu_core.kb_document d where d.document_id = $1`,
    [document],
  )
  if (!rows[0]) throw new StagedoorError('document_unknown', { document })
  const { rows: map } = await db.query<DocumentPiece>(
    `select m.piece_address, m.position, m.unit_id, u.canonical_address, u.unit_kind, u.title, u.lifecycle_status, u.version_no,
            m.content_hash, m.dropped_at
       from iu_core.kb_unit_map m join iu_core.information_unit u on u.unit_id = m.unit_id
      where m.document_id = $1
        and ($3::uuid is null or (m.dropped_at is not null, m.position, m.unit_id) >
             (select a.dropped_at is not null, a.position, a.unit_id from iu_core.kb_unit_map a
               where a.document_id = $1 and a.unit_id = $3))
      order by m.dropped_at is not null, m.position, m.unit_id limit $2`,
    [document, limit + 1, after ?? null],
  )
  const page = map.slice(0, limit)
  return { ...rows[0], map: page, next: map.length > limit ? page.at(-1)!.unit_id : null }
}
