import { Command } from 'commander'
import pc from 'picocolors'
import { UUID } from '../../db/uuid.ts'
import { StagedoorError } from '../../errors.ts'
import { type LineageEntry, rowLineage } from '../../ingest/promotion.ts'
import { type ActingOptions, asOption, userOption, workspaceOf } from '../acting.ts'
import { outputOf } from '../context.ts'
import { age, type Output, visibleLine } from '../output.ts'
import { type Names, withSession } from './upload/session.ts'

interface LineageOptions extends ActingOptions {
  readonly id?: string
  readonly key?: string
  readonly workspace?: string
}

export function lineageCommand(): Command {
  return new Command('lineage')
    .description('where a row of a table comes from: file, line, who approved it, who promoted it')
    .argument('<table>', 'such as public.daily_metrics')
    .option('--id <uuid>', 'of the row')
    .option('--key <json>', 'or its whole key, such as \'{"number": "A-17"}\'')
    .option('--workspace <id or name>', 'default: the only one there is')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (target: string, _options, command: Command) => {
      const options = command.optsWithGlobals<LineageOptions>()
      const output = outputOf(options)
      const row = rowOf(options)
      const scope = options.workspace === undefined ? {} : { workspace: options.workspace }
      const { entries, names } = await withSession(options, scope, async (session) => {
        const found = await session.act(async (client) => {
          const workspace = await workspaceOf(client, options.workspace)
          return { workspace, entries: await rowLineage(client, workspace, qualified(target), row) }
        })
        return { ...found, names: await session.names(found.workspace) }
      })
      output.result(entries, () => {
        if (entries.length === 0) return output.line('No upload of this workspace has written this row.')
        for (const entry of entries) printEntry(output, entry, names)
      })
    })
}

function qualified(target: string): string {
  return target.includes('.') ? target : `public.${target}`
}

function rowOf({ id, key }: LineageOptions): { id: string } | { key: Record<string, unknown> } {
  if ((id === undefined) === (key === undefined))
    throw invalid('Name the row by --id or by --key, one of them')
  if (id !== undefined) {
    if (UUID.test(id)) return { id }
    throw invalid(`${id} is not a uuid; a row without one is named by --key`)
  }
  try {
    const parsed: unknown = JSON.parse(key!)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return { key: parsed as Record<string, unknown> }
  } catch {
    // Said below.
  }
  throw invalid(`--key ${key} is not a JSON object`)
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

function printEntry(output: Output, entry: LineageEntry, names: Names): void {
  const what = entry.action === 'insert' ? 'Written' : 'Changed'
  const undone = entry.undone_at
    ? pc.yellow(`  taken back ${age(entry.undone_at)} ago (${entry.undo_outcome ?? 'kept'})`)
    : ''
  output.line(`${pc.bold(`${what} by line ${entry.line} of ${visibleLine(entry.file_name)}`)}${undone}`)
  const approved = entry.approved_by ? `, approved by ${names(entry.approved_by)}` : ''
  output.line(
    visibleLine(
      `  uploaded by ${names(entry.uploaded_by)}${approved}, promoted by ${names(entry.promoted_by)} ${age(entry.promoted_at)} ago`,
    ),
  )
  for (const { what, column, from, to, by, at } of entry.repairs) {
    const change =
      what === 'corrected'
        ? `${column}: ${from ?? ''} → ${to ?? ''}`
        : what === 'left_out'
          ? 'left out'
          : 'taken in again'
    output.line(visibleLine(`  ${change}, by ${names(by)} ${age(new Date(at))} ago`))
  }
  output.line(pc.dim(`  stagedoor upload show ${entry.upload_id}`))
}
