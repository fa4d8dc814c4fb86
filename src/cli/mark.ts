/** `stagedoor mark` and `stagedoor cut`: from a document to a proposal how it is cut, held for review, and then to units. */
import { relative, sep } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import type { StagedMark, StagedMarking, StagedPiece, StagedRemovedPiece } from '../app/marking.ts'
import { requireStaging } from '../gates/gates.ts'
import { readJson, requireRecord } from '../staging/records.ts'
import { type Cut, type CutUnit, cutFromManifest, type LeftOut, type LeftOutText } from '../units/cut.ts'
import { unifiedDiff } from '../units/history.ts'
import type { MarkedPiece, PiecePlace, RemovedPiece } from '../units/marking/mark.ts'
import { argumentInvalid, collect, readBytesInput, readTextInput } from './arguments.ts'
import { command } from './command.ts'
import { formatBytes, formatDuration, joinWords, plural } from './format.ts'
import { recordId } from './ids.ts'
import { approveRecordCommand, workspaceOf } from './session.ts'
import { type Column, type NextStep, type Output, painter } from './terminal.ts'
import { firstLines, padEnd, printableLine, prose, screenWidth, truncateLine, wrapIndented } from './text.ts'

/** What else `mark` does: with folders (mark-folder.ts). */
interface FolderMarking {
  isFolder(path: string): Promise<boolean>
  // biome-ignore lint/suspicious/noExplicitAny: the session of this very command
  mark(session: any, folder: string): Promise<void>
  commands(): Command[]
}

export function documentMarkCommand(folders: FolderMarking): Command {
  const mark: Command = markDocumentCommand(folders)
  for (const one of folders.commands()) mark.addCommand(one)
  return mark
}

const markDocumentCommand = (folders: FolderMarking) =>
  command('mark', 'propose how a Markdown document is cut into units, and hold the proposal for review')
    .argument('<file>', 'the document, or a folder of documents; - for standard input')
    .workspace('where it belongs; default: the only one there is')
    .option('--address <name>', 'the first segment of every address; default: from the file’s path')
    .option('--again', 'stage it though nothing has changed since the last cut')
    .option(
      '--glob <pattern>',
      'of a folder only what matches, such as guides/**/*.md; again for another; default: **/*.md and **/*.markdown',
      collect(String),
    )
    .option('--title <text>', 'of the document; default: as it says itself')
    .option('--language <code>', 'default: as it says itself, or found out')
    .option(
      '--source-ref <ref>',
      'where it comes from: marked again under it, it is the same document; default: the file’s path from here',
    )
    .option('--manifest <file>', 'cut it like this: a manifest that you changed; - for standard input')
    .actor()
    // A command with subcommands does not get these two by itself.
    .option('--json', 'print one JSON value for machines')
    .option('--home <folder>', 'folder of the embedded server (STAGEDOOR_HOME)')
    .examples(
      `  $ stagedoor mark handbook.md --as operator
  $ stagedoor mark show <record>                                       the pieces beside the text, for the reviewer
  $ stagedoor staging approve --as reviewer <record> --digest <as shown>
  $ stagedoor cut <record> --as operator                               units, in one transaction

A folder of documents, with one review for all:
  $ stagedoor mark docs --as operator
  $ stagedoor mark review docs                                         what would change, and one digest for all
  $ stagedoor mark approve docs --digest <as shown> --as reviewer
  $ stagedoor mark cut docs --as operator

Another cut than the proposed one:
  $ stagedoor staging show <record> --part 0 > manifest.json           change pieces, addresses, kinds, topics
  $ stagedoor mark handbook.md --manifest manifest.json                positions and hashes are computed again

Nothing is written while the gate iu_core.staging_writes_enabled is closed.`,
    )
    .run(async (session, file) => {
      const { options, output, transaction } = session
      if (file !== '-' && (await folders.isFolder(file))) return folders.mark(session, file)
      const { address, title, language, sourceRef = refOf(file), manifest } = options
      if (options.glob !== undefined) throw argumentInvalid('--glob chooses among the files of a folder')
      const source = (await readBytesInput(file))!
      const edited = manifest === undefined ? undefined : await readTextInput(manifest)
      // Loaded here: parser and schema take a third of a second, and no other command needs them.
      const { stageEditedManifest, stageMark } = await import('../app/marking.ts')
      const workspace = await transaction(async (client) => {
        const found = await workspaceOf(client, options.workspace)
        await requireStaging(client, found)
        return found
      })
      const marked =
        edited === undefined
          ? await stageMark(transaction, {
              workspace,
              source,
              sourceRef,
              address,
              title,
              language,
              again: options.again === true,
            })
          : await stageEditedManifest(transaction, {
              workspace,
              manifest: readJson(edited, manifest!, 'argument_invalid'),
              source,
            })
      output.result(marked, () => printMark(output, marked))
    })
    .addCommand(showCommand())

