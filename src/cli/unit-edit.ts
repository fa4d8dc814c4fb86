/** The commands of `stagedoor unit` that change units: their text, their place, their lifecycle. */
import pc from 'picocolors'
import type { Client } from '../kernel/postgres/connection.ts'
import { addEdge, deleteEdge } from '../units/edges.ts'
import {
  changeKind,
  deleteUnit,
  enactUnit,
  mergeUnits,
  restoreUnit,
  retireUnit,
  splitUnit,
  supersedeUnit,
} from '../units/lifecycle.ts'
import {
  changeProfile,
  createUnit,
  editSlice,
  editUnit,
  type FoundUnit,
  moveUnit,
  readUnit,
  reorderUnits,
  withConflictDiff,
} from '../units/units.ts'
import {
  argumentInvalid,
  collect,
  integerBetween,
  integerFrom,
  jsonOrText,
  parseList,
  readTextInput,
  textMissing,
} from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { idOf, parseNewAddress, unitName, unitNames } from './ids.ts'
import { type Session, workspaceOf } from './session.ts'
import { printable } from './text.ts'
import {
  EXPECT,
  findRelatedUnit,
  findUnit,
  openUnit,
  statusOf,
  UNIT_KINDS,
  type UnitOptions,
  unitVerb,
} from './unit-find.ts'

export const changeCommands = () => [
  createCommand(),
  editCommand(),
  profileCommand(),
  edgeCommand(),
  moveCommand(),
  reorderCommand(),
  enactCommand(),
  supersedeCommand(),
  retireCommand(),
  splitCommand(),
  mergeCommand(),
  deleteCommand(),
  restoreCommand(),
  changeKindCommand(),
]

const createCommand = () =>
  command('create', 'create a unit: a draft in version 1')
    .argument('<address>', 'for good, as handbook/leave', parseNewAddress)
    .option('--file <file>', 'its text; default: standard input')
    .option('--title <text>', 'default: its first heading or line')
    .option('--kind <kind>', `${UNIT_KINDS}; default note`)
    .option('--language <code>', 'default: found out')
    .option('--container <unit>', 'the unit that holds it', unitName)
    .option('--source-ref <ref>', 'where it came from; default: you')
    .option('--topics <labels>', 'separated by commas', parseList)
    .workspace('where it belongs; default: the only one there is')
    .actor()
    .examples('  $ echo "28 days a year." | stagedoor unit create handbook/leave --title Leave')
    .run(async ({ options, output, transaction }, address) => {
      const { title, kind, language, container, sourceRef, topics } = options
      const body = await readTextInput(options.file)
      if (body === undefined) throw textMissing(`stagedoor unit create ${address}`)
      const created = await transaction(async (client) => {
        const workspace = await workspaceOf(client, options.workspace)
        return createUnit(client, workspace, {
          canonical_address: address,
          body,
          title,
          unit_kind: kind,
          language,
          source_ref: sourceRef,
          profile: topics && { topic_labels: topics },
          container_id: container && (await findUnit(client, container, workspace)).unit_id,
        })
      })
      output.result(
        { ...created, canonical_address: address },
        `${pc.bold(address)} is created, a draft ${pc.dim(created.unit_id)}`,
        ['See it', `stagedoor unit show ${address}`],
      )
    })

const editCommand = () => {
  const characters = integerFrom(0)
  return unitVerb('edit', 'a new version of a draft: another text, or another part of it')
    .option('--file <file>', 'its new text, or that of the part; default: standard input')
    .option('--title <text>', 'its new title')
    .option('--language <code>', 'its language')
    .option('--find <text>', 'only this part of the text, which must be there once')
    .option('--from <n>', 'or the part from this character on, counted from 0', characters)
    .option(
      '--to <n>',
      'up to this character, which is not part of it; the same as --from inserts',
      characters,
    )
    .option('--replace <text>', 'what comes in place of the part')
    .option('--note <text>', 'why, kept with the version')
    .option(...EXPECT)
    .examples(
      `  $ stagedoor unit edit handbook/leave --find "28 days" --replace "30 days"
  $ stagedoor unit show handbook/leave --text > leave.md       # version 3, edit it
  $ stagedoor unit edit handbook/leave --expect 3 --file leave.md --note "agreed on Monday"`,
    )
    .run(async (session, name) => {
      const { options, output } = session
      const { title, language, note, find, from, to, replace, expect } = options
      const isPart = [find, from, to, replace].some((given) => given !== undefined)
      const hasFacts = title !== undefined || language !== undefined
      if (isPart && hasFacts) throw argumentInvalid('Change a part of the text, or its title and language')
      // With a title alone nobody meant to wait for standard input.
      const body =
        replace ?? (hasFacts && options.file === undefined ? undefined : await readTextInput(options.file))
      if (body === undefined && !hasFacts) throw textMissing(`stagedoor unit edit ${name}`)
      const { unit, transaction } = await openUnit(session, name)
      const expected_version = expect ?? unit.version_no
      const edited = await withConflictDiff(transaction, async (client) => {
        if (!isPart) return editUnit(client, unit.unit_id, { expected_version, body, title, language, note })
        const part = await partOf(client, unit, options)
        return editSlice(client, unit.unit_id, { expected_version, ...part, text: body!, note })
      })
      const { version_no: current } = unit
      const hint = `On version ${current}, the current one. With --expect ${current} nobody else's edit in between is lost.`
      if (expect === undefined) output.note(pc.dim(hint))
      const { unit_id, canonical_address: address } = unit
      const { version_no, content_hash, changed } = edited
      output.result(
        { ...edited, unit_id, canonical_address: address },
        changed
          ? `${pc.bold(address)} is at version ${version_no} ${pc.dim(content_hash.slice(0, 12))}`
          : () => output.warn(`${address} has this text already: it stays at version ${version_no}.`),
        changed && ['What changed', `stagedoor unit diff ${address}`],
      )
    })
}

