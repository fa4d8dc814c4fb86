/** `stagedoor dataset` and `stagedoor client`: what files mean, and whose data they hold. */
import { stat } from 'node:fs/promises'
import pc from 'picocolors'
import {
  type Dataset,
  type DatasetDeclaration,
  type Field,
  isExpressionRule,
} from '../ingest/datasets/dataset.ts'
import { isDeclarationFile, loadDataset } from '../ingest/datasets/declaration-file.ts'
import {
  createClient,
  datasetProblems,
  declarationProblems,
  listClients,
  listDatasets,
  type RegisteredDataset,
  registerDataset,
  unknownDataset,
} from '../ingest/datasets/registry.ts'
import type { TableDifference } from '../ingest/datasets/short-form.ts'
import { matchSource } from '../ingest/source-preview.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { argumentInvalid, DELIMITER, rethrowUnreadable } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { mapCommand, readingOf } from './dataset-map.ts'
import { printProblems, scriptOf } from './dataset-problems.ts'
import { joinWords, plural } from './format.ts'
import { initCommand } from './init.ts'
import { grantRightsOfDataset } from './owner-grants.ts'
import { workspaceIfNamed, workspaceOf } from './session.ts'
import type { Column, Output } from './terminal.ts'
import { hanging, printableLine } from './text.ts'

/** Where no member is named the commands act as service_role, as those of uploads do. */
const BACK_END = { backEndRole: 'service_role' } as const

export const datasetCommand = () =>
  commandGroup(
    'dataset',
    'what files mean: their headers, their rules, the tables they go to',
    [
      listCommand(),
      showCommand(),
      initCommand(),
      checkCommand(),
      diffCommand(),
      exportCommand(),
      registerCommand(),
      matchCommand(),
      mapCommand(),
    ],
    `
  $ stagedoor dataset register ads
  $ stagedoor dataset show ads --platform meta
  $ stagedoor dataset init public.orders orders.csv
  $ stagedoor dataset check ./orders.json
  $ stagedoor dataset diff ./orders.json
  $ stagedoor dataset register ./orders.json --no-approval --undo-window '90 days'
  $ stagedoor dataset match week-45.csv
  $ stagedoor dataset map ads week-45.csv --platform meta
  $ stagedoor dataset map ads --platform meta --set "Spend €=spend"`,
  )

const listCommand = () =>
  command('list', 'the datasets that are registered').run(async ({ output, backEnd }) => {
    const datasets = await backEnd((client) => listDatasets(client))
    output.list(
      datasets,
      COLUMNS,
      'No dataset yet: `stagedoor dataset register ads` registers the shipped one.',
    )
  }, BACK_END)

const COLUMNS: Column<RegisteredDataset>[] = [
  { title: 'name', value: ({ dataset }) => dataset },
  { title: 'title', value: ({ title }) => title },
  { title: 'version', value: ({ version }) => version },
  { title: 'platforms', value: ({ definition }) => Object.keys(definition.platforms).join(', ') },
  { title: 'approval', value: ({ approval_required }) => (approval_required ? 'required' : 'off') },
  { title: 'undo', value: ({ undo_window }) => undo_window },
]

const matchCommand = () =>
  command('match', 'which dataset a file is of, by its headers and values; nothing of the file is kept')
    .argument('<file>', 'CSV, TSV, JSON lines, JSON, Parquet or xlsx')
    .workspace()
    .option('--encoding <name>', 'of a file that is not UTF-8')
    .option(...DELIMITER)
    .option('--columns <names>', 'of a file without a header, in order: name,name,…')
    .option('--sheet <name>', 'of an xlsx; default: the first one with data')
    .actor(BACK_END)
    .run(async ({ options, output, transaction, config }, file) => {
      await stat(file).catch(rethrowUnreadable(file))
      const workspaceId = await transaction((client) => workspaceOf(client, options.workspace))
      const asked = { workspaceId, file: await readingOf(options) }
      const found = await matchSource({ home: config.home }, { transaction }, file, asked)
      const { best, matches } = found
      output.result(found, () => {
        if (matches.length === 0)
          return output.line('No dataset yet: `stagedoor dataset register ads` registers the shipped one.')
        output.records(matches, [
          { title: 'dataset', value: ({ dataset }) => dataset, paint: pc.bold },
          { title: 'fits', value: ({ fit }) => fit },
          { title: 'platforms', value: ({ platforms }) => platforms.join(', ') },
          { title: 'fields', value: ({ used, known }) => `${used}, ${known} known by name` },
          { title: 'missing', value: ({ missing }) => missing.join(', ') || '–', shrinkTo: 20 },
        ])
        if (best === null)
          output.caution('No dataset fits best: choose one with --dataset, or see `dataset map`.')
      })
    })

