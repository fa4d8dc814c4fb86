/**
 * The blocks of a Markdown document, in order, as mdast-util-from-markdown finds them: headings, paragraphs, lists, tables, code.
 *
 * The parser takes 25 s for 5 MB of prose, and minutes for as much of nested lists. So it gets only the skeleton of the text, and that
 * in regions. Whether a region ends inside of something (a fence, an HTML comment) only the parser knows: a line after it asks. A test
 * compares the blocks with those that it finds in the whole text.
 */
import type { Nodes, RootContent } from 'mdast'
import { fromMarkdown, type Options } from 'mdast-util-from-markdown'
import { frontmatterFromMarkdown } from 'mdast-util-frontmatter'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { frontmatter } from 'micromark-extension-frontmatter'
import { gfmTable } from 'micromark-extension-gfm-table'
import { type SkeletonLine, skeletonOf } from './skeleton.ts'

export interface Block {
  readonly type: RootContent['type']
  /** Offsets in the text; the end is not part of it. */
  readonly start: number
  readonly end: number
  /** Of a heading. */
  readonly depth?: number
  /** What a heading says, without its markup. */
  readonly title?: string
  /** Where the items of a list begin. */
  readonly items?: readonly number[]
}

export function readBlocks(text: string): Block[] {
  const blocks = frontMatterOf(text)
  const lines = skeletonOf(text, blocks[0]?.end ?? 0)
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    if (line.is !== undefined) at = addCertain(text, lines, at, blocks)
    else if (line.seen === '') at += 1
    else at = addRegion(text, lines, at, blocks)
  }
  return blocks
}

/** Adds the block that the line is in any case, and says which line comes after it. */
function addCertain(text: string, lines: readonly SkeletonLine[], at: number, blocks: Block[]): number {
  const { is, start } = lines[at]!
  const next = is === 'table' ? at + 2 : at + 1
  const range = { start, end: trimmedEnd(text, start, lines[next - 1]!.end) }
  if (is === 'heading') blocks.push(headingOf(text, range))
  else blocks.push({ type: is!, ...range })
  return next
}

/** Adds the blocks of lines that only the parser understands, and says which line comes after them. */
function addRegion(text: string, lines: readonly SkeletonLine[], first: number, blocks: Block[]): number {
  let next = endOfRegion(lines, first, LARGEST_REGION)
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
    // A comment, or other HTML, is still open: with more lines, until it is closed.
    next = freshLine(lines, first + 2 * region.length)
  }
}

/** A fence that the region did not close: it ends with the next line of its marks, or never. */
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

/** Up to what is certain; a long list of lists costs more for each line. */
const LARGEST_REGION = 200

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

/** A list that the end of a region divided is one. */
function add(blocks: Block[], block: Block, text: string): void {
  const last = blocks.at(-1)
  if (last?.items && block.items && markerOf(text, last) === markerOf(text, block)) {
    blocks[blocks.length - 1] = { ...last, end: block.end, items: last.items.concat(block.items) }
  } else blocks.push(block)
}

const markerOf = (text: string, { start }: Block): string | undefined =>
  /^\d*(.)/.exec(text.slice(start, start + 12))?.[1]

/** Blocks do not depend on what is inside of a line. */
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

/** Asked for alone: looking in vain for its end, the parser would take the lists of the document apart. */
function frontMatterOf(text: string): Block[] {
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

const LONGEST_HEADING = 1000

function headingOf(text: string, range: { start: number; end: number }): Block {
  const heading = text.slice(range.start, range.end)
  const [, marks, words] = /^(#{1,6})[ \t]+([^\n\\`*_[\]<>&!~#]*)$/.exec(heading) ?? []
  // Only what has markup is worth a parser, and of that no more than a title shows: marks that close nothing take it ever longer.
  const title = words ?? textOf(fromMarkdown(heading.slice(0, LONGEST_HEADING)))
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
