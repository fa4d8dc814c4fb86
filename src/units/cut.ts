/** From an approved manifest to units, and what the units of a document are called. */
import type { Queryable } from '../db/connection.ts'
import type { PreviousPiece } from './marking/previous.ts'

export interface CutUnit {
  readonly unit_id: string
  readonly canonical_address: string
  readonly what: 'born' | 'versioned' | 'successor' | 'retired' | 'moved'
  /** What people had written into it since the last cut, which the document's text took the place of. */
  readonly replaced_version?: number
  /** Addresses of the containers that it came from and is in now, where it moved; absent: none. */
  readonly moved_from?: string
  readonly moved_to?: string
  /** People had put it where it was; the document moved its piece. */
  readonly replaced_place?: true
}

/** Text of a document that is in none of its pieces. */
export interface LeftOut {
  readonly bytes: number
  /** Where: bytes of the UTF-8, half-open, and lines from 1. The first fifty. */
  readonly parts: readonly {
    readonly from: number
    readonly to: number
    readonly first_line: number
    readonly last_line: number
  }[]
}

export interface Cut {
  readonly run_id: string
  readonly document_id: string
  readonly born: number
  readonly versioned: number
  /** Drafts that came beside a piece that is enacted, retired or deleted. */
  readonly successors: number
  readonly retired: number
  /** No longer a piece of the document, and in force: left as they are. */
  readonly kept: number
  readonly unchanged: number
  /** Only those that the cut touched. */
  readonly units: readonly CutUnit[]
  /** Addresses of units that the manifest calls another kind: a kind changes by `amendKind` alone. */
  readonly kinds_kept?: readonly string[]
  /** Addresses of containers whose order people had made, until the document got another one itself. */
  readonly orders_replaced?: readonly string[]
  /** The document is one of the old knowledge base, whose own text the cut left as it is. */
  readonly legacy_kept?: true
  /** Text that the manifest has in no piece. */
  readonly left_out?: LeftOut
}

/**
 * `digest` is that of the part manifest, or of the record as it was approved; `source` is the document where the record holds the
 * manifest alone. All in one transaction of the database.
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

/** The pieces of a document as they were cut last, in their order, for marking: so that addresses are kept. */
export async function previousPieces(
  db: Queryable,
  workspace: string,
  sourceRef: string,
): Promise<PreviousPiece[]> {
  const { rows } = await db.query<PreviousPiece>(PREVIOUS, [workspace, sourceRef])
  return rows
}

/**
 * Of the units that ever held a piece the one that the cut would take (fn_cut_plan), in the order of the document, in the sections of the
 * document: where people put a unit since counts only when nobody knows any more where the document had it.
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
              u.born_at desc, u.unit_id desc)
  select h.piece_address as address, h.content_hash as hash, h.title, h.unit_kind as kind,
         case when h.dropped or h.parent_address is null then c.piece_address else nullif(h.parent_address, '') end as parent, v.body as text, h.dropped
    from held h
    join iu_core.unit_version v on v.unit_version_id = h.current_version_id
    left join iu_core.kb_unit_map c on c.document_id = h.document_id and c.unit_id = h.container_id
   order by h.dropped, h.position`
