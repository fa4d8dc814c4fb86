/** From blocks to pieces: one for each heading with what follows it, long lists and tables apart, and nothing too long. */
import type { Block } from './blocks.ts'
import { divide } from './divide.ts'

export interface Piece {
  readonly kind: 'section' | 'list' | 'table' | 'part'
  readonly title: string
  /** The last segment of its address, unless another one has it. */
  readonly segment: string
  /** Which of the pieces contains it; undefined: the document. */
  readonly parent: number | undefined
  readonly start: number
  readonly end: number
}

export interface Sizes {
  /** A list or table of more bytes is a piece of its own. */
  readonly ownPiece: number
  /** What has more bytes is divided. */
  readonly largest: number
}

interface Section {
  readonly heading: Block | undefined
  readonly blocks: Block[]
}

/** `titled`: which block is the heading of the whole document. Its piece contains no others. */
export function piecesOf(
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
    pieces.push(...piecesOfSection(section, text, named, pieces.length, sizes))
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
  { title, segment, parent }: Pick<Piece, 'title' | 'segment' | 'parent'>,
  index: number,
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

/** What stays together, and long lists and tables apart. */
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
