/** A file's own totals beside the sums of its lines, as `upload show` and `upload checks` print them. */
import pc from 'picocolors'
import type { OwnTotal, OwnTotals } from '../ingest/shapes.ts'
import { formatCount, plural } from './format.ts'
import type { Output } from './terminal.ts'
import { printableLine, screenWidth, wrapText } from './text.ts'

const MAX_LISTED = 10

export function printOwnTotals(output: Output, own: OwnTotals | null): void {
  if (own === null) return
  output.heading('File’s own totals')
  const write = (text: string, paint: (line: string) => string) => {
    for (const line of wrapText(text, screenWidth() - 2)) output.line(`  ${paint(line)}`)
  }
  write(countsText(own), own.disagree > 0 ? pc.yellow : own.agree > 0 ? pc.green : pc.dim)
  const unlike = own.totals.filter(({ result }) => result !== 'agrees')
  for (const total of unlike.slice(0, MAX_LISTED))
    for (const text of totalTexts(total)) write(text, total.result === 'disagrees' ? pc.yellow : pc.dim)
  const more = own.disagree + own.not_compared - Math.min(unlike.length, MAX_LISTED)
  if (more > 0) write(`${formatCount(more)} more: --json lists up to 100 of them.`, pc.dim)
  if (own.columns.length > 0) write(`Compared: ${own.columns.map(printableLine).join(', ')}.`, pc.dim)
  const excluded = own.excluded.map(({ column, reason }) => `${printableLine(column)} (${reason})`)
  if (own.more_excluded > 0) excluded.push(`${own.more_excluded} more`)
  if (excluded.length > 0) write(`Not compared: ${excluded.join(', ')}.`, pc.dim)
}

function countsText({ lines, agree, disagree, not_compared }: OwnTotals): string {
  const parts = [
    disagree > 0 && `${formatCount(disagree)} ${disagree === 1 ? 'disagrees' : 'disagree'} with the lines`,
    agree > 0 && `${formatCount(agree)} ${agree === 1 ? 'agrees' : 'agree'}`,
    not_compared > 0 && `${formatCount(not_compared)} not compared`,
  ]
  return `${plural(lines, 'line')} of the file ${lines === 1 ? 'sums' : 'sum'} up others: ${parts.filter(Boolean).join(', ')}.`
}

function totalTexts({ line, label, with: compared, lines, reason, figures }: OwnTotal): string[] {
  const name = `line ${line}${label === null ? '' : ` “${printableLine(label)}”`}`
  if (reason !== null) return [`${name}: ${reason}.`]
  return figures
    .filter(({ result }) => result === 'disagrees')
    .map(({ column, file, sum, difference, unread }) => {
      const lacking = unread > 0 ? `, without ${plural(unread, 'cell')} that could not be read` : ''
      return `${name}: ${printableLine(column)} is ${file}, and ${compared} (${formatCount(lines ?? 0)}) sum up to ${sum}: ${difference.startsWith('-') ? difference : `+${difference}`}${lacking}.`
    })
}