/** In characters, as SQL counts them: one beyond U+FFFF is one. */
async function partOf(
  client: Client,
  unit: FoundUnit,
  { find, from, to }: { find?: string; from?: number; to?: number },
): Promise<{ from: number; to: number }> {
  if (find === undefined) {
    if (from !== undefined && to !== undefined) return { from, to }
    throw argumentInvalid('Say which part: --find "its text", or --from and --to')
  }
  const { body } = (await readUnit(client, unit)).version
  const at = find === '' ? -1 : body.indexOf(find)
  if (at < 0 || body.includes(find, at + 1))
    throw argumentInvalid(
      at < 0 ? `“${find}” is not in the text` : `“${find}” is in the text more than once`,
      'Take more of the text around it, so that it is there once; or count: --from and --to.',
    )
  const first = [...body.slice(0, at)].length
  return { from: first, to: first + [...find].length }
}

const profileCommand = () =>
  unitVerb('profile', 'what is known about a unit beside its text; without arguments: show it')
    .argument('[key=value...]', 'a JSON value or words; null deletes the key', collectSettings, {})
    .option('--topics <labels>', 'all its topics, separated by commas; none: no topics', parseList)
    .examples('  $ stagedoor unit profile handbook/leave audience=staff reviewed=null --topics leave')
    .run(async (session, name, patch) => {
      const { options, output } = session
      const { topics } = options
      const given = { ...patch, ...(topics && { topic_labels: topics.join() === 'none' ? null : topics }) }
      const isChange = Object.keys(given).length > 0
      const { unit, transaction } = await openUnit(session, name)
      const profile = await transaction(async (client) =>
        isChange
          ? changeProfile(client, unit.unit_id, given)
          : (await readUnit(client, unit)).content_profile,
      )
      output.result(profile, () => {
        if (isChange) output.done(`The profile of ${pc.bold(unit.canonical_address)}:`)
        if (Object.keys(profile).length > 0) return output.line(printable(JSON.stringify(profile, null, 2)))
        output.line(isChange ? 'is empty.' : 'It is empty. Set something: key=value, or --topics.')
      })
    })

function collectSettings(given: string, before: Record<string, unknown>): Record<string, unknown> {
  const at = given.indexOf('=')
  if (at < 1) throw argumentInvalid(`${given}: write it as key=value`)
  return { ...before, [given.slice(0, at)]: jsonOrText(given.slice(at + 1)) }
}

const edgeCommand = () =>
  commandGroup('edge', 'edges from a unit to another, or to whatever a reference names', [
    unitVerb('add', 'add one; while its target does not exist it is unverified, and the checker tries again')
      .argument('<type>', 'as explains, cites, depends_on')
      .argument('<target>', 'an address, the id of a unit, or any other reference')
      .run(async (session, name, edge_type, target) => {
        const { output } = session
        const { unit, transaction } = await openUnit(session, name)
        const added = await transaction((client) => addEdge(client, unit.unit_id, { edge_type, target }))
        output.result(added, () => {
          const arrow = `${unit.canonical_address} — ${edge_type} → ${target}`
          if (!added.created) return output.warn(`${arrow} was there already`)
          output.done(`${arrow} ${pc.dim(added.edge_id)}`)
          if (added.edge_status === 'unverified')
            output.line(pc.yellow(`  No unit is called ${target}: unverified until the checker finds one.`))
        })
      }),
    command('delete', 'delete one')
      .argument('<edge>', 'its id, as `unit show` has it', idOf('edge'))
      .actor()
      .run(async ({ output, transaction }, id) => {
        await transaction((client) => deleteEdge(client, id))
        output.result({ edge_id: id, deleted: true }, 'Deleted')
      }),
  ])

