/** From an approved marking to units. */
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../errors.ts'
import { findRecord } from '../../staging/records.ts'
import { type Cut, type CutUnit, cutFromManifest, type LeftOut } from '../../units/cut.ts'
import { type ActingOptions, acting, asOption, userOption } from '../acting.ts'
import { outputOf } from '../context.ts'
import { recordId } from '../ids.ts'
import { bytes, type Output, table } from '../output.ts'
import { duration } from '../times.ts'
import { givenText } from './unit/text.ts'
import { printNext } from './upload/next-step.ts'

/** Of the units that were touched, unless asked for all of them. */
const MOST_UNITS = 12

interface CutOptions extends ActingOptions {
  readonly digest?: string
  readonly source?: string
  readonly all?: boolean
  readonly now?: boolean
}

export function cutCommand(): Command {
  return new Command('cut')
    .description('cut an approved marking into units, in one transaction')
    .argument('<record>', 'as `stagedoor mark` printed it', recordId)
    .option(
      '--digest <digest>',
      'of the manifest or of the record: refuse if it holds anything else; default: as it was approved',
    )
    .option('--source <file>', 'the document, where the record holds the manifest alone')
    .option('--all', 'list every unit that was touched')
    .option('--now', 'bring what was touched into search at once, not in two minutes')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
Only what changed since the last cut is touched: new pieces are born, changed drafts get a version, changed pieces that are in
force get a draft beside them, drafts of pieces that are gone are retired. What people edited, moved or reordered since stays, unless
the document itself changed there: then the cut says what it replaced.`,
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CutOptions>()
      const output = outputOf(options)
      const source = options.source === undefined ? undefined : await givenText(options.source)
      const { done, ms } = await acting(
        options,
        async (client) => {
          const digest = options.digest ?? (await digestOf(client, id))
          const begun = performance.now()
          const done = await cutFromManifest(client, id, digest, source)
          return { done, ms: performance.now() - begun }
        },
        { record: id },
      )
      if (!options.now)
        return output.result({ ...done, ms: Math.round(ms) }, () =>
          print(output, done, ms, options.all === true),
        )
      const { projectCut } = await import('./search/after-cut.ts')
      const { printProjected } = await import('./search/care.ts')
      const search = await projectCut(output, options, done)
      output.result({ ...done, ms: Math.round(ms), search }, () => {
        print(output, done, ms, options.all === true)
        output.line()
        printProjected(output, search.projected, search, search.ms)
      })
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
    ['moved', moved, 'into another container'],
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
        shown.map((unit) => [`  ${unit.what}`, unit.canonical_address, remarkOn(unit)]),
        (cell, column) => (column === 0 ? pc.dim(cell) : column === 2 ? pc.yellow(cell) : cell),
      ),
    )
    if (units.length > shown.length) output.line(pc.dim(`  … ${units.length - shown.length} more: --all`))
  }
  for (const address of done.orders_replaced ?? []) {
    output.line(
      `${pc.yellow('●')} The document has ${pc.bold(address)} in another order: that which people gave it is replaced`,
    )
  }
  if (done.legacy_kept)
    output.line(
      `${pc.yellow('●')} The old knowledge base has this document: its text stays as it is, the units lie beside it`,
    )
  if (done.left_out) output.line(`${pc.yellow('●')} ${leftOut(done.left_out)}`)
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

function remarkOn({ what, replaced_version, replaced_place, moved_from, moved_to }: CutUnit): string {
  const isMoved = what === 'moved' || moved_from !== undefined || moved_to !== undefined
  return [
    ...(replaced_version === undefined ? [] : [`in place of what people wrote: version ${replaced_version}`]),
    ...(isMoved && what !== 'retired' ? [`${moved_from ?? 'outside'} → ${moved_to ?? 'outside'}`] : []),
    ...(replaced_place ? ['people had put it there'] : []),
  ].join(', ')
}

/** 44 B in no piece: lines 3–5, 9 */
function leftOut({ bytes: count, parts }: LeftOut): string {
  const lines = parts.map(({ first_line: first, last_line: last }) =>
    first === last ? String(first) : `${first}–${last}`,
  )
  const one = parts.length === 1 && parts[0]!.first_line === parts[0]!.last_line
  return `${pc.bold(`${bytes(count)} in no piece`)}, and so in no unit: ${one ? 'line' : 'lines'} ${lines.join(', ')} of the document`
}
