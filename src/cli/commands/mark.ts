/** From a document to a proposal how it is cut, held for review. */
import { relative, sep } from 'node:path'
import { Command } from 'commander'
import pc from 'picocolors'
import type { StagedMark } from '../../stagedoor/marking.ts'
import { decodeUtf8, readJson } from '../../staging/exact-json.ts'
import { requireStaging } from '../../staging/gate.ts'
import { type ActingOptions, actingApart, asOption, userOption, workspaceOf } from '../acting.ts'
import { outputOf } from '../context.ts'
import { bytes, type Output, visibleLine } from '../output.ts'
import { goneLines, leftOutLines, movedLines, pieceTable } from './mark/pieces.ts'
import { showCommand } from './mark/show.ts'
import { givenBytes } from './unit/text.ts'
import { printNext } from './upload/next-step.ts'

interface MarkOptions extends ActingOptions {
  readonly workspace?: string
  readonly address?: string
  readonly title?: string
  readonly language?: string
  readonly sourceRef?: string
  readonly manifest?: string
}

// Commands with subcommands do not get these by themselves.
const JSON_HELP = 'print one JSON value for machines'
const HOME_HELP = 'folder of the embedded server (STAGEDOOR_HOME)'

export function markCommand(): Command {
  return new Command('mark')
    .description('propose how a Markdown document is cut into units, and hold the proposal for review')
    .argument('<file>', 'the document; - for standard input')
    .option('--workspace <id or name>', 'where it belongs; default: the only one there is')
    .option('--address <name>', 'the first part of every address; default: from the file’s name')
    .option('--title <text>', 'of the document; default: as it says itself')
    .option('--language <code>', 'default: as it says itself, or en')
    .option(
      '--source-ref <ref>',
      'where it comes from: marked again under it, it is the same document; default: the file’s path from here',
    )
    .option('--manifest <file>', 'cut it like this: a manifest that you changed; - for standard input')
    .addOption(asOption())
    .addOption(userOption())
    .option('--json', JSON_HELP)
    .option('--home <folder>', HOME_HELP)
    .addCommand(showCommand())
    .addHelpText(
      'after',
      `
  $ stagedoor mark handbook.md --as operator
  $ stagedoor mark show <record>                                       the pieces beside the text, for whoever decides
  $ stagedoor staging approve --as reviewer <record> --digest <as shown>
  $ stagedoor cut <record> --as operator                               units, in one transaction

Another cut than the proposed one:
  $ stagedoor staging show <record> --part 0 > manifest.json           change pieces, addresses, kinds, topics
  $ stagedoor mark handbook.md --manifest manifest.json                positions and hashes are taken anew

Nothing is written while the gate iu_core.staging_writes_enabled is closed.`,
    )
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MarkOptions>()
      const output = outputOf(options)
      const source = (await givenBytes(file))!
      const manifest = await manifestIn(options.manifest)
      // Loaded here: parser and schema take a third of a second, and no other command needs them.
      const { stageMark } = await import('../../stagedoor/marking.ts')
      const { stageEditedManifest } = await import('../../stagedoor/marked.ts')
      const marked = await actingApart(
        options,
        async (transaction) => {
          const workspace = await transaction(async (client) => {
            const found = await workspaceOf(client, options.workspace)
            await requireStaging(client, found)
            return found
          })
          return manifest === undefined
            ? stageMark(transaction, { workspace, source, ...markingOf(file, options) })
            : stageEditedManifest(transaction, { workspace, manifest, source })
        },
        options.workspace === undefined ? {} : { workspace: options.workspace },
      )
      output.result(marked, () => print(output, marked))
    })
}

function markingOf(file: string, { sourceRef, address, title, language }: MarkOptions) {
  return {
    sourceRef: sourceRef ?? refOf(file),
    ...(address !== undefined && { address }),
    ...(title !== undefined && { title }),
    ...(language !== undefined && { language }),
  }
}

async function manifestIn(file: string | undefined): Promise<unknown> {
  if (file === undefined) return undefined
  return readJson(decodeUtf8((await givenBytes(file))!, file), file, 'argument_invalid')
}

/** The same wherever the slashes lean, and whether or not somebody typed ./ before it. */
function refOf(file: string): string {
  return file === '-' ? 'standard input' : relative('.', file).split(sep).join('/')
}

function print(
  output: Output,
  { staging_record_id: id, created, manifest, report, left_out, lifecycle_status }: StagedMark,
): void {
  const { document, pieces } = manifest
  const count = pieces.length === 1 ? 'one piece' : `${pieces.length} pieces`
  output.line(pieceTable(report.pieces))
  const more = [...movedLines(report.pieces), ...goneLines(report.gone), ...leftOutLines(left_out)]
  for (const line of more) output.line(line)
  output.line(
    `\n${pc.green('✔')} ${pc.bold(visibleLine(document.title))}: ${count}, ${bytes(document.bytes)}, ${summary(report.pieces)}`,
  )
  output.line(
    created
      ? `  staged as ${pc.bold(id)}`
      : `  this very marking was staged before: ${pc.bold(id)}, ${lifecycle_status}`,
  )
  printNext(output, nextOf(id, lifecycle_status))
}

function nextOf(id: string, status: string) {
  if (status === 'approved') return [{ what: 'It is approved: cut it', command: `stagedoor cut ${id}` }]
  if (status !== 'pending') return []
  return [
    {
      what: 'A colleague sees the pieces beside the text, and decides',
      command: `stagedoor mark show ${id}`,
    },
  ]
}

/** 3 changed, 37 the same */
function summary(pieces: StagedMark['report']['pieces']): string {
  const words = { new: 'new', changed: 'changed', moved: 'moved', same: 'the same' } as const
  return (Object.keys(words) as (keyof typeof words)[])
    .map((change) => [pieces.filter((piece) => piece.change === change).length, words[change]] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ')
}
