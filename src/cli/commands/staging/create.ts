import { Command, Option } from 'commander'
import pc from 'picocolors'
import { withBlobsForRecord } from '../../../staging/blobs/for-record.ts'
import { readJson } from '../../../staging/exact-json.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { type CreatedRecord, createRecord, PAYLOAD_TYPES, STAGING_KINDS } from '../../../staging/records.ts'
import { type ActingOptions, acting, asOption, userOption, workspaceOf } from '../../acting.ts'
import { configOf, outputOf } from '../../context.ts'
import { blobsOf } from './blobs.ts'
import { parseParts, readPart } from './parts.ts'

interface CreateOptions extends ActingOptions {
  readonly kind: string
  readonly type: string
  readonly purpose: string
  readonly part: string[]
  readonly workspace?: string
  readonly global?: boolean
  readonly key?: string
  readonly sourceKind?: string
  readonly sourceRef?: string
  readonly new?: boolean
  readonly metadata?: string
  readonly expiresAt?: string
}

export function createCommand(): Command {
  return new Command('create')
    .description('hold something, from files or from standard input')
    .addOption(new Option('--kind <kind>', 'what it is').choices(STAGING_KINDS).makeOptionMandatory())
    .addOption(
      new Option('--type <type>', 'what its payload is').choices(PAYLOAD_TYPES).makeOptionMandatory(),
    )
    .requiredOption('--purpose <text>', 'a few words for whoever decides')
    .requiredOption('--part <name=@file...>', 'a part, in order; may be repeated', collect, [])
    .option('--workspace <id or name>', 'where it belongs; default: the only one there is')
    .option('--global', 'in no workspace: for the back end only')
    .option(
      '--key <key>',
      'idempotency key: the same call again gives the same record; default: of --source-ref and the kind',
    )
    .option('--new', 'another record from the same --source-ref')
    .addOption(
      new Option(
        '--source-kind <kind>',
        'where it comes from; default: agent for an agent, else user',
      ).choices(['agent', 'user', 'system', 'import']),
    )
    .option('--source-ref <ref>', 'address or id of the source')
    .option('--metadata <json>', 'a JSON object of hints')
    .option('--expires-at <time>', 'default: as the policy of its kind says')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
Parts:
  manifest=@manifest.json     a file; .json is held as JSON, text files as text, anything else or larger as a blob
  notes:text=@export.dat      the kind said outright: json, text or blob
  rows:json=-                 from standard input, once: as json, text (the default) or blob
  remark:text=fine by me      the text itself`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<CreateOptions>()
      const output = outputOf(options)
      const created = await create(options)
      output.result(created, () => {
        output.line(
          created.created
            ? `${pc.green('✔')} Staged ${pc.bold(created.staging_record_id)}`
            : `Staged before under this key: ${pc.bold(created.staging_record_id)}, ${created.lifecycle_status}`,
        )
        output.line(pc.dim(`  digest ${created.content_hash}`))
      })
    })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

/** Parts are read and stored only for those who may stage. */
async function create(options: CreateOptions): Promise<CreatedRecord> {
  const given = parseParts(options.part)
  if (options.metadata !== undefined) readJson(options.metadata, '--metadata', 'text_invalid')
  const limit = configOf(options).blobLimit
  const store = blobsOf(options)
  const scope = options.workspace !== undefined && !options.global ? { workspace: options.workspace } : {}
  return withBlobsForRecord(store, (stored) =>
    acting(
      options,
      async (client) => {
        const workspace = options.global ? undefined : await workspaceOf(client, options.workspace)
        await requireStaging(client, workspace)
        const parts: string[] = []
        for (const part of given) parts.push(await readPart(part, { store, stored, limit }))
        return createRecord(client, requestOf(options, workspace, parts), options.key)
      },
      scope,
    ),
  )
}

/** Put together as text: the numbers of a JSON part must not pass through JavaScript. */
function requestOf(options: CreateOptions, workspace: string | undefined, parts: readonly string[]): string {
  const envelope = JSON.stringify({
    staging_kind: options.kind,
    payload_type: options.type,
    purpose: options.purpose,
    workspace_id: workspace,
    source_kind: options.sourceKind,
    source_ref: options.sourceRef,
    new: options.new,
    expires_at: options.expiresAt,
  })
  const metadata = options.metadata === undefined ? '' : `,"metadata":${options.metadata}`
  return `${envelope.slice(0, -1)}${metadata},"parts":[${parts.join(',')}]}`
}