/** The same on every system, and whether or not somebody typed ./ before it. */
export function refOf(file: string): string {
  return file === '-' ? 'standard input' : relative('.', file).split(sep).join('/')
}

function printMark(
  output: Output,
  { staging_record_id: id, created, manifest, report, left_out, lifecycle_status: status }: StagedMark,
): void {
  const { document, pieces } = manifest
  output.records(report.pieces, PIECE_COLUMNS)
  printLines(output, movedLines(report.pieces), removedLines(report.removed), leftOutLines(left_out))
  output.line()
  output.done(
    `${pc.bold(printableLine(document.title))}: ${plural(pieces.length, 'piece')}, ${formatBytes(document.bytes)}, ${summary(report.pieces)}`,
  )
  if (created) output.line(`  staged as ${pc.bold(id)}`)
  else if (status === 'consumed') output.line(`  nothing has changed since it was cut: ${pc.bold(id)}`)
  else output.line(`  this very marking was staged before: ${pc.bold(id)}, ${status}`)
  output.next(
    status === 'pending' && ['A colleague reviews the pieces beside the text', `stagedoor mark show ${id}`],
    status === 'approved' && cutStep(id),
  )
}

function printLines(output: Output, ...blocks: readonly (readonly string[])[]): void {
  for (const line of blocks.flat()) output.line(line)
}

function cutStep(id: string): NextStep {
  return ['It is approved: cut it', `stagedoor cut ${id}`]
}

/** 3 changed, 37 the same */
export function summary(pieces: StagedMark['report']['pieces']): string {
  const words = Object.entries({ new: 'new', changed: 'changed', moved: 'moved', same: 'the same' })
  const counts = words.map(([kind, word]) => [pieces.filter(({ change }) => change === kind).length, word])
  return counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])).join(', ')
}

// What a reviewer reads: each piece beside the beginning of its text.

const showCommand = () =>
  command('show', 'the pieces of a staged marking beside their text')
    .argument('<record>', 'as `stagedoor mark` printed it', recordId)
    .about('record')
    .option('--full', 'all of each text')
    .option('--changed', 'only what the cut would change')
    .actor()
    .run(async ({ options, output, transaction, isExternal }, id) => {
      const { readMarking } = await import('../app/marking.ts')
      const marking = await transaction((client) => readMarking(client, id))
      const external = await isExternal()
      const show = () => printMarking(output, marking, options)
      output.result(marking, show, ...reviewNextSteps(marking, external))
    })

/** With `changed` only what the cut would change, and how many pieces are not shown. */
export function printMarking(
  output: Output,
  { record, document, pieces, removed, left_out, legacy }: StagedMarking,
  { full = false, changed = false }: { full?: boolean; changed?: boolean },
): void {
  const touched = pieces.filter(({ change, preview }) => change !== 'same' || preview.what !== 'unchanged')
  const shown = changed ? touched : pieces
  const source = `${printableLine(document.source_ref)} · ${document.language} · ${formatBytes(document.bytes)}`
  const rest = left_out ? `, ${formatBytes(left_out.bytes)} in no piece` : ''
  const counts = `${plural(pieces.length, 'piece')}, ${touched.length} of them new, changed or moved${rest} · ${record.lifecycle_status}`
  output.line(`${pc.bold(printableLine(document.title))}  ${pc.dim(source)}`)
  output.dim(prose(counts))
  output.dim(`digest ${record.content_hash}`)
  if (legacy) {
    const text = `The old knowledge base has this document, ${legacy.is_same ? 'with the same text' : 'with another text'}: it stays as it is, the units are stored beside it`
    output.warn(prose(text, { indent: 2 }))
  }
  const left = Math.min(
    Math.max(...shown.map(({ address }) => address.length), 24),
    Math.floor(screenWidth() * 0.4),
  )
  const right = screenWidth() - left - 3
  const rule = (cross: string) => pc.dim(`${'─'.repeat(left + 1)}${cross}${'─'.repeat(right + 1)}`)
  shown.forEach((piece, index) => {
    output.line(rule(index === 0 ? '┬' : '┼'))
    printLines(output, sideBySide(piece, left, right, full))
  })
  output.line(shown.length === 0 ? '\nNothing that the cut would change.' : rule('┴'))
  printLines(output, removedLines(removed), leftOutLines(left_out, full))
  const hidden = pieces.length - shown.length
  if (hidden === 0) return
  const those = hidden === 1 ? '1 piece stays as it is' : `${hidden} pieces stay as they are`
  output.dim(prose(`${those}: \`stagedoor mark show ${record.staging_record_id}\``))
}

