/** What is wrong with a playbook: the line it is in, and a mark below the place. */
import pc from 'picocolors'
import type { Problem } from '../../../executions/playbook/parse.ts'
import { visibleLine } from '../../output.ts'
import { screenWidth } from '../upload/layout.ts'

export function problemLines(
  file: string,
  text: string,
  problems: readonly Problem[],
  { colour = true }: { colour?: boolean } = {},
): string[] {
  const paint = colour ? pc : pc.createColors(false)
  const written = text.split(/\r?\n/)
  return problems.flatMap(({ severity, line, column, path, message, remedy }) => {
    const mark = severity === 'error' ? paint.red('✖') : paint.yellow('!')
    const place = line === undefined ? file : `${file}:${line}:${column}`
    const where = path === '' ? '' : `  ${paint.dim(visibleLine(path))}`
    return [
      `${mark} ${paint.bold(place)}${where}`,
      `  ${visibleLine(message)}${remedy === undefined ? '' : `. ${visibleLine(remedy)}`}`,
      ...(line === undefined ? [] : excerpt(written[line - 1] ?? '', line, column ?? 1, paint)),
      '',
    ]
  })
}

/** A long line is shown from a little before the place. */
function excerpt(
  written: string,
  line: number,
  column: number,
  paint: ReturnType<typeof pc.createColors>,
): string[] {
  const gutter = `  ${line} │ `
  const room = Math.max(40, screenWidth() - gutter.length - 2)
  const from = column <= room ? 0 : column - Math.floor(room / 2)
  const shown = visibleLine(written.replaceAll('\t', ' ').slice(from, from + room))
  const before = visibleLine(written.replaceAll('\t', ' ').slice(from, column - 1)).length
  return [
    `${paint.dim(gutter)}${from > 0 ? '…' : ''}${shown}`,
    `${paint.dim(`${' '.repeat(gutter.length - 2)}│ `)}${' '.repeat(before + (from > 0 ? 1 : 0))}${paint.red('^')}`,
  ]
}
