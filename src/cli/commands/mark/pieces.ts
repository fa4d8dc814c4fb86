/** How the pieces of a marked document look on the terminal. */
import pc from 'picocolors'
import type { StagedGone } from '../../../stagedoor/marked.ts'
import type { GonePiece, MarkedPiece, PieceChange, PiecePlace } from '../../../units/marking/mark.ts'
import type { LeftOutText } from '../../../units/outlook.ts'
import { bytes, table, visibleLine } from '../../output.ts'
import { fitted } from '../unit/screen.ts'
import { screenWidth, shortened } from '../upload/layout.ts'

export function pieceTable(pieces: readonly MarkedPiece[]): string {
  const rows = fitted(
    [
      ['address', 'kind', 'size', 'change', 'title'],
      ...pieces.map((piece) => [piece.address, piece.kind, bytes(piece.bytes), piece.change, piece.title]),
    ],
    { dispensable: true },
  )
  return table(rows, (cell, column, row) => {
    if (row === 0) return pc.dim(cell)
    return column === 3 ? paintChange(cell) : column === 4 || column === 0 ? cell : pc.dim(cell)
  })
}

export function paintChange(cell: string): string {
  switch (cell.trim() as PieceChange) {
    case 'new':
      return pc.green(cell)
    case 'changed':
      return pc.yellow(cell)
    case 'moved':
      return pc.cyan(cell)
    default:
      return pc.dim(cell)
  }
}

/** Where the document had its pieces, and has them now. */
export function movedLines(pieces: readonly Pick<MarkedPiece, 'address' | 'moved'>[]): string[] {
  const moved = pieces.flatMap(({ address, moved }) =>
    moved ? [`  ${pc.cyan(address)}  ${pc.dim(placeChange(moved))}`] : [],
  )
  return moved.length === 0 ? [] : [`\n${pc.bold('Moved in the document')}`, ...moved]
}

/** in handbook/a → in handbook/b; within the same section: behind which piece. */
export function placeChange({ from, to }: NonNullable<MarkedPiece['moved']>): string {
  const inSame = from.parent === to.parent
  const place = ({ parent, after }: PiecePlace) =>
    inSame ? (after === null ? 'first' : `after ${after}`) : parent === null ? 'at the top' : `in ${parent}`
  return `${place(from)} → ${place(to)}`
}

const REASONS: readonly [GonePiece['text_is'], string][] = [
  ['gone', 'No longer in the document'],
  ['in_no_piece', 'Still in the document, left out by the manifest'],
  ['in_another_piece', 'Still in the document, now within another piece'],
]

export function goneLines(gone: readonly (GonePiece & Partial<StagedGone>)[]): string[] {
  return REASONS.flatMap(([reason, title]) => {
    const those = gone.filter(({ text_is }) => text_is === reason)
    if (those.length === 0) return []
    return [
      `\n${pc.bold(title)} ${pc.dim('(drafts are retired by the cut; what is in force stays)')}`,
      ...those.map((piece) => `  ${pc.red(piece.address)}  ${pc.dim(endOf(piece))}`),
    ]
  })
}

function endOf({ title, retired, kept }: GonePiece & Partial<StagedGone>): string {
  const ends = [
    ...(retired ?? []).map((unit) => `${unit} is retired`),
    ...(kept ?? []).map((unit) => `${unit} stays in force`),
  ]
  return [visibleLine(title), ...ends].join(' · ')
}

/** Of each part, so that its place is found; the rest is in the document. */
const MOST_LINES = 3

export function leftOutLines(left: LeftOutText | null, { full = false } = {}): string[] {
  if (left === null) return []
  const lines = left.parts.flatMap(({ first_line: first, last_line: last, text }) => {
    const where = first === last ? `line ${first}` : `lines ${first}–${last}`
    const all = text.split('\n').filter((line) => line.trim() !== '')
    const shown = full ? all : all.slice(0, MOST_LINES)
    return [
      `  ${pc.dim(where)}`,
      ...shown.map((line) => `    ${shortened(visibleLine(line), screenWidth() - 4)}`),
      ...(all.length > shown.length ? [pc.dim(`    … ${all.length - shown.length} more lines`)] : []),
    ]
  })
  return [
    `\n${pc.yellow('●')} ${pc.bold(`${bytes(left.bytes)} in no piece`)} ${pc.dim('(no unit will have this text)')}`,
    ...lines,
  ]
}