const moveCommand = () =>
  unitVerb('move', 'into another container, or out of all; addresses stay as they are')
    .option('--container <unit>', 'into this one', unitName)
    .option('--out', 'out of its container')
    .option('--position <n>', 'its place in it; default: the last', integerBetween(1, 1_000_000))
    .run(async (session, name) => {
      const { options, output } = session
      const { container, position } = options
      if ((container === undefined) === (options.out !== true))
        throw argumentInvalid('Say where to: --container CONTAINER, or --out')
      const { unit, transaction } = await openUnit(session, name)
      await transaction(async (client) => {
        const target = container && (await findRelatedUnit(client, container, unit)).unit_id
        await moveUnit(client, unit.unit_id, target ?? null, position)
      })
      const where = container === undefined ? 'in no container' : `in ${container}`
      output.result(
        { unit_id: unit.unit_id, container: container ?? null },
        `${pc.bold(unit.canonical_address)} is ${where} now`,
      )
    })

const reorderCommand = () =>
  unitVerb('reorder', 'what is in a container, in another order: all of it, once each')
    .argument('<order...>', 'the units in it, in their new order', unitNames)
    .run(async (session, name, order) => {
      const { output } = session
      const { unit: container, transaction } = await openUnit(session, name)
      const units = await transaction(async (client) => {
        const ids: string[] = []
        for (const one of order) ids.push((await findRelatedUnit(client, one, container)).unit_id)
        await reorderUnits(client, container.unit_id, ids)
        return ids
      })
      output.result(
        { container_id: container.unit_id, units },
        `${pc.bold(container.canonical_address)} has its ${units.length} units in this order`,
      )
    })

// The lifecycle. Only a person puts text into force or out of it.

const APPROVAL = ['--approval-ref <ref>', 'the approval that says so'] as const
const REASON = ['--reason <text>', 'kept with it'] as const

const enactCommand = () =>
  unitVerb('enact', 'put a draft into force: from then on nobody changes its text')
    .requiredOption(...APPROVAL)
    .option(...EXPECT)
    .run((session, name) => {
      const { approvalRef: apr_ref, expect } = session.options
      return change(session, name, 'enact', async (client, { unit_id, version_no }) => {
        const expected_version = expect ?? version_no
        await enactUnit(client, unit_id, { expected_version, apr_ref })
        return `is in force at version ${expected_version}; its text is locked`
      })
    })

const supersedeCommand = () =>
  unitVerb('supersede', 'an enacted unit is superseded by another enacted one')
    .requiredOption('--by <unit>', 'the one that takes its place', unitName)
    .requiredOption(...APPROVAL)
    .run((session, name) => {
      const { by, approvalRef: apr_ref } = session.options
      return change(session, name, 'supersede', async (client, unit) => {
        const { unit_id: successor } = await findRelatedUnit(client, by, unit)
        await supersedeUnit(client, unit.unit_id, { successor, apr_ref })
        return `is superseded by ${by}`
      })
    })

const retireCommand = () =>
  unitVerb('retire', 'a unit is no longer valid, and nothing takes its place')
    .option(...REASON)
    .run((session, name) =>
      change(session, name, 'retire', async (client, { unit_id }) => {
        await retireUnit(client, unit_id, session.options.reason)
        return 'is retired'
      }),
    )

const changeKindCommand = () =>
  unitVerb('change-kind', 'give a unit another kind, under an approval of its own')
    .requiredOption('--kind <kind>', `the new one: ${UNIT_KINDS}`)
    .requiredOption(...APPROVAL)
    .run((session, name) => {
      const { kind: unit_kind, approvalRef: apr_ref } = session.options
      return change(session, name, 'change-kind', async (client, { unit_id }) => {
        await changeKind(client, unit_id, { unit_kind, apr_ref })
        return `is a ${unit_kind}`
      })
    })

const deleteCommand = () =>
  unitVerb('delete', 'delete a unit; it can be restored')
    .option(...REASON)
    .run(async (session, name) => {
      const { canonical_address } = await change(session, name, 'delete', async (client, { unit_id }) => {
        await deleteUnit(client, unit_id, session.options.reason)
        return 'is deleted'
      })
      session.output.next(['By mistake: restore it', `stagedoor unit restore ${canonical_address}`])
    })

const restoreCommand = () =>
  unitVerb('restore', 'restore a deleted unit as it was').run((session, name) =>
    change(session, name, 'restore', async (client, { unit_id, lifecycle_status }) => {
      await restoreUnit(client, unit_id)
      return `is back, ${lifecycle_status} as it was`
    }),
  )

