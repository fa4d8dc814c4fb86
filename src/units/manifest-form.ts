/** Where a manifest has not the form of its schema, in words for whoever wrote it; fn_mark_manifest_form has the same ones. */
import type { TLocalizedValidationError } from 'typebox/error'
import type { ManifestProblem } from './manifest.ts'

const ADDRESS = 'a path such as handbook/leave of a–z, 0–9 and _.-, at most 380 characters'
const TEXT = 'blank, too long, or no text'

/** What is wrong with a member that is there. */
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

export function formProblems(
  misfits: readonly TLocalizedValidationError[],
  manifest: unknown,
): ManifestProblem[] {
  const found = new Map<string, ManifestProblem>()
  for (const misfit of misfits) {
    // Told by the object that has it.
    if (misfit.keyword === 'boolean') continue
    const problem = problemOf(misfit, manifest)
    found.set(`${problem.piece} ${problem.message}`, problem)
  }
  return [...found.values()]
}

function problemOf(misfit: TLocalizedValidationError, manifest: unknown): ManifestProblem {
  const [first, second, third] = misfit.instancePath.split('/').slice(1)
  const isPiece = first === 'pieces' && second !== undefined
  const piece = isPiece ? { piece: nameOf(manifest, Number(second)) } : {}
  const member = isPiece ? third : first === 'document' ? second : first
  return { code: 'schema', ...piece, message: messageOf(misfit, isPiece, first, member) }
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
