/** Marks a Markdown document: proposes its pieces as a manifest. Pure: the same document gives the same manifest. */
import { createHash } from 'node:crypto'
import { toUSVString } from 'node:util'
import type { Nodes, RootContent } from 'mdast'
import { fromMarkdown, type Options } from 'mdast-util-from-markdown'
import { frontmatterFromMarkdown } from 'mdast-util-frontmatter'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { frontmatter } from 'micromark-extension-frontmatter'
import { gfmTable } from 'micromark-extension-gfm-table'
import { parse } from 'yaml'
import { StagedoorError } from '../../kernel/errors.ts'
import { MANIFEST_SCHEMA, MAX_PIECES, type ManifestPiece, type MarkManifest } from '../manifest.ts'
import { assignAddresses, slugOf } from './addresses.ts'
import { type MarkReport, type PreviousPiece, reportOf } from './previous.ts'
import { type SkeletonLine, skeletonOf } from './skeleton.ts'

export type { MarkedPiece, MarkReport, PieceChange, PiecePlace, RemovedPiece } from './previous.ts'

export interface MarkOptions {
  /** Where the document comes from, such as its path. It identifies the document when it is marked again. */
  readonly sourceRef: string
  /** The first segment of every address; default: as before, or from the whole path, so that two README.md differ. */
  readonly address?: string | undefined
  /** Default: the front matter's, the only first-level heading, the name of the file. */
  readonly title?: string | undefined
  /** Default: the front matter's, or `fallbackLanguage`. */
  readonly language?: string | undefined
  /** Where nobody says the language; default `en`. */
  readonly fallbackLanguage?: string | undefined
  /** The pieces of its last cut, in their order: pieces that still exist keep their addresses. */
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
  // A horizontal rule has no content.
  const blocks = all.filter(({ type }) => type !== 'yaml' && type !== 'thematicBreak')
  if (blocks.length === 0) throw unreadable(sourceRef, 'it has no text')
  const titled = headingOfAll(blocks)
  const title = short(options.title ?? said.title ?? (titled?.title || fileName(sourceRef)))
  const root = options.address ?? previous[0]?.address.split('/')[0] ?? pathRoot(sourceRef)
  const drafts = piecesOf(blocks, source, { title, titled, slug: slugOf, ownPiece, largest }).map((piece) => {
    const text = source.slice(piece.start, piece.end)
    return { ...piece, text, hash: sha256(text) }
  })
  if (drafts.length > MAX_PIECES) {
    throw tooLarge(sourceRef, `it has ${drafts.length} pieces; a manifest holds at most ${MAX_PIECES}`)
  }
  const addresses = assignAddresses(drafts, root, previous)
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
    language: options.language ?? said.language ?? options.fallbackLanguage ?? 'en',
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

/** Longer paths keep their end, behind a hash of the whole. */
const MAX_ROOT_LENGTH = 100

/** The path in one segment, which is the address of the document itself: `docs/setup/README.md` is `docs.setup.readme`. */
function pathRoot(sourceRef: string): string {
  const folders = sourceRef
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .split(/[\\/]/)
    .filter((part) => part.trim() !== '' && part !== '.' && part !== '..')
    .slice(0, -1)
  const parts = [...folders.map(slugOf), slugOf(fileName(sourceRef))]
  // No slug has a dot: two paths have one root only where their folders have one slug.
  const whole = parts.join('.')
  if (whole.length <= MAX_ROOT_LENGTH) return whole
  const end = whole.slice(-(MAX_ROOT_LENGTH - 9)).replace(/^[^a-z0-9]+/, '')
  return `${sha256(sourceRef).slice(0, 8)}.${end}`
}

const MAX_TITLE_LENGTH = 200

function short(title: string): string {
  const characters = [...title.slice(0, 4 * MAX_TITLE_LENGTH)]
  return characters.length <= MAX_TITLE_LENGTH
    ? title
    : `${characters
        .slice(0, MAX_TITLE_LENGTH - 1)
        .join('')
        .trimEnd()}…`
}

/** Converts offsets in the text to offsets in its UTF-8. Must be called with increasing offsets. */
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

// From blocks to pieces: one per heading with the text below it; long lists and tables are pieces of their own, and long pieces are
// divided.

export interface Piece {
  readonly kind: 'section' | 'list' | 'table' | 'part'
  readonly title: string
  /** The last segment of its address, unless another one has it. */
  readonly segment: string
  /** Index of the piece that contains it; undefined: the document. */
  readonly parent: number | undefined
  readonly start: number
  readonly end: number
}

interface Sizes {
  /** A list or table of more bytes is a piece of its own. */
  readonly ownPiece: number
  /** A piece of more bytes is divided. */
  readonly largest: number
}

interface Section {
  readonly heading: Block | undefined
  readonly blocks: Block[]
}

/** `titled`: which block is the heading of the whole document. Its piece contains no others. */
function piecesOf(
  blocks: readonly Block[],
  text: string,
  {
    title,
    titled,
    slug,
    ...sizes
  }: Sizes & { title: string; titled: Block | undefined; slug(title: string): string },
): Piece[] {
  const pieces: Piece[] = []
  const open: { depth: number; piece: number }[] = []
  for (const section of sectionsOf(blocks)) {
    const { heading } = section
    while (heading && open.length > 0 && open.at(-1)!.depth >= heading.depth!) open.pop()
    const isWhole = heading === undefined || heading === titled
    const named = {
      title: heading?.title || title,
      segment: heading === undefined ? 'preamble' : isWhole ? 'title' : slug(heading.title!),
      parent: isWhole ? undefined : open.at(-1)?.piece,
    }
    if (!isWhole) open.push({ depth: heading.depth!, piece: pieces.length })
    pieces.push(...piecesOfSection(section, text, { ...named, index: pieces.length }, sizes))
  }
  return pieces
}

function sectionsOf(blocks: readonly Block[]): Section[] {
  const sections: Section[] = []
  for (const block of blocks) {
    if (block.type === 'heading') sections.push({ heading: block, blocks: [block] })
    else if (sections.length === 0) sections.push({ heading: undefined, blocks: [block] })
    else sections.at(-1)!.blocks.push(block)
  }
  return sections
}

function piecesOfSection(
  { blocks }: Section,
  text: string,
  { title, segment, parent, index }: Pick<Piece, 'title' | 'segment' | 'parent'> & { index: number },
  { ownPiece, largest }: Sizes,
): Piece[] {
  const pieces: Piece[] = []
  const counts = { section: 1, part: 1, list: 0, table: 0 }
  for (const run of runsOf(blocks, text, ownPiece)) {
    const [first] = run.blocks
    for (const range of divide(run.blocks, text, largest)) {
      const isFirst = pieces.length === 0
      const kind = run.apart ? (first!.type as 'list' | 'table') : isFirst ? 'section' : 'part'
      if (!isFirst) counts[kind] += 1
      const number = counts[kind]
      pieces.push({
        kind,
        title: isFirst ? title : `${title} (${number > 1 ? `${kind} ${number}` : kind})`,
        segment: isFirst ? segment : number > 1 ? `${kind}-${number}` : kind,
        parent: isFirst ? parent : index,
        ...range,
      })
    }
  }
  return pieces
}

/** Groups blocks that stay together; a long list or table is a group of its own. */
function runsOf(
  blocks: readonly Block[],
  text: string,
  ownPiece: number,
): { apart: boolean; blocks: Block[] }[] {
  const runs: { apart: boolean; blocks: Block[] }[] = []
  for (const block of blocks) {
    const canBeApart = block.type === 'list' || block.type === 'table'
    const apart = canBeApart && Buffer.byteLength(text.slice(block.start, block.end)) > ownPiece
    const last = runs.at(-1)
    if (apart || last === undefined || last.apart) runs.push({ apart, blocks: [block] })
    else last.blocks.push(block)
  }
  return runs
}

// The blocks of a Markdown document, in order, as mdast-util-from-markdown finds them: headings, paragraphs, lists, tables, code.
// The parser takes 25 s for 5 MB of prose, and minutes for 5 MB of nested lists. So it gets only the skeleton of the text, in regions.
// Only the parser knows whether a region ends inside a fence or an HTML comment: an added last line shows it. A test compares the
// blocks with those that the parser finds in the whole text.

export interface Block {
  readonly type: RootContent['type']
  /** Offsets in the text; the end is not part of it. */
  readonly start: number
  readonly end: number
  /** Of a heading. */
  readonly depth?: number
  /** The text of a heading without its markup. */
  readonly title?: string
  /** Where the items of a list begin. */
  readonly items?: readonly number[]
}

export function readBlocks(text: string): Block[] {
  const blocks = frontMatterBlocks(text)
  const lines = skeletonOf(text, blocks[0]?.end ?? 0)
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    if (line.is !== undefined) at = addCertain(text, lines, at, blocks)
    else if (line.seen === '') at += 1
    else at = addRegion(text, lines, at, blocks)
  }
  return blocks
}

