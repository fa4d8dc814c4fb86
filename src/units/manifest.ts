/** The manifest of a marked document: its schema, its checks, and how an edited manifest is completed. */

// Violations of the schema, in plain words for the author. fn_mark_manifest_form returns the same ones.

import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import { Value } from 'typebox/value'

const ADDRESS = 'a path such as handbook/leave of a–z, 0–9 and _.-, at most 380 characters'
const TEXT = 'blank, too long, or no text'

/** The problem of a member that exists, if any. */
const WORDS: Readonly<Record<string, string>> = {
  schema: 'schema is not stagedoor.mark_manifest/1',
  document: 'document is not an object',
  pieces: 'pieces is not an array of 1 to 10,000 pieces',
  'document.source_ref': `document.source_ref is ${TEXT}`,
  'document.title': `document.title is ${TEXT}`,
  'document.language': 'document.language is not a language tag such as en',
  'document.content_hash': 'document.content_hash is not a SHA-256 in hex',
  'document.bytes': 'document.bytes is not a length',
  'piece.position': 'position is not a whole number from 1',
  'piece.address': `address is not ${ADDRESS}`,
  'piece.parent': 'parent is neither the address of a piece nor null',
  'piece.kind': 'kind is not the name of a kind such as section',
  'piece.title': `title is ${TEXT}`,
  'piece.from': 'from is not a byte offset from 0',
  'piece.to': 'to is not a byte offset from 1',
  'piece.hash': 'hash is not a SHA-256 in hex',
  'piece.topics': 'topics is not a list of distinct labels of a–z, 0–9 and _.-',
}

function schemaProblems(errors: readonly TLocalizedValidationError[], manifest: unknown): ManifestProblem[] {
  const found = new Map<string, ManifestProblem>()
  for (const error of errors) {
    // Reported for the object that contains it.
    if (error.keyword === 'boolean') continue
    const problem = schemaProblemOf(error, manifest)
    found.set(`${problem.piece} ${problem.message}`, problem)
  }
  return [...found.values()]
}

function schemaProblemOf(error: TLocalizedValidationError, manifest: unknown): ManifestProblem {
  const [first, second, third] = error.instancePath.split('/').slice(1)
  const isPiece = first === 'pieces' && second !== undefined
  const piece = isPiece ? { piece: nameOf(manifest, Number(second)) } : {}
  const member = isPiece ? third : first === 'document' ? second : first
  return { code: 'schema', ...piece, message: messageOf(error, isPiece, first, member) }
}

function messageOf(
  { keyword, params, message }: TLocalizedValidationError,
  isPiece: boolean,
  first: string | undefined,
  member: string | undefined,
): string {
  const whole = isPiece ? 'It' : (first ?? 'It')
  if (keyword === 'required') return `${whole} lacks ${params.requiredProperties.join(', ')}`
  if (keyword === 'additionalProperties') {
    return `${whole} has ${params.additionalProperties.join(', ')}, which no manifest has there`
  }
  if (first === undefined || (isPiece && member === undefined)) return 'It is not a JSON object'
  const path = isPiece
    ? `piece.${member}`
    : member === first
      ? first
      : [first, member].filter(Boolean).join('.')
  return WORDS[path] ?? `${path}: ${message}`
}

/** Its address, or its number from 1. */
function nameOf(manifest: unknown, index: number): string {
  const { address } = ((manifest as { pieces?: unknown[] }).pieces?.[index] ?? {}) as { address?: unknown }
  return typeof address === 'string' && address !== '' ? address.slice(0, 400) : `piece ${index + 1}`
}

// The manifest: a person reviews it, may edit it, and approves it before the cut. iu_core.fn_mark_manifest_check makes the same checks
// and more: only the database knows the kinds, the topics and which addresses are taken.