const showCommand = () =>
  command('show', 'its fields with the headers that mean them, its rules, the tables it writes')
    .argument('<name>', 'as `dataset list` shows it')
    .option('--platform <name>', 'only the headers of this one')
    .run(async ({ options, output, backEnd }, name) => {
      const registered = await backEnd((client) => listDatasets(client))
      const found = registered.find(({ dataset }) => dataset === name)
      if (!found) throw unknownDataset(name, registered)
      output.result(found, () => printDataset(output, found, options.platform))
    }, BACK_END)

function printDataset(output: Output, found: RegisteredDataset, platform: string | undefined): void {
  const { definition } = found
  const platforms = Object.entries(definition.platforms).map(([key, { title }]) => `${key} (${title})`)
  const approval = found.approval_required ? 'a second person approves' : 'no approval needed'
  output.line(
    `${pc.bold(found.dataset)}  ${printableLine(found.title)} ${pc.dim(`version ${found.version}`)}`,
  )
  output.dim(`${approval} · undo for ${found.undo_window} · ${platforms.join(', ')}`)
  output.heading('Fields')
  for (const [name, field] of Object.entries(definition.fields)) printField(output, name, field, platform)
  if (definition.rules?.length) output.heading('Rules')
  for (const rule of definition.rules ?? []) {
    const mark = rule.severity === 'error' ? pc.red('✖') : pc.yellow('!')
    const condition = isExpressionRule(rule) ? rule.check : rule.compare.join(' ')
    output.line(`  ${mark} ${printableLine(condition)}  ${pc.dim(printableLine(rule.message))}`)
  }
  output.heading('Tables')
  output.records(definition.rows, [
    { value: ({ name }) => `  ${name}` },
    { value: ({ target }) => target },
    { value: ({ key }) => `one row for each ${key.join(', ')}`, dim: true },
  ])
  if (definition.client) output.dim(`  for a client of ${definition.client.table}`)
}

function printField(output: Output, name: string, field: Field, platform: string | undefined): void {
  const { type, required, values, min, max, maxLength, pattern } = field
  const traits = joinWords([
    type,
    required && 'required',
    joinWords(
      [
        min !== undefined && `from ${min}`,
        max !== undefined && `to ${max}`,
        maxLength !== undefined && `up to ${maxLength} characters`,
        pattern !== undefined && `like ${pattern}`,
      ],
      ' ',
    ),
    values && Object.keys(values).join(' | '),
  ])
  output.line(`  ${name.padEnd(20)} ${pc.dim(printableLine(traits))}`)
  for (const [of, aliases] of Object.entries(field.aliases)) {
    if (platform !== undefined && of !== 'any' && of !== platform) continue
    const headers = aliases.map((alias) => (typeof alias === 'string' ? alias : `${alias.header} (micros)`))
    output.line(hanging(`    ${pc.dim(of.padEnd(8))} `, headers.join(', '), 13))
  }
}

const checkCommand = () =>
  command(
    'check',
    'whether a declaration is right and the tables fit, and what is missing as one script. Changes nothing',
  )
    .argument('<file or name>', 'a file that declares it, .json, .mjs or .ts, or a registered dataset')
    .workspace()
    .run(async ({ options, output, administrator }, given) => {
      const declared = isDeclarationFile(given) ? await loadChecked(given) : undefined
      const { dataset, problems } = await administrator(async (client) => {
        const dataset = declared ?? (await registeredDataset(client, given)).definition
        const workspaceId = await workspaceIfNamed(client, options.workspace)
        return { dataset, problems: await datasetProblems(client, dataset, workspaceId) }
      })
      output.result({ dataset: dataset.name, problems, script: scriptOf(problems) }, () => {
        printProblems(output, problems)
        if (problems.length > 0) return
        output.done(`${dataset.name} can be used as it is`)
        if (declared) output.next(['Register it', `stagedoor dataset register ${given}`])
      })
      if (problems.length === 0) return
      const reason = `its tables differ from what it says in ${plural(problems.length, 'point')}`
      throw new StagedoorError('dataset_invalid', { dataset: dataset.name, reason })
    })