/** Adds the block of a line whose kind is certain, and returns the index of the next line. */
function addCertain(text: string, lines: readonly SkeletonLine[], at: number, blocks: Block[]): number {
  const { is, start } = lines[at]!
  const next = is === 'table' ? at + 2 : at + 1
  const range = { start, end: trimmedEnd(text, start, lines[next - 1]!.end) }
  if (is === 'heading') blocks.push(headingOf(text, range))
  else blocks.push({ type: is!, ...range })
  return next
}

/** Adds the blocks of lines that need the parser, and returns the index of the next line. */
function addRegion(text: string, lines: readonly SkeletonLine[], first: number, blocks: Block[]): number {
  let next = endOfRegion(lines, first, MAX_REGION_LINES)
  for (;;) {
    const isRest = next === lines.length
    const region = lines.slice(first, next)
    const seen = region.map((line) => line.seen)
    const given = [...seen, ...(isRest ? [''] : ['', 'x', ''])].join('\n')
    const nodes = fromMarkdown(given, OPTIONS).children
    const probe = isRest ? undefined : nodes.pop()
    const isClosed = probe === undefined || isProbe(probe, region.length + 2)
    if (isClosed || probe.type === 'code') {
      for (const node of nodes) add(blocks, blockOf(node, region, text), text)
      return isClosed ? next : addFence(text, lines, first + probe.position!.start.line - 1, blocks)
    }
    // A comment or other HTML is still open: parse again with more lines, until it is closed.
    next = freshLine(lines, first + 2 * region.length)
  }
}

