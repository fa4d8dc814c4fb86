/** From an approved marking to units. */
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../errors.ts'
import { findRecord } from '../../staging/records.ts'
import { type Cut, cutFromManifest } from '../../units/cut.ts'
import { type ActingOptions, acting, asOption, userOption } from '../acting.ts'
import { outputOf } from '../context.ts'
import { type Output, table } from '../output.ts'
import { duration } from '../times.ts'
import { recordId } from './staging/record-id.ts'
import { printNext } from './upload/next-step.ts'

/** Of the units that were touched, unless asked for all of them. */
const MOST_UNITS = 12

interface CutOptions extends ActingOptions {
  readonly digest?: string
  readonly all?: boolean
}

export function cutCommand(): Command {
  return new Command('cut')
    .description('cut an approved marking into units, in one transaction')
    .argument('<record>', 'as `stagedoor mark` printed it', recordId)
    .option('--digest <digest>', 'refuse if the record holds anything else; default: as it was approved')
    .option('--all', 'list every unit that was touched')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
Only what changed since the last cut is touched: new pieces are born, changed drafts get a version, changed pieces that are in
force get a draft beside them, drafts of pieces that are gone are retired.`,
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CutOptions>()
      const output = outputOf(options)
      const { done, ms } = await acting(
        options,
        async (client) => {
          const digest = options.digest ?? (await digestOf(client, id))
          const begun = performance.now()
          const done = await cutFromManifest(client, id, digest)
          return { done, ms: performance.now() - begun }
        },
        { record: id },
      )
      output.result({ ...done, ms: Math.round(ms) }, () => print(output, done, ms, options.all === true))
    })
}

/** What was approved cannot change any more: the record's own digest is the one that the reviewer saw. */
async function digestOf(client: Parameters<typeof findRecord>[0], id: string): Promise<string> {
  const record = await findRecord(client, id)
  if (!record) throw new StagedoorError('staging_not_found', { record: id })
  return record.content_hash
}

function print(output: Output, { units, ...done }: Cut, ms: number, all: boolean): void {
  const moved = units.filter(({ what }) => what === 'moved').length
  const touched = done.born + done.versioned + done.successors + done.retired + moved
  const unmoved = done.unchanged - moved
  output.line(
    `${pc.green('✔')} Cut in ${pc.bold(duration(ms))}: ${touched === 0 ? 'nothing had changed' : `${touched} ${touched === 1 ? 'unit' : 'units'} touched`}, ${unmoved} as they were`,
  )
  const counts: [string, number, string][] = [
    ['born', done.born, ''],
    ['versioned', done.versioned, 'drafts with a new text'],
    ['successors', done.successors, 'drafts beside what is in force, or was'],
    ['retired', done.retired, 'drafts whose piece is gone'],
    ['moved', moved, 'the same text in another place'],
    ['kept', done.kept, 'in force, though their piece is gone'],
    ['kinds kept', done.kinds_kept?.length ?? 0, '`stagedoor unit amend` changes a kind'],
  ]
  const rows = counts
    .filter(([, count]) => count > 0)
    .map(([name, count, why]) => [`  ${name}`, String(count), why])
  if (rows.length > 0) output.line(table(rows, (cell, column) => (column === 2 ? pc.dim(cell) : cell)))
  const shown = all ? units : units.slice(0, MOST_UNITS)
  if (shown.length > 0) {
    output.line()
    output.line(
      table(
        shown.map(({ what, canonical_address, replaced_version }) => [
          `  ${what}`,
          canonical_address,
          replaced_version === undefined ? '' : `in place of what people wrote: version ${replaced_version}`,
        ]),
        (cell, column) => (column === 0 ? pc.dim(cell) : column === 2 ? pc.yellow(cell) : cell),
      ),
    )
    if (units.length > shown.length) output.line(pc.dim(`  … ${units.length - shown.length} more: --all`))
  }
  const [first] = units
  printNext(output, [
    first
      ? {
          what: 'Look at them',
          command: `stagedoor unit list --under ${first.canonical_address.split('/')[0]}`,
        }
      : { what: 'Look at the units', command: 'stagedoor unit list' },
  ])
}