/** Of each piece, unless asked for all of it. */
const MAX_TEXT_LINES = 6

/** Two columns: what the piece is, and what it says; of a changed one, what it would say instead. */
function sideBySide(piece: StagedPiece, left: number, right: number, full: boolean): string[] {
  const facts = factsOf(piece, left)
  const lines =
    piece.before === null
      ? piece.text
          .trimEnd()
          .split('\n')
          .flatMap((line) => wrapIndented(line, right))
      : changeOf(piece.before, piece.text, right)
  const text = full ? lines : firstLines(lines, MAX_TEXT_LINES)
  return Array.from({ length: Math.max(facts.length, text.length) }, (_, row) =>
    `${padEnd(facts[row] ?? '', left)} ${pc.dim('│')} ${text[row] ?? ''}`.trimEnd(),
  )
}

function changeOf(before: string, after: string, width: number): string[] {
  const diff = unifiedDiff({ name: '', text: before }, { name: '', text: after })
  const lines = diff.trimEnd().split('\n').slice(2)
  return lines
    .filter((line) => !line.startsWith('@@'))
    .flatMap((line) => {
      const paint = line.startsWith('+') ? pc.green : line.startsWith('-') ? pc.red : pc.dim
      return wrapIndented(line.slice(1), width - 2).map((part) => paint(`${line[0]} ${part}`))
    })
}

function factsOf(piece: StagedPiece, width: number): string[] {
  const { address, kind, title, from, to, change, topics } = piece
  const preview = cutPreviewLines(piece).flatMap((line) => wrapIndented(line, width))
  return [
    // An address is never shortened: it is what is approved.
    ...(address.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).map((part) => pc.bold(part)),
    truncateLine(title, width),
    pc.dim(`${kind} · ${formatBytes(to - from)} · `) + paintChange(change),
    ...(topics.length > 0 ? [pc.cyan(truncateLine(topics.join(', '), width))] : []),
    ...preview.map((line) => pc.yellow(line)),
  ]
}

function reviewNextSteps({ record, pieces }: StagedMarking, external: boolean): NextStep[] {
  const { staging_record_id: id, lifecycle_status: status } = record
  if (status === 'approved') return [cutStep(id)]
  if (status === 'consumed') return [['It was cut', listUnder(pieces[0]!.address)]]
  if (status !== 'pending') return []
  return [
    ['Approve exactly this', approveRecordCommand(record, external)],
    ['Or reject it', `stagedoor staging reject --as reviewer ${id} --reason "…"`],
  ]
}

function listUnder(address: string): string {
  return `stagedoor unit list --under ${address.split('/')[0]}`
}

// The pieces of a marked document.

const paintChange = painter({ green: ['new'], yellow: ['changed'], cyan: ['moved'] })

const PIECE_COLUMNS: Column<MarkedPiece>[] = [
  { title: 'address', value: ({ address }) => address },
  { title: 'kind', value: ({ kind }) => kind, dim: true },
  { title: 'size', value: ({ bytes }) => formatBytes(bytes), dim: true },
  { title: 'change', value: ({ change }) => change, paint: paintChange },
  { title: 'title', value: ({ title }) => title, shrinkTo: 10 },
]

/** Where the document had its pieces, and has them now. */
function movedLines(pieces: readonly Pick<MarkedPiece, 'address' | 'moved'>[]): string[] {
  const moved = pieces.flatMap(({ address, moved }) =>
    moved ? [`  ${pc.cyan(address)}  ${pc.dim(placeChange(moved))}`] : [],
  )
  return moved.length === 0 ? [] : [`\n${pc.bold('Moved in the document')}`, ...moved]
}

/** in handbook/a → in handbook/b; within the same section: behind which piece. */
function placeChange({ from, to }: NonNullable<MarkedPiece['moved']>): string {
  const inSame = from.parent === to.parent
  const place = ({ parent, after }: PiecePlace) =>
    inSame ? (after === null ? 'first' : `after ${after}`) : parent === null ? 'at the top' : `in ${parent}`
  return `${place(from)} → ${place(to)}`
}