/** A fence that the region does not close ends with the next line of its marks, or at the end of the document. */
function addFence(text: string, lines: readonly SkeletonLine[], at: number, blocks: Block[]): number {
  const { seen, start } = lines[at]!
  const [marks] = /`{3,}|~{3,}/.exec(seen)!
  const close = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`)
  let end = at + 1
  while (end < lines.length && !close.test(lines[end]!.seen)) end += 1
  const last = lines[Math.min(end, lines.length - 1)]!
  const indent = seen.length - seen.trimStart().length
  blocks.push({ type: 'code', start: start + indent, end: trimmedEnd(text, start, last.end) })
  return end + 1
}

/** The lines of a region: up to the next line whose kind is certain. Regions of nested lists are shorter, because each line costs more. */
const MAX_REGION_LINES = 200

function endOfRegion(lines: readonly SkeletonLine[], first: number, largest: number): number {
  for (let next = first + 1; next < lines.length; next += 1) {
    const { is, fresh } = lines[next]!
    if (is !== undefined || (fresh && next - first >= largest)) return next
  }
  return lines.length
}

function freshLine(lines: readonly SkeletonLine[], from: number): number {
  let at = Math.min(from, lines.length)
  while (at < lines.length && !lines[at]!.fresh) at += 1
  return at
}

function isProbe({ type, position }: RootContent, line: number): boolean {
  return type === 'paragraph' && position!.start.line === line
}

/** Joins a list that was divided by the end of a region. */
function add(blocks: Block[], block: Block, text: string): void {
  const last = blocks.at(-1)
  if (last?.items && block.items && markerOf(text, last) === markerOf(text, block)) {
    blocks[blocks.length - 1] = { ...last, end: block.end, items: last.items.concat(block.items) }
  } else blocks.push(block)
}

const markerOf = (text: string, { start }: Block): string | undefined =>
  /^\d*(.)/.exec(text.slice(start, start + 12))?.[1]

/** Only block syntax: the content of lines does not matter here. */
const withoutInlines = {
  disable: {
    null: [
      'attention',
      'autolink',
      'characterEscape',
      'characterReference',
      'codeText',
      'hardBreakEscape',
      'htmlText',
      'labelEnd',
      'labelStartImage',
      'labelStartLink',
    ],
  },
}
const OPTIONS: Options = {
  extensions: [gfmTable(), withoutInlines],
  mdastExtensions: [gfmTableFromMarkdown()],
}

