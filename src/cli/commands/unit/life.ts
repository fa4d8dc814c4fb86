/** The life of units. What puts text into force or out of it, a person decides. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { UUID } from '../../../db/uuid.ts'
import { StagedoorError } from '../../../errors.ts'
import { withConflictDiff } from '../../../units/conflicts.ts'
import {
  amendKind,
  deleteUnit,
  enactUnit,
  mergeUnits,
  restoreUnit,
  retireUnit,
  splitUnit,
  supersedeUnit,
} from '../../../units/lifecycle.ts'
import { readUnit } from '../../../units/reading.ts'
import { asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'
import {
  alsoNamed,
  type FoundUnit,
  findUnit,
  KINDS,
  newAddress,
  onUnit,
  type UnitOptions,
  unitName,
  unitNames,
  workspaceOption,
} from './named.ts'
import { statusOf } from './screen.ts'
import { givenText } from './text.ts'

const always = () => true
const unlessDraft = ({ lifecycle_status }: FoundUnit) => lifecycle_status !== 'draft'

export function enactCommand(): Command {
  return lifeCommand('enact', 'put a draft into force: from then on nobody changes its text')
    .requiredOption('--apr <ref>', 'the approval that says so')
    .option(
      '--expect <version>',
      'refuse if it is no longer at this one; default: the current one',
      whole(1, 2_147_483_647),
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions & { apr: string; expect?: number }>()
      await change(options, name, {
        call: 'enact',
        decides: always,
        work: (client, unit) =>
          enactUnit(client, unit.unit_id, {
            expected_version: options.expect ?? unit.version_no,
            apr_ref: options.apr,
          }),
        says: ({ version_no }) =>
          `is in force at version ${options.expect ?? version_no}; its text is locked`,
      })
    })
}

export function supersedeCommand(): Command {
  return lifeCommand('supersede', 'an enacted unit gives its place to another enacted one')
    .requiredOption('--by <unit>', 'the one that takes its place', unitName)
    .requiredOption('--apr <ref>', 'the approval that says so')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions & { by: string; apr: string }>()
      await change(options, name, {
        call: 'supersede',
        decides: always,
        work: async (client, unit) =>
          supersedeUnit(client, unit.unit_id, {
            successor: await alsoNamed(client, options.by, unit),
            apr_ref: options.apr,
          }),
        says: () => `gave its place to ${options.by}`,
      })
    })
}

export function retireCommand(): Command {
  return lifeCommand('retire', 'a unit is no longer valid, and nothing takes its place')
    .option('--reason <text>', 'kept with it')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions & { reason?: string }>()
      await change(options, name, {
        call: 'retire',
        decides: always,
        work: (client, unit) => retireUnit(client, unit.unit_id, options.reason),
        says: () => 'is retired',
      })
    })
}

export function amendCommand(): Command {
  return lifeCommand('amend', 'give a unit another kind, under an approval of its own')
    .requiredOption('--kind <kind>', `the new one: ${KINDS}`)
    .requiredOption('--apr <ref>', 'the approval that says so')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions & { kind: string; apr: string }>()
      await change(options, name, {
        call: 'amend',
        decides: always,
        work: (client, unit) =>
          amendKind(client, unit.unit_id, { unit_kind: options.kind, apr_ref: options.apr }),
        says: () => `is a ${options.kind}`,
      })
    })
}

export function deleteCommand(): Command {
  return lifeCommand('delete', 'take a unit out of sight; it can be restored')
    .option('--reason <text>', 'kept with it')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions & { reason?: string }>()
      await change(options, name, {
        call: 'delete',
        decides: unlessDraft,
        work: (client, unit) => deleteUnit(client, unit.unit_id, options.reason),
        says: () => 'is deleted',
        next: ({ canonical_address }) => [
          { what: 'It was a slip: bring it back', command: `stagedoor unit restore ${canonical_address}` },
        ],
      })
    })
}

export function restoreCommand(): Command {
  return lifeCommand('restore', 'bring a deleted unit back as it was').action(
    async (name: string, _options, command: Command) => {
      await change(command.optsWithGlobals<UnitOptions>(), name, {
        call: 'restore',
        decides: unlessDraft,
        work: (client, unit) => restoreUnit(client, unit.unit_id),
        says: ({ lifecycle_status }) => `is back, ${lifecycle_status} as it was`,
      })
    },
  )
}

interface ExchangeOptions extends UnitOptions {
  readonly apr?: string
  readonly reason?: string
}

export function splitCommand(): Command {
  return lifeCommand('split', 'retire a unit; two or more hold its parts')
    .option(
      '--part <address=file>',
      'a part: its address, and the file with its text; twice or more',
      parts,
      [],
    )
    .option(
      '--expect <version>',
      'refuse if it is no longer at this one; default: the current one',
      whole(1, 2_147_483_647),
    )
    .option('--apr <ref>', 'the approval that says so, where the unit is in force')
    .option('--reason <text>', 'kept with it')
    .addHelpText(
      'after',
      `
  $ stagedoor unit split handbook/leave --part handbook/annual-leave=annual.md --part handbook/sick-leave=sick.md --as reviewer

Of a draft come drafts; of what is in force comes what is in force. Each has an edge split_from to the old one.`,
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<
        ExchangeOptions & { part: { canonical_address: string; file: string }[]; expect?: number }
      >()
      const given = await Promise.all(
        options.part.map(async ({ canonical_address, file }) => ({
          canonical_address,
          body: (await givenText(file)) ?? '',
        })),
      )
      const output = outputOf(options)
      await onUnit(
        options,
        name,
        async (unit, { transaction }) => {
          const units = await withConflictDiff(transaction, (client) =>
            splitUnit(client, unit.unit_id, {
              expected_version: options.expect ?? unit.version_no,
              parts: given,
              ...(options.apr !== undefined && { apr_ref: options.apr }),
              ...(options.reason !== undefined && { reason: options.reason }),
            }),
          )
          output.result({ retired: unit.canonical_address, units }, () => {
            output.line(`${pc.green('✔')} ${pc.bold(unit.canonical_address)} is retired; its parts:`)
            for (const { canonical_address } of units) output.line(`  ${canonical_address}`)
          })
        },
        { call: 'split', decides: always },
      )
    })
}

export function mergeCommand(): Command {
  return lifeCommand('merge', 'retire units; one holds what they said')
    .argument('<others...>', 'the other ones, in the order of their texts', unitNames)
    .requiredOption('--into <address>', 'the address of the new one', newAddress)
    .option('--file <file>', 'its text; default: their texts, one after the other')
    .option('--title <title>', 'default: that of the first')
    .option('--apr <ref>', 'the approval that says so, where the units are in force')
    .option('--reason <text>', 'kept with them')
    .addHelpText(
      'after',
      `
  $ stagedoor unit merge handbook/annual-leave handbook/sick-leave --into handbook/time-off --as reviewer

Of drafts comes a draft; of what is in force comes what is in force. It has an edge merged_from to each.`,
    )
    .action(async (name: string, others: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<
        ExchangeOptions & { into: string; file?: string; title?: string }
      >()
      const body = options.file === undefined ? undefined : await givenText(options.file)
      const output = outputOf(options)
      await onUnit(
        options,
        name,
        async (first, { transaction }) => {
          const done = await withConflictDiff(transaction, async (client) => {
            const rest: FoundUnit[] = []
            for (const other of others)
              rest.push(await findUnit(client, other, UUID.test(other) ? undefined : first.workspace_id))
            const units = [first, ...rest]
            return {
              retired: units.map(({ canonical_address }) => canonical_address),
              unit: await mergeUnits(client, {
                units: units.map(({ unit_id, version_no }) => ({ unit_id, expected_version: version_no })),
                canonical_address: options.into,
                ...(body !== undefined && { body }),
                ...(options.title !== undefined && { title: options.title }),
                ...(options.apr !== undefined && { apr_ref: options.apr }),
                ...(options.reason !== undefined && { reason: options.reason }),
              }),
            }
          })
          output.result(done, () =>
            output.line(
              `${pc.green('✔')} ${pc.bold(done.unit.canonical_address)} holds what ${done.retired.join(', ')} said; they are retired`,
            ),
          )
        },
        { call: 'merge', decides: always },
      )
    })
}

function parts(
  given: string,
  before: { canonical_address: string; file: string }[],
): { canonical_address: string; file: string }[] {
  const [, address, file] = /^([^=]+)=(.+)$/.exec(given) ?? []
  if (address === undefined || file === undefined)
    throw new StagedoorError(
      'argument_invalid',
      { reason: `${given} is not a part` },
      { hint: 'A part is an address and a file: handbook/annual-leave=annual.md' },
    )
  return [...before, { canonical_address: newAddress(address), file }]
}

function lifeCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<unit>', 'its address or id', unitName)
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
}

interface Change {
  readonly call: string
  readonly decides: (unit: FoundUnit) => boolean
  work(client: Client, unit: FoundUnit): Promise<void>
  says(unit: FoundUnit): string
  next?(unit: FoundUnit): NextStep[]
}

async function change(
  options: UnitOptions,
  name: string,
  { work, says, next, ...scope }: Change,
): Promise<void> {
  const output = outputOf(options)
  await onUnit(
    options,
    name,
    async (unit, { transaction }) => {
      const after = await withConflictDiff(transaction, async (client) => {
        await work(client, unit)
        return readUnit(client, unit)
      })
      const { unit_id, canonical_address, version_no, unit_kind } = after
      output.result({ unit_id, canonical_address, version_no, unit_kind, status: statusOf(after) }, () => {
        output.line(`${pc.green('✔')} ${pc.bold(canonical_address)} ${says(unit)}`)
        printNext(output, next?.(unit) ?? [])
      })
    },
    scope,
  )
}
