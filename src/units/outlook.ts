/** What a cut by a manifest would do to the units as they are now. */
import type { Queryable } from '../db/connection.ts'
import type { LeftOut } from './cut.ts'

export interface PieceOutlook {
  readonly address: string
  readonly what: 'born' | 'unchanged' | 'versioned' | 'successor'
  /** The unit that holds the piece, what it is and at which version; absent: none does. */
  readonly unit?: string
  readonly status?: 'draft' | 'enacted' | 'superseded' | 'retired' | 'deleted'
  readonly version_no?: number
  /** Of the draft that would come beside it. */
  readonly new_address?: string
  /** What people wrote since the last cut, which the document's text would take the place of. */
  readonly replaced_version?: number
  /** Only the title would change. */
  readonly keeps_text?: true
  /** Addresses of containers; absent: none. */
  readonly moved_from?: string
  readonly moved_to?: string
  /** People had put it where it is. */
  readonly replaced_place?: true
  /** The container in which people put it, and in which it would stay; empty: in none. */
  readonly kept_in?: string
}

export interface GoneOutlook {
  readonly address: string
  /** Addresses of its drafts, which would be retired. */
  readonly retired: readonly string[]
  /** Of what is in force, and would stay. */
  readonly kept: readonly string[]
}

/** A document of the old knowledge base under the same source: a cut leaves it as it is, the units lie beside it. */
export interface LegacyDocument {
  readonly document_id: string
  readonly title: string
  readonly content_hash: string
  /** Whether it says what is marked. */
  readonly is_same: boolean
}

export interface Outlook {
  readonly legacy: LegacyDocument | null
  readonly pieces: readonly PieceOutlook[]
  readonly gone: readonly GoneOutlook[]
}

/** `manifest` is its JSON. */
export async function outlookOf(db: Queryable, workspace: string, manifest: string): Promise<Outlook> {
  const { rows } = await db.query<{ outlook: Outlook }>(
    'select iu_core.fn_mark_outlook($1, $2::jsonb) as outlook',
    [workspace, manifest],
  )
  return rows[0]!.outlook
}

export interface LeftOutText extends LeftOut {
  readonly parts: readonly (LeftOut['parts'][number] & { readonly text: string })[]
}

/** The text of a document that is in no piece of its manifest; null: all of it is. */
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