const REMOVED_REASONS: readonly [RemovedPiece['text_is'], string][] = [
  ['removed', 'No longer in the document'],
  ['in_no_piece', 'Still in the document, left out by the manifest'],
  ['in_another_piece', 'Still in the document, now within another piece'],
]

function removedLines(removed: readonly (RemovedPiece & Partial<StagedRemovedPiece>)[]): string[] {
  return REMOVED_REASONS.flatMap(([reason, heading]) => {
    const those = removed.filter(({ text_is }) => text_is === reason)
    const lines = those.map(({ address, title, retired = [], kept = [] }) => {
      const retires = retired.map((unit) => `${unit} is retired`)
      const stays = kept.map((unit) => `${unit} stays in force`)
      return `  ${pc.red(address)}  ${pc.dim([printableLine(title), ...retires, ...stays].join(' · '))}`
    })
    const note = pc.dim('(the cut retires drafts; what is in force stays)')
    return lines.length === 0 ? [] : [`\n${pc.bold(heading)} ${note}`, ...lines]
  })
}

/** Of each part, so that its place is found; the rest is in the document. */
const MAX_LEFT_OUT_LINES = 3

function leftOutLines(left: LeftOutText | null, full = false): string[] {
  if (left === null) return []
  const lines = left.parts.flatMap((part) => {
    const all = part.text.split('\n').filter((line) => line.trim() !== '')
    const cut = all.map((line) => `    ${truncateLine(line, screenWidth() - 4)}`)
    return [`  ${pc.dim(linesText([part]))}`, ...(full ? cut : firstLines(cut, MAX_LEFT_OUT_LINES, ''))]
  })
  const title = `${formatBytes(left.bytes)} in no piece`
  return [`\n${pc.yellow('●')} ${pc.bold(title)} ${pc.dim('(no unit will have this text)')}`, ...lines]
}

/** line 9, or lines 3–5, 9 */
function linesText(parts: LeftOut['parts']): string {
  const spans = parts.map(({ first_line: first, last_line: last }) =>
    first === last ? String(first) : `${first}–${last}`,
  )
  const isOne = parts.length === 1 && !spans[0]!.includes('–')
  return `${isOne ? 'line' : 'lines'} ${spans.join(', ')}`
}

// What a cut would do with the unit of a piece.

/** Nothing where nothing happens, or where a new piece becomes a new unit. */
function cutPreviewLines({ address, change, moved, preview }: StagedPiece): string[] {
  const { kept_in: kept, moved_from: from, moved_to: to, replaced_place } = preview
  const isMoving = from !== undefined || to !== undefined
  const stays =
    kept === '' ? 'people took it out: it stays outside' : `people put it into ${kept}: it stays there`
  return [
    moved && `document: ${placeChange(moved)}`,
    ...textPreview(address, preview, change === 'changed'),
    isMoving && `moves from ${from ?? 'outside'} to ${to ?? 'outside'}`,
    replaced_place && 'though people had put it there',
    kept !== undefined && stays,
  ].filter((line) => typeof line === 'string')
}

function textPreview(
  address: string,
  { what, unit = address, status, version_no: version = 0, ...preview }: StagedPiece['preview'],
  isChanged: boolean,
): string[] {
  const current = `${status}${short(unit, address)}`
  if (what === 'versioned') {
    const { keeps_text, replaced_version: own } = preview
    return [
      `${current} → version ${version + 1}${keeps_text ? ', a new title' : ''}`,
      ...(own === undefined ? [] : [`in place of what people wrote: version ${own}`]),
    ]
  }
  if (what === 'successor') {
    const draft = `draft${short(preview.new_address!, address)}`
    return status === 'enacted'
      ? [`${current}: stays in force`, `→ ${draft}, its successor`]
      : [`${current}: stays so`, `→ a new ${draft}`]
  }
  return what === 'unchanged' && isChanged ? [`${current}: says so already`] : []
}

/** The address of the piece stands above: of its units only what comes behind it. */
function short(unit: string, address: string): string {
  if (unit === address) return ''
  return ` ${unit.startsWith(`${address}~`) ? unit.slice(address.length) : unit}`
}

// From an approved marking to units.