/** `work` returns what is said of the unit afterwards; over HTTP it is POST …/units/{id}/`call`. */
async function change(
  session: Session<UnitOptions>,
  name: string,
  call: 'enact' | 'supersede' | 'retire' | 'change-kind' | 'delete' | 'restore',
  work: (client: Client, unit: FoundUnit) => Promise<string>,
): Promise<FoundUnit> {
  const { unit, transaction } = await openUnit(session, name, {
    call,
    // A draft is deleted and restored by whoever may edit it.
    decides: ({ lifecycle_status }) => lifecycle_status !== 'draft' || !['delete', 'restore'].includes(call),
  })
  const { done, after } = await withConflictDiff(transaction, async (client) => ({
    done: await work(client, unit),
    after: await readUnit(client, unit),
  }))
  const { unit_id, canonical_address, version_no, unit_kind } = after
  session.output.result(
    { unit_id, canonical_address, version_no, unit_kind, status: statusOf(after) },
    `${pc.bold(canonical_address)} ${done}`,
  )
  return unit
}

const APPROVAL_IN_FORCE = ['--approval-ref <ref>', 'the approval that says so, where it is in force'] as const

const splitCommand = () =>
  unitVerb('split', 'retire a unit; two or more hold its parts')
    .option(
      '--part <address=file>',
      'a part: its address, and the file with its text; twice or more',
      collect(parsePart),
      [],
    )
    .option(...EXPECT)
    .option(...APPROVAL_IN_FORCE)
    .option(...REASON)
    .examples(
      `  $ stagedoor unit split handbook/leave --part handbook/annual-leave=annual.md --part handbook/sick-leave=sick.md --as reviewer

The parts of a draft are drafts; the parts of what is in force are in force. Each has an edge split_from to the old one.`,
    )
    .run(async (session, name) => {
      const { options, output } = session
      const { approvalRef: apr_ref, reason, expect } = options
      const parts = await Promise.all(
        options.part.map(async ({ canonical_address, file }) => ({
          canonical_address,
          body: (await readTextInput(file)) ?? '',
        })),
      )
      const { unit, transaction } = await openUnit(session, name, { call: 'split', decides: () => true })
      const expected_version = expect ?? unit.version_no
      const units = await withConflictDiff(transaction, (client) =>
        splitUnit(client, unit.unit_id, { expected_version, parts, apr_ref, reason }),
      )
      output.result({ retired: unit.canonical_address, units }, () => {
        output.done(`${pc.bold(unit.canonical_address)} is retired; its parts:`)
        for (const { canonical_address } of units) output.line(`  ${canonical_address}`)
      })
    })

function parsePart(given: string): { canonical_address: string; file: string } {
  const [, address, file] = /^([^=]+)=(.+)$/.exec(given) ?? []
  if (address !== undefined && file !== undefined)
    return { canonical_address: parseNewAddress(address), file }
  throw argumentInvalid(
    `${given} is not a part`,
    'A part is an address and a file: handbook/annual-leave=annual.md',
  )
}

const mergeCommand = () =>
  unitVerb('merge', 'retire units; one holds what they said')
    .argument('<others...>', 'the other ones, in the order of their texts', unitNames)
    .requiredOption('--into <address>', 'the address of the new one', parseNewAddress)
    .option('--file <file>', 'its text; default: their texts, one after the other')
    .option('--title <title>', 'default: that of the first')
    .option(...APPROVAL_IN_FORCE)
    .option(...REASON)
    .examples(
      `  $ stagedoor unit merge handbook/annual-leave handbook/sick-leave --into handbook/time-off --as reviewer

Drafts become a draft; what is in force becomes a unit in force. It has an edge merged_from to each.`,
    )
    .run(async (session, name, others) => {
      const { options, output } = session
      const { into: canonical_address, file, title, approvalRef: apr_ref, reason } = options
      const body = file === undefined ? undefined : await readTextInput(file)
      const { unit: first, transaction } = await openUnit(session, name, {
        call: 'merge',
        decides: () => true,
      })
      const done = await withConflictDiff(transaction, async (client) => {
        const found = [first]
        for (const other of others) found.push(await findRelatedUnit(client, other, first))
        const units = found.map(({ unit_id, version_no }) => ({ unit_id, expected_version: version_no }))
        return {
          retired: found.map((unit) => unit.canonical_address),
          unit: await mergeUnits(client, { units, canonical_address, body, title, apr_ref, reason }),
        }
      })
      const { retired, unit } = done
      output.result(
        done,
        `${pc.bold(unit.canonical_address)} holds what ${retired.join(', ')} said; they are retired`,
      )
    })
