/** Marks a document, stages the proposal for review, and reads a staged marking as its reviewer sees it. */
import { createHash } from 'node:crypto'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { storableText } from '../kernel/text.ts'
import {
  approveRecord,
  type CreatedRecord,
  createRecord,
  findRecord,
  type NewRecord,
  readPart,
  type StagingRecord,
} from '../staging/records.ts'
import {
  type LeftOutText,
  type LegacyDocument,
  leftOutOf,
  type PiecePreview,
  previewCut,
  previousPieces,
  type RemovedPiecePreview,
} from '../units/cut.ts'
import {
  type Containers,
  checkManifest,
  hasOrphans,
  type ManifestPiece,
  type MarkManifest,
  remarkWith,
} from '../units/manifest.ts'
import { markInThread } from '../units/marking/in-thread.ts'
import { type MarkOptions, type MarkReport, readText } from '../units/marking/mark.ts'
import { type MarkedPiece, type RemovedPiece, reportOf } from '../units/marking/previous.ts'
import type { Transaction } from '../units/units.ts'

export interface NewMark extends Omit<MarkOptions, 'previous'> {
  readonly workspace: string
  /** The document itself: its bytes, or its text. */
  readonly source: string | Buffer
  /** The owner of the record, if the back end stages for a person. */
  readonly owner?: string
  /** A new record also where nothing has changed since the last cut: the cut would only bring back what people changed around it. */
  readonly again?: boolean
  /** A few words for the reviewer; default: which document, and how many pieces. */
  readonly purpose?: string
}

export interface StagedMark {
  readonly staging_record_id: string
  /** Of the record: approval and cut name it. */
  readonly digest: string
  readonly lifecycle_status: string
  /** False: the same marking awaits review already. */
  readonly created: boolean
  readonly manifest: MarkManifest
  readonly report: MarkReport
  /** Text that is in no piece, which an edited manifest may leave; null: none. */
  readonly left_out: LeftOutText | null
}

/** Stages the marking of a document. No transaction is open while the document is parsed; a large one is parsed in a thread. */
export async function stageMark(transaction: Transaction, mark: NewMark): Promise<StagedMark> {
  const { workspace, source: given, owner, purpose, again = false, ...options } = mark
  const before = await transaction(async (client) => ({
    previous: await previousPieces(client, workspace, options.sourceRef),
    fallbackLanguage: await languageOf(client, given),
  }))
  const { manifest, source, report } = await markInThread(given, { ...options, ...before })
  const staged = await transaction((client) =>
    stageProposal(client, {
      workspace,
      manifest,
      source,
      owner,
      purpose,
      isCut: !again && isUnchanged(report),
    }),
  )
  return { ...staged, manifest, report }
}

/** More than fn_text_language looks at. */
const MAX_SAMPLE_BYTES = 8000

/** As search finds it out for a text of which nobody said the language. */
async function languageOf(db: Queryable, source: string | Buffer): Promise<string> {
  const text = typeof source === 'string' ? source : source.subarray(0, MAX_SAMPLE_BYTES).toString('utf8')
  const { rows } = await db.query<{ language: string }>('select iu_core.fn_text_language($1) as language', [
    storableText(text.slice(0, MAX_SAMPLE_BYTES), ' '),
  ])
  return rows[0]!.language
}

/** Whether the last cut of the document has exactly these pieces. */
function isUnchanged({ pieces, removed }: MarkReport): boolean {
  return removed.length === 0 && pieces.every(({ change, moved }) => change === 'same' && !moved)
}

interface ChangedManifest {
  readonly workspace: string
  readonly manifest: MarkManifest
  readonly source: string
  readonly owner?: string
  readonly purpose?: string
}

/** Stages a manifest that a person edited: computes its hashes again, and finds other parents for pieces whose parent was removed. */
export async function stageManifest(
  db: Queryable,
  changed: ChangedManifest,
): Promise<Omit<StagedMark, 'report'>> {
  const before = hasOrphans(changed.manifest) ? await containersBefore(db, changed) : undefined
  const manifest = remarkWith(changed.manifest, changed.source, before)
  return { ...(await stageProposal(db, { ...changed, manifest })), manifest }
}

/** The parents of the pieces when the document was cut, and in the manifests staged since. */
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

