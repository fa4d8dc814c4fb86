import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import type { Dataset, Field } from '../../../ingest/datasets/dataset.ts'
import { listDatasets, type RegisteredDataset } from '../../../ingest/datasets/registry.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { type Output, table, visibleLine } from '../../output.ts'
import { screenWidth, wrap } from '../upload/layout.ts'
import { withSession } from '../upload/session.ts'

export function listCommand(): Command {
  return new Command('list')
    .description('the datasets that are registered')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const datasets = await withSession(options, {}, ({ backEnd }) => backEnd(listDatasets))
      output.result(datasets, () => {
        if (datasets.length === 0)
          return output.line('No dataset yet: `stagedoor dataset add ads` brings the shipped one.')
        output.line(
          table(
            [['name', 'title', 'version', 'platforms', 'approval', 'undo'], ...datasets.map(row)],
            (cell, _column, line) => (line === 0 ? pc.dim(cell) : cell),
          ),
        )
      })
    })
}

function row({
  dataset,
  title,
  version,
  definition,
  approval_required,
  undo_window,
}: RegisteredDataset): string[] {
  return [
    dataset,
    title,
    String(version),
    Object.keys(definition.platforms).join(', '),
    approval_required ? 'required' : 'off',
    undo_window,
  ]
}

export function showCommand(): Command {
  return new Command('show')
    .description('its fields with the headers that mean them, its rules, the tables it writes')
    .argument('<name>', 'as `dataset list` shows it')
    .option('--platform <name>', 'only the headers of this one')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { platform?: string }>()
      const output = outputOf(options)
      const registered = await withSession(options, {}, ({ backEnd }) => backEnd(listDatasets))
      const found = registered.find(({ dataset }) => dataset === name)
      if (!found) throw unknown(name, registered)
      output.result(found, () => printDataset(output, found, options.platform))
    })
}

export function unknown(name: string, registered: readonly RegisteredDataset[]): StagedoorError {
  const names = registered.map(({ dataset }) => dataset).join(', ') || 'none'
  return new StagedoorError(
    'dataset_unknown',
    { dataset: name, platform: '' },
    { message: `There is no dataset ${name}; registered: ${names}` },
  )
}

function printDataset(output: Output, found: RegisteredDataset, platform: string | undefined): void {
  const { definition } = found
  output.line(`${pc.bold(found.dataset)}  ${visibleLine(found.title)} ${pc.dim(`version ${found.version}`)}`)
  output.line(
    pc.dim(
      `${found.approval_required ? 'a second person approves' : 'no approval needed'} · undo for ${found.undo_window} · ${Object.entries(
        definition.platforms,
      )
        .map(([key, { title }]) => `${key} (${title})`)
        .join(', ')}`,
    ),
  )
  output.line(`\n${pc.bold('Fields')}`)
  for (const [name, field] of Object.entries(definition.fields)) printField(output, name, field, platform)
  if (definition.rules?.length) {
    output.line(`\n${pc.bold('Rules')}`)
    for (const rule of definition.rules) {
      output.line(
        `  ${rule.severity === 'error' ? pc.red('✖') : pc.yellow('!')} ${visibleLine(rule.compare.join(' '))}  ${pc.dim(visibleLine(rule.message))}`,
      )
    }
  }
  printTables(output, definition)
}

function printField(output: Output, name: string, field: Field, platform: string | undefined): void {
  const traits = [
    field.type,
    field.required && 'required',
    bounds(field),
    field.values && Object.keys(field.values).join(' | '),
  ]
  output.line(`  ${name.padEnd(20)} ${pc.dim(visibleLine(traits.filter(Boolean).join(', ')))}`)
  for (const [of, aliases] of Object.entries(field.aliases)) {
    if (platform !== undefined && of !== 'any' && of !== platform) continue
    const headers = aliases.map((alias) => (typeof alias === 'string' ? alias : `${alias.header} (micros)`))
    const [first, ...rest] = wrap(headers.join(', '), screenWidth() - 14)
    output.line(
      [`    ${pc.dim(of.padEnd(8))} ${first}`, ...rest.map((line) => `             ${line}`)].join('\n'),
    )
  }
}

function bounds({ min, max, maxLength, pattern }: Field): string {
  return [
    min !== undefined && `from ${min}`,
    max !== undefined && `to ${max}`,
    maxLength !== undefined && `up to ${maxLength} characters`,
    pattern !== undefined && `like ${pattern}`,
  ]
    .filter(Boolean)
    .join(' ')
}

function printTables(output: Output, { rows, client }: Dataset): void {
  output.line(`\n${pc.bold('Tables')}`)
  output.line(
    table(
      rows.map((type) => [`  ${type.name}`, type.target, `one row for each ${type.key.join(', ')}`]),
      (cell, column) => (column === 2 ? pc.dim(cell) : cell),
    ),
  )
  if (client) output.line(pc.dim(`  for a client of ${client.table}`))
}
