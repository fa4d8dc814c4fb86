/** `stagedoor staging create`: parts from words, files and standard input; and the blobs of a record. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import pc from 'picocolors'
import { openStores } from '../app/stores.ts'
import { requireStaging } from '../gates/gates.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { BlobStore, StoredBlob } from '../runtime/stores/blob-store.ts'
import { withBlobsForRecord } from '../staging/blobs.ts'
import {
  createRecord,
  decodeUtf8,
  MAX_PART_BYTES,
  type Part,
  readJson,
  STAGEABLE_KINDS,
  STAGEABLE_TYPES,
} from '../staging/records.ts'
import { argumentInvalid, collect, readBytesInput, rethrowUnreadable } from './arguments.ts'
import { command } from './command.ts'
import { configOf, type GlobalOptions, workspaceOf } from './session.ts'
import { printChunks } from './terminal.ts'

const SOURCE_KINDS = ['agent', 'user', 'system', 'import'] as const

export const createCommand = () =>
  command('create', 'stage a record, from files or from standard input')
    .requiredOption('--kind <kind>', 'what it is', STAGEABLE_KINDS)
    .requiredOption('--type <type>', 'what its payload is', STAGEABLE_TYPES)
    .requiredOption('--purpose <text>', 'a few words for the person who decides')
    .requiredOption('--part <name=@file...>', 'a part, in order; may be repeated', collect(String))
    .workspace('where it belongs; default: the only one there is')
    .option('--global', 'in no workspace: for the back end only')
    .option(
      '--key <key>',
      'idempotency key: the same call again gives the same record; default: of --source-ref and the kind',
    )
    .option('--new', 'another record from the same --source-ref')
    .option(
      '--source-kind <kind>',
      'where it comes from; default: agent for an agent, else user',
      SOURCE_KINDS,
    )
    .option('--source-ref <ref>', 'address or id of the source')
    .option('--metadata <json>', 'a JSON object of hints')
    .option('--expires-at <time>', 'default: as the policy of its kind says')
    .actor()
    .examples(
      `Parts:
  manifest=@manifest.json     a file; .json is held as JSON, text files as text, anything else or larger as a blob
  notes:text=@export.dat      the kind said outright: json, text or blob
  rows:json=-                 from standard input, once: as json, text (the default) or blob
  remark:text=fine by me      the text itself`,
    )
    .run(async ({ options, output, config, transaction }) => {
      const given = parseParts(options.part)
      const { metadata } = options
      if (metadata !== undefined) readJson(metadata, '--metadata', 'text_invalid')
      const store = blobsOf(options)
      const named = options.global ? undefined : options.workspace
      const created = await withBlobsForRecord(store, (stored) =>
        transaction(
          async (client) => {
            const workspace = options.global ? undefined : await workspaceOf(client, named)
            // Parts are read and stored only for those who may stage.
            await requireStaging(client, workspace)
            const parts: string[] = []
            for (const part of given)
              parts.push(await readPart(part, { store, stored, limit: config.blobLimit }))
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
            // Put together as text: the numbers of a JSON part must not pass through JavaScript.
            const hints = metadata === undefined ? '' : `,"metadata":${metadata}`
            const request = `${envelope.slice(0, -1)}${hints},"parts":[${parts.join(',')}]}`
            return createRecord(client, request, options.key)
          },
          { workspace: named },
        ),
      )
      const { staging_record_id: id, lifecycle_status, content_hash } = created
      output.result(created, () => {
        if (created.created) output.done(`Staged ${pc.bold(id)}`)
        else output.line(`Staged before under this key: ${pc.bold(id)}, ${lifecycle_status}`)
        output.dim(`  digest ${content_hash}`)
      })
    })

// Parts from the command line.

type Kind = 'json' | 'text' | 'blob'

interface GivenPart {
  readonly name: string
  /** Undefined: as the file's name and size say. */
  readonly kind: Kind | undefined
  /** `-` is standard input. */
  readonly file?: string
  readonly words?: string
}

interface Blobs {
  readonly store: BlobStore
  readonly limit: number
  /** What was stored is added as it comes, so that whoever called can delete it whatever happens. */
  readonly stored: StoredBlob[]
}

const TEXT_ENDINGS = ['.txt', '.md', '.csv', '.tsv', '.log', '.yaml', '.yml', '.html', '.xml', '.sql']