export const MANIFEST_SCHEMA = 'stagedoor.mark_manifest/1'
export const MAX_PIECES = 10_000
/** Maximal bytes of a piece, as of the body of a unit. */
const MAX_PIECE_BYTES = 1024 ** 2

const hash = { pattern: '^[0-9a-f]{64}$' }
/** Without `~`, which marks the successors of a unit. */
const address = { pattern: '^[a-z0-9][a-z0-9_.-]*(/[a-z0-9][a-z0-9_.-]*)+$', maxLength: 380 }

const from = (minimum: number) => ({ minimum, maximum: 999_999_999 })

const pieceSchema = Type.Object(
  {
    position: Type.Integer({ ...from(1), description: 'In the document, from 1, without gaps.' }),
    address: Type.String({
      ...address,
      description:
        'The canonical address of its unit. The first segment is the same for all: the unit of the whole document.',
    }),
    parent: Type.Union([Type.String(address), Type.Null()], {
      description: 'The address of an earlier piece that contains it; null: the document.',
    }),
    kind: Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$', description: 'One of iu_core.unit_kind.' }),
    title: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
    from: Type.Integer({ ...from(0), description: 'First byte in the UTF-8 of the source.' }),
    to: Type.Integer({ ...from(1), description: 'The byte after its last.' }),
    hash: Type.String({ ...hash, description: 'SHA-256 of these bytes.' }),
    topics: Type.Array(Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' }), {
      uniqueItems: true,
      maxItems: 100,
      description: 'Labels of the topic vocabulary.',
    }),
  },
  { additionalProperties: false },
)

const markManifestSchema = Type.Object(
  {
    schema: Type.Literal(MANIFEST_SCHEMA),
    document: Type.Object(
      {
        source_ref: Type.String({
          minLength: 1,
          maxLength: 2000,
          pattern: '\\S',
          description: 'Where it comes from: marked again under the same reference, it is the same document.',
        }),
        title: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
        language: Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' }),
        content_hash: Type.String({ ...hash, description: 'SHA-256 of the source in UTF-8.' }),
        bytes: Type.Integer(from(1)),
      },
      { additionalProperties: false },
    ),
    pieces: Type.Array(pieceSchema, { minItems: 1, maxItems: MAX_PIECES }),
  },
  { additionalProperties: false },
)

export type MarkManifest = Static<typeof markManifestSchema>
export type ManifestPiece = MarkManifest['pieces'][number]

export interface ManifestProblem {
  readonly code: string
  /** The address of the piece, or its number where it has none. */
  readonly piece?: string
  readonly message: string
}

/** For docs/reference. */
export function markManifestJsonSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: MANIFEST_SCHEMA,
    title: 'Mark manifest',
    description:
      'How a document is cut into pieces. Pieces do not overlap, and each is named once. Part 0 of a staging record of kind ' +
      'mark_manifest; part 1 is the source: the text, in UTF-8, lines ending in \\n.',
    ...JSON.parse(JSON.stringify(markManifestSchema)),
  }
}

/** The problems that can be found without the database; empty: none. */
export function checkManifest(manifest: unknown, source: string): ManifestProblem[] {
  // Checked first: checking as many pieces as fit into a request takes seconds.
  const count = (manifest as Partial<MarkManifest> | null | undefined)?.pieces?.length ?? 0
  if (count > MAX_PIECES) {
    return [{ code: 'schema', message: `/pieces has ${count}; a manifest holds at most ${MAX_PIECES}` }]
  }
  const invalid = schemaProblems([...Value.Errors(markManifestSchema, manifest)], manifest)
  if (invalid.length > 0) return invalid
  const { document, pieces } = manifest as MarkManifest
  const bytes = Buffer.from(source)
  const problems: ManifestProblem[] = []
  if (document.bytes !== bytes.length || document.content_hash !== sha256(bytes)) {
    problems.push({
      code: 'source_differs',
      message: 'It was made for another text than this; mark the document as it is now, and change that',
    })
  }
  const roots = new Set(pieces.map(({ address }) => address.split('/')[0]))
  if (roots.size > 1) {
    problems.push({ code: 'address_roots', message: 'The addresses do not all begin with the same segment' })
  }
  const seen = new Set<string>()
  let end = 0
  pieces.forEach((piece, index) => {
    const found = pieceProblemOf(piece, { index, bytes, earlier: seen, end })
    if (found) problems.push({ ...found, piece: piece.address })
    seen.add(piece.address)
    end = piece.to
  })
  return problems
}

