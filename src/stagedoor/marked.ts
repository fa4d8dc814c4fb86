/** A staged marking as its reviewer looks at it: the pieces beside their text, and what the cut would do with each. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { findRecord, readPart, type StagingRecord } from '../staging/records.ts'
import type { Transaction } from '../units/conflicts.ts'
import { previousPieces } from '../units/cut.ts'
import { checkManifest, type ManifestPiece, type MarkManifest } from '../units/manifest.ts'
import { type GonePiece, type MarkedPiece, reportOf } from '../units/marking/report.ts'
import { readText } from '../units/marking/text.ts'
import {
  type GoneOutlook,
  type LeftOutText,
  type LegacyDocument,
  leftOutOf,
  outlookOf,
  type PieceOutlook,
} from '../units/outlook.ts'
import { type StagedMark, stageManifest } from './marking.ts'

export interface StagedPiece extends ManifestPiece, Pick<MarkedPiece, 'change' | 'moved'> {
  readonly text: string
  /** What its unit says now, where that is something else; null otherwise. */
  readonly before: string | null
  /** What the cut would do with its unit, as that is now. */
  readonly outlook: Omit<PieceOutlook, 'address'>
}

export type StagedGone = GonePiece & Pick<GoneOutlook, 'retired' | 'kept'>

export interface StagedMarking {
  readonly record: StagingRecord
  readonly document: MarkManifest['document']
  readonly pieces: readonly StagedPiece[]
  /** Of the last cut, and no longer pieces. */
  readonly gone: readonly StagedGone[]
  /** Text that is in no piece; null: none. */
  readonly left_out: LeftOutText | null
  /** Null: the old knowledge base has none under this source. */
  readonly legacy: LegacyDocument | null
}

export interface EditedManifest {
  readonly workspace: string
  /** As a person or an agent left it; positions and hashes are taken anew. */
  readonly manifest: unknown
  readonly source: string | Buffer
  readonly owner?: string
}

/** Stages a manifest that somebody changed, for the same review. No transaction is open while it is looked at. */
export async function stageEditedManifest(
  transaction: Transaction,
  edited: EditedManifest,
): Promise<StagedMark> {
  const source = readText(edited.source, 'The document')
  // Positions and hashes are made anew; offsets that were counted in another text would cut this one anywhere.
  const problems = checkManifest(edited.manifest, source).filter(
    ({ code }) => code === 'schema' || code === 'source_differs',
  )
  if (problems.length > 0) {
    const said = problems.map(({ piece, message }) =>
      piece === undefined ? message : `${piece}: ${message}`,
    )
    const reason = said.length > 1 ? `${said[0]}, and ${said.length - 1} more` : said[0]!
    throw new StagedoorError('manifest_invalid', { reason, problems: said.slice(0, 20) })
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
  const outlook = await outlookOf(db, record.workspace_id!, manifest.content)
  const report = reportOf(pieces, before, source.content)
  const texts = new Map(before.map(({ address, text }) => [address, text]))
  const bytes = Buffer.from(source.content)
  return {
    record,
    document,
    pieces: pieces.map((piece, index) => {
      const { change, moved } = report.pieces[index]!
      const { address: _, ...own } = outlook.pieces[index]!
      return {
        ...piece,
        change,
        ...(moved && { moved }),
        text: bytes.toString('utf8', piece.from, piece.to),
        before: change === 'changed' ? (texts.get(piece.address) ?? null) : null,
        outlook: own,
      }
    }),
    gone: withUnits(report.gone, outlook.gone),
    left_out: await leftOutOf(db, source.content, pieces),
    legacy: outlook.legacy,
  }
}

/** Where the record holds the manifest alone: the document as it was cut last, or as the old knowledge base has it. */
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

function withUnits(gone: readonly GonePiece[], outlook: readonly GoneOutlook[]): StagedGone[] {
  const units = new Map(outlook.map(({ address, ...unit }) => [address, unit]))
  return gone.map((piece) => ({ ...piece, ...(units.get(piece.address) ?? { retired: [], kept: [] }) }))
}

function notMarked(
  { staging_record_id: id, staging_kind: kind, lifecycle_status: status }: StagingRecord,
  kept: boolean,
): StagedoorError {
  const alone = kept && kind === 'mark_manifest'
  const reason = alone
    ? `Record ${id} holds a manifest alone, and its document is not known here`
    : kept
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
