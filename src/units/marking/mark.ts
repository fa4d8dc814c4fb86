/** A Markdown document in, a proposal how to cut it out. Pure: the same document gives the same manifest. */
import { createHash } from 'node:crypto'
import { StagedoorError } from '../../errors.ts'
import { MANIFEST_SCHEMA, type ManifestPiece, type MarkManifest, MOST_PIECES } from '../manifest.ts'
import { nameThem } from './addresses.ts'
import { type Block, readBlocks } from './blocks.ts'
import { type FrontMatter, readFrontMatter } from './front-matter.ts'
import { lineNestedTooDeep } from './nesting.ts'
import type { PreviousPiece } from './previous.ts'
import { type MarkReport, reportOf } from './report.ts'
import { piecesOf } from './sections.ts'
import { slugOf } from './slug.ts'
import { readText, tooLarge } from './text.ts'

export type { GonePiece, MarkedPiece, MarkReport, PieceChange, PiecePlace } from './report.ts'

export interface MarkOptions {
  /** Where the document comes from, such as its path: marked again under the same one, it is the same document. */
  readonly sourceRef: string
  /** The first segment of every address; default: as before, or from the name of the file. */
  readonly address?: string
  /** Default: the front matter's, the only first-level heading, the name of the file. */
  readonly title?: string
  /** Default: the front matter's, or `en`. */
  readonly language?: string
  /** As it was cut before, in its order: what is still there keeps its address. */
  readonly previous?: readonly PreviousPiece[]
  /** A list or table of more bytes is a piece of its own; default 600. */
  readonly ownPiece?: number
  /** A piece of more bytes is divided; default 4000. */
  readonly largest?: number
}

export interface Marking {
  readonly manifest: MarkManifest
  /** The document as it was marked: without a byte order mark, lines ending in \n. */
  readonly source: string
  readonly report: MarkReport
}

export function markDocument(given: string | Buffer, options: MarkOptions): Marking {
  const { sourceRef, previous = [], ownPiece = 600, largest = 4000 } = options
  const source = readText(given, sourceRef)
  const tooDeep = lineNestedTooDeep(source)
  if (tooDeep !== undefined) {
    throw unreadable(sourceRef, `in line ${tooDeep} lists or quotes are nested deeper than 32 levels`)
  }
  const all = readBlocks(source)
  const said = frontMatterOf(all, source)
  // A rule between two blocks says nothing by itself.
  const blocks = all.filter(({ type }) => type !== 'yaml' && type !== 'thematicBreak')
  if (blocks.length === 0) throw unreadable(sourceRef, 'it has no text')
  const titled = headingOfAll(blocks)
  const title = short(options.title ?? said.title ?? (titled?.title || fileName(sourceRef)))
  const root = options.address ?? previous[0]?.address.split('/')[0] ?? slugOf(fileName(sourceRef))
  const drafts = piecesOf(blocks, source, { title, titled, slug: slugOf, ownPiece, largest }).map((piece) => {
    const text = source.slice(piece.start, piece.end)
    return { ...piece, text, hash: sha256(text) }
  })
  if (drafts.length > MOST_PIECES) {
    throw tooLarge(sourceRef, `it has ${drafts.length} pieces; a manifest holds at most ${MOST_PIECES}`)
  }
  const addresses = nameThem(drafts, root, previous)
  const byteOf = byteOffsets(source)
  const pieces: ManifestPiece[] = drafts.map(({ kind, title, parent, start, end, hash }, index) => ({
    position: index + 1,
    address: addresses[index]!,
    parent: parent === undefined ? null : addresses[parent]!,
    kind,
    title: short(title),
    from: byteOf(start),
    to: byteOf(end),
    hash,
    topics: [...said.topics],
  }))
  const document = {
    source_ref: sourceRef,
    title,
    language: options.language ?? said.language ?? 'en',
    content_hash: sha256(source),
    bytes: Buffer.byteLength(source),
  }
  return {
    manifest: { schema: MANIFEST_SCHEMA, document, pieces },
    source,
    report: reportOf(pieces, previous, source),
  }
}

function frontMatterOf([first]: readonly Block[], source: string): FrontMatter {
  return first?.type === 'yaml' ? readFrontMatter(source.slice(first.start, first.end)) : { topics: [] }
}

/** The first heading, if it is of the first level and no other is. */
function headingOfAll(blocks: readonly Block[]): Block | undefined {
  const [first, ...others] = blocks.filter(({ type }) => type === 'heading')
  return first?.depth === 1 && others.every(({ depth }) => depth !== 1) ? first : undefined
}

function fileName(sourceRef: string): string {
  const name = sourceRef.split(/[\\/]/).findLast((part) => part.trim() !== '') ?? sourceRef
  return name.replace(/(.)\.\w{1,10}$/, '$1')
}

const LONGEST_TITLE = 200

function short(title: string): string {
  const characters = [...title.slice(0, 4 * LONGEST_TITLE)]
  return characters.length <= LONGEST_TITLE
    ? title
    : `${characters
        .slice(0, LONGEST_TITLE - 1)
        .join('')
        .trimEnd()}…`
}

/** Offsets in the text to offsets in its UTF-8, asked for in rising order. */
function byteOffsets(text: string): (offset: number) => number {
  let at = 0
  let bytes = 0
  return (offset) => {
    bytes += Buffer.byteLength(text.slice(at, offset))
    at = offset
    return bytes
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function unreadable(source: string, reason: string): StagedoorError {
  return new StagedoorError('document_unreadable', { source, reason })
}
