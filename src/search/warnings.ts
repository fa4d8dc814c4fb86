/** What search says about itself: short sentences that tell the reader what to do. */
import type { Caution } from './matrix.ts'

/** What a sentence about a hit needs. */
export interface Warned {
  readonly canonical_address?: string | undefined
  /** Which version's text is shown, and which one is current. */
  readonly version_no?: number | undefined
  readonly current_version_no?: number | undefined
}

const QUIET = 'about 2 minutes after an edit'

/** About a unit that is shown. */
export function unitWarning(
  caution: Caution,
  { version_no: shown, current_version_no: current }: Warned,
): string {
  const behind = shown !== undefined && current !== undefined && shown < current
  const shows = `Shows version ${shown}; version ${current}`
  switch (caution) {
    case 'unit_pending':
      return behind
        ? `${shows} is not in search yet (${QUIET}).`
        : `Shows its newest text; its place in search is still being brought up to date (${QUIET}).`
    case 'unit_stale':
      return behind
        ? `${shows} has waited for search longer than it should: \`stagedoor search status\` says why.`
        : 'Its text has waited for search longer than it should: `stagedoor search status` says why.'
    case 'unit_error':
      return behind
        ? `${shows} could not be brought into search: \`stagedoor search dead\` says why.`
        : 'Bringing its text into search failed: `stagedoor search dead` says why.'
    case 'document_stale':
      return 'The document that it was cut from has changed since search read it.'
    case 'document_error':
      return 'The document that it was cut from could not be brought into search: `stagedoor search dead` says why.'
  }
}

/** About a document of the old knowledge base that is shown, and the units beside it. */
export function documentWarning(caution: Caution, { canonical_address: unit }: Warned): string {
  switch (caution) {
    case 'document_stale':
      return `It has changed since search read it: the new text follows (${QUIET}).`
    case 'document_error':
      return 'Its newest text could not be brought into search: `stagedoor search dead` says why.'
    case 'unit_pending':
      return `A part of it, the unit ${unit}, has a text that is not in search yet (${QUIET}).`
    case 'unit_stale':
      return `A part of it, the unit ${unit}, has a newer text than search: \`stagedoor unit show ${unit}\`.`
    case 'unit_error':
      return `A part of it, the unit ${unit}, could not be brought into search: \`stagedoor search dead\` says why.`
  }
}

/** About a whole answer. */
export const ANSWER_WARNINGS = {
  embedderDown: 'Found by words only: the embedder cannot be reached. Ask again later for hits by meaning.',
  embedderSlow: 'Found by words only: the embedder took too long. Ask again for hits by meaning.',
  embedderRefused:
    'Found by words only: the embedder made no usable vector of this question. Ask in other or fewer words; if every question says so, its model or its dimension is set wrong.',
  embedderUnknown:
    'Found by words only: the embedder of the collection is not set up here. `stagedoor search status` says what it needs.',
  storeDown: 'Found by words only: the vector store cannot be reached. Ask again later for hits by meaning.',
  stopWords: 'Common words alone find nothing: add a word that says what it is about.',
  noWords: 'There is no word in it that could be looked for: say in a few words what it is about.',
  phraseNowhere: 'Nothing has the words in quotes as they stand: this was found without the quotes.',
  manyWords: 'The question is long: only its 64 rarest words were looked for.',
  legacyByText:
    'The old knowledge base is searched by its text only: its own embedder (text-embedding-3-small) and Qdrant are not set up here.',
  legacyDown: 'The old knowledge base is searched by its text only: its vectors cannot be reached just now.',
  legacyRefused:
    'The old knowledge base is searched by its text only: its embedder did not take this question. Ask in other or fewer words.',
  phaseTwo: 'The old knowledge base is left out: phase 2 is closed. `stagedoor search phase 2 open` adds it.',
  phaseOne:
    'Units are not brought into search: phase 1 is closed. `stagedoor search phase 1 open` begins it.',
  excluded:
    'Nothing new is embedded: the gate iu_core.no_vector_staging_excluded is closed. An administrator opens it.',
} as const
