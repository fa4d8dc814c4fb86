import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Command, Option } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { createDiskBlobStore } from '../../../staging/blobs/disk.ts'
import { createRecord, PAYLOAD_TYPES, STAGING_KINDS } from '../../../staging/records.ts'
import { type ActingOptions, acting, asOption, workspaceOf } from '../../acting.ts'
import { configOf, outputOf } from '../../context.ts'

interface CreateOptions extends ActingOptions {
  readonly kind: string
  readonly type: string
  readonly purpose: string
  readonly part: string[]
  readonly workspace?: string
  readonly global?: boolean
  readonly key?: string
  readonly sourceKind: string
  readonly sourceRef?: string
  readonly metadata?: string
  readonly expiresAt?: string
}

/** Larger files become blobs. */
const LARGEST_PART = 10 * 1024 * 1024
const JSON_ENDINGS = ['.json']
const TEXT_ENDINGS = ['.txt', '.md', '.csv', '.tsv', '.log', '.yaml', '.yml', '.html', '.xml', '.sql']

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
      new Option('--source-kind <kind>', 'where it comes from')
        .choices(['agent', 'user', 'system', 'import'])
        .default('user'),
    )
    .option('--source-ref <ref>', 'address or id of the source')
    .option('--metadata <json>', 'a JSON object of hints')
    .option('--expires-at <time>', 'default: as the policy of its kind says')
    .addOption(asOption())
    .addHelpText(
      'after',
      `
Parts:
  manifest=@manifest.json     a file; .json is held as JSON, text files as text, anything else or larger as a blob
  notes:text=@export.dat      the kind said outright: json, text or blob
  rows:json=-                 from standard input
  remark:text=fine by me      the text itself`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<CreateOptions>()
      const output = outputOf(options)
      const parts: string[] = []
      for (const part of options.part) parts.push(await readPart(part, join(configOf(options).home, 'blobs')))
      const created = await acting(options, async (client) => {
        const workspace = options.global ? undefined : await workspaceOf(client, options.workspace)
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
        // Put together as text: the numbers of a JSON part must not pass through JavaScript.
        return createRecord(
          client,
          `${envelope.slice(0, -1)}${metadata},"parts":[${parts.join(',')}]}`,
          options.key,
        )
      })
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

/** The part as JSON text. */
async function readPart(given: string, blobFolder: string): Promise<string> {
  const match = /^([^=:]+)(?::(json|text|blob))?=(.*)$/s.exec(given)
  if (!match) {
    throw new StagedoorError('argument_invalid', {
      reason: `--part ${given}: write it as name=@file, name:text=words or name:json=-`,
    })
  }
  const [, name, kindGiven, value] = match as unknown as [
    string,
    string,
    'json' | 'text' | 'blob' | undefined,
    string,
  ]
  const head = `"part_name":${JSON.stringify(name)}`
  if (!value.startsWith('@')) {
    const text = value === '-' ? await standardInput() : value
    return kindGiven === 'json' ? jsonPart(head, text, name) : textPart(head, text)
  }
  const file = value.slice(1)
  const kind = kindGiven ?? (await kindOf(file))
  if (kind === 'blob') return blobPart(head, file, blobFolder)
  const text = await readText(file, name)
  return kind === 'json' ? jsonPart(head, text, name) : textPart(head, text)
}

async function kindOf(file: string): Promise<'json' | 'text' | 'blob'> {
  const { size } = await stat(file).catch(() => {
    throw new StagedoorError('argument_invalid', { reason: `There is no file ${file}` })
  })
  if (size > LARGEST_PART) return 'blob'
  const ending = extname(file).toLowerCase()
  return JSON_ENDINGS.includes(ending) ? 'json' : TEXT_ENDINGS.includes(ending) ? 'text' : 'blob'
}

async function readText(file: string, name: string): Promise<string> {
  const bytes = await readFile(file).catch(() => {
    throw new StagedoorError('argument_invalid', { reason: `The file ${file} cannot be read` })
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new StagedoorError('text_invalid', { reason: `part ${name} is not valid UTF-8` })
  }
}

function jsonPart(head: string, text: string, name: string): string {
  try {
    JSON.parse(text)
  } catch (error) {
    throw new StagedoorError('text_invalid', {
      reason: `part ${name} is not JSON: ${(error as Error).message}`,
    })
  }
  return `{${head},"payload_kind":"json","payload_json":${text}}`
}

function textPart(head: string, text: string): string {
  return `{${head},"payload_kind":"text","payload_text":${JSON.stringify(text)}}`
}

async function blobPart(head: string, file: string, folder: string): Promise<string> {
  const blob = await createDiskBlobStore(folder).put(createReadStream(file))
  return `{${head},"payload_kind":"blob_ref",${JSON.stringify(blob).slice(1)}`
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
