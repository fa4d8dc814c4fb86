/** Documents of the old knowledge base, which are searched beside units. Those that were only cut are not: their pieces are. */
import type { Queryable } from '../db/connection.ts'

export interface NewDocument {
  /** Where it comes from: put again under it, it is the same document. */
  readonly source_ref: string
  readonly title: string
  readonly body: string
  /** Default en. */
  readonly language?: string
}

export interface SearchedDocument {
  readonly document_id: string
  readonly workspace_id: string
  readonly source_ref: string
  readonly title: string
  readonly language: string
  readonly bytes: number
  /** Units that were cut from it. */
  readonly units: number
  readonly freshness: 'current' | 'stale' | 'error'
  readonly updated_at: Date
}

/** By where they come from; `after` is the last source_ref of the page before. `db` acts as a service. */
export async function searchedDocuments(
  db: Queryable,
  workspace: string,
  { limit = 50, after }: { limit?: number; after?: string } = {},
): Promise<SearchedDocument[]> {
  const { rows } = await db.query<SearchedDocument>(
    `select v.document_id, v.workspace_id, v.source_ref, v.title, v.language, octet_length(d.body) as bytes,
            (select count(*)::integer from iu_core.kb_unit_map m where m.document_id = d.document_id and m.dropped_at is null) as units,
            v.vector_state as freshness, v.updated_at
       from iu_core.kb_document d
      cross join lateral (select * from iu_core.v_document i where i.document_id = d.document_id offset 0) as v
      where d.workspace_id = $1 and d.origin = 'knowledge_base' and d.deleted_at is null and ($3::text is null or d.source_ref > $3)
      order by d.source_ref limit $2`,
    [workspace, limit, after ?? null],
  )
  return rows
}

/** In search after a while, as everything. Returns its id. */
export async function putDocument(
  db: Queryable,
  workspace: string,
  { source_ref, title, body, language = 'en' }: NewDocument,
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select iu_core.fn_document_put($1, $2, $3, $4, $5) as id',
    [workspace, source_ref, title, body, language],
  )
  return rows[0]!.id
}

/** Out of search, and out of the knowledge base. */
export async function removeDocument(db: Queryable, document: string): Promise<void> {
  await db.query('select iu_core.fn_document_remove($1)', [document])
}
