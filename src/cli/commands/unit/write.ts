/** Births and edits of units. */
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { withConflictDiff } from '../../../units/conflicts.ts'
import { readUnit } from '../../../units/reading.ts'
import { changeProfile, createUnit, type EditedUnit, editSlice, editUnit } from '../../../units/units.ts'
import { acting, asOption, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { commaList } from '../../json-argument.ts'
import { whole } from '../../numbers.ts'
import { type Output, visible } from '../../output.ts'
import { printNext } from '../upload/next-step.ts'
import {
  type FoundUnit,
  findUnit,
  KINDS,
  newAddress,
  onUnit,
  type UnitOptions,
  unitName,
  workspaceOption,
} from './named.ts'
import { givenText, noText } from './text.ts'

const VERSIONS = whole(1, 2_147_483_647)

interface CreateOptions extends UnitOptions {
  readonly file?: string
  readonly title?: string
  readonly kind?: string
  readonly language?: string
  readonly in?: string
  readonly sourceRef?: string
  readonly topics?: string[]
}

export function createCommand(): Command {
  return new Command('create')
    .description('a unit is born: a draft in version 1')
    .argument('<address>', 'for good, as handbook/leave', newAddress)
    .option('--file <file>', 'its text; default: standard input')
    .option('--title <text>', 'default: its first heading or line')
    .option('--kind <kind>', `${KINDS}; default note`)
    .option('--language <code>', 'default en')
    .option('--in <unit>', 'the unit that holds it', unitName)
    .option('--source-ref <ref>', 'where it came from; default: you')
    .option('--topics <labels>', 'separated by commas', commaList)
    .option('--workspace <id or name>', 'where it belongs; default: the only one there is')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText('after', '\n  $ echo "28 days a year." | stagedoor unit create handbook/leave --title Leave')
    .action(async (address: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CreateOptions>()
      const output = outputOf(options)
      const body = await givenText(options.file)
      if (body === undefined) throw noText(`stagedoor unit create ${address}`)
      const born = await acting(
        options,
        async (client) => {
          const workspace = await workspaceOf(client, options.workspace)
          return createUnit(client, workspace, {
            canonical_address: address,
            body,
            ...(options.title !== undefined && { title: options.title }),
            ...(options.kind !== undefined && { unit_kind: options.kind }),
            ...(options.language !== undefined && { language: options.language }),
            ...(options.sourceRef !== undefined && { source_ref: options.sourceRef }),
            ...(options.topics && { profile: { topic_labels: options.topics } }),
            ...(options.in !== undefined && {
              container_id: (await findUnit(client, options.in, workspace)).unit_id,
            }),
          })
        },
        options.workspace === undefined ? {} : { workspace: options.workspace },
      )
      output.result({ ...born, canonical_address: address }, () => {
        output.line(`${pc.green('✔')} ${pc.bold(address)} is born, a draft ${pc.dim(born.unit_id)}`)
        printNext(output, [{ what: 'Look at it', command: `stagedoor unit show ${address}` }])
      })
    })
}

interface EditOptions extends UnitOptions {
  readonly file?: string
  readonly title?: string
  readonly language?: string
  readonly note?: string
  readonly expect?: number
}

export function editCommand(): Command {
  return new Command('edit')
    .description('a new version of a draft, from a file or from standard input')
    .argument('<unit>', 'its address or id', unitName)
    .option('--file <file>', 'its new text; default: standard input')
    .option('--title <text>', 'its new title')
    .option('--language <code>', 'its language')
    .option('--note <text>', 'why, kept with the version')
    .option('--expect <version>', 'refuse if it is no longer at this one; default: the current one', VERSIONS)
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
  $ stagedoor unit show handbook/leave --text > leave.md       # version 3, edit it
  $ stagedoor unit edit handbook/leave --expect 3 --file leave.md --note "agreed on Monday"`,
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<EditOptions>()
      const output = outputOf(options)
      const facts = options.title !== undefined || options.language !== undefined
      // With a title alone nobody meant to wait for standard input.
      const body = facts && options.file === undefined ? undefined : await givenText(options.file)
      if (body === undefined && !facts) throw noText(`stagedoor unit edit ${name}`)
      await onUnit(options, name, async (unit, { transaction }) => {
        const expected_version = options.expect ?? unit.version_no
        const edited = await withConflictDiff(transaction, (client) =>
          editUnit(client, unit.unit_id, {
            expected_version,
            ...(body !== undefined && { body }),
            ...(options.title !== undefined && { title: options.title }),
            ...(options.language !== undefined && { language: options.language }),
            ...(options.note !== undefined && { note: options.note }),
          }),
        )
        if (options.expect === undefined) sayVersion(output, unit)
        printEdited(output, unit, edited)
      })
    })
}

interface SliceOptions extends UnitOptions {
  readonly from?: number
  readonly to?: number
  readonly find?: string
  readonly text?: string
  readonly file?: string
  readonly note?: string
  readonly expect?: number
}

export function sliceCommand(): Command {
  const characters = whole(0, 2_147_483_647)
  return new Command('slice')
    .description('a new version of a draft in which a part of the text is another one')
    .argument('<unit>', 'its address or id', unitName)
    .option('--from <n>', 'first character of the part, from 0', characters)
    .option('--to <n>', 'the character after its last; the same as --from inserts', characters)
    .option('--find <text>', 'the part itself, where it is there once; instead of --from and --to')
    .option('--text <text>', 'what comes in its place')
    .option('--file <file>', 'the same from a file')
    .option('--note <text>', 'why, kept with the version')
    .option('--expect <version>', 'refuse if it is no longer at this one; default: the current one', VERSIONS)
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText('after', '\n  $ stagedoor unit slice handbook/leave --find "28 days" --text "30 days"')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<SliceOptions>()
      const output = outputOf(options)
      const text = options.text ?? (await givenText(options.file))
      if (text === undefined) throw noText(`stagedoor unit slice ${name} …`)
      await onUnit(options, name, async (unit, { transaction }) => {
        const expected_version = options.expect ?? unit.version_no
        const edited = await withConflictDiff(transaction, async (client) => {
          const part =
            options.find === undefined
              ? { from: options.from, to: options.to }
              : placeOf((await readUnit(client, unit)).version.body, options.find)
          if (part.from === undefined || part.to === undefined) throw whichPart()
          return editSlice(client, unit.unit_id, {
            expected_version,
            from: part.from,
            to: part.to,
            text,
            ...(options.note !== undefined && { note: options.note }),
          })
        })
        if (options.expect === undefined) sayVersion(output, unit)
        printEdited(output, unit, edited)
      })
    })
}

function whichPart(): StagedoorError {
  const reason = 'Say which part: --find "its text", or --from and --to'
  return new StagedoorError('argument_invalid', { reason })
}

/** In characters, as SQL counts them: one beyond U+FFFF is one. */
function placeOf(body: string, part: string): { from: number; to: number } {
  const at = body.indexOf(part)
  const reason =
    part === '' || at < 0
      ? `“${part}” is not in the text`
      : body.indexOf(part, at + 1) >= 0
        ? `“${part}” is in the text more than once`
        : undefined
  if (reason !== undefined)
    throw new StagedoorError(
      'argument_invalid',
      { reason },
      { hint: 'Take more of the text around it, so that it is there once; or count: --from and --to.' },
    )
  const from = [...body.slice(0, at)].length
  return { from, to: from + [...part].length }
}

/** Whoever named no version is told which one was taken for it, once it is done. */
function sayVersion(output: Output, { version_no: version }: FoundUnit): void {
  output.note(
    pc.dim(
      `On version ${version}, the current one. With --expect ${version} nobody else's edit in between is lost.`,
    ),
  )
}