interface PieceContext {
  readonly index: number
  readonly bytes: Buffer
  /** Addresses of the pieces before it. */
  readonly earlier: ReadonlySet<string>
  /** Where the piece before it ends. */
  readonly end: number
}

function pieceProblemOf(
  piece: ManifestPiece,
  { index, bytes, earlier, end }: PieceContext,
): ManifestProblem | undefined {
  const { position, address, parent, from, to } = piece
  if (position !== index + 1)
    return { code: 'position', message: `It is piece ${index + 1}, and says ${position}` }
  if (earlier.has(address)) return { code: 'address_twice', message: 'Another piece has this address' }
  if (parent !== null && !earlier.has(parent)) {
    return { code: 'parent_unknown', message: `No earlier piece has the address of its parent, ${parent}` }
  }
  if (from >= to || to > bytes.length) {
    return {
      code: 'range',
      message: `${from} to ${to} is no range within the ${bytes.length} bytes of the source`,
    }
  }
  if (from < end)
    return { code: 'overlap', message: `It begins at ${from}, before the piece before it ends, at ${end}` }
  if (to - from > MAX_PIECE_BYTES) return { code: 'too_long', message: 'A piece has at most 1 MiB' }
  if (isInside(bytes, from) || isInside(bytes, to)) {
    return { code: 'range', message: `${from} or ${to} is in the middle of a character` }
  }
  const slice = bytes.subarray(from, to)
  if (!/\S/.test(slice.toString())) return { code: 'blank', message: 'There is nothing in it' }
  if (piece.hash !== sha256(slice))
    return { code: 'hash_differs', message: 'The hash is not that of its bytes' }
  return undefined
}

function isInside(bytes: Buffer, at: number): boolean {
  return at < bytes.length && (bytes[at]! & 0xc0) === 0x80
}

/** The parent of each piece by address, also of pieces that the manifest no longer has. */
export type Containers = ReadonlyMap<string, string | null>

/**
 * Completes a manifest that a person edited: computes positions, hashes and the facts of the document again, and moves the content of a
 * removed piece into that piece's parent. A parent that never existed is kept, so that the check reports it.
 */
export function remarkWith(
  manifest: MarkManifest,
  source: string,
  before: Containers = new Map(),
): MarkManifest {
  const bytes = Buffer.from(source)
  const there = new Set(manifest.pieces.map(({ address }) => address))
  const living = (parent: string | null): string | null => {
    const left = new Set<string>()
    let at: string | null | undefined = parent
    while (typeof at === 'string' && !there.has(at) && !left.has(at)) {
      left.add(at)
      at = before.get(at)
    }
    return at === undefined || (at !== null && left.has(at)) ? parent : at
  }
  const pieces = [...manifest.pieces]
    .sort((a, b) => a.from - b.from)
    .map((piece, index) => ({
      ...piece,
      position: index + 1,
      parent: living(piece.parent),
      hash: sha256(bytes.subarray(piece.from, piece.to)),
    }))
  const document = { ...manifest.document, content_hash: sha256(bytes), bytes: bytes.length }
  return { ...manifest, document, pieces }
}

/** Whether a piece names a parent that is not in the manifest. */
export function hasOrphans({ pieces }: MarkManifest): boolean {
  const there = new Set(pieces.map(({ address }) => address))
  return pieces.some(({ parent }) => parent !== null && !there.has(parent))
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
