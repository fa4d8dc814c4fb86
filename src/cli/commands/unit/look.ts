/** Looking at units. */
import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { unitEdges } from '../../../units/edges.ts'
import { diffUnit, unitHistory } from '../../../units/history.ts'
import { LIFECYCLE_STATUSES, listUnits, readUnit, type UnitStatus } from '../../../units/reading.ts'
import { acting, asOption, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { bytes, paintDiff, table, visibleLine } from '../../output.ts'
import { pastTime } from '../../times.ts'
import { printNext } from '../upload/next-step.ts'
import { namesIn } from '../upload/session.ts'
import { findUnit, KINDS, onUnit, type UnitOptions, unitName, workspaceOption } from './named.ts'
import { edgeTable, factsOf, factsThen, fitted, headline, nextOf, textLines, unitTable } from './screen.ts'

interface ListOptions extends UnitOptions {
  readonly under?: string
  readonly in?: string
  readonly kind?: string
  readonly status?: UnitStatus
  readonly topic?: string
  readonly deviates?: boolean
  readonly drifted?: boolean
  readonly deleted?: boolean
  readonly limit: number
  readonly after?: string
}

export function listCommand(): Command {
  return new Command('list')
    .description('units by workspace and address; those of a container in their order')
    .option('--under <address>', 'only of this branch', unitName)
    .option('--in <unit>', 'only what is in this one', unitName)
    .option('--kind <kind>', `only these: ${KINDS}`)
    .addOption(new Option('--status <status>', 'only these').choices(LIFECYCLE_STATUSES))
    .option('--topic <label>', 'only those that carry it')
    .option('--deviates', 'only those in which the checker found something')
    .option('--drifted', 'only those whose document has moved on')
    .option('--deleted', 'only the deleted ones')
    .option('--workspace <id or name>', 'only of this one')
    .option('--limit <n>', 'how many', whole(1, 1000), 50)
    .option('--after <unit>', 'the page after this one', unitName)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const units = await acting(
        options,
        (client) => find(client, options),
        options.workspace === undefined ? {} : { workspace: options.workspace },
      )
      output.result(units, () => {
        if (units.length === 0) return output.line(nothing(options))
        output.line(unitTable(units))
        if (units.length === options.limit)
          output.line(pc.dim(`\nThe page after it: --after ${units.at(-1)!.canonical_address}`))
      })
    })
}

async function find(client: Client, options: ListOptions) {
  const idOf = async (name: string) => (await findUnit(client, name, options.workspace)).unit_id
  return listUnits(client, {
    limit: options.limit,
    deleted: options.deleted === true,
    ...(options.workspace !== undefined && { workspace_id: await workspaceOf(client, options.workspace) }),
    ...(options.under !== undefined && { under: options.under }),
    ...(options.in !== undefined && { container_id: await idOf(options.in) }),
    ...(options.kind !== undefined && { unit_kind: options.kind }),
    ...(options.status !== undefined && { lifecycle_status: options.status }),
    ...(options.topic !== undefined && { topic: options.topic }),
    ...(options.deviates && { conformance: 'deviates' }),
    ...(options.drifted && { drift: 'drifted' }),
    ...(options.after !== undefined && { after: await idOf(options.after) }),
  })
}

function nothing({
  limit: _,
  json: _json,
  home: _home,
  as: _as,
  user: _user,
  ...filters
}: ListOptions): string {
  if (Object.keys(filters).length > 0) return 'No unit is so. `stagedoor unit list` shows all of them.'
  return `No unit here yet. From a document, through review:
${pc.cyan('  stagedoor mark handbook.md')}
or one by itself:
${pc.cyan('  echo "28 days a year." | stagedoor unit create handbook/leave')}`
}

interface ShowOptions extends UnitOptions {
  readonly version?: number
  readonly asOf?: Date
  readonly text?: boolean
  readonly full?: boolean
}

