/** How the pieces of a marked document look on the terminal. */
import pc from 'picocolors'
import type { MarkedPiece, MarkReport, PieceChange } from '../../../units/marking/mark.ts'
import { bytes, table, visibleLine } from '../../output.ts'
import { fitted } from '../unit/screen.ts'

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

export function goneLines(gone: MarkReport['gone']): string[] {
  if (gone.length === 0) return []
  return [
    `\n${pc.bold('No longer in the document')} ${pc.dim('(drafts are retired by the cut; what is in force stays)')}`,
    ...gone.map(({ address, title }) => `  ${pc.red(address)}  ${pc.dim(visibleLine(title))}`),
  ]
}
