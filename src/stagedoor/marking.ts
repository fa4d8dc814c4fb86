/** Marks a document and holds the proposal for review: `units` knows documents, `staging` holds. */
import { createHash } from 'node:crypto'
import type { Queryable } from '../db/connection.ts'
import { createRecord, type NewRecord } from '../staging/records.ts'
import { previousPieces } from '../units/cut.ts'
import { type MarkManifest, remarkWith } from '../units/manifest.ts'
import { type MarkOptions, type MarkReport, markDocument } from '../units/marking/mark.ts'

export interface NewMark extends Omit<MarkOptions, 'previous'> {
  readonly workspace: string
  /** The document itself: its bytes, or its text. */
  readonly source: string | Buffer
  /** Whose it is, if back-end code stages for somebody. */
  readonly owner?: string
  /** A few words for whoever decides; default: which document, and how many pieces. */
  readonly purpose?: string
}

export interface StagedMark {
  readonly staging_record_id: string
  /** Of the record: what is approved, and what the cut is given. */
  readonly digest: string
  readonly lifecycle_status: string
  /** False: this very marking waits already. */
  readonly created: boolean
  readonly manifest: MarkManifest
  readonly report: MarkReport
}

/** Stages the marking of a document; `db` is a client in the caller's transaction, or a pool. */
export async function stageMark(db: Queryable, mark: NewMark): Promise<StagedMark> {
  const { workspace, source: given, owner, purpose, ...options } = mark
  const previous = await previousPieces(db, workspace, options.sourceRef)
  const { manifest, source, report } = markDocument(given, { ...options, previous })
  const staged = await hold(db, { workspace, manifest, source, owner, purpose })
  return { ...staged, manifest, report }
}

export interface ChangedManifest {
  readonly workspace: string
  readonly manifest: MarkManifest
  readonly source: string
  readonly owner?: string
  readonly purpose?: string
}

/** Stages a manifest that a person changed: its hashes are taken anew. */
export async function stageManifest(
  db: Queryable,
  changed: ChangedManifest,
): Promise<Omit<StagedMark, 'report'>> {
  const manifest = remarkWith(changed.manifest, changed.source)
  return { ...(await hold(db, { ...changed, manifest })), manifest }
}

interface Held {
  readonly workspace: string
  readonly manifest: MarkManifest
  readonly source: string
  readonly owner?: string | undefined
  readonly purpose?: string | undefined
}

/** The same marking is held once. One that was rejected, expired or cut already is no answer: then it is held anew. */
async function hold(
  db: Queryable,
  { workspace, manifest, source, owner, purpose }: Held,
): Promise<Pick<StagedMark, 'staging_record_id' | 'digest' | 'lifecycle_status' | 'created'>> {
  const { document, pieces } = manifest
  const record: NewRecord = {
    staging_kind: 'mark_manifest',
    payload_type: 'manifest_json',
    purpose:
      purpose ??
      `Cut “${document.title}” into ${pieces.length === 1 ? '1 piece' : `${pieces.length} pieces`}`,
    workspace_id: workspace,
    source_ref: document.source_ref,
    ...(owner !== undefined && { owner_actor: owner }),
    parts: [
      { part_name: 'manifest', payload_kind: 'json', payload_json: manifest },
      { part_name: 'source', payload_kind: 'text', payload_text: source },
    ],
  }
  const request = JSON.stringify(record)
  const first = createHash('sha256').update(document.source_ref).update('\0').update(JSON.stringify(manifest))
  for (let key = `mark:${first.digest('hex')}`; ; ) {
    const { content_hash: digest, ...made } = await createRecord(db, request, key)
    if (made.created || made.lifecycle_status === 'pending' || made.lifecycle_status === 'approved') {
      return { ...made, digest }
    }
    key = `mark:${made.staging_record_id}`
  }
}