/** The newest last: it wins. */
const STAGED_PIECES = `select p.piece ->> 'address' as address, p.piece ->> 'parent' as parent
  from (select staging_record_id from iu_core.iu_staging_record
         where workspace_id = $1 and source_ref = $2 and (staging_kind, payload_type) = ('mark_manifest', 'manifest_json')
         order by staging_record_id desc limit 5) r
  join iu_core.iu_staging_payload m on m.staging_record_id = r.staging_record_id and m.part_index = 0
 cross join lateral jsonb_array_elements(m.payload_json -> 'pieces') with ordinality as p (piece, number)
 order by r.staging_record_id, p.number`

interface Proposal {
  readonly workspace: string
  readonly manifest: MarkManifest
  readonly source: string
  readonly owner?: string | undefined
  readonly purpose?: string | undefined
  /** The last cut of the document has exactly these pieces. */
  readonly isCut?: boolean
}

/**
 * The same marking is staged once. If that record was rejected or has expired, another one is created; if it was cut, only where the
 * document has changed since.
 */
async function stageProposal(
  db: Queryable,
  { workspace, manifest, source, owner, purpose, isCut = false }: Proposal,
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
    if (made.created || (isCut && made.lifecycle_status === 'consumed') || (await isOpen(db, made))) {
      return { ...made, digest, left_out: await leftOutOf(db, source, pieces) }
    }
    key = `mark:${made.staging_record_id}`
  }
}

/** Whether it can still be approved and cut: an overdue record cannot, also before maintenance expires it. */
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

export interface StagedPiece extends ManifestPiece, Pick<MarkedPiece, 'change' | 'moved'> {
  readonly text: string
  /** The current text of its unit where it differs; null otherwise. */
  readonly before: string | null
  /** What the cut would do with its unit now. */
  readonly preview: PiecePreview
}

export type StagedRemovedPiece = RemovedPiece & Pick<RemovedPiecePreview, 'retired' | 'kept'>

/** A staged marking as its reviewer sees it: each piece with its text, and what the cut would do with it. */
export interface StagedMarking {
  readonly record: StagingRecord
  readonly document: MarkManifest['document']
  readonly pieces: readonly StagedPiece[]
  /** Pieces of the last cut that are no longer there. */
  readonly removed: readonly StagedRemovedPiece[]
  /** Text that is in no piece; null: none. */
  readonly left_out: LeftOutText | null
  /** The document of the old knowledge base with the same source; null: none. */
  readonly legacy: LegacyDocument | null
}

export interface EditedManifest {
  readonly workspace: string
  /** As a person or an agent edited it; positions and hashes are computed again. */
  readonly manifest: unknown
  readonly source: string | Buffer
  readonly owner?: string
}

/** Stages an edited manifest for the same review. No transaction is open while it is checked. */
export async function stageEditedManifest(
  transaction: Transaction,
  edited: EditedManifest,
): Promise<StagedMark> {
  const source = readText(edited.source, 'The document')
  // Hashes are computed again. Offsets of another text would cut this one at random places, so they are refused.
  const problems = checkManifest(edited.manifest, source).filter(
    ({ code }) => code === 'schema' || code === 'source_differs',
  )
  if (problems.length > 0) {
    const messages = problems.map(({ piece, message }) =>
      piece === undefined ? message : `${piece}: ${message}`,
    )
    const reason = messages.length > 1 ? `${messages[0]}, and ${messages.length - 1} more` : messages[0]!
    throw new StagedoorError('manifest_invalid', { reason, problems: messages.slice(0, 20) })
  }
  const { staged, before } = await transaction(async (client) => {
    const staged = await stageManifest(client, {
      ...edited,
      manifest: edited.manifest as MarkManifest,
      source,
    })
    const { source_ref: ref } = staged.manifest.document
    return { staged, before: await previousPieces(client, edited.workspace, ref) }
  })
  return { ...staged, report: reportOf(staged.manifest.pieces, before, source) }
}

export async function readMarking(db: Queryable, id: string): Promise<StagedMarking> {
  const record = await findRecord(db, id)
  if (!record) throw new StagedoorError('staging_not_found', { record: id })
  const manifest = await readPart(db, id, 0)
  if (record.staging_kind !== 'mark_manifest' || !manifest?.content) {
    throw notMarked(record, manifest !== undefined)
  }
  const { document, pieces } = JSON.parse(manifest.content) as MarkManifest
  const source = {
    content: (await readPart(db, id, 1))?.content ?? (await knownSource(db, record, document)),
  }
  if (document === undefined || source.content === undefined) throw notMarked(record, true)
  const before = await previousPieces(db, record.workspace_id!, document.source_ref)
  const preview = await previewCut(db, record.workspace_id!, manifest.content)
  const report = reportOf(pieces, before, source.content)
  const texts = new Map(before.map(({ address, text }) => [address, text]))
  const bytes = Buffer.from(source.content)
  return {
    record,
    document,
    pieces: pieces.map((piece, index) => {
      const { change, moved } = report.pieces[index]!
      const { address: _, ...own } = preview.pieces[index]!
      return {
        ...piece,
        change,
        ...(moved && { moved }),
        text: bytes.toString('utf8', piece.from, piece.to),
        before: change === 'changed' ? (texts.get(piece.address) ?? null) : null,
        preview: own,
      }
    }),
    removed: withUnits(report.removed, preview.removed),
    left_out: await leftOutOf(db, source.content, pieces),
    legacy: preview.legacy,
  }
}

