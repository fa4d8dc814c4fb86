/** The cut of an approved manifest into units, its preview, and the documents that were cut. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import type { PreviousPiece } from './marking/previous.ts'
import {
  type Cut,
  type DocumentDetail,
  type DocumentPiece,
  KnownDocument,
  type LeftOut,
  type LeftOutText,
  type LegacyDocument,
  type PiecePreview,
} from './shapes.ts'

export type {
  Cut,
  CutUnit,
  DocumentDetail,
  DocumentPiece,
  KnownDocument,
  LeftOut,
  LeftOutText,
  LegacyDocument,
  PiecePreview,
} from './shapes.ts'

/**
 * Cuts the document of an approved record into units, in one transaction. `digest` is that of the part manifest, or of the approved
 * record; `source` is the document, if the record holds only the manifest.
 */
export async function cutFromManifest(
  db: Queryable,
  record: string,
  digest: string,
  source?: string,
): Promise<Cut> {
  const { rows } = await db.query<{ cut: Cut }>(
    'select iu_core.dot_iu_cut_from_manifest($1, $2, $3) as cut',
    [record, digest, source ?? null],
  )
  return rows[0]!.cut
}

/** The workspace of a cut, and the units whose text it changed: those that it lists, and their containers. */
export async function cutScope(
  db: Queryable,
  { document_id, units }: Pick<Cut, 'document_id' | 'units'>,
): Promise<{ workspace: string; units: string[] }> {
  const { rows } = await db.query<{ workspace: string; units: string[] }>(
    `select workspace_id as workspace,
            array(select unit_id from unnest($2::uuid[]) as t (unit_id)
                   union
                  select u.container_id from iu_core.information_unit u
                   where u.unit_id = any ($2) and u.container_id is not null) as units
       from iu_core.kb_document where document_id = $1`,
    [document_id, units.map(({ unit_id }) => unit_id)],
  )
  return rows[0]!
}

/** The pieces of a document's last cut, in their order: marking keeps their addresses. */
export async function previousPieces(
  db: Queryable,
  workspace: string,
  sourceRef: string,
): Promise<PreviousPiece[]> {
  const { rows } = await db.query<PreviousPiece>(PREVIOUS, [workspace, sourceRef])
  return rows
}

/**
 * For each piece the unit that the cut would use (fn_cut_plan), with its place in the document. The place to which people moved a unit
 * is used only if its place in the document is unknown.
 */
const PREVIOUS = `with held as materialized (
    select distinct on (m.piece_address) m.piece_address, m.position, m.content_hash, u.title, u.unit_kind, u.container_id,
           u.current_version_id, m.document_id, m.parent_address, m.dropped_at is not null as dropped
      from iu_core.kb_document d
      join iu_core.kb_unit_map m on m.document_id = d.document_id
      join iu_core.information_unit u on u.unit_id = m.unit_id
     where d.workspace_id = $1 and d.source_ref = $2
     order by m.piece_address,
              case when u.deleted_at is not null or u.lifecycle_status = 'retired' then 2
                   when u.lifecycle_status = 'superseded' then 1 else 0 end,
              u.created_at desc, u.unit_id desc)
  select h.piece_address as address, h.content_hash as hash, h.title, h.unit_kind as kind,
         case when h.dropped or h.parent_address is null then c.piece_address else nullif(h.parent_address, '') end as parent, v.body as text, h.dropped
    from held h
    join iu_core.unit_version v on v.unit_version_id = h.current_version_id
    left join iu_core.kb_unit_map c on c.document_id = h.document_id and c.unit_id = h.container_id
   order by h.dropped, h.position`

export interface RemovedPiecePreview {
  readonly address: string
  /** Addresses of its drafts, which would be retired. */
  readonly retired: readonly string[]
  /** Addresses of its enacted units, which would stay. */
  readonly kept: readonly string[]
}

interface CutPreview {
  readonly legacy: LegacyDocument | null
  readonly pieces: readonly (PiecePreview & { readonly address: string })[]
  readonly removed: readonly RemovedPiecePreview[]
}

/** What a cut by this manifest (its JSON) would do with the units as they are now. Changes nothing. */
export async function previewCut(db: Queryable, workspace: string, manifest: string): Promise<CutPreview> {
  const { rows } = await db.query<{ preview: CutPreview }>(
    'select iu_core.fn_cut_preview($1, $2::jsonb) as preview',
    [workspace, manifest],
  )
  return rows[0]!.preview
}

/** The text of a document that is in no piece of its manifest; null: none. */
export async function leftOutOf(
  db: Queryable,
  source: string,
  pieces: readonly object[],
): Promise<LeftOutText | null> {
  const bytes = Buffer.from(source)
  const { rows } = await db.query<{ left_out: LeftOut | null }>(
    'select iu_core.fn_mark_left_out($1, $2::jsonb) as left_out',
    [bytes, JSON.stringify(pieces)],
  )
  const found = rows[0]!.left_out
  return (
    found && {
      ...found,
      parts: found.parts.map((part) => ({ ...part, text: bytes.toString('utf8', part.from, part.to) })),
    }
  )
}

// Documents that were cut, and which unit holds which of their pieces.

export interface MapPage {
  /** Default 1000. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string
}

export interface DocumentFilter {
  readonly workspaceId?: string | undefined
  readonly limit?: number
  /** The id of the last of the page before. */
  readonly after?: string
}

const COLUMNS = columnsOf(KnownDocument, {
  from: 'd',
  as: {
    bytes: 'octet_length(d.body)',
    pieces:
      '(select count(*)::int from iu_core.kb_unit_map m where m.document_id = d.document_id and m.dropped_at is null)',
  },
})

/** Newest first. */
export async function listDocuments(db: Queryable, filter: DocumentFilter = {}): Promise<KnownDocument[]> {
  const { rows } = await db.query<KnownDocument>(
    `select ${COLUMNS} from iu_core.kb_document d
      where ($2::uuid is null or d.workspace_id = $2) and ($3::uuid is null or d.document_id < $3)
      order by d.document_id desc limit $1`,
    [filter.limit ?? 50, filter.workspaceId ?? null, filter.after ?? null],
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
