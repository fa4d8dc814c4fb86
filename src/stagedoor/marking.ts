/** Marks a document and holds the proposal for review: `units` knows documents, `staging` holds. */
import { createHash } from 'node:crypto'
import type { Queryable } from '../db/connection.ts'
import { type CreatedRecord, createRecord, findRecord, type NewRecord } from '../staging/records.ts'
import type { Transaction } from '../units/conflicts.ts'
import { previousPieces } from '../units/cut.ts'
import { type Containers, hasOrphans, type MarkManifest, remarkWith } from '../units/manifest.ts'
import { markBeside } from '../units/marking/beside.ts'
import type { MarkOptions, MarkReport } from '../units/marking/mark.ts'
import { type LeftOutText, leftOutOf } from '../units/outlook.ts'

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
  /** Text that is in no piece, which a manifest that somebody changed may have; null: none. */
  readonly left_out: LeftOutText | null
}

/** Stages the marking of a document. No transaction is open while it is read, which a large one is in a thread. */
export async function stageMark(transaction: Transaction, mark: NewMark): Promise<StagedMark> {
  const { workspace, source: given, owner, purpose, ...options } = mark
  const previous = await transaction((client) => previousPieces(client, workspace, options.sourceRef))
  const { manifest, source, report } = await markBeside(given, { ...options, previous })
  const staged = await transaction((client) => hold(client, { workspace, manifest, source, owner, purpose }))
  return { ...staged, manifest, report }
}

export interface ChangedManifest {
  readonly workspace: string
  readonly manifest: MarkManifest
  readonly source: string
  readonly owner?: string
  readonly purpose?: string
}

/** Stages a manifest that a person changed: its hashes are taken anew, and parents that were taken out are made up for. */
export async function stageManifest(
  db: Queryable,
  changed: ChangedManifest,
): Promise<Omit<StagedMark, 'report'>> {
  const before = hasOrphans(changed.manifest) ? await containersBefore(db, changed) : undefined
  const manifest = remarkWith(changed.manifest, changed.source, before)
  return { ...(await hold(db, { ...changed, manifest })), manifest }
}

/** What contained the pieces of the document when it was cut, and in the manifests that were staged for it since. */
async function containersBefore(
  db: Queryable,
  { workspace, manifest: { document } }: ChangedManifest,
): Promise<Containers> {
  const cut = await previousPieces(db, workspace, document.source_ref)
  const { rows: staged } = await db.query<{ address: string; parent: string | null }>(STAGED_PIECES, [
    workspace,
    document.source_ref,
  ])
  return new Map([...cut, ...staged].map(({ address, parent }) => [address, parent]))
}

/** The newest last: its word counts. */
const STAGED_PIECES = `select p.piece ->> 'address' as address, p.piece ->> 'parent' as parent
  from (select staging_record_id from iu_core.iu_staging_record
         where workspace_id = $1 and source_ref = $2 and (staging_kind, payload_type) = ('mark_manifest', 'manifest_json')
         order by staging_record_id desc limit 5) r
  join iu_core.iu_staging_payload m on m.staging_record_id = r.staging_record_id and m.part_index = 0
 cross join lateral jsonb_array_elements(m.payload_json -> 'pieces') with ordinality as p (piece, number)
 order by r.staging_record_id, p.number`

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
): Promise<Omit<StagedMark, 'manifest' | 'report'>> {
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
    if (made.created || (await isOpen(db, made))) {
      return { ...made, digest, left_out: await leftOutOf(db, source, pieces) }
    }
    key = `mark:${made.staging_record_id}`
  }
}

/** Whether it can still be approved and cut: one that is over time cannot, though nobody has swept it up yet. */
async function isOpen(
  db: Queryable,
  {
    staging_record_id: id,
    lifecycle_status: status,
  }: Pick<CreatedRecord, 'staging_record_id' | 'lifecycle_status'>,
): Promise<boolean> {
  if (status !== 'pending' && status !== 'approved') return false
  const record = await findRecord(db, id)
  return record === undefined || record.expires_at > new Date()
}