async function registeredDataset(client: Client, name: string): Promise<RegisteredDataset> {
  const registered = await listDatasets(client)
  const found = registered.find(({ dataset }) => dataset === name)
  if (!found) throw unknownDataset(name, registered)
  return found
}

const diffCommand = () =>
  command('diff', 'how a declaration differs from the registered one, and from the tables')
    .argument(
      '<file or name>',
      'a file that declares it, or a registered dataset, which is compared with its tables',
    )
    .run(async ({ output, administrator }, given) => {
      const declared = isDeclarationFile(given) ? await loadChecked(given) : undefined
      const { readTable } = await import('../ingest/datasets/catalogue.ts')
      const { differences, shortForm, tableDifferences } = await import('../ingest/datasets/short-form.ts')
      const found = await administrator(async (client) => {
        const before = (await listDatasets(client)).find(
          ({ dataset }) => dataset === (declared?.name ?? given),
        )
        if (!declared && !before) throw unknownDataset(given, await listDatasets(client))
        const dataset = declared ?? before!.definition
        const tables: TableDifference[] = []
        for (const { target } of dataset.rows)
          tables.push(...tableDifferences(dataset, await readTable(client, target), target))
        const { $schema: _, ...after } = shortForm(dataset)
        const registered =
          before && declared ? differences(withoutSchema(shortForm(before.definition)), after) : []
        return { dataset: dataset.name, isRegistered: before !== undefined, registered, tables }
      })
      output.result(found, () => {
        const { dataset, isRegistered, registered, tables } = found
        if (!isRegistered) output.warn(`${dataset} is not registered yet`)
        if (registered.length > 0) output.heading('Differs from the registered one')
        for (const { path, change, before, after } of registered)
          output.line(`  ${changeMark(change)} ${path}  ${pc.dim(printableLine(changeText(before, after)))}`)
        if (tables.length > 0) output.heading('Differs from the tables')
        for (const { table, text } of tables) output.line(`  ${table}: ${printableLine(text)}`)
        if (isRegistered && registered.length + tables.length === 0) output.done('No difference')
      })
    })

function withoutSchema({ $schema: _, ...declaration }: DatasetDeclaration): DatasetDeclaration {
  return declaration
}

function changeMark(change: 'new' | 'dropped' | 'changed'): string {
  return change === 'new' ? pc.green('+') : change === 'dropped' ? pc.red('-') : pc.yellow('~')
}

function changeText(before: unknown, after: unknown): string {
  return joinWords(
    [before !== undefined && JSON.stringify(before), after !== undefined && JSON.stringify(after)],
    ' → ',
  )
}

const exportCommand = () =>
  command('export', 'a registered dataset as a declaration, short, as JSON')
    .argument('<name>', 'as `dataset list` shows it')
    .run(async ({ backEnd }, name) => {
      const { shortForm } = await import('../ingest/datasets/short-form.ts')
      const { definition } = await backEnd((client) => registeredDataset(client, name))
      process.stdout.write(`${JSON.stringify(shortForm(definition), null, 2)}\n`)
      if (definition.custom_rule)
        process.stderr.write('It has a rule in TypeScript, which is not in the export.\n')
    }, BACK_END)

async function loadChecked(file: string): Promise<Dataset> {
  const dataset = await loadDataset(file)
  const wrong = await declarationProblems(dataset)
  if (wrong.length === 0) return dataset
  throw new StagedoorError('dataset_invalid', { dataset: dataset.name, reason: wrong.join('; ') })
}

