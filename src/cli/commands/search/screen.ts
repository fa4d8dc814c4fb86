/** How answers of search look on the terminal. */
import pc from 'picocolors'
import type { Pool } from '../../../db/connection.ts'
import type { SearchAnswer } from '../../../search/query.ts'
import { MOST_HITS } from '../../../search/question.ts'
import type { Freshness, SearchHit } from '../../../search/shown.ts'
import { ANSWER_WARNINGS } from '../../../search/warnings.ts'
import { type Output, visibleLine, widthOf } from '../../output.ts'
import { duration } from '../../times.ts'
import { paintStatus } from '../unit/screen.ts'
import { screenWidth, wrap } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'

export function printAnswer(output: Output, answer: SearchAnswer, limit: number): void {
  const { hits, warnings, took_ms, legs } = answer
  const width = String(hits.length).length
  hits.forEach((hit, index) => {
    const number = String(index + 1).padStart(width)
    const indent = ' '.repeat(width + 2)
    output.line(`${pc.dim(number)}  ${pc.bold(visibleLine(hit.title))}  ${factsOf(hit)}`)
    for (const line of paintedLines(hit, screenWidth() - indent.length)) output.line(indent + line)
    for (const warning of hit.warnings) printWarning(output, warning, indent)
    if (hit.explain) output.line(indent + pc.dim(explained(hit)))
    output.line()
  })
  for (const warning of warnings) printWarning(output, warning)
  const how = typeof legs.dense === 'number' ? 'by words and by meaning' : 'by words'
  output.line(
    pc.dim(
      `${hits.length === 1 ? 'One hit' : `${hits.length} hits`} in ${duration(took_ms)}, ${how}${hits.length === limit ? `; more with --limit ${Math.min(MOST_HITS, 5 * limit)}` : ''}`,
    ),
  )
  const [first] = hits
  if (first?.canonical_address !== undefined)
    printNext(output, [{ what: 'Read it', command: `stagedoor unit show ${first.canonical_address}` }])
  else if (first?.document_id !== undefined)
    printNext(output, [{ what: 'Read it', command: `stagedoor search document show ${first.document_id}` }])
}

function factsOf(hit: SearchHit): string {
  const place = hit.canonical_address ?? hit.source_ref ?? hit.document_id ?? ''
  const facts =
    hit.source === 'unit'
      ? [paintStatus(hit.lifecycle_status ?? ''), pc.dim(`version ${hit.version_no}`)]
      : [pc.dim('old knowledge base')]
  return [pc.dim(visibleLine(place)), ...facts, paintFreshness(hit.freshness)].join(pc.dim(' · '))
}

export function paintFreshness(freshness: Freshness | string): string {
  if (freshness === 'current') return pc.green(freshness)
  return freshness === 'error' ? pc.red(freshness) : pc.yellow(freshness)
}

function explained({ explain, legs, score }: SearchHit): string {
  const places = Object.entries(legs).map(([leg, place]) => `${leg} ${place}`)
  return `${places.join(', ')} · score ${score.toFixed(4)} · unit ${explain!.unit}, document ${explain!.document}`
}

export function printWarning(output: Output, warning: string, indent = ''): void {
  const [first, ...rest] = wrap(warning, screenWidth() - indent.length - 2)
  output.line(`${indent}${pc.yellow(`! ${first}`)}`)
  for (const line of rest) output.line(`${indent}  ${pc.yellow(line)}`)
}

/** Broken at blanks; what was found stands out. Characters are painted one by one, so no mark is lost at a line's end. */
function paintedLines({ snippet, highlights }: SearchHit, width: number): string[] {
  const found = new Set<number>()
  for (const [from, to] of highlights) for (let at = from; at < to; at++) found.add(at)
  const lines: string[] = []
  let line: { text: string; marked: boolean }[] = []
  let length = 0
  let at = 0
  for (const word of snippet.split(' ')) {
    const characters = [...word]
    if (length > 0 && length + 1 + widthOf(word) > width) {
      lines.push(painted(line))
      line = []
      length = 0
    }
    if (length > 0) line.push({ text: ' ', marked: false })
    line.push(...characters.map((text, index) => ({ text, marked: found.has(at + index) })))
    length += widthOf(word) + (length > 0 ? 1 : 0)
    at += characters.length + 1
  }
  return [...lines, painted(line)]
}

function painted(line: readonly { text: string; marked: boolean }[]): string {
  let text = ''
  for (let from = 0; from < line.length; ) {
    let to = from
    while (to < line.length && line[to]!.marked === line[from]!.marked) to++
    const part = visibleLine(
      line
        .slice(from, to)
        .map((one) => one.text)
        .join(''),
    )
    text += line[from]!.marked ? pc.bold(pc.cyan(part)) : part
    from = to
  }
  return text
}

interface Emptiness {
  readonly pool: Pool
  readonly workspace: string
  readonly filtered: boolean
}

/** Why there may be nothing, and what to do about it. */
export async function printNothing(
  output: Output,
  { warnings }: SearchAnswer,
  where: Emptiness,
): Promise<void> {
  const { rows } = await where.pool.query<{ projected: string; waiting: string }>(
    `select (select count(*) from (select from iu_core.search_chunk c where c.workspace_id = $1 limit 1) as x) as projected,
            (select count(*) from iu_core.vector_outbox o join iu_core.information_unit u on u.unit_id = o.unit_id
              where u.workspace_id = $1 and o.status in ('pending', 'processing')) as waiting`,
    [where.workspace],
  )
  const waiting = Number(rows[0]!.waiting)
  for (const warning of warnings) printWarning(output, warning)
  if (Number(rows[0]!.projected) > 0) {
    const isSaid = warnings.some(
      (one) => one === ANSWER_WARNINGS.stopWords || one === ANSWER_WARNINGS.noWords,
    )
    if (isSaid) return
    output.line(
      where.filtered
        ? 'Nothing is found with these filters. Ask without some of them.'
        : 'Nothing is found. Ask in other words.',
    )
    if (waiting > 0)
      output.line(
        pc.dim(`${waiting === 1 ? 'One text is' : `${waiting} texts are`} still on the way into search.`),
      )
    return
  }
  if (waiting > 0) {
    output.line(
      `Nothing is in search yet: ${waiting === 1 ? 'one text is' : `${waiting} texts are`} on the way, about two minutes after an edit.`,
    )
    return printNext(output, [{ what: 'Do not wait', command: 'stagedoor search now' }])
  }
  output.line('There is nothing to search yet.')
  printNext(output, [
    { what: 'Bring a document in, through review', command: 'stagedoor mark handbook.md' },
    { what: 'Or write one unit', command: 'echo "28 days a year." | stagedoor unit create handbook/leave' },
  ])
}
