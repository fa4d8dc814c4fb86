/**
 * The manifest of a marked document: what a person looks at, may change, and approves before it is cut. iu_core.fn_mark_manifest_check
 * asks the same of it, and more: only the database knows the kinds, the topics and whose an address is.
 */
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { formProblems } from './manifest-form.ts'

export const MANIFEST_SCHEMA = 'stagedoor.mark_manifest/1'
export const MOST_PIECES = 10_000
/** Of one piece, in bytes: the body of a unit. */
export const LARGEST_PIECE = 1024 ** 2

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

export const markManifestSchema = Type.Object(
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
    pieces: Type.Array(pieceSchema, { minItems: 1, maxItems: MOST_PIECES }),
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

/** What is wrong with it, as far as one can tell without the database; empty: nothing. */
export function checkManifest(manifest: unknown, source: string): ManifestProblem[] {
  // Asked first: to look at as many pieces as a request holds takes seconds.
  const count = (manifest as Partial<MarkManifest> | null | undefined)?.pieces?.length ?? 0
  if (count > MOST_PIECES) {
    return [{ code: 'schema', message: `/pieces has ${count}; a manifest holds at most ${MOST_PIECES}` }]
  }
  const misfits = formProblems([...Value.Errors(markManifestSchema, manifest)], manifest)
  if (misfits.length > 0) return misfits
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
    const found = problemOf(piece, index, bytes, seen, end)
    if (found) problems.push({ ...found, piece: piece.address })
    seen.add(piece.address)
    end = piece.to
  })
  return problems
}

function problemOf(
  piece: ManifestPiece,
  index: number,
  bytes: Buffer,
  earlier: ReadonlySet<string>,
  end: number,
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
  if (to - from > LARGEST_PIECE) return { code: 'too_long', message: 'A piece has at most 1 MiB' }
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

/** Of pieces that a manifest may no longer have: the address of each, and of what contained it. */
export type Containers = ReadonlyMap<string, string | null>

/**
 * A manifest that a person changed, as it can be staged: positions, hashes and the facts of the document are taken anew, and what
 * was inside of a piece that was taken out is inside of what contained that. A parent that never was stays, for the check to tell.
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

/** Whether a piece names a parent that is none of its pieces. */
export function hasOrphans({ pieces }: MarkManifest): boolean {
  const there = new Set(pieces.map(({ address }) => address))
  return pieces.some(({ parent }) => parent !== null && !there.has(parent))
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