const registerCommand = () =>
  command('register', 'register a dataset: the shipped one by its name, your own by its file')
    .argument('<name or file>', 'ads, or a file that declares one: .json, .mjs or .ts')
    .option('--approval', 'nothing is promoted before a second person has approved (the default)')
    .option('--no-approval', 'promote without a second person')
    .option('--undo-window <interval>', "how long a promotion can be undone, such as '30 days'")
    .workspace()
    .examples(
      'Registered again, it is the next version: what is not given stays as it is. On the embedded server rights on your tables are granted.',
      '`ads` adds tables for ad platforms; each is created only where it is absent.',
    )
    .run(async (session, given) => {
      const { options, output, administrator } = session
      const declared = isDeclarationFile(given) ? await loadChecked(given) : undefined
      if (declared) await grantRightsOfDataset(session, declared)
      const registered = await administrator(async (client) => {
        const settings = {
          approvalRequired: options.approval,
          undoWindow: options.undoWindow,
          workspaceId: await workspaceIfNamed(client, options.workspace),
        }
        if (declared) await registerDataset(client, declared, settings)
        else await (await import('../ingest/packs.ts')).registerPack(client, given, settings)
        const name = declared?.name ?? given
        return (await listDatasets(client)).find(({ dataset }) => dataset === name)!
      })
      const { dataset, title, version, approval_required, undo_window, definition, workspace_id } = registered
      output.result(registered, () => {
        output.done(`${pc.bold(dataset)} (${title}, version ${version}) is registered`)
        const approval = approval_required
          ? 'a second person approves each upload'
          : 'uploads need no approval'
        output.dim(`  ${approval}; undo for ${undo_window}`)
        if (workspace_id !== null)
          output.dim(`  no column says whose a row is, so only workspace ${workspace_id} uses it`)
        if (declared?.check)
          output.line(
            `  ${pc.yellow('!')} Its rule in TypeScript is known only to commands that get the file:\n    stagedoor ingest FILE --dataset ${given}`,
          )
        const platform = Object.keys(definition.platforms)[0]!
        output.next(
          definition.client && [
            'Create the client whose data it will be',
            'stagedoor client create "Northwind"',
          ],
          ['Ingest a file', `stagedoor ingest FILE --dataset ${dataset} --platform ${platform}`],
        )
      })
    })

export const clientCommand = () =>
  commandGroup('client', 'clients: whose data an upload is', [
    command('list', 'the clients of a workspace')
      .workspace()
      .option('--dataset <name>', 'whose clients; default: the only dataset that has some')
      .actor(BACK_END)
      .run(async ({ options, output, transaction }) => {
        const clients = await transaction(async (client) => {
          const dataset = await datasetWithClients(client, options.dataset)
          return listClients(client, dataset, await workspaceOf(client, options.workspace))
        })
        output.list(
          clients,
          [{ value: ({ id }) => id }, { value: ({ name }) => name }],
          'No client yet: stagedoor client create "Northwind"',
        )
      }),
    command('create', 'create a client in a workspace, as the administrator')
      .argument('<name>')
      .workspace()
      .option('--dataset <name>', 'into whose table of clients; default: the only dataset that has some')
      .run(async ({ options, output, administrator }, name) => {
        const created = await administrator(async (client) => {
          const clients = await datasetWithClients(client, options.dataset)
          return createClient(client, clients, await workspaceOf(client, options.workspace), name)
        })
        output.result(created, `${printableLine(created.name)} is ${created.id}`)
      }),
  ])

async function datasetWithClients(db: Client, dataset: string | undefined) {
  const registered = await listDatasets(db)
  const named = dataset === undefined ? registered : registered.filter((found) => found.dataset === dataset)
  if (dataset !== undefined && named.length === 0) throw unknownDataset(dataset, registered)
  const tables = new Map(
    named.flatMap(({ definition: { client } }) => (client ? [[client.table, { client }] as const] : [])),
  )
  if (tables.size === 1) return [...tables.values()][0]!
  if (tables.size === 0)
    throw argumentInvalid(
      'No dataset has clients',
      '`stagedoor dataset register ads` registers one that has.',
    )
  throw argumentInvalid(`Say whose clients with --dataset: ${named.map((found) => found.dataset).join(', ')}`)
}