function printEdited(output: Output, unit: FoundUnit, edited: EditedUnit): void {
  const { canonical_address: name } = unit
  output.result({ ...edited, unit_id: unit.unit_id, canonical_address: name }, () => {
    if (!edited.changed)
      return output.line(
        `${pc.yellow('●')} ${name} was so already: it stays at version ${edited.version_no}.`,
      )
    output.line(
      `${pc.green('✔')} ${pc.bold(name)} is at version ${edited.version_no} ${pc.dim(edited.content_hash.slice(0, 12))}`,
    )
    printNext(output, [{ what: 'What changed', command: `stagedoor unit diff ${name}` }])
  })
}

interface ProfileOptions extends UnitOptions {
  readonly topics?: string[]
}

export function profileCommand(): Command {
  return new Command('profile')
    .description('what is known about a unit beside its text; without arguments: look at it')
    .argument('<unit>', 'its address or id', unitName)
    .argument('[key=value...]', 'a JSON value or words; null takes the key away', settings, {})
    .option('--topics <labels>', 'all its topics, separated by commas; none: no topics', commaList)
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      '\n  $ stagedoor unit profile handbook/leave audience=staff reviewed=null --topics leave',
    )
    .action(async (name: string, patch: Record<string, unknown>, _options, command: Command) => {
      const options = command.optsWithGlobals<ProfileOptions>()
      const output = outputOf(options)
      const { topics } = options
      const given = {
        ...patch,
        ...(topics && { topic_labels: topics[0] === 'none' && topics.length === 1 ? null : topics }),
      }
      await onUnit(options, name, async (unit, { transaction }) => {
        const changed = Object.keys(given).length > 0
        const profile = await transaction(async (client) =>
          changed
            ? changeProfile(client, unit.unit_id, given)
            : (await readUnit(client, unit)).content_profile,
        )
        output.result(profile, () => {
          if (changed) output.line(`${pc.green('✔')} The profile of ${pc.bold(unit.canonical_address)}:`)
          if (Object.keys(profile).length > 0) return output.line(visible(JSON.stringify(profile, null, 2)))
          output.line(changed ? 'is empty.' : 'It is empty. Set something: key=value, or --topics.')
        })
      })
    })
}

function settings(given: string, before: Record<string, unknown>): Record<string, unknown> {
  const at = given.indexOf('=')
  if (at < 1) {
    throw new StagedoorError('argument_invalid', { reason: `${given}: write it as key=value` })
  }
  return { ...before, [given.slice(0, at)]: jsonOrWords(given.slice(at + 1)) }
}

function jsonOrWords(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
