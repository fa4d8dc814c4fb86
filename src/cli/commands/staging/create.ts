import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { listGates } from '../../../gates/gates.ts'
import type { BlobStore, StoredBlob } from '../../../staging/blobs/store.ts'
import { type CreatedRecord, createRecord, PAYLOAD_TYPES, STAGING_KINDS } from '../../../staging/records.ts'
import { type ActingOptions, acting, asOption, userOption, workspaceOf } from '../../acting.ts'
import { configOf, outputOf } from '../../context.ts'
import { blobsOf } from './blobs.ts'
import { parseParts, readPart, requireJson } from './parts.ts'

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
  readonly metadata?: string
  readonly expiresAt?: string
}

const GATE = 'iu_core.staging_writes_enabled'

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
    .option('--key <key>', 'idempotency key: the same call again gives the same record')
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

/** Parts are read and stored only for those who may stage; what was stored for a record that did not come to be is deleted. */
async function create(options: CreateOptions): Promise<CreatedRecord> {
  const given = parseParts(options.part)
  if (options.metadata !== undefined) requireJson(options.metadata, '--metadata')
  const limit = configOf(options).blobLimit
  const store = blobsOf(options)
  const stored: StoredBlob[] = []
  try {
    const created = await acting(
      options,
      async (client) => {
        const workspace = options.global ? undefined : await workspaceOf(client, options.workspace)
        await requireStaging(client, workspace)
        const parts: string[] = []
        for (const part of given) parts.push(await readPart(part, { store, stored, limit }))
        return createRecord(client, requestOf(options, workspace, parts), options.key)
      },
      options.workspace !== undefined && !options.global ? { workspace: options.workspace } : {},
    )
    // The key found a record: it has its own blobs.
    if (!created.created) await discard(store, stored)
    return created
  } catch (error) {
    // When the database was lost, the record may have been committed: its blobs must stay. If not, they are swept.
    const lost = error instanceof StagedoorError && error.code === 'database_unreachable'
    if (!lost) await discard(store, stored)
    throw error
  }
}

/** Whoever may not stage does not fill the disk either. Create checks again. */
async function requireStaging(client: Client, workspace: string | undefined): Promise<void> {
  await client.query(`select iu_core.require_member($1, 'stage')`, [workspace ?? null])
  const gates = await listGates(client)
  if (!gates.some(({ gate, open }) => gate === GATE && open)) {
    throw new StagedoorError('gate_closed', { gate: GATE })
  }
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
    expires_at: options.expiresAt,
  })
  const metadata = options.metadata === undefined ? '' : `,"metadata":${options.metadata}`
  return `${envelope.slice(0, -1)}${metadata},"parts":[${parts.join(',')}]}`
}

/** What cannot be deleted now is an orphan, swept later: the error that led here matters more. */
async function discard(store: BlobStore, stored: readonly StoredBlob[]): Promise<void> {
  for (const { blob_ref } of stored) await store.delete(blob_ref).catch(() => {})
}
