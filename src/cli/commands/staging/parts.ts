/** Parts from the command line: words, files, standard input. */
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { StagedoorError } from '../../../errors.ts'
import type { BlobStore, StoredBlob } from '../../../staging/blobs/store.ts'
import { decodeUtf8, readJson } from '../../../staging/exact-json.ts'
import { LARGEST_PART } from '../../../staging/limits.ts'

type Kind = 'json' | 'text' | 'blob'

export interface GivenPart {
  readonly name: string
  /** Undefined: as the file's name and size say. */
  readonly kind: Kind | undefined
  readonly from: { readonly file: string } | { readonly words: string } | 'standard input'
}

export interface Blobs {
  readonly store: BlobStore
  readonly limit: number
  /** What was stored is added as it comes, so that whoever called can delete it whatever happens. */
  readonly stored: StoredBlob[]
}

const JSON_ENDINGS = ['.json']
const TEXT_ENDINGS = ['.txt', '.md', '.csv', '.tsv', '.log', '.yaml', '.yml', '.html', '.xml', '.sql']

/** Everything that is wrong with the words themselves is said before anything is read. */
export function parseParts(given: readonly string[]): GivenPart[] {
  const parts = given.map(parsePart)
  if (parts.filter(({ from }) => from === 'standard input').length > 1) {
    throw invalid('Only one part can come from standard input: it is read once, to its end')
  }
  return parts
}

function parsePart(given: string): GivenPart {
  const [, name, kind, value] = /^([^=:]+)(?::(json|text|blob))?=(.*)$/s.exec(given) ?? []
  if (name === undefined || value === undefined) {
    throw invalid(`--part ${given}: write it as name=@file, name:text=words or name:json=-`)
  }
  const from =
    value === '-' ? 'standard input' : value.startsWith('@') ? { file: value.slice(1) } : { words: value }
  if (kind === 'blob' && typeof from === 'object' && 'words' in from) {
    throw invalid(
      `--part ${given}: a blob comes from a file (${name}:blob=@file) or standard input (${name}:blob=-)`,
    )
  }
  return { name, kind: kind as Kind | undefined, from }
}

/** The part as JSON text. */
export async function readPart({ name, kind: given, from }: GivenPart, blobs: Blobs): Promise<string> {
  const head = `"part_name":${JSON.stringify(name)}`
  const kind = given ?? (typeof from === 'object' && 'file' in from ? await kindOf(from.file) : 'text')
  if (kind === 'blob') return `{${head},"payload_kind":"blob_ref",${await storeBlob(from, blobs)}}`
  const bytes = await bytesOf(from)
  const what = `part ${name}`
  if (kind === 'text') {
    // As over HTTP: a byte order mark is part of a text, and of its digest.
    const text = typeof bytes === 'string' ? bytes : decodeUtf8(bytes, what, { keepMark: true })
    return `{${head},"payload_kind":"text","payload_text":${JSON.stringify(text)}}`
  }
  const text = typeof bytes === 'string' ? bytes : decodeUtf8(bytes, what)
  readJson(text, what, 'text_invalid')
  return `{${head},"payload_kind":"json","payload_json":${text}}`
}

async function kindOf(file: string): Promise<Kind> {
  const { size } = await stat(file).catch(() => {
    throw invalid(`There is no file ${file}`)
  })
  if (size > LARGEST_PART) return 'blob'
  const ending = extname(file).toLowerCase()
  return JSON_ENDINGS.includes(ending) ? 'json' : TEXT_ENDINGS.includes(ending) ? 'text' : 'blob'
}

async function bytesOf(from: GivenPart['from']): Promise<Buffer | string> {
  if (from === 'standard input') return Buffer.concat(await process.stdin.toArray())
  if ('words' in from) return from.words
  return readFile(from.file).catch((error) => {
    throw unreadable(from.file, error)
  })
}

/** The members of the part that say where the blob is and what it holds. */
async function storeBlob(from: GivenPart['from'], { store, limit, stored }: Blobs): Promise<string> {
  const file = typeof from === 'object' && 'file' in from ? from.file : undefined
  const blob = await store.put(Readable.from(counted(file, limit)))
  stored.push(blob)
  return JSON.stringify(blob).slice(1, -1)
}

/** Opened when the store reads: an error before that would have nobody to hear it. */
async function* counted(file: string | undefined, limit: number): AsyncGenerator<Buffer> {
  const source: AsyncIterable<Buffer> = file === undefined ? process.stdin : createReadStream(file)
  const name = file ?? 'standard input'
  let length = 0
  try {
    for await (const chunk of source) {
      length += chunk.length
      if (length > limit) throw tooLarge(name, limit)
      yield chunk
    }
  } catch (error) {
    throw error instanceof StagedoorError ? error : unreadable(name, error)
  }
}

function tooLarge(file: string, limit: number): StagedoorError {
  return new StagedoorError(
    'body_too_large',
    { limit },
    {
      message: `${file} is larger than the ${limit} bytes that a blob may have`,
      hint: 'STAGEDOOR_BLOB_LIMIT raises the limit.',
    },
  )
}

function unreadable(file: string, cause: unknown): StagedoorError {
  const reason = `${file} cannot be read: ${(cause as Error).message}`
  return new StagedoorError('argument_invalid', { reason }, { cause })
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}
