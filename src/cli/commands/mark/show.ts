/** What a reviewer looks at: each piece beside the beginning of its text. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { StagedMarking, StagedPiece } from '../../../stagedoor/marked.ts'
import { unifiedDiff } from '../../../units/history.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { recordId } from '../../ids.ts'
import { bytes, type Output, prose, visibleLine } from '../../output.ts'
import { howToApprove } from '../staging/look.ts'
import { wrapped } from '../unit/screen.ts'
import { screenWidth, shortened } from '../upload/layout.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'
import { outlookLines } from './outlook.ts'
import { goneLines, leftOutLines, paintChange } from './pieces.ts'

interface ShowOptions extends ActingOptions {
  readonly full?: boolean
  readonly changed?: boolean
}

/** Of each piece, unless asked for all of it. */
const MOST_LINES = 6

export function showCommand(): Command {
  return new Command('show')
    .description('the pieces of a staged marking beside their text')
    .argument('<record>', 'as `stagedoor mark` printed it', recordId)
    .option('--full', 'all of each text')
    .option('--changed', 'only what the cut would touch')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ShowOptions>()
      const output = outputOf(options)
      const { readMarking } = await import('../../../stagedoor/marked.ts')
      let external = false
      const marking = await acting(
        options,
        (client, database) => {
          external = database.kind === 'external'
          return readMarking(client, id)
        },
        { record: id },
      )
      output.result(marking, () => {
        printMarking(output, marking, options)
        printNext(output, nextOf(marking, external))
      })
    })
}

/** With `changed` only what the cut would touch, and how many pieces are not shown. */
export function printMarking(
  output: Output,
  marking: StagedMarking,
  options: Pick<ShowOptions, 'full' | 'changed'>,
): void {
  const { record, document, pieces, gone, left_out, legacy } = marking
  const touched = pieces.filter(({ change, outlook }) => change !== 'same' || outlook.what !== 'unchanged')
  const shown = options.changed ? touched : pieces
  output.line(
    `${pc.bold(visibleLine(document.title))}  ${pc.dim(`${visibleLine(document.source_ref)} · ${document.language} · ${bytes(document.bytes)}`)}`,
  )
  output.line(
    pc.dim(
      prose(
        `${pieces.length === 1 ? '1 piece' : `${pieces.length} pieces`}, ${touched.length} of them new, changed or moved${left_out ? `, ${bytes(left_out.bytes)} in no piece` : ''} · ${record.lifecycle_status}`,
      ),
    ),
  )
  output.line(pc.dim(`digest ${record.content_hash}`))
  if (legacy) {
    const said = `The old knowledge base has this document, ${legacy.is_same ? 'with the same text' : 'with another text'}: it stays as it is, the units lie beside it`
    output.line(`${pc.yellow('●')} ${prose(said, { indent: 2 })}`)
  }
  const left = Math.min(
    Math.max(...shown.map(({ address }) => address.length), 24),
    Math.floor(screenWidth() * 0.4),
  )
  const right = screenWidth() - left - 3
  const rule = (cross: string) => pc.dim(`${'─'.repeat(left + 1)}${cross}${'─'.repeat(right + 1)}`)
  shown.forEach((piece, index) => {
    output.line(rule(index === 0 ? '┬' : '┼'))
    for (const line of besides(piece, { left, right, full: options.full === true })) output.line(line)
  })
  output.line(shown.length === 0 ? '\nNothing that the cut would touch.' : rule('┴'))
  const full = options.full === true
  for (const line of [...goneLines(gone), ...leftOutLines(left_out, { full })]) output.line(line)
  const rest = pieces.length - shown.length
  if (rest > 0) {
    const those = rest === 1 ? '1 piece stays as it is' : `${rest} pieces stay as they are`
    output.line(pc.dim(prose(`${those}: \`stagedoor mark show ${record.staging_record_id}\``)))
  }
}

interface Columns {
  readonly left: number
  readonly right: number
  readonly full: boolean
}

/** Two columns: what the piece is, and what it says; of a changed one, what it would say instead. */
function besides(piece: StagedPiece, { left, right, full }: Columns): string[] {
  const facts = factsOf(piece, left)
  const lines = piece.before === null ? textOf(piece.text, right) : changeOf(piece.before, piece.text, right)
  const most = full || lines.length <= MOST_LINES + 1 ? lines.length : MOST_LINES
  const text = lines.slice(0, most)
  if (lines.length > most) text.push(pc.dim(`… ${lines.length - most} more lines: --full`))
  return Array.from({ length: Math.max(facts.length, text.length) }, (_, row) => {
    const { plain, painted } = facts[row] ?? { plain: '', painted: '' }
    return `${painted}${' '.repeat(left - plain.length)} ${pc.dim('│')} ${text[row] ?? ''}`.trimEnd()
  })
}

function textOf(text: string, width: number): string[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapped(line, width))
}

function changeOf(before: string, after: string, width: number): string[] {
  const diff = unifiedDiff({ name: '', text: before }, { name: '', text: after })
  const lines = diff.trimEnd().split('\n').slice(2)
  return lines
    .filter((line) => !line.startsWith('@@'))
    .flatMap((line) => {
      const paint = line.startsWith('+') ? pc.green : line.startsWith('-') ? pc.red : pc.dim
      return wrapped(line.slice(1), width - 2).map((part) => paint(`${line[0]} ${part}`))
    })
}

/** Measured without its colours. */
interface Cell {
  readonly plain: string
  readonly painted: string
}

function factsOf(piece: StagedPiece, width: number): Cell[] {
  const { address, kind, title, from, to, change, topics } = piece
  const cells: Cell[] = []
  for (const part of chunks(address, width)) cells.push({ plain: part, painted: pc.bold(part) })
  const words = shortened(title, width)
  cells.push({ plain: words, painted: words })
  const facts = `${kind} · ${bytes(to - from)} · `
  cells.push({ plain: facts + change, painted: pc.dim(facts) + paintChange(change) })
  if (topics.length > 0) {
    const labels = shortened(topics.join(', '), width)
    cells.push({ plain: labels, painted: pc.cyan(labels) })
  }
  for (const line of outlookLines(piece)) {
    for (const part of wrapped(line, width)) cells.push({ plain: part, painted: pc.yellow(part) })
  }
  return cells
}

/** An address is never shortened: it is what is approved. */
function chunks(address: string, width: number): string[] {
  return address.match(new RegExp(`.{1,${width}}`, 'g')) ?? []
}

function nextOf({ record, pieces }: StagedMarking, external: boolean): NextStep[] {
  const id = record.staging_record_id
  switch (record.lifecycle_status) {
    case 'pending':
      return [
        { what: 'Approve exactly this', command: howToApprove(record, external) },
        { what: 'Or send it back', command: `stagedoor staging reject --as reviewer ${id} --reason "…"` },
      ]
    case 'approved':
      return [{ what: 'It is approved: cut it', command: `stagedoor cut ${id}` }]
    case 'consumed':
      return [
        { what: 'It was cut', command: `stagedoor unit list --under ${pieces[0]!.address.split('/')[0]}` },
      ]
    default:
      return []
  }
}