/** Parsed separately: a front matter without an end would make the parser find other lists in the document. */
function frontMatterBlocks(text: string): Block[] {
  const [beginning] = /^---[ \t]*\n(?:[\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(text) ?? []
  if (beginning === undefined) return []
  const [first] = fromMarkdown(beginning, {
    extensions: [frontmatter(['yaml'])],
    mdastExtensions: [frontmatterFromMarkdown(['yaml'])],
  }).children
  return first?.type === 'yaml' ? [{ type: 'yaml', start: 0, end: first.position!.end.offset! }] : []
}

function blockOf(node: RootContent, lines: readonly SkeletonLine[], text: string): Block {
  const { type, position } = node
  const start = offsetOf(position!.start, lines)
  const end = trimmedEnd(text, start, lines[Math.min(position!.end.line, lines.length) - 1]!.end)
  if (type === 'heading') return { ...headingOf(text, { start, end }), depth: node.depth }
  if (type !== 'list') return { type, start, end }
  const items = node.children.flatMap(({ position: { start } = { start: position!.start } }) => {
    return lines[start.line - 1]!.items ?? [offsetOf(start, lines)]
  })
  return { type, start, end, items }
}

function offsetOf(
  { line, column }: { line: number; column: number },
  lines: readonly SkeletonLine[],
): number {
  return lines[line - 1]!.start + column - 1
}

const MAX_HEADING_LENGTH = 1000

function headingOf(text: string, range: { start: number; end: number }): Block {
  const heading = text.slice(range.start, range.end)
  const [, marks, words] = /^(#{1,6})[ \t]+([^\n\\`*_[\]<>&!~#]*)$/.exec(heading) ?? []
  // The parser is used only for titles with markup, and only for as much as a title shows: unclosed marks take it ever longer.
  const title = words ?? textOf(fromMarkdown(heading.slice(0, MAX_HEADING_LENGTH)))
  const depth = marks?.length ?? /^#*/.exec(heading)![0].length
  return { type: 'heading', ...range, depth, title: title.replace(/\s+/g, ' ').trim() }
}

function textOf(node: Nodes): string {
  if ('children' in node) return node.children.map(textOf).join('')
  if (node.type === 'html') return ''
  if ('value' in node) return node.value
  if ('alt' in node) return node.alt ?? ''
  return node.type === 'break' ? ' ' : ''
}

function trimmedEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && /\s/.test(text[at - 1]!)) at -= 1
  return at
}

// Division of long pieces: at blocks, else at list items, sentences and lines.

interface Range {
  readonly start: number
  readonly end: number
}

/** Code, HTML, quotes and tables are divided only from this many bytes on, and then at lines. */
const MAX_WHOLE_BYTES = 65_536

/**
 * Ranges of at most `largest` bytes, if possible. Boundaries depend on the content: from half the size on, a range ends before a segment
 * whose hash qualifies, so that an insertion changes one or two ranges and not all that follow.
 */
function divide(blocks: readonly Block[], text: string, largest: number): Range[] {
  const whole = { start: blocks[0]!.start, end: blocks.at(-1)!.end }
  if (bytes(text, whole) <= largest) return [whole]
  const ranges: Range[] = []
  let current: Range | undefined
  let size = 0
  for (const segment of blocks.flatMap((block) => segmentsOf(block, text, largest))) {
    const more = bytes(text, { start: current?.end ?? segment.start, end: segment.end })
    const isFull = size + more > largest || (size >= largest / 2 && isBoundary(text, segment))
    if (current === undefined || isFull) {
      current = segment
      size = bytes(text, segment)
      ranges.push(current)
    } else {
      current = { start: current.start, end: segment.end }
      size += more
      ranges[ranges.length - 1] = current
    }
  }
  return ranges
}

function segmentsOf(block: Block, text: string, largest: number): Range[] {
  if (bytes(text, block) <= largest) return [block]
  if (block.items) {
    const ends = [...block.items.slice(1), block.end]
    const items = block.items.map((start, index) => trimRange(text, { start, end: ends[index]! }))
    return items.flatMap((item) =>
      bytes(text, item) <= MAX_WHOLE_BYTES ? [item] : atLines(item, text, MAX_WHOLE_BYTES),
    )
  }
  if (block.type === 'paragraph') return atSentences(block, text, largest)
  return bytes(text, block) <= MAX_WHOLE_BYTES ? [block] : atLines(block, text, MAX_WHOLE_BYTES)
}

function atSentences(range: Range, text: string, largest: number): Range[] {
  return cutAfter(range, text, /[.!?…]["'”’)\]]*\s+|[。！？]["'”’」』)\]]*|\n/g).flatMap((sentence) =>
    bytes(text, sentence) <= largest ? [sentence] : atLines(sentence, text, largest),
  )
}

function atLines(range: Range, text: string, largest: number): Range[] {
  return cutAfter(range, text, /\n/g)
    .flatMap((line) => (bytes(text, line) <= largest ? [line] : cutAfter(line, text, /\s+/g)))
    .flatMap((word) => (bytes(text, word) <= largest ? [word] : atCharacters(word, text, largest)))
}

/** Divides text without spaces by length, and never between the halves of a surrogate pair. */
function atCharacters({ start, end }: Range, text: string, largest: number): Range[] {
  const ranges: Range[] = []
  // A character has at most four bytes.
  const step = Math.floor(largest / 4)
  for (let at = start; at < end; ) {
    let next = Math.min(at + step, end)
    if (next < end && (text.charCodeAt(next) & 0xfc00) === 0xdc00) next += 1
    ranges.push({ start: at, end: next })
    at = next
  }
  return ranges
}

function cutAfter({ start, end }: Range, text: string, boundary: RegExp): Range[] {
  const ranges: Range[] = []
  let from = start
  const push = (to: number) => {
    const range = trimRange(text, { start: from, end: to })
    if (range.end > range.start) ranges.push(range)
    from = to
  }
  for (const { index, 0: found } of text.slice(start, end).matchAll(boundary))
    push(start + index + found.length)
  push(end)
  return ranges
}

function trimRange(text: string, { start, end }: Range): Range {
  const slice = text.slice(start, end)
  // Keeps the indentation: only blank lines before it are dropped.
  const blank = /^(?:[ \t]*\n)*/.exec(slice)![0].length
  return { start: start + blank, end: start + Math.max(blank, slice.trimEnd().length) }
}

function isBoundary(text: string, { start, end }: Range): boolean {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return ((hash >>> 13) & 3) === 0
}

const bytes = (text: string, { start, end }: Range): number => Buffer.byteLength(text.slice(start, end))

// The front matter: metadata between `---` lines at the beginning of a document. It is no piece.

interface FrontMatter {
  readonly title?: string
  readonly language?: string
  readonly topics: readonly string[]
}

/** Front matter that cannot be parsed is ignored. */
export function readFrontMatter(block: string): FrontMatter {
  const given = parseFrontMatter(block)
  const topics = Array.isArray(given.topics) ? given.topics : [given.topics]
  return {
    ...(isText(given.title) && { title: given.title.trim() }),
    ...(isText(given.language ?? given.lang) && { language: String(given.language ?? given.lang).trim() }),
    topics: [...new Set(topics.filter(isText).map((topic) => topic.trim()))],
  }
}

function parseFrontMatter(block: string): Record<string, unknown> {
  try {
    const value: unknown = parse(block.replace(/^---[^\n]*\n|\n?---\s*$/g, ''), { logLevel: 'silent' })
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/**
 * Maximal nesting of lists and quotes within a line: `> - 1. text` is three deep. The parser's time grows with its square: a line of
 * 8 KB took 18 s.
 */
const MAX_DEPTH = 32

/** The number of the first line that is nested deeper; undefined: none. */
export function lineNestedTooDeep(text: string): number | undefined {
  let number = 1
  for (let line = 0; line < text.length; number += 1) {
    if (isTooDeep(text, line)) return number
    const newline = text.indexOf('\n', line)
    if (newline < 0) return undefined
    line = newline + 1
  }
  return undefined
}

function isTooDeep(text: string, line: number): boolean {
  const marker = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y
  marker.lastIndex = line
  let depth = 0
  while (depth <= MAX_DEPTH && marker.test(text)) depth += 1
  return depth > MAX_DEPTH && !isRule(text, line)
}

/** `- - -` of any length is a horizontal rule. */
function isRule(text: string, line: number): boolean {
  const rule = /[ \t]*([-*])(?:[ \t]|\1)*(?:\n|$)/y
  rule.lastIndex = line
  return rule.test(text)
}

// Normalisation of the document's text.

/** The size limit of a part of a staging record, in bytes. */
const MAX_DOCUMENT_BYTES = 10 * 1024 ** 2

/** Without a byte order mark, lines ending in \n. */
export function readText(source: string | Buffer, name: string): string {
  const unreadable = (reason: string) => new StagedoorError('document_unreadable', { source: name, reason })
  const text = (typeof source === 'string' ? source : decode(source, unreadable))
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
  if (text.includes('\0')) throw unreadable('it has a NUL character')
  if (toUSVString(text) !== text) throw unreadable('it has half a surrogate pair, which is no character')
  if (!/\S/.test(text)) throw unreadable('it is empty')
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_DOCUMENT_BYTES) throw tooLarge(name, `it has ${bytes} bytes; at most 10 MiB are marked`)
  return text
}

function decode(bytes: Buffer, unreadable: (reason: string) => StagedoorError): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unreadable('it is not UTF-8')
  }
}

function tooLarge(source: string, reason: string): StagedoorError {
  const hint =
    'Divide it into several documents; each is marked under a source_ref (--source-ref) of its own.'
  return new StagedoorError('document_unreadable', { source, reason }, { hint })
}