/** For a record that has only the manifest: the document as it was cut last, or as the old knowledge base has it. */
async function knownSource(
  db: Queryable,
  { workspace_id }: StagingRecord,
  document: MarkManifest['document'] | undefined,
): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>(
    `select s.body from iu_core.kb_document d
       left join iu_core.kb_document_cut c on c.document_id = d.document_id
      cross join lateral (values (d.body, d.content_hash), (c.body, c.content_hash)) as s (body, content_hash)
      where d.workspace_id = $1 and d.source_ref = $2 and s.content_hash = $3 limit 1`,
    [workspace_id, document?.source_ref ?? null, document?.content_hash ?? null],
  )
  return rows[0]?.body
}

function withUnits(
  removed: readonly RemovedPiece[],
  preview: readonly RemovedPiecePreview[],
): StagedRemovedPiece[] {
  const units = new Map(preview.map(({ address, ...unit }) => [address, unit]))
  return removed.map((piece) => ({ ...piece, ...(units.get(piece.address) ?? { retired: [], kept: [] }) }))
}

function notMarked(
  { staging_record_id: id, staging_kind: kind, lifecycle_status: status }: StagingRecord,
  hasParts: boolean,
): StagedoorError {
  const alone = hasParts && kind === 'mark_manifest'
  const reason = alone
    ? `Record ${id} holds a manifest alone, and its document is not known here`
    : hasParts
      ? `Record ${id} is a ${kind}, not the marking of a document`
      : `Of record ${id} only the digests are left: its retention is over`
  return new StagedoorError(
    'argument_invalid',
    { reason },
    {
      hint:
        alone && status !== 'cleaned'
          ? `\`stagedoor staging show ${id} --part 0\` shows the manifest; \`stagedoor cut ${id} --source FILE\` takes the document.`
          : '`stagedoor mark FILE` stages a marking.',
    },
  )
}

// Folders: many documents with one review.

/** A marking of a document in a folder that waits for its review, or for its cut. */
export interface FolderMarking {
  readonly staging_record_id: string
  readonly source_ref: string
  readonly content_hash: string
  readonly lifecycle_status: string
}

/** The newest marking of each document whose reference is below the folder, by reference. */
export async function markedInFolder(
  db: Queryable,
  workspace: string,
  folder: string,
  status: 'pending' | 'approved',
): Promise<FolderMarking[]> {
  const { rows } = await db.query<FolderMarking>(
    `select r.staging_record_id, r.source_ref, r.content_hash, r.lifecycle_status
       from (select distinct on (source_ref) *
               from iu_core.iu_staging_record
              where workspace_id = $1 and staging_kind = 'mark_manifest' and ($2 = '' or starts_with(source_ref, $2 || '/'))
              order by source_ref, staging_record_id desc) as r
      where r.lifecycle_status = $3 and r.expires_at > clock_timestamp() order by r.source_ref`,
    [workspace, folder, status],
  )
  return rows
}

/** One digest for all of them: whoever approves it has seen exactly these records with exactly these bytes. */
export function folderDigest(markings: readonly FolderMarking[]): string {
  const hash = createHash('sha256')
  for (const { staging_record_id: id, content_hash } of markings) hash.update(`${id} ${content_hash}\n`)
  return hash.digest('hex')
}

/** Approves every pending marking of a folder in the transaction of the client, or none if anything differs from what was seen. */
export async function approveFolder(
  db: Queryable,
  workspace: string,
  folder: string,
  digest: string,
): Promise<FolderMarking[]> {
  const markings = await markedInFolder(db, workspace, folder, 'pending')
  if (markings.length === 0 || folderDigest(markings) !== digest)
    throw new StagedoorError('argument_invalid', {
      reason: `What waits for review below ${folder === '' ? 'this folder' : folder} is not what has this digest: look at it again`,
    })
  for (const { staging_record_id: id, content_hash } of markings)
    await approveRecord(db, id, { digest: content_hash })
  return markings
}