/** Everything that is wrong with the words themselves is said before anything is read. */
function parseParts(given: readonly string[]): GivenPart[] {
  const parts = given.map(parsePart)
  if (parts.filter(({ file }) => file === '-').length > 1)
    throw argumentInvalid('Only one part can come from standard input: it is read once, to its end')
  return parts
}

function parsePart(given: string): GivenPart {
  const [, name, ofKind, value] = /^([^=:]+)(?::(json|text|blob))?=(.*)$/s.exec(given) ?? []
  if (name === undefined || value === undefined)
    throw argumentInvalid(`--part ${given}: write it as name=@file, name:text=words or name:json=-`)
  const kind = ofKind as Kind | undefined
  if (value === '-') return { name, kind, file: '-' }
  // Behind an @ stands a file, whatever it is called.
  if (value.startsWith('@')) return { name, kind, file: value === '@-' ? './-' : value.slice(1) }
  if (kind !== 'blob') return { name, kind, words: value }
  throw argumentInvalid(
    `--part ${given}: a blob comes from a file (${name}:blob=@file) or standard input (${name}:blob=-)`,
  )
}

/** The part as JSON text. */
async function readPart({ name, kind: given, file, words }: GivenPart, blobs: Blobs): Promise<string> {
  const head = `"part_name":${JSON.stringify(name)}`
  const kind = given ?? (file === undefined || file === '-' ? 'text' : await kindOf(file))
  if (kind === 'blob') {
    const blob = await blobs.store.put(Readable.from(readChunks(file!, blobs.limit)))
    blobs.stored.push(blob)
    return `{${head},"payload_kind":"blob_ref",${JSON.stringify(blob).slice(1)}`
  }
  const what = `part ${name}`
  // As over HTTP: a byte order mark is part of a text, and of its digest.
  const text = words ?? decodeUtf8((await readBytesInput(file))!, what, { keepMark: kind === 'text' })
  if (kind === 'text') return `{${head},"payload_kind":"text","payload_text":${JSON.stringify(text)}}`
  readJson(text, what, 'text_invalid')
  return `{${head},"payload_kind":"json","payload_json":${text}}`
}

async function kindOf(file: string): Promise<Kind> {
  const { size } = await stat(file).catch(rethrowUnreadable(file))
  const ending = extname(file).toLowerCase()
  if (size > MAX_PART_BYTES) return 'blob'
  return ending === '.json' ? 'json' : TEXT_ENDINGS.includes(ending) ? 'text' : 'blob'
}

/** Opened when the store reads: an error before that would have nobody to hear it. */
async function* readChunks(file: string, limit: number): AsyncGenerator<Buffer> {
  const source: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file)
  const name = file === '-' ? 'standard input' : file
  let length = 0
  try {
    for await (const chunk of source) {
      length += chunk.length
      if (length > limit) {
        const message = `${name} is larger than the ${limit} bytes that a blob may have`
        const hint = 'STAGEDOOR_BLOB_LIMIT raises the limit.'
        throw new StagedoorError('body_too_large', { limit }, { message, hint })
      }
      yield chunk
    }
  } catch (error) {
    rethrowUnreadable(name)(error as Error)
  }
}

/** The server's own, where both run on one machine with one home. */
export function blobsOf(options: GlobalOptions): BlobStore {
  return openStores(configOf(options)).blobs
}

/** Its bytes to standard output, and an error at the end if they were not those that were staged. */
export async function printBlob(store: BlobStore, record: string, part: Part): Promise<void> {
  const facts = await store.facts(part.blob_ref!)
  if (!facts) {
    const message = `The blob of part ${part.part_index} of record ${record} is not in this home`
    const hint =
      'Blobs on disk belong to one machine: run this where the server runs, with its STAGEDOOR_HOME.'
    throw new StagedoorError('blob_missing', { ref: part.blob_ref! }, { message, hint })
  }
  if (facts.content_hash !== part.content_hash) throw new StagedoorError('staging_tampered', { record })
  const hash = createHash('sha256')
  const bytes = await store.open(part.blob_ref!)
  await printChunks(
    (async function* () {
      for await (const chunk of bytes) {
        hash.update(chunk)
        yield chunk
      }
      if (hash.digest('hex') !== part.content_hash) throw new StagedoorError('staging_tampered', { record })
    })(),
  )
}
