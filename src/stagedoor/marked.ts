/** A staged marking as its reviewer looks at it: the pieces beside their text, and what the cut would do with each. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { findRecord, readPart, type StagingRecord } from '../staging/records.ts'
import { previousPieces } from '../units/cut.ts'
import { checkManifest, type ManifestPiece, type MarkManifest } from '../units/manifest.ts'
import { type MarkReport, type PieceChange, reportOf } from '../units/marking/report.ts'
import { readText } from '../units/marking/text.ts'
import { type StagedMark, stageManifest } from './marking.ts'

export interface StagedPiece extends ManifestPiece {
  readonly change: PieceChange
  readonly text: string
  /** What its unit says now, where that is something else; null otherwise. */
  readonly before: string | null
}

export interface StagedMarking {
  readonly record: StagingRecord
  readonly document: MarkManifest['document']
  readonly pieces: readonly StagedPiece[]
  /** Of the last cut, and no longer in the document. */
  readonly gone: MarkReport['gone']
}

export interface EditedManifest {
  readonly workspace: string
  /** As a person or an agent left it; positions and hashes are taken anew. */
  readonly manifest: unknown
  readonly source: string | Buffer
  readonly owner?: string
}

/** Stages a manifest that somebody changed, for the same review. */
export async function stageEditedManifest(db: Queryable, edited: EditedManifest): Promise<StagedMark> {
  const source = readText(edited.source, 'The document')
  // Positions and hashes are made anew; offsets that were counted in another text would cut this one anywhere.
  const problems = checkManifest(edited.manifest, source).filter(
    ({ code }) => code === 'schema' || code === 'source_differs',
  )
  if (problems.length > 0) {
    const reason = problems[0]!.message
    throw new StagedoorError('manifest_invalid', { reason, problems: problems.map(({ message }) => message) })
  }
  const staged = await stageManifest(db, { ...edited, manifest: edited.manifest as MarkManifest, source })
  const { document, pieces } = staged.manifest
  const before = await previousPieces(db, edited.workspace, document.source_ref)
  return { ...staged, report: reportOf(pieces, before) }
}

export async function readMarking(db: Queryable, id: string): Promise<StagedMarking> {
  const record = await findRecord(db, id)
  if (!record) throw new StagedoorError('staging_not_found', { record: id })
  const manifest = await readPart(db, id, 0)
  const source = await readPart(db, id, 1)
  if (record.staging_kind !== 'mark_manifest' || !manifest?.content || !source?.content) {
    throw notMarked(record, manifest !== undefined)
  }
  const { document, pieces } = JSON.parse(manifest.content) as MarkManifest
  const bytes = Buffer.from(source.content)
  const before = await previousPieces(db, record.workspace_id!, document.source_ref)
  const report = reportOf(pieces, before)
  const texts = new Map(before.map(({ address, text }) => [address, text]))
  return {
    record,
    document,
    pieces: pieces.map((piece, index) => ({
      ...piece,
      change: report.pieces[index]!.change,
      text: bytes.toString('utf8', piece.from, piece.to),
      before: report.pieces[index]!.change === 'changed' ? (texts.get(piece.address) ?? null) : null,
    })),
    gone: report.gone,
  }
}

function notMarked(
  { staging_record_id: id, staging_kind: kind }: StagingRecord,
  kept: boolean,
): StagedoorError {
  const reason = kept
    ? `Record ${id} is a ${kind}, not the marking of a document`
    : `Of record ${id} only the digests are left: its retention is over`
  return new StagedoorError(
    'argument_invalid',
    { reason },
    { hint: '`stagedoor mark FILE` stages a marking.' },
  )
}