export const cutCommand = () =>
  command('cut', 'cut an approved marking into units, in one transaction')
    .argument('<record>', 'as `stagedoor mark` printed it', recordId)
    .about('record')
    .option(
      '--digest <digest>',
      'of the manifest or of the record: refuse if it holds anything else; default: as it was approved',
    )
    .option('--source <file>', 'the document, where the record holds the manifest alone')
    .option('--all', 'list every unit that was changed')
    .option('--now', 'bring what was changed into search at once, not in two minutes')
    .actor()
    .examples(
      `Only what changed since the last cut is changed: new pieces become new units, changed drafts get a version, changed pieces that
are in force get a draft beside them, drafts whose piece was deleted are retired. What people edited, moved or reordered since stays,
unless the document itself changed there: then the cut says what it replaced.`,
    )
    .run(async (session, id) => {
      const { options, output, transaction } = session
      const source = options.source === undefined ? undefined : await readTextInput(options.source)
      const { done, ms } = await transaction(async (client) => {
        const record = await requireRecord(client, id)
        const start = performance.now()
        // What was approved cannot change any more: the record's own digest is the one that the reviewer saw.
        const done = await cutFromManifest(client, id, options.digest ?? record.content_hash, source)
        return { done, ms: performance.now() - start }
      })
      const result = { ...done, ms: Math.round(ms) }
      if (!options.now) return output.result(result, () => printCut(output, done, ms, options.all))
      const { printProjected, projectCut } = await import('./search-projection.ts')
      const search = await projectCut(session, done)
      output.result({ ...result, search }, () => {
        printCut(output, done, ms, options.all)
        output.line()
        printProjected(output, search.projected, search, search.ms)
      })
    })

/** Of the units that were changed, unless asked for all of them. */
const MAX_SHOWN_UNITS = 12

function printCut(output: Output, { units, ...done }: Cut, ms: number, all = false): void {
  const moved = units.filter(({ what }) => what === 'moved').length
  const changed = done.created + done.versioned + done.successors + done.retired + moved
  const what = changed === 0 ? 'nothing had changed' : `${plural(changed, 'unit')} changed`
  output.done(`Cut in ${pc.bold(formatDuration(ms))}: ${what}, ${done.unchanged - moved} as they were`)
  const counts: [string, number, string][] = [
    ['new', done.created, ''],
    ['versioned', done.versioned, 'drafts with a new text'],
    ['successors', done.successors, 'drafts beside what is in force, or was'],
    ['retired', done.retired, 'drafts whose piece was deleted'],
    ['moved', moved, 'into another container'],
    ['kept', done.kept, 'in force, though their piece was deleted'],
    ['kinds kept', done.kinds_kept?.length ?? 0, '`stagedoor unit change-kind` changes a kind'],
  ]
  const some = counts.filter(([, count]) => count > 0)
  if (some.length > 0)
    output.records(some, [
      { value: ([name]) => `  ${name}` },
      { value: ([, count]) => count },
      { value: ([, , why]) => why, dim: true },
    ])
  const shown = all ? units : units.slice(0, MAX_SHOWN_UNITS)
  if (shown.length > 0) {
    output.line()
    output.records(shown, [
      { value: ({ what }) => `  ${what === 'created' ? 'new' : what}`, dim: true },
      { value: ({ canonical_address }) => canonical_address },
      { value: remarkOn, paint: pc.yellow },
    ])
  }
  if (units.length > shown.length) output.dim(`  … ${units.length - shown.length} more: --all`)
  for (const address of done.orders_replaced ?? [])
    output.warn(
      `The document has ${pc.bold(address)} in another order: it replaces the order that people gave it`,
    )
  if (done.legacy_kept)
    output.warn(
      'The old knowledge base has this document: its text stays as it is, the units are stored beside it',
    )
  if (done.left_out)
    output.warn(
      `${pc.bold(`${formatBytes(done.left_out.bytes)} in no piece`)}, and so in no unit: ${linesText(done.left_out.parts)} of the document`,
    )
  const [first] = units
  output.next(['See the units', first ? listUnder(first.canonical_address) : 'stagedoor unit list'])
}

function remarkOn({ what, replaced_version, replaced_place, moved_from, moved_to }: CutUnit): string {
  const isMoved = what === 'moved' || moved_from !== undefined || moved_to !== undefined
  return joinWords([
    replaced_version !== undefined && `in place of what people wrote: version ${replaced_version}`,
    isMoved && what !== 'retired' && `${moved_from ?? 'outside'} → ${moved_to ?? 'outside'}`,
    replaced_place && 'people had put it there',
  ])
}