export function showCommand(): Command {
  return new Command('show')
    .description('one unit: its text, where it stands, what it lacks, its edges')
    .argument('<unit>', 'its address or id', unitName)
    .option('--version <n>', 'this version', whole(1, 2_147_483_647))
    .option('--as-of <time>', 'as it was then: 2h ago as 2h, or 2026-11-16T08:00:00Z', pastTime)
    .option('--text', 'print the text alone, exactly as it is')
    .option('--full', 'do not shorten a long text')
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ShowOptions>()
      const output = outputOf(options)
      await onUnit(options, name, async (found, { transaction, database }) => {
        const { unit, edges, address, successor } = await transaction(async (client) => {
          const unit = await readUnit(client, found, {
            ...(options.version !== undefined && { version: options.version }),
            ...(options.asOf !== undefined && { asOf: options.asOf }),
          })
          const edges = await unitEdges(client, found.unit_id)
          return {
            unit,
            edges,
            address: await addressesOf(client, unit),
            successor: await successorOf(client, unit),
          }
        })
        if (options.text && !output.json) return void process.stdout.write(unit.version.body)
        const names = await namesIn(database, unit.workspace_id)
        output.result({ ...unit, edges }, () => {
          output.line(headline(unit))
          if (unit.status_then !== null) {
            // What is known only as it is now (place, profile, edges, tier) is not shown as if it had been so then.
            output.line(pc.dim(`As it was at ${options.asOf!.toISOString()}.`))
            output.line()
            output.line(table(factsThen(unit, names), (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
            return output.line(`\n${textLines(unit.version.body, options.full === true)}`)
          }
          output.line()
          const facts = factsOf(unit, names, address(unit.container_id), {
            supersedes: address(unit.supersedes),
            superseded_by: address(unit.superseded_by),
            successor,
          })
          output.line(table(facts, (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
          if (edges.out.length + edges.in.length > 0) output.line(`\n${edgeTable(edges)}`)
          if (edges.next !== null)
            output.line(pc.dim(`of ${unit.edges_out} edges from it and ${unit.edges_in} to it`))
          output.line(`\n${textLines(unit.version.body, options.full === true)}`)
          if (unit.version.version_no === unit.version_no)
            printNext(output, nextOf(unit, successor, database.kind === 'external'))
        })
      })
    })
}

type Related = Record<'container_id' | 'supersedes' | 'superseded_by', string | null>

/** What people call the units that this one names by their ids. */
async function addressesOf(
  client: Client,
  unit: Related,
): Promise<(id: string | null) => string | undefined> {
  const ids = [unit.container_id, unit.supersedes, unit.superseded_by].filter((id) => id !== null)
  if (ids.length === 0) return () => undefined
  const { rows } = await client.query<{ unit_id: string; canonical_address: string }>(
    'select unit_id, canonical_address from iu_core.information_unit where unit_id = any ($1)',
    [ids],
  )
  const addresses = new Map(rows.map((row) => [row.unit_id, row.canonical_address]))
  return (id) => (id === null ? undefined : (addresses.get(id) ?? id))
}

/** There is one at most that is worked on. */
async function successorOf(client: Client, { unit_id }: { unit_id: string }): Promise<string | undefined> {
  const { rows } = await client.query<{ canonical_address: string }>(
    `select canonical_address from iu_core.information_unit
      where supersedes = $1 and lifecycle_status = 'draft' and deleted_at is null`,
    [unit_id],
  )
  return rows[0]?.canonical_address
}

export function historyCommand(): Command {
  return new Command('history')
    .description('the versions of a unit and the changes of its life, newest first')
    .argument('<unit>', 'its address or id', unitName)
    .option('--limit <n>', 'how many of each', whole(1, 1000), 50)
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions & { limit: number }>()
      const output = outputOf(options)
      await onUnit(options, name, async (found, { transaction, database }) => {
        const { limit } = options
        const history = await transaction((client) => unitHistory(client, found.unit_id, { limit }))
        const names = await namesIn(database, found.workspace_id)
        output.result(history, () => {
          const versions = history.versions.map((version) => [
            String(version.version_no),
            version.edited_at.toISOString(),
            names(version.edited_by),
            bytes(version.body_bytes),
            version.content_hash.slice(0, 12),
            version.note ?? '',
          ])
          output.line(
            table(
              fitted([['version', 'since', 'by', 'size', 'hash', 'note'], ...versions]),
              (cell, column, row) => (row === 0 || column > 3 ? pc.dim(cell) : cell),
            ),
          )
          if (history.lifecycle.length > 0) {
            const changes = history.lifecycle.map((change) => [
              change.changed_at.toISOString(),
              `${change.from_status} → ${change.to_status}`,
              names(change.changed_by),
              [change.apr_ref, change.reason].filter(Boolean).join(': '),
            ])
            output.line(`\n${table(fitted(changes), (cell, column) => (column === 3 ? pc.dim(cell) : cell))}`)
          }
          if (versions.length > 1)
            printNext(output, [
              {
                what: 'What the last one changed',
                command: `stagedoor unit diff ${found.canonical_address}`,
              },
              {
                what: 'As it was at a time',
                command: `stagedoor unit show ${found.canonical_address} --as-of ${versions.at(-1)![1]}`,
              },
            ])
        })
      })
    })
}

export function diffCommand(): Command {
  return new Command('diff')
    .description('what changed from one version to another')
    .argument('<unit>', 'its address or id', unitName)
    .argument('[from]', 'version; default: the one before', whole(1, 2_147_483_647))
    .argument('[to]', 'version; default: the current one', whole(1, 2_147_483_647))
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .action(
      async (name: string, from: number | undefined, to: number | undefined, _options, command: Command) => {
        const options = command.optsWithGlobals<UnitOptions>()
        const output = outputOf(options)
        await onUnit(options, name, async (found, { transaction }) => {
          const diff = await transaction((client) =>
            diffUnit(client, found.unit_id, {
              ...(from !== undefined && { from }),
              ...(to !== undefined && { to }),
            }),
          )
          output.result(diff, () => {
            const { from_version, to_version, from_title, to_title } = diff
            if (from_title !== to_title)
              output.line(`Title: ${pc.red(visibleLine(from_title))} → ${pc.green(visibleLine(to_title))}`)
            if (diff.diff !== '') return output.line(paintDiff(diff.diff))
            output.line(
              from_version === to_version
                ? `Version ${to_version} has nothing before it to compare it with.`
                : `Versions ${from_version} and ${to_version} have the same text.`,
            )
          })
        })
      },
    )
}
