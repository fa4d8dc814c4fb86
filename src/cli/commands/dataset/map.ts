import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { requireDataset } from '../../../ingest/datasets/registry.ts'
import { type Mapping, readMapping, writeMapping } from '../../../ingest/mappings.ts'
import { type ActingOptions, asOption, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { type Output, table, visibleLine } from '../../output.ts'
import { withSession } from '../upload/session.ts'

interface MapOptions extends ActingOptions {
  readonly platform: string
  readonly workspace?: string
  readonly header: string[]
  readonly value: string[]
  readonly forget: string[]
}

export function mapCommand(): Command {
  return new Command('map')
    .description(
      'say what a header or a value of your files means; remembered for the next ones of the workspace',
    )
    .argument('<name>', 'of the dataset')
    .requiredOption('--platform <name>', 'whose files')
    .option('--workspace <id or name>', 'default: the only one there is')
    .option(
      '--header <header=field>',
      'this header means that field; "Header=" leaves the column out',
      collect,
      [],
    )
    .option('--value <field:text=value>', 'this text in that field means that value', collect, [])
    .option('--forget <header>', 'what was said of this header', collect, [])
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText('after', '\nWithout --header, --value and --forget it shows what is remembered.')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MapOptions>()
      const output = outputOf(options)
      const changes = options.header.length + options.value.length + options.forget.length > 0
      const scope = options.workspace === undefined ? {} : { workspace: options.workspace }
      const mapping = await withSession(options, scope, ({ act }) =>
        act(async (client) => {
          const workspace = await workspaceOf(client, options.workspace)
          await requireDataset(client, name, options.platform)
          if (changes) await remember(client, workspace, name, options)
          return readMapping(client, workspace, name, options.platform)
        }),
      )
      output.result(mapping, () => {
        if (changes)
          output.line(
            `${pc.green('✔')} Remembered for the next files; an upload that was read already is read again by uploading it anew`,
          )
        printMapping(output, mapping)
      })
    })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

async function remember(
  client: Client,
  workspace: string,
  dataset: string,
  options: MapOptions,
): Promise<void> {
  const known = await readMapping(client, workspace, dataset, options.platform)
  const headers: Record<string, string | null> = { ...known.headers }
  for (const header of options.forget) delete headers[header]
  for (const given of options.header) {
    const { left, right } = split(given, '--header', '"Header=field"')
    headers[left] = right || null
  }
  const values: Record<string, Record<string, string | null>> = structuredClone(known.field_values) as never
  for (const given of options.value) {
    const { left, right } = split(given, '--value', '"field:text=value"')
    const colon = left.indexOf(':')
    if (colon < 1) throw invalid(`--value ${given}: write it as "field:text=value"`)
    const field = left.slice(0, colon)
    values[field] = { ...values[field], [left.slice(colon + 1)]: right || null }
  }
  await writeMapping(client, workspace, dataset, options.platform, { headers, field_values: values })
}

/** At the last sign: a header may contain one, a field never does. */
function split(given: string, option: string, form: string): { left: string; right: string } {
  const at = given.lastIndexOf('=')
  if (at < 1) throw invalid(`${option} ${given}: write it as ${form}`)
  return { left: given.slice(0, at).trim(), right: given.slice(at + 1).trim() }
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

function printMapping(output: Output, { headers, field_values }: Mapping): void {
  const rows = [
    ...Object.entries(headers).map(([header, field]) => [`  ${header}`, field ?? '(left out)']),
    ...Object.entries(field_values).flatMap(([field, values]) =>
      Object.entries(values).map(([text, value]) => [
        `  ${visibleLine(`${field}: ${text}`)}`,
        value ?? '(empty)',
      ]),
    ),
  ]
  output.line(
    rows.length === 0
      ? 'Nothing is remembered: the headers of the dataset hold.'
      : table(rows.map(([from, to]) => [from!, '→', to!])),
  )
}
